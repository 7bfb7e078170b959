#!/usr/bin/env bash
# assay reuse on this machine: distances of programs that walk over arrays of known sizes, counted and timed; threads that
# invalidate each other's lines; processes that run already; odd programs; what cannot be had.
# plain-only: the sanitizer build repeats the code in unit/reuse and unit/lookahead; here it would be measured
. "$(dirname "$0")/lib.sh"

ribench=$WORKLOADS/ribench
if ! "$ASSAY" reuse --source=timer -- true >/dev/null 2>try.err; then
    skip "reuse on the machine" "$(cat try.err)"
    exit 0
fi
native() { "$ASSAY" reuse --source=timer -q --json -o "$@"; }
share='(lambda lo, hi: sum(b["count"] for b in d["time_histogram"] if lo <= b["lo"] <= hi) / max(1, sum(b["count"] for b in d["time_histogram"])))'

# One array of 3,000 elements over and over: all distances are 2,999, in the bin of 2,048. Another program of the same kind with
# 200,000: further than what is looked at, so that it is timed; a rate that is off by two is in the bin beside.
near() {
    native near.json -- "$ribench" 1 50000 0 10 3000 0 0 0 0 0 0 0 0
    holds "distances that are looked at in advance are exact" "$share(2048, 2048) > 0.97" near.json
    # One of some forty samples may be timed: where the program ends, say.
    holds "… and say so" 'all(b["how"] in ("counted", "both") and b["counted"] > 0.9 for b in d["time_histogram"] if b["lo"] == 2048)' near.json
    holds "… between the lines that make them" 'd["pairs"][0]["use"]["function"] == "work" and d["pairs"][0]["use"]["file"].endswith("ribench.c")' near.json
    holds "… on their call path" 'd["pairs"][0]["use"]["path"][:3] == ["work", "run", "main"] == d["pairs"][0]["reuse"]["path"][:3]' near.json
    holds "… each with its share" 'abs(sum(p["share"] for p in d["pairs"]) - 1) < 1e-6 and all(0 <= p["ratio"] <= 1 for p in d["miss_ratio"])' near.json
    holds "… and how far off they may be" 'all(b["off"] == 1 for b in d["time_histogram"] if b["how"] == "counted") and d["native"]["accesses_least"] <= (d["accesses"] or d["native"]["accesses_least"]) <= d["native"]["accesses_most"]' near.json
    holds "source and method" 'd["source"] == "timer" and d["method"] == "watchpoints" and d["native"]["looked"] > 5 and d["exit_status"] == 0' near.json
}
by_chance near
far() {
    native far.json --budget 50 -- "$ribench" 1 2000 0 10 200000 0 0 0 0 0 0 0 0
    holds "longer ones are timed, within a factor of four" "$share(32768, 524288) > 0.6 and d['native']['rates'] > 0" far.json
    holds "… and say so" 'all(b["how"] == "timed" for b in d["time_histogram"] if b["lo"] >= 65536 and b["count"])' far.json
}
by_chance far
blind() {
    native blind.json --ahead 0 --budget 50 -- "$ribench" 1 2000 0 10 200000 0 0 0 0 0 0 0 0
    holds "--ahead=0: no distance is counted" 'd["native"]["looked"] == 0 and all(b["how"] == "timed" for b in d["time_histogram"])' blind.json
    holds "… so all may be off" 'all(b["off"] > 1.5 for b in d["time_histogram"])' blind.json
    holds "… and the rate is measured all the same" 'd["native"]["how"] == "timed" and d["native"]["rates"] > 0' blind.json
}
by_chance blind
both() {
    native both.json -- "$ribench" 2 3000 1000 40 1500 0 0 0 0 0 0 0 0
    holds "another thread's stores invalidate" '0.1 < d["watched"]["share_invalidated"] < 0.9 and d["watched"]["invalidated"] >= 3' both.json
}
by_chance both
shared() {
    native shared.json --shared -- "$ribench" 2 3000 1000 40 1500 0 0 0 0 0 0 0 0
    holds "… and are reuses of the cache that threads share" 'd["watched"]["where"] == "shared cache" and d["watched"]["reused"] >= 1' shared.json
}
by_chance shared
# One thread writes 2,000 lines, the other reads them: some 2,000 accesses from use to reuse, whatever either thread did since it last
# stopped. Their times at barriers count, too, so the bound is wide; clocks of the last sample would make it a million.
cat >handoff.c <<'END'
#include <pthread.h>
enum { LINES = 2000, ROUNDS = 20000 };
static pthread_barrier_t barrier;
static volatile long lines[LINES * 8], sum;
static void *reads(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < LINES; i++)
            sum += lines[i * 8];
        pthread_barrier_wait(&barrier);
    }
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&thread, 0, reads, 0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LINES; i++)
            lines[i * 8] = round;
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
    }
    pthread_join(thread, 0);
}
END
gcc -O1 -pthread -o handoff handoff.c
barriers() {
    native barriers.json --shared -- ./handoff
    holds "distances between threads that take turns at barriers" "$share(1024, 65536) > 0.8 and d['watched']['reused'] >= 5" barriers.json
}
by_chance barriers
# Twenty threads: to look ahead of all of them takes long, and so does it until all stand still. The budget counts both.
many() {
    native many.json -- "$ribench" 20 1500 0 10 10000 0 0 0 0 0 0 0 0
    holds "the budget holds with many threads" 'd["threads"] >= 20 and d["native"]["stopped_seconds"] < 0.25 * d["seconds"] and d["samples"] >= 2' many.json
}
by_chance many

