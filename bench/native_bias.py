"""bench/native.py bias: the timer source against the exact stream of the model.

The same program, once on this machine by the timer, once in the model of a machine of its kind (zen4-like) with every cycle
accounted for. The error is the part of all time that the two put on different functions, lines or instructions; the kernel
is left out. Three things are in it: the model is another machine, samples are finite (`chance`: what as many samples of the
model's own shares would differ by), and the interrupt is taken behind the instruction that the processor waited for. `back` is
the error at instructions when every sample is charged to the instruction before the one it was taken at: the difference to
the column before it is the skid. The last line of a program names the instruction that the model charges most, and where the
timer has it.
"""
import bisect
import os
import random
from collections import defaultdict

from native_programs import Recorders, chosen, distance, shares, text_file, victim_of

GRANULARITIES = ("function", "line", "instruction")


def bias_programs(folder, build):
    """For the model: what is run, and from which function on; for the timer: the same with more of the same work."""
    short = text_file(folder, 1)
    workloads, kernels, victim = os.path.join(build, "workloads"), os.path.join(build, "bench/kernels"), victim_of(build)
    table = {
        "known shares": ([victim, "shares", "40"], "work", [victim, "shares", "8000"]),
        "threads": ([f"{workloads}/threads", "-t", "2", "-w", "2000", "-r", "20"], None,
                    [f"{workloads}/threads", "-t", "2", "-w", "100000", "-r", "200"]),
        "gzip": (["gzip", "-c", short], None, ["gzip", "-c", *[short] * 40]),
        "bzip2": (["bzip2", "-k", "-c", short], None, ["bzip2", "-k", "-c", *[short] * 16]),
    }
    for name, rounds, more in (("branches", "60", "8000"), ("memory", "6", "300"), ("calls", "60", "15000"), ("fp", "30", "15000")):
        table[name] = ([kernels, name, rounds], f"run_{name}", [kernels, name, more])
    return table


def chance(exact, samples):
    """The distance that this many samples without any bias would have."""
    keys, weights = zip(*exact.items())
    drawn = {}
    for key in random.Random(3).choices(keys, weights, k=samples):
        drawn[key] = drawn.get(key, 0) + 1
    return distance(exact, drawn)


def back(exact, seen):
    """Each sample at the instruction before it, of those that the model has executed."""
    places = defaultdict(list)
    for module, offset in sorted(exact):
        places[module].append(offset)
    result = defaultdict(float)
    for (module, offset), value in seen.items():
        before = bisect.bisect_left(places[module], offset) - 1
        result[module, places[module][before] if before >= 0 else offset] += value
    return result


def name_skid(exact, exact_profile, seen):
    (module, offset), most = max(shares(exact).items(), key=lambda item: item[1])
    there = max(shares(seen).items(), key=lambda item: item[1] if item[0][0] == module and abs(item[0][1] - offset) < 64 else 0)
    text = next(i["text"] for i in exact_profile.document["instructions"] if exact_profile.key(i, "instruction") == (module, offset))
    return (f"    {100 * most:.0f} % at {module}+{offset:#x} ({text}), there by the timer {100 * shares(seen).get((module, offset), 0):.0f} %, "
            f"at {there[0][1] - offset:+d} bytes {100 * there[1]:.0f} %")


def compare_bias(options, folder):
    recorders, results = Recorders(options.build, folder), []
    print(f"{'program':14} {'samples':>8}   " + "   ".join(f"{by + ' (chance)':>20}" for by in GRANULARITIES) + "      back", flush=True)
    for name, (exact_argv, start, timed_argv) in chosen(bias_programs(folder, recorders.build), options.programs).items():
        exact = recorders.by_model(exact_argv, *(["--from", start] if start else []))
        seen = recorders.by_timer(timed_argv, "--user")
        row = {"program": name, "samples": seen.samples}
        for by in GRANULARITIES:
            a, b = exact.units(by, kernel=False), seen.units(by, kernel=False)
            row[by], row[by + "_chance"] = distance(a, b), chance(a, seen.samples)
        row["back"] = distance(a, back(a, b))
        results.append(row)
        print(f"{name:14} {seen.samples:8}   " + "   ".join(
            f"{100 * row[by]:10.1f} % ({100 * row[by + '_chance']:4.1f} %)" for by in GRANULARITIES) + f"   {100 * row['back']:5.1f} %")
        print(name_skid(a, exact, b), flush=True)
    return results, True
