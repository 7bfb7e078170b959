"""Samplers written by somebody else: LCI, NCI, NCI+ILP, TIP-ILP and TIP, run on the cycle tokens alone.

Usage: cycle_samplers.py COMPARE.json PREFIX

Knows the layout in doc/format/traces.md and nothing of Assay. Takes samples with the period in COMPARE.json on the
files PREFIX, PREFIX.2 …, one for each thread, and holds the share of every instruction against the rows in
COMPARE.json, which must be all of them (--top). Also: what commits adds up to the instructions (further iterations of
rep instructions aside). If there are files PREFIX-all, PREFIX-all.2 … of the other form, expands the first to it, and
runs the Oracle, TIP, TIP-ILP, NCI and NCI+ILP on it, too, by the rules of the tools of TIP's authors, token by token.
Prints what differs and fails, or prints one line.
"""
import collections
import glob
import json
import struct
import sys

COMMITTING, VALID, EMPTY, EXCEPTION = 1, 2, 8, 64
ENTRY_COMMITTING, ENTRY_TROUBLE, ENTRY_CONTINUES = 1, 4 | 8, 16
READY, DISPATCHING = 4, 16

Token = collections.namedtuple("Token", "cycle committing entries flags head last") # last: commits of the last token of a cycle


def read(path):
    """The tokens of each program that the thread ran, those of one cycle joined."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) % 64:
        sys.exit(f"{path}: {len(data)} bytes are no tokens")
    programs, last = [], 0
    for clock, cycle, flags, counts, head, _, _, *entries in struct.iter_unpack("<QQBBHHH5Q", data):
        entries = entries[:counts >> 4]
        committing = [entry for entry in entries if entry & ENTRY_COMMITTING]
        if len(committing) != counts & 15:
            sys.exit(f"{path}: cycle {cycle}: counts and bits differ")
        if not programs or cycle < last:
            base = clock - cycle
            programs.append([])
        group = committing
        if programs[-1] and cycle == last:
            before = programs[-1].pop()
            committing, entries = before.committing + committing, before.entries + entries
        if clock - cycle != base:
            sys.exit(f"{path}: cycle {cycle} of the core is {clock} of the file, which went on {base} before")
        programs[-1].append(Token(cycle, committing, entries, flags, head, group))
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


def expand(tokens, begins):
    """The second form of a program's tokens of the first, but for what moves while the commit stage does not."""
    expanded = [Token(0, [], [], EMPTY, 0, [])] if begins else []
    raised = not begins
    for i, token in enumerate(tokens):
        until = tokens[i + 1].cycle if i + 1 < len(tokens) else token.cycle + 1
        if not token.flags & EMPTY or not raised:
            expanded += [token._replace(cycle=cycle) for cycle in range(token.cycle, until)]
        if not token.flags & EMPTY:
            raised = bool(token.flags & EXCEPTION)
    return expanded


def same(expanded, tokens):
    """Whether the two are the same in what is known between tokens."""
    def known(token):
        return token.cycle, token.flags & ~(READY | DISPATCHING), [entry & ~ENTRY_TROUBLE for entry in token.entries], token.head
    return [known(token) for token in expanded] == [known(token) for token in tokens]


def charge(token, committed):
    """Whom the authors' tools charge for the time up to this token; nobody: for now."""
    if token.committing or token.flags & VALID:
        return token.committing or token.entries[:1]
    return [entry for entry in committed if entry & ENTRY_TROUBLE][:1]


def by_token(tokens):
    """(policy, after this cycle, until this one, entries) of each charge: as the authors' tools do it."""
    charged = waited = 0
    committed = []
    for token in tokens:
        entries = charge(token, committed)
        if entries and token.cycle > charged:
            yield "tip", charged, token.cycle, entries
            yield "tip-ilp", charged, token.cycle, entries[:1]
            charged = token.cycle
        if token.committing:
            yield "nci", waited, token.cycle, token.committing[:1]
            yield "nci+ilp", waited, token.cycle, token.committing
            waited = token.cycle
            committed = token.last


def profile_by_token(programs, period):
    shares = collections.defaultdict(lambda: collections.defaultdict(float))
    for tokens in programs:
        for name, after, until, entries in by_token(tokens):
            samples = until // period - after // period
            for entry in entries:
                if name == "tip":
                    shares["oracle"][entry >> 8] += (until - after) / len(entries)
                if samples:
                    shares[name][entry >> 8] += samples * period / len(entries)
    return shares


def agree(document, theirs):
    """Holds their shares against ours; returns how many."""
    compared = 0
    for name, shares in theirs.items():
        total = sum(shares.values())
        ours = collections.defaultdict(float)
        for row in document["rows"]:
            ours[int(row["address"], 16)] += row["share"] if name == "oracle" else row["samplers"][name]
        for address in set(shares) | {address for address, share in ours.items() if share}:
            if abs(shares[address] / total - ours[address]) > 1e-9:
                sys.exit(f"{name}: {address:#x} has {shares[address] / total}, not {ours[address]}")
            compared += 1
    return compared


def read_all(prefix):
    paths = glob.glob(prefix) + sorted(glob.glob(prefix + ".*"))
    return [tokens for path in paths for tokens in read(path)]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    programs, every = read_all(sys.argv[2]), read_all(sys.argv[2] + "-all")
    committed = sum(not entry & ENTRY_CONTINUES for tokens in programs for token in tokens for entry in token.committing)
    cycles = sum(tokens[-1].cycle for tokens in programs)
    if committed != document["instructions"]:
        sys.exit(f"{committed} commits of {document['instructions']} instructions")
    if cycles != document["cycles"]:
        sys.exit(f"{cycles} cycles of {document['cycles']}")
    compared = agree(document, profile(programs, document["period"]))
    if every:
        if len(every) != len(programs) or not all(same(expand(tokens, all_[0].cycle == 0), all_) for tokens, all_ in zip(programs, every)):
            sys.exit("the tokens of all cycles are not the expanded ones")
        compared += agree(document, profile_by_token(every, document["period"]))
    print(f"{compared} shares agree")


main()
