#!/usr/bin/env bash
# assay comm on this machine: the pairs, the kind and the share of false sharing of programs whose communication is known;
# watchpoints on lines that samples hardly meet; processes that run already, odd programs; what cannot be had.
# plain-only: the sanitizer build repeats the code in unit/lens; here it would be measured
. "$(dirname "$0")/lib.sh"

sharing=$WORKLOADS/sharing
if ! "$ASSAY" comm --source=timer -- true 2>try.err; then
    skip "communication on the machine" "$(cat try.err)"
    exit 0
fi
native() { "$ASSAY" comm --source=timer --rate 10000 --json -o "$@" >/dev/null; }

# Threads that others keep from the processors hardly ever run at the same time, and only then a line changes hands all the time.
# What is checked holds for few detections, too: bounds grow with their number. Whether there are any is chance.
pairs() {
    native pairs.json -- "$sharing" pairs -t 4 -n 50000000 -f 0.5
    cells='sorted(((d["matrix"][a][b], a, b) for a in range(d["threads"]) for b in range(a)), reverse=True)'
    holds "pairs: two cells, of four threads" "(lambda c: c[1][0] > 0 and len({c[0][1], c[0][2], c[1][1], c[1][2]}) == 4 and
        sum(x[0] for x in c[2:]) <= 0.1 * d['total'])($cells)" pairs.json
    holds "… by name, and all of it true sharing" 'd["pattern"] in ("pairs", "one pair") and d["false_sharing"] <= 0.05 * d["total"]' pairs.json
    holds "… threads by the function that they began with, though it has no frame" '{t["name"] for t in d["by_thread"]} <= {"main", "work"}' pairs.json
    holds "… of an object, by source lines" 'd["objects"][0]["name"] == "of_pair" and d["lines"][0]["to"]["place"].startswith("of_pair[")
        and d["code_pairs"][0]["to"]["file"].endswith("sharing.c")' pairs.json
    holds "… in nanoseconds of what the threads ran" 'd["source"] == "timer" and d["unit"] == "nanoseconds" and
        d["total"] < 1e9 * d["spent"]["processor_seconds"]' pairs.json
    holds "most samples have an address" 'd["spent"]["without_address"] < 0.3 * d["spent"]["samples"] and d["spent"]["samples"] > 500' pairs.json
}
by_chance pairs

false_sharing() {
    native false.json -- "$sharing" false -t 2 -n 50000000 -f 1
    holds "false sharing alone" 'd["false_sharing"] >= 0.95 * d["total"] > 0' false.json
    holds "… with its advice" 'any("words" in a["from"] + a["to"] for a in d["advice"])' false.json
}
by_chance false_sharing
mixed() {
    native mixed.json -- "$sharing" false -t 2 -n 100000000 -f 0.3
    "$ASSAY" comm --json --no-estimate -o exact.json -- "$sharing" false -t 2 -n 30000 -f 0.3 >/dev/null
    holds "a part of it: within 10 points of what the model counts" '(lambda n, a, b: abs(a - b) < 0.1 + 2 / (n + 1) ** 0.5)(
        d[0]["sampling"]["found"] - d[0]["sampling"]["turns"], d[0]["false_sharing"] / d[0]["total"],
        d[1]["false_sharing"] / d[1]["total"])' mixed.json exact.json
}
by_chance mixed
reads() {
    native read.json -- "$sharing" read -t 2 -n 50000000 -f 0.5
    holds "one writes, one reads" 'd["pattern"] == "one pair" and d["false_sharing"] == 0 < d["total"]' read.json
}
by_chance reads
not_shared() {
    native none.json -- "$sharing" write -t 2 -n 20000000 -f 0
    holds "nothing is shared but the start" 'd["total"] <= 0.05 * 1e9 * d["spent"]["processor_seconds"]' none.json
}
by_chance not_shared

