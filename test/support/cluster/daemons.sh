# For the scripts that start and stop clusters. $folder has one file for each daemon in run/.

readonly POLL_S=0.05

# A zombie has ended, even if nobody has asked for its status yet.
lives() { # PID
  [ -r "/proc/$1/status" ] && ! grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}

has_daemon() { # PID-FILE
  [ -s "$1" ] && lives "$(cat "$1")"
}

wait_until() { # SECONDS WHAT COMMAND...
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    if [ "$SECONDS" -ge "$deadline" ]; then
      echo "gave up waiting until $what" >&2
      return 1
    fi
    sleep "$POLL_S"
  done
}

stop_daemon() { # PID-FILE
  local pid
  [ -s "$1" ] || return 0
  pid=$(cat "$1")
  kill "$pid" 2>/dev/null
  wait_until 20 "$(basename "$1") ends" is_gone "$pid" || kill -KILL "$pid" 2>/dev/null
  rm -f "$1"
}

is_gone() { ! lives "$1"; }
port_answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
