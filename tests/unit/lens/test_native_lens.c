/* The machine behind a lens, on another process with real debug registers: a trap with the access behind it, one for each
 * arming; all registers used; the budget; threads that end, and programs that are executed. The samples are made up. */
#include "lens/native_lens.h"

#include "apart.h"
#include "perf_here.h"
#include "unit.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#ifdef __x86_64__
static _Alignas(64) volatile uint32_t words[16];

UNIT_APART static void touch(uint32_t value)
{
    words[3] = value;
}

/* A child that writes one word over and over. */
static pid_t start_child(void)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (uint32_t count = 1;; count++)
        touch(count);
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

struct seen {
    unsigned started, ended, samples, traps;
    uint32_t process;
    struct as_lens_trap trap;
    struct as_lens_access sampled; /* the last one */
    uint8_t counter;               /* … and who sampled it */
};

static void on_start(void *client, uint32_t thread, uint32_t process)
{
    ((struct seen *)client)->started++;
    ((struct seen *)client)->process = process;
}

static void on_end(void *client, uint32_t thread)
{
    ((struct seen *)client)->ended++;
}

static void on_sample(void *client, const struct as_lens_sample *sample)
{
    ((struct seen *)client)->samples++;
    ((struct seen *)client)->sampled = sample->access;
    ((struct seen *)client)->counter = sample->counter;
}

static void on_trap(void *client, const struct as_lens_trap *trap)
{
    ((struct seen *)client)->traps++;
    ((struct seen *)client)->trap = *trap;
}

static const struct as_lens_client client = {
    .thread_start = on_start, .thread_end = on_end, .sample = on_sample, .trap = on_trap};

static struct as_native_lens *open_lens(struct seen *seen, double budget)
{
    struct as_native_lens_options options = {.registers = 4, .budget = budget, .seed = 1};
    struct as_native_lens *lens = as_native_lens_new(&options);
    as_native_lens_set_client(lens, &client, seen);
    return lens;
}

/* A sample with an address that the processor recorded; its instruction is not known. The chain has `n` addresses. */
static void sample_with(struct as_native_lens *lens, pid_t pid, uint64_t time, const uint64_t *chain, size_t n)
{
    struct as_perf_event event = {0};
    union perf_mem_data_src source = {.mem_op = PERF_MEM_OP_STORE};
    struct as_perf_sample made = {.event = &event,
                                  .has = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC,
                                  .mode = AS_PERF_USER,
                                  .addr = (uintptr_t)&words[0],
                                  .data_src = source.val,
                                  .time = time,
                                  .pid = (uint32_t)pid,
                                  .tid = (uint32_t)pid,
                                  .chain = chain,
                                  .n_chain = n};
    as_native_lens_sample(lens, &made, 1000, true);
}

static void sample(struct as_native_lens *lens, pid_t pid, uint64_t time)
{
    sample_with(lens, pid, time, NULL, 0);
}

/* … of a thread, without an address. */
static void sample_of(struct as_native_lens *lens, uint32_t pid, uint32_t tid, uint64_t time)
{
    struct as_perf_event event = {0};
    struct as_perf_sample made = {.event = &event, .mode = AS_PERF_USER, .time = time, .pid = pid, .tid = tid};
    as_native_lens_sample(lens, &made, 1000, true);
}

/* Time does not go back, and a sample without one has that of the last. */
static void times(void **state)
{
    static const uint64_t given[] = {10, 5, AS_PERF_NO_TIME, 20}, want[] = {10, 10, 10, 20};
    struct seen seen = {0};
    struct as_native_lens *native = open_lens(&seen, 1);
    for (size_t i = 0; i < 4; i++) {
        sample(native, getpid(), given[i]);
        assert_int_equal(seen.sampled.time, want[i]);
    }
    as_native_lens_free(native);
    native = open_lens(&seen, 1);
    sample(native, getpid(), AS_PERF_NO_TIME); /* 0 would be no time */
    assert_int_equal(seen.sampled.time, 1);
    as_native_lens_free(native);
}