# A timer interrupts behind the atomic that takes the time, and a load of the loop's bound ends the way ahead. Half of the atomics
# are to a word of all threads, half to words of one line.
cat >atomics.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static _Alignas(128) volatile long common[16], words[16];
static _Alignas(128) volatile long times;
static void *both(void *which)
{
    for (long i = 0; i < times; i++) {
        __atomic_fetch_add(&common[0], 1, __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&words[(long)which], 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}
static void *one(void *which)
{
    long sum = 0;
    for (long i = 0; i < times; i++) {
        __atomic_fetch_add(&common[0], 1, __ATOMIC_SEQ_CST);
        sum += words[0];
    }
    return (void *)(sum & 1);
}
int main(int argc, char **argv)
{
    pthread_t threads[2];
    times = atol(argv[1]);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, argc > 2 ? one : both, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
END
cc -O1 -g -pthread -o atomics atomics.c
atomics() {
    native one.json -- ./atomics 40000000 one
    holds "an atomic before a load" 'd["objects"][0]["name"] == "common" and d["false_sharing"] == 0 < d["total"]' one.json
    native both.json -- ./atomics 30000000
    holds "atomics of two lines, to the same part" '(lambda n: n > 0 and
        abs(d["false_sharing"] / d["total"] - 0.5) < 0.1 + 2 / (n + 1) ** 0.5)(d["sampling"]["found"] - d["sampling"]["turns"])' both.json
}
by_chance atomics

# Two processes add to words of one line of a file that each maps at another place.
processes() {
    native processes.json -- "$WORKLOADS/processes" file 0 100000000
    holds "memory that processes share" 'd["false_sharing"] == d["total"] > 0 and d["objects"][0]["kind"] == "shared" and
        d["objects"][0]["name"].startswith("/tmp/assay-processes") and len(d["lines"]) == 1' processes.json
}
by_chance processes

# A line that one thread writes all the time and the other one reads once in 4,096 accesses: samples of it are too few.
cat >rare.c <<'END'
#include <pthread.h>
#include <stdint.h>
static _Alignas(64) volatile uint64_t flag;
static _Alignas(64) volatile int done;
static _Alignas(64) volatile uint64_t own[8192];
static void *writes(void *a) { for (uint64_t i = 0; !done; i++) flag = i; return a; }
static void *reads(void *a)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 300000000; i++)
        sum += i % 4096 ? own[i % 8192] : flag;
    done = 1;
    return (void *)(sum & 1);
}
int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], 0, writes, 0);
    pthread_create(&threads[1], 0, reads, 0);
    pthread_join(threads[1], 0);
    pthread_join(threads[0], 0);
    return 3;
}
END
cc -O1 -g -pthread -static -o rare rare.c
if "$ASSAY" doctor --json | python3 -c 'import json, sys
sys.exit(not any(r["name"] == "debug_registers" and r["verdict"] == "ok" for r in json.load(sys.stdin)["rows"]))' 2>/dev/null; then
    rare() {
        run "$ASSAY" comm --source=timer --rate 4000 --budget 20 --json -o rare.json -- ./rare
        check_same "the program's status" 3 "$status"
        holds "watchpoints find what samples miss, in a static program" 'd["sampling"]["trapped"] > 0 and
            d["objects"][0]["name"] == "flag" and d["false_sharing"] <= 0.1 * d["total"]' rare.json
        holds "… and most of the instructions behind the traps" '2 * d["spent"]["causes_found"] >= d["sampling"]["trapped"]' rare.json
        holds "the budget is kept" 'd["spent"]["watching_seconds"] < 0.2 * (d["seconds"] + 0.2)' rare.json
    }
    by_chance rare
    "$ASSAY" comm --source=timer --budget 0 --json -o poor.json -- ./rare
    holds "no budget, no watchpoints" 'd["spent"]["watchpoints"] == 0 and d["spent"]["traps"] == 0' poor.json
    # The program watches four words of its own, on all of its threads: no register is left, as under a debugger.
    sed -e 's|^int main(void)|#include <linux/hw_breakpoint.h>\n#include <linux/perf_event.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n&|' \
        -e 's|    pthread_t threads\[2\];|&\n    for (int i = 0; i < 4; i++) {\n        struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT, .size = sizeof attr, .bp_type = HW_BREAKPOINT_W,\n            .bp_addr = (uintptr_t)\&unused[i], .bp_len = HW_BREAKPOINT_LEN_8, .inherit = 1, .exclude_kernel = 1};\n        if (syscall(SYS_perf_event_open, \&attr, 0, -1, -1, 0) < 0)\n            return 9;\n    }|' \
        -e 's|^static void \*writes|static uint64_t unused[4];\n&|' rare.c >taken.c
    cc -O1 -g -pthread -o taken taken.c
    run "$ASSAY" comm --source=timer --rate 4000 --budget 20 --json -o taken.json -- ./taken
    if [ "$status" = 9 ]; then
        skip "all debug registers are taken" "the kernel gives the program none"
    else
        check_same "all debug registers are taken: the program's status" 3 "$status"
        holds "… nothing was watched" 'd["spent"]["watchpoints"] == 0 and d["spent"]["traps"] == 0' taken.json
        check_same "… one line says so" 1 "$(grep -c 'no watchpoints: the debug registers are in use by another program' <<<"$err")"
    fi
