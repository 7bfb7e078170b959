"""A perf.data file with samples as perf c2c reads them: `c2c_recording.py FILE`.

Two threads on two processors: loads and stores of three lines with every kind of data source that perf c2c counts, loads
without an address, samples of what is mapped nowhere and of the kernel, and a sample that is neither load nor store.
"""
import struct
import sys

PID, THREADS, CODE, DATA = 77, (77, 78), 0x401000, 0x600000
IP, TID, TIME, ADDR, CPU, PERIOD, WEIGHT, DATA_SRC = (1 << n for n in (0, 1, 2, 3, 7, 8, 14, 15))
SAMPLE = IP | TID | TIME | ADDR | CPU | PERIOD | WEIGHT | DATA_SRC
LOAD, STORE, PREFETCH = 2, 4, 8
NA, HIT, MISS, L1, LFB, L2, L3, LOC_RAM, REM_RAM1, REM_RAM2, REM_CCE1, REM_CCE2, IO, UNC = (1 << n for n in range(14))
SNOOP_NONE, SNOOP_HIT, SNOOP_MISS, SNOOP_HITM = 2, 4, 8, 16
LOCKED, PEER, BLOCKED_DATA, BLOCKED_ADDRESS = 2, 2, 2, 4


def source(op, level, snoop=SNOOP_NONE, lock=1, remote=0, snoopx=0, blocked=0, hops=0):
    """As in union perf_mem_data_src: op 5 bits, lvl 14, snoop 5, lock 2, dtlb 7, lvl_num 4, remote 1, snoopx 2, blk 3, hops 3."""
    return (op | level << 5 | snoop << 19 | lock << 24 | remote << 37 | snoopx << 38 | blocked << 40 | hops << 43)


def record(kind, misc, body):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def mapping(start, length, name, executable):
    body = struct.pack("<IIQQQIIQQII", PID, PID, start, length, 0, 0, 0, 0, 0, 5 if executable else 3, 2)
    return record(10, 2 | (0 if executable else 1 << 13), body + name + b"\0")


def samples():
    """(thread, ip, address, data source, misc)."""
    for _ in range(5):  # line 0: two words that two threads write, and read from the other's cache
        yield 0, CODE, DATA, source(STORE, L1 | HIT), 2
        yield 1, CODE + 16, DATA + 8, source(LOAD, L3 | HIT, SNOOP_HITM), 2
    for _ in range(3):
        yield 0, CODE + 32, DATA + 16, source(LOAD, REM_CCE1 | HIT, SNOOP_HITM), 2
        yield 1, CODE + 48, DATA + 24, source(STORE, L1 | MISS, lock=LOCKED), 2
    for level in (L1, LFB, L2, L3, LOC_RAM, REM_RAM1, REM_RAM2, IO, UNC):  # line 1: where loads hit
        yield 0, CODE + 64, DATA + 64, source(LOAD, level | HIT), 2
        yield 1, CODE + 64, DATA + 64, source(LOAD, level | HIT, SNOOP_HIT), 2
    yield 0, CODE + 64, DATA + 72, source(LOAD, REM_CCE2 | HIT, SNOOP_HIT), 2
    yield 0, CODE + 64, DATA + 72, source(LOAD, L3 | MISS), 2
    yield 0, CODE + 64, DATA + 72, source(LOAD, L3 | HIT, SNOOP_HITM, remote=1), 2
    yield 0, CODE + 64, DATA + 80, source(LOAD, L2 | HIT, snoopx=PEER), 2
    yield 1, CODE + 80, DATA + 128, source(STORE, NA), 2  # line 2: stores
    yield 1, CODE + 80, DATA + 128, source(STORE, UNC | HIT), 2
    yield 1, CODE + 80, DATA + 136, source(LOAD, L1 | HIT, blocked=BLOCKED_DATA), 2
    yield 1, CODE + 80, DATA + 136, source(LOAD, L1 | HIT, blocked=BLOCKED_ADDRESS), 2
    yield 0, CODE, 0, source(LOAD, L1 | HIT), 2
    yield 0, CODE, 0, source(STORE, L1 | HIT), 2
    yield 0, CODE, 0x10000, source(LOAD, L1 | HIT), 2
    yield 0, 0xFFFFFFFF81000000, DATA, source(LOAD, L1 | HIT), 1
    yield 0, CODE, DATA, source(PREFETCH, L1 | HIT), 2


def sample(time, thread, ip, address, data_src, misc):
    body = struct.pack("<QIIQQIIQQQ", ip, PID, THREADS[thread], time, address, thread, 0, 1000, 70, data_src)
    return record(9, misc, body)


def strings(*words):
    return b"".join(struct.pack("<I", 64) + word.ljust(64, b"\0") for word in words)


records = record(3, 2, struct.pack("<II", PID, PID) + b"victim\0")
records += record(3, 2, struct.pack("<II", PID, THREADS[1]) + b"other\0")
records += mapping(CODE, 0x1000, b"//anon", True) + mapping(DATA, 0x1000, b"//anon", False)
for number, one in enumerate(samples()):
    records += sample(1000 + number, *one)

event = struct.pack("<IIQQQQQ", 4, 112, 0x1CD, 1000, SAMPLE, 0, 0).ljust(112, b"\0")
attr_size, header_size = 112 + 16, 104
data_at = header_size + attr_size
features = {
    7: struct.pack("<II", 2, 2),  # NRCPUS
    12: struct.pack("<II", 1, 112) + event + struct.pack("<I", 0) + strings(b"mem-loads"),  # EVENT_DESC
    14: struct.pack("<IIQQ", 1, 0, 1 << 20, 1 << 19) + strings(b"0-1"),  # NUMA_TOPOLOGY
    22: struct.pack("<QQQ", 1, 1 << 27, 1) + struct.pack("<QQQ", 0, 64, 1),  # MEM_TOPOLOGY
}
at = data_at + len(records) + 16 * len(features)
table, tail = b"", b""
for bit in sorted(features):
    table += struct.pack("<QQ", at + len(tail), len(features[bit]))
    tail += features[bit]
bits = sum(1 << bit for bit in features)
header = struct.pack("<8s13Q", b"PERFILE2", header_size, attr_size, header_size, attr_size, data_at, len(records), 0, 0, bits, 0, 0, 0, 0)
with open(sys.argv[1], "wb") as file:
    file.write(header[:header_size] + event + struct.pack("<QQ", 0, 0) + records + table + tail)
