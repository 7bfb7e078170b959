/* Real recordings of other machines' hardware, kept outside of the project. The argument is their directory; what is
 * not there is skipped. The counts are those that `perf` 6.1 gives. */
#include "perfdata/mem_source.h"
#include "perfdata/perf_spaces.h"
#include "unit.h"

#include <linux/perf_event.h>
#include <stdio.h>

static const char *directory;

struct seen {
    struct as_perf_spaces *spaces;
    uint64_t samples, branches, with_branches, loads, kernel, mapped, weights_min, weights_max, chains, stacks, regs;
    uint64_t without_ip;
    uint64_t losses, throttles;
};

static bool on_sample(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct seen *seen = context;
    seen->samples++;
    seen->branches += sample->n_branches;
    seen->with_branches += sample->n_branches > 0;
    seen->loads += as_mem_source_decode(sample->data_src).load;
    seen->weights_min = sample->weight < seen->weights_min ? sample->weight : seen->weights_min;
    seen->weights_max = sample->weight > seen->weights_max ? sample->weight : seen->weights_max;
    seen->chains += sample->n_chain > 0;
    seen->stacks += sample->stack_valid > 0;
    seen->without_ip += sample->ip == 0;
    seen->regs += sample->user_regs.count > 0;
    struct as_perf_location location;
    as_perf_spaces_find(seen->spaces, sample->pid, sample->mode, sample->ip, &location);
    seen->kernel += sample->mode == AS_PERF_KERNEL;
    seen->mapped += strcmp(location.module, "[unknown]") != 0;
    return true;
}

static bool on_process(void *context, const struct as_perf_process *process, struct as_error *err)
{
    return as_perf_spaces_process(((struct seen *)context)->spaces, process, err);
}

static bool on_loss(void *context, const struct as_perf_loss *loss, struct as_error *err)
{
    struct seen *seen = context;
    seen->losses += loss->kind == AS_PERF_LOST || loss->kind == AS_PERF_LOST_SAMPLES;
    seen->throttles += loss->kind == AS_PERF_THROTTLE;
    return true;
}

static struct as_perf_reader *read_recording(const char *name, struct seen *seen)
{
    static const struct as_perf_sink sink = {.sample = on_sample, .process = on_process, .loss = on_loss};
    char path[4096];
    struct as_error err = AS_ERROR_INIT;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (access(path, R_OK) != 0)
        return NULL;
    *seen = (struct seen){.spaces = as_perf_spaces_new(NULL), .weights_min = UINT64_MAX};
    struct as_perf_reader *reader = as_perf_reader_open(path, NULL, &err);
    if (reader == NULL || !as_perf_reader_run(reader, &sink, seen, &err))
        fail_msg("%s: %s", name, err.message);
    const struct as_perf_summary *summary = as_perf_reader_summary(reader);
    assert_string_equal(summary->problem, "");
    assert_int_equal(summary->bad_samples, 0);
    assert_int_equal(summary->unknown_ids, 0);
    assert_int_equal(summary->samples, seen->samples);
    assert_int_equal(summary->records[PERF_RECORD_SAMPLE], seen->samples);
    as_perf_spaces_free(seen->spaces);
    return reader;
}

#define READ(name)                                                                                                     \
    struct seen seen;                                                                                                  \
    struct as_perf_reader *reader = read_recording(name, &seen);                                                       \
    if (reader == NULL)                                                                                                \
        unit_skip("there is no recording " name " in %s", directory);                                                  \
    const uint64_t *records = as_perf_reader_summary(reader)->records;                                                 \
    const struct as_perf_info *info = as_perf_reader_info(reader);                                                     \
    const struct as_perf_event *event = as_perf_reader_event(reader, 0)

