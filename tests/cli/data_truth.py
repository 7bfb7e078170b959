"""Shares of data objects in functions of data_victim: what samples found (a profile), what the program does (the exact
stream of assay script), and what it was written to do.

    data_truth.py exact SCRIPT_TEXT VICTIM FUNCTION      the shares as JSON, each access of an instruction counted once
    data_truth.py check PROFILE FUNCTION SHARES.json     one line a share; status 1 where one is off

A share is off where it is more than four standard deviations, as the number of independent addresses lets expect, and
two percentage points away.
"""

import json
import math
import re
import sqlite3
import subprocess
import sys

KNOWN = {
    "stream": {"a": 1 / 2, "b": 1 / 4, "c": 1 / 4},
    "regions": {"[heap]": 3 / 4, "[stack]": 1 / 4},
    "chase": {"nodes": 2 / 3, "tally": 1 / 3},
    "ways": {"nodes": 2 / 3, "odd": 1 / 6, "even": 1 / 6},
}


def symbols(victim):
    found = {}
    for line in subprocess.run(["nm", "-S", victim], check=True, capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        if len(words) == 4:
            found[words[3]] = (int(words[0], 16), int(words[1], 16))
    return found


def exact(script, victim, function):
    names, counts, base = symbols(victim), {}, None
    for line in open(script, encoding="utf-8"):
        match = re.match(r"\d+ ([0-9a-f]{16}) " + function + r"\+0x([0-9a-f]+) ", line)
        if not match or "ret" in line.split()[3]:
            continue
        base = int(match.group(1), 16) - int(match.group(2), 16) - names[function][0]
        accessed = {(int(a, 16) - base, kind) for kind, a in re.findall(r" (load|store) 0x([0-9a-f]+) \d+", line)}
        for address in {address for address, _ in accessed}:
            inside = [n for n, (start, size) in names.items() if start <= address < start + size]
            # regions() loads from the heap and stores to the stack, and does nothing else
            other = "[stack]" if (address, "store") in accessed else "[heap]"
            name = inside[0] if inside else other
            counts[name] = counts.get(name, 0) + 1
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items()}


def sampled(profile, function):
    rows = sqlite3.connect(profile).execute(
        "SELECT o.name, a.units FROM accesses a LEFT JOIN objects o ON o.id = a.object"
        " JOIN instructions i ON i.id = a.instruction JOIN functions f ON f.id = i.function"
        " JOIN instructions j ON j.id = i.id WHERE f.name = ? AND coalesce(j.text, '') NOT LIKE 'ret%'",
        (function,),
    ).fetchall()
    total = sum(units for _, units in rows)
    independent = total**2 / sum(units**2 for _, units in rows)
    shares = {}
    for name, units in rows:
        shares[name] = shares.get(name, 0) + units / total
    return shares, independent


def check(profile, function, truth):
    shares, n = sampled(profile, function)
    wrong = []
    for name in sorted(set(shares) | set(truth)):
        share, right = shares.get(name, 0), truth.get(name, 0)
        limit = 4 * math.sqrt(right * (1 - right) / n) + 0.02
        print(f"{function} {name}: {100 * share:.1f} % of {n:.0f}, right {100 * right:.1f} +- {100 * limit:.1f}")
        if abs(share - right) > limit:
            wrong.append(name)
    return n < 20 or wrong


if sys.argv[1] == "exact":
    shares = exact(*sys.argv[2:5])
    print(json.dumps(shares))
    known = KNOWN[sys.argv[4]]
    off = [name for name in set(known) | set(shares) if abs(known.get(name, 0) - shares.get(name, 0)) > 0.005]
    sys.exit(f"not as it was written: {off}" if off else 0)
sys.exit(1 if check(sys.argv[2], sys.argv[3], json.load(open(sys.argv[4], encoding="utf-8"))) else 0)
