/* Golden cycle stacks: hand-made runs with known components, each event alone and with others, the TEA paper's first
 * example; random runs against the naive Oracle, by thread and by path; threads without end; stalls that no event
 * explains; folding, errors, correlations. */
#include "unit.h"

#include "naive.h"
#include "observe/oracle.h"
#include "oracle_bed.h"
#include "pipe_gen.h"

#include <math.h>
#include <string.h>

static const uint64_t cycle = AS_CYCLE_UNITS;

static struct as_oracle *new_oracle(uint32_t width, uint32_t events)
{
    struct as_oracle *oracle = bed_oracle(width, width);
    as_oracle_set_events(oracle, events, events);
    return oracle;
}

static const struct as_pics_entry *component(const struct as_pics *pics, uint32_t id, uint32_t events)
{
    size_t n;
    const struct as_pics_entry *entries = as_pics_find(pics, id, &n);
    for (size_t i = 0; i < n; i++)
        if (entries[i].events == events)
            return &entries[i];
    return NULL;
}

static void expect(const struct as_pics *pics, uint32_t id, uint32_t events, uint64_t units, uint64_t count)
{
    const struct as_pics_entry *entry = component(pics, id, events);
    assert_non_null(entry);
    assert_int_equal(entry->units, units);
    assert_int_equal(entry->count, count);
}

/* ---- hand-made ---- */

/* Figure B.1: I1 drained by an instruction cache miss, I4 mispredicts, I1 stalls on a data cache miss, then two rounds
 * of all four in one cycle each. Its samples stand for 1,000 cycles each; here each sampled state lasts 10 cycles. */
static void figure_b1(void **state)
{
    const struct as_pipe pipes[] = {
        /* drained in 1 … 10, all four commit in 11 */
        {.insn = 1, .fetch = 8, .dispatch = 11, .done = 11, .commit = 11, .events = AS_EVENT_DR_L1},
        {.insn = 2, .fetch = 8, .dispatch = 11, .done = 11, .commit = 11},
        {.insn = 3, .fetch = 8, .dispatch = 11, .done = 11, .commit = 11},
        {.insn = 4,
         .fetch = 8,
         .dispatch = 11,
         .done = 11,
         .commit = 11,
         .events = AS_EVENT_FL_MB,
         .flags = AS_PIPE_MISPREDICTED},
        /* flushed in 12 … 21; I1 stalls in 22 … 31 */
        {.insn = 1, .fetch = 19, .dispatch = 22, .done = 32, .commit = 32, .events = AS_EVENT_ST_L1},
        {.insn = 2, .fetch = 19, .dispatch = 22, .done = 32, .commit = 32},
        {.insn = 3, .fetch = 19, .dispatch = 22, .done = 32, .commit = 32},
        {.insn = 4, .fetch = 19, .dispatch = 22, .done = 32, .commit = 32},
        {.insn = 1, .fetch = 20, .dispatch = 23, .done = 33, .commit = 33},
        {.insn = 2, .fetch = 20, .dispatch = 23, .done = 33, .commit = 33},
        {.insn = 3, .fetch = 20, .dispatch = 23, .done = 33, .commit = 33},
        {.insn = 4, .fetch = 20, .dispatch = 23, .done = 33, .commit = 33},
    };
    struct as_oracle *oracle = new_oracle(4, AS_EVENT_DR_L1 | AS_EVENT_ST_L1 | AS_EVENT_FL_MB);
    feed(oracle, 0, pipes, 12);
    finish(oracle);
    struct as_pics pics = as_oracle_pics(oracle);
    expect(&pics, 1, AS_EVENT_DR_L1, 10 * cycle + cycle / 4, 1);
    expect(&pics, 1, AS_EVENT_ST_L1, 10 * cycle + cycle / 4, 1);
    expect(&pics, 1, 0, cycle / 4, 1);
    expect(&pics, 2, 0, 3 * (cycle / 4), 3);
    expect(&pics, 3, 0, 3 * (cycle / 4), 3);
    expect(&pics, 4, AS_EVENT_FL_MB, 10 * cycle + cycle / 4, 1);
    expect(&pics, 4, 0, cycle / 2, 2);
    assert_int_equal(pics.len, 7);
    assert_int_equal(as_pics_total(&pics), 33 * cycle);
    as_pics_free(&pics);
    as_oracle_free(oracle);
}

