#!/usr/bin/env python3
"""ReuseTracker's own programs (sections 6.5.5 to 6.5.7): their reuse distances, and one of them made faster by what the report says.

usage: bench/reuse_papers.py FOLDER [BUILD]

FOLDER holds the programs, ready to run and with debugging information; those that are not there are left out:

  blackscholes, streamcluster, swaptions, freqmine                  PARSEC 3.0, with threads
  bfs, backprop, hotspot, needle                                    Rodinia, with OpenMP
  MUTEX-lazy-list, SPIN-lazy-list, MUTEX-hashtable, SPIN-hashtable  Synchrobench
  backprop-before, backprop-after                                   backprop as it is, and with the loops of bpnn_layerforward and
                                                                    bpnn_adjust_weights exchanged, as the report advises. Both repeat the
                                                                    training as often as REPEATS says, call `checked`, which does nothing,
                                                                    and print "sum" and the sum of the first layer's weights

Of the last two are printed the advice, what `whatif` promises if these functions had no misses of the first level, what the change
brings in the model, and what it brings here, by processor time, runs in turns.
"""
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

THREADS = 4
CORE = ["--core", "zen4-like", "--set", "memory.llc.size=1M", "--set", "memory.llc.ways=16"]
SMALL = "8192"  # units of the first layer, in the model
HERE = (("8192", 100), ("65536", 20), ("524288", 4))  # … and here, with how many trainings


def graph(path, nodes=2000):
    """As Rodinia's bfs reads it: nodes with their first edge and number of edges, the source, edges with weights."""
    draw = random.Random(1)
    edges = [[draw.randrange(nodes) for _ in range(draw.randrange(2, 10))] for _ in range(nodes)]
    at, lines = 0, [str(nodes)]
    for out in edges:
        lines.append(f"{at} {len(out)}")
        at += len(out)
    lines += ["", "0", "", str(at)] + [f"{to} 1" for out in edges for to in out]
    path.write_text("\n".join(lines) + "\n")


def inputs(folder):
    graph(folder / "graph")
    draw = random.Random(2)
    (folder / "options").write_text("1000\n" + "".join("42.00 40.00 0.1000 0.00 0.20 0.50 C 0.00 4.759423036851750\n" for _ in range(1000)))
    (folder / "baskets").write_text("".join(" ".join(map(str, sorted({int(draw.paretovariate(1)) for _ in range(12)}))) + "\n"
                                            for _ in range(600)))
    for name in ("temp", "power"):
        (folder / name).write_text("".join(f"{draw.uniform(320, 340) if name == 'temp' else draw.uniform(0, 0.01):.6f}\n" for _ in range(64 * 64)))


def programs():
    t = str(THREADS)
    lists = ["-t", t, "-d", "300", "-u", "50", "-i", "64", "-r", "128"]
    return {"blackscholes": [t, "options", "prices"], "streamcluster": ["3", "5", "3", "64", "64", "20", "none", "clusters", "2"],
            "swaptions": ["-ns", "8", "-sm", "40", "-nt", t], "freqmine": ["baskets", "4"], "bfs": [t, "graph"], "backprop": ["2048"],
            "hotspot": ["64", "64", "4", t, "temp", "power", "out"], "needle": ["128", "10", t], "MUTEX-lazy-list": lists,
            "SPIN-lazy-list": lists, "MUTEX-hashtable": lists, "SPIN-hashtable": lists}


def functions(pairs):
    """The functions of the pairs that most reuses are of, by reuses."""
    counts = {}
    for pair in pairs:
        name = (pair["reuse"].get("function") or "?").split("(")[0]
        counts[name] = counts.get(name, 0) + pair["count"]
    return ", ".join(sorted(counts, key=lambda name: -counts[name])[:5])


