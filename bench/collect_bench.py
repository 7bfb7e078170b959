#!/usr/bin/env python3
"""What collecting many small profiles costs: a folder of jobs whose profiles are there already.

   bench/collect_bench.py [--build DIR] [--jobs N,N,...]

Profiles of a small program are copied; ten machines share the copies by hard links, so that a hundred thousand profiles take 2 GB.
Then `assay jobs --list` finds, reads and merges them: processor time, and the most memory that it had. What a shared file system
does with as many files is not in it (doc/design/scale.md).
"""
import argparse
import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile


def collect(assay, folder):
    """Seconds of processor time and megabytes at most."""
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(assay, [assay, "jobs", "-q", "--list", folder])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise SystemExit(f"collect_bench: assay jobs ended with {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def name_again(profile, number):
    """A copy that is a recording of its own: one that is there twice is refused."""
    with contextlib.closing(sqlite3.connect(profile)) as base:
        base.execute("UPDATE recordings SET identity = identity || ?", (f"-{number}",))
        base.commit()


def fill(assay, folder, program, n, machines=10):
    subprocess.run([assay, "jobs", "-q", f"{folder}/one", "--record=--max 20k", "--", *program],
                   stdout=subprocess.DEVNULL, check=True)
    repeat = n // machines
    with open(f"{folder}/one/plan") as plan:
        values = ",".join(str(64 + 8 * i) for i in range(machines))
        text = plan.read().replace("repeat 1\n", f"set back.rob={values}\nrepeat {repeat}\n")
    for job in range(machines * repeat):
        group = f"{folder}/many/jobs/{job // 1000}"
        os.makedirs(group, exist_ok=True)
        copy = f"{folder}/copy.{job % repeat}"
        if job < repeat:
            shutil.copyfile(f"{folder}/one/jobs/0/0.db", copy)
            name_again(copy, job)
        os.link(copy, f"{group}/{job}.db")
    with open(f"{folder}/many/plan", "w") as plan:
        plan.write(text)
    return os.path.getsize(f"{folder}/one/jobs/0/0.db")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build"))
    parser.add_argument("--jobs", default="1000,10000")
    options = parser.parse_args()
    assay, demo = (os.path.abspath(os.path.join(options.build, name)) for name in ("assay", "workloads/demo"))
    for n in map(int, options.jobs.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            size = fill(assay, folder, [demo, "1"], n)
            seconds, megabytes = collect(assay, f"{folder}/many")
            print(f"{n} profiles of {size / 1000:.0f} kB: {seconds:.1f} s of processor time, {1000 * seconds / n:.2f} ms each, "
                  f"{megabytes:.0f} MB of memory", flush=True)


if __name__ == "__main__":
    main()