/* One instruction that stalls for 9 cycles and commits in the tenth, with each event, and with each pair. */
static void each_event_alone_and_in_pairs(void **state)
{
    for (uint32_t a = 0; a < AS_EVENT_COUNT; a++)
        for (uint32_t b = 0; b < AS_EVENT_COUNT; b++) {
            uint32_t events = 1u << a | 1u << b, mask = AS_EVENTS_ALL & ~(a == b ? 0 : 1u << b);
            const struct as_pipe pipe = {.insn = 7, .dispatch = 1, .commit = 10, .events = events};
            struct as_oracle *oracle = new_oracle(1, AS_EVENTS_ALL), *masked = new_oracle(1, mask);
            feed(oracle, 0, &pipe, 1);
            feed(masked, 0, &pipe, 1);
            finish(oracle);
            finish(masked);
            struct as_pics all = as_oracle_pics(oracle), some = as_oracle_pics(masked);
            struct as_pics folded = as_pics_fold(&all, mask, NULL);
            assert_int_equal(all.len, 1);
            expect(&all, 7, events, 10 * cycle, 1);
            assert_int_equal(some.len, 1);
            expect(&some, 7, events & mask, 10 * cycle, 1); /* what is not kept is as if it never was */
            expect(&folded, 7, events & mask, 10 * cycle, 1);
            as_pics_free(&all);
            as_pics_free(&some);
            as_pics_free(&folded);
            as_oracle_free(oracle);
            as_oracle_free(masked);
        }
}

/* Behind a flush the cycles are the flusher's, with its vector and not that of the one that comes next. */
static void flushed_cycles_have_the_flushers_vector(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 1, .events = AS_EVENT_FL_EX | AS_EVENT_ST_TLB, .flags = AS_PIPE_FLUSHES},
        {.insn = 2, .fetch = 5, .dispatch = 8, .commit = 9, .events = AS_EVENT_DR_L1},
    };
    struct as_oracle *oracle = new_oracle(2, AS_EVENTS_TEA);
    feed(oracle, 0, pipes, 1); /* across batches */
    feed(oracle, 0, pipes + 1, 1);
    finish(oracle);
    struct as_pics pics = as_oracle_pics(oracle);
    expect(&pics, 1, AS_EVENT_FL_EX | AS_EVENT_ST_TLB, 7 * cycle, 1);
    expect(&pics, 2, AS_EVENT_DR_L1, 2 * cycle, 1);
    as_pics_free(&pics);
    as_oracle_free(oracle);
}

/* A page fault: the first try's stall, the flush and the second try are one component. */
static void an_exception_is_one_component(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 1},
        {.insn = 2,
         .fetch = 17,
         .dispatch = 20,
         .commit = 25,
         .exception = 10,
         .first_try = 5,
         .flags = AS_PIPE_EXCEPTION,
         .events = AS_EVENT_FL_EX | AS_EVENT_ST_TLB},
    };
    struct as_oracle *oracle = new_oracle(2, AS_EVENTS_TEA);
    feed(oracle, 0, pipes, 2);
    finish(oracle);
    struct as_pics pics = as_oracle_pics(oracle);
    expect(&pics, 2, AS_EVENT_FL_EX | AS_EVENT_ST_TLB, 24 * cycle, 1);
    expect(&pics, 1, 0, cycle, 1);
    as_pics_free(&pics);
    as_oracle_free(oracle);
}

/* … unless each try has a vector of its own: the fault's is FL-EX alone. */
static void an_exception_with_two_vectors(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 1, .dispatch = 1, .commit = 1},
        {.insn = 2,
         .fetch = 17,
         .dispatch = 20,
         .commit = 25,
         .exception = 10,
         .first_try = 5,
         .flags = AS_PIPE_EXCEPTION | AS_PIPE_OWN_VECTORS,
         .events = AS_EVENT_ST_TLB},
    };
    struct as_oracle *oracle = new_oracle(2, AS_EVENTS_TEA);
    feed(oracle, 0, pipes, 2);
    finish(oracle);
    struct as_pics pics = as_oracle_pics(oracle);
    size_t n;
    expect(&pics, 2, AS_EVENT_FL_EX, 18 * cycle, 1);
    expect(&pics, 2, AS_EVENT_ST_TLB, 6 * cycle, 1);
    assert_int_equal(as_oracle_rows(oracle, &n)[2].executions, 1);
    as_pics_free(&pics);
    as_oracle_free(oracle);
}

