/* Each mechanism on records written by hand: which instruction a sample lands on, and what is lost. */
#include "pmu_bed.h"

#include <stdio.h>

static uint64_t of(const struct taken *taken, uint32_t insn)
{
    uint64_t n = 0;
    for (size_t i = 0; i < taken->samples.len; i++)
        n += taken->samples.data[i].insn == insn;
    return n;
}

/* Instructions that dispatch, execute and commit one a cycle, `ids` over and over. */
static struct as_pipe *repeat(const uint32_t *ids, size_t n_ids, size_t times, uint32_t apart)
{
    struct as_pipe *pipes = as_alloc_array(n_ids * times, sizeof *pipes);
    for (size_t i = 0; i < n_ids * times; i++) {
        uint64_t cycle = 10 + apart * i;
        pipes[i] = (struct as_pipe){.insn = ids[i % n_ids],
                                    .fetch = cycle - 4,
                                    .dispatch = cycle,
                                    .issue = cycle + 1,
                                    .done = cycle + 4,
                                    .commit = cycle + 5,
                                    .thread = 1,
                                    .uops = 1};
    }
    return pipes;
}

/* ---- PEBS ---- */

/* Figure 1 of the shadow paper: five events; an overflow at the first records the fourth, those of the second to the
 * fourth record the fifth. */
static void figure_1(void **state)
{
    static const uint64_t commits[] = {100, 103, 106, 110, 130};
    static const uint32_t want[] = {4, 5, 5, 5};
    struct as_pmu pmu = plain_pebs;
    pmu.shadow[AS_SHADOW_LOADS] = 9;
    for (uint64_t first = 1; first <= 4; first++) {
        struct as_pipe pipes[5] = {0};
        for (uint32_t i = 0; i < 5; i++)
            pipes[i] = (struct as_pipe){.insn = LOAD + 16 * i, .commit = commits[i], .done = 1, .issue = 1, .uops = 1};
        struct as_pmu_request request = ask(&pmu, "loads", first);
        struct taken taken = run(&request, pipes, 5, NULL, NULL, 0);
        assert_true(taken.samples.len >= 1);
        assert_int_equal(taken.samples.data[0].insn, LOAD + 16 * (want[first - 1] - 1));
        assert_int_equal(taken.samples.data[0].cycle, commits[want[first - 1] - 1]);
        clear(&taken);
    }
}

/* Snippet 1: four loads, then a fence that takes longer than the shadow. The number of samples is right, and all are the
 * first load's; without a shadow they are even. */
