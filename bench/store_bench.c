/* How fast profiles are written and read: makes one of any size, reads it back, and prints the times as JSON.
 *
 *   store_bench INSTRUCTIONS FILE
 *
 * Functions of 100 instructions, one thread, a golden series with two components for each instruction and a sampler
 * with one for every fourth, a call path for each function. The same numbers always give the same profile. */
#include "base/random.h"
#include "store/store_read.h"
#include "store/store_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PER_FUNCTION = 100, SCALE = 1000 };

/* Processor time: how busy the machine is otherwise does not count, nor does waiting for the disk. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void die(const struct as_error *err)
{
    fprintf(stderr, "store_bench: %s\n", err->message);
    exit(1);
}

static void add_code(struct as_store_writer *writer, uint32_t n, uint64_t *seed)
{
    static const char *const texts[] = {"mov rax, qword ptr [rsi+0x%x]", "add rdx, 0x%x", "cmp eax, 0x%x",
                                        "lea rcx, [rdi+0x%x]", "vaddpd ymm0, ymm1, ymmword ptr [rax+0x%x]"};
    struct as_store_module module = {.path = "bench/large", .base = 0x400000};
    uint32_t in = as_store_add_module(writer, &module), file = as_store_add_file(writer, "large.c"), function = 0;
    for (uint32_t i = 0; i < n; i++) {
        char text[80];
        uint64_t address = 0x400000 + (uint64_t)i * 4;
        if (i % PER_FUNCTION == 0) {
            snprintf(text, sizeof text, "function_%" PRIu32, i / PER_FUNCTION);
            struct as_store_function of = {.module = in,
                                           .name = text,
                                           .address = address,
                                           .size = 4 * PER_FUNCTION,
                                           .file = file,
                                           .line = i / 4 + 1};
            function = as_store_add_function(writer, &of);
        }
        snprintf(text, sizeof text, texts[as_random(seed) % 5], (unsigned)(as_random(seed) % 4096));
        struct as_store_insn insn = {.location = {.address = address,
                                                  .module = in,
                                                  .function = function,
                                                  .block = AS_STORE_NONE,
                                                  .file = file,
                                                  .line = i / 4 + 1,
                                                  .inlined = AS_STORE_NONE},
                                     .text = text,
                                     .class_ = "int",
                                     .bytes = (const uint8_t *)"\x48\x8b\x06\x90",
                                     .n_bytes = 4};
        as_store_add_instruction(writer, &insn);
    }
}

static void add_times(struct as_store_writer *writer, uint32_t series, uint32_t n, uint32_t step, uint64_t *seed)
{
    for (uint32_t i = 0; i < n; i += step) {
        uint64_t heat = (as_random(seed) % 1000 + 1) * (i % 7 == 0 ? 50 : 1), miss = as_random(seed) % (heat * 3) + 1;
        struct as_store_time time = {
            .series = series, .instruction = i, .units = (heat + miss) * SCALE, .samples = 1, .executions = heat};
        struct as_store_component base = {.series = series, .instruction = i, .units = heat * SCALE, .samples = 1},
                                  missed = {.series = series,
                                            .instruction = i,
                                            .events = UINT64_C(1) << (i % 3),
                                            .units = miss * SCALE,
                                            .samples = 1};
        as_store_add_time(writer, &time);
        as_store_add_component(writer, &base);
        as_store_add_component(writer, &missed);
        struct as_store_path_time path = {.series = series,
                                          .path = 1 + i / PER_FUNCTION,
                                          .instruction = AS_STORE_NONE,
                                          .units = (heat + miss) * SCALE};
        as_store_add_path_time(writer, &path);
    }
}

static void add_paths(struct as_store_writer *writer, uint32_t functions)
{
    for (uint32_t i = 0; i <= functions; i++) {
        struct as_store_path path = {.parent = i ? (i - 1) / 8 : AS_STORE_NONE,
                                     .function = i ? i - 1 : 0,
                                     .call_site = AS_STORE_NONE,
                                     .address = 0x400000};
        as_store_add_path(writer, &path);
    }
}

static void write_profile(const char *file, uint32_t n)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store_writer *writer = as_store_writer_open(file, &err);
    uint64_t seed = 7;
    if (!writer)
        die(&err);
    static const char *const names[] = {"ST-L1", "ST-LLC", "FL-MB"};
    struct as_store_thread thread = {.number = 1, .process = 1, .cycles = 1, .instructions = n};
    struct as_store_series
        golden = {.name = "golden", .exact = true, .unit = "cycles", .scale = SCALE, .precise = -1, .events = 7},
        tea = {.name = "tea", .unit = "cycles", .scale = SCALE, .precise = -1, .period = 1009, .events = 7};
    as_store_add_meta(writer, "program", "large");
    as_store_add_meta(writer, "source", "model");
    as_store_add_meta(writer, "series", "golden");
    as_store_add_thread(writer, &thread);
    for (uint32_t bit = 0; bit < 3; bit++) {
        struct as_store_event event = {.bit = bit, .name = names[bit], .parent = AS_STORE_NONE};
        as_store_add_event(writer, &event);
    }
    as_store_add_series(writer, &golden);
    as_store_add_series(writer, &tea);
    add_code(writer, n, &seed);
    add_paths(writer, (n + PER_FUNCTION - 1) / PER_FUNCTION);
    add_times(writer, 0, n, 1, &seed);
    add_times(writer, 1, n, 4, &seed);
    if (!as_store_writer_commit(writer, &err))
        die(&err);
}

static double query(struct as_store *store, enum as_store_level level, uint32_t function)
{
    struct as_store_query wanted = AS_STORE_QUERY_INIT;
    struct as_store_rows rows;
    struct as_error err = AS_ERROR_INIT;
    double begun = now();
    wanted.level = level;
    wanted.split = AS_STORE_BY_EVENTS;
    wanted.function = function;
    if (!as_store_query(store, &wanted, &rows, &err))
        die(&err);
    double took = now() - begun;
    as_store_rows_free(&rows);
    return took;
}

int main(int argc, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    unsigned long n = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    if (n < 1 || n > 50000000) {
        fprintf(stderr, "usage: store_bench INSTRUCTIONS FILE\n");
        return 2;
    }
    double begun = now();
    write_profile(argv[2], (uint32_t)n);
    double written = now();
    struct as_store *store = as_store_open(argv[2], &err);
    double opened = now();
    if (!store || !as_store_load(store, AS_STORE_CODE | AS_STORE_CALLS, &err))
        die(&err);
    double loaded = now();
    printf("{\"instructions\": %lu, \"write\": %.3f, \"open\": %.3f, \"load\": %.3f, \"functions\": %.3f, "
           "\"instructions_query\": %.3f, \"one_function\": %.5f}\n",
           n, written - begun, opened - written, loaded - opened, query(store, AS_STORE_BY_FUNCTION, AS_STORE_NONE),
           query(store, AS_STORE_BY_INSTRUCTION, AS_STORE_NONE), query(store, AS_STORE_BY_INSTRUCTION, 0));
    as_store_close(store);
    return 0;
}
