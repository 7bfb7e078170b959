#!/usr/bin/env python3
"""A false-sharing bug from its discovery to its fix: what comm says of it, what whatif promises, what the fix brings natively.

usage: bench/false_sharing.py [--runs N] [--threads N] [BUILD]

Builds bench/false_counters.c twice, as it is and with each thread's counters on lines of their own (-DFIXED), and prints
 - what `assay comm` finds, in the model and on this machine: share of false sharing, object, advice;
 - what `assay whatif --separate` promises, beside the ratio of the fixed program's cycles in the model;
 - the ratio of the two programs' processor times on this machine, runs in turns.
Threads fight for a line only while they run at the same time, so on a busy machine the native ratio is smaller than on an idle one.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def processor_time(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command}: status {status}")
    return usage.ru_utime


def found(assay, program, words, options):
    result = json.loads(run(assay, "comm", "--json", *options, "--", program, *words))
    exact = result.get("exact", result)
    share = 100 * exact["false_sharing"] / exact["total"] if exact["total"] else float("nan")
    advice = result["advice"][0]["text"] if result["advice"] else "none"
    objects = result["objects"][0]["name"] if result["objects"] else "none"
    return f"{share:.1f} % false sharing, most on {objects}; advice: {advice}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--core", default="zen4-like")
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build")
    args = parser.parse_args()
    assay, threads = str(args.build / "assay"), str(args.threads)
    with tempfile.TemporaryDirectory() as folder:
        before, after = f"{folder}/before", f"{folder}/after"
        for program, flags in ((before, []), (after, ["-DFIXED"])):
            run("cc", "-O2", "-g", "-pthread", *flags, "-o", program, str(ROOT / "bench" / "false_counters.c"))
        print("comm, in the model:       ", found(assay, before, [threads, "20"], ["--no-estimate"]))
        print("comm, on this machine:    ", found(assay, before, [threads, "40000"], ["--source=timer", "--rate=4000"]))
        print("comm, fixed, in the model:", found(assay, after, [threads, "20"], ["--no-estimate"]))
        promised = json.loads(run(assay, "whatif", "--json", "--core", args.core, "--separate", "stats", "--", before, threads, "40"))
        fixed = json.loads(run(assay, "compare", "-q", "--json", "--samplers", "none", "--core", args.core, "--", after, threads, "40"))
        print(f"whatif --separate stats:    {promised['experiments'][0]['speedup']:.2f} times as fast on {args.core}; "
              f"the fixed program there {promised['elapsed_cycles'] / fixed['counters']['elapsed_cycles']:.2f} times")
        pairs = [(processor_time([before, threads, "40000"]), processor_time([after, threads, "40000"])) for _ in range(args.runs)]
        ratios = sorted(a / b for a, b in pairs)
        print(f"natively, the fix:          {statistics.median(ratios):.2f} times as fast by processor time "
              f"({ratios[0]:.2f} to {ratios[-1]:.2f} in {args.runs} pairs of runs, load {os.getloadavg()[0]:.0f})")


if __name__ == "__main__":
    main()