static void all_on_the_first_load(void **state)
{
    enum { TIMES = 10000 };
    struct as_pmu pmu = plain_pebs;
    struct as_pipe *pipes = as_alloc_array(4 * TIMES, sizeof *pipes);
    for (size_t i = 0; i < 4 * TIMES; i++)
        pipes[i] = (struct as_pipe){
            .insn = LOAD + 16 * (uint32_t)(i % 4), .commit = 20 * (i / 4) + i % 4, .uops = 1, .thread = 1};
    pmu.shadow[AS_SHADOW_LOADS] = 10;
    struct as_pmu_request request = ask(&pmu, "loads", 7);
    struct taken taken = run(&request, pipes, 4 * TIMES, NULL, NULL, 0);
    assert_int_equal(taken.counts[0].happened, 4 * TIMES);
    assert_int_equal(taken.counts[0].overflows, 4 * TIMES / 7);
    assert_int_equal(of(&taken, LOAD), taken.samples.len);
    assert_in_range(taken.samples.len, 4 * TIMES / 7 - 1, 4 * TIMES / 7);
    clear(&taken);

    pmu.shadow[AS_SHADOW_LOADS] = 0;
    request = ask(&pmu, "loads", 7);
    taken = run(&request, pipes, 4 * TIMES, NULL, NULL, 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_in_range(of(&taken, LOAD + 16 * i), TIMES / 7 - 1, TIMES / 7 + 1);
    clear(&taken);
    free(pipes);
}

/* The counter goes on while the unit is not armed: a shadow of many periods gives one sample, and the rest is missed. */
static void overflows_in_the_shadow_are_missed(void **state)
{
    static const uint32_t ids[] = {LOAD};
    struct as_pipe *pipes = repeat(ids, 1, 100, 1);
    struct as_pmu pmu = plain_pebs;
    pmu.shadow[AS_SHADOW_LOADS] = 35;
    struct as_pmu_request request = ask(&pmu, "loads", 10);
    struct taken taken = run(&request, pipes, 100, NULL, NULL, 0);
    assert_int_equal(taken.counts[0].overflows, 10);
    assert_int_equal(taken.samples.len, 2); /* overflows 10 and 50 arm it; 20, 30, 40 and 60, 70, 80 find it busy */
    assert_int_equal(taken.samples.data[0].cycle, 15 + 9 + 35);
    assert_int_equal(taken.counts[0].missed, 7);
    clear(&taken);
    free(pipes);
}

/* A precise distribution records the very next instruction, whatever the shadow. */
static void pdir(void **state)
{
    static const uint32_t ids[] = {NOP, NOP + 16, NOP + 32};
    struct as_pipe *pipes = repeat(ids, 3, 1000, 1);
    struct as_pmu pmu = plain_pebs;
    pmu.shadow[AS_SHADOW_INSTRUCTIONS] = 10;
    for (size_t i = 0; i < 3000; i++)
        pipes[i].commit = 100 + i / 3; /* three a cycle */
    struct as_pmu_request request = ask(&pmu, "instructions:ppp", 9);
    struct taken taken = run(&request, pipes, 3000, NULL, NULL, 0);
    assert_int_equal(of(&taken, NOP), taken.samples.len); /* the ninth is the third of its loop: the next one follows */
    clear(&taken);
    free(pipes);
}

static void events_are_told_apart(void **state)
{
    static const struct as_pipe pipes[] = {
        {.insn = LOAD, .commit = 1, .events = AS_EVENT_ST_L1 | AS_EVENT_L2_HIT},
        {.insn = LOAD, .commit = 2, .events = AS_EVENT_ST_L1 | AS_EVENT_LLC_HIT},
        {.insn = LOAD, .commit = 3, .events = AS_EVENT_ST_L1 | AS_EVENT_ST_LLC, .issue = 1, .done = 301},
        {.insn = LOAD, .commit = 4},
        {.insn = STORE, .commit = 5, .events = AS_EVENT_ST_L1},
        {.insn = LOCKED, .commit = 6},
        {.insn = BRANCH, .commit = 7, .flags = AS_PIPE_TAKEN | AS_PIPE_MISPREDICTED},
        {.insn = BRANCH, .commit = 8},
        {.insn = CALL, .commit = 9, .flags = AS_PIPE_TAKEN},
        {.insn = RET, .commit = 10, .flags = AS_PIPE_TAKEN},
        {.insn = LOAD, .commit = 11, .flags = AS_PIPE_CONTINUES},
    };
    static const struct {
        const char *event;
        uint64_t n;
    } want[] = {{"instructions", 10},
                {"loads", 6},
                {"stores", 3},
                {"locked-loads", 1},
                {"branches", 4},
                {"conditional", 2},
                {"taken", 3},
                {"calls", 1},
                {"returns", 1},
                {"mispredicted", 1},
                {"mispredicted-taken", 1},
                {"l1-hit", 3},
                {"l1-miss", 3},
                {"l2-hit", 1},
                {"l2-miss", 2},
                {"l3-hit", 1},
                {"l3-miss", 1},
                {"dtlb-miss", 0},
                {"far", 0},
                {"snoop-none", 1},
                {"snoop-hit", 0},
                {"snoop-miss", 0},
                {"snoop-modified", 0},
                {"load-latency=300", 1},
                {"load-latency=301", 0}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct as_pmu_request request = ask(&plain_pebs, want[i].event, 1000);
        struct taken taken = run(&request, pipes, sizeof pipes / sizeof *pipes, NULL, NULL, 0);
        if (taken.counts[0].happened != want[i].n)
            fail_msg("%s: %llu", want[i].event, (unsigned long long)taken.counts[0].happened);
        clear(&taken);
    }
}

/* Which instructions an event can be about, as Intel says what each counts: of branches by their classes, of memory by what they access. */
static void instructions_of_events(void **state)
{
    enum { CALLS = 1u << AS_CLASS_CALL | 1u << AS_CLASS_CALL_INDIRECT, ALL = AS_INSN_CONTROL_CLASSES };
    static const struct {
        const char *event;
        uint32_t classes, flags; /* 0: any class; needs all of the flags */
    } want[] = {{"instructions", 0, 0},
                {"loads", 0, AS_INSN_LOAD},
                {"stores", 0, AS_INSN_STORE},
                {"locked-loads", 0, AS_INSN_LOAD | AS_INSN_ATOMIC},
                {"branches", ALL, 0},
                {"taken", ALL, 0},
                {"mispredicted", ALL, 0},
                {"mispredicted-taken", ALL, 0},
                {"conditional", 1u << AS_CLASS_BRANCH, 0},
                {"mispredicted-conditional", 1u << AS_CLASS_BRANCH, 0},
                {"calls", CALLS, 0},
                {"returns", 1u << AS_CLASS_RETURN, 0},
                {"far", 1u << AS_CLASS_SYSTEM, 0},
                {"l1-hit", 0, AS_INSN_LOAD},
                {"l1-miss", 0, AS_INSN_LOAD},
                {"l2-hit", 0, AS_INSN_LOAD},
                {"l2-miss", 0, AS_INSN_LOAD},
                {"l3-hit", 0, AS_INSN_LOAD},
                {"l3-miss", 0, AS_INSN_LOAD},
                {"dtlb-miss", 0, AS_INSN_LOAD},
                {"snoop-none", 0, AS_INSN_LOAD},
                {"snoop-modified", 0, AS_INSN_LOAD},
                {"snoop-hit", 0, AS_INSN_LOAD},
                {"snoop-miss", 0, AS_INSN_LOAD},
                {"load-latency", 0, AS_INSN_LOAD}};
    static const uint32_t flags[] = {0, AS_INSN_LOAD, AS_INSN_STORE, AS_INSN_LOAD | AS_INSN_STORE,
                                     AS_INSN_LOAD | AS_INSN_STORE | AS_INSN_ATOMIC};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        for (uint8_t class_ = 0; class_ < AS_CLASS_COUNT; class_++)
            for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
                struct as_insn insn = {.class_ = class_, .flags = flags[f]};
                bool may =
                    (!want[i].classes || want[i].classes >> class_ & 1) && (flags[f] & want[i].flags) == want[i].flags;
                if (as_pmu_event_may(as_pmu_event_find(want[i].event), &insn) != may)
                    fail_msg("%s, class %d, flags %x", want[i].event, class_, flags[f]);
            }
}

