#!/usr/bin/env python3
"""clang_reads.py BUILD: whether clang reads the C files of src/ without a warning, with the flags of a build directory.

All in one process of its compiler proper (-cc1, which takes many files): to start clang takes longer than to read a file.
"""
import json
import os
import shlex
import subprocess
import sys


def main():
    os.chdir(sys.argv[1])
    with open("compile_commands.json", encoding="utf-8") as listing:
        entries = [one for one in json.load(listing) if one["file"].startswith("../src/") and one["file"].endswith(".c")]
    files = sorted({one["file"] for one in entries})
    words = dict.fromkeys(word for one in entries for word in shlex.split(one["command"]))
    flags = [word for word in words if word.startswith(("-I../", "-D", "-W", "-std=")) or word == "-Isrc"]
    told = subprocess.run(["clang", "-###", "-fsyntax-only", *flags, files[0]], capture_output=True, text=True, check=True).stderr
    command = shlex.split(next(line for line in told.splitlines() if '"-cc1"' in line))
    at = command.index("-main-file-name")
    alone = [word for word in command[:at] + command[at + 2:] if word not in (files[0], "-disable-free")]
    print(len(files), "files")
    sys.exit(subprocess.run([*alone, *files], check=False).returncode)


main()
