#!/usr/bin/env python3
"""judge.py ASK ANSWER: evaluates the expressions of check_json and holds (lib.sh), one after the other.

To start a Python takes longer than nearly all of its answers, so one serves all checks of a script. ASK and ANSWER are named
pipes. A question is a working directory, an expression, Python code to run before it, and the names of JSON files, with a NUL
behind each; the answer is "True", or what the expression is instead. In the expression `d` is the document, or the list of them.
A document is read once while its file stays as it is: expressions look at it and do not change it.
"""
import json
import math
import os
import sys
import time


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-6)


SETTLED = 50_000_000  # nanoseconds: clocks of files tick more often
MOST = 32_000_000  # bytes of files whose documents are kept
read = {}  # documents by path and what their files were like


def load(name):
    with open(name, encoding="utf-8") as file:
        now = os.fstat(file.fileno())
        key = os.path.abspath(name), now.st_ino, now.st_size, now.st_mtime_ns
        if key in read:
            return read[key]
        document = json.load(file)
    if sum(size for _, _, size, _ in read) + now.st_size > MOST:
        read.clear()
    if now.st_size < MOST and time.time_ns() - now.st_mtime_ns > SETTLED:  # what is written later has another time
        read[key] = document
    return document


def judge(expression, before, *names):
    documents = [load(name) for name in names]
    scope = {"json": json, "math": math, "sys": sys, "near": near, "d": documents[0] if len(documents) == 1 else documents}
    exec(before, scope)  # pylint: disable=exec-used
    result = eval("(" + expression + ")", scope)  # pylint: disable=eval-used
    return "True" if result is True else f"{expression} is {result!r}, not True"


def main():
    ask, answer = sys.argv[1:]
    while True:
        with open(ask, encoding="utf-8", errors="surrogateescape") as question:
            directory, *rest = question.read().split("\0")[:-1]
        try:
            os.chdir(directory)
            told = judge(*rest)
        except BaseException as error:  # pylint: disable=broad-except
            told = f"{rest[0] if rest else ''}: {type(error).__name__}: {error}"
        with open(answer, "w", encoding="utf-8", errors="replace") as reply:
            reply.write(told)


main()
