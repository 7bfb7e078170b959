#!/usr/bin/env bash
# assay record --source=pmu:NAME: samples of modelled PMUs as profiles, through report, annotate and export; as perf's own
# recording; what cannot be.
# plain-only: long runs; sanitized.sh records units under sanitizers
. "$(dirname "$0")/lib.sh"

demo=$STATIC/demo
rec() { "$ASSAY" record -q --source="pmu:$1" --max 4M --period 1031 "${@:2}" -- "$demo" >/dev/null; }

# ---- more events than counters ----

check_stderr_line 'never got a counter' "a run that is shorter than the turns of six events" \
    sh -c '"$ASSAY" record --source=pmu:skylake --max 100k --period 101 --event loads --event stores --event branches --event taken --event returns --event calls -o turns.db -- "$1" 2>&1 >/dev/null | grep counter >&2' sh "$demo"
check_same "… names those that had none" "returns:pp, calls:pp" "$(sed 's/.*event: \(.*\) never.*/\1/' <<<"$err")"
run "$ASSAY" record --source=pmu:skylake --max 100k --period 101 --pmu-set multiplex=1 --event loads --event stores --event branches --event taken --event returns --event calls -o turns.db -- "$demo"
check_same "… shorter turns: none" "" "$(grep 'never got' <<<"$err")"

# ---- each kind ----

for unit in westmere ivy-bridge broadwell skylake cascade-lake ice-lake magny-cours zen2 zen3 zen4 neoverse-n1 tip tea tea-dispatch; do
    check "$unit" rec "$unit" -o "$unit.db"
    check_json "… has samples with names" \
        'sum(r["samples"] for r in d["rows"]) > 500 and any(r["function"] == "text_fill" for r in d["rows"])' \
        "$ASSAY" report --json "$unit.db"
done
check_json "the summary says what it is" \
    'd["summary"]["source"] == "pmu:zen2" and d["summary"]["core"] == "boom-tea" and d["summary"]["instructions"] == 4000000' \
    "$ASSAY" report --json zen2.db

check "without a wish for a core" env -u ASSAY_CORE "$ASSAY" record -q --source=pmu:skylake --max 20k -o own.db -- "$demo"
check_json "… the one most like the unit's own" \
    'd["summary"]["core"] == "skylake-like" and d["summary"]["core_why"] == "core skylake-like: most like that of skylake"' \
    "$ASSAY" report --json own.db
check_fails 2 'buffer_records are 1000 of 200 bytes, more than the 65536' "a buffer that holds less" \
    "$ASSAY" record -q --source=pmu:skylake --pmu-set buffer_records=1000 -o no.db -- "$demo"

# ---- TEA records events, TIP shares cycles; what samples are of ----

"$ASSAY" record -q --source=pmu:tea --period 101 --max 300k -o events.db -- "$demo"
"$ASSAY" record -q --source=model --max 300k -o exact.db -- "$demo"
cat >parts.py <<'PY'
import sqlite3, sys
def shares(path, where):
    base = sqlite3.connect(path)
    bits = {name: bit for bit, name in base.execute("SELECT bit, name FROM events WHERE bit < 9")}
    rows = base.execute("SELECT c.events, sum(c.units) FROM components c JOIN series s ON s.id = c.series WHERE " + where +
                        " GROUP BY c.events").fetchall()
    total = sum(units for _, units in rows)
    return {name: sum(units for events, units in rows if events >> bit & 1) / total for name, bit in bits.items()}
tea, exact = shares("events.db", "1"), shares("exact.db", "s.name = 'golden'")
print(len(tea), tea.keys() == exact.keys(), sum(part > 0.01 for part in tea.values()) >= 4,
      all(abs(tea[name] - exact[name]) < 0.02 for name in tea))
PY
check_stdout_equals "9 True True True" "TEA's stacks are those of the golden reference" python3 -IS parts.py
run "$ASSAY" report events.db
check "cycles that instructions share" grep -qE 'series tea/cycles/: [0-9,]+ samples of [0-9,]+ cycles, one in 101 cycles' <<<"$out"
run "$ASSAY" record --source=pmu:skylake --max 300k --event loads --period 101 -o loads.db -- "$demo"
check_same "shares of loads, which functions have" "shares are of loads, not of time; most loads" \
    "$(grep -oE '^(shares are of .*|most [a-z]*)' <<<"$err" | paste -sd';' | sed 's/;/; /')"
