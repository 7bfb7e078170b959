"""bench/native.py cost: what recording at 4 kHz costs the program, bare, by the timer source and by perf, in one run.

The program's own seconds, of the clock and of the processors, without what the recorder takes for itself; medians of runs
that take turns. The timer source takes call chains by default and perf does not, so perf runs with -g as well. Goals: at
most 2 % more time, no more than perf (with what two runs of the bare program differ by for noise), at most 20 MiB of memory
for the recorder, none of 10,000 short threads lost. `interrupt` (bench/interrupt.c) tells what one interrupt of a clock
takes on this machine, whoever asks for it: at 4 kHz five microseconds are 2 %.
"""
import os
import statistics
import subprocess
import threading
import time

from native_programs import RATE, Profile, Recorders, chosen, fixed, real_programs, run, victim_of

MOST_TIME, MOST_MIB, THREADS = 1.02, 20, 10000
USUAL = ("perl", "sqlite3", "bzip2", "threads")


class Peak(threading.Thread):
    """The most memory that a process had resident, without its children: the kernel's own mark, read until the end."""

    def __init__(self, pid):
        super().__init__()
        self.pid, self.mib, self.over = pid, 0, False

    def run(self):
        while not self.over:
            try:
                with open(f"/proc/{self.pid}/status", encoding="utf-8") as file:
                    self.mib = max([self.mib, *[int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM")]])
            except OSError:
                return
            time.sleep(0.02)


def run_watched(argv):
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        peak = Peak(process.pid)
        peak.start()
        process.wait()
        peak.over = True
        peak.join()
    if process.returncode != 0:
        raise SystemExit(f"bench/native.py: {' '.join(argv)[:200]} ended with {process.returncode}")
    return peak.mib


class Clock:
    def __init__(self, recorders):
        self.recorders, self.seconds = recorders, os.path.join(recorders.folder, "seconds")

    def kinds(self, argv):
        timed = [victim_of(self.recorders.build), "time", self.seconds, *fixed(argv)]
        return {"bare": timed, "timer": self.recorders.timer(timed), "perf": self.recorders.perf(timed),
                "perf -g": self.recorders.perf(timed, "-g")}

    def times(self):
        with open(self.seconds, encoding="utf-8") as file:
            return tuple(float(word) for word in file.read().split())

    def measure(self, argv, rounds):
        kinds = self.kinds(argv)
        order, seen, memory = list(kinds), {kind: [] for kind in kinds}, dict.fromkeys(kinds, 0)
        for i in range(rounds):
            for kind in order[i % len(order):] + order[:i % len(order)]:
                memory[kind] = max(memory[kind], run_watched(kinds[kind]))
                seen[kind].append(self.times())
        return seen, memory


def ratios(seen, at):
    """Over the bare program; its own deviation as a part of it."""
    bare = [times[at] for times in seen["bare"]]
    middle = statistics.median(bare)
    result = {kind: statistics.median(times[at] for times in runs) / middle for kind, runs in seen.items()}
    result["bare"], result["noise"] = middle, (statistics.stdev(bare) / middle if len(bare) > 1 else 0)
    return result


def judge(results):
    """Each goal over all programs, by processor time: the clock's time is other processes' too."""
    timer = statistics.median(row["processor"]["timer"] for row in results)
    perf = statistics.median(max(row["processor"]["perf"], row["processor"]["perf -g"]) for row in results)
    noise = statistics.median(row["processor"]["noise"] for row in results)
    memory = max(row["timer_mib"] for row in results)
    return [(f"at most {100 * (MOST_TIME - 1):.0f} % more processor time: {100 * (timer - 1):.1f} %", timer <= MOST_TIME),
            (f"no more than perf: {100 * (perf - 1):.1f} %, noise {100 * noise:.1f} %", timer <= perf + noise),
            (f"at most {MOST_MIB} MiB of memory: {memory:.1f} MiB", memory <= MOST_MIB)]


def short_threads(clock, rounds):
    argv = [victim_of(clock.recorders.build), "short", str(THREADS)]
    seen, _ = clock.measure(argv, rounds)
    run(clock.recorders.timer(argv))
    profile = Profile(clock.recorders)
    row = {"program": "short threads", "processor": ratios(seen, 1), "threads": int(profile.document["counters"]["threads"]),
           "lost": profile.lost}
    print(f"{THREADS} short threads: processor time {row['processor']['bare']:.2f} s, timer x{row['processor']['timer']:.2f}, perf "
          f"x{row['processor']['perf']:.2f}; {row['threads'] - 1} of them seen, {row['lost']} records lost", flush=True)
    return row, row["threads"] == THREADS + 1 and row["lost"] == 0


def compare_cost(options, folder):
    recorders = Recorders(options.build, folder)
    clock, results = Clock(recorders), []
    table = chosen(real_programs(folder, recorders.build), options.programs or USUAL)
    print(f"at {RATE} Hz, over the bare program: processor time (clock's time)", flush=True)
    for name, argv in table.items():
        seen, memory = clock.measure(argv, options.rounds)
        row = {"program": name, "clock": ratios(seen, 0), "processor": ratios(seen, 1), "timer_mib": memory["timer"],
               "perf_mib": max(memory["perf"], memory["perf -g"])}
        results.append(row)
        print(f"{name:12} {row['processor']['bare']:5.2f} s " + " ".join(
            f"{kind} x{row['processor'][kind]:.3f} (x{row['clock'][kind]:.3f})" for kind in ("timer", "perf", "perf -g")) +
            f"; recorder {row['timer_mib']:.1f} MiB (perf {row['perf_mib']:.1f})", flush=True)
    goals = judge(results)
    row, whole = short_threads(clock, options.rounds)
    goals.append((f"none of {THREADS} short threads lost", whole))
    results.append(row)
    subprocess.run([os.path.join(recorders.build, "bench/interrupt"), "2"], check=True)
    for text, good in goals:
        print(f"goal: {text}: {'met' if good else 'MISSED'}")
    return results, all(good for _, good in goals)
