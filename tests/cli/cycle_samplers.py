"""Samplers written by somebody else: LCI, NCI, NCI+ILP, TIP-ILP and TIP, run on the cycle tokens alone.

Usage: cycle_samplers.py COMPARE.json TOKENS...

Knows the layout in doc/format/traces.md and nothing of Assay. Takes samples with the period in COMPARE.json, a file
for each thread, and holds the share of every instruction against the rows in COMPARE.json, which must be all of them
(--top). Also: what commits adds up to the instructions (further iterations of rep instructions aside). Prints what
differs and fails, or prints one line.
"""
import collections
import json
import struct
import sys

COMMITTING, VALID, EMPTY, EXCEPTION = 1, 2, 8, 64
ENTRY_COMMITTING, ENTRY_TROUBLE, ENTRY_CONTINUES = 1, 4 | 8, 16

Token = collections.namedtuple("Token", "cycle committing entries flags")


def read(path):
    """The tokens of each program that the thread ran, those of one cycle joined."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) % 64:
        sys.exit(f"{path}: {len(data)} bytes are no tokens")
    programs, last = [], 0
    for _, cycle, flags, counts, _, _, _, *entries in struct.iter_unpack("<QQBBHHH5Q", data):
        entries = entries[:counts >> 4]
        committing = [entry for entry in entries if entry & ENTRY_COMMITTING]
        if len(committing) != counts & 15:
            sys.exit(f"{path}: cycle {cycle}: counts and bits differ")
        if not programs or cycle < last:
            programs.append([])
        elif cycle == last:
            before = programs[-1].pop()
            committing, entries = before.committing + committing, before.entries + entries
        programs[-1].append(Token(cycle, committing, entries, flags))
        last = cycle
    return programs


def sample(tokens, period):
    """(cycle, {sampler: addresses}) of each sample."""
    at, committed, trouble = 0, None, None
    for cycle in range(period, tokens[-1].cycle + 1, period):
        while at < len(tokens) and tokens[at].cycle <= cycle:
            token = tokens[at]
            if token.flags & EXCEPTION:
                trouble = token.entries[0]
            if token.committing:
                committed = token.committing[-1]
                trouble = committed if committed & ENTRY_TROUBLE else None
            at += 1
        token = tokens[at - 1]
        following = at - 1 if token.committing else next(i for i in range(at, len(tokens)) if tokens[i].committing)
        if token.committing:
            tip = token.committing
        elif token.flags & VALID:
            tip = token.entries[:1]
        elif trouble is not None:
            tip = [trouble]
        else:
            tip = next(tokens[i].entries[:1] for i in range(at, len(tokens)) if tokens[i].flags & VALID)
        group = tokens[following].committing
        yield cycle, {"lci": [committed] if committed is not None else [], "nci": group[:1], "nci+ilp": group,
                      "tip-ilp": tip[:1], "tip": tip}


def profile(programs, period):
    shares = collections.defaultdict(lambda: collections.defaultdict(float))
    for tokens in programs:
        carried = collections.Counter()
        for _, answers in sample(tokens, period):
            for name, entries in answers.items():
                cycles = period + carried[name]
                carried[name] = 0 if entries else cycles
                for entry in entries:
                    shares[name][entry >> 8] += cycles / len(entries)
    return shares


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    programs = [tokens for path in sys.argv[2:] for tokens in read(path)]
    committed = sum(not entry & ENTRY_CONTINUES for tokens in programs for token in tokens for entry in token.committing)
    cycles = sum(tokens[-1].cycle for tokens in programs)
    if committed != document["instructions"]:
        sys.exit(f"{committed} commits of {document['instructions']} instructions")
    if cycles != document["cycles"]:
        sys.exit(f"{cycles} cycles of {document['cycles']}")
    theirs = profile(programs, document["period"])
    compared = 0
    for name, shares in theirs.items():
        total = sum(shares.values())
        ours = collections.defaultdict(float)
        for row in document["rows"]:
            ours[int(row["address"], 16)] += row["samplers"][name]
        for address in set(shares) | {address for address, share in ours.items() if share}:
            if abs(shares[address] / total - ours[address]) > 1e-9:
                sys.exit(f"{name}: {address:#x} has {shares[address] / total}, not {ours[address]}")
            compared += 1
    print(f"{compared} shares agree")


main()
