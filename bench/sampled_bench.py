#!/usr/bin/env python3
"""How far the profiles of sampled runs are from the truth, which is a full run of the same program in the model.

    bench/sampled_bench.py [--build DIR] [--programs LIST] [--size N] [--seeds N] [--csv FILE] [--truth DIR] [--append] [-- OPTIONS]

The goals are about programs of 5 G instructions (--size 12 and a folder for --truth: a full run takes minutes), the default
programs, and about 40 runs for the intervals, which can be short:

    bench/sampled_bench.py --size 12 --programs perl,sqlite3,python3,awk,gzip,bc --truth DIR
    bench/sampled_bench.py --programs perl,sqlite3,python3,awk --size 0.25 --seeds 10 --truth DIR
    bench/sampled_bench.py --programs threads,queue,sort --size 0.5 --truth DIR

Programs of Debian work on inputs that the script makes. Each runs once in full (kept in --truth, where it is given) and once
for each seed with `record --sampled` and OPTIONS. A row of the CSV is a run: both CPIs, the error, the interval that the
profile claims and whether it holds the truth, the largest error of a function's share, the profile error by instruction, the
part of the instructions that was measured, the error of the elapsed time (of programs with threads), processor time and MIPS
by the clock, which mean something on a machine with nothing else to do; and of the error bars of each kind of number, how many hold the
truth (95 % of them should), of those that are half a per cent of the time or more, or 100 events.

The last lines are a table of the programs, and what the goals are about: mean and largest error of the CPI, and how many
intervals hold the truth. With --append rows are added to those that the CSV has, and the table is of all of them, so that many
runs can be made a few at a time; --seeds 0 only prints the table.

Programs get a fixed environment, since the stack begins behind it and caches see where it lies. A truth whose number of instructions differs
is of another run, and ends the script.
"""
import argparse
import contextlib
import csv
import json
import os
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("ASSAY_CORE", "boom-tea")  # results are of one core, on whatever machine

WORDS_PL = """my (%h, %p, $l);
while (<>) { for my $w (split) { $h{$w}++; $p{"$l $w"}++ if $l; $l = $w } }
my $n = 0;
for (sort { $p{$b} <=> $p{$a} || $a cmp $b } keys %p) { last if $n++ > 20; print "$_ $p{$_}\\n" }
my $s = 0;
for my $r (1..5) { for (sort keys %h) { $s += length($_) * $h{$_}; tr/a-m/n-z/; $s++ if /ab+c|x[yz]/ } }
print "$s\\n";
"""
BODIES_PY = """import math, sys
def step(b, dt):
    for i, x in enumerate(b):
        for y in b[i + 1:]:
            d = [x[k] - y[k] for k in range(3)]
            s = sum(v * v for v in d) + .01
            m = dt / (s * math.sqrt(s))
            for k in range(3):
                x[k + 3] -= d[k] * y[6] * m
                y[k + 3] += d[k] * x[6] * m
    for x in b:
        for k in range(3):
            x[k] += dt * x[k + 3]
b = [[float(i), float(i * i % 7), float(i % 3), 0., .1 * i, 0., 1. + i] for i in range(6)]
for _ in range(int(sys.argv[2])):
    step(b, .001)
d = {}
for line in open(sys.argv[1]):
    for w in line.split():
        d[w] = d.get(w, 0) + 1
print(sorted(d.items(), key=lambda x: (-x[1], x[0]))[:5], b[0])
"""
TABLE_SQL = """create table t(a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < %d)
    insert into t select i, (i * 7919) %% 10007, 'text' || ((i * 31) %% 5003) from n;
create index ib on t(b);
select count(*), sum(x.a) from t x join t y on x.b = y.b where x.a < 3000;
select c, count(*), avg(b) from t group by c order by 2 desc, 1 limit 5;
select count(distinct c) from t;
update t set b = b + a %% 13 where a %% 3 = 0;
select sum(b) from t where c like '%%99%%';
create index ic on t(c);
select c, b from t order by c desc, b limit 10;
"""
PI_BC = """scale = 300
for (i = 1; i <= %d; i++) s += 4 * a(1 / i) + sqrt(i)
s
quit
"""
BC_ROUNDS = 12
GOALS = """goals: CPI 1 % on average, 2 % at most (with threads, 3 %, and so the elapsed time); function shares 1 point;
instruction profiles 5 %; 5 % of the instructions measured; 90 % of the intervals hold the truth; 150 MIPS"""
THREADS_C = """#include <pthread.h>
#include <stdlib.h>
#include <string.h>
enum { N = 4, SIZE = 1 << 14 };
static long rounds, taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int data[N][SIZE];
static void fill(int *to, unsigned seed) { for (int i = 0; i < SIZE; i++) to[i] = (int)(seed = seed * 1664525 + 1013904223); }
static int compare(const void *a, const void *b) { return (*(int *)a > *(int *)b) - (*(int *)a < *(int *)b); }
static void *sum(void *arg)
{
    int *own = data[(long)arg];
    fill(own, 1);
    for (long r = 0, s = 0; r < 20 * rounds; r++)
        for (int i = 0; i < SIZE; i++)
            own[i] += (int)(s += own[(i * 7 + r) % SIZE]);
    return NULL;
}
static void *queue(void *arg)
{
    for (volatile long i, next = 0; next < 4000 * rounds;) {
        pthread_mutex_lock(&lock);
        next = taken++;
        pthread_mutex_unlock(&lock);
        for (i = 0; i < 200; i++)
            data[(long)arg][(next * 31 + i * 17) % SIZE] += 1;
    }
    return NULL;
}
static void *sort(void *arg)
{
    for (long r = 0; r < rounds; r++) {
        fill(data[(long)arg], (unsigned)r);
        qsort(data[(long)arg], SIZE, sizeof(int), compare);
    }
    return NULL;
}
int main(int n, char **args)
{
    pthread_t threads[N];
    void *(*work)(void *) = strcmp(args[1], "threads") == 0 ? sum : strcmp(args[1], "queue") == 0 ? queue : sort;
    rounds = n > 2 ? atol(args[2]) : 1;
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
}
"""



