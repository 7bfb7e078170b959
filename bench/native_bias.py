"""bench/native.py bias: the timer source against the exact stream of the model.

The same program, once on this machine by the timer, once in the model of a machine of its kind (zen4-like) with every cycle
accounted for. The error is the part of all time that the two put on different functions, lines or instructions; the kernel
is left out, and so is what ran before main in the model's long runs (--from). Three things are in it: the model is another
machine, samples are finite (`chance`: what the number of samples makes of the model's own shares), and the interrupt is
taken where the processor stops, not where the time went. The last is nearly all of it at single instructions.
"""
import os
import random

from native_programs import Recorders, chosen, distance, shares, text_file, victim_of

GRANULARITIES = ("function", "line", "instruction")


def bias_programs(folder, build):
    """What is run by the timer, and how often more work than in the model (the same shares, more samples)."""
    short = text_file(folder, 1)
    workloads, kernels = os.path.join(build, "workloads"), os.path.join(build, "bench/kernels")
    return {
        "known shares": ([victim_of(build), "shares", "40"], [victim_of(build), "shares", "8000"]),
        "demo": ([f"{workloads}/demo", "20"], [f"{workloads}/demo", "1000"]),
        "threads": ([f"{workloads}/threads", "-t", "2", "-w", "1000", "-r", "40"],
                    [f"{workloads}/threads", "-t", "2", "-w", "1000", "-r", "20000"]),
        "branches": ([kernels, "branches", "20"], [kernels, "branches", "8000"]),
        "memory": ([kernels, "memory", "3"], [kernels, "memory", "600"]),
        "calls": ([kernels, "calls", "20"], [kernels, "calls", "8000"]),
        "fp": ([kernels, "fp", "10"], [kernels, "fp", "4000"]),
        "gzip": (["gzip", "-c", short], ["gzip", "-c", *[short] * 60]),
        "bzip2": (["bzip2", "-k", "-c", short], ["bzip2", "-k", "-c", *[short] * 24]),
    }


def chance(exact, samples):
    """The distance that this many samples without any bias would have."""
    keys, weights = zip(*exact.items())
    drawn = {}
    for key in random.Random(3).choices(keys, weights, k=samples):
        drawn[key] = drawn.get(key, 0) + 1
    return distance(exact, drawn)


def moved(exact, seen, key):
    return shares(seen).get(key, 0) - shares(exact).get(key, 0)


def compare_bias(options, folder):
    recorders, results = Recorders(options.build, folder), []
    print(f"{'program':14} {'samples':>8}   " + "   ".join(f"{by + ' (chance)':>22}" for by in GRANULARITIES), flush=True)
    for name, (exact_argv, timed_argv) in chosen(bias_programs(folder, recorders.build), options.programs).items():
        exact, seen = recorders.by_model(exact_argv), recorders.by_timer(timed_argv, "--user")
        row = {"program": name, "samples": seen.samples}
        for by in GRANULARITIES:
            a, b = exact.units(by, kernel=False), seen.units(by, kernel=False)
            row[by], row[by + "_chance"] = distance(a, b), chance(a, seen.samples)
        results.append(row)
        print(f"{name:14} {seen.samples:8}   " + "   ".join(
            f"{100 * row[by]:12.1f} % ({100 * row[by + '_chance']:4.1f} %)" for by in GRANULARITIES), flush=True)
    return results, True
