"""bench/run's part for the model: what `assay compare` costs, and where the time goes.

A case is run with nobody watching (bench/bare), with the Oracle, with the Oracle and the seven samplers of the TIP paper,
with everything that compare does by default (events, their cycle stacks, all twelve samplers), and with the seven but
without events; in turns, the fastest of each counts. What it takes until the first
instruction is measured (the program's own preparation is part of it) is the same for all, and is taken off.
"""
import json
import os
import re
import shutil
import subprocess
import sys

SEVEN = "software,dispatch,lci,nci,nci+ilp,tip-ilp,tip"
FRIENDLY_MIPS, DRAM_MIPS, MAX_COST, MAX_EVENTS = 10.0, 4.0, 0.25, 0.15
CORE = "boom-tip"
ENDLESS = "1000000000"  # rounds: the region ends the program
# Program, instruction sets, whether it misses all caches
CASES = (("branches", ("x86_64", "riscv64"), False), ("fp", ("riscv64",), False), ("memory", ("x86_64", "riscv64"), True))
PLAIN_ROUNDS = 400


class Model:
    """The programs, and how to run them."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.build = os.path.abspath(options.build)
        self.instructions = max(100000, round(200e6 * options.scale))
        self.turns = max(1, options.repeat - 1)
        self.document = os.path.join(folder, "compare.json")
        self.bare = os.path.join(folder, "bare")  # looks for the plugin beside itself
        shutil.copy(os.path.join(self.build, "bench", "bare"), self.bare)
        os.symlink(os.path.join(self.build, "assay-engine.so"), os.path.join(folder, "assay-engine.so"))

    def program(self, arch):
        return os.path.join(self.build, "bench", "kernels" if arch == "x86_64" else "kernels-riscv64")

    def machine(self):
        return os.path.join(self.build, "machines", f"{CORE}.machine")

    def compare(self, argv, *more, instructions=None):
        """The document of one run."""
        command = [self.options.assay, "compare", "-q", "--json", "-o", self.document, "--core", CORE, "--max",
                   str(instructions or self.instructions), *more, "--", *argv]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              check=False)
        if done.returncode != 0:
            sys.exit(f"bench/run: {' '.join(command)[:300]}: status {done.returncode}\n{done.stderr.decode(errors='replace')}")
        with open(self.document, encoding="utf-8") as document:
            return json.load(document)

    def alone(self, argv, instructions=None):
        done = subprocess.run([self.bare, self.machine(), f"run_{argv[1]}..+{instructions or self.instructions}", *argv], stdin=subprocess.DEVNULL,
                              capture_output=True, check=False)
        if done.returncode != 0:
            sys.exit(f"bench/run: bare: status {done.returncode}\n{done.stderr.decode(errors='replace')}")
        return json.loads(done.stdout)


def measure_case(model, name, arch, run_seconds, qemu):
    """Each way in turns; MIPS of the fastest run of each."""
    argv = [model.program(arch), name, ENDLESS]
    start = ["--from", f"run_{name}"]  # without the preparation
    ways = {"bare": lambda: model.alone(argv), "oracle": lambda: model.compare(argv, *start, "--samplers", "none"),
            "seven": lambda: model.compare(argv, *start, "--samplers", SEVEN), "all": lambda: model.compare(argv, *start),
            "eventless": lambda: model.compare(argv, *start, "--samplers", SEVEN, "--events", "none")}
    least, cycles = {way: 1e9 for way in ways}, set()
    before = min(model.alone(argv, 1)["seconds"] for _ in range(model.turns + 1))  # what starting takes
    for turn in range(model.turns):
        names = list(ways)
        for way in names[turn % len(names):] + names[:turn % len(names)]:
            result = ways[way]()
            least[way] = min(least[way], result["seconds"])
            cycles.add(result["cycles"])
    if len(cycles) != 1:
        sys.exit(f"bench/run: {name}: the cycles are not the same in every run: {sorted(cycles)}")
    mips = {way: model.instructions / max(seconds - before, 1e-3) / 1e6 for way, seconds in least.items()}
    rounds = str(max(1, round(PLAIN_ROUNDS * model.options.scale / 0.06)))
    plain = [qemu[arch], model.program(arch), name, rounds]
    subprocess.run([model.options.assay, "stat", "-q", "--json", "-o", model.document, "--", *plain[1:]], check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    with open(model.document, encoding="utf-8") as counts:
        count = json.load(counts)["instructions"]
    qemu_mips = count / min(run_seconds(plain)[0] for _ in range(model.turns)) / 1e6
    return {"name": name, "arch": arch, "instructions": model.instructions, "cycles": cycles.pop(), "mips": mips,
            "qemu_mips": qemu_mips, "slowdown": qemu_mips / mips["seven"],
            "cost": {way: mips["bare"] / mips[way] - 1 for way in mips if way != "bare"},
            "events_cost": mips["eventless"] / mips["all"] - 1}


def best_mips(model, *args, **more):
    return max(model.compare(*args, **more)["mips"] for _ in range(model.turns - 1 or 1))


def measure_rob(model):
    """How the cost grows with the machine's size; everything else is kept."""
    argv = [model.program("riscv64"), "branches", ENDLESS]
    return [{"rob": rob, "mips": best_mips(model, argv, "--samplers", SEVEN, "--set", f"back.rob={rob}")}
            for rob in ((32, 512) if model.options.smoke else (32, 64, 128, 256, 512))]


