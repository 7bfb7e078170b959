/* All formats but JSON of a random profile against tests/golden/export_random.txt: recursion, indirect calls, code without lines, functions or
 * files, inlined code, combined events, several threads, and both kinds of series. The sums of a profile by instruction and
 * by path agree, as those of a run do. */
#include "unit.h"
#include "unit_golden.h"

#include "base/random.h"
#include "export/export.h"
#include "export_bed.h"
#include "store_bed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NONE AS_STORE_NONE

enum { THREADS = 3, FUNCTIONS = 10, EACH = 4, CODE = FUNCTIONS * EACH + 2, PATHS = 18, MASKS = 4, DRAWS = 90 };

static struct {
    uint64_t random;
    uint32_t function[PATHS];
    uint64_t time[THREADS][CODE][MASKS], path_time[THREADS][PATHS][MASKS];
    uint64_t samples[THREADS][CODE], path_samples[THREADS][PATHS][CODE];
} made;

static uint32_t below(uint32_t n)
{
    return (uint32_t)as_random_below(&made.random, n);
}

static void add_run(struct as_store_writer *writer)
{
    as_store_add_meta(writer, AS_META_PROGRAM, "/bin/a program");
    as_store_add_meta(writer, AS_META_SERIES, "golden");
    as_store_add_meta(writer, AS_META_DATE, "2026-01-02T03:04:05Z");
    as_store_add_meta_double(writer, AS_META_SECONDS, 0.25);
    as_store_add_argument(writer, "/bin/a program");
    as_store_add_argument(writer, "it's");
    as_store_add_thread(writer, &(struct as_store_thread){0, 4711, NULL, 600, 500, 6});
    as_store_add_thread(writer, &(struct as_store_thread){1, 4711, "worker", 400, 400, 4});
    as_store_add_thread(writer, &(struct as_store_thread){2, 4712, "worker", 300, 200, 4});
    as_store_add_event(writer, &(struct as_store_event){0, "ST-L1", "missed", NONE, "stalled"});
    as_store_add_event(writer, &(struct as_store_event){1, "FL-MB", NULL, NONE, "flushed"});
    as_store_add_module(writer, &(struct as_store_module){.path = "/bin/a program", .build_id = "0123abcd"});
    as_store_add_module(writer, &(struct as_store_module){.path = "/lib/libb.so", .base = UINT64_C(0x7f0000000000)});
    as_store_add_module(writer, &(struct as_store_module){.path = "[vdso]", .base = UINT64_C(0x7fff00000000)});
    as_store_add_file(writer, "a.c");
    as_store_add_file(writer, "b dir/b.h");
    as_store_add_inline(writer, &(struct as_store_inline){NONE, "outer", 0, 12});
    as_store_add_inline(writer, &(struct as_store_inline){0, "inner;1", 1, 3});
}

static uint32_t module_of(uint32_t function)
{
    return function < 6 ? 0 : function < 9 ? 1 : 2;
}

static uint64_t address_of(uint32_t function, uint32_t insn)
{
    static const uint64_t bases[] = {0x400000, UINT64_C(0x7f0000000000), UINT64_C(0x7fff00000000)};
    return bases[module_of(function)] + 0x100 * (uint64_t)(function + 1) + 4 * (uint64_t)insn;
}

