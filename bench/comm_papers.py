#!/usr/bin/env python3
"""The papers' own programs (ComDetective, 5.4.2): communication of their threads beside the messages of their ranks.

usage: bench/comm_papers.py FOLDER [BUILD]

FOLDER holds the programs, ready to run and with debugging information; those that are not there are left out:

  lulesh-omp, lulesh-mpi    LULESH with OpenMP, with MPI
  minife-omp, minife-mpi    miniFE with OpenMP, with MPI
  lazy-list                 the lazy list of Synchrobench with spin locks

Threads run in the model and are counted exactly, ranks on this machine. Prints the matrices, what moved in all as the
paper's Table 5.1 does (lines times 64 bytes beside bytes of messages), and the code where lines are shared falsely. Heat maps go to FOLDER.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

THREADS = 8
PROGRAMS = {
    "lulesh": (["-s", "6", "-i", "5", "-q"], ["-s", "6", "-i", "5", "-q"]),
    "minife": (["-nx", "8", "-ny", "8", "-nz", "8"], ["-nx", "8", "-ny", "8", "-nz", "8"]),
}


def run(assay, out, before, command):
    with open(os.devnull, "w") as quiet:
        subprocess.run([assay, "comm", "-q", *before, "-o", out, "--", *command], stdout=quiet, stderr=quiet, check=True, cwd=out.parent,
                       env={**os.environ, "OMP_NUM_THREADS": str(THREADS), "OMPI_ALLOW_RUN_AS_ROOT": "1",
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


def lists(assay, folder):
    program = folder / "lazy-list"
    if not program.exists():
        return
    out = folder / "lazy-list.json"
    run(assay, out, ["--no-estimate", "--allocations", "--json"], [program, *"-t 4 -d 400 -u 50 -i 64 -r 128".split()])
    known = json.loads(out.read_text())
    print(f"lazy-list, 4 threads: {known['exact']['total']} lines, {known['exact']['false_sharing']} falsely shared; most in "
          f"{known['objects'][0]['name']}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]).resolve()
    assay = str(pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "build", "assay").resolve())
    for name, (of_threads, of_ranks) in PROGRAMS.items():
        threads(assay, folder, name, of_threads)
        ranks(assay, folder, name, of_ranks)
    lists(assay, folder)


main()
