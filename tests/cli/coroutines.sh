#!/usr/bin/env bash
# Call paths of coroutines: each stack has a path of its own, whichever way stacks are switched (workloads/coroutines.c), in
# `stat --calls` and in the model.
# plain-only: it is numbers; sanitized.sh follows switches of stacks under sanitizers
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

# Stacks that another thread resumes while the one that left them still has their frames. What a thread did may be read after what
# another did with the same stack, so a caller can be unknown; it is never the other's.
cat >apart.py <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["call_tree"]
names = {(r["image"], r["node"]): r for r in rows}
def path(row):
    return (path(names[row["image"], row["parent"]]) if row["parent"] is not None else []) + [row["function"]]
paths = [path(row) for row in rows if row["self"]]
both = [p for p in paths if {"alpha", "beta"} <= set(p) or {"alpha_work", "beta"} <= set(p) or {"beta_work", "alpha"} <= set(p)]
assert not both and ["(all)", "alpha", "alpha_work", "work"] in paths and ["(all)", "beta", "beta_work", "work"] in paths, both
END
scheduler() {
    check "a scheduler on two threads: stat" "$ASSAY" stat --json -o calls.json --calls=0 -- "$STATIC/coroutines" scheduler
    check "… has a path for each stack" python3 apart.py calls.json
}
by_chance scheduler

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
check "a program without coroutines" "$ASSAY" record -q -o plain.db --max 200k -- "$STATIC/demo" 1
check_json "… has none" 'all(q["key"] != "stack_switches" for q in d["summary"]["quality"])' "$ASSAY" report --json plain.db

# Goroutines: four, on as many threads as the runtime likes. What they do was once shown below main's wait for them.
if command -v go >/dev/null; then
    cat >workers.go <<'END'
package main

import (
	"fmt"
	"sync"
)

//go:noinline
func work(n int) int {
	s := 1
	for i := 0; i < n; i++ {
		s = s*31 + i
	}
	return s
}

func main() {
	var wait sync.WaitGroup
	var out [4]int
	for i := range out {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			for k := 0; k < 50; k++ {
				out[i] += work(3000)
			}
		}(i)
	}
	wait.Wait()
	fmt.Println(out[0] == out[3])
}
END
    check "Go: a program with four goroutines" env GOCACHE="$PWD/gocache" GO111MODULE=off go build -o workers workers.go
    check "… is counted" "$ASSAY" stat --json -o calls.json --calls=0 -- ./workers
    cat >goroutines.py <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["call_tree"]
names = {(r["image"], r["node"]): r for r in rows}
def path(row):
    return (path(names[row["image"], row["parent"]]) if row["parent"] is not None else []) + [row["function"]]
paths = [(path(row), row["self"]) for row in rows]
work = [(p, n) for p, n in paths if "main.work" in p]
assert not [p for p, _ in work if "sync.runtime_Semacquire" in p or "main.main" in p], work
total = sum(n for _, n in work)
assert total > 4 * 50 * 3000 and sum(n for p, n in work if p[p.index("main.work") - 1] == "main.main.func1") > 0.9 * total, work
END
    check "… and their work is theirs, not main's" python3 goroutines.py calls.json
    cat >channels.go <<'END'
package main

import "fmt"

//go:noinline
func work(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i*i ^ s>>3
	}
	return s
}

//go:noinline
func worker(in, out chan int) {
	for n := range in {
		out <- work(n)
	}
}

//go:noinline
func produce(in chan int) {
	for i := 0; i < 400; i++ {
		in <- 2000
	}
	close(in)
}

func main() {
	in, out, s := make(chan int), make(chan int), 0
	for i := 0; i < 4; i++ {
		go worker(in, out)
	}
	go produce(in)
	for i := 0; i < 400; i++ {
		s += <-out
	}
	fmt.Println(s != 0)
}
END
    check "Go: goroutines that wait for channels" env GOCACHE="$PWD/gocache" GO111MODULE=off go build -o channels channels.go
    check "… are counted" "$ASSAY" stat --json -o calls.json --calls=0 -- ./channels
    cat >channels.py <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["call_tree"]
names = {(r["image"], r["node"]): r for r in rows}
def path(row):
    return (path(names[row["image"], row["parent"]]) if row["parent"] is not None else []) + [row["function"]]
above = {tuple(p[:p.index("main.work")]) for p in map(path, rows) if "main.work" in p}
known = ("(all)", "main.main.func1", "main.worker")
assert known in above and above <= {known, ("(all)", "main.worker"), ("(all)",)}, above
END
    check "… and no other goroutine calls what they do" python3 channels.py calls.json
else
    skip "goroutines" "go is not installed (golang-go)"
fi
