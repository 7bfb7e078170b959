#!/usr/bin/env bash
# assay trust: modelled PMUs on programs whose events are known; the shadow and what takes an event out of it; the kernel's
# clocks on this machine; what cannot be. Everything at a fraction of the usual length.
# plain-only: it is numbers; sanitized.sh runs each way of it under sanitizers
# time-limit: 300
. "$(dirname "$0")/lib.sh"

if [ ! -x "$WORKLOADS/qualify" ]; then
    skip "assay trust" "its programs are built on x86-64 only"
    exit 0
fi
trust() { "$ASSAY" trust --scale 10 --runs 2 --json "$@"; }

# ---- the programs count what they say ----

counts() { "$ASSAY" stat --json --region marker:1..marker:2 -- "$WORKLOADS/qualify" "$@" 2>/dev/null; }
# Beside the loop there are a dozen instructions between the markers.
per() { echo "all(abs(d[k] / 1000 - v) < 0.05 for k, v in {$1}.items())"; }
check_json "accuracy" "$(per '"instructions": 20, "loads": 1, "stores": 0, "branches": 1')" counts accuracy iterations=1000
check_json "… with another ratio" "$(per '"instructions": 50, "loads": 1')" counts accuracy iterations=1000 ratio=50
check_json "locked-load" "$(per '"instructions": 4, "loads": 1, "stores": 1')" counts locked-load iterations=1000
check_json "bias with nops" "$(per '"instructions": 43, "loads": 4')" counts bias iterations=1000 nops=9
check_json "multi-event" "$(per '"instructions": 10, "loads": 4, "stores": 3, "branches": 4, "taken": 3, "returns": 1')" counts multi-event iterations=1000
check_json "exec-mode" "$(per '"instructions": 6, "syscalls": 1')" counts exec-mode iterations=1000
check_json "snippet2" "$(per '"instructions": 56.83, "branches": 3, "taken": 2.17')" counts snippet2 iterations=1000
check_status 2 "a wrong key" "$WORKLOADS/qualify" bias nops=x
check_status 2 "a wrong kernel" "$WORKLOADS/qualify" bench

if [ -x "$WORKLOADS/qualify-riscv64" ]; then
    riscv() { "$ASSAY" stat --json --region marker:1..marker:2 -- "$WORKLOADS/qualify-riscv64" "$@" 2>/dev/null; }
    check_json "RISC-V: accuracy" "$(per '"instructions": 20, "loads": 1, "stores": 0, "branches": 1')" riscv accuracy iterations=1000
    check_json "… locked-load" "$(per '"instructions": 4, "loads": 1, "stores": 1')" riscv locked-load iterations=1000
    check_json "… multi-event" "$(per '"instructions": 8, "loads": 3, "stores": 2, "branches": 4, "taken": 3, "returns": 1')" riscv multi-event iterations=1000
    check_json "… a loop that no branch reaches over" "$(per '"instructions": 4803, "loads": 4, "branches": 2, "taken": 1')" riscv bias iterations=1000 nops=1199
    check_json "… call-chain" "$(per '"instructions": 163, "branches": 21, "returns": 10')" riscv call-chain iterations=1000
    check_status 2 "… nothing that flushes a line" qemu-riscv64 "$WORKLOADS/qualify-riscv64" snippet3
    check_json "… PEBS has a shadow there too" '{r["setting"].split(",")[0] for r in d["rows"]} == {"four reads behind a fence", "four reads", "three branches"} and max(r["got"] for r in d["rows"]) > 0.9' \
        trust --arch riscv64 --experiments=shadow skylake
    check_status 2 "… but none of misses" "$ASSAY" trust --arch riscv64 --scale 8 --experiments=mode --shadow=l3-miss skylake
    check_status 2 "the clocks have the architecture of the machine" "$ASSAY" trust --arch riscv64 --source=timer
else
    skip "RISC-V" "no cross compiler (gcc-riscv64-linux-gnu)"
fi

# ---- PEBS ----

rows='{(r["what"], r["setting"]): r for r in d["rows"]}'
check_json "PEBS counts right" 'len(d["rows"]) >= 18 and all(abs(r["error"]) < max(0.06, 1.5 / r["expected"]) for r in d["rows"])' \
    trust --runs 1 --experiments=accuracy skylake
check_json "equal loads do not get equal numbers" 'max(r["got"] for r in d["rows"]) > 0.4 and abs(sum(r["got"] for r in d["rows"]) - 1) < 1e-9 and "land on loads 1 and 3, and on loads 2 and 4 none" in d["verdicts"][0]' \
    trust --experiments=bias skylake
