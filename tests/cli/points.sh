#!/usr/bin/env bash
# assay points: vectors against Valgrind's exp-bbv, points, weights, predicted CPI, files in and out, bad input.
# plain-only: long runs; unit tests of its parts run under the sanitizers
. "$(dirname "$0")/lib.sh"

demo=$STATIC/demo
short=("$STATIC/lattice" 1) # 6.5 million instructions; the demo has 40
compile() { gcc -O1 -static -nostdlib -ffreestanding -fno-pic -no-pie "$SOURCE/tests/cli/two_phases.c" -o two; }

# ---- vectors ----

if [ "$(uname -m)" = x86_64 ] && compile 2>/dev/null && command -v valgrind >/dev/null; then
    check "vectors of a program" "$ASSAY" points --interval 1M --cpi off --bb ours.bb --json -o ours.json -- ./two
    valgrind -q --tool=exp-bbv --interval-size=1000000 --bb-out-file=theirs.bb --pc-out-file=theirs.pc ./two 2>/dev/null
    cat >compare.py <<'END'
import re, sys
def vectors(path):
    return [[int(c) for b, c in re.findall(r":(\d+):(\d+)", l)] for l in open(path) if l.startswith("T")]
ours, theirs = vectors("ours.bb"), vectors("theirs.bb")
# exp-bbv does not write the interval that the program's end cuts off; its intervals end with a block, ours in it.
assert len(ours) == len(theirs) + 1, (len(ours), len(theirs))
assert all(sum(v) == 1000000 for v in ours[:-1]), [sum(v) for v in ours]
total = int(re.search(r"Total instructions: (\d+)", open("theirs.bb").read()).group(1))
assert sum(map(sum, ours)) == total, (sum(map(sum, ours)), total)
# The blocks of both, by what they executed: the largest entries agree but for a block (16 instructions) at each border.
for i, (a, b) in enumerate(zip(ours, theirs)):
    a, b = sorted(a)[-2:], sorted(b)[-2:]
    assert all(abs(x - y) <= 32 for x, y in zip(a, b)), (i, a, b)
END
    check "… are those of exp-bbv" python3 compare.py
    holds "… and their instructions are stat's" 'd[0]["instructions"] == d[1]["instructions"]' ours.json <("$ASSAY" stat --json -- ./two)
    check "vectors are read again" "$ASSAY" points --from-bb ours.bb --json -o again.json
    holds "… and give the same points" '[(p["interval"], p["start"], p["weight"]) for p in d[0]["points"]] == [(p["interval"], p["start"], p["weight"]) for p in d[1]["points"]]' ours.json again.json
    check "the predicted CPI" "$ASSAY" points --interval 1M --max-k 8 --threshold 1 --json -o cpi.json --simpoints p.s --weights p.w -- ./two
    "$ASSAY" compare --json --samplers tip -o whole.json -- ./two >/dev/null 2>&1
    holds "… is near that of the whole run" 'abs(d[0]["cpi"] * d[1]["ipc"] - 1) < 0.05' cpi.json whole.json
    holds "… from a part of it" '0 < d["detailed"] < d["instructions"] / 2' cpi.json
    holds "… which the second run executed alike" 'all(p["differs"] < 0.001 for p in d["points"])' cpi.json
    check "points from files" "$ASSAY" points --interval 1M --from-simpoints p.s --from-weights p.w --json -o files.json -- ./two
    holds "… predict the same" 'abs(d[0]["cpi"] / d[1]["cpi"] - 1) < 1e-6 and [p["cycles"] for p in d[0]["points"]] == [p["cycles"] for p in d[1]["points"]]' cpi.json files.json
else
    skip "vectors against exp-bbv" "no valgrind, or not x86-64"
fi

# ---- a program with a C library ----

