#!/bin/bash
# gridengine-down.sh FOLDER: ends the jobs, then the daemons that gridengine-up.sh has started in it, and nothing else.
folder=$(cd "${1:?folder}" && pwd) || exit 1
. "$(dirname "$0")/daemons.sh"
. "$folder/env"

queue_is_empty() { [ -z "$(timeout 5 qstat -u '*')" ]; }
if has_daemon "$folder/spool/qmaster/qmaster.pid"; then
  timeout 10 qstat -u '*' 2>/dev/null | awk 'NR > 2 { print $1 }' | sort -u | xargs --no-run-if-empty timeout 10 qdel -f >/dev/null
  wait_until 15 "no job is left" queue_is_empty
fi
stop_daemon "$folder/run/execd.pid"
stop_daemon "$folder/spool/qmaster/qmaster.pid"
exit 0
