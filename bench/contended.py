#!/usr/bin/env python3
"""Cycles that two threads take to change words, on lines of their own and on one line: this machine against the model.

Usage: bench/contended.py [BUILD [RUNS [CORE]]] (default build, 3, the core that is nearest to this machine). x86-64 only. Natively the threads have real-time priority where that is allowed (chrt),
so that other programs do not come between; each figure is the median of RUNS and their least and most. "turns" is a round of two hand-overs: it
tells whether both processors share a cache at the moment. A virtual machine can move them apart between two runs, and then they are several
times as far from each other. Modelled cycles are the difference of two runs, of N and 4 N changes: when the second thread begins differs by up to 50,000
cycles, which is half a cycle of each then. The program is linked statically, because what the dynamic linker takes would differ, too. Then what a store takes behind a load of a line
that the other core has written or read (bench/after_a_load.c), natively.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WAYS = [("add", "apart"), ("add", "beside"), ("lock", "apart"), ("lock", "beside"), ("xchg", "apart"), ("xchg", "beside"),
        ("cas", "apart"), ("cas", "beside"), ("cas", "same"), ("store", "apart"), ("store", "beside"), ("turns", "same")]
NATIVE_ROUNDS, NATIVE_TURNS, MODELLED_ROUNDS, MODELLED_TURNS = 4000000, 200000, 40000, 2000


def real_time():
    chrt = shutil.which("chrt")
    allowed = chrt and subprocess.run([chrt, "-r", "1", "true"], stderr=subprocess.DEVNULL).returncode == 0
    return [chrt, "-r", "1"] if allowed else []


def native(program, way, place, runs):
    rounds = NATIVE_TURNS if way == "turns" else NATIVE_ROUNDS
    argv = [*real_time(), program, way, place, str(rounds)]
    return sorted(float(subprocess.check_output(argv, env={**os.environ, "NATIVE": "1"})) for _ in range(runs))


def elapsed(build, core, program, way, place, rounds):
    argv = [os.path.join(build, "assay"), "compare", "-q", "--json", "--samplers=none", *core, "--", program, way, place, str(rounds)]
    return json.loads(subprocess.check_output(argv))["counters"]["elapsed_cycles"]


def modelled(build, core, program, way, place):
    rounds = MODELLED_TURNS if way == "turns" else MODELLED_ROUNDS
    few, many = (elapsed(build, core, program, way, place, n) for n in (rounds, 4 * rounds))
    return (many - few) / (3 * rounds)


def build_program(folder, name):
    program = os.path.join(folder, name)
    subprocess.run(["cc", "-O2", "-g", "-static", "-pthread", "-o", program, os.path.join(ROOT, "bench", name + ".c")], check=True)
    return program


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    core = ["--core", sys.argv[3]] if len(sys.argv) > 3 else []
    with tempfile.TemporaryDirectory() as folder:
        program = build_program(folder, "contended")
        print(f"{'':14}{'this machine':>24}{core[-1] if core else 'the model':>18}")
        for way, place in WAYS:
            times = native(program, way, place, runs)
            print(f"{way:7}{place:7}{statistics.median(times):8.1f} ({times[0]:.1f} to {times[-1]:.1f})".ljust(38) +
                  f"{modelled(build, core, program, way, place):18.1f}", flush=True)
        subprocess.run([*real_time(), build_program(folder, "after_a_load")], check=True)


if __name__ == "__main__":
    main()
