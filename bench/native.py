#!/usr/bin/env python3
"""Native sampling: is it right, how is it biased, what does it cost? Held against perf record and the model.

    bench/native.py shares [PROGRAM…]   function shares by `record --source=timer` and by `perf record -e cpu-clock`
    bench/native.py bias [PROGRAM…]     the timer against the model's exact stream: functions, lines, instructions
    bench/native.py cost [PROGRAM…]     time and memory at 4 kHz: bare, timer source, perf record; what an interrupt costs

Runs alternate, so that what the machine does besides meets all of them alike. Ends with 1 where a goal is missed. Not part
of bench/run; doc/design/native.md has what came out.
"""
import argparse
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from native_bias import compare_bias  # noqa: E402
from native_cost import compare_cost  # noqa: E402
from native_shares import compare_shares  # noqa: E402

WORK = {"shares": (compare_shares, 1), "bias": (compare_bias, 1), "cost": (compare_cost, 5)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=WORK)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--rounds", type=int, help="default: 1; cost: 5; shares: at the least")
    parser.add_argument("--build", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build"))
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    work, rounds = WORK[options.what]
    options.rounds = options.rounds or rounds
    if options.what != "bias" and not shutil.which("perf"):
        sys.exit("bench/native.py: no perf (Debian: linux-perf)")
    with tempfile.TemporaryDirectory() as folder:
        results, good = work(options, folder)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
