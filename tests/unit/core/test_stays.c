/* The log of stays: it changes no time, says of every micro-operation what its record says, and never shows more entries
 * in use than there are. */
#include "unit.h"

#include "stream_gen.h"

enum { STEPS = 6000 };

static const struct stream_mix mix = {.mul = 5,
                                      .div = 1,
                                      .fp = 8,
                                      .loads = 25,
                                      .stores = 14,
                                      .branches = 12,
                                      .fences = 3,
                                      .atomics = 3,
                                      .serialising = 3,
                                      .flushing = 5,
                                      .footprint = 2 << 20,
                                      .far = 10,
                                      .alias = 30,
                                      .late = 30,
                                      .partial = 10,
                                      .wild = 20};

struct edge {
    uint64_t cycle;
    int change;
};

/* Ends before starts: what leaves before a cycle makes room in it. */
static int by_cycle(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->cycle != y->cycle)
        return x->cycle < y->cycle ? -1 : 1;
    return x->change - y->change;
}

/* The most entries of a resource that are in use at a time. */
static uint32_t most_at_once(const struct as_stay_log *log, enum as_resource resource, size_t *n)
{
    struct edge *edges = as_alloc_array(2 * log->stays.len + 1, sizeof *edges);
    *n = 0;
    for (size_t i = 0; i < log->stays.len; i++) {
        const struct as_stay *stay = &log->stays.data[i];
        if (stay->resource != resource)
            continue;
        edges[(*n)++] = (struct edge){.cycle = stay->from, .change = 1};
        edges[(*n)++] = (struct edge){.cycle = stay->from + stay->cycles, .change = -1};
    }
    qsort(edges, *n, sizeof *edges, by_cycle);
    int used = 0, most = 0;
    for (size_t i = 0; i < *n; i++) {
        used += edges[i].change;
        most = used > most ? used : most;
    }
    free(edges);
    return (uint32_t)most;
}

/* Records whose instruction came twice have a stay for each try. */
static void check_rob(const struct core_bed *bed, const struct as_stay_log *log)
{
    size_t at = 0;
    for (size_t i = 0; i < bed->steps.len; i++) {
        const struct as_pipe *pipe = &bed->pipes[i];
        uint64_t from = pipe->dispatch + bed->start, cycles = pipe->commit - pipe->dispatch + 1;
        while (at < log->stays.len && (log->stays.data[at].resource != AS_RESOURCE_ROB ||
                                       log->stays.data[at].from != from || log->stays.data[at].cycles != cycles))
            at++;
        assert_true(at++ < log->stays.len);
    }
}

static void check(const char *machine, uint64_t seed)
{
    struct core_bed bed;
    struct as_stay_log log = {0};
    core_bed_open_machine(&bed, machine, NULL);
    stream_generate(&bed, &mix, seed, 300, STEPS);
    core_bed_run(&bed);
    struct as_pipe *without = as_alloc_array(bed.steps.len, sizeof *without);
    memcpy(without, bed.pipes, bed.steps.len * sizeof *without);
    bed.stays = &log;
    core_bed_run(&bed);
    assert_memory_equal(bed.pipes, without, bed.steps.len * sizeof *without);
    const uint32_t limits[AS_RESOURCE_COUNT] = {
        [AS_RESOURCE_ROB] = bed.machine.back.rob,
        [AS_RESOURCE_QUEUE_INT] = bed.machine.back.queue_size[AS_QUEUE_INT],
        [AS_RESOURCE_QUEUE_MEM] = bed.machine.back.queue_size[AS_QUEUE_MEM],
        [AS_RESOURCE_QUEUE_FP] = bed.machine.back.queue_size[AS_QUEUE_FP],
        [AS_RESOURCE_LOAD_QUEUE] = bed.machine.back.load_queue,
        [AS_RESOURCE_STORE_QUEUE] = bed.machine.back.store_queue,
    };
    for (int i = 0; i < AS_RESOURCE_COUNT; i++) {
        size_t n;
        uint32_t most = most_at_once(&log, (enum as_resource)i, &n);
        assert_true(most > 0 && n > 0);
        if (limits[i] && most > limits[i])
            fail_msg("%s: %u entries of resource %d, which has %u", machine, most, i, limits[i]);
    }
    check_rob(&bed, &log);
    as_vec_free(&log.stays);
    free(without);
    core_bed_close(&bed);
}

static void stays_follow_the_records(void **state)
{
    const char *const machines[] = {"boom-tip", "golden-cove-like", "zen4-like"};
    for (size_t i = 0; i < 3; i++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            check(machines[i], seed);
}

/* One load that misses everything. */
static void a_miss_holds_an_mshr(void **state)
{
    struct core_bed bed;
    struct as_stay_log log = {0};
    core_bed_open(&bed, NULL);
    bed.stays = &log;
    core_bed_load(&bed, AS_REG_INT0 + 5, AS_REG_INT0 + 6, BED_DATA);
    core_bed_run(&bed);
    size_t mshrs = 0, loads = 0;
    for (size_t i = 0; i < log.stays.len; i++) {
        const struct as_stay *stay = &log.stays.data[i];
        mshrs += stay->resource == AS_RESOURCE_MSHR_L1D && stay->from > bed.pipes[0].issue + bed.start &&
                 stay->from + stay->cycles == bed.pipes[0].done + bed.start;
        loads += stay->resource == AS_RESOURCE_LOAD_QUEUE && stay->from == bed.pipes[0].dispatch + bed.start;
    }
    assert_int_equal(mshrs, 1); /* the prefetcher's line arrives at another time */
    assert_int_equal(loads, 1);
    as_vec_free(&log.stays);
    core_bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stays_follow_the_records),
        cmocka_unit_test(a_miss_holds_an_mshr),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