/* Of loads that reach the last level, what was found in other cores' caches. */
static void snoops(void **state)
{
    enum { FROM_CORE = AS_EVENT_ST_L1 | AS_EVENT_COHERENCE, FROM_LLC = AS_EVENT_ST_L1 | AS_EVENT_LLC_HIT };
    static const struct as_pipe pipes[] = {
        {.insn = LOAD, .commit = 1, .events = FROM_CORE},
        {.insn = LOAD, .commit = 2, .events = FROM_CORE | AS_EVENT_SNOOP_CLEAN},
        {.insn = LOAD, .commit = 3, .events = FROM_CORE | AS_EVENT_SNOOP_CLEAN},
        {.insn = LOAD, .commit = 4, .events = FROM_LLC | AS_EVENT_SNOOP_MISS},
        {.insn = LOAD, .commit = 5, .events = FROM_LLC},
        {.insn = LOAD, .commit = 6, .events = FROM_LLC},
        {.insn = LOAD, .commit = 7, .events = FROM_LLC},
        {.insn = LOAD, .commit = 8, .events = AS_EVENT_ORDER | AS_EVENT_COHERENCE}, /* waited for a store of its own */
    };
    static const char *const events[] = {"snoop-modified", "snoop-hit", "snoop-miss", "snoop-none"};
    static const uint64_t want[] = {1, 2, 1, 3};
    for (size_t i = 0; i < 4; i++) {
        struct as_pmu_request request = ask(&plain_pebs, events[i], 1000);
        struct taken taken = run(&request, pipes, sizeof pipes / sizeof *pipes, NULL, NULL, 0);
        assert_int_equal(taken.counts[0].happened, want[i]);
        clear(&taken);
    }
}

/* A sample has what it accessed, its latency and its events. */
static void what_a_sample_says(void **state)
{
    static const struct as_pipe pipes[] = {
        {.insn = LOAD, .commit = 10},
        {.insn = LOAD2, .path = 7, .dispatch = 11, .issue = 12, .done = 52, .commit = 60, .events = AS_EVENT_ST_L1}};
    static const struct as_data_access accesses[] = {
        {.address = 0x1000, .size = 8, .kind = AS_ACCESS_LOAD},
        {.address = 0x2000, .size = 4, .kind = AS_ACCESS_STORE}, /* not what a load event is about */
        {.address = 0x3000, .size = 4, .kind = AS_ACCESS_LOAD}};
    static const uint32_t owners[] = {0, 1, 1};
    struct as_pmu_request request = ask(&plain_pebs, "loads", 1);
    struct taken taken = run(&request, pipes, 2, accesses, owners, 3);
    assert_int_equal(taken.samples.len, 1);
    const struct as_pmu_sample *sample = &taken.samples.data[0];
    assert_int_equal(sample->ip, 16 * LOAD2);
    assert_int_equal(sample->address, 0x3000);
    assert_int_equal(sample->size, 4);
    assert_int_equal(sample->latency, 40);
    assert_int_equal(sample->completed, 8);
    assert_int_equal(sample->retired, 49);
    assert_int_equal(sample->path, 7);
    assert_int_equal(sample->thread, 1);
    assert_int_equal(sample->events, AS_EVENT_ST_L1);
    assert_false(sample->kernel);
    clear(&taken);
}

/* An event that is not about accesses has the first load or store of its instruction. */
static void what_any_sample_accessed(void **state)
{
    static const struct as_pipe pipes[] = {{.insn = NOP, .commit = 10}, {.insn = STORE, .dispatch = 11, .commit = 60}};
    static const struct as_data_access accesses[] = {{.address = 0x1100, .size = 64, .kind = AS_ACCESS_PREFETCH},
                                                     {.address = 0x2000, .size = 4, .kind = AS_ACCESS_STORE},
                                                     {.address = 0x3000, .size = 8, .kind = AS_ACCESS_STORE}};
    static const uint32_t owners[] = {1, 1, 1};
    struct as_pmu_request request = ask(&plain_pebs, "instructions", 1);
    for (size_t n = 0; n <= 3; n++) {
        struct taken taken = run(&request, pipes, 2, accesses, owners, n);
        assert_int_equal(taken.samples.len, 1);
        assert_int_equal(taken.samples.data[0].ip, 16 * STORE);
        assert_int_equal(taken.samples.data[0].address, n < 2 ? 0 : 0x2000);
        assert_int_equal(taken.samples.data[0].size, n < 2 ? 0 : 4);
        clear(&taken);
    }
}

