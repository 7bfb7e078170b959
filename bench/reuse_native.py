#!/usr/bin/env python3
"""How accurate `assay reuse --source=timer` is on RIBench, on this machine, and what it costs.

usage: bench/reuse_native.py [--seconds S] [--only TEXT] [--csv FILE] [--build DIR]
       bench/reuse_native.py --intervals [--seconds S]

Accuracy: the patterns of ReuseTracker's Tables 6.5 to 6.7 with the paper's own sizes, short (1,000 to 16,000 elements) and long
(a hundred times that), with 1 and 2 threads, without and with invalidations (case 2), each thread for about S seconds. S is that of
suite/ribench_run, against what the program defines. `apart` is the same against what it does if its threads are at unrelated places, as
nothing makes them keep pace: then not every store to the shared array finds that of another thread before it (expected_apart); it
differs for two threads with such stores alone. `counted` is the share of reuses whose accesses were all counted; the rest is
time and a rate. Goal: 85 % on average.

Cost: each run alone and under Assay in turns. `time` is the ratio of elapsed times, on a machine that others may use;
`stood still` is what the program lost by samples in the run under Assay itself, as a ratio; `processor` is the ratio of the
program's own processor time. `memory_mib` is the program's peak memory alone, `assay_mib` Assay's while the program runs and
`after_mib` behind that, when it reads names and lines from the program's files; `memory` the peak of both at the same time by the program's
alone. Goal: 1.5; what Assay needs does not depend on the program's size, so programs of a few MiB have more.

--intervals: the cost of one program (long, bell-shaped, 2 threads) by the interval between samples, as --rate and --budget set
it.
"""
import argparse
import csv
import importlib.machinery
import importlib.util
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ACCESSES_A_SECOND = 4e9  # of RIBench, about: for the length of runs alone


