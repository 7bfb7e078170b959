/* Writes a profile for the tests of exports: `export_profile small|hostile|empty|large FILE`.
 *
 * small: a program of two threads with inlined code, recursion, an indirect call and two series: "golden", exact, with
 * components in eighths of a cycle, paths as wholes; "cycles:ppp", samples, paths by instruction.
 * hostile: the same shape with names that try to break out of every format. empty: no times at all.
 * large: many functions, paths and threads.
 */
#include "store/store_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE AS_STORE_NONE

struct names {
    const char *program, *library, *source, *main, *f, *g, *outer, *inner, *thread, *event;
};

static const struct names plain = {"/opt/demo/bin/demo",
                                   "/usr/lib/libwork.so.1",
                                   "src/demo.c",
                                   "main",
                                   "f(int, char const*)",
                                   "std::vector<int>::push_back(int&&)",
                                   "outer",
                                   "inner",
                                   "worker",
                                   "ST-L1"};

static void add_run(struct as_store_writer *writer, const struct names *names)
{
    as_store_add_meta(writer, AS_META_PROGRAM, names->program);
    as_store_add_meta(writer, AS_META_SOURCE, "model");
    as_store_add_meta(writer, AS_META_SERIES, "golden");
    as_store_add_meta(writer, AS_META_DATE, "2026-01-02T03:04:05Z");
    as_store_add_meta_double(writer, AS_META_SECONDS, 0.5);
    as_store_add_argument(writer, names->program);
    as_store_add_argument(writer, names->main);
    as_store_add_environment(writer, "LANG=C");
    as_store_add_recording(writer, "000102030405060708090a0b0c0d0e0f");
    as_store_add_machine(writer, "rob", "192");
    as_store_add_counter(writer, "branches", 77);
    as_store_add_quality(writer, "advice", 0.25, names->f);
    as_store_add_run(writer, &(struct as_store_run){1, 1000, 900, 10, 0.5, 0});
    as_store_add_thread(writer, &(struct as_store_thread){1, 4711, NULL, 600, 500, 6});
    as_store_add_thread(writer, &(struct as_store_thread){2, 4711, names->thread, 400, 400, 4});
    as_store_add_event(writer, &(struct as_store_event){0, names->event, "missed", NONE, "stalled"});
    as_store_add_event(writer, &(struct as_store_event){1, "FL-MB", NULL, NONE, "flushed"});
    as_store_add_state(writer, &(struct as_store_state){"stalled", NULL});
}

/* main 0x401000 calls f at 0x401008, f 0x401100 calls itself at 0x401104 and g in the library at 0x401108; 0x401200 is
 * in no function. */
