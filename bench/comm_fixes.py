#!/usr/bin/env python3
"""The false sharing that ReuseTracker's authors removed from Synchrobench (Sasongko et al., 6.5.6), found and removed again.

usage: bench/comm_fixes.py [--threads N] [--pairs N] [--milliseconds N] [--only NAME,…] [--native-only] SYNCHROBENCH [BUILD]

SYNCHROBENCH is a copy of github.com/gramoli/synchrobench outside of this tree. Each program is built twice in a temporary folder: as it is, and
with the structures that false sharing was found in on lines of their own (nodes of the lists; counters of each thread). The red-black tree
of today's Synchrobench has that padding in its nodes already: there it is taken out of the first one. Then
 - what `assay comm` says of the first: lines that moved, the part that is false sharing, where it is;
 - operations for a million cycles of the model before and after, each thread with the same number: what the fix is said to bring;
 - operations a second on this machine, runs in turns: what it brings. Threads fight for a line only while both have a processor.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST, TABLE, TREE, STM = "src/linkedlists/lazy-list", "src/hashtables/lockbased-ht", "src/trees/rbtree", "src/utils/estm-0.3.0"
LIST_FILES = [f"{LIST}/{name}.c" for name in ("linkedlist-lock", "coupling", "lazy", "intset")]
APART = "__attribute__((aligned(64)))"


def threads_apart(test):
    return [(test, "} thread_data_t;", f"}} {APART} thread_data_t;"),
            (test, r"malloc(nb_threads * sizeof(thread_data_t))", "aligned_alloc(64, nb_threads * sizeof(thread_data_t))")]


NODES = [(f"{LIST}/linkedlist-lock.h", "} node_l_t;", "  char apart[64];\n} node_l_t;")]
# name: sources, flags, words of the program, edits before, edits after, the paper's gain in %
PROGRAMS = {
    "MUTEX-lazy-list": ([*LIST_FILES, f"{LIST}/test.c"], ["-std=gnu89", "-DMUTEX"], "-i 64 -r 128 -u 50", [],
                        [*NODES, *threads_apart(f"{LIST}/test.c")], 46),
    "SPIN-lazy-list": ([*LIST_FILES, f"{LIST}/test.c"], ["-std=gnu89"], "-i 64 -r 128 -u 50", [],
                       [*NODES, *threads_apart(f"{LIST}/test.c")], 58),
    "MUTEX-hashtable": ([*LIST_FILES, f"{TABLE}/hashtable-lock.c", f"{TABLE}/test.c"], ["-std=gnu89", "-DMUTEX"],
                        "-i 256 -r 512 -u 50 -l 4", [], [*NODES, *threads_apart(f"{TABLE}/test.c")], 6),
    "SPIN-hashtable": ([*LIST_FILES, f"{TABLE}/hashtable-lock.c", f"{TABLE}/test.c"], ["-std=gnu89"],
                       "-i 256 -r 512 -u 50 -l 4", [], [*NODES, *threads_apart(f"{TABLE}/test.c")], 39),
    "ESTM-rbtree": ([f"{TREE}/intset.c", f"{TREE}/test.c", *(f"{STM}/src/{name}.c" for name in ("stm", "mod_local", "mod_mem",
                                                                                              "mod_print", "mod_stats", "wrappers", "gc"))],
                    ["-std=gnu89", "-DSTM", "-DESTM", f"-I{STM}/include", f"-I{STM}/src"], "-i 64 -r 128 -u 50",
                    [(f"{TREE}/rbtree.h", "  char dummy[64];\n} node_t;", "} node_t;")], threads_apart(f"{TREE}/test.c"), 87),
}
OPERATIONS = 1000  # of each thread in the model
THREADS = 2  # of this machine; the model may have more


def build(source, folder, name, edits, most):
    """Compiles a copy with these edits, each of which must fit once. A thread ends after `most` operations."""
    files, flags = PROGRAMS[name][:2]
    copy = pathlib.Path(folder, "source")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source / "c-cpp", copy)
    for path, old, new in edits:
        text = (copy / path).read_text()
        if text.count(old) != 1:
            raise SystemExit(f"{path}: not as expected: {old!r} is there {text.count(old)} times")
        (copy / path).write_text(text.replace(old, new))
    test = copy / files[-1 if name != "ESTM-rbtree" else 1]
    text = test.read_text()
    for until in ("stop == 0", "AO_load_full(&stop) == 0"):
        text = text.replace(f"({until})", f"({until} && left-- > 0)")
    test.write_text(f"static __thread long left = {most};\n" + text)
    program = str(pathlib.Path(folder, f"{name}-{'after' if edits == PROGRAMS[name][4] else 'before'}-{most}"))
    subprocess.run(["gcc", "-O3", "-g", "-w", "-DNDEBUG", "-DTLS", "-D_REENTRANT", "-fno-strict-aliasing", "-fcommon", "-Isrc/hashtables",
                    "-Isrc/atomic_ops", "-Iinclude", *flags, *files, "-o", program, "-lpthread"], check=True, cwd=copy)
    return program


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
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build")
    args = parser.parse_args()
    assay = str(args.build / "assay")
    print("| program | lines that moved | false sharing | most of it on | gain: the model | this machine (pairs of runs) | the paper |")
    print("|---|---|---|---|---|---|---|")
    for name in args.only.split(","):
        words, before, after, paper = PROGRAMS[name][2].split(), *PROGRAMS[name][3:]
        many, few = [*words, "-t", str(args.threads)], [*words, "-t", str(THREADS)]
        with tempfile.TemporaryDirectory() as folder:
            programs = [build(args.source, folder, name, edits, 1 << 60) for edits in (before, after)]
            said, promise = "– | – | –", "–"
            if not args.native_only:
                short = [build(args.source, folder, name, edits, OPERATIONS) for edits in (before, after)]
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
