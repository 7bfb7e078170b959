"""A perf.data file with samples that have data addresses: `data_recording.py pebs|ibs VICTIM FILE`.

pebs: PERF_SAMPLE_ADDR, WEIGHT and DATA_SRC. ibs: the registers as raw data, and an ADDR of 0, as older kernels wrote
them. Of VICTIM (a position-independent program) three loads of `a`, a store to `b`; two loads of the heap, a store to
the stack, a load of what is mapped nowhere, and a sample without an address: each stands for a period of 1000.
"""

import os
import struct
import subprocess
import sys

unit, victim, output = sys.argv[1:4]
BASE, PID, PAGE = 0x555555554000, 77, 4096
IP, TID, TIME, ADDR, PERIOD, RAW, WEIGHT, DATA_SRC = (1 << n for n in (0, 1, 2, 3, 8, 10, 14, 15))
LOAD, STORE = 2, 4  # mem_op of DATA_SRC
sample_type = IP | TID | TIME | ADDR | PERIOD | (RAW if unit == "ibs" else WEIGHT | DATA_SRC)

symbols = {}
for line in subprocess.run(["nm", victim], check=True, capture_output=True, text=True).stdout.splitlines():
    words = line.split()
    if len(words) == 3:
        symbols[words[2]] = BASE + int(words[0], 16)


def record(kind, misc, body):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def mapping(start, length, offset, name, inode, executable):
    info = os.stat(victim)
    device = (os.major(info.st_dev), os.minor(info.st_dev)) if inode else (0, 0)
    body = struct.pack("<IIQQQIIQQII", PID, PID, start, length, offset, *device, inode, 0, 5 if executable else 3, 2)
    return record(10, 2 | (0 if executable else 1 << 13), body + name.encode() + b"\0")


def segments():
    text = subprocess.run(["readelf", "-lW", victim], check=True, capture_output=True, text=True).stdout
    for words in (line.split() for line in text.splitlines() if line.strip().startswith("LOAD")):
        offset, address, size = (int(words[i], 16) for i in (1, 2, 4))
        start = BASE + address & -PAGE
        yield start, (BASE + address + size + PAGE - 1 & -PAGE) - start, offset & -PAGE, "E" in words[6:-1]


def ibs_raw(address, op):
    data3 = (1 if op == LOAD else 2) | (1 << 17 if address else 0) | 4 << 22
    return struct.pack("<I7Q", 0xFF, 1 << 17 | 1 << 18, symbols["stream"], 0, 0, data3, address, 0)


def sample(time, address, op):
    recorded = 0 if unit == "ibs" else address
    body = struct.pack("<QIIQQQ", symbols["stream"] + 4, PID, PID, time, recorded, 1000)
    if unit == "ibs":
        raw = ibs_raw(address, op)
        body += struct.pack("<I", len(raw)) + raw
        body += b"\0" * (-len(body) % 8)
    else:
        body += struct.pack("<QQ", 70, op)
    return record(9, 2, body)


records = record(3, 2, struct.pack("<II", PID, PID) + b"victim\0")
for start, length, offset, executable in segments():
    records += mapping(start, length, offset, os.path.realpath(victim), os.stat(victim).st_ino, executable)
records += mapping(0x555555600000, 0x21000, 0, "[heap]", 0, False)
records += mapping(0x7FFFFFFDE000, 0x21000, 0, "[stack]", 0, False)
for time, (address, op) in enumerate(
    [(symbols["a"] + 8 * i, LOAD) for i in (0, 100, 5000)]
    + [(symbols["b"] + 64, STORE), (0x555555600010, LOAD), (0x555555610000, LOAD), (0x7FFFFFFDF000, STORE)]
    + [(0x10000, LOAD), (0, LOAD)]
):
    records += sample(1000 + time, address, op)

name = b"ibs_op" if unit == "ibs" else b"cpu"
event = struct.pack("<IIQQQQQ", 8, 112, 0, 1000, sample_type, 0, 0).ljust(112, b"\0")
attr_size, header_size = 112 + 16, 104
data_at = header_size + attr_size
described = b"loads".ljust(64, b"\0")
features = {
    12: struct.pack("<II", 1, 112) + event + struct.pack("<I", 0) + struct.pack("<I", 64) + described,  # EVENT_DESC
    16: struct.pack("<III", 1, 8, 64) + name.ljust(64, b"\0"),  # PMU_MAPPINGS
}
at = data_at + len(records) + 16 * len(features)
table, tail = b"", b""
for bit in sorted(features):
    table += struct.pack("<QQ", at + len(tail), len(features[bit]))
    tail += features[bit]
bits = sum(1 << bit for bit in features)
header = struct.pack("<8s13Q", b"PERFILE2", header_size, attr_size, header_size, attr_size, data_at, len(records), 0, 0, bits, 0, 0, 0, 0)
with open(output, "wb") as file:
    file.write(header[:header_size] + event + struct.pack("<QQ", 0, 0) + records + table + tail)