/* The innermost 32 frames are kept; there is no path 0, and none beyond the last. */
static void ends_of_paths(void **state)
{
    enum { KEPT = 32, DEEP = KEPT + 8 };
    uint64_t chain[DEEP];
    struct seen seen = {0};
    struct as_native_lens *native = open_lens(&seen, 1);
    const uint64_t *found;
    uint32_t process = 0;
    for (size_t i = 0; i < DEEP; i++)
        chain[i] = 0x1000 * (i + 1) + 1;
    assert_int_equal(as_native_lens_path(native, 1, &found, &process), 0);
    sample_with(native, getpid(), 1, chain, DEEP);
    assert_int_equal(as_native_lens_path(native, seen.sampled.path, &found, &process), KEPT);
    assert_int_equal(process, 1); /* the first that was met */
    assert_true(found[0] == 0x1001 && found[KEPT - 1] == 0x1000 * KEPT);
    assert_int_equal(as_native_lens_path(native, 0, &found, &process), 0);
    assert_int_equal(as_native_lens_path(native, seen.sampled.path + 1, &found, &process), 0);
    as_native_lens_free(native);
}

/* The same frames are the same path, whatever came between. Return addresses are behind their calls. */
static void paths(void **state)
{
    static const uint64_t chain[] = {0x100, 0x205, 0x305, 0x405};
    struct seen seen = {0};
    struct as_native_lens *native = open_lens(&seen, 1);
    const uint64_t *found;
    uint32_t process, numbers[3];
    for (size_t i = 0; i < 9; i++) {
        size_t which = i % 3;
        sample_with(native, getpid(), i + 1, chain, which + 2);
        if (i < 3)
            numbers[which] = seen.sampled.path;
        assert_int_equal(seen.sampled.path, numbers[which]);
        assert_int_equal(as_native_lens_path(native, seen.sampled.path, &found, &process), which + 2);
        assert_true(found[0] == 0x100 && found[1] == 0x204);
    }
    assert_true(numbers[0] && numbers[0] != numbers[1] && numbers[1] != numbers[2] && numbers[0] != numbers[2]);
    assert_int_equal(as_native_lens_thread(native, 0)->path, numbers[1]); /* of the eighth sample */
    sample(native, getpid(), 20);                                         /* without a chain */
    assert_int_equal(seen.sampled.path, 0);
    as_native_lens_free(native);
}

/* Registers of perf (asm/perf_regs.h) up to the instruction pointer, and their values. */
enum { PERF_SI = 4, PERF_DI = 5, PERF_IP = 8, PERF_REGISTERS = 9 };

/* A sample of this process at `code`, which copies words[0] to words[8]; `told` is what the processor says that it did. */
static void sample_copy(struct as_native_lens *lens, const uint8_t *code, uint64_t address, uint64_t told)
{
    struct as_perf_event event = {0};
    union perf_mem_data_src source = {.mem_op = told};
    uint64_t registers[PERF_REGISTERS] = {
        [PERF_SI] = (uintptr_t)&words[0], [PERF_DI] = (uintptr_t)&words[8], [PERF_IP] = (uintptr_t)code};
    struct as_perf_sample made = {
        .event = &event,
        .has = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_REGS_USER,
        .mode = AS_PERF_USER,
        .addr = address,
        .data_src = source.val,
        .time = 10,
        .pid = (uint32_t)getpid(),
        .tid = (uint32_t)getpid(),
        .user_regs = {PERF_SAMPLE_REGS_ABI_64, (1u << PERF_REGISTERS) - 1, registers, PERF_REGISTERS}};
    as_native_lens_sample(lens, &made, 1000, false);
}

/* Of an instruction with two accesses, size and kind are those of the one that has the recorded address; without one, they are
 * what the processor says. */
