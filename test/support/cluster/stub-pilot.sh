#!/bin/bash
# stub-pilot.sh MODE worker FLAG...: stands in for a worker on a real cluster. Like a worker it finishes what it runs at the
# first SIGTERM and hands it back at the second, and says so in its log. Like a worker it leaves when its script is gone.
mode=$1
shift 2
stops=0
stopped() {
  stops=$((stops + 1))
  echo "stop $stops"
  if [ "$stops" -eq 2 ]; then
    echo "handed back"
    exit 0
  fi
}
if [ "$mode" = stubborn ]; then trap '' TERM; else trap stopped TERM; fi
echo "flags: $*"
echo ready
case $mode in
  exit-*) exit "${mode#exit-}" ;;
  kill-script) kill -KILL "$PPID" ;;
  eat) filled=$(head -c 600000000 /dev/zero | tr '\0' x) && echo "${#filled}" ;;
  child-eats)
    head -c 600000000 /dev/zero | tail -c 600000000 >/dev/null
    echo "the child is gone"
    exit 0
    ;;
  two-eat)
    for _ in 1 2; do head -c 400000000 /dev/zero | tail -c 400000000 | (sleep 20 && cat >/dev/null) & done
    ;;
esac
# A second signal must have the time to come, also on a busy machine.
finish_at=0
while [ "$SECONDS" -lt 600 ]; do
  sleep 0.1
  if ! kill -0 "$PPID" 2>/dev/null; then
    echo "handed back"
    exit 0
  fi
  [ "$stops" -ge 1 ] && [ "$finish_at" -eq 0 ] && finish_at=$((SECONDS + 5))
  if [ "$finish_at" -gt 0 ] && [ "$SECONDS" -ge "$finish_at" ]; then
    echo finished
    exit 0
  fi
done