static void add_code(struct as_store_writer *writer)
{
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        static const char *const names[FUNCTIONS] = {"main", "f(int, char)", "same", "g<a, b>",      "same",
                                                     "h",    "same",         "io",   "x::y() const", "clock"};
        as_store_add_function(writer, &(struct as_store_function){
                                          names[f], f % 2 ? NULL : "_Zraw", module_of(f), f % 4 == 3 ? NONE : f % 2,
                                          f % 4 == 3 ? 0 : 10 * f + 1, address_of(f, 0), 4 * EACH});
    }
    for (uint32_t i = 0; i < CODE; i++) {
        uint32_t f = i / EACH;
        bool known = f < FUNCTIONS;
        struct as_store_location at = {.address = known ? address_of(f, i % EACH) : 0x500000 + 4 * i,
                                       .module = known   ? module_of(f)
                                                 : i % 2 ? 0
                                                         : NONE,
                                       .function = known ? f : NONE,
                                       .block = NONE,
                                       .inlined = i % 7 == 2   ? 1
                                                  : i % 7 == 5 ? 0
                                                               : NONE,
                                       .file = !known || f % 4 == 3 ? NONE
                                               : i % 5 == 1         ? 1 - f % 2
                                                                    : f % 2,
                                       .line = !known || f % 4 == 3 ? 0 : 10 * f + 2 + i % EACH};
        bool calls = i % EACH == 1 || i % EACH == 2;
        as_store_add_instruction(writer,
                                 &(struct as_store_insn){at, 0, calls ? "call rax" : "add rax, 1",
                                                         calls ? "call_indirect" : "int", (const uint8_t *)"\x90", 1});
    }
}

/* Functions call one another and themselves, from two instructions each. */
static void add_paths(struct as_store_writer *writer)
{
    for (uint32_t i = 0; i < PATHS; i++) {
        uint32_t parent = i < 3 ? NONE : below(i), function = i ? below(FUNCTIONS) : 0;
        uint32_t site = parent == NONE || i % 11 == 0 ? NONE : EACH * made.function[parent] + 1 + i % 2;
        made.function[i] = function;
        as_store_add_path(
            writer, &(struct as_store_path){parent, function, site, address_of(function, 0),
                                            site == NONE ? 0 : address_of(made.function[parent], 1 + i % 2), false});
    }
}

static void draw_times(void)
{
    for (int n = 0; n < DRAWS; n++) {
        uint32_t thread = below(THREADS), path = below(PATHS), mask = below(MASKS), units = 1 + below(40);
        uint32_t insn = EACH * made.function[path] + below(EACH);
        made.time[thread][insn][mask] += units;
        made.path_time[thread][path][mask] += units;
        made.samples[thread][insn]++;
        made.path_samples[thread][path][insn]++;
    }
    for (uint32_t i = FUNCTIONS * EACH; i < CODE; i++) { /* on no path */
        made.time[1][i][0] = 5 + i;
        made.samples[1][i] = 3;
    }
}

static void add_golden(struct as_store_writer *writer)
{
    uint32_t s = as_store_add_series(
        writer, &(struct as_store_series){
                    .name = "golden", .exact = true, .unit = "cycles", .scale = 8, .precise = -1, .events = 3});
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t i = 0; i < CODE; i++) {
            uint64_t sum = 0;
            for (uint32_t m = 0; m < MASKS; m++)
                sum += made.time[t][i][m];
            if (sum)
                as_store_add_time(writer, &(struct as_store_time){s, t, i, sum, 0, 1 + (t + 3 * i) % 20});
            for (uint32_t m = 0; m < MASKS; m++)
                if (made.time[t][i][m])
                    as_store_add_component(writer, &(struct as_store_component){s, t, i, m, made.time[t][i][m], 0});
        }
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t p = 0; p < PATHS; p++) {
            uint64_t sum = 0;
            for (uint32_t m = 0; m < MASKS; m++)
                sum += made.path_time[t][p][m];
            if (sum)
                as_store_add_path_time(writer, &(struct as_store_path_time){s, t, p, NONE, sum, 0});
            for (uint32_t m = 0; m < MASKS; m++)
                if (made.path_time[t][p][m])
                    as_store_add_path_component(
                        writer, &(struct as_store_path_component){s, t, p, m, made.path_time[t][p][m], 0});
        }
}

