"""A perf.data file with branch stacks: `blocks_recording.py COUNTS.json VICTIM FILE KIND [SAMPLES]`.

COUNTS is what `assay blocks --json` says of VICTIM, a position-independent program. Control is walked from block to block
along its edges, each taken as often as it was (calls are followed and returned from), and every so often a sample is
taken, so the recording is of a run that has the exact counts. KIND:

  taken    each period of taken branches a stack of 16
  bogus    the same, a tenth of the stacks with entries that cannot be: inside an instruction, past a jump, from nowhere
  wrong-N    as taken, N % of the entries begin inside an instruction
  random-N   as taken, N % of the entries are of any addresses
  addresses  each period of instructions an address, without stacks
  clock      the same, as samples of a clock
  faults     the same, as samples of page faults
  plain    as taken, without the stacks
  events   as taken, and half as many samples of another event before them, as perf writes to a pipe
  other    as taken, and the mapping has another inode than the file
  build-id, other-build-id  as taken, and the mapping has the file's build-id, or another one
"""

import json
import os
import random
import struct
import subprocess
import sys

counts, victim, output, kind = sys.argv[1:5]
samples_wanted = int(sys.argv[5]) if len(sys.argv) > 5 else 2000
BASE, PID, PAGE, PERIOD, DEPTH = 0x555555554000, 77, 4096, 29, 16
IP, TID, TIME, PERIOD_BIT, STACK = (1 << n for n in (0, 1, 2, 8, 11))
stacks, several = kind not in ("addresses", "clock", "faults", "plain"), kind == "events"
taken_event = kind not in ("addresses", "clock", "faults")
IDENTIFIER = 1 << 16
sample_type = IP | TID | TIME | PERIOD_BIT | (STACK if stacks else 0) | (IDENTIFIER if several else 0)
random.seed(7)

victim = os.path.realpath(victim)
known = {}
for block in json.load(open(counts, encoding="utf-8"))["blocks"]:
    if block["module"] == victim and block["executions"]:
        block["start"] = int(block["address"], 16)
        known[block["start"]] = block
RISCV = struct.pack("<H", 243)
tool = "riscv64-linux-gnu-objdump" if open(victim, "rb").read(20)[18:] == RISCV else "objdump"
lines = subprocess.run([tool, "-d", victim], check=True, capture_output=True, text=True).stdout.splitlines()
addresses = sorted(int(line.split(":")[0], 16) for line in lines if line.startswith(" ") and ":\t" in line)


def insns(block):
    """The addresses of a block's instructions."""
    if "insns" not in block:
        block["insns"] = [a for a in addresses if block["start"] <= a < block["start"] + block["bytes"]]
    return block["insns"]


def record(number, misc, body):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", number, misc, 8 + len(body)) + body


def build_id():
    text = subprocess.run(["readelf", "-nW", victim], check=True, capture_output=True, text=True).stdout
    found = bytes.fromhex(text.split("Build ID: ")[1].split()[0])
    return found if kind == "build-id" else found[::-1]


def mappings():
    info = os.stat(victim)
    text = subprocess.run(["readelf", "-lW", victim], check=True, capture_output=True, text=True).stdout
    for words in (line.split() for line in text.splitlines() if line.strip().startswith("LOAD")):
        offset, address, size = (int(words[i], 16) for i in (1, 2, 4))
        if "E" not in words[6:-1]:
            continue
        start = BASE + address & -PAGE
        length = (BASE + address + size + PAGE - 1 & -PAGE) - start
        inode = info.st_ino + (kind == "other")
        identity, misc = struct.pack("<IIQQ", os.major(info.st_dev), os.minor(info.st_dev), inode, 0), 2
        if kind.endswith("build-id"):
            identity, misc = struct.pack("<BBH20s", 20, 0, 0, build_id()), 2 | 1 << 14
        body = struct.pack("<IIQQQ", PID, PID, start, length, offset & -PAGE) + identity + struct.pack("<II", 5, 2)
        yield record(10, misc, body + victim.encode() + b"\0")


