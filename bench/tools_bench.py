#!/usr/bin/env python3
"""The verbs beside Valgrind's tools, and DynamoRIO's where there are any, on one program: million instructions of it a second.

    bench/tools_bench.py [--build DIR] [--size N] [--drrun PROGRAM]

Everything runs the demo with the same argument, in turns; the fastest of three counts, because noise only adds. The number
of instructions is that of `assay stat`. Processor time is that of all threads and processes together. Prints a table; nothing is
judged. Run it on an otherwise idle machine.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("ASSAY_CORE", "boom-tea")  # results are of one core, on whatever machine


def commands(build, program, folder, drrun):
    assay = os.path.join(build, "assay")
    profile = os.path.join(folder, "profile.db")
    table = [("the program itself", program),
             ("assay record --source=timer", [assay, "record", "-q", "--source=timer", "-o", profile, "--", *program]),
             ("assay stat", [assay, "stat", "-q", "--", *program]),
             ("assay blocks", [assay, "blocks", "-q", "--", *program]),
             ("assay reuse --exact", [assay, "reuse", "-q", "--exact", "--", *program]),
             ("assay record", [assay, "record", "-q", "-o", profile, "--", *program]),
             ("assay compare, twelve samplers", [assay, "compare", "-q", "--", *program])]
    if shutil.which("valgrind"):
        for tool in ("callgrind", "cachegrind"):
            table.append((f"valgrind --tool={tool}", ["valgrind", "-q", f"--tool={tool}", f"--{tool}-out-file={folder}/out", *program]))
        table.append(("callgrind with caches, branches", ["valgrind", "-q", "--tool=callgrind", "--cache-sim=yes",
                                                          "--branch-sim=yes", f"--callgrind-out-file={folder}/out", *program]))
    if drrun:
        table.append(("drcachesim", [drrun, "-t", "drmemtrace", "--", *program]))
        table.append(("drcachesim, reuse_distance", [drrun, "-t", "drmemtrace", "-tool", "reuse_distance", "--", *program]))
    return table


def seconds(command):
    """(clock, processor), or None where the command failed."""
    begin, before = time.monotonic(), os.times()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = os.times()
    processor = sum(after[2:4]) - sum(before[2:4])
    return (time.monotonic() - begin, processor) if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--size", default="20", help="the demo's argument")
    parser.add_argument("--drrun", default=shutil.which("drrun"), help="DynamoRIO's (default: that of PATH, if there is one)")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    program = [os.path.join(build, "workloads", "demo"), options.size]
    counted = json.loads(subprocess.check_output([os.path.join(build, "assay"), "stat", "--json", "--", *program],
                                                 stderr=subprocess.DEVNULL))["instructions"]
    with tempfile.TemporaryDirectory() as folder:
        table = commands(build, program, folder, options.drrun)
        best = {}
        for _ in range(3):
            for name, command in table:
                times = seconds(command)
                if times is not None:
                    best[name] = tuple(map(min, best.get(name, times), times))
    print(f"demo {options.size}: {counted:,} instructions")
    for name, _ in table:
        print(f"{name:34} " + (f"{best[name][0]:8.2f} s {counted / best[name][0] / 1e6:9.1f} MIPS {best[name][1]:8.2f} s of processor time"
                               if name in best else "failed"))


if __name__ == "__main__":
    sys.exit(main())