check "text" "$ASSAY" points --interval 100k -- "${short[@]}"
check_same "… has a prediction" 1 "$(grep -c '^Predicted CPI ' <<<"$out")"
check_same "… with what it cannot see" 1 "$(grep -c '^How far that is from the truth is not known: phases are found by the code' <<<"$out")"
check_same "… the program's own output" 0 "$status"
check "CSV" "$ASSAY" points --interval 100k --cpi off --csv -- "${short[@]}"
check_same "… has a header" "phase,interval,start,intervals,weight,instructions,cycles,cpi" "$(head -1 <<<"$out")"
check "threads" "$ASSAY" points --interval 50k --by-thread --cpi off --json -o threads.json -- "$STATIC/threads"
holds "… with code of their own" 'd["blocks"] > 0 and abs(sum(p["weight"] for p in d["points"]) - 1) < 1e-9' threads.json
# by loop: borders have numbers that do not depend on how threads are interleaved
check "intervals by a loop" "$ASSAY" points --interval 20k --loop word_end --json -o loop.json --bb loop.bb -- "$demo" 3
holds "… are measured from one execution of it to another" 'any(p["pass"] > 0 for p in d["points"]) and all(p["differs"] < 0.001 for p in d["points"])' loop.json
check "… and have as many instructions as they take" python3 -c 'import re
v = [sum(map(int, re.findall(r":\d+:(\d+)", l))) for l in open("loop.bb") if l[0] == "T"]
assert len(v) > 3 and min(v[:-1]) >= 20000 and len(set(v)) > 2, v'
check_status 125 "a loop that is never executed" "$ASSAY" points --interval 20k --loop 0x10 --cpi off -- "${short[@]}"
check_status 2 "a place that is no loop" "$ASSAY" points --loop 5M --cpi off -- "${short[@]}"
check_status 2 "a loop, warmed in part" "$ASSAY" points --loop word_end --warm 1M -- "${short[@]}"
check "the same seed" "$ASSAY" points --interval 100k --cpi off --csv -o one.csv -- "${short[@]}"
check "… twice" "$ASSAY" points --interval 100k --cpi off --csv -o two.csv -- "${short[@]}"
check "… gives the same points" cmp one.csv two.csv
check_status 3 "the program's status" "$ASSAY" points -q --interval 1k --cpi off -- sh -c 'exit 3'

# ---- sweeps ----

check "a sweep" "$ASSAY" points sweep --interval 100k --max-k 4 -- "${short[@]}"
check_same "… names a long point" 1 "$(grep -c 'one long point' <<<"$out")"
check_same "… where errors saturate" 1 "$(grep -c 'Saturation at max-k [1-4]: error ' <<<"$out")"
check_same "… and what was asked for with other seeds" 1 "$(grep -c 'Over 11 seeds .* on average, .* at most' <<<"$out")"
front=$(sed -n '/Pareto front/,/^$/p' <<<"$out" | grep -c '[0-9] %')
recommended=$(sed -n 's/^For this program: --interval \([0-9]*\) --max-k \([0-9]*\) --dims 15 --threshold 0.90$/\1 \2/p' <<<"$out")
cat >blame.py <<'END'
import re, sys
# Each phase: what it adds to the error, and the part of that by the function that is blamed: the same sign, and that function exists.
rows = re.findall(r"^ +\d+ +[\d.]+ % .* ([-+][\d.]+) % +([-+][\d.]+) % (\S+)$", sys.stdin.read(), re.M)
assert rows, "no phase"
for adds, part, function in rows:
    assert abs(float(adds)) < 0.02 or float(adds) * float(part) > 0, (adds, part, function)