def sample(time, address, stack, number=1):
    body = struct.pack("<Q", number) if several else b""
    body += struct.pack("<QIIQQ", BASE + address, PID, PID, time, PERIOD)
    if stacks:
        body += struct.pack("<Q", len(stack))
        for source, target in stack:
            body += struct.pack("<QQQ", BASE + source, BASE + target, 0)
    return record(9, 2, body)


def spoil(stack):
    """Entries that no processor would write if it were right."""
    middle = len(stack) // 2
    source, target = stack[middle]
    choice = random.randrange(3)
    wrong = [(source, target + 1), (source + 1, target), (source - 0x800, target)][choice]
    return stack[:middle] + [wrong] + stack[middle + 1:]


def spoil_entries(stack):
    """Of each a chance of so many percent; taken branches are at least two bytes long."""
    how, _, percent = kind.partition("-")
    any_address = lambda: random.randrange(1, 1 << 47)
    return [(s, t) if random.random() >= int(percent) / 100 else
            (s + 1, t) if how == "wrong" else (any_address(), any_address()) for s, t in stack]


def walk():
    """Samples of a walk that starts in main, again and again."""
    main = min(b["start"] for b in known.values() if b["function"] == "main")
    taken, time, executed, next_at = 0, 1, 0, 1
    stack, calls, at = [], [], main
    while samples_wanted > time - 1:
        block = known[at]
        executed += block["instructions"]
        if not taken_event and executed >= PERIOD * next_at:
            # The instruction that overflowed the counter.
            index = block["instructions"] - 1 - (executed - PERIOD * next_at)
            yield sample(time, insns(block)[max(0, index)], [])
            time, next_at = time + 1, next_at + 1
        inside = [e for e in block["edges"] if e["kind"] == "call" and int(e["to"], 16) in known and "module" not in e]
        others = [e for e in block["edges"] if e["kind"] != "call"]
        if inside:
            edge = random.choices(inside, [e["count"] for e in inside])[0]
            calls.append(block["start"] + block["bytes"])
        elif others:
            edge = random.choices(others, [e["count"] for e in others])[0]
        else:
            edge = {"kind": "return", "to": hex(calls.pop() if calls else main)}
        to = int(edge["to"], 16)
        if to not in known:
            to, calls = main, []
        if edge["kind"] != "fall":
            stack = ([(insns(block)[-1], to)] + stack)[:DEPTH]
            taken += 1
            if taken_event and taken % PERIOD == 0 and len(stack) == DEPTH:
                spoilt = kind == "bogus" and random.random() < 0.1
                if several and time % 2:
                    yield sample(time, block["start"], [], 2)
                entries = spoil_entries(stack) if kind.startswith(("wrong-", "random-")) else stack
                yield sample(time, to, spoil(stack) if spoilt else entries)
                time += 1
        at = to


records = b"".join(mappings()) + b"".join(walk())


def attribute(raw, event):
    found = struct.pack("<IIQQQQQ", raw, 136, event, PERIOD, sample_type, 0, 2 << 15)
    found += struct.pack("<IIQQ", 0, 0, 0, 0) + struct.pack("<Q", 1 << 3 if stacks else 0)
    return found + b"\0" * (136 - len(found))


taken_attr, other_attr = attribute(4, 0x20c4), attribute(*{"clock": (1, 0), "faults": (1, 2)}.get(kind, (0, 1)))
if several:
    attrs = record(64, 0, other_attr + struct.pack("<Q", 2)) + record(64, 0, taken_attr + struct.pack("<Q", 1))
    open(output, "wb").write(struct.pack("<8sQ", b"PERFILE2", 16) + attrs + records)
    sys.exit()
attr = (taken_attr if taken_event else other_attr) + struct.pack("<QQ", 0, 0)
header = 104
body = struct.pack("<8sQQ", b"PERFILE2", header, len(attr)) + struct.pack("<QQ", header, len(attr))
body += struct.pack("<QQ", header + len(attr), len(records)) + struct.pack("<QQ", 0, 0)
body += b"\0" * (header - len(body))
open(output, "wb").write(body + attr + records)