"$ASSAY" record -q --source=pmu:skylake --max 300k --event cycles --period 1009 -o cycles.db -- "$demo"
cycles() { python3 -IS -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT value FROM meta WHERE key = \"cycles\"").fetchone()[0])' "$1"; }
check_same "the cycles are the core's, whatever is sampled" "$(cycles loads.db)" "$(cycles cycles.db)"
for option in --system-wide --accesses; do
    check_fails 2 'does not apply to a modelled PMU' "$option" "$ASSAY" record --source=pmu:skylake $option -o no.db -- "$demo"
done

# ---- PEBS: samples are events; branches, addresses, latencies, sources ----

check_fails 125 'cannot write nodir/d: No such file or directory' "a recording for perf that cannot be written" \
    "$ASSAY" record -q --source=pmu:skylake -o never.db --perf-data=nodir/d -- sh -c 'echo ran >ran'
check_same "… is known before the program runs" "" "$(ls ran never.db 2>/dev/null)"
check "loads and misses with branches" rec skylake --event loads --event load-latency=20 --branches --user --period 101 -o s.db --perf-data s.data
check_json "only instructions that load" 'len(d["rows"]) >= 15 and all(" ptr " in r["text"] or r["text"].startswith(("pop", "ret", "leave", "xrstor")) for r in d["rows"])' \
    "$ASSAY" report --by=instruction --json s.db
check_same "every sample has a data address" "$(one s.db "SELECT sum(t.samples) FROM times t JOIN series s ON s.id = t.series WHERE s.name = 'loads:ppu'")" \
    "$(one s.db "SELECT sum(a.samples) FROM accesses a JOIN series s ON s.id = a.series WHERE s.name = 'loads:ppu'")"
check_same "… and 32 branches" 1 "$(one s.db "SELECT (SELECT value FROM counters WHERE name = 'branch_entries') > 30 * (SELECT value FROM counters WHERE name = 'branch_stacks')")"
check_same "no latency below the threshold" 1 "$(one s.db "SELECT min(t.units >= 20 * t.samples) FROM times t JOIN series s ON s.id = t.series WHERE s.name = 'load-latency:ppu weight'")"
most="SELECT f.name FROM times t JOIN instructions i ON i.id = t.instruction JOIN functions f ON f.id = i.function GROUP BY f.id ORDER BY sum(t.samples) DESC"
check "annotate" "$ASSAY" annotate "$(one s.db "$most")" s.db
check "the page" "$ASSAY" report --html page.html s.db
for format in folded pprof callgrind perf-script json csv speedscope; do
    check "export --to=$format" "$ASSAY" export --to="$format" s.db
done
check "its recording can be imported" "$ASSAY" import -q -o i.db s.data
times="SELECT count(*) || ' ' || sum(units) || ' ' || sum(samples) FROM times"
check_same "… and gives the same" "$(one s.db "$times")" "$(one i.db "$times")"
if command -v perf >/dev/null; then
    check_same "perf reads as many samples" "$(one s.db "SELECT sum(t.samples) FROM times t JOIN series s ON s.id = t.series WHERE s.name = 'loads:ppu'")" "$(perf script -i s.data 2>/dev/null | grep -c ' raw 0x81d0:ppu*: ')"
else
    skip "perf reads as many samples" "there is no perf here"
fi

# ---- the branch record as a stack of calls ----

check "call paths of the branch record" rec skylake --call-graph=lbr --user --period 251 -o lbr.db
check "… and exact ones" rec skylake --user --period 251 -o paths.db
callers() { "$ASSAY" report --json --by function "$1" | python3 -c 'import json, sys; print(round(next(r["total"] for r in json.load(sys.stdin)["rows"] if r["function"] == "main") / 1e3))'; }
check_same "… say the same of a program that calls no deeper" "$(callers paths.db)" "$(callers lbr.db)"
check_same "… it is no list of branches" 0 "$(one lbr.db 'SELECT count(*) FROM branches')"

# ---- how wrong it is: held against all that happened in the run ----

