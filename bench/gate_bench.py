#!/usr/bin/env python3
"""The gate of a CI job, with Assay and with Callgrind: three programs, each before and after a change that slows it down.

    bench/gate_bench.py [--build DIR] [--runs N]

For each program and tool: the time that one measurement takes, the spread of the result over runs whose environments
differ in size (the stack moves), the growth that the tool reports, and the function that it blames. Callgrind counts
instructions; Assay counts cycles of a modelled core. Beside them the program itself, timed in turns. Prints a table; nothing is judged.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("ASSAY_CORE", "boom-tea")  # results are of one core, on whatever machine

PERL = "my %%h; $h{$_ %% 977} += $_ for 1..20000; my $s = 0; for (1..%d) { $s += $_ for sort { $a <=> $b } values %%h } print $s"


def programs(build):
    lattice = os.path.join(build, "workloads", "lattice")
    return [("lattice, prefetch removed", [lattice, "3"], [lattice, "0"]),
            ("perl, one more sort", ["perl", "-e", PERL % 20], ["perl", "-e", PERL % 22]),
            ("gzip, -5 to -6", ["gzip", "-5", "-c", "INPUT"], ["gzip", "-6", "-c", "INPUT"])]


def run(command, padding):
    environment = {"PATH": os.environ["PATH"], "PERL_HASH_SEED": "0", "PAD": "x" * padding}
    begin = time.monotonic()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - begin


def by_assay(build, program, runs, folder):
    assay = os.path.join(build, "assay")
    seconds, cycles = [], []
    for i in range(runs):
        seconds.append(run([assay, "record", "-q", "-o", f"{folder}/{i}.db", "--", *program], 100 * i))
        cycles.append(summary(assay, f"{folder}/{i}.db")["cycles"])
    return seconds, cycles


def summary(assay, profile):
    return json.loads(subprocess.check_output([assay, "report", "--json", "--limit", "1", profile]))["summary"]


def blame_assay(build, before, after):
    diff = json.loads(subprocess.check_output([os.path.join(build, "assay"), "report", after, "--diff", before, "--json"]))
    return max(diff["rows"], key=lambda row: row["change"])["name"]


def by_callgrind(program, runs, folder):
    seconds, counts, functions = [], [], []
    for i in range(runs):
        out = f"{folder}/{i}.out"
        seconds.append(run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *program], 100 * i))
        text = subprocess.check_output(["callgrind_annotate", "--threshold=100", out], text=True)
        counts.append(int(re.search(r"([\d,]+) \(100.0%\)\s+PROGRAM TOTALS", text).group(1).replace(",", "")))
        functions.append({name: int(count.replace(",", "")) for count, name in
                          re.findall(r"^\s*([\d,]+) \([ \d.]+%\)\s+\S*?:(\S+)", text, re.M)})
    return seconds, counts, functions


def natively(before, after, turns=9):
    """The fastest of several runs in turns: noise only adds."""
    times = [[], []]
    for _ in range(turns):
        for side, program in enumerate((before, after)):
            times[side].append(run(program, 0))
    return times


def spread(values):
    return 100 * (max(values) - min(values)) / min(values)


def show(name, tool, seconds, before, after, blamed):
    print(f"{name:28} {tool:10} {min(seconds):8.2f} s  {max(spread(before), spread(after)):8.4f} %  "
          f"{100 * (after[0] / before[0] - 1):+8.2f} %  {blamed}", flush=True)


def measure(name, before, after, build, runs):
    first, second = natively(before, after)
    show(name, "native", first, [min(first)], [min(second)], "")
    with tempfile.TemporaryDirectory() as old, tempfile.TemporaryDirectory() as new:
        first, second = by_assay(build, before, runs, old), by_assay(build, after, runs, new)
        show(name, "assay", first[0] + second[0], first[1], second[1], blame_assay(build, f"{old}/0.db", f"{new}/0.db"))
        first, second = by_callgrind(before, runs, old), by_callgrind(after, runs, new)
        change = {fn: second[2][0].get(fn, 0) - first[2][0].get(fn, 0) for fn in second[2][0]}
        show(name, "callgrind", first[0] + second[0], first[1], second[1], max(change, key=change.get))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    with tempfile.NamedTemporaryFile() as data:
        with open(os.path.join(build, "assay"), "rb") as program:
            data.write(program.read(2_000_000))
        data.flush()
        print(f"{'program':28} {'tool':10} {'one run':>10}  {'spread':>10}  {'growth':>10}  blamed")
        for name, before, after in programs(build):
            named = [[data.name if word == "INPUT" else word for word in words] for words in (before, after)]
            measure(name, *named, build, options.runs)


if __name__ == "__main__":
    sys.exit(main())
