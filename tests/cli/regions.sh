#!/usr/bin/env bash
# Regions: every kind of start and stop on programs whose counts are known to the unit, lists of them with weights, what
# warms and settles, and what is refused.
# plain-only: it is numbers; sanitized.sh runs each kind of region under sanitizers
DEFAULT_CORE=boom-tip
. "$(dirname "$0")/lib.sh"

known=$WORKLOADS/known
stat() { "$ASSAY" stat --json "$@"; }
compare() { "$ASSAY" compare --json "$@"; }

# counts ARCH REGION INSTRUCTIONS [OPTION…]: what `stat` counts in one region of the program of ARCH.
counts() {
    local arch=$1 region=$2 want=$3
    shift 3
    check_json "$arch: $region" "d['instructions'] == $want" stat "$@" --region "$region" -- "$known/$arch-regions"
}

# ITERS=20, WORK=1000. A turn is marker, call, the function, marker, decrement, branch; 3 instructions are behind them.
sum_of() { python3 -IS -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])' "$@"; }

for arch in x86 rv; do
    [ -x "$known/$arch-regions" ] || { skip "$arch" "no compiler for it" && continue; }
    if [ "$arch" = x86 ]; then before=2 function=3002; else before=4 function=3003; fi
    turn=$((function + 5))
    all=$((before + 20 * turn + 3))
    counts $arch '..' $all
    counts $arch '100..' $((all - 100))
    counts $arch '100..+50' 50
    counts $arch '100..1k' 900
    counts $arch '100+20..1k' 880
    counts $arch '..+1M' $all
    counts $arch 'function..' $((all - before - 2))
    counts $arch 'function+10..+5' 5
    counts $arch 'function..marker' $function
    counts $arch 'function..function' $turn
    counts $arch 'function#3..function#7' $((4 * turn))
    counts $arch 'function#20..' $((function + 3 + 3))
    counts $arch 'marker:1..marker:2' $((function + 2))
    counts $arch 'marker:1#5..marker:2#9' $((function + 2 + 4 * turn))
    counts $arch 'marker:1..marker:2,repeat' $((20 * (function + 2)))
    counts $arch 'marker:2..marker:1,repeat' $((19 * 3 + 3 + 3))
    counts $arch 'marker:1..,max=77' 77
    counts $arch 'symbol:function..+3' 3
    address=0x$(nm "$known/$arch-regions" | sed -n 's/ [tT] function$//p' | sed 's/^0*//')
    counts $arch "$address..+9" 9
    counts $arch "$address#2..marker:2" $function
    counts $arch "$arch-regions:$address#20..+1M" $((function + 3 + 3))

    # The old options, and the new ones for the same.
    check_json "$arch: --from, --skip, --max" 'd["instructions"] == 40' stat --from function --skip 5 --max 40 \
        -- "$known/$arch-regions"

    # Lists.
    check_json "$arch: several regions, in any order" \
        'd["instructions"] == 180 and [r["instructions"] for r in d["regions"]] == [100, 50, 30]' \
        stat --region 500..+50 --region 100..200 --region 550..+30 -- "$known/$arch-regions"
    check_json "$arch: weights" \
        'd["instructions"] == 150 and math.isclose(d["weighted"]["instructions"], 100 * 0.5 + 50 * 3) and d["weighted"]["calls"] == 0.5' \
        stat --region "$before..+100,weight=0.5" --region 1000..+50,weight=3 -- "$known/$arch-regions"
    check_json "$arch: no weights, no weighted results" '"weighted" not in d and d["regions"][0]["weight"] == 1' \
        stat --region ..+5 -- "$known/$arch-regions"
    printf 'assay-regions 1\n# two\n\nfunction#2..marker,weight=2\n  marker:1#9..+10  \n' >two.regions
    check_json "$arch: a file of regions" \
        "[r['instructions'] for r in d['regions']] == [$function, 10] and [r['times'] for r in d['regions']] == [1, 1]" \
        stat --regions two.regions -- "$known/$arch-regions"

    # Profiles count regions by their weights.
    parts=("$before..+100" 1000..+50)
    measured() { "$ASSAY" record -q -o "$1" "${@:2}" -- "$known/$arch-regions" >out.txt && "$ASSAY" report --json "$1" |
        python3 -IS -c 'import json, sys; d = json.load(sys.stdin)["summary"]; print(d["cycles"], d["instructions"])'; }
    read -r first_cycles _ <<<"$(measured first.db --region "${parts[0]}" --region "${parts[1]},mode=settle")"
    read -r second_cycles _ <<<"$(measured second.db --region "${parts[0]},mode=settle" --region "${parts[1]}")"
    check_same "$arch: a profile of both" "$((first_cycles + second_cycles)) 150" "$(measured both.db --region "${parts[0]}" --region "${parts[1]}")"
    check_same "$arch: … by weights" "$((3 * first_cycles + second_cycles)) 350" \
        "$(measured weighted.db --region "${parts[0]},weight=3" --region "${parts[1]}")"
    check_same "$arch: … executions too" 350 "$(sum_of weighted.db 'SELECT sum(executions) FROM times')"
    check_same "$arch: … and counters, but not of threads" "350 1 1" "$(sum_of weighted.db "SELECT (SELECT value FROM counters WHERE
        name = 'instructions') || ' ' || (SELECT value FROM counters WHERE name = 'threads') || ' ' || (SELECT count(*) FROM runs)")"
    check_same "$arch: … and the report says so" 1 "$("$ASSAY" report weighted.db | grep -c 'note: WEIGHTED: regions count by their weights')"
    check_same "$arch: … not of what only warms" "$first_cycles 100" \
        "$(measured warmed.db --region "${parts[0]}" --region "${parts[1]},mode=settle,weight=3")"
    check_same "$arch: … a weight that nothing has leaves the others" "$((3 * first_cycles)) 300" \
        "$(measured missing.db --region "${parts[0]},weight=3" --region 1G..,weight=2)"
    check_same "$arch: … and is named" 1 "$("$ASSAY" record -o missing.db --region "${parts[0]}" --region 1G..,weight=2 -- \
        "$known/$arch-regions" 2>&1 >out.txt | grep -c 'no instruction was executed in a region with weight 2')"
    check_fails 2 "no region has mode=detail" "$arch: … and a list of nothing is refused" "$ASSAY" record -q -o no.db \
        --region ..10,mode=warm,weight=2 --region 10..20,mode=settle -- "$known/$arch-regions"
    check_fails 2 "signal or a delay cannot start or stop" "$arch: … not of a delay" "$ASSAY" record -q -o no.db \
        --region delay:0..+50,weight=2 -- "$known/$arch-regions"

    # Adjacent regions are the whole, to the unit, in the model too: nothing is drained where nothing is left out.
    check "$arch: the whole in the model" compare -o whole.json -- "$known/$arch-regions"
    check "$arch: in adjacent parts" compare -o parts.json --region ..1000 --region 1000..1001 --region 1001..20k \
        --region 20k.. -- "$known/$arch-regions"
    holds "$arch: the parts are the whole" \
        'all(d[0][k] == d[1][k] for k in ("instructions", "cycles", "elapsed_cycles", "kernel_cycles", "counters", "stack"))
         and sum(r["cycles"] for r in d[1]["regions"]) == d[0]["cycles"]
         and sum(r["instructions"] for r in d[1]["regions"]) == d[0]["instructions"]' whole.json parts.json

    # Weights are in the weighted sum and nowhere else, and the text says so.
    check "$arch: weights" compare -o heavy.json --region ..1000,weight=5 --region 1000..1001 --region 1001..20k --region 20k.. -- "$known/$arch-regions"
    holds "$arch: … are in the weighted sum" \
        'near(d["weighted"]["cycles"], d["cycles"] + 4 * d["regions"][0]["cycles"]) and d["weighted"]["cycles"] != d["cycles"]' heavy.json
    holds "$arch: … and not in the errors of samplers" \
        'd[0]["stack"] == d[1]["stack"] and [s["error"] for s in d[0]["samplers"]] == [s["error"] for s in d[1]["samplers"]]' parts.json heavy.json
    check "$arch: weights of what only warms" compare -o warm.json --region ..1000,mode=warm,weight=5 --region 1000..2k,weight=2 -- "$known/$arch-regions"
    holds "$arch: … are in no sum" 'd["weighted"]["instructions"] == 2000 and near(d["weighted"]["cycles"], 2 * d["cycles"])' warm.json
    check_same "$arch: … which is said" 1 "$("$ASSAY" compare -q --region ..1000,weight=5 --region 1000..2k -- "$known/$arch-regions" | grep -c '^note: only this sum is weighted')"

    # With gaps between them: what is charged is what the regions took (the Oracle checks its sums itself).
    check_json "$arch: regions with gaps" \
        '(d["instructions"] == 4000 == d["counters"]["instructions"] and
         d["cycles"] == sum(r["cycles"] for r in d["regions"]) == d["counters"]["cycles"])' \
        compare --region 1k..2k --region 5k..7k --region 30k..31k -- "$known/$arch-regions"
    # Warm: the second turn misses nothing that the first has brought, though no time has passed in it.
    check "$arch: a cold region" compare -o cold.json --region 6100..+3000 -- "$known/$arch-regions"
    check "$arch: a warm region" compare -o warm.json --region 6100..+3000,warm=3500 -- "$known/$arch-regions"
    check "$arch: a settled region" compare -o settled.json --region 6100..+3000,settle=3500 -- "$known/$arch-regions"
    check "$arch: all before it" compare -o all.json --skip 6100 --max 3000 --warm all -- "$known/$arch-regions"
    holds "$arch: what warming changes" \
        'all(x["instructions"] == 3000 for x in d) and d[0]["cycles"] > d[1]["cycles"] >= d[2]["cycles"]
         and d[1]["cycles"] == d[3]["cycles"] and d[1]["counters"] == d[3]["counters"]
         and all(d[0]["counters"][k] > 0 and all(x["counters"][k] == 0 for x in d[1:])
                 for k in ("l1d_misses", "l1i_misses", "dtlb_misses", "page_faults", "btb_misses"))
         and d[0]["counters"]["branch_mispredictions"] > d[1]["counters"]["branch_mispredictions"]
                 == d[2]["counters"]["branch_mispredictions"]' \
        cold.json warm.json settled.json all.json
    check_json "$arch: cycles" \
        'd["regions"][0]["stopped"] and 950 < d["cycles"] < 1050 and d["cycles"] == d["regions"][0]["cycles"]' \
        compare --region cycle:2000..cycle:3000 -- "$known/$arch-regions"
    check_json "$arch: regions that only warm" \
        'd["instructions"] == 1000 and [r["mode"] for r in d["regions"]] == ["warm", "count", "detail"]' \
        compare --region ..1k,mode=warm --region 1k..2k,mode=count --region 2k..3k -- "$known/$arch-regions"
    check_json "$arch: whatif looks at regions too" \
        'd["instructions"] == 2000 and all(e["instructions"] == 2000 for e in d["experiments"])' \
        "$ASSAY" whatif --json --region 5k..6k --region 9k..10k --set back.rob=64 -- "$known/$arch-regions"
