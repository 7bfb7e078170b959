"""The statements of doc/cases/lbm.md and nab.md as expressions over `compare --json --top` documents.

cases_events.py EXPRESSION NAME=FILE…   succeeds where the expression is true; each NAME is a run
"""
import json
import sys


class Run:
    """A document, asked by function: `share` of a sampler (or of the Oracle) by kind of instruction."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.document = json.load(file)
        self.cycles = self.document["cycles"]

    def rows(self, function):
        return [row for row in self.document["rows"] if row["function"].startswith(function)]

    def value(self, row, sampler="oracle"):
        return row["share"] if sampler == "oracle" else row["samplers"][sampler]

    def share(self, function, kind, sampler="oracle"):
        return sum(self.value(row, sampler) for row in self.rows(function) if kind_of(row) == kind)

    def time(self, function, kind, event):
        """Golden cycles of the components that this event is part of."""
        return sum(cycles for row in self.rows(function) if kind_of(row) == kind
                   for name, cycles in row["components"].items() if event in name.split("+"))

    def top(self, function, sampler="oracle", n=1):
        """The kinds of the n instructions that it blames most."""
        order = sorted(self.rows(function), key=lambda row: -self.value(row, sampler))
        return [kind_of(row) for row in order[:n]]


def kind_of(row):
    name = row["text"].split()[0].removeprefix("c.")
    if name in ("frflags", "fsflags", "fsqrt.d"):
        return name
    return {"fld": "load", "ld": "load", "fsd": "store", "sd": "store"}.get(name, "fp" if name[0] == "f" else "other")


def main():
    expression, *names = sys.argv[1:]
    runs = {name: Run(path) for name, _, path in (word.partition("=") for word in names)}
    result = eval(f"({expression})", {**runs, "runs": list(runs.values())})
    sys.exit(None if result is True else f"{expression} is {result!r}")


if __name__ == "__main__":
    main()
