/* What is written is what the reader reads: events, processes, every field of a sample, trace data. */
#include "unit.h"

#include "base/str.h"
#include "perfdata/perf_writer.h"

#include <linux/perf_event.h>

enum {
    BASIC = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
    FULL = BASIC | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
           PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC,
};

static const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_USER, 0x401000, 0x402000};
static const uint8_t raw[] = {1, 2, 3, 4, 5, 6};
static const struct as_perf_branch branches[] = {{.from = 0x10, .to = 0x20, .mispredicted = true, .cycles = 7},
                                                 {.from = 0x30, .to = 0x40, .predicted = true}};
static const struct as_perf_sample whole = {.mode = AS_PERF_KERNEL,
                                            .exact_ip = true,
                                            .ip = 0x401000,
                                            .addr = 0x7000,
                                            .time = 50,
                                            .period = 1009,
                                            .pid = 3,
                                            .tid = 4,
                                            .cpu = 2,
                                            .chain = chain,
                                            .n_chain = 3,
                                            .raw = raw,
                                            .raw_size = sizeof raw,
                                            .branches = branches,
                                            .n_branches = 2,
                                            .weight = 99,
                                            .data_src = 0x68100142};

struct seen {
    size_t events, maps, comms, samples, trace;
};

static bool see_event(void *context, const struct as_perf_event *event, struct as_error *err)
{
    struct seen *seen = context;
    assert_string_equal(event->name, event->index == 0 ? "loads:pp" : "ibs_op//");
    assert_string_equal(event->pmu, event->index == 0 ? "cpu" : "ibs_op");
    assert_int_equal(event->period, event->index == 0 ? 1009 : 77);
    assert_int_equal(event->precise, event->index == 0 ? 2 : 0);
    seen->events++;
    return true;
}

static bool see_process(void *context, const struct as_perf_process *process, struct as_error *err)
{
    struct seen *seen = context;
    assert_int_equal(process->pid, 3);
    if (process->kind == AS_PERF_COMM) {
        assert_string_equal(process->name, "prog");
        assert_true(process->exec);
        seen->comms++;
        return true;
    }
    bool identified = seen->maps++ == 0;
    assert_int_equal(process->start, 0x400000);
    assert_int_equal(process->length, 0x3000);
    assert_int_equal(process->offset, 0x1000);
    assert_string_equal(process->name, "/bin/prog-of-16byte");
    assert_int_equal(process->build_id.size, identified ? 20 : 0);
    assert_int_equal(process->build_id.bytes[19], identified ? 9 : 0);
    assert_int_equal(process->inode, identified ? 0 : 1234);
    return true;
}

static bool see_sample(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct seen *seen = context;
    seen->samples++;
    assert_int_equal(sample->ip, whole.ip);
    assert_int_equal(sample->tid, 4);
    if (sample->event->index == 1) {
        assert_int_equal(sample->period, 5);
        assert_int_equal(sample->mode, AS_PERF_USER);
        return true;
    }
    assert_int_equal(sample->mode, AS_PERF_KERNEL);
    assert_true(sample->exact_ip);
    assert_int_equal(sample->addr, 0x7000);
    assert_int_equal(sample->cpu, 2);
    assert_int_equal(sample->n_chain, 3);
    assert_memory_equal(sample->chain, chain, sizeof chain);
    assert_true(sample->raw_size >= sizeof raw);
    assert_memory_equal(sample->raw, raw, sizeof raw);
    assert_int_equal(sample->n_branches, 2);
    assert_int_equal(sample->branches[0].cycles, 7);
    assert_true(sample->branches[0].mispredicted);
    assert_true(sample->branches[1].predicted);
    assert_int_equal(sample->branches[1].to, 0x40);
    assert_int_equal(sample->weight, 99);
    assert_int_equal(sample->data_src, 0x68100142);
    return true;
}