def measure_threads(model):
    path = os.path.join(model.build, "workloads", "threads-riscv64-static")
    return [{"threads": n, "mips": best_mips(model, [path, "-t", str(n), "-w", "200000", "-r", "100000"], "--samplers", SEVEN)}
            for n in ((1, 2) if model.options.smoke else (1, 2, 4, 8))] if os.path.exists(path) else []


def measure_memory(model, peak_memory):
    """Peak bytes for run lengths of 1, 4 and 16."""
    rows = []
    for length in (1, 4, 16):
        n = max(50000, model.instructions * length // 8)
        peaks = peak_memory([model.options.assay, "compare", "-q", "--json", "-o", model.document, "--core", CORE, "--max",
                             str(n), "--", model.program("riscv64"), "branches", ENDLESS])
        rows.append({"arch": "riscv64", "mode": "compare", "length": length, "instructions": n, **peaks})
    return rows


def profile(model):
    """Where the time of `assay compare` goes: shares of processor time by function, QEMU and kernel apart; None where
    perf is not there or may not."""
    data = os.path.join(model.folder, "perf.data")
    argv = [model.program("riscv64"), "branches", ENDLESS]
    command = ["perf", "record", "-q", "-o", data, "-e", "cpu-clock", "-F", "1000", "--", model.options.assay, "compare", "-q",
               "--json", "-o", model.document, "--core", CORE, "--max", str(model.instructions), "--samplers", SEVEN, "--",
               *argv]
    if not shutil.which("perf") or subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                                                  check=False).returncode != 0:
        return None
    report = subprocess.run(["perf", "report", "-i", data, "--stdio", "--no-children", "-s", "dso,sym"], capture_output=True,
                            text=True, check=False).stdout
    shares = {}
    for line in report.splitlines():
        found = re.match(r"\s*([\d.]+)%\s+(\S+)\s+\[(.)\] (.*)", line)
        if found:
            share, where, kind, symbol = float(found[1]) / 100, found[2], found[3], found[4].strip()
            name = "kernel" if kind == "k" else symbol if where == "assay" else "plugin" if where == "assay-engine.so" else "QEMU"
            shares[name] = shares.get(name, 0) + share
    return sorted(({"where": name, "share": share} for name, share in shares.items()), key=lambda row: -row["share"])


def measure_model(options, folder, run_seconds, peak_memory, qemu):
    model = Model(options, folder)
    arches = [arch for arch in ("x86_64", "riscv64") if os.path.exists(model.program(arch))]
    cases = CASES[:1] if options.smoke else CASES
    results = {"cases": [measure_case(model, name, arch, run_seconds, qemu) for name, sets, _ in cases for arch in sets
                         if arch in arches]}
    if "riscv64" in arches:
        results.update(rob=measure_rob(model), memory=measure_memory(model, peak_memory), profile=profile(model))
    results["threads"] = measure_threads(model)
    return results


def judge_model(results):
    """The goals, as in bench/run's judge."""
    dram = {name: misses for name, _, misses in CASES}
    for row in results.get("cases", []):
        where = f"compare {row['name']} ({row['arch']})"
        limit = DRAM_MIPS if dram[row["name"]] else FRIENDLY_MIPS
        yield {"goal": "model-mips", "case": where, "limit": limit, "measured": row["mips"]["seven"],
               "met": row["mips"]["seven"] >= limit}
        yield {"goal": "observers", "case": where, "limit": MAX_COST, "measured": row["cost"]["seven"],
               "met": row["cost"]["seven"] <= MAX_COST}
        yield {"goal": "events", "case": where, "limit": MAX_EVENTS, "measured": row["events_cost"],
               "met": row["events_cost"] <= MAX_EVENTS}


def print_model(results):
    print(f"\nThe model ({CORE}): MIPS with nobody watching, with the Oracle, with the seven samplers too, with all of compare;"
          "\nwhat observers cost over nobody; what all cost over the seven without events; times slower than plain QEMU with the"
          " seven")
    print(f"{'case':<10}{'arch':<9}{'Minsns':>7}{'IPC':>6}{'bare':>8}{'oracle':>8}{'seven':>8}{'all':>8}{'oracle':>9}{'seven':>8}"
          f"{'all':>8}{'events':>8}{'slower':>8}")
    for row in results["cases"]:
        mips, cost = row["mips"], row["cost"]
        print(f"{row['name']:<10}{row['arch']:<9}{row['instructions'] / 1e6:>7.1f}{row['instructions'] / row['cycles']:>6.2f}"
              + "".join(f"{mips[way]:>8.2f}" for way in ("bare", "oracle", "seven", "all"))
              + f"{cost['oracle']:>+9.0%}{cost['seven']:>+8.0%}{cost['all']:>+8.0%}{row['events_cost']:>+8.0%}{row['slowdown']:>8.0f}")
    for key, title in (("rob", "MIPS by back.rob"), ("threads", "MIPS by threads")):
        if results.get(key):
            print(f"{title}: " + ", ".join(f"{row[key]}: {row['mips']:.2f}" for row in results[key]))
    if results.get("profile"):
        print("Where the time goes (branches, riscv64, seven samplers), % of processor time:")
        print("  " + ", ".join(f"{row['where']} {100 * row['share']:.1f}" for row in results["profile"][:16]), flush=True)