static void recorded_addresses(void **state)
{
    static const uint8_t code[16] = {0x48, 0xa5}; /* movsq */
    const uint64_t from = (uintptr_t)&words[0], to = (uintptr_t)&words[8];
    struct seen seen = {0};
    struct as_native_lens *native = open_lens(&seen, 1);
    struct as_perf_process map = {.kind = AS_PERF_MAP,
                                  .pid = (uint32_t)getpid(),
                                  .tid = (uint32_t)getpid(),
                                  .start = (uintptr_t)code,
                                  .length = sizeof code,
                                  .name = "//anon"};
    const struct {
        uint64_t address, told;
        uint32_t size, counter;
        uint8_t kind;
    } cases[] = {{from, 0, 8, AS_ACCESS_LOAD, AS_ACCESS_LOAD},
                 {from + 7, 0, 8, AS_ACCESS_LOAD, AS_ACCESS_LOAD},
                 {to, PERF_MEM_OP_LOAD, 8, AS_ACCESS_LOAD, AS_ACCESS_STORE},
                 {from + 8, PERF_MEM_OP_STORE, 0, AS_ACCESS_STORE, AS_ACCESS_STORE}};
    as_native_lens_process(native, &map);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample_copy(native, code, cases[i].address, cases[i].told);
        assert_int_equal(seen.samples, i + 1);
        assert_int_equal(seen.sampled.address, cases[i].address);
        assert_int_equal(seen.sampled.size, cases[i].size);
        assert_int_equal(seen.sampled.kind, cases[i].kind);
        assert_int_equal(seen.counter, cases[i].counter);
    }
    assert_int_equal(as_native_lens_cost(native).without, 0);
    as_native_lens_free(native);
}

/* A thread that is sampled by its own clock, every 1000, has run since its last sample unless that is late by half. */
static void how_long_it_ran(void **state)
{
    static const uint64_t given[] = {5000, 6000, 7500, 9001, 9900}, since[] = {5000, 5000, 5000, 9001, 9001};
    struct seen seen = {0};
    struct as_native_lens *native = open_lens(&seen, 1);
    for (size_t i = 0; i < 5; i++) {
        sample(native, getpid(), given[i]);
        assert_int_equal(seen.sampled.since, since[i]);
        assert_int_equal(seen.sampled.until, given[i] + 1500);
    }
    as_native_lens_free(native);
}

/* ---- accesses around an interrupt ---- */

/* Loads from words[] and stores to stored[], 8 bytes each, and an end that nobody can follow. */
static _Alignas(64) uint64_t stored[16];
static const uint8_t around[] = {
    0x48, 0x8b, 0x07,       /* mov rax, [rdi] */
    0x48, 0x89, 0x46, 0x08, /* mov [rsi+8], rax */
    0x48, 0x8b, 0x47, 0x10, /* mov rax, [rdi+16] */
    0x48, 0x89, 0x46, 0x18, /* mov [rsi+24], rax */
    0x48, 0x8b, 0x47, 0x20, /* mov rax, [rdi+32] */
    0x48, 0x89, 0x46, 0x28, /* mov [rsi+40], rax */
    0x48, 0x8b, 0x47, 0x30, /* mov rax, [rdi+48] */
    0x48, 0x89, 0x46, 0x38, /* mov [rsi+56], rax */
    0x0f, 0x0b,             /* ud2 */
};
enum { AROUND = 8, PERF_SP = 7 };
static const uint8_t starts[AROUND] = {0, 3, 7, 11, 15, 19, 23, 27};

static int which_access(const struct as_lens_access *access)
{
    bool store = access->kind == AS_ACCESS_STORE;
    uint64_t base = store ? (uintptr_t)stored : (uintptr_t)words, number = (access->address - base) / 8;
    assert_true(access->size == 8 && (store || access->kind == AS_ACCESS_LOAD));
    assert_true(number < AROUND && number % 2 == store);
    assert_int_equal(access->insn, (uintptr_t)around + starts[number]);
    return (int)number;
}

