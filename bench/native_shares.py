"""bench/native.py shares: do the timer source and perf record see the same program?

Each round records the program by the timer, by perf, and by perf again; what the rounds gave is added up, until there are
10,000 samples of each. Goal: no
function's share differs by more than two percentage points. Beside it what perf differs from itself by, with as many
samples: what chance and the machine make alone. `perf report` is perf's own reading of its last recording, against
Assay's reading of that recording; functions that one of them has no name for are one a module there.
"""
from collections import defaultdict

from native_programs import Recorders, chosen, largest, real_programs, shares, victim_of

LIMIT = 0.02
ENOUGH = 10000


def add(total, units):
    for key, value in units.items():
        total[key] += value


def name_alike(units, known):
    """Functions without a name that both have become one a module."""
    result = defaultdict(float)
    for (module, name), value in units.items():
        result[module, name if (module, name) in known else "?"] += value
    return result


def against_report(ours, theirs):
    known = set(ours) & set(theirs)
    return largest(name_alike(ours, known), name_alike(theirs, known))[0]


def measure(recorders, argv, rounds):
    timer, first, second = (defaultdict(float) for _ in range(3))
    samples, lost, reading = [0, 0, 0], 0, 0
    while rounds > 0 or min(samples) < ENOUGH:
        rounds -= 1
        for at, (total, how) in enumerate(((timer, recorders.by_timer), (first, recorders.by_perf), (second, recorders.by_perf))):
            profile = how(argv)
            units = profile.units("function")
            add(total, units)
            samples[at] += profile.samples
            lost += profile.lost
        reading = max(reading, against_report(units, recorders.perf_report()))
    both = defaultdict(float)
    add(both, shares(first))
    add(both, shares(second))
    difference, function = largest(timer, both)
    return {"difference": difference, "function": " ".join(function), "perf_with_itself": largest(first, second)[0],
            "perf_report": reading, "samples": samples[0], "perf_samples": samples[1:], "lost": lost,
            "good": difference <= LIMIT}


def known_shares(recorders):
    """The victim's functions take 70 and 30 % by construction; its chains are known."""
    rows = []
    for name, argv in (("known shares", ["shares", "4000"]), ("known shares, 8 threads", ["threads", "8", "500"])):
        profile = recorders.by_timer([victim_of(recorders.build), *argv], "--user")
        units = defaultdict(float)
        for (_, function), value in profile.units("function").items():
            units[function] += value
        both = units["seven_tenths"] + units["three_tenths"]
        rows.append({"program": name, "error": abs(units["seven_tenths"] / both - 0.7), "samples": profile.samples})
    for name, argv, how, chain in (("known chain, frame pointers", ["shares", "4000"], "fp", ("main", "seven_tenths")),
                                   ("known chain, stack copies", ["deep", "4000"], "dwarf",
                                    ("main", "outer_call", "middle_call", "inner_call"))):
        profile = recorders.by_timer([victim_of(recorders.build), *argv], "--user", f"--call-graph={how}")
        rows.append({"program": name, "error": 1 - complete(profile, chain), "samples": profile.samples})
    return rows


def complete(profile, chain):
    """The part of the last function's time whose path has all of the chain, in order."""
    paths, functions = profile.document["paths"], profile.document["functions"]

    def names(number):
        while number is not None:
            if paths[number]["function"] is not None:
                yield functions[paths[number]["function"]]["name"]
            number = paths[number]["parent"]

    whole = right = 0
    for time in profile.series["path_times"]:
        found = list(names(time["path"]))
        if not found or found[0] != chain[-1]:
            continue
        whole += time["units"]
        above = iter(found)
        right += time["units"] if all(name in above for name in reversed(chain)) else 0
    return right / whole if whole else 0


def compare_shares(options, folder):
    recorders, results = Recorders(options.build, folder), []
    table = chosen(real_programs(folder, recorders.build), options.programs)
    print(f"{'program':14} {'largest difference':>18} {'perf with itself':>16} {'perf report':>11} {'samples':>8}  where", flush=True)
    for name, argv in table.items():
        row = {"program": name, **measure(recorders, argv, options.rounds)}
        results.append(row)
        print(f"{name:14} {100 * row['difference']:18.2f} {100 * row['perf_with_itself']:16.2f} {100 * row['perf_report']:11.2f} "
              f"{row['samples']:8}  {row['function']}"
              f"{'' if not row['lost'] else ', %d lost' % row['lost']}", flush=True)
    for row in known_shares(recorders) if not options.programs else []:
        print(f"{row['program']:30} error {100 * row['error']:5.2f} points, {row['samples']} samples", flush=True)
        results.append(row)
    good = [row["good"] for row in results if "good" in row]
    print(f"goal: no function's share differs by more than {100 * LIMIT:.0f} points: {'met' if all(good) else 'MISSED'}, "
          f"{sum(good)} of {len(good)} programs")
    return results, all(good)
