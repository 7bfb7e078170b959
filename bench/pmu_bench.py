#!/usr/bin/env python3
"""What modelled PMUs cost: `assay record --source=pmu:NAME` beside `assay compare` without them, for every shipped .pmu file,
with the same program, core and instructions, in rounds that take turns.

Processor time, Assay's and QEMU's, as the machine may be busy. A round's ratio is the time under the unit over that of the
round's `compare`; shown are the ratio of the fastest runs, the median of the rounds' ratios and their range. `record` also
writes a profile, which does not grow with the run. Goal: 1.15 at most.
"""
import argparse
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
GOAL = 1.15


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def commands(options, scratch):
    """Name → command; `compare` is first."""
    rest = ["-q", "--core", options.core, "--max", options.max]
    program = ["--", *(options.program or [SOURCE / "build/workloads/demo"])]
    found = {"compare": [options.assay, "compare", "--json", "-o", scratch / "compare.json", *rest, *program]}
    names = options.only.split(",") if options.only else sorted(f.stem for f in (SOURCE / "pmus").glob("*.pmu"))
    for name in names:
        found[name] = [options.assay, "record", f"--source=pmu:{name}", "-o", scratch / "unit.db", *rest, *program]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assay", default=SOURCE / "build/assay", help="the program under test (build/assay)")
    parser.add_argument("--core", default="skylake-like", help="the modelled core (%(default)s)")
    parser.add_argument("--max", default="30M", help="instructions (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (%(default)s)")
    parser.add_argument("--only", help="PMUs, with commas between them")
    parser.add_argument("program", nargs="*", help="the program and its arguments (demo)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-pmu.") as scratch:
        ways = commands(options, pathlib.Path(scratch))
        times = {name: [] for name in ways}
        for _ in range(options.rounds):
            for name, command in ways.items():
                times[name].append(processor_time(command))
    base = times.pop("compare")
    print(f"compare: {min(base):.2f} s of processor time, {options.rounds} rounds")
    worst = 0
    for name, seconds in times.items():
        ratios = [after / before for after, before in zip(seconds, base)]
        median = statistics.median(ratios)
        worst = max(worst, median)
        print(f"{name:14} fastest {min(seconds) / min(base):.2f}, median {median:.2f} ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)
    print(f"dearest by the median: {worst:.2f} (goal {GOAL})")
    return 0 if worst <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
