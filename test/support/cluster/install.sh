#!/bin/bash
# Installs Slurm and Grid Engine from the packages of Debian, for the tests that run on real clusters; `install.sh slurm`
# installs Slurm alone. Nothing is started: the tests start their own daemons in folders of their own.
set -uo pipefail

readonly TRIES=3
PACKAGES=(slurmctld slurmd slurm-client slurmdbd slurm-wlm-mysql-plugin munge mariadb-server)
PROGRAMS=(slurmctld slurmd sbatch sacct slurmdbd munged mariadbd)
if [ "${1:-}" != slurm ]; then
  PACKAGES+=(gridengine-master gridengine-exec gridengine-client)
  PROGRAMS+=(sge_qmaster sge_execd qsub)
fi

missing_programs() {
  local program
  for program in "${PROGRAMS[@]}"; do command -v "$program" >/dev/null 2>&1 || echo "$program"; done
}

without() { # REASON
  echo "real clusters are not installed: $1. Their tests will be skipped."
  exit 0
}

[ -z "$(missing_programs)" ] && exit 0
[ "$(id -u)" -eq 0 ] || without "this needs root"
command -v apt-get >/dev/null 2>&1 || without "there is no apt-get"

# Debian asks this file before it starts the daemon of a package.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi
for package in gridengine-common gridengine-client gridengine-master; do
  echo "$package shared/gridengineconfig boolean false"
done | debconf-set-selections

export DEBIAN_FRONTEND=noninteractive
for ((try = 1; try <= TRIES; try++)); do
  # The lists are fetched again only where the first try did not find what it needs.
  { [ "$try" -eq 1 ] || apt-get update -qq; } &&
    apt-get -o DPkg::Lock::Timeout=120 -o Acquire::Retries=2 install -y -qq --no-install-recommends "${PACKAGES[@]}" \
      >/dev/null </dev/null
  [ -z "$(missing_programs)" ] && exit 0
  echo "try $try of $TRIES failed"
  [ "$try" -lt "$TRIES" ] && sleep $((try * 5))
done
without "apt-get could not install $(missing_programs | tr '\n' ' ')"