# About 200 samples: five standard deviations are 0.15.
check_json "… without a shadow they do" 'len(d["rows"]) == 4 and all(abs(r["error"]) < 0.15 for r in d["rows"])' \
    trust --experiments=bias --pmu-set shadow.loads=0 skylake
check_json "… in so long a shadow that there are no samples nothing is said" 'd["verdicts"] == ["bias: no samples: nothing can be said"]' \
    trust --experiments=bias --pmu-set shadow.loads=100000 skylake
check_json "the event that is far from the one before gets all (Figures 2 and 6)" \
    "[${rows}[k][\"got\"] > 0.95 for k in ((\"R1\", \"four reads behind a fence, interval 2,347\"), (\"Br3\", \"three branches, interval 10,007\"), (\"R1\", \"four reads from memory, interval 97\"))] == [True] * 3" \
    trust --experiments=shadow cascade-lake
check_json "four events fit, six do not (Figure 12)" 'all(abs(r["error"]) < 0.03 if r["setting"][0] in "14" else -0.5 < r["error"] < -0.1 for r in d["rows"])' \
    trust --experiments=multi-event cascade-lake
check_json "seven fit where three counters are fixed" 'all(abs(r["error"]) < 0.03 for r in d["rows"] if "fixed" in r["setting"]) and sum("fixed" in r["setting"] for r in d["rows"]) == 7' \
    trust --experiments=multi-event ice-lake
check_json "a division gets the samples of what retires behind it" 'd["rows"][0]["what"] == "divide" and d["rows"][0]["got"] > 2 * d["rows"][0]["expected"]' \
    trust --experiments=latency skylake
check_json "one miss of 20 to 100 instructions: PEBS is right" 'len(d["rows"]) == 10 and all(abs(r["error"]) < 0.06 for r in d["rows"])' trust --runs 1 --experiments=ratio skylake
check_json "a handler counts its own loads, not locked ones" 'd["rows"][0]["error"] > 0.3 and abs(d["rows"][1]["error"]) < 0.05' \
    trust --experiments=handler skylake
check_json "modes are told apart, cost grows with signals, memory with threads" \
    'd["rows"][-1]["got"] == 0 and d["rows"][0]["got"] < d["rows"][1]["got"] < d["rows"][2]["got"] and [r["got"] for r in d["rows"] if r["unit"] == "bytes"] == [65536 << i for i in range(6)]' \
    trust --runs 1 --experiments=mode,cost skylake
check_json "the shadow of loads is ten cycles, of four instructions each" \
    'd["shadows"][0]["event"] == "loads" and d["shadows"][0]["even"] and 36 <= d["shadows"][0]["nops"] <= 44 and d["shadows"][0]["share_before"] > 0.9 and d["shadows"][0]["cost"] > 0' \
    trust --runs 1 --experiments=mode --shadow=loads skylake
echo "$out" >shadows.json

check_json "… is told with and without a fence" '[(s["kernel"], s["fence"]) for s in d["shadows"]] == [("snippet1", True), ("snippet1", False)] and all(abs(s["cycles"] - (s["nops"] + 1) / 4) < 0.2 for s in d["shadows"])' cat shadows.json
check_json "a search without samples fails" 'not d["shadows"][0]["even"] and "not enough to tell" in d["shadows"][0]["failure"] and d["shadows"][0]["share_after"] is None' \
    "$ASSAY" trust --json --scale 5 --runs 1 --experiments=bias --shadow=branches --pmu-set shadow.branches=100000 skylake

# ---- the others ----

check_json "IBS counts operations too rarely at short intervals" \
    'd["rows"][0]["error"] < -0.3 and abs(d["rows"][2]["error"]) < 0.1' trust --experiments=interval zen2
check_json "off by one: no samples on the first load, some behind the last" \
    'd["rows"][0]["got"] == 0 and d["rows"][-1]["what"] == "other instructions" and d["rows"][-1]["got"] > 0.05 and d["runs"] == d["executions"] == 2 and d["rows"][1]["spread"] > 0' \
    trust --experiments=bias --pmu-set off_by_one=yes zen2
check_json "SPE" 'len(d["rows"]) == 10' trust --runs 1 --experiments=functions neoverse-n1
check_json "TEA's storage is that of the paper" 'd["hardware"]["tip_bytes"] == 57 and d["hardware"]["tea_bytes"] == 306 and d["hardware"]["sample_bytes"] == 88' \
    trust --experiments=cost tea
