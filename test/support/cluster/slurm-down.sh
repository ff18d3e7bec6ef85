#!/bin/bash
# slurm-down.sh FOLDER: ends the jobs, then every daemon that slurm-up.sh has started in it, and nothing else.
folder=$(cd "${1:?folder}" && pwd) || exit 1
. "$(dirname "$0")/daemons.sh"
export SLURM_CONF=$folder/etc/slurm.conf

queue_is_empty() { [ -z "$(timeout 5 squeue --noheader --format=%A)" ]; }
if has_daemon "$folder/run/slurmctld.pid"; then
  # A step outlives the daemon of its node, so jobs go first.
  timeout 5 squeue --noheader --format=%A | sort -u | xargs --no-run-if-empty timeout 10 scancel
  wait_until 15 "no job is left" queue_is_empty
fi
for daemon in "$folder"/run/slurmd-*.pid "$folder"/run/{slurmctld,slurmdbd,mariadbd,munged}.pid; do
  stop_daemon "$daemon"
done
prefix=$(cat "$folder/prefix" 2>/dev/null)
for group in /sys/fs/cgroup/memory/slurm_"${prefix:?}"[0-9]*; do
  [ -d "$group" ] && find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null
done
exit 0
