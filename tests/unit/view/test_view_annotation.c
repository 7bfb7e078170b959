/* Annotations: the instructions of a function with their times, lines, inlined functions and targets; what a profile
 * does not have, from the file. The numbers are those of view_bed.h. */
#include "unit.h"

#include "symbol/elffile.h"
#include "view/annotation.h"
#include "view_bed.h"

#include <link.h>

#define NONE AS_STORE_NONE

static struct as_annotation make(const struct as_view *view, uint32_t function, struct as_sources *sources)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_annotation annotation;
    if (!as_annotation_make(&annotation, view, function, sources, &err))
        fail_msg("%s", err.message);
    return annotation;
}

struct wanted {
    uint64_t address, units, executions;
    uint32_t length, file, line;
    bool jumps;
};

static void check_insns(const struct as_annotation *annotation, const struct wanted *wanted, size_t n)
{
    assert_int_equal(annotation->insns.len, n);
    for (size_t i = 0; i < n; i++) {
        const struct as_note_insn *insn = &annotation->insns.data[i];
        assert_int_equal(insn->address, wanted[i].address);
        assert_int_equal(insn->row.units, wanted[i].units);
        assert_int_equal(insn->row.executions, wanted[i].executions);
        assert_int_equal(insn->length, wanted[i].length);
        assert_int_equal(insn->file, wanted[i].file);
        assert_int_equal(insn->line, wanted[i].line);
        assert_int_equal(insn->jumps, wanted[i].jumps);
        assert_true(insn->recorded);
    }
}

static void a_function(void **state)
{
    static const struct wanted wanted[] = {{0x1000, 400, 10, 4, 0, 11, true},
                                           {0x1004, 200, 11, 5, 0, 12, false},
                                           {0x1009, 300, 9, 3, 1, 5, true},
                                           {0x100c, 100, 8, 4, 0, 14, true}};
    static const uint32_t lines[][3] = {{0, 11, 400}, {1, 5, 300}, {0, 12, 200}, {0, 14, 100}};
    struct as_view view = view_bed_open("shop.db", NULL);
    struct as_sources *sources = as_sources_new(NULL);
    struct as_annotation annotation = make(&view, 0, sources);
    check_insns(&annotation, wanted, 4);
    assert_int_equal(annotation.units, 1000);
    assert_int_equal(annotation.most, 400);
    assert_int_equal(annotation.rows.total, 4000);
    assert_int_equal(annotation.legend.n, 2);
    assert_int_equal(annotation.legend.units[0], 910);
    assert_string_equal(annotation.what.name, "main");
    assert_string_equal(annotation.module_note, "it no longer exists");
    assert_null(annotation.hole_note);
    assert_int_equal(annotation.lines.len, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(annotation.lines.data[i].file, lines[i][0]);
        assert_int_equal(annotation.lines.data[i].line, lines[i][1]);
        assert_int_equal(annotation.lines.data[i].units, lines[i][2]);
    }
    const struct as_note_insn *inlined = &annotation.insns.data[2];
    assert_int_equal(inlined->n_chain, 2);
    assert_string_equal(annotation.chains.data[inlined->chain], "inner");
    assert_string_equal(annotation.chains.data[inlined->chain + 1], "outer");
    assert_int_equal(annotation.insns.data[0].n_chain, 0);
    as_annotation_free(&annotation);
    as_sources_free(sources);
    as_view_free(&view);
}

static void one_thread(void **state)
{
    struct as_view view =
        view_bed_open_with(&(struct as_view_options){.file = "shop.db", .threads = VIEW_BED_WORDS("2")});
    struct as_sources *sources = as_sources_new(NULL);
    struct as_annotation annotation = make(&view, 1, sources);
    static const struct wanted wanted[] = {
        {0x1100, 400, 5, 4, 0, 21, true}, {0x1104, 0, 0, 5, 0, 22, false}, {0x1109, 0, 0, 1, 0, 23, true}};
    check_insns(&annotation, wanted, 3);
    assert_int_equal(annotation.rows.total, 660);
    assert_string_equal(annotation.hole_note, "it no longer exists"); /* 6 bytes were not executed */
    as_annotation_free(&annotation);
    as_sources_free(sources);
    as_view_free(&view);
}