done

# What a command cannot do with a region, it refuses.
for verb in stat script comm reuse; do
    check_fails 2 'unknown option --warm' "$verb has nothing to warm" "$ASSAY" "$verb" --skip 10 --warm 5 -- "$known/x86-regions"
    for how in warm=5 settle=5 mode=warm mode=count; do
        check_fails 2 'are for a modelled core' "… nor in a region: $how" "$ASSAY" "$verb" --region "10..20,$how" -- "$known/x86-regions"
    done
    check_same "… and -h speaks of no cycle" 0 "$("$ASSAY" "$verb" -h | grep -c 'cycle, .signal')"
done
for verb in script comm reuse "whatif --ideal ST-LLC"; do
    # shellcheck disable=SC2086 # words
    check_fails 2 'does not weight regions' "$verb has no weights" "$ASSAY" $verb --region 10..20,weight=2 -- "$known/x86-regions"
done
check_fails 125 'no instruction was executed in a region with mode=detail' "a region that only counts is no profile" \
    "$ASSAY" record -q --region marker:1..marker:2,mode=count -o counted.db -- "$known/x86-regions"

script() { "$ASSAY" script --region marker:2#20..marker -- "$known/x86-regions"; }
check "script: a region" script
check_same "… of the last instructions" "nopl dec jnz xorl mov syscall" \
    "$(grep -oE '  (nop[lw]?|dec|jnz|jne|xor[l]?|mov|syscall)\b' <<<"$out" | sed 's/jne/jnz/; s/xor$/xorl/; s/nop$/nopl/' | xargs)"

# ---- fast-forward: long counted stretches are not recorded, and nothing of a region is missed ----
# ITERS=20, WORK=200000: a turn of the function is 3 * 200000 instructions and one load in three of them.
for arch in x86 rv; do
    long=$known/$arch-regions-long
    [ -x "$long" ] || continue
    for region in 8M..+300k 'function#12..+300k' 'marker:1#12..+300k' 'marker+5M..+300k'; do
        check_json "$arch: $region behind a long stretch: all accesses are seen" \
            'd["instructions"] == 300000 and abs(d["counters"]["l1d_accesses"] - 100000) <= 2 and d["counters"]["branches"] > 99990' \
            compare -v --region "$region" -- "$long"
        check_same "… which was not recorded" "1 1" \
            "$(grep -c 'not recorded from' <<<"$err") $(grep -c 'are recorded from' <<<"$err")"
    done
    check_json "$arch: back and forth" 'all(r["instructions"] == 1000 for r in d["regions"]) and d["counters"]["l1d_accesses"] in range(990, 1010)' \
        compare -v --region 1000..+1k --region 5M..+1k --region 9M..+1k -- "$long"
    check_same "… recording was switched off twice" 2 "$(grep -c 'not recorded from' <<<"$err")"
done
# The records behind a stretch that was not recorded are those behind one that was (where everything is measured).
check "records behind a fast stretch" "$ASSAY" script --region 1M..+20k -o fast.txt -- "$STATIC/demo" 3
check "records behind slow ones" "$ASSAY" script --max 1020k -o slow.txt -- "$STATIC/demo" 3
check_same "… are the same" "$(grep -E '^ *1 +[0-9a-f]{16}' slow.txt | tail -n 20000 | md5sum)" \
    "$(grep -E '^ *1 +[0-9a-f]{16}' fast.txt | tail -n 20000 | md5sum)"
(echo assay-regions 1; for i in $(seq 8); do echo "$((i * 4000000))..+20k"; done) >many.regions
# What is between them is measured, too, and counts next to nothing.
(echo assay-regions 1; for i in $(seq 8); do
    echo "$((i == 1 ? 0 : i * 4000000 - 3980000))..$((i * 4000000)),weight=1e-12"
    echo "$((i * 4000000))..+20k"
done) >all.regions
check "recording is switched often" stat -v --check --regions many.regions -o many.json -- "$STATIC/demo" 3
check_same "… before each region" 8 "$(grep -c 'not recorded from' <<<"$err")"
check "… and not at all" stat --check --regions all.regions -o all.json -- "$STATIC/demo" 3
holds "… with the same counts" 'd[0]["instructions"] == 160000 and all(d[0][k] == round(d[1]["weighted"][k]) for k in ("instructions", "loads", "stores", "load_accesses", "store_accesses", "branches"))' many.json all.json
check_same "… and there are 20,000" 20000 "$(grep -cE '^ *1 +[0-9a-f]{16}' fast.txt)"
cat >threads.c <<'END'
#include <pthread.h>
static volatile long cells[4][64];
__attribute__((noinline)) void work(long id) { for (long i = 0; i < 40; i++) cells[id][i] += i; }
static void *run(void *id) { for (int i = 0; i < 30000; i++) work((long)id); return 0; }
int main(void)
{
    pthread_t others[3];
    for (long i = 0; i < 3; i++) pthread_create(&others[i], 0, run, (void *)(i + 1));
    run(0);
    for (int i = 0; i < 3; i++) pthread_join(others[i], 0);
}
END
cc -O1 -pthread -o threads threads.c
# Three of the threads can be ahead of the one that starts the region by the window, 100,000 instructions each, which then
# lack their accesses: 0.28 of an instruction.
for region in 15M..+1M 'work#60000..+1M'; do
    check_json "threads: $region" 'd["instructions"] == 1000000 and d["counters"]["l1d_accesses"] > 180000' \
        compare --region "$region" -- ./threads
done
check_json "threads: a region that never comes" 'd["instructions"] == 0' compare --region 900M.. -- ./threads
check_json "processes: a region in one of them" 'd["instructions"] == 100000' \
    compare --region 4M..+100k -- sh -c "'$known/x86-regions-long'; '$known/x86-regions-long'"

# ---- from outside: signals and delays ----
cat >spin.c <<'END'
/* spin MILLISECONDS: spins for so long. spin FILE: until there is FILE, and prints a dot for each turn. */
#include <assay/marker.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long sum;
__attribute__((noinline)) void spin(void) { for (int i = 0; i < 100000; i++) sum += i; }
static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
int main(int argc, char **argv)
{
    long end = now() + atol(argv[1]);
    ASSAY_ROI_BEGIN();
    if (atol(argv[1]))
        do spin(); while (now() <= end);
    else
        while (access(argv[1], F_OK) != 0 && write(1, ".", 1) == 1) spin();
    ASSAY_ROI_END();
}
END
cc -O1 -I"$SOURCE/include" -o spin spin.c
check "a program with markers runs as it is" ./spin 1
# go_on ASSAY: waits until the program has done far more than fits between it and Assay, which therefore has seen the
# signal, or until it is ended.
went_on() { [ "$(wc -c <turns)" -ge "$2" ] || ! readlink "/proc/$1/exe"; }
go_on() { wait_until went_on "$1" $(($(wc -c <turns) + 20)); }
# switched REGION-OPTION…: the program, with two signals while it spins.
switched() {
    rm -f stop && : >turns
    "$ASSAY" stat --json -o switched.json "$@" -- ./spin stop >>turns &
    local assay=$!
    go_on $assay && kill -USR2 $assay && go_on $assay && kill -USR2 $assay && go_on $assay
    touch stop
    wait $assay
}
check "switched on and off" switched --switch-signal USR2
holds "… a part was counted" '0 < d["instructions"] and d["regions"][0]["times"] == 1 and d["regions"][0]["stopped"]' switched.json
check "switched off by another signal's name" switched --switch-signal SIGUSR2
check "signals as points of a region" switched --region signal..signal
holds "… the program was ended there" 'd["instructions"] > 0 and d["complete"] is False' switched.json
# The program spins for 0.6 seconds from its start on: a machine that is busy enough lets them pass before the delay's end is seen.
delays() {
    check_json "a delay" 'd["instructions"] > 0 and d["regions"][0]["times"] == 1' stat --delay 0.2 -o /dev/stdout -- ./spin 600
    check_json "a delay to stop" 'd["instructions"] > 0 and d["regions"][0]["stopped"]' stat -o /dev/stdout --region ..delay:0.2 -- ./spin 600
}
by_chance delays
check_json "markers in C" 'd["regions"][0]["stopped"] and d["instructions"] > 0' stat -o /dev/stdout --region marker:1..marker:2 -- ./spin 1
check_json "PARSEC's hooks are functions like others" 'd["regions"][0]["times"] == 1' \
    stat -o /dev/stdout --region spin..spin -- ./spin 1

# ---- threads: counted together ----
check_json "threads: a count over all of them" 'd["instructions"] == 2000' stat --region 500..+2000 -- "$known/x86-threads-3"
check_json "threads: adjacent regions have all" 'sum(r["instructions"] for r in d["regions"]) == d["instructions"]' \
    stat --region ..1k --region 1k..3k --region 3k.. -- "$known/x86-threads-3"

# ---- refused, and not reached ----
x86=$known/x86-regions
check_fails 2 'expected START..STOP' "not a region" stat --region main -- "$x86"
check_fails 2 "unknown option 'wieght'" "an unknown option" stat --region ..,wieght=3 -- "$x86"
check_fails 2 'overlap' "overlapping regions" stat --region 10..20 --region 15..30 -- "$x86"
check_fails 2 'has no end' "a region that never ends before another" stat --region function.. --region marker.. -- "$x86"
check_fails 2 'warm=all' "warming before nobody knows what" compare --region function..,warm=5 -- "$x86"
check_fails 2 'one or the other' "two ways to say it" stat --region 10..20 --skip 5 -- "$x86"
check_fails 2 'give only one of them' "two starts" stat --from function --delay 1 -- "$x86"
check_fails 2 'nothing before the region' "warming before nothing" compare --warm 5 --max 10 -- "$x86"
check_fails 2 'use USR1 or USR2' "a signal that means something else" stat --switch-signal INT -- "$x86"
check_fails 2 'use USR1 or USR2' "no signal" stat --switch-signal NOPE -- "$x86"
check_fails 2 'not a file of regions' "not a file of regions" stat --regions "$SOURCE/README.md" -- "$x86"
check_fails 125 '/dev/zero:1: not text' "a file of regions without an end" stat --regions /dev/zero -- "$x86"
check_fails 125 'cannot be read' "no file" stat --regions absent -- "$x86"
check_fails 2 'this command does not model cycles' "cycles without a model" stat --region cycle:5.. -- "$x86"
check_fails 2 'this command does not model cycles' "exact counts of blocks have none" "$ASSAY" blocks --region cycle:5.. -- "$x86"
check "… methods have" "$ASSAY" blocks -q --methods --region cycle:5.. -- "$x86"
check_same "… and help says so" 1 "$("$ASSAY" blocks -h | tr -s '\n ' ' ' | grep -c 'with --methods, also a cycle and warm=N')"
not_reached() {
    check_json "$1: nothing is counted" 'd["instructions"] == 0' stat --region "$2" -- "$x86"
    if [[ $err =~ $3 ]]; then pass "… and says why"; else fail "… and says why" "seen: $err"; fi
}
not_reached "an unknown symbol" 'absent..' "never reached 'absent', and no function of that name"
not_reached "an address where nothing is" '0x10..' "never reached '0x10'"
not_reached "a marker that is never executed" 'marker:9..' "never executed 'marker:9'"
not_reached "a count behind the end" '10M..' "ended after [0-9]+ instructions"
not_reached "a function that is not executed so often" 'function#21..' "executed 'function' 20 times, not 21"
check_json "a region that the one before it has covered" \
    '[r["instructions"] for r in d["regions"]] == [5000, 0, 7]' \
    stat --region function..+5k --region 100..+5 --region 20k..+7 -- "$x86"
check "… is named" grep -q "region '100..+5' was left out" <<<"$err"
check_no_strays "nothing is left"
