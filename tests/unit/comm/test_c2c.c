/* A recording with data sources, by line: counts, latencies, threads, names, order; and what belongs to no line. The recorded
 * process is this one, so code and data have names. */
#include "unit.h"

#include "apart.h"
#include "comm/c2c.h"
#include "native/process_maps.h"
#include "perfdata/perf_writer.h"

#include <linux/perf_event.h>

#define OP(op) ((uint64_t)PERF_MEM_OP_##op << PERF_MEM_OP_SHIFT)
#define LEVEL(bits) ((uint64_t)(PERF_MEM_LVL_HIT | (bits)) << PERF_MEM_LVL_SHIFT)
#define HITM                                                                                                           \
    (OP(LOAD) | LEVEL(PERF_MEM_LVL_L3) | (uint64_t)PERF_MEM_SNOOP_HITM << PERF_MEM_SNOOP_SHIFT) /* a transfer */
#define LOAD (OP(LOAD) | LEVEL(PERF_MEM_LVL_L1))
#define STORE (OP(STORE) | LEVEL(PERF_MEM_LVL_L1))

enum {
    LINE = 64,
    BASIC = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
    FULL = BASIC | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC,
};

static _Alignas(LINE) uint64_t seen_words[5 * LINE / 8] = {1}; /* not in .bss */

UNIT_APART static uint64_t reads_them(void)
{
    return seen_words[1] + 1;
}

UNIT_APART static uint64_t writes_them(void)
{
    return seen_words[2] += 2;
}

/* Code without lines. */
__asm__(".pushsection .text.bare, \"ax\"\n.type bare_code, @function\nbare_code: nop\nnop\nnop\n.size bare_code, 3\n"
        ".globl bare_code\n.hidden bare_code\n.popsection\n");
extern uint64_t bare_code(void);

static char path[] = "/tmp/assay-c2c-XXXXXX";

static void put_map(void *writer, struct as_perf_process *map)
{
    as_perf_writer_process(writer, map);
}

struct script {
    struct as_perf_writer *writer;
    uint64_t time;
};

static void put(struct script *script, uint32_t tid, uint64_t (*code)(void), uint64_t address, uint64_t source,
                uint64_t weight)
{
    struct as_perf_sample sample = {.mode = AS_PERF_USER,
                                    .ip = (uintptr_t)code,
                                    .addr = address,
                                    .time = ++script->time,
                                    .period = 1,
                                    .pid = (uint32_t)getpid(),
                                    .tid = tid,
                                    .cpu = tid % 4,
                                    .weight = weight,
                                    .data_src = source};
    as_perf_writer_sample(script->writer, 0, &sample);
}

static uint64_t word(size_t line, size_t offset)
{
    return (uintptr_t)seen_words + line * LINE + offset;
}

/* Of two functions the one with the higher address, and the other one. */
static uint64_t (*higher(bool is))(void)
{
    return ((uintptr_t)reads_them > (uintptr_t)bare_code) == is ? reads_them : bare_code;
}

/* Line 3 has transfers, line 1 stores; lines 0 and 2 have the same number of loads. */
static void put_lines(struct script *script)
{
    put(script, 9, reads_them, word(3, 8), HITM, 100);
    put(script, 10, reads_them, word(3, 8), HITM, 50);
    put(script, 9, reads_them, word(3, 8), LOAD, 0);
    for (int i = 0; i < 4; i++)
        put(script, 9, writes_them, word(3, 16), STORE, 10);
    for (int i = 0; i < 3; i++)
        put(script, 11, bare_code, word(1, 0), STORE, 0);
    for (size_t i = 0; i < 5; i++) {
        put(script, 12, reads_them, word(2, 8 * (i % 2)), LOAD, 7);
        put(script, 12, higher(i < 2), word(0, i < 2 ? 48 : i < 4 ? 56 : 40), LOAD, 7);
    }
}

/* Of no line: nothing mapped there, nothing known of the code, no address, no load or store, the kernel's. */
static void put_others(struct script *script)
{
    struct as_perf_sample kernel = {.mode = AS_PERF_KERNEL,
                                    .ip = UINT64_C(0xffffffff81000000),
                                    .addr = word(0, 0),
                                    .time = ++script->time,
                                    .pid = (uint32_t)getpid(),
                                    .data_src = LOAD};
    put(script, 9, reads_them, 64, LOAD, 5);
    put(script, 9, NULL, word(0, 0), STORE, 5);
    put(script, 9, reads_them, 0, LOAD, 5);
    put(script, 9, reads_them, word(0, 0), OP(NA), 5);
    as_perf_writer_sample(script->writer, 0, &kernel);
    as_perf_writer_sample(script->writer, 1, &kernel); /* an event without a data source */
}

static void record(bool whole)
{
    static const struct as_perf_event loads = {
        .name = "loads", .type = PERF_TYPE_RAW, .period = 1, .sample_type = FULL};
    static const struct as_perf_event cycles = {.name = "cycles", .period = 1, .sample_type = BASIC};
    FILE *out = fdopen(mkstemp(path), "w");
    assert_non_null(out);
    struct script script = {.writer = as_perf_writer_new(out)};
    as_perf_writer_event(script.writer, &loads);
    as_perf_writer_event(script.writer, &cycles);
    as_perf_writer_begin(script.writer, &(struct as_perf_info){.arch = "x86_64"});
    as_process_maps(getpid(), true, put_map, script.writer);
    if (whole) {
        put_lines(&script);
        put_others(&script);
    } else {
        as_perf_writer_sample(script.writer, 1, &(struct as_perf_sample){.time = 1, .mode = AS_PERF_USER});
    }
    assert_true(as_perf_writer_end(script.writer));
    fclose(out);
}

