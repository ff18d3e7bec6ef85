#!/bin/bash
# Starts a Grid Engine on this machine: its master and one execution host with the queue main.q. Everything lies in FOLDER,
# and the ports are given, so that several clusters can live side by side. The packages must be there (install.sh), and it
# runs as root.
#
#   gridengine-up.sh FOLDER       then: . FOLDER/env       in the end: gridengine-down.sh FOLDER
#
# PORTS="master host"   free ports
# NOTIFY   seconds between the warning signal and SIGKILL
set -eu
folder=$(mkdir -p "${1:?folder}" && cd "$1" && pwd)
. "$(dirname "$0")/daemons.sh"
read -r master_port host_port <<<"${PORTS:?}"
notify=${NOTIFY:-8}
host=$(hostname -s)
readonly SLOTS=12 PACKAGE=/usr/share/gridengine TOOLS=/usr/lib/gridengine
cd "$folder"
chmod 755 "$folder"
mkdir -p root/default/common spool/qmaster/job_scripts spool/execd spool/db run setup
for part in bin lib util utilbin; do ln -sfn "/var/lib/gridengine/$part" "root/$part"; done

export SGE_ROOT=$folder/root SGE_CELL=default SGE_QMASTER_PORT=$master_port SGE_EXECD_PORT=$host_port
export SGE_EXECD_PIDFILE=$folder/run/execd.pid
for name in SGE_ROOT SGE_CELL SGE_QMASTER_PORT SGE_EXECD_PORT; do echo "export $name=${!name}"; done >env

echo "$host" >root/default/common/act_qmaster
# The loopback address is called localhost, and requests from a host that is not known are refused.
echo "$host localhost" >root/default/common/host_aliases
cat >root/default/common/bootstrap <<SETTINGS
admin_user root
default_domain none
ignore_fqdn true
spooling_method berkeleydb
spooling_lib libspoolb
spooling_params $folder/spool/db
binary_path /usr/sbin
qmaster_spool_dir $folder/spool/qmaster
security_mode none
listener_threads 2
worker_threads 2
scheduler_threads 1
SETTINGS

# change SETTING VALUE ...: settings of a file with one in each line
change() {
  local program=''
  while [ $# -gt 0 ]; do
    program+="s|^$1[[:space:]].*|$1 $2|;"
    shift 2
  done
  sed "$program"
}

# Root may submit, a silent host is given up soon, and accounting is written at once.
change execd_spool_dir "$folder/spool/execd" min_uid 0 min_gid 0 load_report_time 00:00:03 max_unheard 00:00:15 \
  reschedule_unknown 00:00:05 mailer /bin/true execd_params ENABLE_ADDGRP_KILL=true \
  reporting_params "accounting=true reporting=false flush_time=00:00:01 accounting_flush_time=00:00:00 joblog=false sharelog=00:00:00" \
  <"$PACKAGE/default-configuration" >setup/configuration
{
  "$TOOLS/spoolinit" berkeleydb libspoolb "$folder/spool/db" init
  "$TOOLS/spooldefaults" configuration setup/configuration
  "$TOOLS/spooldefaults" complexes "$PACKAGE/util/resources/centry"
  "$TOOLS/spooldefaults" usersets "$PACKAGE/util/resources/usersets"
  "$TOOLS/spooldefaults" managers root
} >setup/log 2>&1

setsid sge_qmaster >run/qmaster.out 2>&1 </dev/null
wait_until 120 "the master answers" qconf -sh
{
  qconf -as "$host"
  qconf -ah "$host"
  printf '%s NONE\n' load_scaling complex_values user_lists xuser_lists projects xprojects usage_scaling report_variables |
    cat <(echo "hostname $host") - >setup/host
  qconf -Ae setup/host
  qconf -ssconf | change schedule_interval 0:0:1 flush_submit_sec 1 flush_finish_sec 1 load_adjustment_decay_time 0:0:0 \
    job_load_adjustments NONE >setup/scheduler
  qconf -Msconf setup/scheduler
  printf 'group_name @allhosts\nhostlist %s\n' "$host" >setup/hosts
  qconf -Ahgrp setup/hosts
  cat >setup/environment <<SETTINGS
pe_name smp
slots 999
user_lists NONE
xuser_lists NONE
start_proc_args NONE
stop_proc_args NONE
allocation_rule \$pe_slots
control_slaves FALSE
job_is_first_task TRUE
urgency_slots min
accounting_summary FALSE
qsort_args NONE
SETTINGS
  qconf -Ap setup/environment
  qconf -sq | change qname main.q hostlist @allhosts slots "$SLOTS" pe_list smp shell /bin/bash load_thresholds NONE \
    notify "00:00:$(printf %02d "$notify")" rerun FALSE >setup/queue
  qconf -Aq setup/queue
} >>setup/log 2>&1
setsid sge_execd >run/execd.out 2>&1 </dev/null
host_answers() { qhost -h "$host" | tail -1 | grep -qE 'lx-.* [0-9.]+ +[0-9.]+[GM]'; }
wait_until 120 "the host reports its load" host_answers
queue_is_open() { qstat -f -q main.q | grep main.q@ && ! qstat -f -q main.q | grep -qE '(-NA-|au| u *$)'; }
wait_until 120 "the queue is open" queue_is_open
