"""Holds what programs met against workloads/events/event_answers.table, which says what its lines mean.

event_answers.py TABLE list                         the programs
event_answers.py TABLE counts PROGRAM ELF COUNTS    what event_counter saw: executions, to the unit
event_answers.py TABLE stacks PROGRAM ELF DOCUMENT  what `compare --json --pics _start` says: executions, single events,
                                                    and the components of the golden cycle stacks
"""
import json
import re
import subprocess
import sys


def order(events):
    """Combinations are sets: the order of their names does not matter."""
    return frozenset() if events.lower() == "base" else frozenset(events.split("+"))


def show(events):
    return "+".join(sorted(events)) or "base"


def read(path):
    """{program: [(symbol, events, executions, least cycles)]}"""
    programs, shared, builds, probes = {}, {}, {}, []

    def settle():
        for program, own in builds.items():
            value = {**shared, **own}
            programs[program] = [(symbol, events, eval(count, {}, value), eval(cycles, {}, value) if cycles else 0)
                                 for symbol, events, count, cycles in probes]

    with open(path, encoding="utf-8") as table:
        for line in table:
            words = line.split()
            parameters = {name: int(value) for name, value in re.findall(r"([A-Z]+)=(\d+)", line)}
            if line.startswith("family "):
                settle()
                shared, builds, probes = parameters, {}, []
            elif line.startswith("build "):
                builds[words[1]] = parameters
            elif line.startswith("probe "):
                match = re.fullmatch(r"probe (\w+) (\S+) = (.+?)(?: >= (.+))?", line.strip())
                if not match:
                    sys.exit(f"{path}: cannot read: {line}")
                symbol, events, count, cycles = match.groups()
                probes.append((symbol, order(events), count, cycles))
    settle()
    return programs


def ranges(elf, symbols):
    """{symbol: (first address, behind the last)}; a symbol without an end is one instruction."""
    found = {}
    for line in subprocess.run(["nm", elf], capture_output=True, text=True, check=True).stdout.splitlines():
        address, _, name = line.rpartition(" ")[0].partition(" ")[0], None, line.split()[-1]
        found[name] = int(address, 16)
    return {symbol: (found[symbol], found.get(symbol + "_end", found[symbol] + 1)) for symbol in symbols}


def check(want, seen):
    """Both {(symbol, events): number}."""
    for symbol, events in sorted({*want, *seen}, key=lambda key: (key[0], show(key[1]))):
        expected, met = want.get((symbol, events), 0), seen.get((symbol, events), 0)
        if expected != met:
            yield f"{symbol}: {met} executions met {show(events)}, not {expected}"


def counts(probes, elf, path):
    places = ranges(elf, {symbol for symbol, *_ in probes})
    want = {(symbol, events): count for symbol, events, count, _ in probes}
    seen = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            match = re.fullmatch(r"met ([0-9a-f]+) (\d+) (\S+)", line.strip())
            for symbol, (first, end) in places.items() if match else ():
                if first <= int(match[1], 16) < end:
                    key = symbol, order(match[3])
                    seen[key] = seen.get(key, 0) + int(match[2])
    return list(check(want, seen))


def stack_differences(symbol, probes, rows):
    """`rows` are those of the probe's instructions."""
    cycles, met = {}, {}
    for row in rows:
        for name, n in row["components"].items():
            cycles[order(name)] = cycles.get(order(name), 0) + n
        for name, n in row["met"].items():
            met[name] = met.get(name, 0) + n
    executions, want = sum(row["executions"] for row in rows), {}
    for _, events, count, least in probes:
        for name in events:
            want[name] = want.get(name, 0) + count
        if cycles.get(events, 0) < least:
            yield f"{symbol}: {cycles.get(events, 0)} cycles of {show(events)}, less than {least}"
    if executions != sum(count for _, _, count, _ in probes):
        yield f"{symbol}: {executions} executions"
    if met != want:
        yield f"{symbol}: met {met}, not {want}"
    for events in set(cycles) - {events for _, events, _, _ in probes}:
        yield f"{symbol}: {cycles[events]} cycles of {show(events)}, which it never met"
    if abs(sum(cycles.values()) - sum(row["cycles"] for row in rows)) > 0.001:
        yield f"{symbol}: its components do not add up"


def stacks(probes, elf, path):
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    wrong = []
    for symbol, (first, end) in ranges(elf, {symbol for symbol, *_ in probes}).items():
        inside = [row for row in rows if first <= int(row["address"], 16) < end]
        wrong += stack_differences(symbol, [probe for probe in probes if probe[0] == symbol], inside)
    return wrong


def main():
    _, table, verb, *rest = sys.argv
    programs = read(table)
    if verb == "list":
        print("\n".join(programs))
    elif verb in ("counts", "stacks"):
        wrong = (counts if verb == "counts" else stacks)(programs[rest[0]], rest[1], rest[2])
        print("\n".join(wrong))
        sys.exit(1 if wrong else 0)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
