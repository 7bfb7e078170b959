#!/usr/bin/env python3
"""Native sampling held against the bare program and against perf record, side by side.

    bench/native.py shares [PROGRAM…]   function shares by the timer source and by `perf record -e cpu-clock`
    bench/native.py cost [PROGRAM…]     run time at 4 kHz: bare, timer source, perf record

Runs alternate, so that what the machine does besides meets all of them alike. `shares` gives the largest difference of
any function's share, and the same between two halves of perf's own runs: what chance alone makes. Not part of bench/run.
"""
import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

RATE = 4000
LIMIT = 0.02  # of the run time, and of a function's share


def text_file(folder, megabytes):
    path = os.path.join(folder, f"text{megabytes}")
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10))) for _ in range(5000)]
    with open(path, "w", encoding="utf-8") as file:
        while file.tell() < megabytes << 20:
            file.write(" ".join(chance.choices(words, k=12)) + "\n")
    return path


def source_file(folder):
    path = os.path.join(folder, "functions.c")
    with open(path, "w", encoding="utf-8") as file:
        for i in range(1500):
            file.write(f"int f{i}(int *a, int n) {{ int s = {i}; for (int i = 0; i < n; i++) s += a[i] * {i} ^ s >> "
                       f"{i % 31}; return s; }}\n")
    return path


def programs(folder, build):
    text, short, code = text_file(folder, 24), text_file(folder, 3), source_file(folder)
    victim = os.path.join(build, "tests/unit/native/native_victim")
    table = {
        "perl": ["perl", "-e", "my %h; $h{$_ % 1000} += $_ * 2 for 1 .. 2.5e7; print scalar keys %h"],
        "python": [sys.executable, "-c", "d = {}\nfor i in range(14000000):\n    d[i & 1023] = d.get(i & 1023, 0) + i * 3"],
        "xz": ["xz", "-3", "-k", "-c", short],
        "xz-threads": ["xz", "-3", "-T2", "--block-size=1MiB", "-k", "-c", short],
        "gzip": ["gzip", "-7", "-c", text],
        "sqlite3": ["sqlite3", ":memory:", "with recursive n(i) as (select 1 union all select i + 1 from n where i < "
                    "5000000) select sum(i % 7), count(distinct i % 1000), max(i * 31 % 1009) from n;"],
        "sort-threads": ["sort", "--parallel=2", "-S", "200M", text],
        "awk": ["awk", "{ for (i = 1; i <= NF; i++) n[$i]++; m[$1 $2] = length($0) } END { for (w in n) s += n[w]; print s }", text],
        "gcc": ["gcc", "-O2", "-S", "-o", "/dev/null", code],
        "sha256sum": ["sha256sum", *[text] * 24],
        "bzip2": ["bzip2", "-k", "-c", short, short, short, short],
        "threads": [victim, "threads", "64", "140"],
        "shares": [victim, "shares", "9000"],
    }
    return {name: argv for name, argv in table.items() if shutil.which(argv[0])}


def run(argv):
    """Runs it; the largest resident set in MiB of the started process."""
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        status = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status[1])
    if process.returncode != 0:
        sys.exit(f"bench/native.py: {' '.join(argv)[:200]} ended with {process.returncode}")
    return status[2].ru_maxrss / 1024