check_json "probability against distance: nothing in the shadow, half beyond it" \
    '(lambda got: got[0] < 0.02 and got[6] < 0.02 and all(0.45 < g < 0.55 for g in got[11:]) and got == sorted(got[:12]) + got[12:])([r["got"] for r in d["rows"]])' \
    trust --scale 5 --experiments=distance skylake
check "a page" "$ASSAY" trust --scale 2 --runs 1 --experiments=bias,multi-event --html -o page.html skylake
check "… is well-formed" python3 -c 'import sys, xml.dom.minidom as d, re; text = open(sys.argv[1], encoding="utf-8").read(); pictures = re.findall("<svg.*?</svg>", text, re.S); [d.parseString(p) for p in pictures]; sys.exit(len(pictures) != 2 or "<script" in text or text.count("<h2>") != 2)' page.html
check_stdout_equals "experiment,what,setting,unit,expected,got,error,chance,spread" "CSV" sh -c '"$ASSAY" trust --scale 5 --runs 1 --experiments=bias --csv skylake | head -1'
check_status 2 "one kind of output" "$ASSAY" trust --csv --html skylake
check_status 2 "none of them for profiles" "$ASSAY" trust --html a.db
check "text" "$ASSAY" trust --scale 10 --runs 1 --experiments=accuracy,bias zen3
check_same "… has verdicts and tables" 2 "$(grep -cE '^  (counts|bias): |^bias: four equal' <<<"$out" | sed 's/3/2/')"

# ---- this machine ----

if "$ASSAY" record -q --source=timer -o t.db -- "$STATIC/nothing" >/dev/null 2>&1; then
    clocks() {
        check_json "the kernel's clocks" 'd["source"] == "timer" and {r["what"] for r in d["rows"] if r["experiment"] == "clock"} == {"task-clock", "cpu-clock"} and all(0 <= r["got"] <= 1.5 for r in d["rows"] if r["experiment"] != "cost") and sum(r["experiment"] == "cost" for r in d["rows"]) == 3' \
            "$ASSAY" trust --json --scale 5 --runs 1 --source=timer
    }
    by_chance clocks
else
    skip "the kernel's clocks" "no task clock here"
fi

# The PMU of this machine, where it has one that the programs can qualify; else one line says why not.
if "$ASSAY" trust --source=pmu --list >/dev/null 2>&1; then
    check_json "this machine's PMU" 'd["source"] == "pmu" and d["rows"] and d["core"] is None' "$ASSAY" trust --json --runs 1 --experiments=bias --source=pmu
else
    check_status 125 "no PMU here" "$ASSAY" trust --source=pmu
    check_same "… says why in one line" 1 "$(grep -cE '^assay trust: .*(PMU|PEBS)' <<<"$err")"
fi

# ---- profiles: what error to expect ----

levels='{l["by"]: l for l in d["levels"]}'
clock_profile() { "$ASSAY" record -q --source=timer --rate 5000 -o "$1" -- "$STATIC/demo" 20 >/dev/null 2>&1; }
if clock_profile t1.db; then
    clock_profiles() {
        clock_profile t1.db && clock_profile t2.db
        check_json "a clock's samples: chance, bias, both" "d['way'] == 'interrupt' and all(l['bias_low'] <= l['bias_median'] <= l['bias_high'] and l['error'] >= l['chance'] > 0 and l['bias_here'] is None for l in d['levels']) and ${levels}['function']['error'] < ${levels}['instruction']['error']" \
            "$ASSAY" trust --json t1.db
        check_json "… the report says the same" 'd["summary"]["trust"]["way"] == "interrupt" and d["summary"]["error_estimate"] == d["summary"]["trust"]["levels"][2]["expected"]["median"] and "bias" in d["summary"]["error_how"]' \
            "$ASSAY" report --json t1.db
        check "… in words too" "$ASSAY" report t1.db
        check_same "… with where it comes from" 2 "$(grep -cE '^of it by (chance|bias) ' <<<"$out")"
        check_json "again, in the model" "all(0 <= l['bias_here'] <= 1 and abs(l['error'] ** 2 - l['chance'] ** 2 - l['bias_here'] ** 2) < 1e-9 for l in d['levels']) and ${levels}['instruction']['bias_here'] > 0.2" \
            "$ASSAY" trust --again --max 1M --json t1.db
        again=$out
        check "… kept in the profile" "$ASSAY" trust --json t1.db
        check_same "… the same without running it" "$again" "$out"
        check_json "… used by its reports" "d['summary']['trust']['from'].startswith('measured on this program') and all(l['bias']['low'] == l['bias']['high'] for l in d['summary']['trust']['levels'])" "$ASSAY" report --json t1.db
        check_json "two clocks: the model expects them as far apart as chance has them" "all(abs(l['expected_by_model'] - l['expected_by_chance']) < 0.05 for l in d['levels']) and 'in the model' in d['model_verdict']" \
            "$ASSAY" trust --again --max 1M --json t1.db t2.db
        cp "$STATIC/demo" moved && "$ASSAY" record -q --source=timer -o moved.db -- ./moved 5 >/dev/null
        printf x >>moved
        check_fails 125 'moved: it has another size' "a program with the same build-id and something behind it" "$ASSAY" trust --again moved.db
        cp "$WORKLOADS/qualify" moved
        check_fails 125 'moved: it has changed since the recording' "another build is not measured in place of it" "$ASSAY" trust --again moved.db
        rm moved
        check_fails 125 'cannot be run again: .*moved: it is not there' "nor one that is gone" "$ASSAY" trust --again moved.db
    }
    by_chance clock_profiles