def load_suite():
    loader = importlib.machinery.SourceFileLoader("ribench_run", str(ROOT / "suite" / "ribench_run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("ribench_run", loader))
    loader.exec_module(module)
    return module


def cases(suite):
    """Name, turns, sizes, stores to the shared array, threads."""
    for threads in (1, 2):
        for (length, pattern), turns in suite.PATTERNS.items():
            scale = 1 if length == "short" else 100
            yield f"{length} {pattern}, {threads}", turns, [n * scale for n in suite.SIZES], 0, threads
        for pattern in ("bell-shaped", "decreasing"):
            inv = suite.INVALIDATIONS[2]
            sizes = [n - inv // 2 for n in suite.SIZES]
            yield f"short {pattern} case 2, {threads}", suite.PATTERNS["short", pattern], sizes, inv, threads


def expected_apart(suite, case, outer):
    """As suite.expected, of threads that are each at any place of a round. An element of the shared array is stored to once a turn by each.
    If the others' turns are longer, they do not always come in between."""
    _, turns, sizes, inv, threads = case
    bins, lengths = suite.expected(turns, sizes, inv, threads, outer), [inv + size for size in sizes]
    whole = sum(n * length for n, length in zip(turns, lengths))
    for n, own in zip(turns, lengths) if threads > 1 and inv else ():
        kept = sum(m * other / whole * max(0, 1 - own / other) for m, other in zip(turns, lengths)) ** (threads - 1)
        at = suite.bin_of(own - 1)
        bins[at] = bins.get(at, 0) + outer * n * inv * kept
    return bins


def memory_of(pid):
    """What a process has, and the most that it had, in KiB; None if it has ended. Unlike what wait4 returns, without children and without
    this script, whose copy the process was at first."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
        found = dict(line.split()[:2] for line in text.splitlines() if line.startswith("Vm"))
        return int(found["VmRSS:"]), int(found["VmHWM:"])
    except (OSError, KeyError):
        return None


def child_of(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
    except (OSError, IndexError):
        return None


def watch_memory(pid):
    """Follows a process and its child, the program, until it ends. Peaks in KiB: of the program, of the process while there is a program,
    of the process at any time, of both together."""
    program, during, ever, both = 0, 0, 0, 0
    while own := memory_of(pid):
        child = memory_of(child_of(pid) or "none")
        ever = max(ever, own[1])
        if child:
            program, during, both = max(program, child[1]), max(during, own[1]), max(both, own[0] + child[0])
        time.sleep(0.005)
    return program, during, ever, both


def measure(command):
    """Elapsed time, processor time, peak memory in KiB."""
    with tempfile.NamedTemporaryFile() as times:
        shell = ["bash", "-c", 'TIMEFORMAT="%U %S"; { time "$@" >/dev/null; } 2>"$0"', times.name, *command]
        start = time.monotonic()
        process = subprocess.Popen(shell, stderr=subprocess.DEVNULL)
        memory = watch_memory(process.pid)
        if process.wait():
            sys.exit(f"{command}: status {process.returncode}")
        return time.monotonic() - start, sum(map(float, pathlib.Path(times.name).read_text().split())), memory[0]


def measure_assay(build, options, command):
    """Elapsed time, what Assay found, and peaks of memory."""
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        start = time.monotonic()
        process = subprocess.Popen([str(build / "assay"), "reuse", "--source=timer", *options, "--json", "-q", "-o", result.name, "--",
                                    *command], stdout=subprocess.DEVNULL)
        memory = watch_memory(process.pid)
        if process.wait():
            sys.exit(f"{command}: status {process.returncode}")
        return time.monotonic() - start, json.loads(pathlib.Path(result.name).read_text()), memory


def run(suite, build, case, seconds):
    name, turns, sizes, inv, threads = case
    outer = max(2, round(seconds * ACCESSES_A_SECOND / sum(n * (inv + size) for n, size in zip(turns, sizes))))
    words = [str(w) for pair in zip(turns, sizes) for w in pair]
    command = [str(build / "workloads" / "ribench"), str(threads), str(outer), str(inv), *words]
    alone, processor, memory = measure(command)
    elapsed, found, (_, during, ever, both) = measure_assay(build, [], command)
    native, histogram = found["native"], suite.histogram(found["time_histogram"])
    truth = suite.expected(turns, sizes, inv, threads, outer)
    counted = sum(b["count"] * b["counted"] for b in found["time_histogram"]) / max(1, sum(histogram.values()))
    return {"case": name, "threads": threads, "outer": outer, "inv": inv, "samples": found["samples"],
            "effective": round(found["watched"]["effective"]), "accuracy": round(suite.accuracy(histogram, truth), 4),
            "apart": round(suite.accuracy(histogram, expected_apart(suite, case, outer)), 4),
            "counted": round(counted, 3), "rates": native["rates"],
            "accesses_per_ns": round(native["accesses_per_nanosecond"], 3),
            "time": round(elapsed / alone, 3),
            "stood_still": round(found["seconds"] / max(1e-9, found["seconds"] - native["stopped_seconds"]), 3),
            "processor": round(native["processor_seconds"] / max(1e-9, processor), 3),
            "memory_mib": round(memory / 1024, 1), "assay_mib": round(during / 1024, 1), "after_mib": round(ever / 1024, 1),
            "memory": round(both / memory, 2)}


def by_interval(suite, build, seconds):
    turns, sizes, threads = suite.PATTERNS["long", "bell-shaped"], [100 * n for n in suite.SIZES], 2
    outer = max(2, round(seconds * ACCESSES_A_SECOND / sum(n * size for n, size in zip(turns, sizes)) / threads))
    command = [str(build / "workloads" / "ribench"), str(threads), str(outer), "0"] + [str(w) for pair in zip(turns, sizes) for w in pair]
    print(f"{'samples a second':>16} {'budget':>7} {'samples':>8} {'time':>6} {'stood still':>12} {'processor':>10} {'memory':>7}")
    for rate, budget in ((10, 20), (50, 20), (200, 5), (200, 10), (200, 20), (200, 40), (1000, 20)):
        alone, processor, memory = measure(command)
        elapsed, found, (_, during, ever, both) = measure_assay(build, [f"--rate={rate}", f"--budget={budget}"], command)
        native = found["native"]
        print(f"{rate:16} {budget:5} % {found['samples']:8} {elapsed / alone:6.2f} "
              f"{found['seconds'] / max(1e-9, found['seconds'] - native['stopped_seconds']):12.2f} "
              f"{native['processor_seconds'] / max(1e-9, processor):10.2f} {both / memory:7.2f}  (Assay {during / 1024:.1f} MiB, {ever / 1024:.1f} "
              f"behind the run; the program {memory / 1024:.1f})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--only", default="", help="only the cases with this in their name")
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--intervals", action="store_true", help="only the cost, by interval")
    options = parser.parse_args()
    suite, rows = load_suite(), []
    if options.intervals:
        by_interval(suite, options.build, options.seconds)
        return
    for case in cases(suite):
        if options.only in case[0]:
            rows.append(run(suite, options.build, case, options.seconds))
            row = rows[-1]
            print(f'{row["case"]:36} {100 * row["accuracy"]:5.1f} % ({100 * row["apart"]:5.1f} %)  counted {100 * row["counted"]:5.1f} %  '
                  f'{row["samples"]:5} samples, worth {row["effective"]:4}  time {row["time"]:.2f}, stood still '
                  f'{row["stood_still"]:.2f}, processor {row["processor"]:.2f}, memory {row["memory"]:.2f} (Assay {row["assay_mib"]:.1f} MiB, '
                  f'{row["after_mib"]:.1f} behind the run, the program {row["memory_mib"]:.1f})', flush=True)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    for threads in (1, 2):
        for name in ("accuracy", "apart"):
            found = [row[name] for row in rows if row["threads"] == threads]
            if found:
                print(f"{threads} thread(s), {name}: {100 * statistics.mean(found):.1f} % on average, {100 * min(found):.1f} % at least")
    print(f'time {statistics.median(row["time"] for row in rows):.2f}, stood still '
          f'{statistics.median(row["stood_still"] for row in rows):.2f} (medians)')


main()
