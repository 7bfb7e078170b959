/* Cores that fight for a line, held against cores that step every cycle side by side (reference.h): the time that it takes is the machine's, and
 * does not depend on which core's steps the model reads first. Before lines were held for some cycles, how many stores a core got done with a line
 * depended on that: the same program took 5.2 or 22.2 thousand cycles. */
#include "reference.h"
#include "unit.h"

enum { MOST_CORES = 4, WORK = 30 };

enum kind { BESIDE, SAME, ATOMIC, STORES, WORKING };

static const char *const kinds[] = {"beside each other", "the same word", "atomics", "stores alone", "now and then"};

/* Iterations each change a word: that of all, or one of the core's own in the same line. */
static void make_loop(struct core_bed *bed, const char *machine, enum kind kind, uint32_t core, uint32_t rounds)
{
    core_bed_open_machine(bed, machine, "back.rob_rows=no,back.fuse=no");
    uint64_t word = BED_DATA + (kind == SAME || kind == ATOMIC ? 0 : 8 * core), start = bed->pc;
    uint32_t load = core_bed_add(bed, kind == ATOMIC ? AS_CLASS_ATOMIC : AS_CLASS_LOAD, 6, BED_NONE, BED_NONE);
    uint32_t add = core_bed_add(bed, AS_CLASS_INT, 6, 6, BED_NONE);
    uint32_t store = core_bed_add(bed, AS_CLASS_STORE, BED_NONE, BED_NONE, 6);
    uint32_t branch = core_bed_add(bed, AS_CLASS_BRANCH, BED_NONE, 7, BED_NONE);
    for (uint32_t i = 0; i < rounds; i++) {
        if (kind != STORES)
            core_bed_access(bed, load, word);
        for (int j = 0; j < (kind == WORKING ? WORK : 1); j++)
            core_bed_step(bed, add);
        if (kind != ATOMIC)
            core_bed_access(bed, store, word);
        core_bed_jump(bed, branch, i + 1 < rounds, start);
    }
    core_bed_warm(bed, BED_DATA + 4096 * (core + 1), 64);
}

/* Executes up to the end of the loop's iteration. */
static void run_block(const struct core_bed *bed, struct as_core *core, size_t *at)
{
    for (bool ends = false; !ends && *at < bed->steps.len;) {
        struct as_pipe pipe;
        struct as_op op = core_bed_op(bed, &bed->steps.data[(*at)++]);
        as_core_execute(core, &op, &pipe);
        ends = op.insn->class_ == AS_CLASS_BRANCH;
    }
}

struct side_by_side {
    const struct core_bed *beds;
    struct as_core *cores[MOST_CORES];
    size_t at[MOST_CORES];
    uint32_t n;
};

/* The time of the core that is behind; UINT64_MAX: all are done. */
static uint64_t find_behind(const struct side_by_side *all)
{
    uint64_t behind = UINT64_MAX;
    for (uint32_t i = 0; i < all->n; i++)
        if (all->at[i] < all->beds[i].steps.len && as_core_time(all->cores[i]) < behind)
            behind = as_core_time(all->cores[i]);
    return behind;
}

/* As close_reading.c in src/engine does: a block at a time, `slack` cycles ahead of the core that is behind. */
static void run_all(struct side_by_side *all, uint64_t slack)
{
    for (uint64_t behind; (behind = find_behind(all)) != UINT64_MAX;)
        for (uint32_t i = 0; i < all->n; i++)
            while (all->at[i] < all->beds[i].steps.len && as_core_time(all->cores[i]) <= behind + slack)
                run_block(&all->beds[i], all->cores[i], &all->at[i]);
}

static uint64_t run_model(const struct core_bed *beds, const uint64_t *starts, uint32_t n, uint64_t slack)
{
    struct as_uncore *uncore = as_uncore_new(&beds[0].machine);
    struct side_by_side all = {.beds = beds, .n = n};
    uint64_t base = 0, end = 0;
    for (uint32_t i = 0; i < n; i++) {
        all.cores[i] = as_core_new(&beds[i].machine, uncore, i, NULL, NULL);
        core_bed_warm_up(&beds[i], all.cores[i]);
        base = as_core_time(all.cores[i]) > base ? as_core_time(all.cores[i]) : base;
    }
    for (uint32_t i = 0; i < n; i++)
        as_core_wait_until(all.cores[i], base + starts[i]);
    run_all(&all, slack);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t time = as_core_time(all.cores[i]) - base;
        end = time > end ? time : end;
        as_core_free(all.cores[i]);
    }
    as_uncore_free(uncore);
    return end;
}

/* Returns how many times as long the model takes at most, or the reference. */
static double compare(const char *machine, enum kind kind, uint32_t n, uint32_t rounds)
{
    const uint64_t starts[MOST_CORES] = {0, 37, 11, 90};
    double most = 1;
    struct core_bed beds[MOST_CORES];
    for (uint32_t i = 0; i < n; i++)
        make_loop(&beds[i], machine, kind, i, rounds);
    uint64_t reference = reference_run_together(beds, starts, n);
    for (uint64_t slack = 0; slack <= 20; slack += 10) {
        double ratio = (double)run_model(beds, starts, n, slack) / (double)reference;
        ratio = ratio < 1 ? 1 / ratio : ratio;
        most = ratio > most ? ratio : most;
    }
    print_message("%s, %s, %u cores: %lu cycles, off by %.1f %%\n", machine, kinds[kind], n, reference,
                  100 * (most - 1));
    for (uint32_t i = 0; i < n; i++)
        core_bed_close(&beds[i]);
    return most;
}

static void take_the_machines_time(void **state)
{
    static const uint32_t rounds_of[] = {[BESIDE] = 250, [SAME] = 250, [ATOMIC] = 50, [STORES] = 1500, [WORKING] = 250};
    static const char *const machines[] = {"zen4-like", "boom-tea", "boom-tip", "skylake-like", "golden-cove-like"};
    /* Under sanitizers one machine and two cores: it is about numbers. */
    size_t most_machines = UNIT_SANITIZED ? 1 : sizeof machines / sizeof *machines;
    uint32_t most_cores = UNIT_SANITIZED ? 2 : MOST_CORES;
    for (size_t m = 0; m < most_machines; m++)
        for (enum kind kind = BESIDE; kind <= WORKING; kind++)
            for (uint32_t n = 2; n <= most_cores; n += 2)
                assert_true(compare(machines[m], kind, n, rounds_of[kind]) < 1.06);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(take_the_machines_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
