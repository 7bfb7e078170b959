"""bench/run's part for the memo: `assay compare` with everything on, with what the pipeline did remembered, without
(--memo=off), by another build (--against), and plain QEMU.

Ways take turns; the fastest run of each counts. A region of the same instructions is measured everywhere, except by
plain QEMU, whose speed is taken from a run of its own. Speed is that of the region alone, as `compare` says (mips): not of
the start and of what is skipped, which can take as long. Processor time is that of Assay and QEMU together: on a busy machine
it is the one to look at.
"""
import json
import os
import re
import shutil
import subprocess
import sys

from against import timed

ENDLESS = "1000000000"
# Goal: million instructions a second, on an otherwise idle machine of two cores.
GOALS = {"loops": 80, "code": 50, "compression": 25, "dram": 15, "threads": 60}
SMOKE = ("gzip", "memory")  # the cases of a smoke test, from their start
LOOPS = {"perl": "for (1..$ARGV[0]) { $x += $_ % 7 }", "python3": "import sys\nx = 0\nfor i in range(int(sys.argv[1])): x += i % 7"}


def program_of(name):
    """The file of a program that QEMU can run; None: there is none. What PATH has as python3 may be a script that only starts it."""
    path = os.path.realpath(sys.executable) if name == "python3" else shutil.which(name)
    if not path or not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return path if file.read(4) == b"\x7fELF" else None


def code_cases(folder):
    """Programs with more code than loops."""
    if shutil.which("sqlite3"):
        query = "with recursive n(i) as (select 1 union all select i + 1 from n where i < {}) select sum(i % 7) from n;"
        argv = [shutil.which("sqlite3"), ":memory:"]
        yield ("sqlite3", "loops", "zen4-like", ["--skip", "20M"], [*argv, query.format(ENDLESS)],
               ["qemu-x86_64", *argv, query.format(1000000)])
    source, text = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels.c"), os.path.join(folder, "memo.i")
    compiler = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, check=True, text=True).stdout.strip()
    if os.path.exists(compiler):
        subprocess.run(["gcc", "-E", source, "-o", text], check=True)
        argv = [compiler, "-quiet", "-O2", "-fpreprocessed", text, "-o", os.devnull]
        yield "cc1", "code", "zen4-like", ["--skip", "40M"], argv, ["qemu-x86_64", *argv]
    lines = os.path.join(folder, "memo.lines")
    with open(lines, "w", encoding="ascii") as out:
        out.writelines(f"{i * 2654435761 % 4294967296}\n" for i in range(400000))
    argv = [shutil.which("sort"), "-S", "64M", "-o", os.devnull, lines]
    yield "sort", "code", "zen4-like", ["--skip", "20M"], argv, ["qemu-x86_64", *argv]


def memo_cases(build, folder, smoke):
    """(name, kind, machine, options, the endless program, plain QEMU's command)."""
    text = os.path.join(folder, "memo.in")
    with open(text, "wb") as out, open(os.path.join(build, "assay"), "rb") as source:
        out.write(source.read(4 << 20))
    demo = os.path.join(build, "workloads", "demo-riscv64-static")
    if os.path.exists(demo):
        yield "demo", "loops", "boom-tip", [], [demo, "100000"], ["qemu-riscv64", demo, "20"]
    for name, program in LOOPS.items():
        path = program_of(name)
        if path:
            argv = [path, *(["-e"] if name == "perl" else ["-I", "-S", "-c"]), program]  # else python starts for 140 M instructions
            yield name, "loops", "zen4-like", ["--skip", "40M"], [*argv, ENDLESS], ["qemu-x86_64", *argv, "1000000"]
    if not smoke:
        yield from code_cases(folder)
    for name in ("gzip", "bzip2", "xz"):
        if shutil.which(name):
            argv = [shutil.which(name), "-c", text]
            yield name, "compression", "zen4-like", ["--skip", "5M"], argv, ["qemu-x86_64", *argv]
    kernels = os.path.join(build, "bench", "kernels")
    yield "memory", "dram", "boom-tip", ["--from", "run_memory"], [kernels, "memory", ENDLESS], ["qemu-x86_64", kernels, "memory", "400"]
    yield from thread_cases(build)