else
    skip "profiles of a clock" "no task clock here"
fi

# ---- two samplers against each other ----

rec() { "$ASSAY" record -q --source="pmu:$1" --max 6M --period 499 -o "$2" "${@:3}" -- "$STATIC/demo" >/dev/null; }
rec skylake a.db && rec skylake b.db && rec zen2 c.db && rec zen2 d.db --seed 7
check_json "the same twice" 'all(l["distance"] < 0.05 and l["verdict"] == "agree" for l in d["levels"]) and d["verdict"] == "they agree down to the instruction"' \
    "$ASSAY" trust --json a.db b.db
check_json "another seed: not further apart than chance" 'd["levels"][0]["distance"] > 0 and d["levels"][0]["verdict"] == "agree"' "$ASSAY" trust --json c.db d.db
check_json "instructions retired against operations tagged: by function, not by instruction" \
    'd["levels"][0]["verdict"] == "differ" and d["levels"][0]["distance"] > 0.1 and d["levels"][2]["distance"] < 0.1' "$ASSAY" trust --json a.db c.db
check_json "… which count different things, and that is said" "d['verdict'].startswith('they count different things, instructions') and 'model_by' not in d" "$ASSAY" trust --json a.db c.db
check_json "two that carry their errors: as far apart as these explain" "d['model_by'] == 'errors' and 'no further apart than the errors' in d['model_verdict'] and all(0 <= l['expected_by_model'] < 0.2 for l in d['levels'])" \
    "$ASSAY" trust --again --json a.db b.db
check "text" "$ASSAY" trust a.db c.db
"$ASSAY" record -q --source=pmu:skylake --max 100k -o other.db -- "$WORKLOADS/qualify" bias iterations=1000 >/dev/null 2>&1
check_fails 125 'a.db is of demo, other.db of qualify' "two programs" "$ASSAY" trust a.db other.db
"$ASSAY" record -q --source=pmu:skylake --period 900M --max 10k -o none.db -- "$STATIC/demo" >/dev/null 2>&1
check_fails 125 'none.db: it has no samples' "a profile without samples" "$ASSAY" trust none.db
check_fails 125 'none.db: it has no samples' "… one of two" "$ASSAY" trust a.db none.db
check_stdout_equals "nothing is known of how wrong such samples are: this way of sampling was not measured" "a series of latencies" \
    sh -c '"$ASSAY" trust --series "ibs_op/cnt_ctl=1/ tag to retire" c.db | tail -n +2'
check_fails 0 'again has no effect: .*count the same' "nothing to run for profiles that count different things" "$ASSAY" trust --again a.db c.db
check_json "one of them: its error is known" "d['way'] is None and d['about'].startswith('compared with everything') and ${levels}['instruction']['error'] < 0.1 and d['verdict'].startswith('believe it down to the instruction')" \
    "$ASSAY" trust --json a.db
check "… as text" "$ASSAY" trust a.db
"$ASSAY" record -q --source=model --core skylake-like --samplers nci,software --period 101 --random --max 300k -o ways.db -- "$STATIC/demo" >/dev/null 2>&1
check_json "two series of one run" "[p['sampler'] for p in d['profiles']] == ['nci', 'software'] and all(0 <= l['distance'] <= 1 for l in d['levels'])" \
    "$ASSAY" trust --json --series nci --series software ways.db ways.db
