#!/usr/bin/env python3
"""Runs the tests of one or two builds and counts every single case.

A job is one program: a unit test that Meson knows (cmocka, told to print TAP), or a bash script under tests/cli or
tests/tree that prints TAP. Where there are two builds, unit tests run on the sanitizer build; those of Meson's suite "both" run
on each. A program that prints no TAP is one case, judged by its exit status (77: skipped). A job that
takes too long, dies, prints fewer cases than it planned, or leaves a sanitizer's report behind is a failed case, whatever
else it said.

Jobs run side by side, those first that may take longest. What a script says about itself in a line of its own:

    # time-limit: 300       seconds that it may take (on an idle machine, without sanitizers)
    # alone: why            it runs by itself at the end
    # waits: why            it mostly waits, so it runs beside the others and takes no one's turn
    # plain-only: why       it does not run on the sanitizer build
    # sanitized-only: why   it runs on the sanitizer build alone, where there is one
"""
import argparse
import concurrent.futures
import dataclasses
import glob
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tty

SCRIPT_LIMIT = 120  # seconds; "# time-limit: N" in a script overrides it
PATIENCE = 4  # limits end what hangs: a busy machine must not meet them
SANITIZER_FACTOR = 3  # how much longer a job may take on the sanitizer build
DEAREST = 10  # suites whose processor time is told at the end
TAP_LINE = re.compile(r"(not )?ok\b *(\d+)? *-? *([^#]*)(?:# *SKIP\S*\s*(.*))?", re.IGNORECASE)
running = set()
running_lock = threading.Lock()


@dataclasses.dataclass
class Job:
    name: str
    argv: list
    env: dict
    limit: float
    cwd: str = None
    alone: bool = False
    waits: bool = False
    terminal: bool = False  # stdout is a terminal, so that what a crashing program said last is not lost in a buffer
    skip: str = None


@dataclasses.dataclass
class Outcome:
    passed: list = dataclasses.field(default_factory=list)
    failed: list = dataclasses.field(default_factory=list)
    skipped: list = dataclasses.field(default_factory=list)  # (name, reason)
    log: str = ""
    seconds: float = 0
    processor: float = 0  # seconds of processor time, of the job and all that it waited for


def unit_jobs(build, prefix, factor, sanitized_too=False):
    listing = subprocess.run(["meson", "introspect", "--tests", build], capture_output=True, text=True, check=True)
    for test in json.loads(listing.stdout):
        suites = [name.split(":")[-1] for name in test["suite"]] or ["unit"]
        if sanitized_too and "both" not in suites:
            continue
        yield Job(name=f"{prefix}{suites[0]}/{test['name']}", argv=test["cmd"], cwd=test["workdir"] or build,
                  env={**test["env"], "CMOCKA_MESSAGE_OUTPUT": "TAP"}, limit=test["timeout"] * factor * PATIENCE,
                  alone=not test["is_parallel"], terminal=True)


def remark(text, key):
    """What a script says about itself behind "# KEY:", or None."""
    found = re.search(rf"^# {key}: (.+)$", text, re.MULTILINE)
    return found[1] if found else None


def script_jobs(folder, build, prefix, factor, sanitized_too=False, recorder=None):
    for path in sorted(glob.glob(f"tests/{folder}/*.sh")):
        name = os.path.basename(path)[:-3]
        if name == "lib":
            continue
        with open(path, encoding="utf-8") as script:
            text = script.read()
        skip = remark(text, "plain-only") if prefix else remark(text, "sanitized-only") if sanitized_too else None
        yield Job(name=f"{prefix}{folder}/{name}", argv=["bash", os.path.abspath(path)],
                  env={"ASSAY": os.path.abspath(f"{build}/assay"), "SANITIZED": "yes" if prefix else "",
                       "RECORDER": os.path.abspath(f"{recorder or build}/assay")},
                  limit=int(remark(text, "time-limit") or SCRIPT_LIMIT) * factor * PATIENCE,
                  alone=bool(remark(text, "alone")), waits=bool(remark(text, "waits")), skip=skip)


def sanitizer_options(reports, unit):
    """Uses of stack frames that are gone are looked for in unit tests alone: it takes a seventh of the time of whole runs. These also
    remember less of where memory was allocated, and of what was freed, which takes another tenth."""
    common = f"log_path={reports}/report:exitcode=99"
    less = "" if unit else ":malloc_context_size=3:quarantine_size_mb=16"
    # UBSan's findings are traps (scripts/test).
    return {"ASAN_OPTIONS": f"{common}:detect_stack_use_after_return={int(unit)}:strict_string_checks=1:handle_sigill=1{less}",
            "UBSAN_OPTIONS": f"{common}:halt_on_error=1:print_stacktrace=1"}


