#!/usr/bin/env bash
# Call paths of coroutines: each stack has a path of its own, whichever way stacks are switched (workloads/coroutines.c), in
# `stat --calls` and in the model.
# sanitized-only: its checks are the same in both builds
. "$(dirname "$0")/lib.sh"

# Rounds times the calls of `work`, so many instructions each: what a coroutine executes below its own function.
cat >truth.py <<'END'
import json, sys

def below(rows, key):
    names = {(r["image"], r["node"]): r for r in rows}
    def path(row):
        return (path(names[row["image"], row["parent"]]) if row["parent"] is not None else []) + [row["function"]]
    return [(path(row), row[key]) for row in rows]

paths = below(json.load(open(sys.argv[1]))["call_tree"], "self")
workers = {"alpha_work": "alpha", "beta_work": "beta", "main_work": "main"}
totals = dict.fromkeys(workers, 0)
for path, instructions in paths:
    assert len({"alpha", "beta", "main"} & set(path)) <= 1, path
    for worker, caller in workers.items():
        if worker in path:
            assert path[path.index(worker) - 1] == caller, path
            totals[worker] += instructions
alpha, beta, main = totals.values()
assert main > 50 * 100 and abs((alpha - beta) - (beta - main)) < 10 and beta - main >= 50 * 100, totals
END

for program in coroutines coroutines-riscv64; do
    [ -x "$WORKLOADS/$program" ] || { skip "$program" "no RISC-V cross compiler" && continue; }
    for way in ucontext assembly jump longjmp; do
        check "$program $way: stat" "$ASSAY" stat --json -o calls.json --calls=0 -- "$WORKLOADS/$program" $way
        check "… has a path for each stack" python3 truth.py calls.json
    done
done

# The same in the model, from the accesses that it has anyway.
for program in coroutines coroutines-riscv64; do
    [ -x "$WORKLOADS/$program" ] || continue
    for way in ucontext jump; do
        check "$program $way: record" "$ASSAY" record -q -o paths.db -- "$WORKLOADS/$program" $way
        check "$program $way: folded" "$ASSAY" export --to folded -o paths.folded paths.db
        check "… has a path for each stack" python3 -c '
lines = [line.rsplit(" ", 1)[0].split(";") for line in open("paths.folded")]
assert not [line for line in lines if len({"alpha", "beta", "main"} & set(line)) > 1]
for worker, caller in (("alpha_work", "alpha"), ("beta_work", "beta"), ("main_work", "main")):
    found = [line for line in lines if worker in line]
    assert found and all(line[line.index(worker) - 1] == caller for line in found), found'
    done
done
check_json "the profile says that there were switches" \
    'any(q["key"] == "stack_switches" and q["value"] >= 149 for q in d["summary"]["quality"])' "$ASSAY" report --json paths.db
check "a program without coroutines" "$ASSAY" record -q -o plain.db --max 200k -- "$WORKLOADS/demo" 1
check_json "… has none" 'all(q["key"] != "stack_switches" for q in d["summary"]["quality"])' "$ASSAY" report --json plain.db