/* Two iterations commit together: one member, the first one's vector gets the cycle; both count. */
static void rep_iterations(void **state)
{
    const struct as_pipe pipes[] = {
        {.insn = 5, .dispatch = 1, .commit = 4, .events = AS_EVENT_ST_L1},
        {.insn = 5, .dispatch = 1, .commit = 4, .flags = AS_PIPE_CONTINUES, .events = AS_EVENT_ST_TLB},
        {.insn = 5, .dispatch = 1, .commit = 5, .flags = AS_PIPE_CONTINUES},
    };
    struct as_oracle *oracle = new_oracle(2, AS_EVENTS_TEA);
    feed(oracle, 0, pipes, 3);
    finish(oracle);
    struct as_pics pics = as_oracle_pics(oracle);
    expect(&pics, 5, AS_EVENT_ST_L1, 4 * cycle, 1);
    expect(&pics, 5, AS_EVENT_ST_TLB, 0, 1);
    expect(&pics, 5, 0, cycle, 1);
    size_t n;
    assert_int_equal(as_oracle_rows(oracle, &n)[5].executions, 1);
    as_pics_free(&pics);
    as_oracle_free(oracle);
}

/* ---- random ---- */

enum { STATICS = 80, RECORDS = 300, THREADS = 3, PATHS = 6 };

/* The naive Oracle's charge of one thread, by instruction or by path. */
static void charge_naively(struct as_pics *pics, const struct as_pipe *pipes, uint32_t mask, bool by_path)
{
    struct naive_run run = {pipes, RECORDS, 4};
    for (uint64_t now = 1; now <= naive_cycles(&run); now++) {
        struct naive_answer answer = naive_oracle(&run, now);
        for (size_t i = 0; i < answer.n; i++) {
            const struct as_pipe *pipe = &pipes[answer.at[i]];
            as_pics_push(pics, &(struct as_pics_entry){.id = by_path ? pipe->path : pipe->insn,
                                                       .events = naive_events(pipe, now) & mask,
                                                       .units = as_share(cycle, (uint32_t)answer.n, (uint32_t)i)});
        }
    }
    for (size_t i = 0; i < RECORDS; i++)
        as_pics_push(pics, &(struct as_pics_entry){.id = by_path ? pipes[i].path : pipes[i].insn,
                                                   .events = pipes[i].events & mask,
                                                   .count = 1});
    for (size_t i = 0; i < RECORDS; i++)
        if (pipes[i].flags & AS_PIPE_OWN_VECTORS)
            as_pics_push(pics, &(struct as_pics_entry){.id = by_path ? pipes[i].path : pipes[i].insn,
                                                       .events = as_first_events(&pipes[i]) & mask,
                                                       .count = 1});
}

static void same(struct as_pics got, struct as_pics want)
{
    as_pics_sort(&want);
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.data, want.data, got.len * sizeof *got.data);
    as_pics_free(&got);
    as_pics_free(&want);
}

static void run_random(uint64_t seed)
{
    static struct as_pipe pipes[THREADS][RECORDS];
    struct pipe_gen gen = {.random = seed,
                           .width = 1 + seed % 8,
                           .fuse = seed % 3 == 0,
                           .statics = STATICS,
                           .paths = PATHS,
                           .trouble = 1 + seed % 10,
                           .own_vectors = seed % 4 < 2};
    uint32_t mask = seed % 2 ? AS_EVENTS_TEA : AS_EVENTS_ALL;
    struct as_run_info run = pipe_gen_run(&gen);
    struct as_error err = AS_ERROR_INIT;
    struct as_oracle *oracle = as_oracle_new(&run, &err);
    as_oracle_set_events(oracle, mask, mask);
    for (uint32_t t = 0; t < THREADS; t++)
        pipe_gen_fill(&gen, pipes[t], RECORDS);
    for (size_t at = 0; at < RECORDS; at += 60)
        for (uint32_t t = 0; t < THREADS; t++)
            pipe_gen_feed(&gen, &as_oracle_observer, oracle, t, &pipes[t][at], 60, 1 + seed % 70);
    finish(oracle);
    struct as_pics all = {0}, paths = {0};
    for (uint32_t t = 0; t < THREADS; t++) {
        struct as_pics own = {0};
        charge_naively(&own, pipes[t], mask, false);
        charge_naively(&all, pipes[t], mask, false);
        charge_naively(&paths, pipes[t], mask, true);
        same(as_oracle_thread_pics(oracle, t), own);
    }
    same(as_oracle_pics(oracle), all);
    same(as_oracle_path_pics(oracle), paths);
    as_oracle_free(oracle);
}

