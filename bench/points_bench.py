#!/usr/bin/env python3
"""bench/run's part for basic-block vectors: `assay points --cpi off` against `assay stat` and against Valgrind's exp-bbv, on the
same programs, taking turns, the least of each. Wall clock, which is what a user waits for; processor time beside it. Plain QEMU stands
beside them: what it takes of exp-bbv's time by itself is no vector's cost. Its floating point is emulated, exp-bbv's is the host's.
"above qemu" is the difference: what the vectors themselves take of exp-bbv's time.

    bench/points_bench.py [--build DIR] [--programs LIST] [--size N] [--repeat N]

does the same with Debian's programs on the inputs of bench/sampled_bench.py (--size 1: some 400 million instructions each).
"""
import argparse
import os
import shutil
import tempfile

from observer_bench import rows_of, take_turns

MAX_OVER = {"stat": 2.0, "exp-bbv": 1 / 1.5}
INTERVAL = "10000000"
CASES = ("branches", "memory", "calls", "fp")


def measure_points(options, folder):
    build = os.path.abspath(options.build)
    program, rounds, rows = os.path.join(build, "bench", "kernels"), str(max(60, round(1500 * options.scale))), []
    for case in CASES[:1] if options.smoke else CASES:
        rows += measure_one(options, folder, case, [program, case, rounds])
    return rows


def measure_one(options, folder, case, run):
    ways = {"points": [options.assay, "points", "-q", "--interval", INTERVAL, "--cpi", "off", "--", *run],
            "stat": [options.assay, "stat", "-q", "--", *run]}
    if shutil.which("qemu-x86_64"):
        ways["qemu"] = ["qemu-x86_64", shutil.which(run[0]), *run[1:]]
    if shutil.which("valgrind"):
        ways["exp-bbv"] = ["valgrind", "-q", "--tool=exp-bbv", f"--interval-size={INTERVAL}",
                           f"--bb-out-file={folder}/bench.bb", f"--pc-out-file={folder}/bench.pc", *run]
    least, rows = take_turns(ways, options.repeat), []
    for base in list(ways)[1:]:
        compared = [way for way in ("points", "qemu" if base == "exp-bbv" else "") if way in ways]
        rows += rows_of(case, {way: least[way] for way in [*compared, base]}, base)
    return rows + above_qemu(case, rows)


def above_qemu(case, rows):
    """What vectors take beyond plain QEMU, as a part of exp-bbv's time."""
    of = {row["way"]: row for row in rows if row["case"] == case and row["over"] == "exp-bbv"}
    if not {"points", "qemu"} <= set(of):
        return []
    return [{**of["points"], "way": "above qemu",
             **{key: of["points"][key] - of["qemu"][key] for key in ("wall_ratio", "processor_ratio")}}]


def judge_points(rows):
    """The goals, as in bench/run's judge. None is about plain QEMU."""
    for row in rows:
        if row["way"] != "points" or row["over"] not in MAX_OVER:
            continue
        limit = MAX_OVER[row["over"]]
        yield {"goal": "points", "case": f"{row['case']} over {row['over']}", "limit": limit, "measured": row["wall_ratio"],
               "met": row["wall_ratio"] <= limit}


def print_points(rows):
    if not rows:
        return
    print("\nBasic-block vectors (points) and plain QEMU: time over stat, QEMU and Valgrind's exp-bbv")
    print(f"{'case':<12}{'of':<12}{'over':<10}{'wall':>8}{'processor':>11}")
    for row in rows:
        print(f"{row['case']:<12}{row['way']:<12}{row['over']:<10}{row['wall_ratio']:>8.2f}{row['processor_ratio']:>11.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build"))
    parser.add_argument("--programs", default="perl,sqlite3,python3,gzip,xz,bzip2,awk,bc")
    parser.add_argument("--size", type=float, default=1)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    options.assay = os.path.abspath(os.path.join(options.build, "assay"))
    os.environ.update(PERL_HASH_SEED="0", PYTHONHASHSEED="0")
    from sampled_bench import make_inputs, programs  # here, since it names a core to the environment, which bench/run must not
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_inputs(options.size)
        rows = [row for name in options.programs.split(",") for row in measure_one(options, folder, name, programs(options.size)[name])]
        os.chdir("/")
    print_points(rows)


if __name__ == "__main__":
    main()