else
    skip "watchpoints" "this machine has none"
fi

# Two words of a block, which is freed before the program ends.
cat >heap.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static volatile long *counters;
static long *make_counters(void) { return aligned_alloc(64, 192); }
static void *work(void *which) { for (long i = 0; i < 60000000; i++) counters[8 + (long)which]++; return NULL; }
int main(void)
{
    pthread_t threads[2];
    counters = make_counters();
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    free((void *)counters);
    return 0;
}
END
cc -O1 -g -fno-inline -fno-omit-frame-pointer -pthread -o heap heap.c
blocks() {
    native blocks.json --allocations -- ./heap
    holds "a block of the heap, by the place that allocated it" 'd["objects"][0]["kind"] == "blocks" and "heap_unknown" not in d and
        d["objects"][0]["name"].startswith("blocks of make_counters at heap.c:") and "< main at heap.c:" in d["objects"][0]["name"]' blocks.json
    holds "… and the block of the line" '(lambda line: line["block"]["size"] == 192 and
        int(line["address"], 16) == int(line["block"]["address"], 16) + 64)(d["lines"][0])' blocks.json
    "$ASSAY" comm --source=timer --rate 10000 --allocations -o blocks.txt -- ./heap >/dev/null
    check "… as text" grep -qE 'blocks of make_counters at heap.c:4 < main at heap.c:[0-9]+.*, byte [67][0-9] of 192 at 0x' blocks.txt
    "$ASSAY" comm --source=timer --rate 10000 -o heap.txt -- ./heap >/dev/null
    check "without the agent: a line says so" grep -q '^  Heap objects are not known: --allocations loads' heap.txt
}
by_chance blocks
check_stderr_line 'heap objects are not known: .* is statically linked' "an agent that cannot be loaded" \
    "$ASSAY" comm --source=timer --allocations -o static.txt -- "$WORKLOADS/known/x86-load-1"

# A process that runs already; text; odd programs.
"$sharing" write -t 2 -n 100000000000 -f 1 >/dev/null &
victim=$!
runs() { [ "$(readlink "/proc/$victim/exe")" = "$sharing" ]; }
wait_until runs
check "--pid" "$ASSAY" comm --source=timer --rate 10000 --pid $victim --duration 2 -o attached
check "… what it spent" grep -qE '^Spent: [0-9,]+ samples, [0-9,]+ watchpoints, [0-9,]+ traps: about' attached
check_stderr_line 'heap objects are not known: the agent has to be in a program from its start' "--pid: no agent" \
    "$ASSAY" comm --source=timer --allocations --json --pid $victim --duration 1 -o attached.json
holds "… which JSON has too" 'd["heap_unknown"].startswith("the agent") and d["part"].endswith("of a process that ran already")' attached.json
check "… leaves it running" kill -0 $victim
kill $victim
wait $victim 2>/dev/null
check "one thread" "$ASSAY" comm --source=timer -- sh -c 'i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done'
check "… has nobody to talk to" grep -q 'One thread alone' <<<"$out"
check_json "a thousand threads" 'd["threads_started"] == 1001 and len(d["matrix"]) == d["threads"] <= 1001' \
    "$ASSAY" comm --source=timer --json --top 1 -- "$sharing" write -t 1000 -n 20000
check_json "fork and exec: processes do not communicate" 'd["total"] == 0' \
    "$ASSAY" comm --source=timer --rate 10000 --json -- sh -c 'ls -R /usr/share/doc >/dev/null; exec ls -R /usr/share/doc >/dev/null'