END
check "… and the code that makes points differ from their phases" python3 blame.py <<<"$out"
check "… as CSV" "$ASSAY" points sweep --interval 100k --max-k 4 --csv -o sweep.csv --phases phases.csv -- "${short[@]}"
cat >sweep.py <<'END'
import csv, sys
rows = list(csv.DictReader(open("sweep.csv")))
lengths = sorted({int(r["interval"]) for r in rows if r["sweep"] == "interval"})
assert len(rows) == 4 * (50 + 21 + 10 + 1 + 10) * len(lengths) + 2, len(rows)
assert len(lengths) > 2 and lengths[0] == 100000 and all(b == 2 * a for a, b in zip(lengths, lengths[1:])), lengths
# Joined intervals are intervals, the first length is the one that was asked for, and a long point is one stretch.
def choices(sweep, **fields): return [r for r in rows if r["sweep"] == sweep and all(r[k] == v for k, v in fields.items())]
usual, long = choices("default")[0], choices("long")[0]
assert choices("interval", interval="100000", max_k="4")[0]["cpi"] == usual["cpi"]
assert long["phases"] == "1" and long["simulated"] == long["interval"] == str(100000 * int(usual["phases"])), long
assert all(int(r["simulated"]) <= int(r["phases"]) * int(r["interval"]) for r in rows)
assert all(int(r["phases"]) <= int(r["max_k"]) for r in rows)
assert all(abs(abs(float(r["cpi"]) / float(r["true_cpi"]) - 1) - float(r["error"])) < 1e-6 for r in rows)
front = [(int(r["simulated"]), float(r["error"])) for r in rows if r["front"] == "1"]
assert front and not any(a[0] < b[0] and a[1] < b[1] for a in front for b in front)
assert not any(r["front"] == "1" for r in rows if float(r["coverage"]) < 1)  # points of a part of the run are no choice for all of it
behind = [(int(r["simulated"]), float(r["error"])) for r in rows if r["front"] == "0" and r["seed"] == "1" and float(r["coverage"]) == 1]
assert all(any(a[0] <= b[0] and a[1] <= b[1] for a in front) for b in behind)
# A choice is the same whatever was chosen before it: the usual one is in each sweep.
same = [r["cpi"] for r in choices("dims", dims="15", max_k="4", interval="100000")] + [
    r["cpi"] for r in choices("threshold", threshold="0.90", max_k="4", interval="100000")] + [
    r["cpi"] for r in choices("coverage", coverage="1.00", max_k="4", interval="100000")]
assert same == [usual["cpi"]] * 3, same
# Ten other seeds for each length and max-k; none of them is on the front. Recommended is the cheapest whose mean error is at most 1 %.
assert len({r["seed"] for r in choices("seed")}) == 10 and {r["seed"] for r in rows if r["sweep"] != "seed"} == {"1"}
assert not any(r["front"] == "1" for r in choices("seed"))
def mean(some, what): return sum(float(r[what]) for r in some) / len(some)
steady = {}
for r in choices("interval") + choices("seed"):
    steady.setdefault((int(r["interval"]), int(r["max_k"])), []).append(r)
good = [(mean(some, "simulated"), key) for key, some in steady.items() if mean(some, "error") <= 0.01]
assert all(len(some) == 11 for some in steady.values()) and good
assert min(good)[0] == mean(steady[tuple(int(n) for n in sys.argv[1:])], "simulated"), (sorted(good), sys.argv)
# The intervals by phase: their mean is the true CPI, and the points with their weights are the usual prediction.
phases = list(csv.DictReader(open("phases.csv")))
whole = sum(int(r["instructions"]) for r in phases)
cpi = sum(float(r["cpi"]) * int(r["instructions"]) for r in phases) / whole
assert abs(cpi / float(usual["true_cpi"]) - 1) < 1e-3, (cpi, usual)  # the last interval is not as long in each run
points = [r for r in phases if r["point"] == "1"]
assert len(points) == int(usual["phases"]) == len({r["phase"] for r in phases})
assert abs(sum(float(r["weight"]) * float(r["cpi"]) for r in points) / float(usual["cpi"]) - 1) < 1e-5
END
# shellcheck disable=SC2086
check "… every choice with its error" python3 sweep.py $recommended
check "… as JSON" "$ASSAY" points sweep -q --interval 100k --max-k 4 --json -o sweep.json -- "${short[@]}"
check_same "the text has the front" "$(python3 -c 'import json; print(len(json.load(open("sweep.json"))["front"]))')" "$front"
# shellcheck disable=SC2086
check "… the same front as the CSV has, and the same recommendation" python3 - $recommended <<'END'
import csv, json, sys
d = json.load(open("sweep.json"))
rows = list(csv.DictReader(open("sweep.csv")))
of_csv = {(int(r["simulated"]), round(float(r["error"]), 6)) for r in rows if r["front"] == "1"}
front = [(t["simulated"], round(t["error"], 6)) for t in d["front"]]
assert front == sorted(of_csv) and len(front) > 1, (front, sorted(of_csv))
usual = next(r for r in rows if r["sweep"] == "default")
assert abs(d["asked_for"]["cpi"] - float(usual["cpi"])) < 1e-6 and d["choices"] == len(rows)
assert [d["recommended"]["interval"], d["recommended"]["max_k"]] == [int(n) for n in sys.argv[1:]], d["recommended"]
assert abs(sum(p["weight"] for p in d["phases"]) - 1) < 1e-6 and len(d["phases"]) == int(usual["phases"])
assert abs(1 + sum(p["adds"] for p in d["phases"]) - float(usual["cpi"]) / float(usual["true_cpi"])) < 1e-3
assert [c["error_at_most"] for c in d["cheapest"]] == [0.1, 0.05, 0.02, 0.01, 0.005] and 1 <= d["saturation"]["max_k"] <= 4
END
# All time is in one function, so what it adds is what the phase adds, the last interval with it, which the program's end cuts short.
cat >one.c <<'END'
void _start(void)
{
    for (volatile long i = 0; i < 300000; i++)
        ;
    __asm__ volatile("syscall" ::"a"(60), "D"(0));
    __builtin_unreachable();
}
END
gcc -O1 -static -nostdlib -ffreestanding -fno-pic -no-pie one.c -o one
check "a sweep whose last interval is short" env ASSAY_PROGRESS=0.00001 "$ASSAY" points sweep --interval 500k --max-k 1 -- ./one
check_same "… tells how many ways there are while it tries them" "$(grep -o '[0-9]* ways to choose points' <<<"$out" | cut -d' ' -f1)" \
    "$(sed -n 's/^assay: choosing points for [0-9]* s: [0-9]* of \([0-9]*\) ways$/\1/p' <<<"$err" | sort -u)"
