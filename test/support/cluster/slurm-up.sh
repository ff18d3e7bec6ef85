#!/bin/bash
# Starts a whole Slurm on this machine: munge, a database, accounting, the controller, and several nodes that are one
# machine in truth. Everything lies in FOLDER, and all ports are given, so that several clusters can live side by side.
# The packages must be there (install.sh), and it runs as root.
#
#   slurm-up.sh FOLDER       then: . FOLDER/env       in the end: slurm-down.sh FOLDER
#
# PORTS="controller accounting database node1 node2 ..."   free ports of 127.0.0.1
# PREFIX     of the names of the nodes; unique on this machine, since Slurm names control groups after nodes
# ACCOUNTING yes | no
# KILL_WAIT  seconds between SIGTERM and SIGKILL        NODE_TIMEOUT  seconds of silence after which a node is down
set -eu
folder=$(mkdir -p "${1:?folder}" && cd "$1" && pwd)
. "$(dirname "$0")/daemons.sh"
read -r controller_port accounting_port database_port node_ports <<<"${PORTS:?}"
prefix=${PREFIX:?}
accounting=${ACCOUNTING:-yes}
host=$(hostname -s)
readonly CPUS=4 MEMORY_MB=4000
cd "$folder"
mkdir -p munge etc state log run database
chmod 755 "$folder"
chmod 700 munge database
socket=$folder/run/munge.sock

# Slurm trusts whoever shares the key of munge, so this cluster has its own.
(umask 077 && head -c 128 /dev/urandom >munge/key)
munged --force --key-file="$folder/munge/key" --socket="$socket" --seed-file="$folder/munge/seed" \
  --pid-file="$folder/run/munged.pid" --log-file="$folder/log/munged.log" 2>>log/munged.err

start_database() {
  mariadb-install-db --no-defaults --datadir="$folder/database" --user=root --skip-test-db \
    --auth-root-authentication-method=normal >log/database-setup.log 2>&1
  setsid mariadbd --no-defaults --user=root --datadir="$folder/database" --socket="$folder/run/database.sock" \
    --bind-address=127.0.0.1 --port="$database_port" --pid-file="$folder/run/mariadbd.pid" \
    --innodb-buffer-pool-size=64M --innodb-log-file-size=16M --innodb-lock-wait-timeout=900 \
    --innodb-flush-log-at-trx-commit=2 --log-error="$folder/log/mariadbd.log" >/dev/null 2>&1 </dev/null &
  wait_until 120 "the database answers" query "select 1"
  query "create database slurm_acct_db;
    create user slurm@'127.0.0.1' identified by 'slurm'; create user slurm@localhost identified by 'slurm';
    grant all on slurm_acct_db.* to slurm@'127.0.0.1'; grant all on slurm_acct_db.* to slurm@localhost;"
}
query() { mariadb --no-defaults --socket="$folder/run/database.sock" --execute="$1"; }

# A control group that limits memory gives a true OUT_OF_MEMORY. It cannot be had everywhere.
can_limit_memory() {
  local probe=/sys/fs/cgroup/memory/daruma_probe_$$
  mkdir "$probe" 2>/dev/null && rmdir "$probe"
}
if can_limit_memory; then
  limit_memory=yes task_plugin=task/cgroup
else
  limit_memory=no task_plugin=task/none
fi
echo "$limit_memory" >memory-limited
echo "$prefix" >prefix
printf '%s\n' "CgroupPlugin=cgroup/v1" "CgroupMountpoint=/sys/fs/cgroup" "ConstrainRAMSpace=$limit_memory" >etc/cgroup.conf
: >etc/plugstack.conf

accounting_settings() {
  if [ "$accounting" = no ]; then
    echo "AccountingStorageType=accounting_storage/none"
    return
  fi
  # The socket of munge goes by the name of a password here; without it the controller finds no resources to count.
  cat <<SETTINGS
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort=$accounting_port
AccountingStoragePass=$socket
AccountingStoreFlags=job_comment,job_script,job_env
SETTINGS
}

# All on one host, each node with its own name and port. They may claim more than the machine has.
node_settings() {
  local number=0 port
  for port in $node_ports; do
    number=$((number + 1))
    echo "NodeName=$prefix$number NodeHostname=$host NodeAddr=127.0.0.1 Port=$port CPUs=$CPUS Boards=1 SocketsPerBoard=1" \
      "CoresPerSocket=$CPUS ThreadsPerCore=1 RealMemory=$MEMORY_MB State=UNKNOWN"
  done
}
nodes=$(for number in $(seq "$(wc -w <<<"$node_ports")"); do echo "$prefix$number"; done)
all_nodes=$(paste -sd, <<<"$nodes")

cat >etc/slurm.conf <<SETTINGS
ClusterName=fixture
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller_port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd-%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=$task_plugin
MpiDefault=none
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=0,sched_interval=2,bf_interval=2,batch_sched_delay=0,requeue_delay=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmctldParameters=preempt_send_user_signal
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
$(accounting_settings)
KillWait=${KILL_WAIT:-6}
SlurmdTimeout=${NODE_TIMEOUT:-20}
UnkillableStepTimeout=60
OverTimeLimit=0
InactiveLimit=0
MinJobAge=300
MaxJobCount=20000
$(node_settings)
PartitionName=main Nodes=$all_nodes Default=YES MaxTime=60 State=UP PriorityTier=5 PreemptMode=OFF
PartitionName=short Nodes=${prefix}1 MaxTime=1 State=UP PriorityTier=5 PreemptMode=OFF
PartitionName=spot Nodes=$all_nodes MaxTime=60 State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=2
PartitionName=spotkill Nodes=$all_nodes MaxTime=60 State=UP PriorityTier=1 PreemptMode=CANCEL GraceTime=2
PartitionName=urgent Nodes=$all_nodes MaxTime=60 State=UP PriorityTier=10 PreemptMode=OFF
SETTINGS
(umask 077 && cat >etc/slurmdbd.conf) <<SETTINGS
AuthType=auth/munge
AuthInfo=socket=$socket
DbdHost=localhost
DbdPort=$accounting_port
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$database_port
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct_db
LogFile=$folder/log/slurmdbd.log
PidFile=$folder/run/slurmdbd.pid
SETTINGS
export SLURM_CONF=$folder/etc/slurm.conf
echo "export SLURM_CONF=$SLURM_CONF" >env

if [ "$accounting" = yes ]; then
  start_database
  setsid slurmdbd -D >>log/slurmdbd.out 2>&1 </dev/null &
  wait_until 120 "accounting answers" port_answers "$accounting_port"
  sacctmgr --immediate add cluster fixture >/dev/null 2>&1 || true
fi
slurmctld -f "$SLURM_CONF" -i
controller_is_up() { scontrol ping | grep -q UP; }
wait_until 120 "the controller answers" controller_is_up
for node in $nodes; do
  mkdir -p "spool-$node"
  slurmd -f "$SLURM_CONF" -N "$node"
done
nodes_are_idle() { [ "$(sinfo --noheader --Node --partition=main --format=%T | grep -c idle)" -eq "$(wc -w <<<"$nodes")" ]; }
wait_until 120 "all nodes are idle" nodes_are_idle
