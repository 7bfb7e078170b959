#!/usr/bin/env python3
"""How long choosing simulation points takes, beside SimPoint 3.2.

    bench/cluster_bench.py [--build DIR] [--simpoint FILE] [--intervals N] [--blocks N] [--phases N] [--rounds N]

Makes vectors (5,000 intervals of 3,000 blocks; each phase executes 400 of them, each interval up to 20 % more or less of each), and has
`assay points --from-bb` and, where its program is given, `simpoint -maxK 30` choose from the same file, in turn. The least processor time
of each counts, reading included.
"""
import argparse
import os
import random
import re
import resource
import subprocess
import tempfile


def make_vectors(path, options):
    dice, phase = random.Random(1), 0
    phases = [[(block, 1000 * dice.expovariate(1)) for block in sorted(dice.sample(range(1, options.blocks + 1), 400))]
              for _ in range(options.phases)]
    with open(path, "w") as out:
        for _ in range(options.intervals):
            if dice.random() < .02:
                phase = dice.randrange(options.phases)
            out.write("T" + " ".join(f":{b}:{max(1, int(n * dice.uniform(.8, 1.2)))}" for b, n in phases[phase]) + "\n")


def seconds_of(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build"))
    parser.add_argument("--simpoint", help="SimPoint's program")
    for name, value in (("intervals", 5000), ("blocks", 3000), ("phases", 20), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vectors = os.path.join(folder, "vectors.bb")
        make_vectors(vectors, options)
        ways = {"assay": [os.path.join(options.build, "assay"), "points", "-q", "--from-bb", vectors]}
        if options.simpoint:
            ways["simpoint"] = [options.simpoint, "-maxK", "30", "-loadFVFile", vectors, "-saveSimpoints",
                                os.path.join(folder, "points"), "-saveSimpointWeights", os.path.join(folder, "weights")]
        least, chosen = {}, {}
        for _ in range(options.rounds):
            for way, command in ways.items():
                seconds, text = seconds_of(command)
                least[way] = min(seconds, least.get(way, seconds))
                chosen[way] = (re.search(r", (\d+) phases?\b", text) or re.search(r"best clustering was run \d+ \(k = (\d+)\)", text)).group(1)
    for way, seconds in least.items():
        print(f"{way}: {seconds:.2f} s of processor time, {chosen[way]} phases")
    if options.simpoint:
        print(f"SimPoint takes {least['simpoint'] / least['assay']:.1f} times as long")


if __name__ == "__main__":
    main()