static void random_runs(void **state)
{
    for (uint64_t seed = 1; seed <= 80; seed++)
        run_random(seed);
}

/* ---- threads without end ---- */

/* 5000 threads, thread t runs t % 1000 + 1 cycles: the 64 longest keep their rows, the sum is complete. */
static void threads_are_merged(void **state)
{
    struct as_oracle *oracle = new_oracle(1, AS_EVENTS_TEA);
    uint64_t cycles = 0;
    for (uint32_t t = 0; t < 5000; t++) {
        const struct as_pipe pipe = {
            .insn = 3, .dispatch = 1, .commit = t % 1000 + 1, .flags = AS_PIPE_LAST, .events = AS_EVENT_ST_L1};
        feed(oracle, t, &pipe, 1);
        cycles += pipe.commit;
    }
    finish(oracle);
    size_t n, kept = 0;
    const struct as_oracle_thread *threads = as_oracle_threads(oracle, &n);
    assert_int_equal(n, 5000);
    uint64_t apart = 0;
    for (size_t i = 0; i < n; i++) {
        const struct as_oracle_row *row = as_oracle_thread_row(oracle, threads[i].number, 3);
        assert_int_equal(threads[i].merged, row == NULL);
        kept += row != NULL;
        apart += row ? as_oracle_row_units(row) : 0;
        if (row)
            assert_true(threads[i].cycles >= 987); /* 5 x 12 of 988 … 999 cycles and more: those of 1000, 999 … */
    }
    assert_int_equal(kept, AS_THREADS_KEPT);
    struct as_pics rest = as_oracle_thread_pics(oracle, AS_NO_THREAD), all = as_oracle_pics(oracle);
    expect(&rest, 3, AS_EVENT_ST_L1, cycles * cycle - apart, 5000 - AS_THREADS_KEPT);
    expect(&all, 3, AS_EVENT_ST_L1, cycles * cycle, 5000);
    assert_int_equal(as_oracle_rows(oracle, &n)[3].executions, 5000);
    assert_null(as_oracle_thread_row(oracle, 9999999, 3));
    as_pics_free(&rest);
    as_pics_free(&all);
    as_oracle_free(oracle);
}

/* A thread that executes another program goes on under its number. */
static void a_number_used_again(void **state)
{
    const struct as_pipe pipe = {.insn = 3, .dispatch = 1, .commit = 10, .flags = AS_PIPE_LAST};
    struct as_oracle *oracle = new_oracle(1, AS_EVENTS_TEA);
    feed(oracle, 1, &pipe, 1);
    feed(oracle, 1, &pipe, 1);
    finish(oracle);
    assert_int_equal(as_oracle_row_units(as_oracle_thread_row(oracle, 1, 3)), 20 * cycle);
    as_oracle_free(oracle);
}

/* ---- stalls ---- */

static void unexplained_stalls(void **state)
{
    struct as_oracle *oracle = new_oracle(1, AS_EVENTS_TEA);
    uint64_t commit = 1;
    /* 98 stalls of 2 cycles, one of 700, one of 40, and one of 90 that an event explains. The first commits at once. */
    for (uint32_t i = 0; i < 102; i++) {
        uint64_t stall = i == 0 ? 0 : i == 50 ? 700 : i == 60 ? 40 : i == 70 ? 90 : 2;
        struct as_pipe pipe = {.insn = i, .dispatch = 1, .commit = commit + stall + 1};
        pipe.events = i == 70 ? AS_EVENT_ST_TLB : AS_EVENT_FORWARDED; /* which is not in the set */
        if (i == 0)
            pipe.commit = 1;
        commit = pipe.commit;
        feed(oracle, 0, &pipe, 1);
    }
    finish(oracle);
    const struct as_stall_lengths *stalls = as_oracle_unexplained(oracle);
    assert_int_equal(stalls->n, 100);
    assert_int_equal(stalls->cycles, 98 * 2 + 740);
    assert_int_equal(stalls->longest, 700);
    assert_int_equal(as_stall_quantile(stalls, 0), 2);
    assert_int_equal(as_stall_quantile(stalls, 0.98), 2);
    assert_int_equal(as_stall_quantile(stalls, 0.99), 40);
    assert_int_equal(as_stall_quantile(stalls, 1), 700);
    assert_int_equal(stalls->long_by_insn.len, 2);
    assert_int_equal(*as_map_get(&stalls->long_by_insn, 50), 700);
    as_oracle_free(oracle);
    assert_int_equal(as_stall_quantile(&(struct as_stall_lengths){0}, 0.99), 0);
}