# The first look ends before this distance, so its outcome is timed if it comes to one: then the bin has both.
formats() {
    "$ASSAY" reuse --source=timer --csv -- "$ribench" 1 30000 0 10 3000 0 0 0 0 0 0 0 0 >near.csv
    check "CSV has a column that says how" grep -qE '^estimated time,0,2048,4095,[0-9.e+]*,(counted|both)' near.csv
    "$ASSAY" reuse --source=timer -- "$ribench" 1 30000 0 10 3000 0 0 0 0 0 0 0 0 >near.txt
    check "text, too" grep -qE '2,048 .* (counted|both) ' near.txt
    "$ASSAY" reuse --source=timer --html -- "$ribench" 1 30000 0 10 3000 0 0 0 0 0 0 0 0 >near.html
    check "a page" grep -q 'on this machine' near.html
}
by_chance formats
# Processes that end before a sample comes, or soon behind one: all their time counts, and that before an execve once.
cat >short.c <<'END'
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while (now.tv_sec == 0 && now.tv_nsec < atoi(argv[1]) * 1000000L);
    if (argc > 2)
        execv(argv[0], (char *[]){argv[0], argv[2], NULL});
}
END
gcc -O1 -o short short.c
native short.json -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do ./short 3; ./short 3; ./short 3; done; true'
holds "time of processes up to their end" '0.09 < d["native"]["processor_seconds"] < 0.3' short.json
native exec.json -- ./short 300 600
holds "time before and behind an execve" '0.59 < d["native"]["processor_seconds"] < 0.72' exec.json

check "fields and the manual page" python3 "$(dirname "$0")/reuse_fields.py" "$(dirname "$0")/../../doc/man/assay-reuse.1" near.json near.csv

# A process that runs already goes on as before.
"$ribench" 1 2000000 0 10 3000 0 0 0 0 0 0 0 0 &
pid=$!
attached() {
    native pid.json --pid $pid --duration 1
    holds "--pid" "$share(2048, 2048) > 0.9 and d['program'] == ['pid $pid']" pid.json
}
by_chance attached
check "the process goes on" kill -0 $pid
kill $pid
wait $pid 2>/dev/null

# Memory that goes away while it is watched; no accesses to speak of; signals; children; exit statuses.
cat >odd.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile sig_atomic_t seen;
static void on_signal(int number) { seen++; }
static void go_away(int advice)
{
    enum { SIZE = 4 << 20 };
    for (int i = 0; i < 60; i++) {
        volatile char *memory = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (size_t at = 0; at < SIZE; at += 64)
            memory[at] = 1;
        if (advice)
            madvise((void *)memory, SIZE, MADV_DONTNEED);
        munmap((void *)memory, SIZE);
    }
}
static void stride(void)
{
    size_t size = (size_t)1 << 36;
    volatile char *memory = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (int turn = 0; turn < 100000; turn++)
        for (size_t at = 0; at < size; at += size / 64)
            memory[at]++;
}
int main(int argc, char **argv)
{
    signal(SIGUSR1, on_signal);
    switch (argv[1][0]) {
    case 'u': go_away(0); return 0;
    case 'm': go_away(1); return 0;
    case 's': stride(); return 0;
    case 'e': return 3;
    case 'k': raise(SIGKILL);
    case 'i': for (int i = 0; i < 50; i++) { raise(SIGUSR1); usleep(1000); } return seen == 50 ? 0 : 1;
    case 'f': if (!fork()) { volatile long n = 0; while (n < 100000000) n++; _exit(5); }
              int status; wait(&status); return WEXITSTATUS(status);
    case 'x': execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 7", (char *)0);
    }
}
END
gcc -O1 -o odd odd.c
for kind in u m s i; do
    check "odd program '$kind' is measured, and does what it does" native odd-$kind.json -- ./odd $kind
