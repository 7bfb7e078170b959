#!/usr/bin/env python3
"""A program made faster by what `assay reuse` says: its advice, what the model foretells, and what the change brings natively.

usage: bench/reuse_fix.py [--runs N] [--core NAME] [BUILD]

Builds bench/particles.c twice, as it is and with what a step uses in an array of its own (-DFIXED), and prints
 - what `assay reuse` says of the first: misses of the L1, bytes used of a line, advice;
 - what `assay whatif` promises if its step had no misses of memory, the most that any layout can bring;
 - the ratio of both programs' cycles in the model: what the change is foretold to bring;
 - the ratio of their processor times on this machine, runs in turns.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SMALL, LARGE = ("40000", "4"), ("2000000", "40")  # in the model, and natively: 5 MB and 256 MB; even a fourth of it is beyond the last level
SETS = ("--set", "memory.llc.size=1M", "--set", "memory.llc.ways=16")


def ask(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def processor_time(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command}: status {status}")
    return usage.ru_utime


def cycles(assay, program, core):
    """Of the steps: one run less one without steps."""
    count = [json.loads(ask(assay, "compare", "-q", "--json", "--samplers", "none", "--core", core, *SETS, "--", program,
                            SMALL[0], steps))["counters"]["elapsed_cycles"] for steps in ("0", SMALL[1])]
    return count[1] - count[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--core", default="zen4-like")
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build")
    args = parser.parse_args()
    assay = str(args.build / "assay")
    with tempfile.TemporaryDirectory() as folder:
        before, after = f"{folder}/before", f"{folder}/after"
        for program, flags in ((before, []), (after, ["-DFIXED"])):
            ask("cc", "-O2", "-g", *flags, "-o", program, str(ROOT / "bench" / "particles.c"))
        for name, program in (("before", before), ("after", after)):
            found = json.loads(ask(assay, "reuse", "-q", "--json", "--core", args.core, *SETS, "--from", "step", "--", program,
                                   *SMALL))
            level = found["caches"][0]
            print(f"{name + ':':8} {level['misses']:,} misses of the L1 in {found['accesses']:,} accesses, "
                  f"{found['line_bytes_used']:.0f} of 64 bytes of a line used; advice: "
                  f"{'; '.join(a['text'] for a in found['advice'][:1]) or 'none'}")
        promised = json.loads(ask(assay, "whatif", "-q", "--json", "--core", args.core, *SETS, "--from", "step", "--ideal",
                                  "ST-LLC@step", "--", before, *SMALL))
        print(f"whatif:  without misses of the last level {promised['experiments'][0]['speedup']:.2f} times as fast: the most "
              "that a layout can bring")
        print(f"model:   the change makes the steps {cycles(assay, before, args.core) / cycles(assay, after, args.core):.2f} "
              f"times as fast on {args.core}")
        base = [processor_time([p, LARGE[0], "0"]) for p in (before, after)]
        pairs = [(processor_time([before, *LARGE]) - base[0], processor_time([after, *LARGE]) - base[1])
                 for _ in range(args.runs)]
        ratios = sorted(a / b for a, b in pairs)
        print(f"here:    {statistics.median(ratios):.2f} times as fast by processor time ({ratios[0]:.2f} to {ratios[-1]:.2f} in "
              f"{args.runs} pairs of runs, load {os.getloadavg()[0]:.0f}); the same result: "
              f"{ask(before, *LARGE) == ask(after, *LARGE)}")


if __name__ == "__main__":
    main()
