#!/usr/bin/env bash
# --memo: what is remembered of the pipeline changes nothing. Programs of all kinds, all machines and odd ones run with
# the pipeline beside the memo (--memo=check); some also with and without it, whose documents must be the same.
# plain-only: the memo runs under sanitizers in its unit test and in all that runs the model
DEFAULT_CORE=boom-tip
. "$(dirname "$0")/lib.sh"

known=$WORKLOADS/known
compare() { "$ASSAY" compare -q "$@"; }
checked() { compare --memo=check --samplers tip -o /dev/null "$@"; }
# Whether there is anything to check: most of the blocks must have been known.
part_known() { sed -nE 's/.*memo: ([0-9]+)[0-9.]* % of .*/\1/p' "$1" | head -1; }

# ---- programs: loops, calls, recursion, rep, gathers, atomics, code that changes, signals, threads, processes ---------
for program in rv-branch-mix rv-call-deep rv-atomics rv-fences rv-jit rv-signal-alarm rv-threads-3 rv-load-8-page \
    x86-branch-mix x86-rep-movsq-300 x86-gather-3 x86-patch x86-signal-rep x86-threads-3 x86-fork-exec x86-fxsave; do
    check "$program" checked --max 200k --core zen4-like -- "$known/$program"
done
for program in demo-riscv64-static threads-riscv64-static; do
    check "$program" checked --max 1M -- "$WORKLOADS/$program"
done
check "demo, x86" checked --max 600k -- "$STATIC/demo" 2
check "a program that misses" checked --max 300k -- "$BUILD/bench/kernels" memory 100

# ---- machines ---------------------------------------------------------------------------------------------------------
for machine in boom-tip boom-tea golden-cove-like zen4-like; do
    check "$machine" checked --skip 1M --max 500k --core "$machine" -- "$WORKLOADS/demo-riscv64-static"
done
for changes in back.rob=16,queue.int.size=6,queue.mem.size=4,queue.fp.size=4,front.fetch_buffer=8 \
    back.load_queue=3,back.store_queue=3,front.max_branches=2,front.fetch_targets=5 \
    back.int_registers=40,back.fp_registers=40,back.width=3,back.commit_width=2,back.rob=126 \
    front.depth=1,front.redirect=0,front.flush=0,back.dispatch_to_issue=0 \
    back.memory_speculation=no,back.store_drain=2,front.depth=12,back.dispatch_to_issue=4 \
    back.dependence_predictor=yes,unit.store.latency=3,unit.load.latency=2,back.forward_latency=7 \
    queue.mem.width=1,unit.int.count=1,predictor.fast_entries=0,front.taken_bubble=3,back.flag_flush=no \
    back.width=1,back.commit_width=1,front.fetch_width=1,front.fetch_buffer=1,back.rob=2 \
    back.rob_rows=no,back.int_registers=40,back.width=3,back.commit_width=5 \
    back.width=8,back.rob=24,front.fetch_bytes=32,back.commit_width=6 \
    front.fetch_width=3,queue.int.size=6,front.max_branches=2; do
    check "$changes" checked --skip 1M --max 200k --set "$changes" -- "$WORKLOADS/demo-riscv64-static"
done

# ---- with and without -------------------------------------------------------------------------------------------------
same_documents() { # NAME OPTIONS…
    local name=$1
    shift
    check "$name: with" compare -v --json -o with.json "$@"
    cp "$LOGS/err" with.err
    check "$name: without" compare --json --memo=off -o without.json "$@"
    holds "$name: the same" '{**d[0], "seconds": 0, "mips": 0, "memo": 0} == {**d[1], "seconds": 0, "mips": 0, "memo": 0}' \
        with.json without.json
}
same_documents "demo" --max 2M -- "$WORKLOADS/demo-riscv64-static"
check "most blocks were known" test "$(part_known with.err)" -gt 80
holds "… and counted" 'd[0]["memo"]["known"] > 0.8 and d[0]["memo"]["known_blocks"] < d[0]["memo"]["blocks"] and
    d[0]["memo"]["edges"] >= d[0]["memo"]["nodes"] > 100 and 0 < d[0]["memo"]["bytes"] < 2**29 and d[1]["memo"] is None and
    d[0]["memo"]["instructions"] >= d[0]["instructions"]' with.json without.json
same_documents "little memory" --memo-size=3 --core zen4-like --max 4M -- "$BUILD/bench/kernels" branches 100
check "… is filled more than once" grep -qE 'dropped [1-9]' with.err

# ---- observers read edges, or what is made of them ------------------------------------------------------------------------
observed() { # MEMO OPTIONS…
    compare --memo="$1" --samplers tip --observer "counters,counters.$1.csv,1000" --observer "flame,flame.$1" \
        --observer "calls,calls.$1" --observer timeline -o "timeline.$1" "${@:2}"
}
same_observed() { # NAME OPTIONS…
    local name=$1 way file
    shift
    for way in off on check; do
        check "$name: observers, --memo=$way" observed "$way" "$@"
        sed -i '/MIPS/d' "timeline.$way"
        for file in counters.%.csv flame.% calls.% timeline.%; do
            check "… the same: ${file%%.*}" cmp "${file/\%/off}" "${file/\%/$way}"
        done
    done
}
same_observed "demo" --skip 100k --max 500k --core zen4-like -- "$WORKLOADS/demo-riscv64-static"
same_observed "regions" --region 100k..300k --region 400k..500k -- "$WORKLOADS/demo-riscv64-static"

# ---- on one processor cores do not run apart ---------------------------------------------------------------------------
# Both by taskset: bash names the command in the environment, which lies on the program's stack.
all=$(taskset -cp $$ | sed 's/.*: //')
one=${all%%[-,]*}
same_apart() { # NAME OPTIONS…
    local name=$1
    shift
    check "$name: apart" taskset -c "$all" "$ASSAY" compare -q --json -o apart.json "$@"
    check "$name: in place" taskset -c "$one" "$ASSAY" compare -q --json -o place.json "$@"
    # What is remembered differs: only where cores run apart are blocks joined to chains.
    holds "$name: the same" '{**d[0], "seconds": 0, "mips": 0, "memo": 0} == {**d[1], "seconds": 0, "mips": 0, "memo": 0}' \
        apart.json place.json
}
same_apart "a core apart" --skip 200k --max 2M -- "$WORKLOADS/demo-riscv64-static"
same_apart "… interrupted by borders" --memo=off --region cycle:300k..cycle:1200k --region cycle:1400k..cycle:1500k -- \
    "$WORKLOADS/demo-riscv64-static"
same_apart "… with new code all the time" --max 1M --core zen4-like -- "$(command -v sort)" --version
same_apart "… with repeated instructions" --max 1M --core zen4-like -- "$known/x86-rep-movsq-300"

check "whatif, with" "$ASSAY" whatif -q --json -o with.json --max 300k --ideal ST-L1 --ideal FL-MB -- "$STATIC/demo" 2
check "whatif, checked" "$ASSAY" whatif -q --json --memo=check -o checked.json --max 300k --ideal ST-L1 --ideal FL-MB -- \
    "$STATIC/demo" 2
check "whatif, without" "$ASSAY" whatif -q --json --memo=off -o without.json --max 300k --ideal ST-L1 --ideal FL-MB -- \
    "$STATIC/demo" 2
check_same "… the same" "$(cat without.json)" "$(cat with.json)"
check_same "… checked too" "$(cat without.json)" "$(cat checked.json)"

check_status 2 "another word" compare --memo=perhaps -- true
