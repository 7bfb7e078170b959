#!/usr/bin/env python3
"""Shares of time by function and module: `perf report` against `assay report`.

import_shares.py ASSAY RECORDING PROFILE EVENTS
    exits with 0 where every function and every module has the same share, to the two digits that perf prints; says how
    many were compared. Kernel functions are compared where both have names; functions with several names may have
    another one here.
import_shares.py modules …
    modules only: where the recorded files are not on this machine perf may find no symbols, as we do
"""
import json
import re
import subprocess
import sys
from collections import defaultdict

KERNEL = re.compile(r"\[kernel\.kallsyms\]|\[kernel\]|\[guest\.kernel.*|\[k\]")
TOLERANCE = 0.00011  # perf's two digits, and sums of a few rows


def perf_shares(recording, event):
    """{(module, function): share}, and how many rows there were."""
    run = subprocess.run(["perf", "report", "--stdio", "--no-children", "--no-branch-stack", "--no-group",
                          "-g", "none", "-t", ";", "-F",
                          "overhead,dso,sym", "-i", recording, "-v"], capture_output=True, text=True, check=True)
    shares, current, rows = defaultdict(float), None, 0
    for line in run.stdout.splitlines():
        head = re.match(r"# Samples: .* of event[s]* '(.*)'", line)
        if head:
            current = head[1]
        row = re.match(r"\s*([\d.]+)%\s*;(.*?)\s*;(.*)$", line)
        if not row or (event and current != event):
            continue
        module, symbol = row[2].strip(), row[3].strip()
        module = "[kernel]" if KERNEL.match(module) else module.rsplit("/", 1)[-1]
        symbol = re.sub(r"^0x[0-9a-f]+\s+\S+\s+", "", symbol)
        mode, _, name = symbol.partition(" ")
        shares[module, name.strip()] += float(row[1]) / 100
        rows += 1
    return shares, rows


def our_shares(assay, profile, series):
    run = subprocess.run([assay, "report", "--json", "--by=function", f"--series={series}", profile],
                         capture_output=True, text=True, check=True)
    shares = defaultdict(float)
    for row in json.loads(run.stdout)["rows"]:
        module = (row.get("module") or "[unknown]").rsplit("/", 1)[-1]
        shares[module, row.get("function") or ""] += row["share"]
    return shares


def by_module(shares):
    sums = defaultdict(float)
    for (module, _), share in shares.items():
        sums[module] += share
    return sums


def settle_aliases(theirs, ours):
    """A function with several names may go by another one on each side (getrandom, __GI___getrandom): what only one side
    has must have the same time in its module on the other, and be little."""
    left, right = defaultdict(float), defaultdict(float)
    for key in [key for key in theirs if key not in ours]:
        left[key[0]] += theirs.pop(key)
    for key in [key for key in ours if key not in theirs]:
        right[key[0]] += ours.pop(key)
    for module in set(left) | set(right):
        if abs(left[module] - right[module]) > 0.0005 or left[module] > 0.03:
            sys.exit(f"{module}: names of perf alone have {left[module]:.4f}, of assay alone {right[module]:.4f}")


def compare(what, theirs, ours, slack):
    compared = 0
    for key in sorted(set(theirs) | set(ours), key=str):
        left, right = theirs.get(key, 0), ours.get(key, 0)
        if max(left, right) < 0.001:
            continue
        compared += 1
        if abs(left - right) > TOLERANCE + slack:
            sys.exit(f"{what} {key}: perf {left:.4f}, assay {right:.4f}")
    return compared


def main():
    only_modules = sys.argv[1] == "modules"
    assay, recording, profile, *events = sys.argv[1 + only_modules:]
    functions = modules = 0
    for event in events:
        theirs, rows = perf_shares(recording, event if len(events) > 1 else None)
        if not theirs:
            sys.exit("perf cannot read it")
        ours = our_shares(assay, profile, event)
        # Sums of rounded rows are off by half a digit a row at most.
        modules += compare(f"{event}: module", by_module(theirs), by_module(ours), 0.00005 * rows)
        if not only_modules:
            known = {key for key in set(theirs) | set(ours) if key[1] and not key[1].startswith("0x")}
            if not any(module == "[kernel]" and name for module, name in ours):
                known = {key for key in known if key[0] != "[kernel]"}
            theirs = {k: v for k, v in theirs.items() if k in known}
            ours = {k: v for k, v in ours.items() if k in known}
            settle_aliases(theirs, ours)
            functions += compare(f"{event}: function", theirs, ours, 0)
    print(f"{modules} modules, {functions} functions")


main()