THREADED = ("threads", "queue", "sort")


def make_inputs(size):
    dice = random.Random(1)
    words = ["".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=dice.randint(2, 10))) for _ in range(8000)]
    text = dice.choices(words, [1 / (i + 1) for i in range(len(words))], k=int(300000 * size))
    lines = [" ".join(text[i:i + 12]) for i in range(0, len(text), 12)]
    for name, part in (("text.txt", 1), ("half.txt", .6), ("short.txt", .13)):
        with open(name, "w") as out:
            out.write("\n".join(lines[:int(len(lines) * part)]) + "\n")
    with open("threads.c", "w") as out:
        out.write(THREADS_C)
    subprocess.run(["gcc", "-O2", "-pthread", "threads.c", "-o", "threads"], check=True)
    for name, content in (("words.pl", WORDS_PL), ("bodies.py", BODIES_PY), ("table.sql", TABLE_SQL % int(20000 * size)),
                          ("pi.bc", PI_BC % int(BC_ROUNDS * size))):
        with open(name, "w") as out:
            out.write(content)


def programs(size):
    """About 400 million instructions each at size 1, and more than 5 billion at size 12."""
    return {"perl": ["perl", "words.pl", "short.txt"],
            "sqlite3": ["sqlite3", "-init", "table.sql", ":memory:", ".quit"],
            "python3": ["/usr/bin/python3", "bodies.py", "short.txt", str(int(1600 * size))],
            "gzip": ["gzip", "-6", "-c", "text.txt", "half.txt"],
            "bzip2": ["bzip2", "-c", "half.txt"],
            "xz": ["xz", "-3", "-c", "half.txt"],
            "awk": ["mawk", "{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) s += n[w] * length(w); print s }", "text.txt", "text.txt"],
            "bc": ["bc", "-l", "-q", "pi.bc"],
            **{name: ["./threads", name, str(int(20 * size))] for name in THREADED}}


