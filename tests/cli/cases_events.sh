#!/usr/bin/env bash
# The case studies of the TEA paper, on programs of our own with the same disease (doc/cases/lbm.md, nab.md).
# plain-only: it is numbers; sanitized.sh runs compare with events under sanitizers
DEFAULT_CORE=boom-tip
. "$(dirname "$0")/lib.sh"

if [ ! -x "$WORKLOADS/lattice-riscv64" ]; then
    skip "the case studies of the TEA paper" "no RISC-V cross compiler (gcc-riscv64-linux-gnu)"
    exit 0
fi
runs=()
measure() { # NAME PROGRAM [ARGUMENT…]: a run, which statements know as NAME
    "$ASSAY" compare -q --core boom-tea --samplers ibs,tea --json --top 100000 -o "$TMP/$1" -- "$WORKLOADS/$2" "${@:3}" \
        >/dev/null
    runs+=("$1=$TMP/$1")
}
statement() { # NAME EXPRESSION
    check "$1" python3 "$SOURCE/tests/cli/cases_events.py" "$2" "${runs[@]}"
}

# The lattice, with so many cells prefetched ahead.
for ahead in 0 1 2 3 4 6 8; do
    measure "a$ahead" lattice-riscv64 "$ahead"
done
statement "lbm: loads take most of the time" 'a0.share("stream", "load") > 0.5'
statement "lbm: two loads, one for each line that the prefetcher did not bring, take half" \
    'a0.top("stream", n=2) == ["load", "load"] and sum(sorted((row["share"] for row in a0.rows("stream")))[-2:]) > 0.45'
statement "lbm: … because they miss the LLC" \
    'all(row["components"]["ST-L1+ST-LLC"] > 0.9 * row["cycles"] for row in a0.rows("stream")[:2])'
statement "lbm: TEA names them" \
    'a0.top("stream", "tea", 2) == ["load", "load"] and
     abs(a0.share("stream", "load", "tea") - a0.share("stream", "load")) < 0.02'
statement "lbm: IBS blames floating-point arithmetic" \
    'a0.top("stream", "ibs", 10) == ["fp"] * 10 and a0.share("stream", "fp", "ibs") > 0.75'
statement "lbm: … which takes a quarter, and the loads next to nothing" \
    'a0.share("stream", "fp") < 0.3 and a0.share("stream", "load", "ibs") < 0.1'
statement "lbm: the best distance is 3" 'min(runs, key=lambda run: run.cycles) is a3'
statement "lbm: 1.7 to 1.95 times as fast" '1.7 < a0.cycles / a3.cycles < 1.95'
statement "lbm: further ahead is as good within 2 %" 'max(a4.cycles, a6.cycles, a8.cycles) < 1.02 * a3.cycles'
statement "lbm: nearer is not" 'a1.cycles > 1.1 * a3.cycles and a2.cycles > 1.01 * a3.cycles'
statement "lbm: the loads' time goes down to where they hit" \
    'a0.share("stream", "load") * a0.cycles > 5 * a4.share("stream", "load") * a4.cycles'
statement "lbm: … and the stores' comes up, in cycles and not only in share" \
    'a4.share("stream", "store") * a4.cycles > 2 * a0.share("stream", "store") * a0.cycles'
statement "lbm: nothing waits for the LLC any more" \
    'a4.time("stream", "load", "ST-LLC") < 0.02 * a0.time("stream", "load", "ST-LLC")'
statement "lbm: what the stores wait for is the store queue, the further ahead the more" \
    '[3 * before.time("stream", "store", "DR-SQ") < 2 * after.time("stream", "store", "DR-SQ")
      for before, after in ((a0, a1), (a1, a2), (a2, a3), (a3, a4))] == [True] * 4'
statement "lbm: … until that is most of their time" \
    'a4.time("stream", "store", "DR-SQ") > 0.7 * a4.share("stream", "store") * a4.cycles'
statement "lbm: at last stores are what takes longest" \
    'a4.top("stream", n=4) == ["store"] * 4 == a8.top("stream", "tea", 4)'

# Counting events instead: misses of the LLC by address, of instructions with more than 5000.
check "the counting observer builds" \
    cc -O2 -shared -fPIC -I "$SOURCE/include" "$SOURCE/tests/cli/event_counter.c" -o "$TMP/counter.so"
"$ASSAY" compare -q --core boom-tea --samplers tea --observer "$TMP/counter.so" -o "$TMP/met" -- \
    "$WORKLOADS/lattice-riscv64" >/dev/null
awk '/^met/ && /ST-LLC/ { n[$2] += $3 } END { for (a in n) if (n[a] > 5000) print n[a], a }' "$TMP/met" | sort -n >"$TMP/misses"
check_same "lbm: 22 loads miss the LLC often" 22 "$(wc -l <"$TMP/misses")"
longest=$(python3 -c "import json; print(json.load(open('$TMP/a0'))['rows'][0]['address'][2:])")
least=$(head -8 "$TMP/misses" | grep -c " $longest\$")
check_same "lbm: the one that takes longest is one of the eight that miss least" 1 "$least"

# The molecule, as IEEE 754 has it, and relaxed.
runs=()
measure strict molecule-riscv64
measure finite molecule-finite-riscv64
measure fast molecule-fast-riscv64
statement "nab: the square root takes longest" 'strict.top("energy") == ["fsqrt.d"] == strict.top("energy", "tea")'
statement "nab: … a third of all, and TEA agrees" \
    '0.25 < strict.share("energy", "fsqrt.d") < 0.4 and
     abs(strict.share("energy", "fsqrt.d") - strict.share("energy", "fsqrt.d", "tea")) < 0.02'
statement "nab: … and no event explains it" \
    'all(row["components"].keys() == {"Base"} for row in strict.rows("energy") if row["text"].startswith("fsqrt"))'
statement "nab: IBS gives it next to nothing" 'strict.share("energy", "fsqrt.d", "ibs") < 0.05'
statement "nab: … and blames the instruction that dispatches when it is done" \
    'strict.top("energy", "ibs") == ["frflags"] and
     strict.share("energy", "frflags", "ibs") > 3 * strict.share("energy", "frflags")'
statement "nab: relaxed, there are no flags to keep" \
    'not any(kind in ("frflags", "fsflags") for run in (finite, fast) for kind in run.top("energy", n=1000))'
statement "nab: … and it is 2.3 to 2.8 times as fast" '2.3 < strict.cycles / finite.cycles < 2.8'
statement "nab: what else -ffast-math allows brings nothing here" '0.98 < finite.cycles / fast.cycles < 1.02'
statement "nab: the same square roots as before" \
    'strict.share("energy", "fsqrt.d") * strict.cycles > 4 * finite.share("energy", "fsqrt.d") * finite.cycles'
