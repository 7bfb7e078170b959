#!/usr/bin/env python3
"""What coherence and the quantum cost: processor time of `assay compare` on threaded programs, with both, without
coherence (coherence.protocol=off) and without a quantum (--quantum=0). Ways take turns; the least time of each counts.

Usage: bench/coherence_cost.py [BUILD [RUNS]] (default build, 5). Goals, for programs whose threads do not fight for lines:
at most 1.25 times the time without coherence, at most 1.15 times that without a quantum.
"""
import os
import resource
import subprocess
import sys

os.environ.setdefault("ASSAY_CORE", "boom-tip")  # results are of one core, on whatever machine

WAYS = {"both": [], "no coherence": ["--set", "coherence.protocol=off"], "no quantum": ["--quantum=0"]}
PROGRAMS = {
    "padded counters": (["lines", "padded", "4", "500000"], True),
    "one table, read": (["lines", "readonly", "4", "500000"], True),
    "counters in one line": (["lines", "counters", "4", "100000"], False),
    "one atomic and a lock": (["threads", "-t", "4", "-w", "10000", "-r", "3"], False),
}
GOALS = {"no coherence": 1.25, "no quantum": 1.15}


def processor_time(argv):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(build, program, runs):
    argv = [os.path.join(build, "workloads", program[0]), *program[1:]]
    least = {}
    for _ in range(runs):
        for way, options in WAYS.items():
            command = [os.path.join(build, "assay"), "compare", "--samplers=none", "-o", "/dev/null", *options, "--", *argv]
            least[way] = min(processor_time(command), least.get(way, float("inf")))
    return least


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    missed = False
    for name, (program, judged) in PROGRAMS.items():
        least = measure(build, program, runs)
        ratios = {way: least["both"] / least[way] for way in GOALS}
        missed |= judged and any(ratios[way] > goal for way, goal in GOALS.items())
        print(f"{name:24}", *(f"{ratios[way]:6.2f} of {way}" for way in GOALS), "" if judged else "  (not judged)", flush=True)
    return 1 if missed else 0


sys.exit(main())
