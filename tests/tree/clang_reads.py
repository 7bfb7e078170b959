#!/usr/bin/env python3
"""Whether clang reads C files of src/ and tests/unit/ without a warning, with the flags of a build directory.

clang_reads.py BUILD FILE...
    reads these
clang_reads.py BUILD
    lists all that there are

All in one process of its compiler proper (-cc1, which takes many files): to start clang takes longer than to read a file. What most
files include of the C library is read once, which halves the time; gcc sees whether a file includes what it needs.
"""
import json
import os
import shlex
import subprocess
import sys
import tempfile

COMMON = ["errno.h", "inttypes.h", "math.h", "stdbool.h", "stdio.h", "stdlib.h", "string.h"]


def read_ahead(directory, flags):
    """The flags that give a file the headers in COMMON as one that was read before."""
    header = f"{directory}/common.h"
    with open(header, "w", encoding="utf-8") as out:
        out.writelines(f"#include <{name}>\n" for name in COMMON)
    subprocess.run(["clang", "-x", "c-header", *flags, header, "-o", f"{header}.pch"], check=True)
    return ["-include-pch", f"{header}.pch"]


def main():
    os.chdir(sys.argv[1])
    with open("compile_commands.json", encoding="utf-8") as listing:
        entries = [one for one in json.load(listing) if one["file"].startswith(("../src/", "../tests/unit/")) and one["file"].endswith(".c")]
    files = sorted({one["file"] for one in entries})
    words = {}  # one value for each macro: programs of tests have their own
    for word in (word for one in entries for word in shlex.split(one["command"])):
        words.setdefault(word.split("=")[0] if word.startswith("-D") else word, word)
    flags = [word for word in words.values() if word.startswith(("-I../", "-Itests/", "-D", "-W", "-std=")) or word == "-Isrc"]
    wanted = [f"../{name}" for name in sys.argv[2:]]
    if not wanted:
        print("\n".join(name[3:] for name in files))
        return 0
    with tempfile.TemporaryDirectory() as directory:
        return read(wanted, flags + read_ahead(directory, flags))


def read(files, flags):
    told = subprocess.run(["clang", "-###", "-fsyntax-only", *flags, files[0]], capture_output=True, text=True, check=True).stderr
    command = shlex.split(next(line for line in told.splitlines() if '"-cc1"' in line))
    at = command.index("-main-file-name")
    alone = [word for word in command[:at] + command[at + 2:] if word not in (files[0], "-disable-free")]
    return subprocess.run([*alone, *files], check=False).returncode


sys.exit(main())
