#!/usr/bin/env python3
"""The false sharing that ReuseTracker's authors removed from Synchrobench (Sasongko et al., 6.5.6), found and removed again.

usage: bench/comm_fixes.py [--threads N] [--pairs N] [--milliseconds N] [--only NAME,…] [--native-only] FOLDER [BUILD]

FOLDER holds the programs, ready to run and with debugging information; those that are not there are left out. Of each NAME there are four:
NAME-before; NAME-after with the structures that false sharing was found in on lines of their own (nodes of the lists; counters of each
thread); and both as NAME-before-short and NAME-after-short, whose threads end after 1,000 operations, for the model. The red-black tree of
today's Synchrobench has that padding in its nodes already: there it is taken out of the first one. Printed are
 - what `assay comm` says of the first: lines that moved, the part that is false sharing, where it is;
 - operations for a million cycles of the model before and after, each thread with the same number: what the fix is said to bring;
 - operations a second on this machine, runs in turns: what it brings. Threads fight for a line only while both have a processor.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# name: words of the program, the paper's gain in %
PROGRAMS = {
    "MUTEX-lazy-list": ("-i 64 -r 128 -u 50", 46),
    "SPIN-lazy-list": ("-i 64 -r 128 -u 50", 58),
    "MUTEX-hashtable": ("-i 256 -r 512 -u 50 -l 4", 6),
    "SPIN-hashtable": ("-i 256 -r 512 -u 50 -l 4", 39),
    "ESTM-rbtree": ("-i 64 -r 128 -u 50", 87),
}
THREADS = 2  # of this machine; the model may have more


def operations(output):
    return next(int(line.split(":")[1].split()[0]) for line in output.splitlines() if line.startswith("#txs"))


def run(command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def found(assay, folder, program, words):
    out = pathlib.Path(folder, "comm.json")
    run([assay, "comm", "--json", "-q", "--no-estimate", "--allocations", "-o", str(out), "--", program, *words, "-d", "4000"])
    known = json.loads(out.read_text())
    exact, objects = known["exact"], sorted(known["objects"], key=lambda row: -row["false_sharing"])
    pairs = sorted(known["code_pairs"], key=lambda row: -row["false_sharing"])
    where = objects[0]["name"].split(" < ")[0] if objects else "nothing"
    code = (pairs[0]["to"].get("function") or "?") if pairs else "?"
    return f"{exact['total']:,} | {100 * exact['false_sharing'] / max(exact['total'], 1):.0f} % | {where}, in {code}"


def modelled(assay, folder, core, program, words):
    """Operations for a million cycles of all threads."""
    out = pathlib.Path(folder, "model.json")
    said = run([assay, "compare", "-q", "--json", "--samplers=none", "--core", core, "-o", str(out), "--", program, *words, "-d", "4000"])
    return operations(said) / (json.loads(out.read_text())["counters"]["cycles"] / 1e6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--milliseconds", type=int, default=500)
    parser.add_argument("--core", default="zen4-like")
    parser.add_argument("--threads", type=int, default=16, help="in the model")
    parser.add_argument("--only", default=",".join(PROGRAMS))
    parser.add_argument("--native-only", action="store_true")
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build")
    args = parser.parse_args()
    assay = str(args.build / "assay")
    print("| program | lines that moved | false sharing | most of it on | gain: the model | this machine (pairs of runs) | the paper |")
    print("|---|---|---|---|---|---|---|")
    for name in args.only.split(","):
        (words, paper), programs = PROGRAMS[name], [args.programs / f"{name}-{which}" for which in ("before", "after")]
        if not all(program.exists() for program in programs):
            continue
        many, few = [*words.split(), "-t", str(args.threads)], [*words.split(), "-t", str(THREADS)]
        with tempfile.TemporaryDirectory() as folder:
            said, promise = "– | – | –", "–"
            if not args.native_only:
                short = [f"{program}-short" for program in programs]
                said = found(assay, folder, short[0], many)
                slow, fast = (modelled(assay, folder, args.core, program, many) for program in short)
                promise = f"{100 * (fast / slow - 1):.0f} %"
            ratios = sorted(b / a for a, b in ([operations(run([program, *few, "-d", str(args.milliseconds)])) for program in programs]
                                               for _ in range(args.pairs)))
            print(f"| {name} | {said} | {promise} | {100 * (statistics.median(ratios) - 1):.0f} % "
                  f"({100 * (ratios[0] - 1):.0f} to {100 * (ratios[-1] - 1):.0f}) | {paper} % |", flush=True)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
