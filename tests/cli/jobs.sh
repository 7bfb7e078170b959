#!/usr/bin/env bash
# assay jobs: sweeps and repeated runs in a folder; what is missing is named and run again; nothing is lost with what ends
# a job. On a cluster: jobs_slurm.sh.
# plain-only: what is under test starts other processes, and those are tested in both builds
# time-limit: 180
. "$(dirname "$0")/lib.sh"

demo=$STATIC/demo
cycles="SELECT value FROM meta WHERE key = 'cycles'"
count() { find "$1" -name '*.db' | wc -l; }

# ---- a sweep ----

cores=boom-tea,zen4-like values=back.rob=64,128
sweep=(--core "$cores" --set "$values" --record='--max 100k')
check "a sweep" "$ASSAY" jobs sweep -j 2 "${sweep[@]}" -- "$demo" 1
check_same "… of four machines" 4 "$(grep -c ' 1 of 1 ' <<<"$out")"
check_same "… with a profile each" 4 "$(count sweep/jobs)"
"$ASSAY" record -q --core zen4-like --set back.rob=128 --max 100k -o own.db -- "$demo" 1 >/dev/null
check_same "… the same as by hand" "$(one own.db "$cycles")" "$(one sweep/machine-3.db "$cycles")"
check_json "JSON" '[m["name"] for m in d["machines"]][2] == "boom-tea back.rob=128" and d["missing"] == [] and d["jobs"] == 4' \
    "$ASSAY" jobs --json sweep
check "CSV" "$ASSAY" jobs --csv --list sweep
check_same "… a line for each" 5 "$(wc -l <<<"$out")"
check_stderr_line 'has other jobs' "another program in the same folder" "$ASSAY" jobs sweep -- "$demo" 2

# ---- runs ----

gcc -O1 -static -nostdlib -ffreestanding -fno-pic -no-pie -DROUNDS=2 "$SOURCE/tests/cli/two_phases.c" -o two 2>/dev/null || cp "$demo" two
check "one after the other" "$ASSAY" jobs -q one --repeat 3 -j 1 --record='--sampled --budget 20k' --record=--sample-period=50k -- "$TMP/two"
check "side by side" "$ASSAY" jobs -q three --repeat 3 -j 3 --record='--sampled --budget 20k' --record=--sample-period=50k -- "$TMP/two"
check_same "… is the same, to the unit" "$(one one/machine-0.db 'SELECT sum(units) FROM times')" \
    "$(one three/machine-0.db 'SELECT sum(units) FROM times')"
check_same "three runs in it" 3 "$(one one/machine-0.db 'SELECT count(*) FROM runs')"
# The program reads one more line each time that it runs.
# shellcheck disable=SC2016 # the program's own variables
check "a program that does not do the same every time" "$ASSAY" jobs random --repeat 3 --record=--source=model -- \
    sh -c 'echo again >>"$0"; while read -r line; do :; done <"$0"' "$TMP/times"
check_same "… is told" 1 "$(grep -c 'does not do the same every time' <<<"$out")"

# ---- what goes wrong ----