done
strides() {
    [ -e odd-s.json ] || native odd-s.json -- ./odd s
    holds "huge strides are counted: half of the accesses come again after 126 others" "0.2 < $share(64, 64) < 0.8" odd-s.json
    rm -f odd-s.json
}
by_chance strides
check_status 3 "an exit status" native odd.json -- ./odd e
check_status 7 "… of a program that executes another" native odd.json -- ./odd x
child() {
    check_status 5 "… of a program whose child works" native odd.json -- ./odd f
    holds "the child is measured" 'd["watched"]["reused"] > 0 and d["threads"] == 2 and "main" in d["pairs"][0]["use"]["path"]' odd.json
}
by_chance child
# Two processes, one after the other, with the same number: the second has the first one's code, and not what was known of its stacks.
cat >again.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long cells[5000];
__attribute__((noinline)) static void walk(long rounds)
{
    for (long i = 0; i < rounds * 5000; i++)
        cells[i % 5000]++;
}
int main(int argc, char **argv)
{
    pid_t number = 0, other = getpid() + 500; /* the kernel hands out numbers in turn */
    for (int i = 0; i < 2; i++) {
        struct clone_args how = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&other, .set_tid_size = 1};
        pid_t child = -1;
        for (int tries = 0; child < 0 && tries < 100; tries++, other += child < 0 && !number) { /* somebody may have it */
            child = (pid_t)syscall(SYS_clone3, &how, sizeof how);
            if (child < 0 && errno != EEXIST)
                break;
        }
        if (child < 0)
            return 9;
        if (!child) {
            walk(argc > 1 ? atol(argv[1]) : 1);
            _exit(0);
        }
        if (number && number != child)
            return 8;
        number = child;
        waitpid(child, NULL, 0);
    }
    return 0;
}
END
gcc -O1 -g -o again again.c
if ./again; then
    twice() { # another process may take the number in between
        check "a number that two processes have one after the other" native again.json -- ./again 20000
        holds "… both on their call paths" 'all(p["use"]["path"][:2] == ["walk", "main"] for p in d["pairs"] if p["use"]["function"] == "walk") and d["threads"] == 3' again.json
    }
    by_chance twice
else
    skip "a number that two processes have one after the other" "clone3 with a number is not allowed here"
fi
check_status 137 "a signal that kills" native odd.json -- ./odd k
empty() {
    check "an empty program" native odd.json -- true
    holds "… is too short to say how many accesses it made" 'd["accesses"] is None and 0 < d["native"]["accesses_least"] < d["native"]["accesses_most"] and d["miss_ratio"] == []' odd.json
    check "… in words" eval '"$ASSAY" reuse --source=timer -- true 2>/dev/null | grep -q "too short to say how many"'
    holds "… has no reuses, or few" 'd["watched"]["reused"] <= 3' odd.json
}
by_chance empty
check "more threads than can be looked at, one register" native many.json --registers 2 -- "$ribench" 40 200 100 5 1000 0 0 0 0 0 0 0 0
holds "… and outcomes for all samples" 'd["threads"] >= 40' many.json

check_fails 127 "cannot run" "a program that is not there" "$ASSAY" reuse --source=timer -- ./no-such-program
check_fails 2 "needs --source" "--pid in the model" "$ASSAY" reuse --pid 1
check_fails 2 "in place of" "--pid and a program" "$ASSAY" reuse --source=timer --pid 1 -- true
check_fails 2 'needs --source=model' "an option of the model" "$ASSAY" reuse --source=timer --granularity 8 -- true
check_fails 2 'core needs --source=model' "… a core" "$ASSAY" reuse --source=timer --core foo -- true
check_fails 2 'method needs --source=model' "… a method" "$ASSAY" reuse --source=timer --method=exact -- true
check_fails 2 'needs --source=model' "… of the engine" "$ASSAY" reuse --source=timer --max 1000 -- true
check_fails 2 "per cent" "a budget of nothing" "$ASSAY" reuse --source=timer --budget 0 -- true
check_fails 2 "samples a second" "a rate of nothing" "$ASSAY" reuse --source=timer --rate 0 -- true
if ! "$ASSAY" reuse --source=pmu -- true >/dev/null 2>pmu.err; then
    check "without a PMU it says what works" grep -q "source=timer" pmu.err
fi
if [ "$(uname -m)" = x86_64 ] && [ -x "$WORKLOADS/demo-riscv64-static" ]; then
    check_fails 126 'is for riscv64, and this machine is x86_64: --source=model runs it' "another machine's program" \
        "$ASSAY" reuse --source=timer -- "$WORKLOADS/demo-riscv64-static"
fi
