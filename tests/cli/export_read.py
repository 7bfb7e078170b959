#!/usr/bin/env python3
"""Readers of exported profiles that know nothing of Assay.

export_read.py FORMAT FILE       prints the total of the file's time, after checking that the file is sound
export_read.py profile DB SERIES prints the total of a series, from the profile itself
"""
import csv
import gzip
import json
import re
import sqlite3
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

HERE = Path(__file__).resolve().parent


def require(truth, what):
    if not truth:
        sys.exit(f"not sound: {what}")


# ---- pprof ----

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """The fields of a message: (number, value); values are integers or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        require(key & 7 in (0, 2), f"wire type {key & 7}")
        value, at = varint(data, at)
        if key & 7 == 2:
            require(at + value <= len(data), "a field that ends behind its message")
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def read_pprof(path, column=-1):
    data = Path(path).read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    parts = {}
    for number, value in fields(data):
        parts.setdefault(number, []).append(value)
    strings = [text.decode("utf-8") for text in parts[6]]  # strict: raises on bad UTF-8
    require(strings[0] == "", "string 0 is not empty")
    locations = {dict(fields(x))[1]: list(fields(x)) for x in parts.get(4, [])}
    functions = {dict(fields(x))[1]: dict(fields(x)) for x in parts.get(5, [])}
    mappings = {dict(fields(x))[1] for x in parts.get(3, [])}
    for location in locations.values():
        for number, value in location:
            if number == 2:
                require(value in mappings, "a location in no mapping")
            if number == 4:
                require(dict(fields(value))[1] in functions, "a line in no function")
    for function in functions.values():
        require(all(function.get(k, 0) < len(strings) for k in (2, 3, 4)), "a string that is not there")
    columns = len(parts[1])
    total = 0
    for sample in parts.get(2, []):
        sample = list(fields(sample))
        stack = [v for n, value in sample if n == 1 for v in packed(value)]
        values = [v for n, value in sample if n == 2 for v in packed(value)]
        require(stack and all(x in locations for x in stack), "a stack with a location that is not there")
        require(len(values) == columns, "a sample with other values than there are types")
        total += values[column]
    return total


def read_pprof_samples(path):
    return read_pprof(path, 0)


# ---- text ----

def read_folded(path):
    total = 0
    for line in Path(path).read_bytes().split(b"\n")[:-1]:
        match = re.fullmatch(rb"([^;\x00-\x1f]+(;[^;\x00-\x1f]+)*) (\d+)", line)
        require(match, f"line {line[:200]!r}")
        line.decode("utf-8")
        total += int(match[3])
    return total


def read_perf_script(path):
    """As FlameGraph's stackcollapse-perf.pl tells headers and frames apart."""
    total, frames = 0, 0
    for line in Path(path).read_text(encoding="utf-8").split("\n"):
        head = re.match(r"(\S.+?)\s+(\d+)/*(\d+)*\s+", line)
        if not line:
            frames = 0
        elif head:
            event = re.search(r":\s*(\d+)*\s+(\S+):\s*$", line)
            require(event, f"header {line[:200]!r}")
            total += int(event[1])
        else:
            require(re.match(r"\s*(\w+)\s*(.+) \((\S*)\)$", line), f"frame {line[:200]!r}")
            frames += 1
    require(frames == 0, "a stack that does not end")
    return total


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
        names = list(rows[0])
    unit = names[10]
    for row in rows:
        require(None not in row and None not in row.values(), f"row {row}")
        parts = [Decimal(row[name]) for name in names[11:]]
        require(not parts or sum(parts) == Decimal(row[unit]), f"components of {row['address']}")
    return sum(Decimal(row[unit]) for row in rows)


def read_callgrind(path):
    """What callgrind_annotate makes of it; functions must add up to the totals."""
    run = subprocess.run(["callgrind_annotate", "--threshold=100", "--show-percs=no", "--auto=no", path],
                         capture_output=True, check=True)
    text = run.stdout.decode("utf-8", "replace")
    require(not run.stderr, f"callgrind_annotate says {run.stderr[:300]!r}")
    totals = re.search(r"^([\d,. ]+?)\s+PROGRAM TOTALS$", text, re.M)
    require(totals, "no totals")

    def columns(line):
        return [0 if x == "." else int(x.replace(",", "")) for x in line.split()]
    total = columns(totals[1])
    body = text[text.index("file:function"):]
    rows = [columns(x) for x in re.findall(r"^ *((?:[\d,]+|\.)(?: +(?:[\d,]+|\.)){%d})  " % (len(total) - 1), body, re.M)]
    require([sum(x) for x in zip(*rows)] == total, f"functions do not add up to {total}")
    require(len(total) == 1 or sum(total[1:]) == total[0], "components do not add up")
    return total[0]


# ---- JSON ----

def read_speedscope(path):
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    try:
        import jsonschema
        jsonschema.validate(document, json.loads((HERE / "speedscope_schema.json").read_text()))
    except ImportError:
        print("python3-jsonschema is not installed", file=sys.stderr)
    frames = len(document["shared"]["frames"])
    total = 0
    for profile in document["profiles"]:
        require(len(profile["samples"]) == len(profile["weights"]), "samples and weights")
        require(all(index < frames for stack in profile["samples"] for index in stack), "a frame that is not there")
        require(profile["endValue"] == sum(profile["weights"]), "endValue")
        total += profile["endValue"]
    return total


def read_json(path):
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    first = document["series"][0]
    for name, target in (("module", "modules"), ("function", "functions"), ("file", "files")):
        require(all(x[name] is None or x[name] < len(document[target]) for x in document["instructions"]), name)
    units = sum(x["units"] for x in first["times"])
    if first["components"]:
        require(sum(x["units"] for x in first["components"]) == units, "components")
    return Decimal(units) / first["scale"]


def read_profile(path, series):
    base = sqlite3.connect(path)
    base.text_factory = bytes
    units, scale = base.execute("SELECT sum(t.units), s.scale FROM times t JOIN series s ON s.id = t.series"
                                " WHERE s.name = ?", (series,)).fetchone()
    return Decimal(units) / scale


def main():
    kind = sys.argv[1]
    if kind == "profile":
        total = read_profile(sys.argv[2], sys.argv[3])
    else:
        total = globals()["read_" + kind.replace("-", "_")](sys.argv[2])
    # Whole numbers as the formats have them; CSV and JSON tell fractions too.
    print(int(Decimal(total) + Decimal("0.5")))


main()