def drain(source, chunks):
    """Reads until the other side is closed (a terminal says EIO then)."""
    try:
        while chunk := os.read(source, 65536):
            chunks.append(chunk)
    except OSError:
        pass
    os.close(source)


def wait_for(process, limit):
    """Returns the seconds of processor time that it took; raises TimeoutExpired."""
    watched = os.pidfd_open(process.pid)
    try:
        ended, _, _ = select.select([watched], [], [], limit)
    finally:
        os.close(watched)
    if not ended:
        raise subprocess.TimeoutExpired(process.args, limit)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def kill_session(session):
    """Kills all that is left of a job's session: process groups of its own (set -m) too."""
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.getsid(int(entry)) == session:
                os.kill(int(entry), signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def execute(job, env, err, out):
    """Runs the job's program in a session of its own; returns (status, timed out, processor time)."""
    process = subprocess.Popen(job.argv, cwd=job.cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                               start_new_session=True)
    with running_lock:
        running.add(process.pid)
    try:
        processor = wait_for(process, job.limit)
        return process.returncode, False, processor
    except subprocess.TimeoutExpired:
        return None, True, 0
    finally:
        with running_lock:
            running.discard(process.pid)
        kill_session(process.pid)
        process.wait()


def open_terminal():
    """A pair of descriptors, or None where there are no terminals (a bare chroot): then a pipe must do."""
    try:
        master, slave = pty.openpty()
    except OSError:
        return None
    tty.setraw(slave)
    return master, slave


def capture(job, env):
    """Returns (status, timed out, processor time, stdout, stderr)."""
    with tempfile.TemporaryFile() as err:
        master, slave = (job.terminal and open_terminal()) or os.pipe()
        chunks = []
        reader = threading.Thread(target=drain, args=(master, chunks), daemon=True)
        reader.start()
        try:
            status, late, processor = execute(job, env, err, slave)
        finally:
            os.close(slave)
            reader.join(10)  # a process that escaped may hold the other side open: it does not hold us
        err.seek(0)
        return status, late, processor, b"".join(chunks).decode(errors="replace"), err.read().decode(errors="replace")


def read_tap(said, outcome):
    """Sorts the cases; returns what is wrong with the TAP itself, or None."""
    planned, seen, remark = None, 0, ""
    for line in said.splitlines():
        plan = re.fullmatch(r"1\.\.(\d+)\s*", line)
        if plan:
            planned = (planned or 0) + int(plan[1])
            continue
        if line.startswith("Bail out!"):
            return line
        case = TAP_LINE.match(line)
        if not case:
            remark = line.strip() or remark
            continue
        seen += 1
        if case[4] is None:
            (outcome.failed if case[1] else outcome.passed).append(case[3].strip())
        elif case[1]:  # cmocka writes "not ok 3 # SKIP name"; the reason is what the test printed before
            outcome.skipped.append((case[4].strip(), remark or "no reason given"))
        else:
            outcome.skipped.append((case[3].strip(), case[4].strip() or "no reason given"))
        remark = ""
    if seen and planned is None:
        return f"no plan after {seen} cases: it broke off"
    if planned is not None and planned != seen:
        return f"{planned} cases planned, {seen} seen: it broke off"
    return None


def judge(job, status, late, said, outcome):
    trouble = read_tap(said, outcome)
    spoke = outcome.passed or outcome.failed or outcome.skipped
    if late:
        trouble = f"not done after {job.limit:.0f} s"
    elif status < 0:
        trouble = f"ended by signal {-status} ({signal.strsignal(-status)})"
    elif status != 0 and not outcome.failed and (spoke or status != 77):
        trouble = trouble or f"ended with status {status}"
    elif not spoke and not job.terminal:
        trouble = trouble or "printed no test case"
    if trouble:
        outcome.failed.append(f"({trouble})")
    elif not spoke:
        if status == 77:
            outcome.skipped.append((job.name, said.strip().splitlines()[-1] if said.strip() else "status 77"))
        else:
            outcome.passed.append(job.name)


def run(job):
    outcome = Outcome()
    if job.skip:
        outcome.skipped.append((job.name, job.skip))
        return outcome
    begun = time.monotonic()
    scratch = tempfile.mkdtemp(prefix="assay-job.")
    reports = tempfile.mkdtemp(prefix="assay-reports.")
    try:
        env = {**os.environ, **job.env, "TMPDIR": scratch, **sanitizer_options(reports, job.terminal)}
        status, late, outcome.processor, said, complained = capture(job, env)
        judge(job, status, late, said, outcome)
        outcome.log = said + complained
        for report in sorted(glob.glob(f"{reports}/*")):
            with open(report, encoding="utf-8", errors="replace") as text:
                outcome.log += text.read()
            outcome.failed.append("(a sanitizer found something)")
    except OSError as error:
        outcome.failed.append(f"(cannot be run: {error})")
    finally:
        subprocess.run(["chmod", "-R", "u+rwX", scratch], check=False)
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.rmtree(reports, ignore_errors=True)
    outcome.seconds = time.monotonic() - begun
    return outcome


class Progress:
    def __init__(self, total):
        self.total, self.done = total, 0
        self.outcomes = []

    def tell(self, job, outcome):
        self.done += 1
        self.outcomes.append((job, outcome))
        counts = f"{len(outcome.passed)} passed"
        if outcome.failed:
            counts += f", {len(outcome.failed)} FAILED"
        if outcome.skipped:
            counts += f", {len(outcome.skipped)} skipped"
        print(f"[{self.done:3}/{self.total}] {job.name:34} {outcome.seconds:6.1f} s {outcome.processor:6.1f} cpu  {counts}", flush=True)
        if outcome.failed:
            print(f"---- log of {job.name}\n{outcome.log.rstrip()}\n---- end of {job.name}", flush=True)

    def tell_dearest(self):
        """Where the processor time goes: what makes a run long is seen before it is too long."""
        dear = sorted(self.outcomes, key=lambda one: -one[1].processor)[:DEAREST]
        total = sum(outcome.processor for _, outcome in self.outcomes)
        print(f"{total:.0f} s of processor time; the dearest: " +
              ", ".join(f"{job.name} {outcome.processor:.0f}" for job, outcome in dear))

    def finish(self):
        if len(self.outcomes) > DEAREST:
            self.tell_dearest()
        for job, outcome in self.outcomes:
            for name, reason in outcome.skipped:
                print(f"skipped: {job.name}: {name}: {reason}")
        for job, outcome in self.outcomes:
            for name in outcome.failed:
                print(f"FAILED:  {job.name}: {name}")
        passed, failed, skipped = (sum(len(getattr(outcome, kind)) for _, outcome in self.outcomes)
                                   for kind in ("passed", "failed", "skipped"))
        print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
        return 1 if failed or not passed else 0  # all skipped: nothing ran


def run_together(jobs, width, progress):
    """Runs jobs, `width` at a time and one of those that wait; the longest first, so that none is left to run alone."""
    jobs = sorted(jobs, key=lambda job: -job.limit)
    with concurrent.futures.ThreadPoolExecutor(width) as pool, concurrent.futures.ThreadPoolExecutor(1) as aside:
        pending = {(aside if job.waits else pool).submit(run, job): job for job in jobs}
        try:
            for future in concurrent.futures.as_completed(pending):
                progress.tell(pending[future], future.result())
        except KeyboardInterrupt:
            for one in (pool, aside):
                one.shutdown(wait=False, cancel_futures=True)
            with running_lock:
                for pid in running:
                    kill_session(pid)
            sys.exit(130)


def run_all(jobs, width):
    progress = Progress(len(jobs))
    run_together([job for job in jobs if not job.alone], width, progress)
    run_together([job for job in jobs if job.alone], 1, progress)
    return progress.finish()


def offer_python(directory):
    """Puts this interpreter first in the PATH as python3: what is there may be a script that looks for it each time."""
    os.symlink(os.path.realpath(sys.executable), f"{directory}/python3")
    os.environ["PATH"] = f"{directory}:{os.environ['PATH']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--asan")
    parser.add_argument("-j", type=int, default=1, dest="width")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    # A shell starts background jobs with these ignored, and programs would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the jobs too
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    two = bool(options.asan)
    jobs = [*script_jobs("tree", options.build, "", 1), *unit_jobs(options.build, "", 1, two),
            *script_jobs("cli", options.build, "", 1, two)]
    if options.asan:
        jobs += [*unit_jobs(options.asan, "asan/", SANITIZER_FACTOR),
                 *script_jobs("cli", options.asan, "asan/", SANITIZER_FACTOR, recorder=options.build)]
    if options.names:
        jobs = [job for job in jobs if any(name in job.name for name in options.names)]
    with tempfile.TemporaryDirectory(prefix="assay-job.") as tools:
        offer_python(tools)
        return run_all(jobs, options.width)


if __name__ == "__main__":
    sys.exit(main())
