/* What the core makes of a few random programs, number by number, against tests/golden/core_pinned.txt: on all machines, on odd
 * ones, and with each key of a machine changed by itself. Whether these numbers are right is what the other tests ask;
 * this one says that they are no others than yesterday. A change of the model changes the file: look at what it changes. */
#include "unit.h"
#include "unit_golden.h"

#include "stream_gen.h"

enum { STEPS = 1500, STATIC = 250 };

static const char *const machines[] = {"boom-tip", "boom-tea", "golden-cove-like", "skylake-like", "zen4-like"};

static const struct stream_mix trouble = {.mul = 8,
                                          .fp = 10,
                                          .loads = 22,
                                          .stores = 14,
                                          .branches = 15,
                                          .nops = 3,
                                          .fences = 15,
                                          .atomics = 25,
                                          .serialising = 25,
                                          .flushing = 25,
                                          .footprint = 512,
                                          .far = 20,
                                          .alias = 80,
                                          .late = 60,
                                          .partial = 30,
                                          .wild = 20};
static const struct stream_mix wide = {.mul = 6,
                                       .div = 2,
                                       .fp = 8,
                                       .fp_div = 2,
                                       .loads = 25,
                                       .stores = 12,
                                       .branches = 15,
                                       .nops = 3,
                                       .fences = 5,
                                       .atomics = 5,
                                       .serialising = 2,
                                       .flushing = 3,
                                       .footprint = 8 << 20,
                                       .far = 30,
                                       .alias = 40,
                                       .late = 20,
                                       .partial = 10,
                                       .wild = 20};

static const struct stream_mix *const mixes[] = {&trouble, &wide};
static const char *const mix_names[] = {"trouble", "wide"};

struct sums {
    uint64_t fetch, dispatch, issue, done, exception, tries, delay, flags[9], events[26];
};

static struct sums sums_of(const struct core_bed *bed)
{
    struct sums sums = {0};
    for (size_t i = 0; i < bed->steps.len; i++) {
        const struct as_pipe *pipe = &bed->pipes[i];
        sums.fetch += pipe->commit - pipe->fetch;
        sums.dispatch += pipe->commit - pipe->dispatch;
        sums.issue += pipe->commit - pipe->issue;
        sums.done += pipe->commit - pipe->done;
        sums.exception += pipe->exception;
        sums.tries += pipe->first_try;
        sums.delay += pipe->wrong_delay;
        for (unsigned bit = 0; bit < 9; bit++)
            sums.flags[bit] += pipe->flags >> bit & 1;
        for (unsigned bit = 0; bit < 26; bit++)
            sums.events[bit] += pipe->events >> bit & 1;
    }
    return sums;
}

static uint64_t last_commit(const struct core_bed *bed)
{
    return bed->pipes[bed->steps.len - 1].commit;
}

/* Cycles; cycles before the commit since each other time; flags and events by bit; what is counted. */
static void write_all(const struct core_bed *bed, FILE *out)
{
    struct sums sums = sums_of(bed);
    fprintf(out, "%d cycles, %d in the kernel; %d %d %d %d; %d %d %d\n", (int)last_commit(bed), (int)bed->kernel_cycles,
            (int)sums.fetch, (int)sums.dispatch, (int)sums.issue, (int)sums.done, (int)sums.exception, (int)sums.tries,
            (int)sums.delay);
    for (unsigned bit = 0; bit < 9; bit++)
        fprintf(out, " %d", (int)sums.flags[bit]);
    fprintf(out, ";");
    for (unsigned bit = 0; bit < 26; bit++)
        fprintf(out, " %d", (int)sums.events[bit]);
    fprintf(out, "\n");
    for (size_t i = 0; i < as_counter_count; i++) {
        uint64_t value = as_counter_value(&bed->counters, &as_counter_table[i]);
        if (value)
            fprintf(out, " %s=%d", as_counter_table[i].name, (int)value);
    }
    fprintf(out, "\n");
}

static void open_bed(struct core_bed *bed, const char *machine, const char *changes, size_t mix, uint64_t seed)
{
    core_bed_open_machine(bed, machine, changes);
    bed->cold_code = mix == 1;
    stream_generate(bed, mixes[mix], seed, STATIC, STEPS);
}

static void on_all_machines(void **state)
{
    FILE *out = unit_golden_begin();
    for (size_t i = 0; i < sizeof machines / sizeof *machines + BED_ODD_MACHINES; i++)
        for (size_t mix = 0; mix < 2; mix++) {
            bool odd = i >= sizeof machines / sizeof *machines;
            const char *changes = odd ? bed_odd_machines[i - sizeof machines / sizeof *machines] : NULL;
            struct core_bed bed;
            open_bed(&bed, odd ? "boom-tip" : machines[i], changes, mix, i + 1);
            core_bed_run(&bed);
            unit_golden_section(out, "%s, %s", odd ? changes : machines[i], mix_names[mix]);
            write_all(&bed, out);
            core_bed_close(&bed);
        }
    unit_golden_check(out, "core_pinned.txt");
}