error() { "$ASSAY" report --json --limit 1 "${@:2}" | python3 -c 'import json, sys; print({e["granularity"]: e["value"] for e in json.load(sys.stdin)["summary"]["errors"] if e["measure"] == "error"}[sys.argv[1]])' "$1"; }
check "with and without a shadow" rec skylake --event instructions --period 251 -o shadow.db
check "…" rec skylake --event instructions --period 251 --pmu-set shadow.instructions=0 -o none.db
below() { python3 -IS -c 'import sys; sys.exit(not float(sys.argv[1]) < float(sys.argv[2]))' "$@"; }
check "the shadow makes instructions wrong" below 0.2 "$(error instruction shadow.db)"
check "… functions less" below "$(error function shadow.db)" "$(error block shadow.db)"
check "… and without it there is chance alone" below "$(error instruction none.db)" 0.08
check_stdout_equals 1 "the report says so" sh -c "\"\$ASSAY\" report shadow.db | grep -c 'by instruction: compared with everything that happened'"
check "cycles are held against the Oracle" rec tip --period 101 -o oracle.db
check "… which TIP agrees with" below "$(error instruction oracle.db)" 0.05
rec tea-dispatch --period 101 -o dispatched.db
check "… and what is chosen at dispatch does not" below 0.20 "$(error instruction dispatched.db)"
check "without the memo" rec skylake --event instructions --period 251 --memo=off -o plain.db
check_same "… the errors are the same" "$(error instruction shadow.db)" "$(error instruction plain.db)"
# Blocks that are only counted keep tags, interrupts and branch records in step.
in_step() {
    rec "$@" --max 1M -o blocks.db && rec "$@" --max 1M --memo=off -o records.db &&
        [ -n "$(contents blocks.db)" ] && [ "$(contents blocks.db)" = "$(contents records.db)" ]
}
contents() { sqlite3 "$1" .dump | grep -v -e 'INTO meta' -e 'INTO recordings' | md5sum; } # each recording has a number of its own
if command -v sqlite3 >/dev/null; then
    check "IBS of cycles is the same with and without the memo" in_step zen4 --event cycles --period 503
    check "… and of operations" in_step zen4 --event ops --period 503
    check "… TIP too" in_step tip --period 503
    check "… and what is chosen at dispatch" in_step tea-dispatch --period 503
    check "… and branch records" in_step skylake --event taken --period 251 --branches
    check "… and call stacks of them" in_step skylake --event instructions --period 251 --call-graph=lbr
fi

# ---- IBS counts all operations; the same seed gives the same samples ----

check "the same again" rec zen2 -o again.db
check_same "… is the same" "$(one zen2.db "$times")" "$(one again.db "$times")"
check "another seed" rec zen2 --seed 2 -o other.db
check_same "… is another" 0 "$(one zen2.db "SELECT '$(one other.db "$times")' = ($times)")"
check "RISC-V" "$ASSAY" record -q --source=pmu:zen3 --max 2M --period 1031 -o r.db -- "$([ -x "$WORKLOADS/demo-riscv64-static" ] && echo "$WORKLOADS/demo-riscv64-static" || echo "$demo")"

# ---- what cannot be: one line each, and no file ----

no() { check_stderr_line "$1" "$1" "$ASSAY" record -q -o no.db "${@:2}" -- "$demo"; }
no "no PMU 'nehalem'; there are: broadwell, " --source=pmu:nehalem
no "zen2 has no event 'loads'; it has ops, cycles, fetches" --source=pmu:zen2 --event loads
no 'only instructions have a precise distribution' --source=pmu:skylake --event loads:ppp
no 'zen2 has no branch record' --source=pmu:zen2 --branches
no 'only a third fixed counter' --source=pmu:skylake --event ref-cycles
no 'the branch record of ivy-bridge keeps no call stack' --source=pmu:ivy-bridge --call-graph=lbr
no 'the branch record keeps branches or a stack of calls' --source=pmu:skylake --call-graph=lbr --branches
no '--call-graph=lbr is for a modelled PMU' --source=timer --call-graph=lbr
no '--rate does not apply to a modelled PMU' --source=pmu:skylake --rate 100
no 'needs a modelled PMU: --source=pmu:NAME' --source=model --pmu-set lbr=8
no "shadow.loads=x: not allowed; a whole number" --source=pmu:skylake --pmu-set shadow.loads=x
printf 'kind = pebs\ncounters = 40\n' >bad.pmu
no 'bad.pmu:2: counters = 40: not allowed' --source=pmu:./bad.pmu
check "user mode only" rec skylake --event loads --user -o u.db
check_same "… has nothing of the kernel" 0 "$(one u.db "SELECT count(*) FROM modules WHERE path = '[kernel]'")"
check_same "no profile" "" "$(ls no.db 2>/dev/null)"