/* ---- stacks in general ---- */

static struct as_pics make(const struct as_pics_entry *entries, size_t n)
{
    struct as_pics pics = {0};
    for (size_t i = 0; i < n; i++)
        as_pics_push(&pics, &entries[i]);
    as_pics_sort(&pics);
    return pics;
}

static void correlations(void **state)
{
    /* Event 1: counts 1, 2, 3 with times in proportion. Event 2: 1, 2, 3 with times 3, 2, 1. Event 4: constant. */
    const struct as_pics_entry entries[] = {
        {1, 1, 10 * 720720, 1}, {2, 1, 20 * 720720, 2}, {3, 1, 30 * 720720, 3}, {4, 2, 3 * 720720, 1},
        {5, 2, 2 * 720720, 2},  {6, 2, 1 * 720720, 3},  {1, 4, 720720, 7},      {2, 4, 720720, 7},
        {3, 4, 720720, 7},      {7, 8, 720720, 1},      {8, 8, 5 * 720720, 2},
    };
    struct as_pics pics = make(entries, sizeof entries / sizeof *entries);
    struct as_event_sum sum = as_pics_event(&pics, 1);
    assert_true(fabs(sum.correlation - 1) < 1e-12);
    assert_int_equal(sum.count, 6);
    assert_int_equal(sum.units, 60 * cycle);
    assert_int_equal(sum.instructions, 3);
    assert_true(fabs(as_pics_event(&pics, 2).correlation + 1) < 1e-12);
    assert_true(isnan(as_pics_event(&pics, 4).correlation));
    assert_true(isnan(as_pics_event(&pics, 8).correlation)); /* any two points are on a line */
    assert_int_equal(as_pics_event(&pics, 16).instructions, 0);
    as_pics_free(&pics);
}

/* Between the ends: of four times, in each order, the correlation with their numbers. */
static void correlations_between(void **state)
{
    for (unsigned order = 0; order < 24; order++) {
        unsigned left[4] = {2, 3, 5, 9}, n = 4, rest = order;
        double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
        struct as_pics pics = {0};
        for (unsigned i = 0; i < 4; i++) {
            unsigned at = rest % n, value = left[at];
            rest /= n--;
            memmove(left + at, left + at + 1, (n - at) * sizeof *left);
            as_pics_push(&pics, &(struct as_pics_entry){i, 1, value * cycle, i + 1});
            x += i + 1, y += value;
            xx += (i + 1) * (i + 1), yy += value * value, xy += (i + 1) * value;
        }
        double want = (4 * xy - x * y) / sqrt((4 * xx - x * x) * (4 * yy - y * y));
        assert_float_equal(as_pics_event(&pics, 1).correlation, want, 1e-12);
        as_pics_free(&pics);
    }
}

/* By groups, in which neighbours are, or are not, with events that the mask takes away: what belongs together is added up. */
static void folding_by_groups(void **state)
{
    enum { IDS = 60, GROUPS = 5, MASKS = 4, EVENTS = 16 };
    struct pipe_gen gen = {.random = 99};
    for (int round = 0; round < 20; round++) {
        uint32_t of[IDS], masks[MASKS] = {0, 1, 6, 15};
        uint64_t units[GROUPS + 1][EVENTS], count[GROUPS + 1][EVENTS];
        for (int i = 0; i < IDS; i++)
            of[i] = round % 2 ? pipe_gen_below(&gen, GROUPS + 1) : (uint32_t)i / 12;
        const struct as_grouping grouping = {.of = of, .n = IDS - 3, .count = GROUPS};
        struct as_pics pics = {0};
        for (uint32_t id = 0; id < IDS; id++)
            for (uint32_t events = pipe_gen_below(&gen, 4); events < EVENTS; events += 1 + pipe_gen_below(&gen, 5))
                as_pics_push(&pics, &(struct as_pics_entry){id, events, 1 + pipe_gen_below(&gen, 1000),
                                                            1 + pipe_gen_below(&gen, 9)});
        for (int m = 0; m < MASKS; m++) {
            memset(units, 0, sizeof units);
            memset(count, 0, sizeof count);
            for (size_t i = 0; i < pics.len; i++) {
                uint32_t id = pics.data[i].id, group = id < IDS - 3 && of[id] < GROUPS ? of[id] : GROUPS;
                units[group][pics.data[i].events & masks[m]] += pics.data[i].units;
                count[group][pics.data[i].events & masks[m]] += pics.data[i].count;
            }
            struct as_pics folded = as_pics_fold(&pics, masks[m], &grouping);
            size_t at = 0;
            for (uint32_t group = 0; group <= GROUPS; group++)
                for (uint32_t events = 0; events < EVENTS; events++) {
                    if (!units[group][events])
                        continue;
                    assert_true(at < folded.len);
                    const struct as_pics_entry *entry = &folded.data[at++];
                    assert_true(entry->id == group && entry->events == events);
                    assert_int_equal(entry->units, units[group][events]);
                    assert_int_equal(entry->count, count[group][events]);
                }
            assert_int_equal(at, folded.len);
            as_pics_free(&folded);
        }
        as_pics_free(&pics);
    }
}

