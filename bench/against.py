"""This build beside another one: `stat`, `compare` and `record` in turns, as ratios of the fastest runs.

The other build is a build directory, or a revision of the repository, which is then built in a temporary worktree. Each
verb does the same work in both: the same kernel and the same number of instructions. Each turn runs both, in changing
order, so that whatever else the machine does hits both. Processor time (of Assay and QEMU together) is given beside the
time on the clock: on a busy machine it is the one to look at.
"""
import math
import os
import subprocess
import sys
import time

LIMIT = 1.05  # of a verb's mean ratio: this build may not be slower than that, beyond the noise of fastest runs
MODEL_INSTRUCTIONS = 100_000_000


def run(argv, **more):
    done = subprocess.run(argv, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"bench/run: {' '.join(argv)[:300]}: status {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def build_of(name, source, folder):
    """The build directory that `name` means: a directory with an `assay` (or a checkout with one in `build`), or a revision, built in `folder`."""
    for place in (name, os.path.join(name, "build")):
        if os.access(os.path.join(place, "assay"), os.X_OK):
            return os.path.abspath(place)
    known = subprocess.run(["git", "-C", source, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"],
                           capture_output=True, text=True, check=False)
    if known.returncode != 0:
        sys.exit(f"bench/run: --against: '{name}' is neither a build directory nor a revision")
    tree = os.path.join(folder, "other")
    print(f"building {name} …", file=sys.stderr, flush=True)
    # A clone, not a worktree: nothing of it is left in the repository when the folder goes.
    run(["git", "clone", "--quiet", "--shared", "--no-checkout", source, tree])
    run(["git", "-C", tree, "checkout", "--quiet", "--detach", known.stdout.strip()])
    run(["meson", "setup", "build"], cwd=tree)
    run(["ninja", "-C", "build", "assay", "assay-engine.so"], cwd=tree)
    return os.path.join(tree, "build")


def timed(argv):
    """Runs a command; returns its seconds on the clock and on processors."""
    with open(os.devnull, "r+b") as nothing:
        started = time.perf_counter()
        process = subprocess.Popen(argv, stdin=nothing, stdout=nothing, stderr=nothing)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench/run: {' '.join(argv)[:300]}: status {process.returncode}")
    return {"clock": seconds, "processor": usage.ru_utime + usage.ru_stime}


def commands(options, cases, folder):
    """(verb, case, words behind `assay`) of all that is measured."""
    most = str(max(int(MODEL_INSTRUCTIONS * options.scale), 100_000))
    text, profile = os.path.join(folder, "against.txt"), os.path.join(folder, "against.db")
    verbs = {"stat": ["-o", text], "compare": ["--max", most, "-o", text],
             "record": ["--source=model", "--max", most, "-o", profile]}
    for verb, words in verbs.items():
        for case in cases:
            yield verb, case.name, [verb, "-q", *words, "--", *case.argv]


def measure_against(options, cases, folder):
    """One row a verb and case: the fastest of this build and of the other."""
    builds = {"this": os.path.abspath(options.build), "other": options.against}
    rows = []
    for verb, case, words in commands(options, cases, folder):
        runs = {who: [] for who in builds}
        for turn in range(options.repeat):
            for who in sorted(builds, reverse=turn % 2 == 0):
                runs[who].append(timed([os.path.join(builds[who], "assay"), *words]))
        best = {who: {kind: min(run[kind] for run in all_) for kind in ("clock", "processor")} for who, all_ in runs.items()}
        rows.append({"verb": verb, "case": case, "runs": runs, "this": best["this"], "other": best["other"],
                     "ratio": best["this"]["clock"] / best["other"]["clock"],
                     "processor_ratio": best["this"]["processor"] / best["other"]["processor"]})
    return rows


def means(rows, key):
    """The geometric mean of the ratios of each verb."""
    verbs = dict.fromkeys(row["verb"] for row in rows)
    for verb in verbs:
        ratios = [row[key] for row in rows if row["verb"] == verb]
        verbs[verb] = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return verbs


def judge_against(rows):
    for verb, mean in means(rows, "ratio").items():
        yield {"goal": "against", "case": verb, "limit": LIMIT, "measured": mean, "met": mean <= LIMIT}


def print_against(rows, repeat):
    if not rows:
        return
    print(f"\nThis build over the other (fastest of {repeat}, taking turns; below 1: this one is faster)")
    print(f"{'verb':<10}{'case':<12}{'this s':>9}{'other s':>9}{'ratio':>8}   {'processor s':>11}{'other s':>9}{'ratio':>8}")
    for row in rows:
        print(f"{row['verb']:<10}{row['case']:<12}{row['this']['clock']:>9.3f}{row['other']['clock']:>9.3f}{row['ratio']:>8.3f}   "
              f"{row['this']['processor']:>11.3f}{row['other']['processor']:>9.3f}{row['processor_ratio']:>8.3f}")
    processor = means(rows, "processor_ratio")
    for verb, mean in means(rows, "ratio").items():
        print(f"{verb:<10}{'mean':<12}{'':>18}{mean:>8.3f}   {'':>20}{processor[verb]:>8.3f}", flush=True)