def record(assay, profile, options, program):
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "ASSAY_CORE": os.environ["ASSAY_CORE"], "PERL_HASH_SEED": "0", "PYTHONHASHSEED": "0"}
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([assay, "record", "-q", "--source=model", *options, "-o", profile, "--", *program], env=environment,
                   stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - started


def report(assay, profile, by):
    text = subprocess.check_output([assay, "report", "--json", "--limit", "0", "--by", by, profile])
    document = json.loads(text)
    shares = {}
    for row in document["rows"]:
        key = (row.get("module"), row.get("function"), row.get("address") if by == "instruction" else None)
        shares[key] = shares.get(key, 0) + row["share"]
    return document["summary"], shares


def add_bar(bars, kind, true, own, error, of=1.0, least=.005):
    """Whether an error bar holds; of things that are small only."""
    if error is not None and true / of >= least:
        holds, n = bars.get(kind, (0, 0))
        bars[kind] = holds + (abs(true - own) <= error + 1e-9 * of), n + 1


def rows_of(assay, profile, by):
    document = json.loads(subprocess.check_output([assay, "report", "--json", "--limit", "0", "--by", by, profile]))
    return document["summary"], {(row.get("module"), row.get("function"), row.get("file"), row.get("line")): row for row in document["rows"]}


def component_shares(rows):
    sums, total = {}, sum(row["time"] for row in rows.values())
    for row in rows.values():
        for name, time in row.get("components", {}).items():
            sums[name] = sums.get(name, 0) + time
    return {name: time / total for name, time in sums.items()}, total


def count_bars(assay, truth, profile):
    """Of the error bars of each kind of number: how many hold the truth, of how many. Of times, those of half a per cent and more."""
    bars = {}
    for by in ("function", "line"):
        (summary, true), (own_summary, own) = (rows_of(assay, path, by) for path in (truth, profile))
        (true_parts, true_total), (_, total) = component_shares(true), component_shares(own)
        for key, row in true.items():
            mine = own.get(key, {"share": 0, "time": 0, "share_error": 0})
            add_bar(bars, by + "s", row["share"], mine["share"], mine.get("share_error"))
            for name, time in row.get("components", {}).items():
                add_bar(bars, f"components of {by}s", time / true_total, mine.get("components", {}).get(name, 0) / total,
                        mine.get("component_errors", {}).get(name, 0 if "component_errors" in mine else None))
    document = json.loads(subprocess.check_output([assay, "report", "--json", "--limit", "1", profile]))
    for part in document.get("components", []):
        if part["component"] == "other":
            named = {one["component"] for one in document["components"]}
            true_parts["other"] = sum(share for name, share in true_parts.items() if name not in named)
        add_bar(bars, "components", true_parts.get(part["component"], 0), part["share"], part["share_error"])
    for kind, errors in (("states", "state_errors"), ("stack", "stack_errors")):
        for name, error in own_summary.get(errors, {}).items():
            add_bar(bars, kind, summary[kind][name], own_summary[kind][name], error)
    with contextlib.closing(sqlite3.connect(truth)) as base:
        counters = dict(base.execute("SELECT name, value FROM counters"))
    for name, counter in own_summary.get("counters", {}).items():
        add_bar(bars, "counters", counters[name], counter["value"], counter["error"] * counter["value"], least=100)
    return bars


def elapsed(profile):
    with contextlib.closing(sqlite3.connect(profile)) as base:
        return base.execute("SELECT value FROM counters WHERE name = 'elapsed_cycles'").fetchone()[0]


def compare(assay, truth, profile, tolerance=2e-6):
    (true, true_functions), (own, functions) = (report(assay, path, "function") for path in (truth, profile))
    true_shares, shares = (report(assay, path, "instruction")[1] for path in (truth, profile))
    keys = set(true_functions) | set(functions)
    if abs(own["instructions"] - true["instructions"]) > tolerance * true["instructions"]:
        raise SystemExit(f"sampled_bench: {truth} has {true['instructions']} instructions, the run {own['instructions']}: remove it")
    cpi, true_cpi = (s["cycles"] / s["instructions"] for s in (own, true))
    error = cpi / true_cpi - 1
    interval = own.get("error_estimate") or 0
    return {"instructions": own["instructions"], "true_cpi": round(true_cpi, 5), "cpi": round(cpi, 5), "error": round(error, 5),
            "interval": round(interval, 5), "holds": int(abs(cpi - true_cpi) <= interval * cpi + 1e-12),
            "function_error": round(max(abs(true_functions.get(k, 0) - functions.get(k, 0)) for k in keys), 5),
            "instruction_error": round(sum(abs(true_shares.get(k, 0) - shares.get(k, 0))
                                           for k in set(true_shares) | set(shares)) / 2, 5),
            "elapsed_error": round(elapsed(profile) / elapsed(truth) - 1, 5),
            "measured": round(next((q["value"] for q in own["quality"] if q["key"] == "sampled"), 1), 4)}


def measure(options, assay, writer, out):
    rows = []
    os.makedirs(options.truth, exist_ok=True)
    for name in options.programs.split(","):
        truth, program = os.path.join(options.truth, f"{name}-{options.size:g}.db"), programs(options.size)[name]
        if options.seeds and not os.path.exists(truth):
            seconds, _ = record(assay, truth, ["--budget=0"], program)
            print(f"{name}: {seconds:.0f} s of processor time in full", file=sys.stderr)
        for seed in range(options.first, options.first + options.seeds):
            seconds, clock = record(assay, "sampled.db", ["--sampled", "--seed", str(seed), *options.record], program)
            row = {"program": name, "seed": seed,
                   **compare(assay, truth, "sampled.db", .01 if name in THREADED else 2e-5),
                   "seconds": round(seconds, 1),
                   "bars": "; ".join(f"{kind} {holds} of {n}" for kind, (holds, n) in count_bars(assay, truth, "sampled.db").items())}
            row["mips"] = round(row["instructions"] / clock / 1e6)
            rows.append(row)
            writer.writerow(row)
            out.flush()
    return rows


def read_rows(path):
    """Rows of earlier runs."""
    with open(path, newline="") as file:
        return [{key: value if key in ("program", "bars") else float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def print_table(rows):
    print(f"{'program':9} runs  instructions  CPI error: mean   most  elapsed  function  instruction  measured  MIPS  intervals hold",
          file=sys.stderr)
    for name in dict.fromkeys(row["program"] for row in rows):
        own = [row for row in rows if row["program"] == name]
        mean, most = (f([abs(row["error"]) for row in own]) for f in (statistics.mean, max))
        print(f"{name:9} {len(own):4} {own[0]['instructions'] / 1e6:11.0f} M {100 * mean:15.2f} % {100 * most:5.2f} "
              f"{100 * max(abs(row['elapsed_error']) for row in own):7.2f} {100 * max(row['function_error'] for row in own):9.2f} "
              f"{100 * max(row['instruction_error'] for row in own):12.1f} {100 * max(row['measured'] for row in own):9.1f} "
              f"{statistics.median(row['mips'] for row in own):5.0f}  {sum(row['holds'] for row in own):6.0f} of {len(own)}",
              file=sys.stderr)


def print_bars(rows):
    sums = {}
    for text in filter(None, (row.get("bars") for row in rows)):
        for holds, n, kind in ((int(words[-3]), int(words[-1]), " ".join(words[:-3])) for words in (part.split() for part in text.split("; "))):
            sums[kind] = sums.get(kind, (0, 0))[0] + holds, sums.get(kind, (0, 0))[1] + n
    for kind, (holds, n) in sums.items():
        print(f"error bars of {kind}: {holds} of {n} hold the truth, {100 * holds / n:.1f} %", file=sys.stderr)


def conclude(rows):
    print_table(rows)
    print_bars(rows)
    errors = [abs(row["error"]) for row in rows]
    print(f"CPI error {100 * statistics.mean(errors):.2f} % on average, {100 * max(errors):.2f} % at most; "
          f"mean of the signed errors {100 * statistics.mean(row['error'] for row in rows):+.2f} %; "
          f"function shares {100 * max(row['function_error'] for row in rows):.2f} points at most; instruction profiles "
          f"{100 * statistics.mean(row['instruction_error'] for row in rows):.1f} % on average; "
          f"{sum(row['holds'] for row in rows):.0f} of {len(rows)} intervals hold the truth", file=sys.stderr)
    print(GOALS, file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build"))
    parser.add_argument("--programs", default=",".join(name for name in programs(1) if name not in THREADED))
    parser.add_argument("--size", type=float, default=1, help="how long programs run: 1 is about 400M instructions")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--csv", type=os.path.abspath, help="a file for the rows, instead of standard output")
    parser.add_argument("--append", action="store_true", help="keep the rows that it has")
    parser.add_argument("--truth", help="a folder for the full runs")
    parser.add_argument("record", nargs="*", help="options of record")
    options = parser.parse_args()
    assay = os.path.abspath(os.path.join(options.build, "assay"))
    before = read_rows(options.csv) if options.append and options.csv and os.path.exists(options.csv) else []
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as open_files:
        out = open_files.enter_context(open(options.csv, "a" if before else "w", newline="")) if options.csv else sys.stdout
        options.truth = os.path.abspath(options.truth or folder)
        os.chdir(folder)
        make_inputs(options.size)
        fields = ["program", "seed", "instructions", "true_cpi", "cpi", "error", "interval", "holds", "function_error",
                  "instruction_error", "elapsed_error", "measured", "seconds", "mips", "bars"]
        writer = csv.DictWriter(out, fields, lineterminator="\n")
        if not before:
            writer.writeheader()
        conclude(before + measure(options, assay, writer, out))


if __name__ == "__main__":
    main()