static void combined(void **state)
{
    const struct as_pics_entry entries[] = {
        {1, 0, 50, 100},
        {1, AS_EVENT_ST_L1, 10, 4},
        {1, AS_EVENT_ST_L1 | AS_EVENT_ST_LLC, 20, 3},
        {2, AS_EVENT_ST_L1 | AS_EVENT_ST_TLB, 20, 3},
    };
    struct as_pics pics = make(entries, 4);
    struct as_combined_sum sum = as_pics_combined(&pics);
    assert_int_equal(sum.met, 10);
    assert_int_equal(sum.units, 50);
    assert_int_equal(sum.combined, 6);
    assert_int_equal(sum.combined_units, 40);
    assert_int_equal(sum.independent, 3);
    assert_int_equal(sum.independent_units, 20);
    as_pics_free(&pics);
}

static void tallies(void **state)
{
    struct as_pics_tally a = {0}, b = {0};
    as_pics_tally_add(&a, 9, 1, 5, 1);
    as_pics_tally_add(&a, 9, 1, 6, 1);
    as_pics_tally_add(&b, 9, 1, 7, 1);
    as_pics_tally_add(&b, 0, 0, 1, 1);
    as_pics_tally_merge(&a, &b);
    assert_int_equal(a.entries.len, 2);
    as_pics_sort(&a.entries);
    expect(&a.entries, 9, 1, 18, 3);
    expect(&a.entries, 0, 0, 1, 1);
    as_pics_tally_free(&a);
    as_pics_tally_free(&b);
}

/* Many entries in any order: sorted, each pair once, with the sum of all that had it. */
static void sorting(void **state)
{
    enum { ENTRIES = 20000 };
    static const uint32_t bits[] = {0, 1, 1u << 9, 1u << 20, 1u << 31};
    for (uint32_t ids = 10; ids <= 1000000; ids *= 100) {
        struct as_pics pics = {0};
        uint64_t x = ids, units = 0;
        for (uint32_t i = 0; i < ENTRIES; i++) {
            x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
            uint32_t events = bits[x >> 40 & 3] | bits[x >> 45 & 3] | bits[4 - (x >> 50 & 1)];
            units += i;
            as_pics_push(&pics, &(struct as_pics_entry){(uint32_t)(x >> 33) % ids, events, i, 1});
        }
        as_pics_sort(&pics);
        for (size_t i = 1; i < pics.len; i++)
            assert_true(as_pics_key(&pics.data[i - 1]) < as_pics_key(&pics.data[i]));
        uint64_t count = 0;
        for (size_t i = 0; i < pics.len; i++)
            count += pics.data[i].count;
        assert_int_equal(count, ENTRIES);
        assert_int_equal(as_pics_total(&pics), units);
        assert_in_range(pics.len, ids < ENTRIES ? ids : ENTRIES / 2, ENTRIES);
        as_pics_free(&pics);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_b1),
        cmocka_unit_test(each_event_alone_and_in_pairs),
        cmocka_unit_test(flushed_cycles_have_the_flushers_vector),
        cmocka_unit_test(an_exception_is_one_component),
        cmocka_unit_test(an_exception_with_two_vectors),
        cmocka_unit_test(rep_iterations),
        cmocka_unit_test(random_runs),
        cmocka_unit_test(threads_are_merged),
        cmocka_unit_test(a_number_used_again),
        cmocka_unit_test(unexplained_stalls),
        cmocka_unit_test(correlations),
        cmocka_unit_test(correlations_between),
        cmocka_unit_test(folding_by_groups),
        cmocka_unit_test(combined),
        cmocka_unit_test(tallies),
        cmocka_unit_test(sorting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
