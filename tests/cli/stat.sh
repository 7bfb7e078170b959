#!/usr/bin/env bash
# assay stat: the call tree as text and JSON, to the instruction, and whose frames they are after an exec; the counts
# that compare and record have of the same program.
DEFAULT_CORE=boom-tip
. "$(dirname "$0")/lib.sh"

# x86_calls.S with three calls deep, 1000 times (known_answers.table): _start has 4 instructions a turn and 5 around
# them; the functions test, jump, call and return, the innermost does not call.
nested=$WORKLOADS/known/x86-call-nested
tree='[(1, 0, None, "(all)", 0, 15005), (1, 1, 0, "_start", 4005, 15005), (1, 2, 1, "function", 4000, 11000),
 (1, 3, 2, "function", 4000, 7000), (1, 4, 3, "function", 3000, 3000)]'
rows='[(c["image"], c["node"], c["parent"], c["function"], c["self"], c["total"]) for c in d["call_tree"]]'

check_json "the call tree" "$rows == ${tree//$'\n'/}" "$ASSAY" stat --json --calls 0 -- "$nested"
check_json "without --calls there is none" '"call_tree" not in d' "$ASSAY" stat --json -- "$nested"
check_json "paths of at least 50 %" "[c['total'] for c in d['call_tree']] == [15005, 15005, 11000]" \
    "$ASSAY" stat --json --calls 50 -- "$nested"

# lines PERCENT: the tree as text.
lines() { "$ASSAY" stat --calls "$1" -- "$nested" | sed -n '/^Call tree/,/^$/p'; }
check_stdout_equals "Call tree, paths of at least 0 %:
              15,005  100.00 %  _start
              11,000   73.31 %    function
               7,000   46.65 %      function
               3,000   19.99 %        function" "the call tree as text" lines 0
check_stdout_equals "Call tree, paths of at least 40 %:
              15,005  100.00 %  _start
              11,000   73.31 %    function
               7,000   46.65 %      function" "its larger paths" lines 40

# Two functions that one calls: the one with more instructions comes first, whichever is called first.
cat >siblings.c <<'END'
#define LOOP(n) __asm__ volatile("mov %0, %%ecx\n1: dec %%ecx\njnz 1b" : : "i"(n) : "ecx")
__attribute__((noinline)) static void small(void) { LOOP(10000); }
__attribute__((noinline)) static void large(void) { LOOP(20000); }
__attribute__((noinline)) static void middle(void) { LOOP(15000); small(); }
__attribute__((noinline)) static void caller(void) { small(); large(); middle(); __asm__ volatile(""); }
int main(void) { caller(); __asm__ volatile(""); return 0; }
END
if cc -O1 -o siblings siblings.c 2>cc.log; then
    below() { "$ASSAY" stat --calls 5 -- ./siblings | sed -n '/^Call tree/,/^$/p' | grep -A 4 ' caller$' | awk '{ print $NF }'; }
    check_stdout_equals "caller
middle
small
large
small" "siblings by instructions" below
else
    fail "siblings by instructions" "$(cat cc.log)"
fi

# A program that executes another at the same addresses: its frames have its own names.
cat >first.c <<'END'
#include <unistd.h>
__attribute__((noinline)) static int before(char **argv) { return execv(argv[1], argv + 1); }
int main(int argc, char **argv) { return before(argv) + 1; }
END
if ! cc -O1 -static -no-pie -o first first.c 2>cc.log; then
    skip "after an exec" "no static C library: $(head -1 cc.log)"
else
    later="[c[3:] for c in $rows if c[0] == 2] == [c[3:] for c in ${tree//$'\n'/}]"
    check_json "after an exec: the second image's tree" "$later" "$ASSAY" stat --json --calls 0 -- ./first "$nested"
    check_json "after an exec: the first image's tree" \
        '{"main", "before"} <= {c["function"] for c in d["call_tree"] if c["image"] == 1}' \
        "$ASSAY" stat --json --calls 0 -- ./first "$nested"
    check_json "after an exec: functions of both" \
        'sorted(f["instructions"] for f in d["functions"] if f["module"].endswith("x86-call-nested")) == [4005, 11000]' \
        "$ASSAY" stat --json --functions 10000 -- ./first "$nested"
    check "after an exec: recorded" "$ASSAY" record -q -o exec.db -- ./first "$nested"
    check_json "after an exec: recorded functions" \
        '{r["function"]: r["executions"] for r in d["rows"] if (r["module"] or "").endswith("nested")} == {"function": 11000, "_start": 4005}' \
        "$ASSAY" report --json exec.db
    check_json "after an exec: recorded call paths" \
        '[r["function"] for r in d["rows"] if (r["module"] or "").endswith("nested")] == ["_start", "function", "function", "function"]' \
        "$ASSAY" report --calls --json exec.db
fi

# ---- counts that do not depend on who runs a program, and where ----
mkdir -p here "there is a much longer name"
cp /bin/echo here/prog && cp /bin/echo "there is a much longer name/prog"
where() { (cd "$1" && shift && env "$@" "$ASSAY" stat --json --environment=PATH -- env ./prog a few words 2>/dev/null) |
    python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["instructions"], d["loads"], d["stores"])'; }
check_same "--environment: the same counts everywhere" "$(where here A=1)" "$(where 'there is a much longer name' OTHER="$(printf '%5000s' x)" LD_BIND_NOW= "PATH=/nowhere:$PATH")"
passes() { A=1 B=2 "$ASSAY" stat -o counts --environment="$1" -- env | grep -v '^ASSAY_PADDING=x*$' | sort | tr '\n' ' '; }
check_same "… the program has the variables that are named" "A=1 B=2 " "$(passes A,B,NOT_SET)"
check_same "… or none" "" "$(passes none)"
check_fails 2 'not names of variables' "… names, not values" "$ASSAY" stat --environment=A=1 -- true

# What is counted and what the model receives are the same.
counts() { python3 -c '
import json, sys
stat, compare = (json.load(open(name)) for name in sys.argv[1:])
counters = compare["counters"]
assert stat["instructions"] == compare["instructions"] == counters["instructions"] == 15005
assert stat["branches"] == counters["branches"] == 10000
assert stat["threads"] == counters["threads"] == 1 and stat["processes"] == counters["processes"] == 1
assert compare["cycles"] == counters["cycles"] > 0 and compare["elapsed_cycles"] == counters["elapsed_cycles"] > 0
assert counters["l1d_accesses"] + counters["store_forwards"] >= stat["loads"] + stat["stores"]
assert 0 < counters["branch_mispredictions"] < 1000
' stat.json compare.json; }
check "counted" "$ASSAY" stat -q --json -o stat.json -- "$nested"
check "modelled" "$ASSAY" compare -q --json -o compare.json --samplers none -- "$nested"
check "compare's counters are stat's counts" counts