cat >ends.c <<'END'
#include <pthread.h>
static _Alignas(64) volatile long word, own[512];
static void *work(void *a) { for (long i = 0; i < 400000; i++) i % 64 ? own[i % 512]++ : word++; return a; }
int main(void)
{
    pthread_t threads[3];
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < 3; i++)
            pthread_create(&threads[i], 0, work, 0);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], 0);
    }
    return 7;
}
END
cc -O1 -pthread -o ends ends.c
check_status 7 "threads that end while they watch" "$ASSAY" comm --source=timer --rate 10000 --budget 50 --json -o ends.json -- ./ends
holds "… all of them were started" 'd["threads_started"] == 181 and d["threads"] <= 181' ends.json
cat >plugged.c <<'END'
_Alignas(64) volatile long in_library[8];
void add(long which, long times) { for (long i = 0; i < times; i++) in_library[which]++; }
END
cat >loads.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
static void (*add)(long, long);
static void *work(void *which) { add((long)which, 50000000); return NULL; }
int main(void)
{
    pthread_t threads[2];
    add = (void (*)(long, long))dlsym(dlopen("./plugged.so", RTLD_NOW), "add");
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
END
cc -O1 -g -shared -fPIC -o plugged.so plugged.c
cc -O1 -g -pthread -o loads loads.c
plugged() {
    native loads.json -- ./loads
    holds "a library that is loaded while the program runs" 'd["objects"][0]["name"] == "in_library" and
        d["objects"][0]["module"] == "plugged.so" and d["false_sharing"] == d["total"] > 0' loads.json
}
by_chance plugged
check_status 139 "a program that dies" "$ASSAY" comm --source=timer -- sh -c 'kill -SEGV $$'
"$ASSAY" comm --source=timer --json -o killed.json -- sh -c 'kill -KILL $$'
holds "… and its result says so" 'd["part"].endswith(" seconds on this machine, until it was killed")' killed.json
check_status 127 "no such program" "$ASSAY" comm --source=timer -- ./absent

# What is not there, and wrong usage.
deny=$BUILD/tests/unit/native/deny_perf
without_registers() {
    "$deny" -b "$1" "$ASSAY" comm --source=timer --rate 4000 --json -o refused.json -- ./rare 2>refused
    check_same "$1: the program's status" 3 $?
    check "$1: one line says that nothing is watched" grep -qxE "assay: (warning: )?no watchpoints: $2; only look-ups find communication" refused
    holds "… and so does the result" 'd["sampling"]["trapped"] == 0 < d["spent"]["refused"] and d["sampling"]["store_samples"] > 0' refused.json
}
if "$deny" -b ENOSPC true 2>/dev/null; then
    by_chance without_registers ENOSPC 'the debug registers are in use by another program .a debugger or a profiler.'
    by_chance without_registers EOPNOTSUPP 'this machine has no debug registers'
    by_chance without_registers ENODEV 'this machine has no debug registers'
else
    skip "a machine without debug registers" "the kernel cannot ask about system calls"
fi
if "$deny" EPERM true 2>/dev/null; then
    check_stderr_line 'the task clock cannot be sampled: Operation not permitted' "perf events are forbidden" "$deny" EPERM "$ASSAY" comm --source=timer -- true
else
    skip "perf events are forbidden" "no seccomp filter can be set"
fi
check_stderr_line '--cores is the model.s: --source=timer has none' "an option of the model" "$ASSAY" comm --source=timer --cores 2 -- true
check_stderr_line '--pid needs --source=timer' "--pid in the model" "$ASSAY" comm --pid 1
check_stderr_line 'either --pid or a program' "both" "$ASSAY" comm --source=timer --pid 1 -- true
check_stderr_line 'duration needs --pid and a number of seconds' "a duration alone" "$ASSAY" comm --source=timer --duration 1 -- true
check_stderr_line '0 to 100 per cent' "a budget that is none" "$ASSAY" comm --source=timer --budget 200 -- true
check_stderr_line 'there is no process|No such process|cannot' "no such process" "$ASSAY" comm --source=timer --pid 2147483647
if [ "$(uname -m)" = x86_64 ] && [ -x "$WORKLOADS/demo-riscv64-static" ]; then
    check_stderr_line 'is for riscv64, and this machine is x86_64: --source=model runs it' "another machine's program" \
        "$ASSAY" comm --source=timer -- "$WORKLOADS/demo-riscv64-static"
fi
check_no_strays "nothing is left running"