static bool see_aux(void *context, const struct as_perf_aux *aux, struct as_error *err)
{
    ((struct seen *)context)->trace += aux->size;
    return true;
}

static const struct as_perf_sink sink = {
    .event = see_event, .process = see_process, .sample = see_sample, .aux = see_aux};

static void write_all(struct as_perf_writer *writer)
{
    struct as_perf_process map = {.kind = AS_PERF_MAP,
                                  .pid = 3,
                                  .tid = 3,
                                  .start = 0x400000,
                                  .length = 0x3000,
                                  .offset = 0x1000,
                                  .name = "/bin/prog-of-16byte",
                                  .build_id = {.size = 20, .bytes = {[19] = 9}}};
    struct as_perf_event loads = {
        .name = "loads:pp", .pmu = "cpu", .type = PERF_TYPE_RAW, .period = 1009, .precise = 2, .sample_type = FULL};
    struct as_perf_event ibs = {.name = "ibs_op//", .pmu = "ibs_op", .type = 9, .period = 77, .sample_type = BASIC};
    struct as_perf_sample plain = whole;
    plain.mode = AS_PERF_USER;
    plain.period = 5;
    assert_int_equal(as_perf_writer_event(writer, &loads), 0);
    assert_int_equal(as_perf_writer_event(writer, &ibs), 1);
    as_perf_writer_begin(writer, &(struct as_perf_info){.arch = "x86_64", .cpu = "a model", .command = "prog"});
    as_perf_writer_process(writer, &map);
    map.build_id.size = 0;
    map.inode = 1234;
    as_perf_writer_process(writer, &map);
    as_perf_writer_process(
        writer, &(struct as_perf_process){.kind = AS_PERF_COMM, .pid = 3, .tid = 4, .name = "prog", .exec = true});
    as_perf_writer_sample(writer, 0, &whole);
    as_perf_writer_sample(writer, 1, &plain);
    static const char trace[3 << 20];
    as_perf_writer_spe(writer, trace, sizeof trace - 8);
    assert_true(as_perf_writer_end(writer));
}

static void round_trip(void **state)
{
    char *bytes;
    size_t size;
    struct as_error err = AS_ERROR_INIT;
    struct seen seen = {0};
    FILE *out = open_memstream(&bytes, &size);
    write_all(as_perf_writer_new(out));
    fclose(out);
    struct as_perf_reader *reader = as_perf_reader_memory(bytes, size, NULL, &err);
    assert_non_null(reader);
    assert_true(as_perf_reader_run(reader, &sink, &seen, &err));
    assert_string_equal(as_perf_reader_info(reader)->cpu, "a model");
    assert_string_equal(as_perf_reader_info(reader)->arch, "x86_64");
    assert_string_equal(as_perf_reader_info(reader)->command, "prog");
    assert_int_equal(as_perf_reader_info(reader)->aux_type, AS_PERF_AUX_ARM_SPE);
    assert_string_equal(as_perf_reader_summary(reader)->problem, "");
    assert_int_equal(as_perf_reader_summary(reader)->bad_samples, 0);
    as_perf_reader_close(reader);
    assert_int_equal(seen.events, 2);
    assert_int_equal(seen.maps, 2);
    assert_int_equal(seen.comms, 1);
    assert_int_equal(seen.samples, 2);
    assert_int_equal(seen.trace, (3 << 20) - 8);
    free(bytes);
}

static void a_full_device_is_noticed(void **state)
{
    FILE *out = fopen("/dev/full", "w");
    if (!out)
        unit_skip("there is no /dev/full");
    struct as_perf_writer *writer = as_perf_writer_new(out);
    as_perf_writer_event(writer, &(struct as_perf_event){.name = "x", .sample_type = BASIC});
    as_perf_writer_begin(writer, &(struct as_perf_info){0});
    assert_false(as_perf_writer_end(writer));
    fclose(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip), cmocka_unit_test(a_full_device_is_noticed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