static void test_pebs(void **state)
{
    READ("pebs-load-latency.perf.data");
    assert_int_equal(seen.samples, 14);
    assert_int_equal(records[PERF_RECORD_MMAP2], 6930);
    assert_int_equal(records[PERF_RECORD_COMM], 2959);
    assert_int_equal(records[PERF_RECORD_FORK], 2955);
    assert_int_equal(event->type, PERF_TYPE_RAW);
    assert_int_equal(event->config, 0x1cd);
    assert_int_equal(event->config1, 64); /* ldlat */
    assert_int_equal(event->period, 10009);
    assert_int_equal(event->precise, 2);
    assert_string_equal(event->pmu, "cpu");
    assert_non_null(strstr(event->name, "MEM_TRANS_RETIRED.LOAD_LATENCY"));
    assert_int_equal(seen.weights_min, 70);
    assert_int_equal(seen.weights_max, 249);
    assert_int_equal(seen.loads, 14);
    assert_non_null(strstr(info->cpu, "8173M"));
    assert_int_equal(info->cpus_online, 112);
    as_perf_reader_close(reader);
}

static void test_lbr(void **state)
{
    READ("lbr-skylake.perf.data");
    assert_int_equal(seen.samples, 13);
    assert_int_equal(records[PERF_RECORD_MMAP2], 10);
    assert_int_equal(records[PERF_RECORD_MMAP], 21);
    assert_string_equal(event->name, "cycles:ppp");
    assert_int_equal(event->precise, 3);
    assert_int_equal(seen.with_branches, 13);
    assert_true(seen.branches >= 13 && seen.branches <= 13 * 32);
    assert_string_equal(info->os_release, "4.14.18");
    as_perf_reader_close(reader);
}

static void test_lost(void **state)
{
    READ("lost-samples.perf.data");
    assert_int_equal(seen.samples, 191);
    assert_int_equal(records[PERF_RECORD_LOST_SAMPLES], 2);
    assert_int_equal(seen.losses, 2);
    assert_string_equal(info->host, "localhost");
    assert_string_equal(event->name, "cycles:pp");
    assert_string_equal(as_perf_reader_event(reader, 1)->name, "instructions:pp");
    assert_int_equal(event->period, 20003);
    uint64_t samples = 0, period = 0;
    for (size_t i = 0; i < as_perf_reader_events(reader); i++) {
        samples += as_perf_reader_event(reader, i)->samples;
        period += as_perf_reader_event(reader, i)->total_period;
    }
    assert_int_equal(samples, 191);
    assert_int_equal(period, 191 * 20003);
    as_perf_reader_close(reader);
}

static void test_throttled(void **state)
{
    READ("lbr-throttled.perf.data");
    assert_int_equal(seen.samples, 3740);
    assert_int_equal(records[PERF_RECORD_THROTTLE], 926);
    assert_int_equal(records[PERF_RECORD_UNTHROTTLE], 926);
    assert_int_equal(seen.throttles, 926);
    assert_int_equal(as_perf_reader_summary(reader)->unthrottled, 926);
    assert_string_equal(event->name, "cycles:u");
    assert_int_equal(seen.mapped, 3740);
    assert_string_equal(info->arch, "x86_64");
    assert_int_equal(seen.kernel, 3); /* skid */
    as_perf_reader_close(reader);
}

/* perf 6.1 cannot unpack COMPRESSED2; the counts are those of its records after unpacking. */
static void test_zstd_pipe(void **state)
{
    READ("zstd-pipe.perf.data");
    assert_int_equal(info->format, AS_PERF_PIPE);
    assert_int_equal(event->frequency, 997);
    assert_int_equal(event->precise, 3);
    assert_memory_equal(event->name, "cycles:", 7);
    assert_int_equal(records[83], 146);
    assert_true(as_perf_reader_summary(reader)->unpacked_bytes > 4000000);
    assert_int_equal(seen.samples, 547);
    assert_int_equal(as_perf_reader_summary(reader)->out_of_order, 0);
    assert_true(seen.regs >= seen.stacks && seen.stacks > 400);
    assert_int_equal(seen.mapped + seen.without_ip, seen.samples);
    assert_true(seen.without_ip < 30); /* the kernel knew none */
    assert_int_equal(event->samples, 547);
    as_perf_reader_close(reader);
}

int main(int argc, char **argv)
{
    directory = argc > 1 ? argv[1] : "../shared/data/perf";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pebs),      cmocka_unit_test(test_lbr),       cmocka_unit_test(test_lost),
        cmocka_unit_test(test_throttled), cmocka_unit_test(test_zstd_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
