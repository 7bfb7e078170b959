#!/usr/bin/env bash
# assay jobs --slurm: a real controller, one node and munge on this machine, all in a scratch folder, for as long as the test
# takes. Needs root (munged and slurmd change users), slurm-wlm and munge.
# plain-only: Slurm runs what the plain build does alone
# waits: for Slurm to start and to run jobs
# time-limit: 240
. "$(dirname "$0")/lib.sh"

for program in munged slurmctld slurmd slurmstepd sbatch squeue scancel scontrol; do
    command -v "$program" >/dev/null || { skip "jobs on Slurm" "no $program here (Debian: slurm-wlm, munge)" && exit 0; }
done
[ "$(id -u)" = 0 ] || { skip "jobs on Slurm" "needs root" && exit 0; }

# ---- the cluster ----

cluster=$PWD/cluster
mkdir -p "$cluster"/{state,spool}
host=$(hostname -s)
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
dd if=/dev/urandom of="$cluster/key" bs=128 count=1 2>/dev/null
chmod 600 "$cluster/key"
chmod 755 "$cluster"
cat >"$cluster/slurm.conf" <<CONF
ClusterName=assay
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(port)
SlurmdPort=$(port)
AuthType=auth/munge
AuthInfo=socket=$cluster/munge.socket
CredType=cred/munge
SlurmUser=root
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/ctld.pid
SlurmdPidFile=$cluster/d.pid
SlurmctldLogFile=$cluster/ctld.log
SlurmdLogFile=$cluster/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
MinJobAge=300
SlurmdTimeout=10
InactiveLimit=0
KillWait=2
${SLURM_PLUGINS:+PluginDir=$SLURM_PLUGINS}
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
CONF
export SLURM_CONF=$cluster/slurm.conf
started=()
start() {
    "$@" >>"$cluster/out" 2>&1 &
    started+=($!)
}
stop_cluster() {
    scancel -u root >/dev/null 2>&1 || true
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${started[@]}"; do wait "$pid" 2>/dev/null || true; done
}
stop_and_finish() {
    local ended=$?
    stop_cluster
    (exit "$ended")
    finish
}
trap stop_and_finish EXIT
start munged --foreground --force --key-file="$cluster/key" --socket="$cluster/munge.socket" \
    --pid-file="$cluster/munge.pid" --log-file="$cluster/munge.log" --seed-file="$cluster/munge.seed"
start slurmctld -D -i -f "$SLURM_CONF"
run_node() { start slurmd -D -f "$SLURM_CONF" -d "$(command -v slurmstepd)"; }
run_node
node=${started[2]}
for _ in $(seq 100); do
    sinfo -h -o %t 2>/dev/null | grep -q idle && break
    sleep 0.2
done
if ! sinfo -h -o %t 2>/dev/null | grep -q idle; then
    skip "jobs on Slurm" "Slurm does not start here: $(tail -qn 1 "$cluster"/*.log "$cluster/out" 2>/dev/null | tr '\n' ' ')" && exit 0
fi

# ---- jobs ----

demo=$STATIC/demo
how=(--slurm --partition main --memory 100 --tasks 2)
check "a sweep as an array" "$ASSAY" jobs sweep "${how[@]}" --core boom-tea,zen4-like --repeat 2 --record='--max 100k' -- "$demo" 1
check_same "… in two tasks" 1 "$(grep -c '4 jobs are array [0-9]* of Slurm, in 2 tasks' <<<"$err")"
check_same "… all are there" 4 "$(find sweep/jobs -name '*.db' | wc -l)"
for machine in 0 1; do
    check_same "… machine $machine has both runs" 2 "$(one "sweep/machine-$machine.db" 'SELECT count(*) FROM runs')"
done
rm sweep/jobs/0/2.db
check "what is missing runs again" "$ASSAY" jobs --slurm sweep
check_same "… and nothing else" 1 "$(grep -c '1 jobs are array' <<<"$err")"

check_status 125 "a job over its time" "$ASSAY" jobs late --slurm --time 1 --tries 1 -- sleep 20
check_same "… is named, with the reason" 1 "$(grep -c 'job 0: assay jobs: ended because it took longer' <<<"$out")"

"$ASSAY" jobs -q lost --slurm --tries 1 --repeat 2 --tasks 2 -- sleep 4 >lost.out 2>&1 &
waits=$!
for _ in $(seq 100); do
    squeue -h -t running | grep -q assay && break
    sleep 0.1
done
kill -9 "$node"
for process in /proc/[0-9]*; do # the steps that it had started
    grep -qz "^ASSAY_TEST_MARK=$LOGS" "$process/environ" 2>/dev/null || continue
    tr '\0' ' ' <"$process/cmdline" | grep -q '^slurmstepd' && kill -9 "${process#/proc/}" 2>/dev/null
done
run_node
scontrol update nodename="$host" state=resume >/dev/null 2>&1 || true
wait "$waits" || true
check "a node is killed, and the same command goes on" "$ASSAY" jobs lost --slurm --tries 3
check_same "… to the end" 2 "$(find lost/jobs -name '*.db' | wc -l)"
stop_cluster
started=()
trap finish EXIT
check_no_strays "nothing left behind"