/* Of one event: what instructions cost by it. */
static void one_event(void **state)
{
    static const uint64_t units[] = {0, 50, 0, 40};
    struct as_view view =
        view_bed_open_with(&(struct as_view_options){.file = "shop.db", .events = VIEW_BED_WORDS("FL-MB")});
    struct as_sources *sources = as_sources_new(NULL);
    struct as_annotation annotation = make(&view, 0, sources);
    assert_int_equal(annotation.insns.len, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(annotation.insns.data[i].row.units, units[i]);
    assert_int_equal(annotation.units, 90);
    assert_int_equal(annotation.most, 50);
    assert_int_equal(annotation.lines.data[0].line, 12);
    assert_int_equal(annotation.lines.data[0].units, 50);
    as_annotation_free(&annotation);
    as_sources_free(sources);
    as_view_free(&view);
}

static void targets_of_jumps(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL);
    struct as_sources *sources = as_sources_new(NULL);
    struct as_annotation annotation = make(&view, 0, sources);
    char text[AS_TARGET_MAX];
    const struct as_note_insn *insns = annotation.insns.data;
    assert_null(as_annotation_target(&annotation, &insns[0], text));
    assert_string_equal(as_annotation_target(&annotation, &insns[1], text), "sell");
    assert_string_equal(as_annotation_target(&annotation, &insns[3], text), "+0x0");
    struct as_note_insn other = {.target = 0x1104, .jumps = true};
    assert_string_equal(as_annotation_target(&annotation, &other, text), "sell+0x4");
    other.target = 0x100f;
    assert_string_equal(as_annotation_target(&annotation, &other, text), "+0xf");
    other.target = 0x1010;
    assert_null(as_annotation_target(&annotation, &other, text));
    other = (struct as_note_insn){.target = 0x1000}; /* it calls itself */
    assert_string_equal(as_annotation_target(&annotation, &other, text), "main");
    as_annotation_free(&annotation);
    as_sources_free(sources);
    as_view_free(&view);
}

/* Functions that cover each other, as a whole .plt covers its stubs: one that begins at the target, else the smallest. */
static void targets_in_several_functions(void **state)
{
    static const struct as_store_function functions[] = {
        {"caller", NULL, NONE, NONE, 0, 0x1000, 8},  {".plt", NULL, NONE, NONE, 0, 0x2000, 0x100},
        {"stub", NULL, NONE, NONE, 0, 0x2010, 0x10}, {"half", NULL, NONE, NONE, 0, 0x2000, 0x80},
        {"point", NULL, NONE, NONE, 0, 0x2018, 0},   {"late", NULL, NONE, NONE, 0, 0x2010, 0x40}};
    static const struct {
        uint64_t target;
        const char *name;
    } wanted[] = {{0x2010, "stub"}, {0x2014, "stub+0x4"},  {0x2018, "point"},     {0x2019, "stub+0x9"},
                  {0x2000, ".plt"}, {0x2030, "late+0x20"}, {0x2060, "half+0x60"}, {0x2090, ".plt+0x90"}};
    struct as_store_writer *writer = bed_writer("plt.db");
    as_store_add_series(writer,
                        &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1, .precise = -1});
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        as_store_add_function(writer, &functions[i]);
    bed_commit(writer);
    struct as_view view = view_bed_open("plt.db", NULL);
    struct as_sources *sources = as_sources_new(NULL);
    struct as_annotation annotation = make(&view, 0, sources);
    char text[AS_TARGET_MAX];
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct as_note_insn insn = {.target = wanted[i].target, .jumps = true};
        assert_string_equal(as_annotation_target(&annotation, &insn, text), wanted[i].name);
    }
    as_annotation_free(&annotation);
    as_sources_free(sources);
    as_view_free(&view);
}

