#!/usr/bin/env python3
"""The papers' own programs (ComDetective, 5.4.2): communication of their threads beside the messages of their ranks.

usage: bench/comm_papers.py [--only NAME,…] FOLDER [BUILD]

FOLDER holds the programs, ready to run and with debugging information; those that are not there are left out:

  lulesh-omp, lulesh-mpi    LULESH with OpenMP, with MPI
  minife-omp, minife-mpi    miniFE with OpenMP, with MPI
  lazy-list                 the lazy list of Synchrobench with spin locks
  streamcluster, fluidanimate
                            of PARSEC, with POSIX threads
  hotspot, srad, lud, kmeans, pathfinder, nw
                            of Rodinia, with OpenMP
  amg                       AMG with OpenMP, one rank

Their inputs are small, made here of random numbers, and 4 threads work on those that have no MPI version here.
Threads run in the model and are counted exactly, ranks on this machine. Prints the matrices, what moved in all as the
paper's Table 5.1 does (lines times 64 bytes beside bytes of messages), and the code where lines are shared falsely. Heat maps go to FOLDER.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess

THREADS, FEW = 8, 4
PROGRAMS = {
    "lulesh": (["-s", "6", "-i", "5", "-q"], ["-s", "6", "-i", "5", "-q"]),
    "minife": (["-nx", "8", "-ny", "8", "-nz", "8"], ["-nx", "8", "-ny", "8", "-nz", "8"]),
}
OTHERS = {
    "lazy-list": "-t 4 -d 400 -u 50 -i 64 -r 128",
    "streamcluster": "4 8 16 256 256 50 none out.txt 4",
    "fluidanimate": "4 2 particles.fluid",
    "hotspot": "64 64 10 4 temperatures powers out.txt",
    "srad": "64 64 0 31 0 31 4 0.5 4",
    "lud": "-n 4 -s 64",
    "kmeans": "-n 4 -i points",
    "pathfinder": "2000 20",
    "nw": "256 10 4",
    "amg": "-n 8 8 8 -P 1 1 1",
}


def make_inputs(folder):
    """The files that OTHERS name. Particles: how many a metre, how many, and position and velocities of each."""
    drawn, grid = random.Random(1), 64 * 64
    particles = [[drawn.uniform(-0.06, 0.06), drawn.uniform(-0.07, 0), drawn.uniform(-0.06, 0.06)] for _ in range(2000)]
    data = b"".join(struct.pack("<9f", *place, *[0.0] * 6) for place in particles)
    (folder / "particles.fluid").write_bytes(struct.pack("<fi", 204.0, len(particles)) + data)
    (folder / "temperatures").write_text("".join(f"{drawn.uniform(320, 330)}\n" for _ in range(grid)))
    (folder / "powers").write_text("".join(f"{drawn.random()}\n" for _ in range(grid)))
    (folder / "points").write_text("".join(" ".join([str(i), *(f"{drawn.random():.4f}" for _ in range(8))]) + "\n" for i in range(400)))


def run(assay, out, before, command, threads=THREADS):
    with open(os.devnull, "w") as quiet:
        subprocess.run([assay, "comm", "-q", *before, "-o", out, "--", *command], stdout=quiet, stderr=quiet, check=True, cwd=out.parent,
                       env={**os.environ, "OMP_NUM_THREADS": str(threads), "OMPI_ALLOW_RUN_AS_ROOT": "1",
                            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})


def show(title, matrix):
    print(f"  {title}")
    for row in matrix:
        print("   ", *(f"{cell:7}" for cell in row))


def threads(assay, folder, name, arguments):
    program = folder / f"{name}-omp"
    if not program.exists():
        return
    out = folder / f"{name}-omp.json"
    run(assay, out, ["--no-estimate", "--json"], [program, *arguments])
    run(assay, folder / f"{name}-omp.svg", ["--no-estimate", "--svg"], [program, *arguments])
    known = json.loads(out.read_text())
    exact = known["exact"]
    print(f"{name}, {THREADS} threads: {exact['total']} lines, {exact['total'] * 64 / 1e6:.1f} MB; "
          f"{100 * exact['false_sharing'] / max(exact['total'], 1):.0f} % false sharing; pattern: {known['pattern']}")
    show("all", exact["matrix"])
    show("false sharing", exact["matrix_false"])
    falsely = sorted(known["code_pairs"], key=lambda pair: -pair["false_sharing"])
    for pair in falsely[:3]:
        print(f"    {pair['false_sharing']:7} false in {(pair['to'].get('function') or '?')[:90]}")


def ranks(assay, folder, name, arguments):
    program, mpirun = folder / f"{name}-mpi", shutil.which("mpirun")
    if not program.exists() or not mpirun:
        return
    more = ["--oversubscribe"] if "Open MPI" in subprocess.run([mpirun, "--version"], capture_output=True, text=True).stdout else []
    out = folder / f"{name}-mpi.json"
    run(assay, out, ["--mpi", "--source=timer", "--json"], [mpirun, *more, "-n", str(THREADS), program, *arguments])
    mpi = json.loads(out.read_text())["mpi"]
    print(f"{name}, {mpi['ranks']} ranks: {mpi['total_bytes'] / 1e6:.3f} MB in {mpi['total_messages']} messages, "
          f"{mpi['total_collective_bytes'] / 1e6:.3f} MB of collective operations")
    show("bytes", mpi["bytes"])


def other(assay, folder, name, arguments):
    program = folder / name
    if not program.exists():
        return
    out = folder / f"{name}.json"
    run(assay, out, ["--no-estimate", "--allocations", "--json"], [program, *arguments.split()], FEW)
    known = json.loads(out.read_text())
    exact, objects = known["exact"], known["objects"]
    total = max(exact["total"], 1)
    print(f"{name}, {known['threads']} threads: {known['instructions'] / 1e6:.1f} M instructions, {exact['total']} lines, "
          f"{100 * exact['false_sharing'] / total:.0f} % false sharing; pattern: {known['pattern']}")
    for row in objects[:3]:
        print(f"    {100 * row['total'] / total:3.0f} %, {100 * row['false_sharing'] / max(row['total'], 1):.0f} % of it false: {row['name']}")
    show("all", exact["matrix"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names, with commas between them")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("build", nargs="?", default="build")
    given = parser.parse_args()
    folder, assay = given.folder.resolve(), str(pathlib.Path(given.build, "assay").resolve())
    wanted = given.only.split(",") if given.only else [*PROGRAMS, *OTHERS]
    make_inputs(folder)
    for name, (of_threads, of_ranks) in PROGRAMS.items():
        if name in wanted:
            threads(assay, folder, name, of_threads)
            ranks(assay, folder, name, of_ranks)
    for name, arguments in OTHERS.items():
        if name in wanted:
            other(assay, folder, name, arguments)


main()
