#!/usr/bin/env python3
"""Profiles and pages: what a million instructions cost to write and read, how large pages are, how soon they can be used.

    bench/page_bench.py [--build DIR] [--instructions N] [--program]

Three profiles: N instructions made up by store_bench (processor seconds of writing, opening, loading, querying), 100,000 of
them as a page, and with --program python3 for 30 million instructions in the model. Each page is opened in Chromium (the
least of three): milliseconds until it can be used, and to sort, open a function, draw the flame graph. The goals are
checked; the script ends with status 1 where one is missed:

  size     every page is below 5 MB
  ready    a page of 100,000 instructions can be used after at most 3 s

It needs what tests/cli/page.sh installs (build/web/modules) for the browser, and says so where that is missing.
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAX_SIZE, MAX_READY = 5e6, 3000
PYTHON = os.path.realpath(sys.executable)  # python3 itself may be a script
PROGRAM = ["--max", "30M", "--", PYTHON, "-c", "import json,decimal;print(1)"]


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def make_page(build, profile):
    """The page of a profile: its size, and what writing it took."""
    page = profile.replace(".db", ".html")
    begun = processor_seconds()
    subprocess.run([os.path.join(build, "assay"), "report", profile, "--html", page], check=True)
    return page, {"bytes": os.path.getsize(page), "seconds": round(processor_seconds() - begun, 2)}


def open_pages(build, pages):
    modules = os.path.join(build, "web", "modules")
    if not os.path.isdir(os.path.join(modules, "node_modules")) or not shutil.which("chromium"):
        print("page_bench: no browser, or no build/web/modules (tests/cli/page.sh makes it): pages are not opened",
              file=sys.stderr)
        return [None] * len(pages)
    environment = dict(os.environ, WEB_MODULES=modules, CHROMIUM=shutil.which("chromium"))
    script = os.path.join(SOURCE, "bench", "page_open.mjs")
    lines = subprocess.run(["node", script, *pages], check=True, stdout=subprocess.PIPE, env=environment).stdout
    return [json.loads(line) for line in lines.decode().splitlines()]


def store(build, n, profile):
    run = subprocess.run([os.path.join(build, "bench", "store_bench"), str(n), profile], check=True, stdout=subprocess.PIPE)
    return dict(json.loads(run.stdout), bytes=os.path.getsize(profile))


def print_store(row):
    print(f"{row['instructions']:,} instructions, {row['bytes'] / 1e6:.0f} MB, processor seconds: write {row['write']:.2f}, "
          f"open {row['open']:.2f}, load {row['load']:.2f}, by function {row['functions']:.2f}, by instruction "
          f"{row['instructions_query']:.2f}, one function {row['one_function']:.4f}")


def print_page(name, page, opened):
    line = f"{name}: page of {page['bytes'] / 1e6:.2f} MB, written in {page['seconds']:.1f} processor seconds"
    if opened:
        line += (f"; usable after {opened['ready']} ms ({opened['script']} of them its own script), sort {opened['sort']} ms, "
                 f"open a function {opened['open']} ms, flame graph {opened['flame']} ms")
    print(line)


def judge(names, pages, opened):
    missed = [f"size: {name} is {page['bytes']:,} bytes" for name, page in zip(names, pages) if page["bytes"] >= MAX_SIZE]
    return missed + [f"ready: {name} can be used after {one['ready']} ms" for name, one in zip(names, opened)
                     if one and one["ready"] > MAX_READY]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(SOURCE, "build"))
    parser.add_argument("--instructions", type=int, default=1000000)
    parser.add_argument("--program", action="store_true")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    with tempfile.TemporaryDirectory() as folder:
        profiles = {name: os.path.join(folder, name + ".db") for name in ("whole", "hundred", "program")}
        print_store(store(build, options.instructions, profiles["whole"]))
        store(build, 100000, profiles["hundred"])
        names = ["100,000 instructions", f"the first 100,000 of {options.instructions:,}"]
        files = [profiles["hundred"], profiles["whole"]]
        if options.program:
            subprocess.run([os.path.join(build, "assay"), "record", "-q", "-o", profiles["program"], *PROGRAM], check=True,
                           stdout=subprocess.DEVNULL)
            names.append("python3, 30 million executed")
            files.append(profiles["program"])
        pages = [make_page(build, file) for file in files]
        opened = open_pages(build, [page for page, _ in pages])
        for name, (_, page), one in zip(names, pages, opened):
            print_page(name, page, one)
        missed = judge(names, [page for _, page in pages], opened)
    for line in missed:
        print(f"missed: {line}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