static void code_in_no_function(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view view = view_bed_open("shop.db", NULL);
    struct as_sources *sources = as_sources_new(NULL);
    struct as_annotation annotation;
    static const struct wanted both[] = {{0x2000, 240, 3, 1, NONE, 0, true}, {0x2040, 0, 0, 1, NONE, 0, true}},
                               alone[] = {{0x2100, 0, 0, 2, NONE, 0, true}};
    for (uint32_t i = 8; i <= 9; i++) { /* 63 bytes between two are still together */
        assert_true(as_annotation_make_outside(&annotation, &view, i, sources, &err));
        check_insns(&annotation, both, 2);
        assert_int_equal(annotation.function, NONE);
        assert_null(annotation.what.name);
        assert_int_equal(annotation.what.address, 0x2000);
        assert_int_equal(annotation.what.size, 0x41);
        assert_int_equal(annotation.units, 240);
        assert_int_equal(annotation.rows.total, 4000);
        assert_string_equal(annotation.insns.data[1].text, "?");
        assert_int_equal(annotation.lines.len, 0);
        assert_int_equal(annotation.legend.total, 240);
        as_annotation_free(&annotation);
    }
    assert_true(as_annotation_make_outside(&annotation, &view, 10, sources, &err));
    check_insns(&annotation, alone, 1);
    assert_int_equal(annotation.what.size, 2);
    assert_null(annotation.hole_note);
    as_annotation_free(&annotation);
    as_sources_free(sources);
    as_view_free(&view);
}

static void source_lines(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL);
    view_bed_file("shop.c", "one\ntwo\n");
    struct as_sources *sources = as_sources_new(".");
    struct as_annotation annotation = make(&view, 0, sources);
    assert_string_equal(as_annotation_source(&annotation, 0, 2), "two");
    assert_null(as_annotation_source(&annotation, 0, 3));
    assert_null(as_annotation_source(&annotation, NONE, 1));
    assert_string_equal(as_annotation_file(&annotation, 1), "/opt/src/till.h");
    assert_null(as_annotation_file(&annotation, 2));
    as_annotation_free(&annotation);
    as_sources_free(sources);
    as_view_free(&view);
}

/* An instruction at the end of a page may have been met in part: the whole one is shown. */
static void beginnings_are_dropped(void **state)
{
    struct as_store_writer *writer = bed_writer("pages.db");
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1, .precise = -1});
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_function(writer, &(struct as_store_function){"f", NULL, NONE, NONE, 0, 16, 12});
    static const struct {
        uint64_t address;
        size_t n_bytes;
        uint64_t units, samples, executions;
    } code[] = {{16, 2, 0, 0, 0}, {16, 4, 5, 1, 0}, {20, 4, 6, 1, 0}, {20, 3, 0, 0, 0},
                {24, 2, 0, 0, 1}, {24, 4, 7, 1, 0}, {28, 2, 0, 1, 0}, {28, 4, 0, 0, 0}};
    for (uint32_t i = 0; i < 8; i++) {
        as_store_add_instruction(writer, &(struct as_store_insn){{code[i].address, NONE, 0, NONE, NONE, 0, NONE},
                                                                 0,
                                                                 "nop",
                                                                 NULL,
                                                                 (const uint8_t *)"abcd",
                                                                 code[i].n_bytes});
        if (code[i].units || code[i].samples || code[i].executions)
            as_store_add_time(
                writer, &(struct as_store_time){series, 0, i, code[i].units, code[i].samples, code[i].executions});
    }
    bed_commit(writer);
    struct as_view view = view_bed_open("pages.db", NULL);
    struct as_sources *sources = as_sources_new(NULL);
    struct as_annotation annotation = make(&view, 0, sources);
    static const uint32_t lengths[] = {4, 4, 2, 4, 2, 4};
    assert_int_equal(annotation.insns.len, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(annotation.insns.data[i].length, lengths[i]);
    assert_null(annotation.hole_note);
    as_annotation_free(&annotation);
    as_sources_free(sources);
    as_view_free(&view);
}

/* ---- from the file ---- */

__attribute__((naked, noinline, used)) static void view_helper(void)
{
    __asm__("ret");
}

