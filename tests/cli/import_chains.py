#!/usr/bin/env python3
"""Call chains: `perf script` against the profile that `assay import` makes of the same recording.

import_chains.py RECORDING PROFILE [MINIMUM]
    Samples by chain of functions, outermost first, on both sides; prints how many are the same, how many go on here
    where perf's stop, and what else differs most. Exits with 0 where those are together at least MINIMUM (0.95) of the
    samples. A function is its file and where it begins there, since it may have several names; in the kernel its name.
    What has no symbol is "?" (Assay names it by its module, as a profile can tell); frames where nothing is mapped are
    none.
"""
import functools
import re
import sqlite3
import struct
import subprocess
import sys
from collections import Counter

FRAME = re.compile(r"^\s+([0-9a-f]+) (.*) \((.*)\)$")


@functools.lru_cache(None)
def linked_at(path):
    """perf counts from here in programs that are linked to a fixed address."""
    try:
        with open(path, "rb") as file:
            head = file.read(64)
            if head[:5] != b"\x7fELF\2" or struct.unpack_from("<H", head, 16)[0] != 2:
                return 0
            start, size, number = struct.unpack_from("<Q", head, 32) + struct.unpack_from("<2H", head, 54)
            file.seek(start)
            headers = [struct.unpack_from("<IIQQ", file.read(size)) for _ in range(number)]
    except OSError:
        return 0
    return min(address - offset for kind, _, offset, address in headers if kind == 1)


def function(module, name, start):
    if not name or name.startswith("[unknown]"):
        return "?"
    if module.startswith("[kernel"):
        return name
    return f"{module.rsplit('/', 1)[-1]}+{start:#x}"


def perf_chains(recording):
    run = subprocess.run(["perf", "script", "--no-inline", "-F", "ip,sym,symoff,dso", "--max-stack", "512",
                          "-i", recording], capture_output=True, text=True, check=True)
    chains, chain = Counter(), []
    for line in run.stdout.splitlines() + [""]:
        frame = FRAME.match(line)
        if frame and frame[3] == "[unknown]":
            continue
        if frame:
            name, _, offset = frame[2].rpartition("+0x")
            start = int(frame[1], 16) - int(offset, 16) if name else 0
            chain.append(function(frame[3], name, start))
        elif not line.strip() and chain:
            chains[tuple(reversed(chain))] += 1
            chain = []
    return chains


def our_chains(profile):
    db = sqlite3.connect(profile)
    known = {number: function(module, name, address - base - linked_at(module)) for number, name, address, module, base in db.execute(
        "SELECT f.id, f.linkage_name, f.address, m.path, m.base FROM functions f JOIN modules m ON m.id = f.module")}
    paths = {}
    for number, parent, called in db.execute("SELECT id, parent, function FROM paths ORDER BY id"):
        paths[number] = paths.get(parent, ()) + (known.get(called, "?"),)
    chains = Counter()
    for path, samples in db.execute("SELECT path, samples FROM path_times"):
        chains[paths[path]] += samples
    return chains


def count_longer(theirs, ours):
    """Samples of theirs whose chain is the inner part of one of ours; takes both out."""
    longer = 0
    for chain in list(theirs):
        for other in [o for o in ours if len(o) > len(chain) and o[-len(chain):] == chain]:
            n = min(theirs[chain], ours[other])
            theirs[chain] -= n
            ours[other] -= n
            longer += n
    return longer


def main():
    recording, profile = sys.argv[1:3]
    minimum = float(sys.argv[3]) if len(sys.argv) > 3 else 0.95
    theirs, ours = perf_chains(recording), our_chains(profile)
    total = sum(theirs.values())
    same = sum((theirs & ours).values())
    only_theirs, only_ours = theirs - ours, ours - theirs
    longer = count_longer(only_theirs, only_ours)
    shorter = count_longer(only_ours, only_theirs)
    print(f"{total} samples: {same} with the same chain, {longer} longer here, {shorter} shorter here, "
          f"{total - same - longer - shorter} other; {100 * (same + longer) / max(total, 1):.2f} %")
    for who, rest in (("perf", +only_theirs), ("assay", +only_ours)):
        for chain, samples in rest.most_common(3):
            print(f"  {who} alone, {samples}: {' > '.join(chain)[-400:]}")
    return 0 if total and same + longer >= minimum * total else 1


sys.exit(main())
