/* Stacks in exports, of code that is not as simple as a function with a name: inlined calls, functions without a name or a symbol,
 * callers whose call is not in the profile.
 *
 *   shop.so (mapped at 0x100): 0x1100 in "main"      line 12
 *                              0x1110 in "main"      "square" (line 31), inlined into "sum" at line 21, that into main at line 13
 *                              0x1200 in a function without a name, which begins at 0x1200
 *                              0x1300 in no function
 *   call paths: main; main > (nameless), called at 0x1108, of which the profile has no instruction;
 *               main > (nameless) > main, whose call site is code of another function
 */
#include "unit.h"

#include "base/alloc.h"
#include "export/export.h"
#include "export/export_internal.h"
#include "export_bed.h"
#include "store_bed.h"

#include <stdio.h>
#include <zlib.h>

#define NONE AS_STORE_NONE

static struct as_store *store;

static void add_code(struct as_store_writer *writer)
{
    as_store_add_meta(writer, AS_META_SERIES, "golden");
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 100, 10, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/lib/shop.so", .base = 0x100});
    as_store_add_file(writer, "main.c");
    as_store_add_file(writer, "sum.h");
    as_store_add_file(writer, "square.h");
    as_store_add_function(writer, &(struct as_store_function){"main", "main", 0, 0, 10, 0x1100, 0x100});
    as_store_add_function(writer, &(struct as_store_function){NULL, NULL, 0, NONE, 0, 0x1200, 0x10});
    as_store_add_inline(writer, &(struct as_store_inline){NONE, "sum", 0, 13});
    as_store_add_inline(writer, &(struct as_store_inline){0, "square", 1, 21});
    const struct as_store_location code[] = {
        {0x1100, 0, 0, NONE, 0, 12, NONE},
        {0x1110, 0, 0, NONE, 2, 31, 1},
        {0x1200, 0, 1, NONE, NONE, 0, NONE},
        {0x1300, 0, NONE, NONE, NONE, 0, NONE},
    };
    for (size_t i = 0; i < 4; i++)
        as_store_add_instruction(writer, &(struct as_store_insn){.location = code[i]});
    as_store_add_path(writer, &(struct as_store_path){NONE, 0, NONE, 0x1100, 0, false});
    as_store_add_path(writer, &(struct as_store_path){0, 1, NONE, 0x1200, 0x1108, false});
    as_store_add_path(writer, &(struct as_store_path){1, 0, 0, 0x1100, 0, false});
}

static int set_up(void **state)
{
    struct as_store_writer *writer = bed_writer(bed_path("stacks.db"));
    add_code(writer);
    uint32_t s = as_store_add_series(
        writer, &(struct as_store_series){
                    .name = "golden", .unit = "cycles", .scale = 1, .precise = -1, .samples = 4, .period = 10});
    const struct {
        uint32_t instruction, path;
        uint64_t units;
    } times[] = {{0, 2, 10}, {1, 0, 20}, {2, 1, 30}, {3, NONE, 40}};
    for (size_t i = 0; i < 4; i++) {
        as_store_add_time(writer, &(struct as_store_time){s, 0, times[i].instruction, times[i].units, 1, 0});
        if (times[i].path != NONE)
            as_store_add_path_time(
                writer, &(struct as_store_path_time){s, 0, times[i].path, times[i].instruction, times[i].units, 1});
    }
    bed_commit(writer);
    store = bed_open(bed_path("stacks.db"));
    return 0;
}

static int tear_down(void **state)
{
    as_store_close(store);
    return 0;
}

static char *written(const char *format, struct as_export_options options, size_t *size)
{
    return export_written(store, format, options, size);
}

static bool has_line(const char *text, const char *line)
{
    size_t length = strlen(line);
    for (const char *at = text; (at = strstr(at, line)); at++)
        if ((at == text || at[-1] == '\n') && at[length] == '\n')
            return true;
    return false;
}

static void names_of_frames(void **state)
{
    size_t size;
    char *text = written("folded", (struct as_export_options){0}, &size);
    static const char *const lines[] = {"main;shop.so+0x1100;main 10", "main;sum;square 20", "main;shop.so+0x1100 30",
                                        "[shop.so] 40"};
    for (size_t i = 0; i < 4; i++)
        if (!has_line(text, lines[i]))
            fail_msg("'%s' is not in: %s", lines[i], text);
    free(text);
}

/* By call path. Each caller has an address: of its call where that is known, otherwise of its entry. */
static void addresses_of_callers(void **state)
{
    size_t size;
    char *text = written("perf-script", (struct as_export_options){0}, &size);
    assert_string_equal(text, "thread_1 7/1     0.000000:         20 cycles: \n"
                              "\t            1110 square (inlined)\n"
                              "\t            1110 sum (inlined)\n"
                              "\t            1110 main+0x10 (/lib/shop.so)\n\n"
                              "thread_1 7/1     0.000001:         30 cycles: \n"
                              "\t            1200 shop.so+0x1100+0x0 (/lib/shop.so)\n"
                              "\t            1108 main+0x8 (/lib/shop.so)\n\n"
                              "thread_1 7/1     0.000002:         10 cycles: \n"
                              "\t            1100 main+0x0 (/lib/shop.so)\n"
                              "\t            1200 shop.so+0x1100+0x0 (/lib/shop.so)\n"
                              "\t            1108 main+0x8 (/lib/shop.so)\n\n"
                              "thread_1 7/1     0.000003:         40 cycles: \n"
                              "\t            1300 [unknown] (/lib/shop.so)\n\n");
    free(text);
}

/* pprof is compressed unless it is asked not to be, and is the same otherwise. */
static void compressed_is_the_same(void **state)
{
    size_t plain_size, size;
    char *plain = written("pprof", (struct as_export_options){.uncompressed = true}, &plain_size);
    char *packed = written("pprof", (struct as_export_options){0}, &size);
    char *unpacked = as_alloc(plain_size + 1);
    z_stream stream = {.next_in = (void *)packed,
                       .avail_in = (uInt)size,
                       .next_out = (void *)unpacked,
                       .avail_out = (uInt)plain_size + 1};
    assert_int_equal(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    assert_int_equal(stream.total_out, plain_size);
    assert_memory_equal(unpacked, plain, plain_size);
    inflateEnd(&stream);
    free(unpacked);
    free(packed);
    free(plain);
}

static void a_series_that_is_not_there(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    assert_false(as_export_no_series(store, "silver", &err));
    assert_int_equal(err.status, AS_EXIT_USAGE);
    assert_non_null(strstr(err.message, "--series=silver: "));
    assert_non_null(strstr(err.message, "its series are golden"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_frames),
        cmocka_unit_test(addresses_of_callers),
        cmocka_unit_test(compressed_is_the_same),
        cmocka_unit_test(a_series_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