/* Samples at an instruction: how often each of the accesses is given, and the first forty as digits. */
static void sample_around(uint64_t seed, int at, int n, int found[AROUND], char order[41])
{
    struct seen seen = {0};
    struct as_native_lens_options options = {.registers = 4, .budget = 1, .seed = seed};
    struct as_native_lens *native = as_native_lens_new(&options);
    struct as_perf_process map = {.kind = AS_PERF_MAP,
                                  .pid = (uint32_t)getpid(),
                                  .tid = (uint32_t)getpid(),
                                  .start = (uintptr_t)around,
                                  .length = sizeof around,
                                  .name = "//anon"};
    uint64_t registers[PERF_REGISTERS] = {[PERF_SI] = (uintptr_t)stored,
                                          [PERF_DI] = (uintptr_t)words,
                                          [PERF_SP] = 0x7ffe0000,
                                          [PERF_IP] = (uintptr_t)around + starts[at]};
    const uint64_t chain[] = {registers[PERF_IP], 0x205}, *path;
    uint32_t process;
    struct as_perf_event event = {0};
    struct as_perf_sample made = {
        .event = &event,
        .has = PERF_SAMPLE_REGS_USER,
        .mode = AS_PERF_USER,
        .time = 10,
        .pid = (uint32_t)getpid(),
        .tid = (uint32_t)getpid(),
        .chain = chain,
        .n_chain = 2,
        .user_regs = {PERF_SAMPLE_REGS_ABI_64, (1u << PERF_REGISTERS) - 1, registers, PERF_REGISTERS}};
    as_native_lens_set_client(native, &client, &seen);
    as_native_lens_process(native, &map);
    memset(found, 0, AROUND * sizeof *found);
    for (int i = 0; i < n; i++) {
        as_native_lens_sample(native, &made, 1000, false);
        assert_int_equal(seen.samples, i + 1);
        assert_int_equal(seen.counter, AS_ACCESS_LOAD | AS_ACCESS_STORE);
        int which = which_access(&seen.sampled);
        found[which]++;
        assert_int_equal(as_native_lens_path(native, seen.sampled.path, &path, &process), 2);
        assert_true(path[0] == seen.sampled.insn && path[1] == 0x204); /* wherever the interrupt was */
        if (i < 40)
            order[i] = (char)('0' + which);
    }
    order[n < 40 ? n : 40] = 0;
    assert_int_equal(as_native_lens_cost(native).without, 0);
    assert_int_equal(as_native_lens_thread(native, 0)->stack, 0x7ffe0000);
    as_native_lens_free(native);
}

/* A sample that says nothing of memory: neither an address nor registers. */
static void nothing_around(void **state)
{
    struct seen seen = {0};
    struct as_native_lens *native = open_lens(&seen, 1);
    struct as_perf_event event = {0};
    struct as_perf_sample made = {
        .event = &event, .mode = AS_PERF_USER, .time = 10, .pid = (uint32_t)getpid(), .tid = (uint32_t)getpid()};
    for (int i = 0; i < 50; i++) /* whether it would look back or ahead */
        as_native_lens_sample(native, &made, 1000, true);
    assert_true(seen.started == 1 && seen.samples == 0);
    assert_true(as_native_lens_cost(native).without == 50 && as_native_lens_cost(native).samples == 50);
    as_native_lens_free(native);
}

/* Each of eight is given as often as the others, within five standard deviations, wherever among them the sample is: also
 * where there is no way ahead. */
static void accesses_around(void **state)
{
    enum { SAMPLES = 4000, EACH = SAMPLES / AROUND, FIVE_DEVIATIONS = 105 }; /* 5 * sqrt(4000 * 1/8 * 7/8) */
    int found[AROUND];
    char order[41], again[41], other[41];
    for (int at = 4; at < AROUND; at += 3) {
        sample_around(1, at, SAMPLES, found, order);
        for (int i = 0; i < AROUND; i++)
            assert_in_range(found[i], EACH - FIVE_DEVIATIONS, EACH + FIVE_DEVIATIONS);
    }
    sample_around(1, 4, 40, found, order);
    sample_around(1, 4, 40, found, again);
    sample_around(2, 4, 40, found, other);
    assert_string_equal(order, again);
    assert_string_not_equal(order, other);
}