static void add_sampled(struct as_store_writer *writer)
{
    uint64_t n = 0;
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t i = 0; i < CODE; i++)
            n += made.samples[t][i];
    uint32_t s = as_store_add_series(writer, &(struct as_store_series){.name = "cycles:ppp",
                                                                       .unit = "cycles",
                                                                       .scale = 1,
                                                                       .event = "cycles",
                                                                       .precise = 3,
                                                                       .period = 700,
                                                                       .samples = n});
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t i = 0; i < CODE; i++)
            if (made.samples[t][i])
                as_store_add_time(writer,
                                  &(struct as_store_time){s, t, i, 700 * made.samples[t][i], made.samples[t][i], 0});
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t p = 0; p < PATHS; p++)
            for (uint32_t i = 0; i < CODE; i++)
                if (made.path_samples[t][p][i])
                    as_store_add_path_time(writer,
                                           &(struct as_store_path_time){s, t, p, i, 700 * made.path_samples[t][p][i],
                                                                        made.path_samples[t][p][i]});
}

static struct as_store *make_store(void)
{
    const char *path = bed_path("random.db");
    struct as_store_writer *writer = bed_writer(path);
    made.random = 3;
    add_run(writer);
    add_code(writer);
    add_paths(writer);
    draw_times();
    add_golden(writer);
    add_sampled(writer);
    bed_commit(writer);
    return bed_open(path);
}

/* ---- protocol buffers ---- */

static uint64_t varint(const uint8_t **at, const uint8_t *end)
{
    uint64_t value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            break;
    }
    return value;
}

/* "2{1:5 2:[7 9]}": what is not a text, which field 6 of the whole is, is a message or a list of numbers (fields 1 and 2 of a sample). */
static void write_message(FILE *out, const uint8_t *at, const uint8_t *end, uint64_t within)
{
    while (at < end) {
        uint64_t key = varint(&at, end), field = key >> 3;
        fprintf(out, "%" PRIu64, field);
        if ((key & 7) == 0) {
            fprintf(out, ":%" PRIu64 " ", varint(&at, end));
            continue;
        }
        assert_int_equal(key & 7, 2);
        uint64_t size = varint(&at, end);
        const uint8_t *inner = at;
        at += size;
        assert_true(at <= end);
        if (!within && field == 6) {
            fprintf(out, " '%.*s'\n", (int)size, (const char *)inner);
        } else if (within == 2 && field < 3) {
            fprintf(out, "[");
            while (inner < at)
                fprintf(out, "%" PRIu64 " ", varint(&inner, at));
            fprintf(out, "]");
        } else {
            fprintf(out, "{");
            write_message(out, inner, at, within * 10 + field);
            fprintf(out, within ? "}" : "}\n");
        }
    }
}

static void write_format(FILE *out, struct as_store *store, const struct as_export_format *format,
                         struct as_export_options options)
{
    size_t size;
    options.uncompressed = true;
    char *text = export_written(store, format->name, options, &size);
    if (format->binary)
        write_message(out, (const uint8_t *)text, (const uint8_t *)text + size, 0);
    else
        fwrite(text, 1, size, out);
    fprintf(out, "\n");
    free(text);
}

static void all_formats(void **state)
{
    static const bool some[THREADS] = {false, true, true};
    static const struct as_export_options options[] = {{0}, {.series = "cycles:ppp", .threads = some}, {.samples = 25}};
    static const char *const names[] = {"golden", "two threads of cycles:ppp", "25 samples"};
    struct as_store *store = make_store();
    FILE *out = unit_golden_begin();
    for (size_t i = 0; as_export_formats[i]; i++)
        for (size_t k = 0; k < 3; k++) {
            if (strcmp(as_export_formats[i]->name, "json") == 0 ||
                (k == 2 && strcmp(as_export_formats[i]->name, "perf-script") != 0))
                continue;
            unit_golden_section(out, "%s, %s", as_export_formats[i]->name, names[k]);
            write_format(out, store, as_export_formats[i], options[k]);
        }
    as_store_close(store);
    unit_golden_check(out, "export_random.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_formats)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