def show(assay, name, program, arguments, folder):
    out = folder / "reuse.json"
    made = subprocess.run([assay, "reuse", "-q", "--json", "-o", out, "--", program, *arguments], cwd=folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": str(THREADS)}, timeout=600)
    if made.returncode:
        print(f"{name}: status {made.returncode}: {made.stderr.decode().strip()[-200:]}")
        return
    found = json.loads(out.read_text())
    shared, touches = found.get("shared") or {}, max(1, found["touches"])
    near = sum(b["count"] for b in found["histogram"] if b["lo"] < 512)
    print(f"{name}: {found['accesses']:,} accesses, {found['threads']} threads; {100 * near / max(1, found['reuses']):.1f} % of the reuses in "
          f"threads within 512 lines; invalidated {100 * found['invalidations'] / touches:.2f} % of the uses; {shared.get('reuses', 0):,} reuses "
          f"between threads, {shared.get('false_sharing', 0):,} of them false sharing", flush=True)
    print(f"    in threads: {functions(found['pairs'])}; between threads: {functions(shared.get('pairs', []))}")
    for advice in found["advice"][:2]:
        print(f"    {advice['text']}")


# ---- backprop made faster ----


def ask(assay, verb, program, *options):
    made = subprocess.run([assay, verb, "-q", "--json", *CORE, "--from", "bpnn_train_kernel", "--to", "checked", *options, "--", program, SMALL], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "REPEATS": "1"})
    return json.loads(made.stdout)


def time_of(program, size, repeats):
    made = subprocess.Popen([program, size], stdout=subprocess.PIPE, env={**os.environ, "REPEATS": str(repeats)})
    text = made.stdout.read()
    _, status, usage = os.wait4(made.pid, 0)
    if status:
        sys.exit(f"{program}: status {status}")
    return usage.ru_utime, re.search(rb"sum (\S+)", text)[1]


def make_faster(assay, before, after):
    for name, program in (("before", before), ("after", after)):
        found = ask(assay, "reuse", program)
        print(f"backprop {name}: {found['caches'][0]['misses']:,} misses of the L1 in {found['accesses']:,} accesses, "
              f"{found['line_bytes_used']:.0f} of 64 bytes of a line used; advice: "
              f"{'; '.join(a['text'] for a in found['advice'][:1]) or 'none'}", flush=True)
    places = ("bpnn_layerforward", "bpnn_adjust_weights")
    promised = ask(assay, "whatif", before, "--together", *(w for p in places for w in ("--ideal", f"ST-L1+ST-LLC@{p}")))
    best = max(experiment["speedup"] for experiment in promised["experiments"])
    print(f"whatif:  without the misses of both functions {best:.2f} times as fast: the most that an order of loops can bring")
    cycles = [ask(assay, "compare", p, "--samplers", "none")["counters"]["elapsed_cycles"] for p in (before, after)]
    print(f"model:   the change makes the training {cycles[0] / cycles[1]:.2f} times as fast")
    for size, repeats in HERE:
        base = [time_of(p, size, 0)[0] for p in (before, after)]
        runs = [(time_of(before, size, repeats), time_of(after, size, repeats)) for _ in range(3)]
        ratios = sorted((a[0] - base[0]) / max(1e-9, b[0] - base[1]) for a, b in runs)
        print(f"here:    {statistics.median(ratios):.2f} times as fast by processor time with {size} units ({ratios[0]:.2f} to {ratios[-1]:.2f} in "
              f"{len(runs)} pairs of runs, load {os.getloadavg()[0]:.0f}); the same result: {all(a[1] == b[1] for a, b in runs)}", flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    given = pathlib.Path(sys.argv[1]).resolve()
    assay = str(pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "build", "assay").resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        inputs(folder)
        for program, arguments in programs().items():
            if (given / program).exists():
                show(assay, program, given / program, arguments, folder)
    pair = [given / f"backprop-{which}" for which in ("before", "after")]
    if all(program.exists() for program in pair):
        make_faster(assay, *pair)


main()