def thread_cases(build):
    """Four threads: with words of their own, with one table that all read, and with a counter of all and a mutex."""
    lines = os.path.join(build, "workloads", "lines")
    for name, way in (("4, apart", "padded"), ("4, a table", "readonly")):
        yield name, "threads", "boom-tip", ["--skip", "1M"], [lines, way, "4", "100000000"], ["qemu-x86_64", lines, way, "4", "20000000"]
    threads = os.path.join(build, "workloads", "threads-riscv64-static")
    if os.path.exists(threads):
        argv = [threads, "-t", "4", "-w", "200000", "-r"]
        yield "4, a mutex", "threads", "boom-tip", [], [*argv, "100000"], ["qemu-riscv64", *argv, "100"]


def part_known(argv):
    """Of the blocks, as -v says."""
    said = subprocess.run([*argv[:2], "-v", *argv[3:]], stdin=subprocess.DEVNULL, capture_output=True, check=False).stderr
    found = re.search(rb"memo: ([\d.]+) % of", said)
    return float(found[1]) / 100 if found else None


def plain_mips(options, plain, document):
    """How fast plain QEMU runs the same code."""
    timed([options.assay, "stat", "-q", "--json", "-o", document, "--", *plain[1:]])
    with open(document, encoding="utf-8") as counts:
        return json.load(counts)["instructions"] / timed(plain)["clock"] / 1e6


def print_head():
    print("\nWhat the pipeline did, remembered (all of compare): MIPS with the memo, without, by the other build; processor time"
          "\nwithout it and by the other build, as a multiple of that with it; part of the blocks that was known; times slower than"
          "\nplain QEMU")
    print(f"{'case':<12}{'machine':<12}{'Minsns':>7}{'on':>8}{'off':>8}{'other':>8}{'off/on':>8}{'other/on':>9}{'known':>8}{'slower':>8}")


def print_row(row):
    mips, seconds = row["mips"], row["seconds"]
    ratios = [seconds[way]["processor"] / seconds["on"]["processor"] if way in seconds else None for way in ("off", "other")]
    print(f"{row['name']:<12}{row['core']:<12}{row['instructions'] / 1e6:>7.1f}"
          + "".join(f"{mips[way]:>8.2f}" if way in mips else f"{'-':>8}" for way in ("on", "off", "other"))
          + f"{ratios[0]:>8.2f}" + (f"{ratios[1]:>9.2f}" if ratios[1] else f"{'-':>9}")
          + (f"{row['known']:>8.1%}" if row["known"] is not None else f"{'-':>8}")
          + (f"{row['qemu_mips'] / mips['on']:>8.0f}" if row["qemu_mips"] else f"{'-':>8}"), flush=True)


def measure_memo(options, folder):
    count, rows = max(1_000_000, round(50e6 * options.scale / 0.06)) if not options.smoke else 300_000, []
    for name, kind, core, region, program, plain in memo_cases(os.path.abspath(options.build), folder, options.smoke):
        if options.smoke:
            if name not in SMOKE:
                continue
            region = [] if "--skip" in region else region
        document = os.path.join(folder, "memo.json")
        words = ["compare", "-q", "--json", "-o", document, "--core", core, "--max", str(count), *region]
        ways = {"on": [options.assay, *words, "--", *program], "off": [options.assay, *words, "--memo=off", "--", *program]}
        if options.against:
            ways["other"] = [os.path.join(options.against, "assay"), *words, "--", *program]
        least = {way: {"clock": 1e9, "processor": 1e9} for way in ways}
        for _ in range(options.repeat):
            for way, argv in ways.items():
                times = timed(argv)
                with open(document, encoding="utf-8") as results:
                    times["clock"] = count / json.load(results)["mips"] / 1e6  # without start, skipping and report
                least[way] = {key: min(least[way][key], times[key]) for key in times}
        rows.append({"name": name, "kind": kind, "core": core, "instructions": count, "seconds": least,
                     "mips": {way: count / least[way]["clock"] / 1e6 for way in ways},
                     "known": part_known(ways["on"]), "qemu_mips": None if options.smoke else plain_mips(options, plain, document)})
        if len(rows) == 1:
            print_head()
        print_row(rows[-1])  # at once: all of them take minutes
    return rows


def judge_memo(rows):
    for row in rows:
        yield {"goal": "memo-mips", "case": f"{row['name']} ({row['core']})", "limit": GOALS[row["kind"]], "measured": row["mips"]["on"],
               "met": row["mips"]["on"] >= GOALS[row["kind"]]}
        ratio = row["seconds"]["on"]["processor"] / row["seconds"]["off"]["processor"]
        yield {"goal": "memo-slower", "case": f"{row['name']} ({row['core']})", "limit": 1.05, "measured": ratio, "met": ratio <= 1.05}
