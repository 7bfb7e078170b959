#!/usr/bin/env python3
"""judge.py ASK ANSWER: evaluates the expressions of check_json and holds (lib.sh), one after the other.

To start a Python takes longer than nearly all of its answers, so one serves all checks of a script. ASK and ANSWER are named
pipes. A question is a working directory, an expression, Python code to run before it, and the names of JSON files, with a NUL
behind each; the answer is "True", or what the expression is instead. In the expression `d` is the document, or the list of them.
"""
import json
import math
import os
import sys


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-6)


def load(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


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