static int drop(void **state)
{
    unlink(path);
    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
    return 0;
}

static struct as_c2c read_all(void)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_c2c c2c = {0};
    record(true);
    assert_true(as_c2c_read(&c2c, path, &err));
    return c2c;
}

static void everything_is_counted(void **state)
{
    struct as_c2c c2c = read_all();
    assert_int_equal(c2c.without_source, 1);
    assert_int_equal(c2c.counts.records, 3 + 4 + 3 + 10 + 5);
    assert_int_equal(c2c.counts.loads, 3 + 10 + 3);
    assert_int_equal(c2c.counts.stores, 4 + 3 + 1);
    assert_int_equal(c2c.counts.local_hitm, 2);
    assert_int_equal(c2c.counts.no_map, 3);
    assert_int_equal(c2c.counts.load_no_address, 1);
    assert_int_equal(c2c.counts.unparsed, 1);
    as_c2c_free(&c2c);
}

static void lines_are_in_order(void **state)
{
    static const size_t numbers[] = {3, 1, 0, 2}, records[] = {7, 3, 5, 5};
    static const char *const objects[] = {"seen_words+0xc0", "seen_words+0x40", "seen_words", "seen_words+0x80"};
    struct as_c2c c2c = read_all();
    assert_int_equal(c2c.lines.len, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct as_c2c_line *line = &c2c.lines.data[i];
        assert_int_equal(line->address, word(numbers[i], 0));
        assert_int_equal(line->pid, getpid());
        assert_int_equal(line->counts.records, records[i]);
        assert_string_equal(line->object, objects[i]);
    }
    assert_true(as_c2c_hitm(&c2c.lines.data[0].counts) == 2 && c2c.lines.data[0].counts.stores == 4);
    assert_true(c2c.lines.data[0].counts.loads == 3 && c2c.lines.data[1].counts.stores == 3);
    as_c2c_free(&c2c);
}

static void accesses_of_a_line(void **state)
{
    struct as_c2c c2c = read_all();
    const struct as_c2c_line *line = &c2c.lines.data[0];
    assert_int_equal(line->accesses.len, 2);
    const struct as_c2c_access *load = &line->accesses.data[0], *store = &line->accesses.data[1];
    assert_true(load->offset == 8 && load->ip == (uintptr_t)reads_them);
    assert_true(load->counts.records == 3 && load->counts.local_hitm == 2 && load->counts.stores == 0);
    assert_true(load->latency == 150 && load->weighed == 2);
    assert_true(load->threads.len == 2 && load->threads.data[0] == 9 && load->threads.data[1] == 10);
    assert_true(load->cpus.len == 2 && load->cpus.data[0] == 1 && load->cpus.data[1] == 2);
    assert_true(store->offset == 16 && store->counts.records == 4 && store->counts.stores == 4);
    assert_true(store->latency == 0 && store->weighed == 0 && store->threads.len == 1);
    assert_int_equal(strncmp(load->code, "reads_them at test_c2c.c:", 25), 0);
    assert_int_equal(strncmp(store->code, "writes_them at test_c2c.c:", 26), 0);
    assert_string_equal(load->module, "test_c2c");
    assert_string_equal(c2c.lines.data[1].accesses.data[0].code, "bare_code+0x0");
    as_c2c_free(&c2c);
}

/* The same instruction at two places of a line: the more frequent one first. */
static void places_are_apart(void **state)
{
    struct as_c2c c2c = read_all();
    const struct as_c2c_line *line = &c2c.lines.data[3];
    assert_int_equal(line->accesses.len, 2);
    assert_true(line->accesses.data[0].offset == 0 && line->accesses.data[0].counts.records == 3);
    assert_true(line->accesses.data[1].offset == 8 && line->accesses.data[1].counts.records == 2);
    assert_true(line->accesses.data[0].latency == 21 && line->accesses.data[0].weighed == 3);
    as_c2c_free(&c2c);
}

/* Of two that are as frequent the first in the line comes first, wherever its code lies. */
static void places_as_frequent(void **state)
{
    static const size_t offsets[] = {48, 56, 40};
    struct as_c2c c2c = read_all();
    const struct as_c2c_line *line = &c2c.lines.data[2];
    assert_int_equal(line->accesses.len, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(line->accesses.data[i].offset, offsets[i]);
        assert_int_equal(line->accesses.data[i].ip, (uintptr_t)higher(i == 0));
    }
    as_c2c_free(&c2c);
}

static void no_such_file(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_c2c c2c = {0};
    assert_false(as_c2c_read(&c2c, "/nothing/here", &err));
    assert_non_null(strstr(err.message, "/nothing/here"));
    as_c2c_free(&c2c);
}

static void nothing_about_memory(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_c2c c2c = {0};
    record(false);
    assert_false(as_c2c_read(&c2c, path, &err));
    assert_non_null(strstr(err.message, ": no sample has a data address and a data source; record with 'perf mem"));
    assert_int_equal(c2c.without_source, 1);
    as_c2c_free(&c2c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(everything_is_counted, drop),
                                       cmocka_unit_test_teardown(lines_are_in_order, drop),
                                       cmocka_unit_test_teardown(accesses_of_a_line, drop),
                                       cmocka_unit_test_teardown(places_are_apart, drop),
                                       cmocka_unit_test_teardown(places_as_frequent, drop),
                                       cmocka_unit_test_teardown(nothing_about_memory, drop),
                                       cmocka_unit_test(no_such_file)};
    return reads_them() && writes_them() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
