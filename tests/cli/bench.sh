#!/usr/bin/env bash
# The bench works: it measures every kind of case once and writes what it printed. No goals here: those are for an idle
# machine (bench/run).
# time-limit: 300
# plain-only: what it measures is the speed of an optimised build
. "$(dirname "$0")/lib.sh"

check "bench/run --smoke" "$SOURCE/bench/run" --smoke --build "$BUILD" --json "$TMP/results.json"
results() { cat results.json; }
check_json "the results are there" 'all(r["instructions"] > 10000 and r["qemu_seconds"] > 0 and r["stat_seconds"] > 0
    and r["check_seconds"] > 0 and abs(r["ratio"] - r["stat_seconds"] / r["qemu_seconds"]) < 1e-6 for r in d["cases"])' results
check_json "… of each kernel, of programs and of threads" \
    '{"branches", "memory", "calls", "fp", "xz", "threads"} <= {r["name"] for r in d["cases"]}' results
# Memory is looked at every few milliseconds: on a busy machine not all of these short runs are seen with their QEMU.
check_json "… and of memory" \
    '[r["length"] for r in d["memory"][:3]] == [1, 4, 16] and all(r.get("total", 0) < 2**30 for r in d["memory"]) and any(r.get("total", 0) > 2**20 and r["shared"] > 0 for r in d["memory"])' \
    results
check_json "… and of the memo" '{"gzip", "memory"} <= {r["name"] for r in d["memo"]} and all(r["mips"]["on"] > 0 and r["mips"]["off"] > 0 and 0 <= r["known"] <= 1 for r in d["memo"])' results
# What comes behind the start of so short a run is a difference of two times, which a busy machine can make nothing or less.
check_json "… and of observers, as ratios" '({"commit-csv", "calls", "counters"} <= {r["way"] for r in d["observers"]} and
    {"accesses", "footprint"} == {r["way"] for r in d["observers"] if r["over"] == "check"} and
    all(r["wall_ratio"] > 0 and r["processor_ratio"] > 0 for r in d["observers"] if r["over"] == "check"))' results
# What is above plain QEMU is a difference, which a busy machine can make negative.
check_json "… and of vectors, as ratios" 'len(d["points"]) >= 1 and all(r["wall_ratio"] > 0 for r in d["points"] if r["way"] != "above qemu")' results
check_json "no goals are judged" 'd["goals"] == []' results
check "the table names the cases" grep -qE '^branches +x86_64 +1 ' <<<"$("$SOURCE/bench/run" --smoke --build "$BUILD" --json x.json branches)"
check "--against a build: all three verbs" "$SOURCE/bench/run" --smoke --build "$BUILD" --against "$BUILD" --json against.json against
check "… side by side, as ratios of the clock and of processors" python3 -c '
import json
rows = json.load(open("against.json"))["against"]
assert {row["verb"] for row in rows} == {"stat", "compare", "record"} and len(rows) == 3, rows
assert all(row["ratio"] == row["this"]["clock"] / row["other"]["clock"] and row["processor_ratio"] > 0 for row in rows)'
check_fails 1 "neither a build directory nor a revision" "--against nothing" "$SOURCE/bench/run" --smoke --build "$BUILD" --against nowhere --json x.json against
check_status 2 "a build that is not there" "$SOURCE/bench/run" --build "$TMP/nowhere"
# A goal that cannot be met is named, and the status says so.
missed() { sed 's/^MAX_RATIO, MIN_MIPS, MAX_MEMORY = .*/MAX_RATIO, MIN_MIPS, MAX_MEMORY = 0.01, 0, 1/' "$SOURCE/bench/run" >impossible &&
    PYTHONPATH=$SOURCE/bench python3 impossible --quick --repeat 1 --build "$BUILD" --json x.json md5sum; }
check_status 1 "a missed goal is a failure" missed
check "… and is named" grep -q '^missed: ratio of md5sum (x86_64): .* the limit is 0.01' <<<"$out"
check_no_strays "no process is left"