check_status 2 "a series that is not there" "$ASSAY" trust --series nothing ways.db
check_stderr_line 'its error was measured in its own run' "… so there is nothing to run again" "$ASSAY" trust --again a.db
check "an exact one" "$ASSAY" record -q --source=model --max 1M -o exact.db -- "$STATIC/demo"
check_json "… has no error" "all(l['error'] == 0 for l in d['levels'])" "$ASSAY" trust --json exact.db
check_stderr_line 'absent.db' "no such profile" "$ASSAY" trust a.db absent.db
check_stderr_line "one sampler or two profiles" "three" "$ASSAY" trust a.db b.db c.db

# ---- lists, and what cannot be ----

check "experiments" "$ASSAY" trust --list skylake
check_same "… of PEBS" 13 "$(wc -l <<<"$out")"
check "events" "$ASSAY" trust --events zen2
check_same "… of IBS" 3 "$(wc -l <<<"$out")"
check "keys" "$ASSAY" trust --keys
check_status 2 "… of the clocks there are none" "$ASSAY" trust --events --source=timer
for option in experiments=bias scale=10 shadow=loads runs=2 core=zen4-like json csv html arch=riscv64 output=x; do
    check_fails 2 "^assay trust: --${option%%=*} has no effect with --list" "--$option has no effect on a list" "$ASSAY" trust --list "--$option" skylake
done
check_fails 2 'json has no effect with --events' "nor on events" "$ASSAY" trust --events --json zen2
check_fails 2 'runs has no effect with --keys' "nor on keys" "$ASSAY" trust --keys --runs 2
check_fails 2 'exclude each other' "one list" "$ASSAY" trust --list --events zen2
check_fails 2 'csv has the rows' "a shadow is no row" "$ASSAY" trust --csv --shadow=stores skylake
check_fails 2 "one sampler at a time, but got 'skylake' and 'zen2'" "two samplers" "$ASSAY" trust skylake zen2
check_stderr_line 'names none' "no experiment at all" "$ASSAY" trust --experiments=, skylake
check_stderr_line 'which sampler' "no sampler" "$ASSAY" trust
check_stderr_line "no PMU 'nehalem'" "an unknown PMU" "$ASSAY" trust nehalem
check_stderr_line "the experiment 'shadow' is not for zen2" "an experiment that it does not support" "$ASSAY" trust --experiments=shadow zen2
check_stderr_line "no experiment 'speed'" "an unknown experiment" "$ASSAY" trust --experiments=speed zen2
check_stderr_line 'shadow is for PEBS' "a shadow of IBS" "$ASSAY" trust --scale 1 --runs 1 --experiments=mode --shadow=loads zen2
check_stderr_line 'there are loads, stores, branches' "a shadow of nothing" "$ASSAY" trust --scale 1 --runs 1 --experiments=mode --shadow=far skylake
check_stderr_line 'nops are instructions, too' "a shadow that nops cannot show" "$ASSAY" trust --scale 1 --runs 1 --experiments=mode --shadow=instructions skylake
check_stderr_line 'use pmu:NAME, pmu or timer' "a source that is none" "$ASSAY" trust --source=model
check_status 2 "a stub of the kernel that cannot be" "$ASSAY" trust --list --pmu-set kernel.locked=30 zen4
check "… whatever the order of what makes it possible" "$ASSAY" trust --list --pmu-set kernel.locked=30 --pmu-set kernel.body=50 zen4
check_stderr_line 'are for modelled PMUs' "a core for the clocks" "$ASSAY" trust --source=timer --core skylake-like
for option in source=timer experiments=bias shadow=loads arch=x86-64 set=back.rob=64 pmu-set=shadow.loads=0 runs=3 scale=100 list events keys csv html output=x; do
    check_fails 2 "^assay trust: --${option%%=*} is for the experiments" "--$option has no effect on profiles" "$ASSAY" trust --again "--$option" a.db
done
for option in core=zen4-like max=1M; do
    check_fails 2 "^assay trust: --${option%%=*} is for profiles only with --again" "--$option has none without --again" "$ASSAY" trust "--$option" a.db
done
for option in again series=x max=1M; do
    check_fails 2 "^assay trust: --${option%%=*} is for profiles" "--$option has none on a PMU" "$ASSAY" trust "--$option" skylake
done
check_no_strays "nothing left behind"
