#!/usr/bin/env python3
"""Holds what `assay reuse` writes against its manual page.

usage: reuse_fields.py [--all] PAGE FILE...

Each field of the JSON documents has to be a .Va of the page, each `what` of the CSV tables a .Ql. With --all, each field and each `what`
of the section "JSON and CSV" has to be in one of the files, too."""
import csv
import json
import re
import sys


def fields(value, found):
    if isinstance(value, dict):
        found.update(value)
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        fields(part, found)


def words(text, macro):
    found = set()
    for rest in re.findall(rf"^\.(?:Pq )?{macro} (.*)$", text, re.M):
        found.update([rest.rstrip(" ,.;:")] if macro == "Ql" else re.findall(r"\w+", rest))
    return found


def causes(whats):
    """`code: cold misses` stands for all of the causes, and for cache and object."""
    return {re.sub(r"^(?:cache|code|object): \w+ misses$", "code: cold misses", what) for what in whats}


every = sys.argv[1] == "--all"
page, *files = sys.argv[2 if every else 1:]
text = open(page).read()
section = text[text.index(".Ss JSON and CSV"):text.index(".Ss Samples and watchpoints")]
keys, whats = set(), set()
for name in files:
    with open(name) as file:
        if name.endswith(".csv"):
            whats.update(row["what"] for row in csv.DictReader(file))
        else:
            fields(json.load(file), keys)
wrong = [f"{field} is not on the page" for field in sorted(keys - words(text, "Va"))]
wrong += [f"'{what}' is not on the page" for what in sorted(causes(whats) - words(text, "Ql"))]
if every:
    columns = {"what", "thread", "lo", "hi", "value", "name"}
    wrong += [f"no file has {field}" for field in sorted(words(section, "Va") - keys - columns)]
    wrong += [f"no file has '{what}'" for what in sorted(words(section, "Ql") - causes(whats) - {"cache", "code", "object"})]
print("\n".join(wrong))
sys.exit(bool(wrong))