class Samplers:
    def __init__(self, build, folder, clocks):
        self.clocks = str(clocks)
        self.driver = os.path.join(build, "tests/unit/native/native_shares")
        self.folder = folder
        self.data = os.path.join(folder, "perf.data")
        self.victim = os.path.join(build, "tests/unit/native/native_victim")
        self.seconds = os.path.join(folder, "seconds")

    def timed(self, argv):
        return [self.victim, "time", self.seconds, *argv]

    def times(self):
        with open(self.seconds, encoding="utf-8") as file:
            return tuple(float(word) for word in file.read().split())

    def ours(self, argv, *options):
        return [self.driver, "-r", str(RATE), "-c", self.clocks, *options, *argv]

    def perf(self, argv):
        return ["perf", "record", "-q", "-N", "-B", "-e", "cpu-clock", "-F", str(RATE), "-o", self.data, "--", *argv]

    def read(self, argv):
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        shares, info = {}, {}
        for line in done.stdout.decode(errors="replace").splitlines():
            if line.startswith("# samples"):
                words = line[2:].split()
                info = {words[i]: float(words[i + 1]) for i in range(0, len(words) - 1, 2)}
        for line in done.stdout.decode(errors="replace").splitlines():
            first = line.split(" ", 1)
            try:
                shares[first[1]] = float(first[0])
            except (ValueError, IndexError):
                pass
        return shares, info

    def ours_shares(self, argv):
        return self.read([self.driver, "-r", str(RATE), "-c", self.clocks, "--", "sh", "-c", 'exec "$@" >/dev/null', "sh", *argv])

    def perf_shares(self, argv):
        subprocess.run(self.perf(["sh", "-c", 'exec "$@" >/dev/null', "sh", *argv]), check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self.read([self.driver, "-i", self.data])


def mean_shares(runs):
    names = set().union(*runs)
    return {name: statistics.mean(run.get(name, 0) for run in runs) for name in names}


def largest(a, b):
    return max(((abs(a.get(name, 0) - b.get(name, 0)), name) for name in set(a) | set(b)), default=(0, "-"))


def compare_shares(table, samplers, rounds):
    results = []
    for name, argv in table.items():
        ours, theirs, samples, lost = [], [], 0, 0
        for _ in range(rounds):
            shares, info = samplers.ours_shares(argv)
            ours.append(shares)
            samples += info.get("samples", 0)
            lost += info.get("lost", 0)
            theirs.append(samplers.perf_shares(argv)[0])
        difference, function = largest(mean_shares(ours), mean_shares(theirs))
        chance = largest(mean_shares(theirs[::2]), mean_shares(theirs[1::2]))[0] if rounds > 1 else float("nan")
        results.append({"program": name, "difference": difference, "function": function, "chance": chance,
                        "samples": samples, "lost": lost, "good": difference <= LIMIT})
        print(f"{name:14} largest difference {100 * difference:5.2f} points ({function}); perf with itself "
              f"{100 * chance:5.2f}; {samples:.0f} samples, {lost:.0f} lost", flush=True)
    return results


def compare_cost(table, samplers, rounds):
    """The program's own seconds, of the clock and of the processors, without what the recorder takes for itself."""
    results, total = [], 3
    for name, argv in table.items():
        timed = samplers.timed(argv)
        kinds = {"bare": timed, "ours": samplers.ours(timed, "-q"), "perf": samplers.perf(timed)}
        order, seen, memory = list(kinds), {kind: [] for kind in kinds}, {}
        for i in range(rounds):
            for kind in order[i % total:] + order[:i % total]:
                memory[kind] = max(memory.get(kind, 0), run(kinds[kind]))
                seen[kind].append(samplers.times())
        row = {"program": name, "ours_mib": memory["ours"], "perf_mib": memory["perf"]}
        for at, what in enumerate(("wall", "cpu")):
            for how, pick in (("median", statistics.median), ("least", min)):
                value = {kind: pick(times[at] for times in runs) for kind, runs in seen.items()}
                row[f"bare_{what}_{how}"] = value["bare"]
                row[f"ours_{what}_{how}"] = value["ours"] / value["bare"]
                row[f"perf_{what}_{how}"] = value["perf"] / value["bare"]
        results.append(row)
        print(f"{name:14} bare {row['bare_wall_median']:6.2f} s: run time x{row['ours_wall_median']:.3f} (perf "
              f"x{row['perf_wall_median']:.3f}), least x{row['ours_wall_least']:.3f} (perf "
              f"x{row['perf_wall_least']:.3f}); processor time x{row['ours_cpu_median']:.3f} (perf "
              f"x{row['perf_cpu_median']:.3f}), least x{row['ours_cpu_least']:.3f} (perf x{row['perf_cpu_least']:.3f}); "
              f"recorder {row['ours_mib']:.0f} MiB (perf {row['perf_mib']:.0f})", flush=True)
    for key in ("wall_median", "wall_least", "cpu_median", "cpu_least"):
        ours, perf = (statistics.median(row[f"{who}_{key}"] for row in results) for who in ("ours", "perf"))
        print(f"median of all, {key:12} x{ours:.3f} (perf x{perf:.3f})")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["shares", "cost"])
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clocks", type=int, default=0, help="of the timer source; 0: its default")
    parser.add_argument("--build", default=os.path.join(os.path.dirname(__file__), "../build"))
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    if not shutil.which("perf"):
        sys.exit("bench/native.py: no perf (Debian: linux-perf)")
    with tempfile.TemporaryDirectory() as folder:
        table = programs(folder, options.build)
        unknown = set(options.programs) - set(table)
        if unknown:
            sys.exit(f"bench/native.py: no program {', '.join(sorted(unknown))}; there are {', '.join(table)}")
        table = {name: argv for name, argv in table.items() if not options.programs or name in options.programs}
        samplers = Samplers(options.build, folder, options.clocks)
        work = compare_shares if options.what == "shares" else compare_cost
        results = work(table, samplers, options.rounds)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    return 0 if all(row.get("good", True) for row in results) else 1


if __name__ == "__main__":
    sys.exit(main())
