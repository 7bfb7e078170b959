#!/usr/bin/env python3
"""What `assay comm --source=timer` costs the program, and whether it finds the same on each run.

usage: bench/comm_native.py [--runs N] [--rate HZ[,HZ…]] [--only NAME[,NAME…]] [BUILD]

For each program, runs of it alone and under Assay in turns; the program's own processor time (user and system, of all its
threads) is compared, which other load on the machine disturbs least. Beside the ratio: samples and traps a second of
processor time, what Assay itself says it spent, the peak memory of Assay (its process alone, without the program), the part of it that is its own (the rest
is code, which lies in the page cache once for all processes) and of the program by itself,
and the share of false sharing of each run. Goal: 1.05 times the time, 1.10 times the memory. With several rates there is a row for each, with the
microseconds between two samples of a thread; a run without Assay stands beside each with it.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def programs(build):
    sharing = str(build / "workloads" / "sharing")
    blob = "/usr/lib/x86_64-linux-gnu/libc.so.6"
    return {
        "true sharing": [sharing, "write", "-t", "2", "-n", "150000000", "-f", "0.5"],
        "false sharing": [sharing, "false", "-t", "2", "-n", "100000000", "-f", "0.5"],
        "pairs": [sharing, "pairs", "-t", "4", "-n", "100000000", "-f", "0.5"],
        "nothing shared": [sharing, "write", "-t", "2", "-n", "300000000", "-f", "0"],
        "xz -T2": ["sh", "-c", f"cat {blob} {blob} | xz -T2 -2 --block-size=1MiB -c >/dev/null"],
        "zstd -T2": ["sh", "-c", f"cat {blob} {blob} {blob} {blob} | zstd -T2 -12 -c >/dev/null"],
    }


def peak_of(pid, what="VmHWM"):
    """Peak memory of a process in KiB, since it began its program; 0: it is gone. What wait4 tells also counts what the process was
    before its program, and the children that it waited for. RssAnon is what it has now that is not of files."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return max([int(line.split()[1]) for line in lines if line.startswith(what)], default=0)


def children_of(pid):
    try:
        return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def measure(command, before=()):
    """The processor time of a program, as a shell around it measures it, behind the words of `before`; and the peak memory in KiB of
    what was started here, its own part of that, and of the largest process below it."""
    with tempfile.TemporaryDirectory() as folder:
        times = pathlib.Path(folder, "times")
        shell = ["bash", "-c", 'TIMEFORMAT="%U %S"; { time "$@" >/dev/null 2>&1; } 2>"$0"', str(times), *command]
        process = subprocess.Popen([*before, *shell], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        own = private = below = 0
        while process.poll() is None:
            own = max(own, peak_of(process.pid))
            private = max(private, peak_of(process.pid, "RssAnon"))
            todo = children_of(process.pid)
            while todo:
                pid = todo.pop()
                below = max(below, peak_of(pid))
                todo += children_of(pid)
            time.sleep(0.02)
        if process.returncode:
            sys.exit(f"{command}: status {process.returncode}")
        return sum(map(float, times.read_text().split())), own, private, below


def measure_watched(assay, command, rate):
    """The same under Assay, and what Assay says."""
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        before = [assay, "comm", "--source=timer", f"--rate={rate}", "--json", "-o", result.name, "--"]
        seconds, memory, private, _ = measure(command, before)
        return seconds, memory, private, json.loads(pathlib.Path(result.name).read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rate", default="997", help="one or several, with commas between them")
    parser.add_argument("--only", default="", help="programs whose name contains one of these")
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build")
    args = parser.parse_args()
    assay = str(args.build / "assay")
    print("| program | us apart | time | samples/s | traps | Assay's own estimate | MiB of Assay | … its own | MiB of the program | false sharing, by run |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, command in programs(args.build).items():
        if any(part in name for part in args.only.split(",")):
            for rate in args.rate.split(","):
                print(row_of(assay, name, command, float(rate), args.runs), flush=True)


def row_of(assay, name, command, rate, runs):
    bare, watched, results, memory, private, program = [], [], [], [], [], []
    for _ in range(runs):
        seconds, _, _, peak = measure(command)
        bare.append(seconds)
        program.append(peak)
        seconds, peak, own_peak, result = measure_watched(assay, command, rate)
        watched.append(seconds)
        memory.append(peak)
        private.append(own_peak)
        results.append(result)
    spent = [r["spent"] for r in results]
    samples = statistics.median(s["samples"] / max(s["processor_seconds"], 1e-9) for s in spent)
    traps = statistics.median(s["traps"] for s in spent)
    own = statistics.median((s["sampling_seconds"] + s["watching_seconds"]) / max(s["processor_seconds"], 1e-9) for s in spent)
    shares = ", ".join(f"{100 * r['false_sharing'] / r['total']:.0f} %" if r["total"] else "–" for r in results)
    return (f"| {name} | {1e6 / rate:.0f} | ×{statistics.median(watched) / statistics.median(bare):.3f} | {samples:.0f} | {traps:.0f} | "
            f"×{1 + own:.3f} | {statistics.median(memory) / 1024:.1f} | {statistics.median(private) / 1024:.1f} | {statistics.median(program) / 1024:.0f} | {shares} |")


if __name__ == "__main__":
    main()