/* Two instructions of two bytes, and a jump over one of five bytes to a call at 0xb. */
__attribute__((naked, noinline, used)) static void view_victim(void)
{
    __asm__("xor %%eax, %%eax; xor %%ebx, %%ebx; jmp 1f; mov $0x01020304, %%eax; 1: call %P0; ret"
            :
            : "i"(view_helper));
}

static int find_base(struct dl_phdr_info *info, size_t size, void *base)
{
    *(uint64_t *)base = info->dlpi_addr;
    return 1; /* the program is the first */
}

/* The profile has one instruction, at `offset`; the file has the others. */
static struct as_view open_victim(uint64_t size, uint64_t offset, size_t length)
{
    static char program[256];
    uint64_t base = 0, address = (uintptr_t)view_victim;
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    dl_iterate_phdr(find_base, &base);
    struct as_store_writer *writer = bed_writer("victim.db");
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1, .precise = -1});
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = program, .base = base});
    as_store_add_function(writer, &(struct as_store_function){"victim", NULL, 0, NONE, 0, address, size});
    as_store_add_instruction(writer, &(struct as_store_insn){{address + offset, 0, 0, NONE, NONE, 0, NONE},
                                                             0,
                                                             "xor ebx, ebx",
                                                             NULL,
                                                             (const uint8_t *)"\x31\xdb\x90",
                                                             length});
    as_store_add_time(writer, &(struct as_store_time){series, 0, 0, 9, 1, 0});
    bed_commit(writer);
    return view_bed_open("victim.db", NULL);
}

static void holes_are_filled_from_the_file(void **state)
{
    static const char *const texts[] = {"xor eax, eax", "xor ebx, ebx", "jmp", "mov eax, 0x1020304", "call", "ret"};
    static const uint32_t offsets[] = {0, 2, 4, 6, 11, 16};
    uint64_t start = (uintptr_t)view_victim;
    struct as_view view = open_victim(17, 2, 2);
    struct as_sources *sources = as_sources_new(NULL);
    struct as_annotation annotation = make(&view, 0, sources);
    char text[AS_TARGET_MAX];
    assert_null(annotation.hole_note);
    assert_null(annotation.module_note);
    assert_int_equal(annotation.insns.len, 6);
    for (size_t i = 0; i < 6; i++) {
        const struct as_note_insn *insn = &annotation.insns.data[i];
        assert_int_equal(insn->address - start, offsets[i]);
        assert_memory_equal(insn->text, texts[i], strlen(texts[i]));
        assert_int_equal(insn->recorded, i == 1);
        assert_int_equal(insn->row.units, i == 1 ? 9 : 0);
        assert_int_equal(insn->jumps, i != 4);
    }
    assert_int_equal(annotation.insns.data[2].target, start + 11);
    assert_string_equal(as_annotation_target(&annotation, &annotation.insns.data[2], text), "+0xb");
    /* The profile has no name for it, the file has. */
    assert_string_equal(as_annotation_target(&annotation, &annotation.insns.data[4], text), "view_helper");
    assert_int_equal(annotation.units, 9);
    as_annotation_free(&annotation);
    as_sources_free(sources);
    as_view_free(&view);
}

/* A function with another one in it, in a section of its own, whose ends the linker names. */
__attribute__((always_inline)) static inline unsigned view_inner(volatile unsigned *cell)
{
    *cell = *cell * 3 + 1;
    return *cell;
}
__attribute__((noinline, used, section("view_inlined"))) static unsigned view_outer(volatile unsigned *cell)
{
    *cell += 5;
    unsigned seen = view_inner(cell);
    *cell ^= seen;
    return seen;
}
extern const char __start_view_inlined[], __stop_view_inlined[];

static struct as_view open_inlined(void)
{
    static char program[256];
    uint64_t base = 0, start = (uintptr_t)__start_view_inlined, size = (uintptr_t)__stop_view_inlined - start;
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    dl_iterate_phdr(find_base, &base);
    struct as_store_writer *writer = bed_writer("inlined.db");
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1, .precise = -1});
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_file(writer, "other.c");
    as_store_add_file(writer, "another.c");
    as_store_add_module(writer, &(struct as_store_module){.path = program, .base = base});
    as_store_add_function(writer, &(struct as_store_function){"view_outer", NULL, 0, NONE, 0, start, size});
    as_store_add_instruction(writer,
                             &(struct as_store_insn){{start, 0, 0, NONE, 1, 77, NONE}, 0, "recorded", NULL, NULL, 0});
    as_store_add_time(writer, &(struct as_store_time){series, 0, 0, 9, 1, 0});
    bed_commit(writer);
    return view_bed_open("inlined.db", NULL);
}