/* Steps of which the core takes the first as they are, without times. */
static void warm(const struct core_bed *bed, struct as_core *core, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct bed_step *step = &bed->steps.data[i];
        const struct as_insn *insn = &bed->code.data[step->insn];
        as_core_warm_fetch(core, insn->address, insn->address + insn->length);
        as_core_warm_accesses(core, &step->access, step->access.size != 0);
        if (as_insn_is_control(insn))
            as_core_warm_control(core, insn, step->taken, step->next);
    }
}

static void behind_warm_ones(void **state)
{
    FILE *out = unit_golden_begin();
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct core_bed bed;
        struct as_pipe pipe = {0};
        struct as_counters counters;
        open_bed(&bed, machines[i], NULL, 1, i + 30);
        struct as_uncore *uncore = as_uncore_new(&bed.machine);
        struct as_core *core = as_core_new(&bed.machine, uncore, 0, NULL, NULL);
        warm(&bed, core, STEPS / 2);
        unit_golden_section(out, "%s", machines[i]);
        fprintf(out, "%d wrong;", (int)as_core_warm_mispredictions(core));
        for (size_t k = STEPS / 2; k < STEPS; k++) {
            struct as_op op = core_bed_op(&bed, &bed.steps.data[k]);
            if (k == STEPS / 4 * 3)
                as_core_empty(core);
            as_core_execute(core, &op, &pipe);
            if (k % 50 == 0)
                fprintf(out, " %d", (int)pipe.commit);
        }
        as_core_count(core, &counters);
        fprintf(out, "; %d %d %d %d %d\n", (int)as_core_show_stores(core), (int)counters.l1d_misses,
                (int)counters.l1i_misses, (int)counters.dtlb_misses, (int)counters.dram_writes);
        as_core_free(core);
        as_uncore_free(uncore);
        core_bed_close(&bed);
    }
    unit_golden_check(out, "core_warm.txt");
}

/* ---- each key by itself ---- */

struct keys {
    FILE *out;
    const char *machine;
    size_t mix; /* the first one */
};

static bool set(struct as_machine *machine, const char *key, uint64_t value)
{
    struct as_error err = AS_ERROR_INIT;
    char text[128];
    snprintf(text, sizeof text, "%s=%llu", key, (unsigned long long)value);
    return as_machine_set(machine, text, &err);
}

/* The next number that the machine allows: twice as much, more, less, or the other word. */
static bool change(struct as_machine *machine, const char *key, char *how, size_t size)
{
    static const uint64_t tries[] = {2, 3, 1, 0, 4, 8, 16, 5, 40, 64, 300, 1024, 65536};
    struct as_error err = AS_ERROR_INIT;
    struct as_machine before = *machine;
    for (size_t i = 0; i < 2 + sizeof tries / sizeof *tries; i++) {
        struct as_machine changed = before;
        char text[128];
        snprintf(text, sizeof text, "%s=%s", key, i ? "no" : "yes");
        bool taken = i < 2 ? as_machine_set(&changed, text, &err) : set(&changed, key, tries[i - 2]);
        if (!taken || memcmp(&changed, &before, sizeof before) == 0)
            continue;
        *machine = changed;
        if (i < 2)
            snprintf(how, size, "%s", text);
        else
            snprintf(how, size, "%s=%d", key, (int)tries[i - 2]);
        return true;
    }
    return false;
}

static void run_changed(void *context, const char *key, const char *meaning, const char *allowed)
{
    struct keys *keys = context;
    struct core_bed bed;
    char how[128];
    for (size_t mix = keys->mix; mix < 2; mix++) {
        open_bed(&bed, keys->machine, NULL, mix, 7);
        if (strchr(key, '.') && change(&bed.machine, key, how, sizeof how)) {
            core_bed_run(&bed);
            struct sums sums = sums_of(&bed);
            const struct as_counters *counted = &bed.counters;
            fprintf(keys->out, mix > keys->mix ? "; " : "%s: ", how);
            fprintf(keys->out, "%d, %d %d %d %d, %d %d %d %d", (int)last_commit(&bed), (int)sums.fetch,
                    (int)sums.dispatch, (int)sums.issue, (int)sums.done, (int)counted->branch_mispredictions,
                    (int)counted->l1d_misses, (int)counted->l1i_misses, (int)counted->dram_row_hits);
            fprintf(keys->out, mix ? "\n" : "");
        }
        core_bed_close(&bed);
    }
}

static void with_each_key(void **state)
{
    static const char *const changed[] = {"boom-tip", "zen4-like"};
    FILE *out = unit_golden_begin();
    for (size_t i = 0; i < 2; i++) {
        struct keys keys = {out, changed[i], i};
        unit_golden_section(out, "%s", changed[i]);
        as_machine_keys(run_changed, &keys);
    }
    unit_golden_check(out, "core_keys.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_all_machines), cmocka_unit_test(behind_warm_ones),
                                       cmocka_unit_test(with_each_key)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