cat >last.py <<'END'
import re, sys
adds, part = re.search(r" ([-+][\d.]+) % +([-+][\d.]+) % _start$", sys.stdin.read(), re.M).groups()
assert abs(float(adds) - float(part)) < 0.05, (adds, part)
END
check "… blames code for all intervals" python3 last.py <<<"$out"
check_status 2 "phases without a sweep" "$ASSAY" points --phases phases.csv -- "$demo" 3
check_status 2 "a sweep of vectors" "$ASSAY" points sweep --from-bb ours.bb
# shellcheck disable=SC2016
check_fails 130 'interrupted: a sweep needs two whole runs' "a sweep whose second run is interrupted" "$ASSAY" points sweep -q \
    --interval 100k --max-k 2 --csv -o cut.csv -- sh -c 'i=0; while [ $i -lt 400 ]; do i=$((i + 1)); [ $i = 300 ] && [ -e once ] && kill -INT $$; done; : >once'
check_same "… leaves no file" "" "$(ls cut.csv 2>/dev/null)"
cat >longer.sh <<'END'
i=0; while [ $i -lt 300 ]; do i=$((i + 1)); done
[ -e before ] && while [ $i -lt 900 ]; do i=$((i + 1)); done
: >before
END
check "a sweep whose second run is longer" "$ASSAY" points sweep --interval 1M --max-k 2 --json -o longer.json -- sh longer.sh
check_same "… notices it" 1 "$(grep -c 'does not do the same in every run: it executed [0-9,]* instructions for its vectors and [0-9,]* in the model' <<<"$err")"
holds "… also in JSON" '0.001 < d["runs_differ"] < 1' longer.json
# The same number of instructions, of other code: which of two functions comes first.
cat >swapped.c <<'END'
#include <fcntl.h>
#include <unistd.h>
static volatile long sum;
static __attribute__((noinline, aligned(4096))) void one(void) { for (long i = 0; i < 200000; i++) sum += i; }
static __attribute__((noinline, aligned(4096))) void two(void) { for (long i = 0; i < 200000; i++) sum ^= i; }
int main(void)
{
    void (*order[])(void) = {one, two};
    int second = open("swapped", O_CREAT | O_EXCL, 0600) < 0;
    order[second]();
    order[!second]();
    return 0;
}
END
gcc -O1 swapped.c -o swap
check "a sweep whose second run executes other code" "$ASSAY" points sweep --interval 200k --max-k 2 --json -o swapped.json -- ./swap
check_same "… notices it" 1 "$(grep -c 'does not do the same in every run: in the model interval [0-9]* executed other code than for its vector' <<<"$err")"
holds "… also in JSON" '0.5 < d["runs_differ"] <= 1' swapped.json
holds "… and no difference where there is none" '0 <= d["runs_differ"] < 0.001' sweep.json

check_fails 125 'instructions, less than one interval of' "a loop in a program shorter than an interval" \
    "$ASSAY" points -q --interval 100M --loop main --cpi off -- "$demo" 1