static struct as_lens_watch watch_of(unsigned word)
{
    return (struct as_lens_watch){
        .address = (uintptr_t)&words[word], .length = 4, .kind = AS_ACCESS_LOAD | AS_ACCESS_STORE, .data = word};
}

static pid_t child_or_skip(void)
{
    const char *refusal = unit_no_watchpoints();
    if (refusal)
        unit_skip("no hardware watchpoints here: %s", refusal);
    return start_child();
}

/* Half a minute at most: a busy machine may not run the child for long. */
static void wait_for_trap(struct as_native_lens *lens, const struct seen *seen, unsigned traps)
{
    for (int i = 0; i < 30000 && seen->traps < traps; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        as_native_lens_poll(lens);
    }
}

static void one_trap_with_its_access(void **state)
{
    pid_t pid = child_or_skip();
    struct seen seen = {0};
    struct as_native_lens *native = open_lens(&seen, 1);
    struct as_lens lens = as_native_lens_open(native);
    struct as_lens_watch watch = watch_of(3);
    struct as_lens_ref ref;
    struct as_lens_counts counts;
    sample(native, pid, 10);
    assert_int_equal(seen.started, 1);
    assert_int_equal(seen.samples, 1);
    assert_int_equal(as_lens_arm(&lens, 1, &watch, &ref), AS_LENS_OK);
    wait_for_trap(native, &seen, 1);
    assert_int_equal(seen.traps, 1);
    assert_int_equal(seen.trap.watch.data, 3);
    assert_int_equal(seen.trap.access.thread, 1);
    assert_int_equal(seen.trap.access.address, (uintptr_t)&words[3]);
    assert_int_equal(seen.trap.access.size, 4);
    assert_int_equal(seen.trap.access.kind, AS_ACCESS_STORE);
    assert_in_range(seen.trap.access.insn - (uintptr_t)touch, 0, 64);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* millions of stores */
    as_native_lens_poll(native);
    assert_int_equal(seen.traps, 1);
    assert_int_equal(as_lens_disarm(&lens, &ref), AS_LENS_GONE);
    assert_int_equal(as_native_lens_cost(native).causes, 1);
    assert_in_range(as_native_lens_cost(native).traps, 1, 4);
    assert_false(as_lens_counts(&lens, 1, &counts)); /* nobody counts accesses here */
    as_native_lens_free(native);
    end_child(pid);
}