/* Six events on four counters: each is counted for four of six intervals. */
static void multiplexing(void **state)
{
    static const uint32_t ids[] = {LOCKED, CALL, RET, BRANCH};
    static const char *const events[] = {"loads", "stores", "branches", "locked-loads", "returns", "calls"};
    enum { TIMES = 60000 };
    struct as_pmu pmu = plain_pebs;
    struct as_pipe *pipes = repeat(ids, 4, TIMES, 1);
    pmu.multiplex = 10; /* 10,000 cycles: 24 intervals */
    struct as_pmu_request request = {.pmu = &pmu};
    struct as_error err = AS_ERROR_INIT;
    for (size_t i = 0; i < 4; i++)
        assert_true(as_pmu_request_add(&request, events[i], 100, &err));
    struct taken four = run(&request, pipes, 4 * TIMES, NULL, NULL, 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(four.counts[i].counted, four.counts[i].happened);
    for (size_t i = 4; i < 6; i++)
        assert_true(as_pmu_request_add(&request, events[i], 100, &err));
    struct taken six = run(&request, pipes, 4 * TIMES, NULL, NULL, 0);
    for (size_t i = 0; i < 4; i++) {
        double part = (double)six.counts[i].counted / (double)six.counts[i].happened;
        assert_float_equal(part, 4.0 / 6, 0.001);
        assert_in_range(six.counts[i].samples, six.counts[i].counted / 100 - 30, six.counts[i].counted / 100);
    }
    clear(&four);
    clear(&six);
    free(pipes);
}

/* Cycles, of which each instruction takes three: an overflow is sampled by the next that retires from then on, or from the end
 * of the shadow on. */
static void cycles_of_pebs(void **state)
{
    static const uint32_t ids[] = {NOP, LOAD};
    for (uint32_t shadow = 0; shadow <= 4; shadow += 4) {
        struct as_pmu pmu = plain_pebs;
        struct as_pipe *pipes = repeat(ids, 2, 5000, 3);
        pmu.shadow[AS_SHADOW_INSTRUCTIONS] = shadow;
        struct as_pmu_request request = ask(&pmu, "cycles", 60);
        struct taken taken = run(&request, pipes, 10000, NULL, NULL, 0);
        assert_int_equal(taken.counts[0].happened, pipes[9999].commit);
        assert_in_range(taken.samples.len, pipes[9999].commit / 60 - 1, pipes[9999].commit / 60);
        for (size_t i = 0; i < taken.samples.len; i++) {
            uint64_t overflow = 60 * (i + 1), cycle = taken.samples.data[i].cycle;
            assert_in_range(cycle, overflow + shadow, overflow + shadow + 2);
        }
        clear(&taken);
        request = ask(&pmu, "cycles:k", 60);
        taken = run(&request, pipes, 10000, NULL, NULL, 0);
        assert_int_equal(taken.counts[0].happened, 0);
        clear(&taken);
        free(pipes);
    }
}

/* An instruction that takes longer than several periods gets one sample, and the other overflows are lost. */
static void cycles_without_an_instruction(void **state)
{
    static const struct as_pipe pipes[] = {{.insn = NOP, .commit = 5}, {.insn = LOAD, .commit = 1000}};
    struct as_pmu_request request = ask(&plain_pebs, "cycles", 100);
    struct taken taken = run(&request, pipes, 2, NULL, NULL, 0);
    assert_int_equal(taken.samples.len, 1);
    assert_int_equal(taken.counts[0].overflows, 10);
    assert_int_equal(taken.counts[0].missed, 9);
    clear(&taken);
}

/* Where there are three, a fixed counter each for instructions, cycles and reference cycles; four others fit beside them. */
static void all_fixed_counters(void **state)
{
    static const uint32_t ids[] = {LOCKED, CALL, RET, BRANCH};
    static const char *const events[] = {"loads",    "ref-cycles",   "stores", "cycles",
                                         "branches", "instructions", "returns"};
    struct as_pipe *pipes = repeat(ids, 4, 10000, 1);
    struct as_pmu pmu = plain_pebs;
    struct as_error err = AS_ERROR_INIT;
    struct as_pmu_request request = {.pmu = &pmu};
    pmu.fixed = 3;
    pmu.multiplex = 1;
    for (size_t i = 0; i < 7; i++)
        assert_true(as_pmu_request_add(&request, events[i], 100, &err));
    struct taken taken = run(&request, pipes, 40000, NULL, NULL, 0);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(taken.counts[i].counted, taken.counts[i].happened);
    clear(&taken);
    assert_true(as_pmu_request_add(&request, "cycles", 100, &err)); /* a second one needs a counter of its own */
    taken = run(&request, pipes, 40000, NULL, NULL, 0);
    assert_int_equal(taken.counts[3].counted, taken.counts[3].happened);
    assert_true(taken.counts[7].counted < taken.counts[7].happened);
    clear(&taken);
    free(pipes);
}

/* From Ice Lake on the fixed counter takes the instructions, and four others fit beside it. */
static void fixed_counters(void **state)
{
    static const uint32_t ids[] = {LOCKED, CALL, RET, BRANCH};
    static const char *const events[] = {"loads", "stores", "branches", "returns", "instructions"};
    struct as_pipe *pipes = repeat(ids, 4, 10000, 1);
    for (uint32_t fixed = 0; fixed <= 3; fixed += 3) {
        struct as_pmu pmu = plain_pebs;
        struct as_error err = AS_ERROR_INIT;
        struct as_pmu_request request = {.pmu = &pmu};
        pmu.fixed = fixed;
        pmu.multiplex = 1;
        for (size_t i = 0; i < 5; i++)
            assert_true(as_pmu_request_add(&request, events[i], 100, &err));
        struct taken taken = run(&request, pipes, 40000, NULL, NULL, 0);
        assert_int_equal(taken.counts[0].counted == taken.counts[0].happened, fixed > 0);
        clear(&taken);
    }
    free(pipes);
}

/* A handler that stops and restarts the event executes loads of its own, which are counted; locked ones are not. */
static void loads_of_the_handler(void **state)
{
    static const uint32_t ids[] = {LOCKED};
    struct as_pipe *pipes = repeat(ids, 1, 10000, 1);
    struct as_pmu pmu = plain_pebs;
    pmu.handler_loads = 50;
    struct as_pmu_request request = ask(&pmu, "loads", 100);
    request.handler = AS_HANDLER_IOCTL;
    struct taken loads = run(&request, pipes, 10000, NULL, NULL, 0);
    assert_in_range(loads.samples.len, 195, 200); /* 50 of 100 are the handler's */
    request = ask(&pmu, "locked-loads", 100);
    request.handler = AS_HANDLER_IOCTL;
    struct taken locked = run(&request, pipes, 10000, NULL, NULL, 0);
    assert_in_range(locked.samples.len, 99, 100);
    request = ask(&pmu, "loads:u", 100); /* the handler's are the kernel's */
    request.handler = AS_HANDLER_IOCTL;
    struct taken user = run(&request, pipes, 10000, NULL, NULL, 0);
    assert_in_range(user.samples.len, 99, 100);
    clear(&loads);
    clear(&locked);
    clear(&user);
    free(pipes);
}

/* ---- LBR ---- */

static void branch_record(void **state)
{
    static const struct as_pipe pipes[] = {
        {.insn = BRANCH, .commit = 10, .flags = AS_PIPE_TAKEN | AS_PIPE_MISPREDICTED},
        {.insn = CALL + 16, .commit = 17, .flags = AS_PIPE_TAKEN},
        {.insn = BRANCH + 16, .commit = 18}, /* not taken */
        {.insn = LOAD, .commit = 19},
        {.insn = RET, .commit = 20, .flags = AS_PIPE_TAKEN},
        {.insn = LOAD + 16, .commit = 25},
    };
    struct as_pmu_request request = ask(&plain_pebs, "l1-hit", 2);
    request.branches = true;
    struct taken taken = run(&request, pipes, 6, NULL, NULL, 0);
    assert_int_equal(taken.samples.len, 1); /* the return is a load too: the second, which overflows */
    assert_int_equal(taken.samples.data[0].insn, LOAD + 16);
    assert_int_equal(taken.branches.len, 3);
    assert_int_equal(taken.branches.data[0].from, 16 * RET);
    assert_int_equal(taken.branches.data[0].to, 16 * (LOAD + 16));
    assert_int_equal(taken.branches.data[0].cycles, 3);
    assert_int_equal(taken.branches.data[1].from, 16 * (CALL + 16));
    assert_int_equal(taken.branches.data[1].to, 16 * (BRANCH + 16));
    assert_int_equal(taken.branches.data[1].cycles, 7);
    assert_false(taken.branches.data[1].mispredicted);
    assert_int_equal(taken.branches.data[2].from, 16 * BRANCH);
    assert_true(taken.branches.data[2].mispredicted);
    clear(&taken);
}

/* As many as it has, the newest ones; as a stack of calls, what has returned is gone. */
static void branch_record_is_short(void **state)
{
    static const uint32_t ids[] = {BRANCH, CALL + 16, LOAD, RET};
    struct as_pipe *pipes = repeat(ids, 4, 10, 3);
    struct as_pmu pmu = plain_pebs;
    for (size_t i = 0; i < 40; i++)
        pipes[i].flags = i % 4 == 2 ? 0 : AS_PIPE_TAKEN;
    for (uint32_t entries = 2; entries <= 8; entries *= 2) {
        pmu.lbr = entries;
        struct as_pmu_request request = ask(&pmu, "l1-hit", 18);
        request.branches = true;
        struct taken taken = run(&request, pipes, 40, NULL, NULL, 0);
        assert_int_equal(taken.branches.len, entries);
        clear(&taken);
    }
    struct as_pmu_request request = ask(&pmu, "l1-hit", 18);
    request.branches = request.call_stack = true;
    struct taken taken = run(&request, pipes, 40, NULL, NULL, 0);
    assert_int_equal(taken.samples.len, 1);
    assert_int_equal(taken.samples.data[0].insn, LOAD);
    assert_int_equal(taken.branches.len, 1); /* it is in the call, all before have returned */
    assert_int_equal(taken.branches.data[0].from, 16 * (CALL + 16));
    clear(&taken);
    free(pipes);
}

/* ---- IBS ---- */

/* Groups of four dispatch together: without randomness the first of the group behind the overflow is tagged. */
static struct as_pipe *groups_of_four(size_t n)
{
    struct as_pipe *pipes = as_alloc_array(n, sizeof *pipes);
    for (size_t i = 0; i < n; i++)
        pipes[i] = (struct as_pipe){.insn = 16 * (uint32_t)(i % 4),
                                    .fetch = 5 + i / 4,
                                    .dispatch = 10 + i / 4,
                                    .issue = 11 + i / 4,
                                    .done = 12 + i / 4,
                                    .commit = 14 + i / 4,
                                    .uops = 1};
    return pipes;
}

static void ibs_tags_the_next_group(void **state)
{
    struct as_pipe *pipes = groups_of_four(40000);
    struct as_pmu_request request = ask(&plain_ibs, "ops", 101);
    struct taken first = run(&request, pipes, 40000, NULL, NULL, 0);
    assert_true(first.samples.len > 300);
    assert_int_equal(of(&first, 0), first.samples.len);
    assert_int_equal(first.samples.data[0].retired, 4);
    assert_int_equal(first.samples.data[0].completed, 2);
    struct as_pmu any = plain_ibs;
    any.slot = AS_PMU_SLOT_ANY;
    request = ask(&any, "ops", 101);
    struct taken even = run(&request, pipes, 40000, NULL, NULL, 0);
    double n = (double)even.samples.len, spread = 5 * 0.4330127 / __builtin_sqrt(n); /* five standard deviations */
    for (uint32_t i = 0; i < 4; i++)
        assert_float_equal((double)of(&even, 16 * i) / n, 0.25, spread);
    clear(&first);
    clear(&even);
    free(pipes);
}

/* Off by one: the address is that of what follows in the program, also within the group. */
static void ibs_off_by_one(void **state)
{
    struct as_pipe *pipes = groups_of_four(4000);
    struct as_pmu pmu = plain_ibs;
    pmu.off_by_one = true;
    struct as_pmu_request request = ask(&pmu, "ops", 101);
    struct taken taken = run(&request, pipes, 4000, NULL, NULL, 0);
    assert_true(taken.samples.len > 20);
    for (size_t i = 0; i < taken.samples.len; i++) {
        assert_int_equal(taken.samples.data[i].insn, 0);
        assert_int_equal(taken.samples.data[i].ip, 16 * 16);
    }
    clear(&taken);
    free(pipes);
}

/* The counter runs on until the handler stops it, and starts with random bits: fewer or more samples than operations
 * divided by the interval. */
static void ibs_counts_late_and_early(void **state)
{
    static const uint32_t ids[] = {NOP};
    struct as_pipe *pipes = repeat(ids, 1, 100000, 1);
    struct as_pmu pmu = plain_ibs;
    pmu.interrupt = 500;
    struct as_pmu_request request = ask(&pmu, "ops", 1000);
    struct taken late = run(&request, pipes, 100000, NULL, NULL, 0);
    assert_in_range(late.samples.len, 100000 / 1507, 100000 / 1506 + 1); /* 1000, to the next group, retired, 500 */
    assert_int_equal(late.counts[0].happened, 100000);
    /* From the choice to the interrupt nothing is counted; one operation more than the interval is, as all of them dispatch apart. */
    assert_in_range(late.counts[0].counted, 1000 * late.samples.len, 1001 * (late.samples.len + 1));
    pmu.interrupt = 0;
    pmu.random_bits = 9;
    request = ask(&pmu, "ops", 1000);
    struct taken early = run(&request, pipes, 100000, NULL, NULL, 0);
    assert_in_range(early.samples.len, 100000 / 1010, 100000 / 600);
    assert_true(early.samples.len > 110);
    clear(&late);
    clear(&early);
    free(pipes);
}

/* Random bits beyond the interval leave an operation to count. */
static void ibs_short_interval(void **state)
{
    static const uint32_t ids[] = {NOP};
    struct as_pipe *pipes = repeat(ids, 1, 10000, 1);
    struct as_pmu pmu = plain_ibs;
    struct as_pmu_request request = ask(&pmu, "ops", 1);
    struct taken each = run(&request, pipes, 10000, NULL, NULL, 0);
    pmu.random_bits = 12; /* two of 4,096 starts are below the interval's last */
    request = ask(&pmu, "ops", 3);
    struct taken bits = run(&request, pipes, 10000, NULL, NULL, 0);
    assert_true(each.samples.len > 1000);
    assert_in_range(bits.samples.len, each.samples.len - each.samples.len / 100, each.samples.len);
    clear(&each);
    clear(&bits);
    free(pipes);
}

static void ibs_counts_cycles(void **state)
{
    static const uint32_t ids[] = {NOP};
    struct as_pipe *pipes = repeat(ids, 1, 10000, 3);
    struct as_pmu_request request = ask(&plain_ibs, "cycles", 1000);
    struct taken taken = run(&request, pipes, 10000, NULL, NULL, 0);
    assert_in_range(taken.samples.len, 29, 30);
    clear(&taken);
    free(pipes);
}

/* A tag on the wrong path is squashed with it. */
static void ibs_wrong_path(void **state)
{
    struct as_pipe pipes[12];
    for (size_t i = 0; i < 12; i++) {
        uint64_t cycle = i < 5 ? 10 + i : 100 + i;
        pipes[i] = (struct as_pipe){
            .insn = 16 * (uint32_t)i, .dispatch = cycle, .issue = cycle, .done = cycle, .commit = cycle, .uops = 1};
    }
    struct as_pmu_request request = ask(&plain_ibs, "ops", 5);
    struct taken right = run(&request, pipes, 12, NULL, NULL, 0);
    assert_int_equal(right.counts[0].squashed, 0);
    assert_int_equal(right.samples.data[0].insn, 16 * 5);
    pipes[4].insn = BRANCH;
    pipes[4].flags = AS_PIPE_MISPREDICTED;
    pipes[4].wrong_path = 40;
    pipes[4].wrong_delay = 1;
    pipes[4].done = 90;
    struct taken wrong = run(&request, pipes, 12, NULL, NULL, 0);
    assert_int_equal(wrong.counts[0].squashed, 1);
    assert_int_equal(wrong.samples.data[0].insn, 16 * 10); /* five more behind it, then the next */
    /* By operations, the 40 of the wrong path fill the counter before the tenth committed one does; by cycles, they
     * do not. */
    request = ask(&plain_ibs, "ops", 30);
    struct taken filled = run(&request, pipes, 12, NULL, NULL, 0);
    assert_int_equal(filled.counts[0].squashed, 1);
    request = ask(&plain_ibs, "cycles", 1000);
    struct taken cycles = run(&request, pipes, 12, NULL, NULL, 0);
    assert_int_equal(cycles.counts[0].squashed, 0);
    /* A wrong path ends when the branch is known, here after a cycle: what is due then can be tagged behind it. */
    pipes[4].done = 16;
    request = ask(&plain_ibs, "ops", 30);
    struct taken short_ = run(&request, pipes, 12, NULL, NULL, 0);
    assert_int_equal(short_.counts[0].squashed, 0);
    assert_int_equal(short_.counts[0].counted, 5 + 40 + 6); /* all but the one that is tagged */
    assert_int_equal(short_.samples.data[0].insn, 16 * 5);
    pipes[4].done = 15; /* before it began */
    struct taken none = run(&request, pipes, 12, NULL, NULL, 0);
    assert_int_equal(none.counts[0].counted, 12);
    assert_int_equal(none.samples.len, 0);
    clear(&short_);
    clear(&none);
    clear(&right);
    clear(&wrong);
    clear(&filled);
    clear(&cycles);
}

static void ibs_fetches(void **state)
{
    struct as_pipe *pipes = groups_of_four(4000);
    struct as_pmu_request request = ask(&plain_ibs, "fetches", 100);
    struct taken taken = run(&request, pipes, 4000, NULL, NULL, 0);
    assert_int_equal(taken.counts[0].happened, 1000);
    assert_in_range(taken.samples.len, 9, 10);
    assert_int_equal(of(&taken, 0), taken.samples.len); /* the first of what is fetched together */
    assert_int_equal(taken.samples.data[0].latency, 1);
    clear(&taken);
    free(pipes);
}

/* ---- modes ---- */

static void kernel_mode(void **state)
{
    static const uint32_t ids[] = {SYSCALL, NOP, NOP, NOP};
    struct as_pipe *pipes = repeat(ids, 4, 1000, 1);
    struct as_pmu pmu = plain_pebs;
    pmu.kernel_entry = 10;
    pmu.kernel_body = 5;
    pmu.kernel_locked = 1;
    pmu.kernel_exit = 20;
    struct as_pmu_request request = ask(&pmu, "locked-loads", 10);
    struct taken pebs = run(&request, pipes, 4000, NULL, NULL, 0);
    assert_int_equal(pebs.counts[0].happened, 1000);
    assert_in_range(pebs.samples.len, 99, 100);
    for (size_t i = 0; i < pebs.samples.len; i++) {
        assert_true(pebs.samples.data[i].kernel);
        assert_int_equal(pebs.samples.data[i].ip, AS_PMU_KERNEL_TEXT + 4 * 14);
    }
    request = ask(&pmu, "far", 10); /* the call, and the return from the kernel */
    struct taken far = run(&request, pipes, 4000, NULL, NULL, 0);
    assert_int_equal(far.counts[0].happened, 2000);
    clear(&far);
    request = ask(&pmu, "far:u", 10);
    far = run(&request, pipes, 4000, NULL, NULL, 0);
    assert_int_equal(far.counts[0].happened, 1000);
    clear(&far);
    request = ask(&pmu, "locked-loads:u", 10);
    struct taken user = run(&request, pipes, 4000, NULL, NULL, 0);
    assert_int_equal(user.counts[0].happened, 0);

    /* IBS tags in the kernel and looks at the mode when the interrupt has come, 22 cycles later: behind the exit. */
    struct as_pmu ibs = plain_ibs;
    ibs.kernel_entry = 10;
    ibs.kernel_body = 5;
    ibs.kernel_locked = 1;
    ibs.kernel_exit = 20;
    ibs.random_bits = 4; /* not in step with the calls */
    for (ibs.interrupt = 5; ibs.interrupt <= 22; ibs.interrupt += 17) {
        request = ask(&ibs, "ops", 37);
        struct taken tagged = run(&request, pipes, 4000, NULL, NULL, 0);
        uint64_t locked = 0, wrong = 0;
        for (size_t i = 0; i < tagged.samples.len; i++) {
            bool is_locked = tagged.samples.data[i].insn_flags & AS_INSN_ATOMIC;
            locked += is_locked;
            wrong += is_locked && !tagged.samples.data[i].kernel;
        }
        assert_true(locked > 5);
        assert_int_equal(wrong, ibs.interrupt == 22 ? locked : 0);
        clear(&tagged);
    }
    clear(&pebs);
    clear(&user);
    free(pipes);
}

/* ---- SPE ---- */

static void spe_interval(void **state)
{
    static const uint32_t ids[] = {LOAD, STORE, BRANCH, NOP};
    struct as_pipe *pipes = repeat(ids, 4, 10000, 1);
    struct as_pmu pmu = plain_spe;
    struct as_pmu_request request = ask(&pmu, "operations", 100);
    struct taken exact = run(&request, pipes, 40000, NULL, NULL, 0);
    assert_int_equal(exact.samples.len, 400);
    assert_int_equal(of(&exact, NOP), 400); /* in step with the loop */
    pmu.jitter_bits = 8;
    request = ask(&pmu, "operations", 100);
    struct taken even = run(&request, pipes, 40000, NULL, NULL, 0);
    double n = (double)even.samples.len, spread = 5 * 0.4330127 / __builtin_sqrt(n);
    assert_in_range(even.samples.len, 150, 210); /* 100 and 127.5 on average */
    assert_float_equal((double)of(&even, LOAD) / n, 0.25, spread);
    request = ask(&pmu, "operations:l", 100);
    struct taken loads = run(&request, pipes, 40000, NULL, NULL, 0);
    assert_int_equal(of(&loads, LOAD), loads.samples.len);
    assert_int_equal(loads.samples.len + loads.counts[0].filtered, loads.counts[0].overflows);
    clear(&exact);
    clear(&even);
    clear(&loads);
    free(pipes);
}

/* Operations that take fewer cycles than the threshold are dropped; repeat() has five from dispatch to retirement. */
static void spe_threshold(void **state)
{
    static const uint32_t ids[] = {NOP};
    struct as_pipe *pipes = repeat(ids, 1, 1000, 1);
    for (uint32_t least = 5; least <= 6; least++) {
        char event[32];
        snprintf(event, sizeof event, "operations=%u", least);
        struct as_pmu_request request = ask(&plain_spe, event, 10);
        struct taken taken = run(&request, pipes, 1000, NULL, NULL, 0);
        assert_int_equal(taken.samples.len > 0, least == 5);
        assert_int_equal(taken.counts[0].filtered > 0, least == 6);
        clear(&taken);
    }
    free(pipes);
}

static void spe_collisions(void **state)
{
    static const uint32_t ids[] = {LOAD};
    struct as_pipe *pipes = repeat(ids, 1, 1000, 1);
    for (size_t i = 0; i < 1000; i++)
        pipes[i].commit += 35;
    struct as_pmu_request request = ask(&plain_spe, "operations", 10);
    struct taken taken = run(&request, pipes, 1000, NULL, NULL, 0);
    assert_int_equal(taken.counts[0].overflows, 100);
    assert_int_equal(taken.samples.len, 25); /* 40 cycles in flight: three of four collide */
    assert_int_equal(taken.counts[0].collisions, 75);
    clear(&taken);
    free(pipes);
}

static void spe_branch_targets(void **state)
{
    static const uint32_t ids[] = {BRANCH, LOAD, LOAD + 16, LOAD + 32, LOAD2};
    struct as_pipe *pipes = repeat(ids, 5, 10000, 1);
    struct as_pmu pmu = plain_spe;
    for (size_t i = 0; i < 50000; i += 5)
        pipes[i].flags = AS_PIPE_TAKEN;
    pmu.target_window = 2;
    struct as_pmu_request request = ask(&pmu, "operations", 7);
    struct taken taken = run(&request, pipes, 50000, NULL, NULL, 0);
    double n = (double)taken.samples.len;
    assert_float_equal((double)of(&taken, LOAD) / n, 0.6, 0.01);
    assert_int_equal(of(&taken, LOAD + 16), 0);
    assert_int_equal(of(&taken, LOAD + 32), 0);
    assert_float_equal((double)of(&taken, LOAD2) / n, 0.2, 0.01);
    clear(&taken);
    free(pipes);
}

/* ---- TIP ---- */

static uint64_t weight_of(const struct taken *taken, uint32_t insn)
{
    uint64_t weight = 0;
    for (size_t i = 0; i < taken->samples.len; i++)
        weight += taken->samples.data[i].insn == insn ? taken->samples.data[i].weight : 0;
    return weight;
}

/* At every cycle it is the Oracle: stalled, committing two, flushed, drained. */
static void tip_every_cycle(void **state)
{
    static const struct as_pmu tip = {.name = "tip", .kind = AS_PMU_TIP, .buffer_records = 1};
    static const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 20},
        {.insn = 16, .dispatch = 1, .commit = 20},
        {.insn = 32 + BRANCH, .dispatch = 2, .commit = 24, .flags = AS_PIPE_MISPREDICTED},
        {.insn = 48, .dispatch = 34, .commit = 40}, /* empty from 25 to 33: the branch's */
        {.insn = 64, .dispatch = 50, .commit = 52}, /* empty from 41 to 49: its own */
    };
    struct as_pmu_request request = ask(&tip, "cycles", 2);
    struct taken taken = run(&request, pipes, 5, NULL, NULL, 0);
    assert_int_equal(taken.counts[0].happened, 52);
    assert_int_equal(weight_of(&taken, 1), 18 + 1);
    assert_int_equal(weight_of(&taken, 16), 1);
    assert_int_equal(weight_of(&taken, 32 + BRANCH), 4 + 8); /* 22 and 24; 26 to 32 */
    assert_int_equal(weight_of(&taken, 48), 8);
    assert_int_equal(weight_of(&taken, 64), 12);
    clear(&taken);
}

