#!/usr/bin/env python3
"""`assay reuse` beside cachegrind on the same program and the same caches, in one run: misses, time, memory. And the sample of lines
(--method=lines): how far its miss ratios are off those of all lines, and what it takes beside `stat --check`, in turns.

usage: reuse_peers.py [--build DIR] [--] PROGRAM [ARGS...]

The sample is judged (at most 0.5 points off at every size of cache from 32 KiB on, at least 80 % of the speed of stat --check), which makes sense for
programs that run for a second or more and touch more than 30 MB: smaller ones are hardly sampled. Times are elapsed ones and of the
processor: on a machine that others use, the latter are the ones to compare.

Misses should agree to within what the two define differently:
  - cachegrind counts an access that crosses a line as one access, and as one miss if either line misses; here each line
    counts by itself.
  - its last level holds instructions, too.
  - it sees the program on the machine's own libraries with valgrind's preloaded; ours runs in QEMU, with what the loader
    chooses there.
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

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
D1, LL = (32 << 10, 8), (2 << 20, 16)


def run(command):
    """Output and error text, seconds, peak of memory in MiB (the largest of Assay or valgrind and QEMU), processor seconds of all."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        started = time.monotonic()
        child = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode:
            sys.exit(f"reuse_peers: {' '.join(command)} ended with {child.returncode}: {err.read()}")
        return out.read(), err.read(), seconds, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def fastest(command, turns=3):
    return min(run(command)[4] for _ in range(turns))


def cachegrind(program):
    with tempfile.NamedTemporaryFile() as out:
        _, text, seconds, memory, processor = run(["valgrind", "--tool=cachegrind", "--cache-sim=yes", f"--D1={D1[0]},{D1[1]},64",
                                        f"--LL={LL[0]},{LL[1]},64", f"--cachegrind-out-file={out.name}", *program])
    number = lambda name: int(re.search(name + r":\s+([\d,]+)", text)[1].replace(",", ""))  # noqa: E731
    return {"accesses": number(r"D\s+refs"), "D1 misses": number(r"D1\s+misses"), "LL misses": number(r"LLd misses"),
            "seconds": seconds, "processor": processor, "MiB": memory}


def ours(assay, program):
    text, _, seconds, memory, processor = run([assay, "reuse", "--json", "-q", "--set", f"memory.l1d.size={D1[0]},memory.l1d.ways={D1[1]}",
                                    "--set", f"memory.llc.size={LL[0]},memory.llc.ways={LL[1]}", "--", *program])
    result = json.loads(text)
    misses = {cache["name"]: cache["misses"] for cache in result["caches"]}
    return {"accesses": result["accesses"], "D1 misses": misses["L1"], "LL misses": misses["LLC"], "seconds": seconds,
            "processor": processor, "MiB": memory}, result["miss_ratio"]


def sample(assay, program, exact):
    """The greatest difference of miss ratios in points, at which size, and of how many lines one is in the sample. Where one of 128
    is, what is nearer than 128 lines has no distance; from four times that on, 32 KiB, ratios are compared."""
    result = json.loads(run([assay, "reuse", "--json", "-q", "--method=lines", "--", *program])[0])
    points = [(row["bytes"], row["ratio"]) for row in result["miss_ratio"]]
    at, worst = 0, -1.0
    for row in (row for row in exact if row["bytes"] >= 4 * 64 / result["rate"]):
        ratio = [r for size, r in points if size <= row["bytes"]][-1]  # it stays the same up to the next one
        if abs(ratio - row["ratio"]) > worst:
            at, worst = row["bytes"], abs(ratio - row["ratio"])
    return 100 * worst, at, 1 / result["rate"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(SOURCE, "build"))
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.program[:1] == ["--"]:
        del options.program[0]
    if not options.program:
        parser.error("no program given")
    assay = os.path.join(options.build, "assay")
    (left, exact), right = ours(assay, options.program), cachegrind(options.program)
    print(f"{'':12} {'assay reuse':>16} {'cachegrind':>16} {'ratio':>8}")
    for name in left:
        print(f"{name:12} {left[name]:16,.10g} {right[name]:16,.10g} {left[name] / right[name]:8.3f}")
    off, at, one_in = sample(assay, options.program, exact)
    print(f"--method=lines, one line of {one_in:.0f}: miss ratios at most {off:.3f} points off (at {at} bytes)")
    check = fastest([assay, "stat", "-q", "--check", "--", *options.program])
    lines = fastest([assay, "reuse", "-q", "--method=lines", "--top=0", "--", *options.program])
    print(f"speed of --method=lines by that of stat --check: {check / lines:.2f} ({lines:.2f} s, {check:.2f} s of the processor)")
    if check / lines < 0.8:
        sys.exit("reuse_peers: the sample of lines is slower than 80 % of the speed of stat --check")
    if off > 0.5:
        sys.exit("reuse_peers: the sample of lines is off by more than half a point")


main()
