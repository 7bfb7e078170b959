"""bench/run's part for observers: what each bundled one costs over the bare model, and what accesses alone cost over
`stat --check`; wall clock and processor time of QEMU and Assay together.

The model runs kernels, which are quick and show the most of what an observer costs, and Debian's programs, which are what it is for.
Many short runs, taking turns: a machine that others use, too, is quicker in one minute than in the next by more than what is
measured. Each ratio is of the least times, without what it takes until the first measured instruction; the bare model is run twice in each turn, and the ratio of the two ("bare again")
says how far the others can be trusted.

The paper (TraceDoctor) names 3.9, 5.7 and 3.5 % for its binary, CSV and FirePerf traces, on a host with many cores. Files go
to /dev/null, as there. The bare model keeps two processors busy most of the time, so on a machine with no more than these the
wall clock says what an observer takes from them, and not that it works beside them.
"""
import os
import resource
import shutil
import subprocess
import sys
import time

from memo_bench import memo_cases

MAX_COST, MAX_ACCESSES = 0.04, 1.3
CORE = "boom-tip"
OBSERVERS = (("commit-trace", "commit-trace,/dev/null"), ("commit-csv", "commit-csv,/dev/null"),
             ("calls", "calls,/dev/null"), ("flame", "flame,/dev/null"), ("counters", "counters,/dev/null"),
             ("timeline", "timeline"))
TURNS_EACH = 3  # turns with the model for one of bench/run's
PROGRAMS = ("perl", "python3", "cc1", "sort", "gzip", "bzip2", "xz")  # of memo_cases
MODEL_CASES, ACCESS_CASES = ("branches", "calls"), ("branches", "memory", "calls", "fp")


def run_timed(command):
    """Wall clock and processor seconds, of the command and its children."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"bench/run: {' '.join(command)[:300]}: status {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return {"wall": wall, "processor": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def take_turns(ways, turns):
    """The least of each way, by measure."""
    least = {way: {"wall": 1e9, "processor": 1e9} for way in ways}
    for turn in range(turns):
        names = list(ways)
        for way in names[turn % len(names):] + names[:turn % len(names)]:
            taken = run_timed(ways[way])
            least[way] = {measure: min(seconds, taken[measure]) for measure, seconds in least[way].items()}
    return least


def ratio_of(seconds, base, before):
    """Of what comes behind the start; None where a short run on a busy machine took no longer than its start."""
    return (seconds - before) / (base - before) if base > before else None


def rows_of(case, least, base, start=None):
    before = least.get(start, {"wall": 0, "processor": 0})
    for way, seconds in least.items():
        if way not in (base, start):
            yield {"case": case, "way": way, "over": base,
                   **{f"{measure}_ratio": ratio_of(seconds[measure], least[base][measure], before[measure]) for measure in seconds}}


def model_cases(options, build, folder):
    """(name, machine, where the region starts, program)."""
    kernels = os.path.join(build, "bench", "kernels")
    for name in MODEL_CASES[:1] if options.smoke else MODEL_CASES:
        yield name, CORE, f"run_{name}", [kernels, name, "1000000000"]
    for name, _, core, region, program, _ in [] if options.smoke else memo_cases(build, folder, False):
        if name in PROGRAMS:
            yield name, core, region[1], program


def measure_observers(options, folder):
    build = os.path.abspath(options.build)
    os.makedirs(os.path.join(folder, "with-plugin"), exist_ok=True)
    bare = os.path.join(folder, "with-plugin", "bare")  # looks for the plugin beside itself
    shutil.copy(os.path.join(build, "bench", "bare"), bare)
    os.symlink(os.path.join(build, "assay-engine.so"), os.path.join(folder, "with-plugin", "assay-engine.so"))
    instructions = 100000 if options.smoke else round(max(30e6, 60e6 * options.scale))
    rows = []
    for case, core, start, argv in model_cases(options, build, folder):
        machine = [bare, os.path.join(build, "machines", f"{core}.machine")]
        measured = [*machine, f"{start}..+{instructions}"]
        ways = {way: [*measured, *argv] for way in ("bare", "bare again")}
        ways.update({name: [*measured, "--observer", spec, *argv] for name, spec in OBSERVERS}, start=[*machine, f"{start}..+1", *argv])
        turns = 1 if options.smoke else TURNS_EACH * options.repeat
        rows += rows_of(case, take_turns(ways, turns), "bare", "start")
    example = os.path.join(build, "doc", "examples", "observer", "access_sizes.so")
    rounds = str(max(1, round(3000 * options.scale)))
    for case in ACCESS_CASES[:1] if options.smoke else ACCESS_CASES:
        ways = {way: [options.assay, "stat", "-q", *more, "-o", os.devnull, "--", os.path.join(build, "bench", "kernels"), case, rounds] for way, more in
                (("check", ["--check"]), ("accesses", ["--observer", example]), ("footprint", ["--footprint"]))}
        rows += rows_of(case, take_turns(ways, options.repeat), "check")
    return rows


def judge_observers(rows):
    """The goals, as in bench/run's judge: wall clock, which is what a user waits for."""
    for row in rows:
        limit = 1 + MAX_COST if row["over"] == "bare" else MAX_ACCESSES
        if row["way"] not in ("bare again", "footprint"):  # what this one does with the accesses is its own affair
            yield {"goal": "observer", "case": f"{row['way']} on {row['case']} over {row['over']}", "limit": limit,
                   "measured": row["wall_ratio"], "met": row["wall_ratio"] is not None and row["wall_ratio"] <= limit}


def print_observers(rows):
    if not rows:
        return
    print("\nObservers: time over the bare model, and of accesses alone over stat --check")
    print(f"{'case':<12}{'observer':<16}{'over':<8}{'wall':>8}{'processor':>11}")
    for row in rows:
        wall, processor = ("-" if row[f"{measure}_ratio"] is None else f"{row[f'{measure}_ratio']:.2f}" for measure in ("wall", "processor"))
        print(f"{row['case']:<12}{row['way']:<16}{row['over']:<8}{wall:>8}{processor:>11}", flush=True)
