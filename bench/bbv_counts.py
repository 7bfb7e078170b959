#!/usr/bin/env python3
"""Counts of instructions against Valgrind's exp-bbv, function by function of the program itself.

    bench/bbv_counts.py [--build DIR] [--rounds N] [PROGRAM [ARGS…]]

By default bench/kernels with each of its cases. Functions of the program have to agree to the instruction. Libraries need not: Valgrind preloads
some of its own, and reports another processor, for which ld.so and libc choose other code; their sum is shown. Exits with 1 where a function
differs. _init, behind which calls of libraries go (.plt), and what the program executes at its end, of which the last may be cut, are left out.
"""
import argparse
import bisect
import collections
import json
import os
import subprocess
import sys
import tempfile

VALGRIND_BASE = 0x108000  # where Valgrind maps position-independent programs
INTERVAL = 1000           # what the program's end cuts off is not written: less than this
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
LIBRARIES, LEFT_OUT = "(libraries)", ("_init", "_fini", "__do_global_dtors_aux", "deregister_tm_clones")


def functions_of(program):
    """Addresses and names, sorted, and the end of the code."""
    lines = [line.split() for line in subprocess.check_output(["nm", "-n", program], text=True).splitlines()]
    found = [(int(line[0], 16), line[2]) for line in lines if len(line) == 3 and line[1] in "tT"]
    end = next(int(line[0], 16) for line in lines if len(line) == 3 and line[2] in ("__etext", "_etext", "etext", "_fini"))
    return found, end + 64


def counts_of_valgrind(command, folder):
    vectors, places = os.path.join(folder, "theirs.bb"), os.path.join(folder, "theirs.pc")
    subprocess.run(["valgrind", "-q", "--tool=exp-bbv", f"--interval-size={INTERVAL}", f"--bb-out-file={vectors}",
                    f"--pc-out-file={places}", *command], env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    functions, end = functions_of(command[0])
    starts = [address for address, _ in functions]
    with open(places, encoding="utf-8") as file:
        address_of = {int(parts[1]): int(parts[2], 16) - VALGRIND_BASE for parts in (line.split(":") for line in file if line.startswith("F:"))}
    counts = collections.Counter()
    with open(vectors, encoding="utf-8") as file:
        for pair in (pair for line in file if line.startswith("T") for pair in line[1:].split()):
            _, block, count = pair.split(":")
            address = address_of[int(block)]
            own = starts[0] <= address < end
            counts[functions[bisect.bisect_right(starts, address) - 1][1] if own else LIBRARIES] += int(count)
    return counts


def counts_of_assay(assay, command, folder):
    result = os.path.join(folder, "ours.json")
    subprocess.run([assay, "stat", "-q", "--json", "-o", result, "--functions=1000000", "--", *command], env=ENVIRONMENT, check=True,
                   stdout=subprocess.DEVNULL)
    counts = collections.Counter()
    with open(result, encoding="utf-8") as file:
        for row in json.load(file)["functions"]:
            name, own = row.get("function") or "", os.path.basename(row.get("module") or "") == os.path.basename(command[0])
            counts[LIBRARIES if not own else "_init" if name.endswith("plt") else name] += row["instructions"]
    return counts


def compare(assay, command):
    """Returns whether all functions of the program agree, but for the interval that its end cuts off."""
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = counts_of_assay(assay, command, folder), counts_of_valgrind(command, folder)
    own = (set(ours) | set(theirs)) - {LIBRARIES, *LEFT_OUT}
    differing = [name for name in own if ours[name] != theirs[name]]
    print(f"{' '.join([os.path.basename(command[0]), *command[1:]])}: {len(own)} functions, {sum(ours[name] for name in own)} instructions, "
          f"{len(differing)} differ; libraries {ours[LIBRARIES]}, exp-bbv {theirs[LIBRARIES]}")
    for name in differing:
        print(f"  {name}: {ours[name]}, exp-bbv {theirs[name]}")
    return not differing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build"))
    parser.add_argument("--rounds", default="100")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    commands = [options.command] if options.command else \
        [[os.path.join(build, "bench", "kernels"), case, options.rounds] for case in ("branches", "memory", "calls", "fp")]
    agree = [compare(os.path.join(build, "assay"), command) for command in commands]
    sys.exit(0 if all(agree) else 1)


if __name__ == "__main__":
    main()