/* What is added from the file has its source, which comes behind the files of the profile, and what it is inlined from. */
static void holes_have_lines_and_inlined_calls(void **state)
{
    volatile unsigned cell = 1;
    assert_int_equal(view_outer(&cell), 19);
    struct as_view view = open_inlined();
    struct as_sources *sources = as_sources_new(NULL);
    struct as_annotation annotation = make(&view, 0, sources);
    size_t own = 0, inlined = 0;
    for (size_t i = 0; i < annotation.insns.len; i++) {
        const struct as_note_insn *insn = &annotation.insns.data[i];
        const char *file = as_annotation_file(&annotation, insn->file);
        assert_non_null(file);
        if (insn->recorded) {
            assert_string_equal(file, "another.c");
            continue;
        }
        assert_non_null(strstr(file, "test_view_annotation.c"));
        assert_int_equal(insn->file, 2);
        assert_true(insn->line > 0);
        own += insn->n_chain == 0;
        inlined += insn->n_chain == 1;
        if (insn->n_chain)
            assert_string_equal(annotation.chains.data[insn->chain], "view_inner");
    }
    assert_true(own > 0 && inlined > 0);
    assert_int_equal(annotation.chains.len, inlined);
    as_annotation_free(&annotation);
    as_sources_free(sources);
    as_view_free(&view);
}

/* Bytes before an instruction of the profile that decoding would run into are no code. */
static void what_is_no_code(void **state)
{
    struct as_view view = open_victim(17, 8, 3); /* the end of the mov */
    struct as_sources *sources = as_sources_new(NULL);
    struct as_annotation annotation = make(&view, 0, sources);
    static const uint32_t lengths[] = {2, 2, 2, 2, 3, 5, 1};
    assert_int_equal(annotation.insns.len, 7);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(annotation.insns.data[i].length, lengths[i]);
    assert_string_equal(annotation.insns.data[3].text, "(data)");
    assert_int_equal(annotation.insns.data[3].target, 0);
    assert_true(annotation.insns.data[4].recorded);
    as_annotation_free(&annotation);
    as_view_free(&view);
    view = open_victim(17, 2, 0); /* an instruction of unknown length: the file has it too */
    annotation = make(&view, 0, sources);
    assert_int_equal(annotation.insns.len, 7);
    assert_int_equal(annotation.insns.data[1].address, annotation.insns.data[2].address);
    as_annotation_free(&annotation);
    as_view_free(&view);
    view = open_victim(0, 2, 2);
    annotation = make(&view, 0, sources);
    assert_string_equal(annotation.hole_note, "its end is unknown");
    as_annotation_free(&annotation);
    as_view_free(&view);
    view = open_victim(1 << 22, 2, 2); /* longer than the segment */
    annotation = make(&view, 0, sources);
    assert_string_equal(annotation.hole_note, "the function is not where it was");
    assert_int_equal(annotation.insns.len, 1);
    as_annotation_free(&annotation);
    as_view_free(&view);
    as_sources_free(sources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function),
        cmocka_unit_test(one_thread),
        cmocka_unit_test(one_event),
        cmocka_unit_test(targets_of_jumps),
        cmocka_unit_test(targets_in_several_functions),
        cmocka_unit_test(code_in_no_function),
        cmocka_unit_test(source_lines),
        cmocka_unit_test(beginnings_are_dropped),
        cmocka_unit_test(holes_are_filled_from_the_file),
        cmocka_unit_test(holes_have_lines_and_inlined_calls),
        cmocka_unit_test(what_is_no_code),
    };
    return cmocka_run_group_tests(tests, view_bed_set_up, NULL);
}