/* Chosen at dispatch: the next instruction that is dispatched, whatever waits at commit. */
static void tea_at_dispatch(void **state)
{
    static const struct as_pmu tea = {
        .name = "tea", .kind = AS_PMU_TEA, .stage = AS_PMU_STAGE_DISPATCH, .buffer_records = 1};
    static const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 20, .events = 1},
        {.insn = 16, .dispatch = 3, .commit = 21, .events = 2}, /* 2 */
        {.insn = 32, .dispatch = 3, .commit = 21},
        {.insn = 48, .dispatch = 9, .commit = 40, .events = 4}, /* 4, 6 and 8 */
        {.insn = 64, .dispatch = 10, .commit = 41},             /* 10 */
    };
    struct as_pmu_request request = ask(&tea, "cycles", 2);
    struct taken taken = run(&request, pipes, 5, NULL, NULL, 0);
    assert_int_equal(taken.counts[0].happened, 41);
    assert_int_equal(taken.samples.len, 5);
    assert_int_equal(weight_of(&taken, 1), 0);
    assert_int_equal(weight_of(&taken, 16), 2);
    assert_int_equal(weight_of(&taken, 48), 6);
    assert_int_equal(weight_of(&taken, 64), 2);
    assert_int_equal(taken.samples.data[0].events, 2);
    clear(&taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(figure_1),
                                       cmocka_unit_test(all_on_the_first_load),
                                       cmocka_unit_test(overflows_in_the_shadow_are_missed),
                                       cmocka_unit_test(pdir),
                                       cmocka_unit_test(events_are_told_apart),
                                       cmocka_unit_test(what_a_sample_says),
                                       cmocka_unit_test(what_any_sample_accessed),
                                       cmocka_unit_test(multiplexing),
                                       cmocka_unit_test(fixed_counters),
                                       cmocka_unit_test(cycles_of_pebs),
                                       cmocka_unit_test(cycles_without_an_instruction),
                                       cmocka_unit_test(all_fixed_counters),
                                       cmocka_unit_test(instructions_of_events),
                                       cmocka_unit_test(snoops),
                                       cmocka_unit_test(loads_of_the_handler),
                                       cmocka_unit_test(branch_record),
                                       cmocka_unit_test(branch_record_is_short),
                                       cmocka_unit_test(ibs_tags_the_next_group),
                                       cmocka_unit_test(ibs_off_by_one),
                                       cmocka_unit_test(ibs_counts_late_and_early),
                                       cmocka_unit_test(ibs_short_interval),
                                       cmocka_unit_test(ibs_counts_cycles),
                                       cmocka_unit_test(ibs_wrong_path),
                                       cmocka_unit_test(ibs_fetches),
                                       cmocka_unit_test(kernel_mode),
                                       cmocka_unit_test(spe_interval),
                                       cmocka_unit_test(spe_threshold),
                                       cmocka_unit_test(spe_collisions),
                                       cmocka_unit_test(spe_branch_targets),
                                       cmocka_unit_test(tip_every_cycle),
                                       cmocka_unit_test(tea_at_dispatch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
