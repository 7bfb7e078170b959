"""bench/native.py's programs, and how they are recorded and read: by the verbs of Assay, and by perf."""
import json
import os
import random
import shutil
import subprocess
import sys
from collections import defaultdict

RATE = 4000


def text_file(folder, megabytes):
    path = os.path.join(folder, f"text{megabytes}")
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10))) for _ in range(5000)]
    with open(path, "w", encoding="utf-8") as file:
        while file.tell() < megabytes << 20:
            file.write(" ".join(chance.choices(words, k=12)) + "\n")
    return path


def source_file(folder):
    path = os.path.join(folder, "functions.c")
    with open(path, "w", encoding="utf-8") as file:
        for i in range(1500):
            file.write(f"int f{i}(int *a, int n) {{ int s = {i}; for (int i = 0; i < n; i++) s += a[i] * {i} ^ s >> "
                       f"{i % 31}; return s; }}\n")
    return path


def victim_of(build):
    return os.path.join(build, "tests/unit/native/native_victim")


def real_programs(folder, build):
    text, short, code = text_file(folder, 24), text_file(folder, 3), source_file(folder)
    table = {
        "perl": ["perl", "-e", "my %h; $h{$_ % 1000} += $_ * 2 for 1 .. 2.5e7; print scalar keys %h"],
        "python": [os.path.realpath(sys.executable), "-S", "-c", "d = {}\nfor i in range(14000000):\n    d[i & 1023] = d.get(i & 1023, 0) + i * 3"],
        "xz": ["xz", "-3", "-k", "-c", short],
        "xz-threads": ["xz", "-3", "-T2", "--block-size=1MiB", "-k", "-c", short],
        "gzip": ["gzip", "-7", "-c", *[text] * 3],
        "sqlite3": ["sqlite3", ":memory:", "with recursive n(i) as (select 1 union all select i + 1 from n where i < "
                    "5000000) select sum(i % 7), count(distinct i % 1000), max(i * 31 % 1009) from n;"],
        "sort-threads": ["sort", "--parallel=2", "-S", "200M", text],
        "awk": ["awk", "{ for (i = 1; i <= NF; i++) n[$i]++; m[$1 $2] = length($0) } END { for (w in n) s += n[w]; print s }", text],
        "gcc": ["gcc", "-O2", "-S", "-o", "/dev/null", code],
        "sha256sum": ["sha256sum", *[text] * 24],
        "bzip2": ["bzip2", "-k", "-c", *[short] * 8],
        "threads": [victim_of(build), "threads", "64", "140"],
    }
    return {name: argv for name, argv in table.items() if shutil.which(argv[0])}


def chosen(table, names):
    unknown = set(names) - set(table)
    if unknown:
        sys.exit(f"bench/native.py: no program {', '.join(sorted(unknown))}; there are {', '.join(table)}")
    return {name: argv for name, argv in table.items() if not names or name in names}


def run(argv):
    """Runs it without its output; the largest resident set in MiB of the started process."""
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        told = process.stderr.read().decode(errors="replace")
        status = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status[1])
    if process.returncode != 0:
        sys.exit(f"bench/native.py: {' '.join(argv)[:200]} ended with {process.returncode}: {told[-500:]}")
    return status[2].ru_maxrss / 1024


def fixed(argv):
    """At the same addresses every time: where the stack lies can move more time than two samplers differ by. It lies behind
    the environment, to which perf adds; the hashes of python's strings are fixed too."""
    return ["setarch", "-R", "env", "-i", f"PATH={os.environ['PATH']}", "LC_ALL=C", "PYTHONHASHSEED=0", *argv]


class Recorders:
    def __init__(self, build, folder):
        self.build = os.path.abspath(build)
        self.assay = os.path.join(self.build, "assay")
        self.folder = folder
        self.profile = os.path.join(folder, "profile.db")
        self.data = os.path.join(folder, "perf.data")

    def timer(self, argv, *options):
        return [self.assay, "record", "-q", "--source=timer", "--rate", str(RATE), "-o", self.profile, *options, "--", *argv]

    def perf(self, argv, *options):
        return ["perf", "record", "-q", "-N", "-e", "cpu-clock", "-F", str(RATE), "-o", self.data, *options, "--", *argv]

    def by_timer(self, argv, *options):
        run(self.timer(fixed(argv), *options))
        return Profile(self)

    def by_perf(self, argv):
        run(self.perf(fixed(argv)))
        run([self.assay, "import", "-q", "-o", self.profile, self.data])
        return Profile(self)

    def by_model(self, argv, *options):
        run([self.assay, "record", "-q", "--source=model", "--core", "zen4-like", "-o", self.profile, *options, "--", *argv])
        return Profile(self)

    def perf_report(self):
        """Shares as perf itself reports its last recording: by module and name, "?" where it has none."""
        done = subprocess.run(["perf", "report", "-i", self.data, "--stdio", "-q", "-F", "period,dso,sym", "-t", "\x01"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        units = defaultdict(float)
        for line in done.stdout.decode(errors="replace").splitlines():
            words = [word.strip() for word in line.split("\x01")]
            if len(words) != 3 or not words[0].isdigit():
                continue
            name = words[2][4:] if words[2].startswith("[") else words[2]
            module = "[kernel]" if words[1].startswith("[kernel") else os.path.basename(words[1])
            units[module, "?" if name.startswith("0x") else name] += int(words[0])
        return units


class Profile:
    """What a profile says, as units by function, line or instruction that mean the same in every recording."""

    def __init__(self, recorders):
        done = subprocess.run([recorders.assay, "export", "--to=json", recorders.profile], stdout=subprocess.PIPE, check=True)
        self.document = json.loads(done.stdout)
        name = self.document["meta"].get("golden")
        series = [s for s in self.document["series"] if s["name"] == name] or self.document["series"]
        self.series = series[0]
        self.samples, self.lost = self.series["samples"], self.series["lost"]

    def module(self, number):
        if number is None:
            return "?", 0
        module = self.document["modules"][number]
        return os.path.basename(module["path"] or "?"), int(str(module["base"]), 0)

    def function_key(self, insn):
        name, base = self.module(insn["module"])
        if insn["function"] is None:
            return name, "?"
        function = self.document["functions"][insn["function"]]
        # Stripped: where the unwind tables say that a function begins, which the model has in the name.
        if function["name"] and not function["name"].startswith(name + "+0x"):
            return name, function["name"]
        return name, f"+{int(str(function['address']), 0) - base:#x}"

    def key(self, insn, by):
        name, base = self.module(insn["module"])
        if by == "function":
            return self.function_key(insn)
        if by == "line" and insn["line"]:
            return name, self.document["files"][insn["file"]], insn["line"]
        if by == "line":
            return self.function_key(insn)
        return name, int(str(insn["address"]), 0) - base

    def units(self, by, kernel=True):
        units = defaultdict(float)
        for time in self.series["times"]:
            insn = self.document["instructions"][time["instruction"]]
            key = self.key(insn, by)
            if kernel or key[0] != "[kernel]":
                units[key] += time["units"]
        return units


def shares(units):
    total = sum(units.values()) or 1
    return {key: value / total for key, value in units.items()}


def largest(a, b):
    """Of any key: how far the shares differ, and where."""
    a, b = shares(a), shares(b)
    return max(((abs(a.get(key, 0) - b.get(key, 0)), key) for key in set(a) | set(b)), default=(0, "-"))


def distance(a, b):
    """The part of all time that the two put on different keys."""
    a, b = shares(a), shares(b)
    return sum(abs(a.get(key, 0) - b.get(key, 0)) for key in set(a) | set(b)) / 2
