#!/usr/bin/env bash
# assay comm on profiles: samples of modelled PMUs by cache line, beside the same samples as a recording; PMUs that tell less;
# profiles that do not say where data came from; modelled PMUs as the samplers of comm and reuse.
# plain-only: runs of threads in the model; comm_recordings.sh reads recordings under sanitizers
. "$(dirname "$0")/lib.sh"

sharing=$WORKLOADS/sharing
rec() { "$ASSAY" record -q --core boom-tip --deterministic --source="pmu:$1" -o "$1.db" "${@:2}" -- "$sharing" false -t 2 -n 4000 >/dev/null; }

check "PEBS of loads and stores" rec skylake --event loads --event stores --period 31 --perf-data skylake.data
check "the profile by line" "$ASSAY" comm --json -o profile.json skylake.db
check "the recording by line" "$ASSAY" comm --json -o recording.json skylake.data
levels='("load_l1", "load_l2", "load_llc", "local_hitm", "local_dram", "store_l1_hit", "store_l1_miss")'
holds "both say where the same numbers came from" "d[0]['counts']['local_hitm'] > 20 and all(d[0]['counts'][n] == d[1]['counts'][n] for n in $levels)" \
    profile.json recording.json
holds "the two words that threads share are first" 'sorted(l["object"].split("+")[0] for l in d["lines"][:2]) == ["all", "beside"]' profile.json
holds "… with what each thread does there, and how long it waits" \
    'len(d["lines"][0]["accesses"]) and sum(len(a["threads"]) for a in d["lines"][0]["accesses"]) >= 2 and d["lines"][0]["accesses"][0]["latency"] > 10' profile.json
check_stdout_equals 1 "text" sh -c '"$ASSAY" comm skylake.db | grep -c "^       *[1-9][0-9]* .*  all$"'
holds "… and nothing of stores, which reach the caches later" 'all(x["counts"]["store_no_level"] > 100 and not x["counts"]["store_l1_hit"] for x in d)' profile.json recording.json
check_stdout_equals "line,object,hitm,local_hitm,remote_hitm,loads,stores,records" "CSV" sh -c '"$ASSAY" comm --csv skylake.db | head -1'

check "IBS" rec zen4 --period 61
check_json "… knows modified lines" 'd["counts"]["local_hitm"] > 5 and d["lines"][0]["object"].split("+")[0] in ("all", "beside")' "$ASSAY" comm --json zen4.db
check_json "… and says nothing of stores" 'd["counts"]["store_no_level"] == d["counts"]["stores"] > 20' "$ASSAY" comm --json zen4.db
check "… of Zen 3" rec zen3 --period 61
check_json "… does not" 'd["counts"]["hitm"] == 0 and d["counts"]["load_llc"] > 5' "$ASSAY" comm --json zen3.db
check "SPE" rec neoverse-n1 --period 1024
check_json "… knows that another core had the line" 'd["counts"]["hitm"] == 0 and d["counts"]["local_peer"] > 0' "$ASSAY" comm --json neoverse-n1.db

cp skylake.db again.db # the same numbers, as those of another recording
python3 -c 'import sqlite3; again = sqlite3.connect("again.db"); again.execute("UPDATE recordings SET identity = 1"); again.commit()'
check "merged profiles" "$ASSAY" merge -q -o merged.db skylake.db again.db
check_json "… have twice the samples" "d['counts']['local_hitm'] == 2 * json.load(open('profile.json'))['counts']['local_hitm']" "$ASSAY" comm --json merged.db
check "one thread" "$ASSAY" record -q --source=pmu:skylake --event loads --period 101 --max 300k -o one.db -- "$WORKLOADS/demo"
check_json "… has no HITM" 'd["counts"]["hitm"] == 0 and d["counts"]["loads"] > 100' "$ASSAY" comm --json one.db
check "without data sources" "$ASSAY" record -q --source=pmu:skylake --event instructions --max 300k -o none.db -- "$WORKLOADS/demo"
check_stderr_line "no sample says where its data came from" "… it says so" "$ASSAY" comm none.db
for option in --svg --period=10k --rate=500 --max=5 --source=timer; do
    check_stderr_line "${option%=*} is for programs: a recording is shown as it was made" "of no use for a recording: $option" "$ASSAY" comm $option skylake.db
done

# ---- as samplers ----

reuse() { "$ASSAY" reuse -q --json --method=watch --period 500 --max 1M --pmu "$1" -o "$2" -- "$WORKLOADS/demo" >/dev/null; }
check "reuse with PEBS" reuse skylake pebs.json
# Fixed periods: all overflows are samples but those of the last, and at most one of each counter is under way.
holds "… samples one of 500 loads and stores" 'd["pmu"] == "skylake" and d["missed"] == 0 and abs(d["samples"] * 500 - d["accesses"]) < 1100' pebs.json
check "reuse with IBS" reuse zen4 ibs.json
holds "… samples operations" 'd["pmu"] == "zen4" and d["samples"] > 50' ibs.json
check_stderr_line "tip samples cycles, not accesses" "TIP cannot" "$ASSAY" reuse -q --method=watch --pmu tip -- "$WORKLOADS/demo"
check_stderr_line "neoverse-n1 takes intervals of 1024 operations and more" "an interval that is too short" "$ASSAY" comm -q --pmu neoverse-n1 --period 100 -- "$WORKLOADS/demo"
check_stderr_line "no PMU 'nehalem'; there are: broadwell, " "an unknown one" "$ASSAY" comm -q --pmu nehalem -- "$WORKLOADS/demo"
check_stderr_line "--pmu is for --method=watch" "not without watchpoints" "$ASSAY" reuse -q --pmu skylake -- "$WORKLOADS/demo"
check_json "comm with IBS" 'd["sampling"]["kind"] == "operations" and d["sampling"]["load_samples"] > 20' \
    "$ASSAY" comm -q --json --pmu zen4 --period 200 -- "$sharing" false -t 2 -n 4000
