#!/usr/bin/env python3
"""Whose simulation points predict better: those of `assay points` or those of SimPoint 3.2, chosen from the same vectors.

    bench/choice_bench.py --simpoint FILE [--build DIR] [--programs LIST] [--interval N] [--seeds N]

Programs and inputs are those of suite/points_run. `assay points` writes the vectors of each; both choose from them with at most 30
phases, each with several seeds. Then the program runs in the model with the chosen points, everything between them warmed, and in
full. The predicted CPI is compared with the true one: the mean of the absolute errors, the largest, and the mean number of points.
"""
import argparse
import json
import importlib.machinery
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def load(path):
    loader = importlib.machinery.SourceFileLoader("points_run", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def execute(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def choose(options, way, seed):
    """Writes way.s and way.w. SimPoint 3.2 does not survive -seedproj 1."""
    if way == "simpoint":
        execute([options.simpoint, "-maxK", "30", "-loadFVFile", "vectors.bb", "-seedkm", str(seed + 1), "-seedproj", str(seed + 1),
                 "-saveSimpoints", "simpoint.s", "-saveSimpointWeights", "simpoint.w"])
    else:
        execute([options.assay, "points", "-q", "--from-bb", "vectors.bb", "--seed", str(seed), "--simpoints", "assay.s", "--weights", "assay.w"])
    with open(f"{way}.s") as points:
        return len(points.readlines())


def predict(options, way, program):
    execute([options.assay, "points", "-q", "--json", "-o", "out.json", "--warm", "all", "--interval", options.interval,
             "--from-simpoints", f"{way}.s", "--from-weights", f"{way}.w", "--", *program])
    with open("out.json") as file:
        return json.load(file)["cpi"]


def true_cpi(options, program):
    execute([options.assay, "compare", "-q", "--json", "--samplers", "tip", "-o", "truth.json", "--", *program])
    with open("truth.json") as file:
        return 1 / json.load(file)["ipc"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--simpoint", required=True, type=os.path.abspath, help="SimPoint's program")
    parser.add_argument("--programs", default="gzip,bzip2,mawk,perl")
    parser.add_argument("--interval", default="200k")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    options.assay = os.path.abspath(os.path.join(options.build, "assay"))
    suite = load(os.path.join(ROOT, "suite", "points_run"))
    errors, points = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        names = options.programs.split(",")
        suite.make_inputs(folder, [suite.PROGRAMS[name] for name in names])
        for name in names:
            program = suite.PROGRAMS[name].split()
            execute([options.assay, "points", "-q", "--cpi", "off", "--interval", options.interval, "--bb", "vectors.bb", "--", *program])
            truth = true_cpi(options, program)
            for way in ("assay", "simpoint"):
                for seed in range(1, options.seeds + 1):
                    points.setdefault(way, []).append(choose(options, way, seed))
                    errors.setdefault(way, []).append(100 * abs(predict(options, way, program) / truth - 1))
                own = errors[way][-options.seeds:]
                print(f"{name}: {way}: {statistics.mean(own):.2f} % on average, {max(own):.2f} % at most, "
                      f"{statistics.mean(points[way][-options.seeds:]):.1f} points", flush=True)
        os.chdir(ROOT)
    for way, all_of in errors.items():
        print(f"all: {way}: {statistics.mean(all_of):.2f} % on average, {max(all_of):.2f} % at most, {statistics.mean(points[way]):.1f} points")


if __name__ == "__main__":
    main()
