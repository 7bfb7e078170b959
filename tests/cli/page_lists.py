"""Objects and branches in the page's document.

    page_lists.py check PAGE.html SERIES data.json|- branches.json|-   against report --data and --branches, --json --limit 0
    page_lists.py grow PROFILE OBJECTS BRANCHES                        adds so many to each series of a profile
"""

import base64
import json
import re
import sqlite3
import sys
import zlib

ROWS = 2000  # AS_PAGE_ROWS
INSNS = 60  # that are made up, for what is made up


def document(file):
    found = re.findall(r'data-encoding="deflate-base64">([^<]*)<', open(file, encoding="utf-8").read())
    return json.loads(zlib.decompress(base64.b64decode(found[0])))


def address(page, row):
    """The address of an instruction of the page."""
    functions = page["functions"]
    first = 0
    for count, start in zip(functions["count"], functions["address"]):
        if row < first + count:
            return int(start, 16) + sum(page["instructions"]["address"][first : row + 1])
        first += count
    raise AssertionError(f"no row {row}")


def text(page, row):
    return page["strings"][page["instructions"]["text"][row]]


def same_place(page, name, row, told):
    assert address(page, row) == int(told["address"], 16), (row, told)
    assert text(page, row) == (told["text"] or "?"), (row, told)
    if told["function"]:
        assert re.fullmatch(re.escape(told["function"]) + r"(\+0x[0-9a-f]+)?", page["strings"][name]), told
    else:
        assert page["strings"][name] == told["address"], told


def near(a, b):
    return abs(a - b) <= 0.001 + abs(b) * 1e-9


def check_rest(table, told, columns):
    """What is left out is said, and with it nothing is lost."""
    rest = table.get("rest")
    assert (rest is not None) == (len(told) > ROWS), (len(told), rest)
    for name, member in columns.items():
        assert len(table[name]) == min(len(told), ROWS), name
        all_of_it = sum(table[name]) + (rest[name] if rest else 0)
        assert near(all_of_it, sum(row[member] for row in told)), (name, all_of_it)
    if rest:
        assert rest["rows"] == len(told) - ROWS, rest


def check_data(page, table, told):
    rows = told["rows"]
    check_rest(table, rows, {"cycles": "time", "samples": "samples"})
    columns = {"cycles": "time", "loads": "load_time", "stores": "store_time", "samples": "samples", "lines": "lines",
               "bytes": "bytes", "instructions": "instruction_count"}
    at = 0
    for i, row in enumerate(rows[:ROWS]):
        for name, member in columns.items():
            assert near(table[name][i], row[member]), (name, i)
        assert page["strings"][table["name"][i]] == (row["object"] or "[unknown]"), row
        assert table["address"][i] == row.get("address") and table["size"][i] == row.get("size", 0), row
        module = table["module"][i]
        assert (page["modules"][module]["path"] if module >= 0 else None) == row["module"], row
        assert table["listed"][i] == len(row["instructions"]), row
        for insn in row["instructions"]:
            accesses = table["accesses"]
            assert near(accesses["cycles"][at], insn["time"])
            same_place(page, accesses["name"][at], accesses["row"][at], insn)
            at += 1
    assert at == len(table["accesses"]["row"])
    how = {one["how"]: one["samples"] for one in page["addresses"]}
    because = told["addresses"].pop("none_because")
    assert {k: v for k, v in how.items() if not k.startswith("none_")} == {k: v for k, v in told["addresses"].items() if v}
    assert {k[5:]: v for k, v in how.items() if k.startswith("none_")} == because
    assert all(one["meaning"] for one in page["addresses"])


def check_branches(page, table, told):
    rows = told["rows"]
    check_rest(table, rows, {"taken": "taken", "mispredicted": "mispredicted"})
    for i, row in enumerate(rows[:ROWS]):
        assert (table["taken"][i], table["mispredicted"][i]) == (row["taken"], row["mispredicted"]), row
        assert (table["cycles"][i] if "cycles" in table else None) == row["cycles"], row
        for end in "from", "to":
            same_place(page, table[end]["name"][i], table[end]["row"][i], row[end])


def check(file, name, data, branches):
    page = document(file)
    series = next(one for one in page["series"] if one["name"] == name)
    for member, told, compare in (("data", data, check_data), ("branches", branches, check_branches)):
        assert (member in series) == (told != "-"), member
        if told != "-":
            compare(page, series[member], json.load(open(told, encoding="utf-8")))
    if data == "-" and not any("data" in one for one in page["series"]):
        assert "addresses" not in page


def grow(file, objects, branches):
    with sqlite3.connect(file) as db:
        number, start, module, function, block = db.execute(
            "SELECT id, address, module, function, block FROM instructions ORDER BY id DESC").fetchone()
        insns = range(number + 1, number + 1 + INSNS)
        for i in insns:
            db.execute("INSERT INTO instructions VALUES (?, ?, ?, ?, ?, NULL, 0, NULL, 0, NULL, ?, NULL)",
                       (i, start + 16 * (i - number), module, function, block, f"made {i}"))
        thread = db.execute("SELECT min(thread) FROM accesses").fetchone()[0]
        first = db.execute("SELECT coalesce(max(id), -1) + 1 FROM objects").fetchone()[0]
        assert INSNS * INSNS >= branches
        for i in range(objects):
            db.execute("INSERT INTO objects VALUES (?, NULL, ?, ?, 64)", (first + i, f"[made {i}]", (i + 1) << 12))
        for (series,) in db.execute("SELECT id FROM series").fetchall():
            for i in range(objects):
                db.execute("INSERT INTO accesses VALUES (?, ?, ?, ?, 8, 1, 0, ?, ?, 1)",
                           (series, insns[i % INSNS], thread, (i + 1) << 12, first + i, 1 + i % 900))
            for i in range(branches):
                db.execute("INSERT INTO branches VALUES (?, ?, ?, ?, ?, ?)",
                           (series, insns[i // INSNS], insns[i % INSNS], 1 + i % 50, i % 2, 7 * (1 + i % 50)))


if __name__ == "__main__":
    if sys.argv[1] == "check":
        check(*sys.argv[2:])
    else:
        grow(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