rm one/jobs/0/1.db
check_status 125 "a profile is lost" "$ASSAY" jobs --list one
check_same "… and named" 1 "$(grep -c 'missing: 1 of 3 jobs: 1$' <<<"$out")"
check "the folder alone goes on" "$ASSAY" jobs one
check_same "… with what is missing" "assay: running 1 of 3 jobs" "$err"
check_status 125 "a job over its time" "$ASSAY" jobs late --time 1 --tries 1 --repeat 2 -j 2 -- sleep 20
check_same "… with the reason" 2 "$(grep -c 'ended because it took longer than 1 seconds' <<<"$out")"
check_same "… and nothing half done" 0 "$(find late/jobs -name '*.db' -o -name '*.new' | wc -l)"
check_status 125 "a program that is not there" "$ASSAY" jobs absent -- ./nothing
check_same "… tried twice" 1 "$(grep -c 'trying again 1 of 1 jobs' <<<"$err")"
check_same "… with its message" 1 "$(grep -c "^job 0: .*not found" <<<"$out")"
# The second time, the program takes long enough to be killed.
# shellcheck disable=SC2016 # the program's own variables
second_hangs=(sh -c 'echo again >>"$0"; n=0; while read -r line; do n=$((n + 1)); done <"$0"; [ $n -ne 2 ] || exec sleep 100' "$TMP/runs")
two_runs() { [ "$(wc -l <runs)" -ge 2 ]; }
killed() {
    "$ASSAY" jobs -q killed --repeat 3 -j 1 -- "${second_hangs[@]}" &
    wait_until test -e killed/jobs/0/0.db
    wait_until two_runs
    kill -9 $!
    wait $!
}
check_status 137 "killed half-way" killed
check "… the same command goes on" "$ASSAY" jobs killed --repeat 3 -j 1 -- "${second_hangs[@]}"
check_same "… without what is done" 1 "$(grep -c 'running 2 of 3 jobs' <<<"$err")"
interrupted() {
    "$ASSAY" jobs interrupted --repeat 2 -j 1 -- sleep 20 &
    wait_until test -e interrupted/jobs/0/0.log
    sleep 0.2
    kill -TERM $!
    wait $!
}
check_status 125 "interrupted" interrupted
check_same "… leaves no profile" 0 "$(count interrupted/jobs)"
check_same "… says why" 1 "$(grep -c "interrupted" interrupted/jobs/0/0.log)"
if mkdir full && mount -t tmpfs -o size=300k none full 2>/dev/null; then
    check_status 125 "a full disk" "$ASSAY" jobs full/jobs --repeat 4 -j 1 --tries 1 --record='--max 50k' -- "$demo" 1
    check_same "… what is missing is named" 1 "$(grep -c '^missing: ' <<<"$out")"
    mount -o remount,size=100M full
    check "… with room again, the same command goes on" "$ASSAY" jobs full/jobs --repeat 4 -j 1 --record='--max 50k' -- "$demo" 1
    umount full
else
    skip "a full disk" "cannot mount a small one here"
fi
echo broken >one/jobs/0/2.db
check_status 125 "a profile that is none" "$ASSAY" jobs --list one
check_same "… is named" 1 "$(grep -c 'profiles of jobs 2 cannot be read' <<<"$out")"
check_same "… the others are merged" 1 "$(grep -c 'all other runs are in' <<<"$out")"
check_fails 2 'this one has a plan of 3 runs a machine' "another plan in the same folder" "$ASSAY" jobs one --repeat 5
echo nonsense >absent/plan
check_stderr_line 'is not a plan of jobs' "a plan that is none" "$ASSAY" jobs absent
check_status 125 "no folder" "$ASSAY" jobs nowhere/deep -- true
check_status 125 "no such folder" "$ASSAY" jobs nowhere
check_status 2 "no values" "$ASSAY" jobs new --set back.rob -- true
check_status 2 "no folder named" "$ASSAY" jobs
check_status 2 "too many" "$ASSAY" jobs new --repeat 5M --core a,b,c -- true
for option in repeat tries tasks; do
    check_status 2 "--$option=0 does nothing" "$ASSAY" jobs new "--$option=0" -- true
done
check_fails 2 "no machine 'nosuch'" "a machine that does not exist" "$ASSAY" jobs unmade --core boom-tea,nosuch -- true
check_fails 2 "no machine has the key 'back.nosuch'" "a key that does not exist" "$ASSAY" jobs unmade --set back.nosuch=1,2 -- true
check_same "… and no folder is made" absent "$([ -e unmade ] && echo made || echo absent)"
check_status 125 "no such task" "$ASSAY" jobs --task 3 sweep
no_slurm() { PATH=/nowhere "$ASSAY" jobs -q new --slurm -- /bin/true; }
check_status 125 "no Slurm" no_slurm
check_same "… is said" 1 "$(grep -c 'there is no sbatch here' <<<"$err")"
check_no_strays "nothing left behind"
