#!/usr/bin/env python3
"""bias_table.py BIAS.CSV: the rows of bias.c's table, from what suite/bias_run has measured.

For each way of sampling and level the 10th, 50th and 90th percentile, over the programs of the suite, of what an error has
beside chance: the two come together as independent deviations do, so chance is taken off in squares.
"""
import csv, math, sys

LEVELS = ["function", "block", "instruction"]


def percentile(values, part):
    """Between neighbours where it falls between two."""
    values = sorted(values)
    at = part * (len(values) - 1)
    low = math.floor(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def bias(row, level):
    error, chance = float(row[level] or "nan"), float(row[f"chance {level}"] or "nan")
    return math.sqrt(max(0, error * error - chance * chance)) / 100


def main():
    ways = {}
    for row in csv.DictReader(open(sys.argv[1], encoding="utf-8")):
        ways.setdefault(row["way"], []).append(row)
    for way in sorted(ways):
        levels = []
        for level in LEVELS:
            values = [value for row in ways[way] if not math.isnan(value := bias(row, level))]
            levels.append("{%s}" % ", ".join(f"{percentile(values, part):.4f}" for part in (0.1, 0.5, 0.9)))
        print(f'{{"{way}", ABOUT_{way.replace("-", "_")}, {len(ways[way])}, {{{", ".join(levels)}}}}},')


if __name__ == "__main__":
    main()