static void four_registers(void **state)
{
    pid_t pid = child_or_skip();
    struct seen seen = {0};
    struct as_native_lens *native = open_lens(&seen, 1);
    struct as_lens lens = as_native_lens_open(native);
    struct as_lens_ref refs[4], other;
    struct as_lens_watch watch = watch_of(8), odd = {.address = (uintptr_t)words + 1, .length = 4, .kind = 2};
    sample(native, pid, 10);
    for (unsigned i = 0; i < 4; i++) {
        watch.address += 4;
        assert_int_equal(as_lens_arm(&lens, 1, &watch, &refs[i]), AS_LENS_OK);
        assert_int_equal(refs[i].slot, i);
    }
    assert_int_equal(as_lens_arm(&lens, 1, &watch, &other), AS_LENS_FULL);
    assert_int_equal(as_lens_disarm(&lens, &refs[2]), AS_LENS_OK);
    assert_int_equal(as_lens_arm(&lens, 1, &odd, &other), AS_LENS_REFUSED);
    assert_int_equal(as_lens_arm(&lens, 1, &watch, &other), AS_LENS_OK);
    assert_int_equal(other.slot, 2);
    assert_int_equal(as_lens_disarm(&lens, &refs[2]), AS_LENS_GONE);
    assert_int_equal(as_lens_move(&lens, &refs[0], &watch), AS_LENS_OK);
    assert_int_equal(as_lens_arm(&lens, 7, &watch, &other), AS_LENS_GONE);
    assert_int_equal(as_native_lens_cost(native).armings, 6);
    as_native_lens_free(native);
    end_child(pid);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* 5 ms at the start, then 50 ms a second; a register needs 3 ms and what it costs to arm it. */
static void budget_is_kept(void **state)
{
    pid_t pid = child_or_skip();
    struct seen seen = {0};
    struct as_native_lens *native = open_lens(&seen, 0.05);
    struct as_lens lens = as_native_lens_open(native);
    struct as_lens_watch watch = watch_of(8);
    struct as_lens_ref ref;
    double begun = now(), watched = 0;
    unsigned armed = 0;
    sample(native, pid, 10);
    for (unsigned i = 0; i < 2000; i++) {
        double at = now();
        if (as_lens_arm(&lens, 1, &watch, &ref) != AS_LENS_OK)
            continue;
        assert_int_equal(as_lens_disarm(&lens, &ref), AS_LENS_OK);
        watched += now() - at;
        armed++;
    }
    double allowed = 0.005 + 0.05 * (now() - begun);
    struct as_native_lens_cost cost = as_native_lens_cost(native);
    assert_in_range(armed, 1, (unsigned)(allowed / 15e-6) + 1);
    assert_int_equal(cost.armings, armed);
    assert_int_equal(cost.postponed, 2000 - armed);
    assert_true(cost.watching >= armed * 15e-6 - 1e-9 && cost.watching <= armed * 15e-6 + 0.1 * watched + 1e-9);
    as_native_lens_free(native);
    end_child(pid);
}

/* Processor time of a process, in seconds. */
static double ran_for(pid_t pid)
{
    clockid_t clock;
    struct timespec time = {0};
    assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A thread that runs with four registers is slowed down once. The child never sleeps: it runs sooner or later. */
static void watching_costs(void **state)
{
    pid_t pid = child_or_skip();
    struct seen seen = {0};
    struct as_native_lens *native = open_lens(&seen, 1);
    struct as_lens lens = as_native_lens_open(native);
    struct as_lens_watch watch = watch_of(8);
    struct as_lens_ref refs[4];
    double begun = now(), ran = ran_for(pid);
    sample(native, pid, 10);
    for (unsigned i = 0; i < 4; i++) {
        watch.address += 4;
        assert_int_equal(as_lens_arm(&lens, 1, &watch, &refs[i]), AS_LENS_OK);
    }
    double from = ran_for(pid);
    while (ran_for(pid) - from < 0.05 && now() - begun < 30)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    double watched = ran_for(pid) - from;
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(as_lens_disarm(&lens, &refs[i]), AS_LENS_OK);
    ran = ran_for(pid) - ran;
    double watching = as_native_lens_cost(native).watching - 4 * 15e-6;
    assert_true(watching >= 0.1 * watched - 0.002 && watching <= 0.1 * ran + 0.002);
    as_native_lens_free(native);
    end_child(pid);
}

static void process(struct as_native_lens *lens, enum as_perf_process_kind kind, pid_t pid, bool exec)
{
    struct as_perf_process record = {
        .kind = kind, .pid = (uint32_t)pid, .tid = (uint32_t)pid, .exec = exec, .name = "name"};
    as_native_lens_process(lens, &record);
}

/* A process's first thread is the first one, although another one is sampled before it. */
static void first_thread_first(void **state)
{
    static const struct {
        uint32_t pid, tid;
    } met[] = {{50, 52}, {50, 51}, {50, 50}, {60, 60}, {60, 61}};
    static const uint32_t want[] = {50, 52, 51, 60, 61};
    struct seen seen = {0};
    struct as_native_lens *native = open_lens(&seen, 1);
    for (size_t i = 0; i < 5; i++)
        sample_of(native, met[i].pid, met[i].tid, i + 1);
    assert_int_equal(as_native_lens_threads(native), 5);
    assert_int_equal(seen.started, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(as_native_lens_thread(native, i)->tid, want[i]);
    process(native, AS_PERF_EXIT, 50, false);
    sample_of(native, 50, 53, 9); /* its first thread has ended, and does not come again */
    assert_int_equal(as_native_lens_threads(native), 6);
    assert_int_equal(as_native_lens_thread(native, 5)->tid, 53);
    as_native_lens_free(native);
}

/* A thread has the name of its parent from the fork on, and its own from the moment when it gets one. */
static void names_come_from_parents(void **state)
{
    static const struct as_perf_process records[] = {
        {.kind = AS_PERF_COMM, .pid = 50, .tid = 50, .name = "parent"},
        {.kind = AS_PERF_FORK, .pid = 50, .tid = 51, .parent_pid = 50, .parent_tid = 50},
        {.kind = AS_PERF_FORK, .pid = 50, .tid = 52, .parent_pid = 50, .parent_tid = 51},
        {.kind = AS_PERF_COMM, .pid = 50, .tid = 51, .parent_pid = 50, .parent_tid = 50, .name = "own"},
        {.kind = AS_PERF_FORK, .pid = 50, .tid = 53, .parent_pid = 50, .parent_tid = 51},
        {.kind = AS_PERF_FORK, .pid = 50, .tid = 54, .parent_pid = 40, .parent_tid = 40},
    };
    static const char *const want[] = {"parent", "own", "parent", "own", ""};
    struct seen seen = {0};
    struct as_native_lens *native = open_lens(&seen, 1);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        as_native_lens_process(native, &records[i]);
    for (uint32_t i = 0; i < 5; i++) {
        sample_of(native, 50, 50 + i, i + 1);
        assert_int_equal(as_native_lens_thread(native, i)->tid, 50 + i);
        assert_string_equal(as_native_lens_thread(native, i)->comm, want[i]);
    }
    as_native_lens_free(native);
}

static void threads_end_and_processes_change(void **state)
{
    pid_t pid = child_or_skip();
    struct seen seen = {0};
    struct as_native_lens *native = open_lens(&seen, 1);
    struct as_lens lens = as_native_lens_open(native);
    struct as_lens_watch watch = watch_of(8);
    struct as_lens_ref ref;
    sample(native, pid, 10);
    assert_int_equal(seen.process, 1);
    assert_int_equal(as_lens_arm(&lens, 1, &watch, &ref), AS_LENS_OK);
    process(native, AS_PERF_COMM, pid, true); /* another program in the same process */
    assert_int_equal(seen.ended, 1);
    assert_int_equal(as_lens_disarm(&lens, &ref), AS_LENS_GONE);
    sample(native, pid, 20);
    assert_int_equal(seen.started, 2);
    assert_int_equal(seen.process, 2);
    assert_string_equal(as_native_lens_thread(native, 1)->comm, "name");
    process(native, AS_PERF_EXIT, pid, false);
    assert_int_equal(seen.ended, 2);
    assert_int_equal(as_lens_arm(&lens, 2, &watch, &ref), AS_LENS_GONE);
    assert_int_equal(as_native_lens_threads(native), 2);
    end_child(pid);
    sample(native, pid, 30); /* the kernel's number again; nobody is there */
    assert_int_equal(as_lens_arm(&lens, 3, &watch, &ref), AS_LENS_GONE);
    assert_int_equal(as_native_lens_cost(native).refused, 0);
    as_native_lens_free(native);
}
#endif

int main(void)
{
#ifdef __x86_64__
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times),
        cmocka_unit_test(paths),
        cmocka_unit_test(ends_of_paths),
        cmocka_unit_test(recorded_addresses),
        cmocka_unit_test(how_long_it_ran),
        cmocka_unit_test(accesses_around),
        cmocka_unit_test(nothing_around),
        cmocka_unit_test(one_trap_with_its_access),
        cmocka_unit_test(four_registers),
        cmocka_unit_test(budget_is_kept),
        cmocka_unit_test(watching_costs),
        cmocka_unit_test(first_thread_first),
        cmocka_unit_test(names_come_from_parents),
        cmocka_unit_test(threads_end_and_processes_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    return 0;
#endif
}