# ---- interrupted runs ----

# A program that ends as if somebody had interrupted it, in the first run or in the second, before its loop, which has phases of its own.
cat >ends.sh <<'END'
echo ran >>runs
[ $(($(wc -l <runs))) = "$1" ] && kill -INT $$
i=0; while [ $i -lt 400 ]; do i=$((i+1)); done
END
check_status 130 "a first run that is interrupted" "$ASSAY" points --interval 20k --simpoints first.sp --json -o first.json -- sh ends.sh 1
check_same "… has no second run" 1 "$(wc -l <runs)"
holds "… and no CPI, but points" 'd["cpi"] is None and len(d["points"]) > 0 and "cycles" not in d["points"][0]' first.json
check_same "… which are written" 1 "$([ -s first.sp ] && echo 1)"
rm -f runs
check_status 130 "a second run that is interrupted" "$ASSAY" points --interval 20k --threshold 1 --json -o second.json -- sh ends.sh 2
check_same "… is told" 1 "$(grep -c 'interrupted before all points had run: no CPI is predicted' <<<"$err")"
check_same "… comes after the first" 2 "$(wc -l <runs)"
holds "… and has no CPI, but points" 'd["cpi"] is None and len(d["points"]) > 0 and "cycles" not in d["points"][0]' second.json

# ---- bad input ----

check_stderr_line 'less than one interval of 10,?000,?000' "a program shorter than one interval" "$ASSAY" points -- true
check_same "… fails" 125 "$status"
: >empty.bb
check_stderr_line 'empty.bb: no interval in it' "an empty file" "$ASSAY" points --from-bb empty.bb
check_stderr_line 'not text|no interval|not a frequency vector' "a foreign file" "$ASSAY" points --from-bb "$ASSAY"
check_stderr_line 'absent.bb: No such file' "a missing file" "$ASSAY" points --from-bb absent.bb
for option in --bb --simpoints --weights; do
    check_fails 125 'cannot write no/such: No such file' "a file of $option that cannot be written" \
        "$ASSAY" points -q --interval 1k $option no/such -- touch ran
done
check_fails 125 'cannot write no/such: No such file' "… of --phases" "$ASSAY" points sweep -q --interval 1k --phases no/such -- touch ran
check_same "… and the program does not run" absent "$([ -e ran ] && echo ran || echo absent)"
full() { "$ASSAY" points -q --interval 1k --cpi off "$@" -- true >/dev/full; }
check_status 125 "no room for JSON" full --json
check_status 125 "no room for text" full
check_status 127 "a missing program" "$ASSAY" points -- ./absent
check_status 2 "no program" "$ASSAY" points
check_status 2 "a program and vectors" "$ASSAY" points --from-bb empty.bb -- true
check_status 2 "points without weights" "$ASSAY" points --from-simpoints x -- true
check_status 2 "a threshold above 1" "$ASSAY" points --threshold 1.5 -- true
run "$ASSAY" points --warm=abc -- "$STATIC/nothing"
check_same "an error about an option comes alone" 1 "$(wc -l <<<"$err")"
check_fails 2 "no machine 'nosuch'" "a core that does not exist, before the first run" "$ASSAY" points --interval 1G --core nosuch -- true
check_status 2 "too many dimensions" "$ASSAY" points --dims 51 -- true
printf '1000000 0\n' >far.s
printf '1 0\n' >one.w
check_stderr_line 'interval 1000000 was never reached' "a point behind the program's end" "$ASSAY" points -q --interval 1k --from-simpoints far.s --from-weights one.w -- true
cat >random.sh <<'END'
n=$(($(od -An -N2 -tu2 /dev/urandom) % 3000 + 500)); i=0
while [ $i -lt $n ]; do i=$((i + 1)); done
case $n in *[02468]) : ${x:=$(printf %s "$n")} ;; esac
i=0; while [ $i -lt 3000 ]; do j="$i$i"; i=$((i + 1)); done
END
differs() { for _ in 1 2 3 4; do "$ASSAY" points --interval 50k --max-k 40 --threshold 1 -- sh random.sh 2>&1 | grep -E 'does not do the same|never reached' && return 0; done; return 1; }
check "a program that does not do the same is noticed" differs
check_no_strays "nothing left behind"