static void add_code(struct as_store_writer *writer, const struct names *names)
{
    as_store_add_module(writer, &(struct as_store_module){.path = names->program, .build_id = "0123abcd"});
    as_store_add_module(writer, &(struct as_store_module){.path = names->library, .base = UINT64_C(0x7f0000000000)});
    as_store_add_file(writer, names->source);
    as_store_add_file(writer, "src/inline.h");
    as_store_add_function(writer, &(struct as_store_function){names->main, "main", 0, 0, 10, 0x401000, 32});
    as_store_add_function(writer, &(struct as_store_function){names->f, "_Z1fiPKc", 0, 0, 30, 0x401100, 16});
    as_store_add_function(writer,
                          &(struct as_store_function){names->g, NULL, 1, NONE, 0, UINT64_C(0x7f0000001000), 64});
    as_store_add_block(writer, &(struct as_store_block){0, 0x401000, 16});
    as_store_add_inline(writer, &(struct as_store_inline){NONE, names->outer, 0, 12});
    as_store_add_inline(writer, &(struct as_store_inline){0, names->inner, 1, 3});
    const struct {
        struct as_store_location location;
        const char *text, *class_;
        uint64_t target;
    } code[] = {
        {{0x401000, 0, 0, 0, 0, 11, NONE}, "nop", "nop", 0},
        {{0x401004, 0, 0, 0, 1, 4, 1}, "mov rax, qword ptr [rbx]", "load", 0},
        {{0x401008, 0, 0, 0, 0, 13, NONE}, "call 0x401100", "call", 0x401100},
        {{0x401100, 0, 1, NONE, 0, 31, NONE}, "add rax, 1", "int", 0},
        {{0x401104, 0, 1, NONE, 0, 32, NONE}, "call 0x401100", "call", 0x401100},
        {{0x401108, 0, 1, NONE, 0, 33, NONE}, "call rax", "call_indirect", 0},
        {{UINT64_C(0x7f0000001000), 1, 2, NONE, NONE, 0, NONE}, "ret", "return", 0},
        {{0x401200, 0, NONE, NONE, NONE, 0, NONE}, NULL, NULL, 0},
    };
    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        as_store_add_instruction(writer, &(struct as_store_insn){code[i].location, code[i].target, code[i].text,
                                                                 code[i].class_, (const uint8_t *)"\x90", 1});
    const struct as_store_path paths[] = {
        {NONE, 0, NONE, 0x401000, 0, false},                  /* main */
        {0, 1, 2, 0x401100, 0x401008, false},                 /* main > f */
        {1, 1, 4, 0x401100, 0x401104, false},                 /* main > f > f */
        {1, 2, 5, UINT64_C(0x7f0000001000), 0x401108, false}, /* main > f > g */
        {2, 2, 5, UINT64_C(0x7f0000001000), 0x401108, false}, /* main > f > f > g */
        {NONE, 2, NONE, UINT64_C(0x7f0000001000), 0, false},  /* g, where a thread starts */
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        as_store_add_path(writer, &paths[i]);
}

/* Golden: instruction i has 80 * (i + 1) + 3 units of 1/8 in the first thread, a third of it with an event; the last
 * two have some in the second thread as well. */
static void add_golden(struct as_store_writer *writer)
{
    uint32_t series = as_store_add_series(writer, &(struct as_store_series){.name = "golden",
                                                                            .description = "all cycles",
                                                                            .exact = true,
                                                                            .unit = "cycles",
                                                                            .scale = 8,
                                                                            .precise = -1,
                                                                            .events = 3});
    for (uint32_t i = 0; i < 8; i++) {
        uint64_t units = 80 * (i + 1) + 3, part = units / 3;
        as_store_add_time(writer, &(struct as_store_time){series, 0, i, units, 0, 10 * (i + 1)});
        as_store_add_component(writer, &(struct as_store_component){series, 0, i, 0, units - 2 * part, 0});
        as_store_add_component(writer, &(struct as_store_component){series, 0, i, 1, part, 0});
        as_store_add_component(writer, &(struct as_store_component){series, 0, i, 3, part, 0});
        as_store_add_state_time(writer, &(struct as_store_state_time){series, 0, i, 0, units});
        if (i < 6)
            continue;
        as_store_add_time(writer, &(struct as_store_time){series, 1, i, 400 + i, 0, 5});
        as_store_add_component(writer, &(struct as_store_component){series, 1, i, 2, 400 + i, 0});
    }
    const uint64_t own[] = {489, 600, 600, 300, 250, 0};
    for (uint32_t i = 0; i < 6; i++) {
        if (!own[i])
            continue;
        as_store_add_path_time(writer, &(struct as_store_path_time){series, 0, i, NONE, own[i], 0});
        as_store_add_path_component(writer, &(struct as_store_path_component){series, 0, i, 0, own[i] - own[i] / 3, 0});
        as_store_add_path_component(writer, &(struct as_store_path_component){series, 0, i, 3, own[i] / 3, 0});
    }
    as_store_add_path_time(writer, &(struct as_store_path_time){series, 1, 5, NONE, 406, 0});
    as_store_add_path_component(writer, &(struct as_store_path_component){series, 1, 5, 2, 406, 0});
    as_store_add_stack(writer, &(struct as_store_stack){series, "states", "stalled", 2904});
    as_store_add_estimate(writer, &(struct as_store_estimate){series, "error", "function", 0.0});
}

static void add_samples(struct as_store_writer *writer)
{
    uint32_t series = as_store_add_series(writer, &(struct as_store_series){.name = "cycles:ppp",
                                                                            .unit = "cycles",
                                                                            .scale = 1,
                                                                            .event = "cycles:ppp",
                                                                            .precise = 3,
                                                                            .period = 101,
                                                                            .samples = 7,
                                                                            .lost = 1,
                                                                            .throttled = 2,
                                                                            .dropped = 3});
    as_store_add_time(writer, &(struct as_store_time){series, 0, 3, 310, 3, 0});
    as_store_add_time(writer, &(struct as_store_time){series, 0, 6, 202, 2, 0});
    as_store_add_time(writer, &(struct as_store_time){series, 1, 6, 203, 2, 0});
    as_store_add_path_time(writer, &(struct as_store_path_time){series, 0, 1, 3, 101, 1});
    as_store_add_path_time(writer, &(struct as_store_path_time){series, 0, 2, 3, 209, 2});
    as_store_add_path_time(writer, &(struct as_store_path_time){series, 0, 4, 6, 202, 2});
    as_store_add_path_time(writer, &(struct as_store_path_time){series, 1, 5, 6, 102, 1});
    uint32_t table = as_store_add_object(writer, &(struct as_store_object){0, "table", 0x404000, 4096});
    as_store_add_access(writer, &(struct as_store_access){series, 0, 3, 0x404008, 8, AS_STORE_LOAD,
                                                          AS_STORE_HOW_HARDWARE, table, 310, 3});
    as_store_add_access(writer, &(struct as_store_access){series, 1, 6, 0x7ffe0000, 0, AS_STORE_LOAD | AS_STORE_STORE,
                                                          AS_STORE_HOW_WATCHED, NONE, 203, 2});
}

static void add_small(struct as_store_writer *writer, const struct names *names)
{
    add_run(writer, names);
    add_code(writer, names);
    add_golden(writer);
    add_samples(writer);
}

/* `size` bytes: a name of that length. */
static char *long_name(size_t size)
{
    char *name = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        name[i] = "very_long_name<"[i % 15];
    name[size] = 0;
    return name;
}

static void add_hostile(struct as_store_writer *writer)
{
    char *megabytes = long_name(2 << 20);
    const struct names names = {.program = "/tmp/my \"program\"\nfn=(1) evil;(x)",
                                .library = "C:\\lib,\"quoted\"\t(y)\r\n0x1 1 99999",
                                .source = "<script>alert('x')</script>\n.c",
                                .main = "main;injected 12345\nmain 99999",
                                .f = "f\xff\xfe\xc3(\"a\",'b')\x1b[31m =cmd|' /C calc'!A0",
                                .g = megabytes,
                                .outer = "\xed\xa0\x80\xf8\x88\x80\x80\x80\xc0\x80outer",
                                .inner = "]}],\"profiles\":[{\n\ntotals: 1 2 3",
                                .thread = "evil 1/2 3.4: 99999 cycles:\n\t",
                                .event = "ST L1:\n+;\"x\""};
    add_small(writer, &names);
    free(megabytes);
}

enum { FUNCTIONS = 400, CODE = 25, THREADS = 8, PATHS = 2000 };

/* Path i is called by one of the paths before it, chosen by a simple generator; every number is reproducible. */
static void add_large(struct as_store_writer *writer)
{
    uint32_t seed = 1;
    char name[32];
    as_store_add_meta(writer, AS_META_PROGRAM, "large");
    as_store_add_module(writer, &(struct as_store_module){.path = "/bin/large"});
    for (uint32_t i = 0; i < THREADS; i++)
        as_store_add_thread(writer, &(struct as_store_thread){i + 1, 1, NULL, 0, 0, 0});
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        snprintf(name, sizeof name, "function_%u", i);
        as_store_add_function(writer, &(struct as_store_function){name, name, 0, NONE, 0, 0x1000 * (i + 1), 0x1000});
        for (uint32_t k = 0; k < CODE; k++)
            as_store_add_instruction(
                writer, &(struct as_store_insn){
                            {0x1000 * (i + 1) + 4 * k, 0, i, NONE, NONE, 0, NONE}, 0, "nop", "nop", NULL, 0});
    }
    as_store_add_event(writer, &(struct as_store_event){0, "A", NULL, NONE, NULL});
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){
                    .name = "golden", .exact = true, .unit = "cycles", .scale = 720720, .precise = -1, .events = 1});
    for (uint32_t i = 0; i < PATHS; i++) {
        seed = seed * 1103515245 + 12345;
        uint32_t parent = i == 0 ? NONE : seed / 65536 % i;
        as_store_add_path(writer, &(struct as_store_path){parent, i % FUNCTIONS, NONE, 0x1000 * (i % FUNCTIONS + 1),
                                                          i ? 0x1000 + seed % 4096 : 0, false});
    }
    for (uint32_t i = 0; i < FUNCTIONS * CODE; i++)
        for (uint32_t t = i % 3; t < THREADS; t += 3) {
            uint64_t units = 720720 * (uint64_t)(i % 97 + 1) + i * 31 + t;
            as_store_add_time(writer, &(struct as_store_time){series, t, i, units, 0, 1});
            as_store_add_component(writer, &(struct as_store_component){series, t, i, 0, units / 2, 0});
            as_store_add_component(writer, &(struct as_store_component){series, t, i, 1, units - units / 2, 0});
        }
    for (uint32_t i = 0; i < PATHS; i++)
        for (uint32_t t = 0; t < THREADS; t++)
            as_store_add_path_time(
                writer, &(struct as_store_path_time){series, t, i, NONE, 720720 * (uint64_t)(i % 50) + i, 0});
}

int main(int argc, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store_writer *writer = argc == 3 ? as_store_writer_open(argv[2], &err) : NULL;
    if (!writer) {
        fprintf(stderr, "export_profile: %s\n", argc == 3 ? err.message : "usage: export_profile KIND FILE");
        return 2;
    }
    if (strcmp(argv[1], "small") == 0)
        add_small(writer, &plain);
    else if (strcmp(argv[1], "hostile") == 0)
        add_hostile(writer);
    else if (strcmp(argv[1], "large") == 0)
        add_large(writer);
    else
        as_store_add_meta(writer, AS_META_PROGRAM, "nothing");
    if (!as_store_writer_commit(writer, &err)) {
        fprintf(stderr, "export_profile: %s\n", err.message);
        return 1;
    }
    return 0;
}
