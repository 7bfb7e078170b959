/* Functions found by what a user types: names, names in modules, addresses of the run and of files, and what is said where there is
 * no such function, or several. */
#include "unit.h"

#include "view/find_function.h"
#include "view_bed.h"

#define NONE AS_STORE_NONE

/* prog lies where it was linked, lib.so 0x7000 above that. Of twice, the second has more time. */
static const struct as_store_function functions[] = {
    {"main", "main", 0, NONE, 0, 0x1000, 0x10},
    {"shop::sell(int)", "_ZN4shop4sellEi", 0, NONE, 0, 0x1100, 0x10},
    {"step.constprop.0", NULL, 0, NONE, 0, 0x1200, 0x10},
    {"twice", NULL, 0, NONE, 0, 0x1300, 0x10},
    {"twice", NULL, 1, NONE, 0, 0x8000, 0x10},
    {"give(int)", NULL, 0, NONE, 0, 0x1400, 0x10},
    {"give(int) [clone .cold]", NULL, 0, NONE, 0, 0x1500, 0x10},
    {"a:b", NULL, 1, NONE, 0, 0x8100, 0},
    {"many", NULL, 0, NONE, 0, 0x1600, 1},
    {"many", NULL, 0, NONE, 0, 0x1601, 1},
    {"many", NULL, 0, NONE, 0, 0x1602, 1},
    {"many", NULL, 0, NONE, 0, 0x1603, 1},
    {"many", NULL, 0, NONE, 0, 0x1604, 1},
};
enum { MAIN, SELL, STEP, TWICE, TWICE_LIB, GIVE, GIVE_COLD, A_B, FUNCTIONS = sizeof functions / sizeof *functions };

/* One instruction for each function; inlined code in main and give; then two outside functions. */
static void write_profile(void)
{
    struct as_store_writer *writer = bed_writer("find.db");
    as_store_add_series(writer, &(struct as_store_series){
                                    .name = "golden", .exact = true, .unit = "cycles", .scale = 1, .precise = -1});
    as_store_add_thread(writer, &(struct as_store_thread){.number = 1, .process = 1});
    as_store_add_module(writer, &(struct as_store_module){.path = "/bin/prog"});
    as_store_add_module(writer, &(struct as_store_module){.path = "/lib/lib.so", .base = 0x7000});
    as_store_add_inline(writer, &(struct as_store_inline){NONE, "outer(int)", NONE, 1});
    as_store_add_inline(writer, &(struct as_store_inline){0, "inner", NONE, 2});
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        const struct as_store_function *function = &functions[i];
        uint32_t inlined = i == MAIN ? 1 : i == GIVE ? 0 : NONE;
        as_store_add_function(writer, function);
        as_store_add_instruction(writer, &(struct as_store_insn){.location = {function->address, function->module, i,
                                                                              NONE, NONE, 0, inlined}});
        as_store_add_time(writer, &(struct as_store_time){0, 0, i, i == TWICE_LIB ? 50 : 10, 0, 1});
    }
    as_store_add_instruction(writer, &(struct as_store_insn){.location = {0x2000, 0, NONE, NONE, NONE, 0, NONE}});
    as_store_add_instruction(writer, &(struct as_store_insn){.location = {0x9000, 1, NONE, NONE, NONE, 0, NONE}});
    bed_commit(writer);
}

static int set_up(void **state)
{
    view_bed_enter();
    write_profile();
    return 0;
}

static void what_is_found(void **state)
{
    static const struct {
        const char *symbol;
        uint32_t function, instruction;
    } cases[] = {
        {"main", MAIN, NONE},
        {"prog:main", MAIN, NONE},
        {"/bin/prog:main", MAIN, NONE},
        {"shop::sell(int)", SELL, NONE},
        {"shop::sell", SELL, NONE},
        {"_ZN4shop4sellEi", SELL, NONE},
        {"sell", SELL, NONE},
        {"step", STEP, NONE},
        {"prog:twice", TWICE, NONE},
        {"lib.so:twice", TWICE_LIB, NONE},
        {"give", GIVE, NONE},
        {"a:b", A_B, NONE},
        {"lib.so:a:b", A_B, NONE},
        {"0x1000", MAIN, NONE},
        {"0x100f", MAIN, NONE},
        {"0x1100", SELL, NONE},
        {"prog:0x110f", SELL, NONE},
        {"0x8000", TWICE_LIB, NONE},
        {"lib.so:0x8000", TWICE_LIB, NONE},
        {"lib.so:0x1000", TWICE_LIB, NONE}, /* in its file */
        {"0x8100", A_B, NONE},
        {"0x2000", NONE, FUNCTIONS},
        {"0x200e", NONE, FUNCTIONS},
        {"prog:0x2000", NONE, FUNCTIONS},
        {"0x9000", NONE, FUNCTIONS + 1},
        {"lib.so:0x2000", NONE, FUNCTIONS + 1},
        {"lib.so:0x2003", NONE, FUNCTIONS + 1},
    };
    struct as_view view = view_bed_open("find.db", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_error err = AS_ERROR_INIT;
        struct as_function_found found;
        if (!as_function_find(&view, cases[i].symbol, &found, &err))
            fail_msg("%s: %s", cases[i].symbol, err.message);
        if (found.function != cases[i].function || found.instruction != cases[i].instruction)
            fail_msg("%s: function %d, instruction %d", cases[i].symbol, (int)found.function, (int)found.instruction);
    }
    as_view_free(&view);
}

static void what_is_not(void **state)
{
    static const struct {
        const char *symbol, *said;
    } cases[] = {
        {"mian", "no function 'mian' in the profile; did you mean main"},
        {"wice", "twice"},
        {"xyzzyxyzzy", "no function 'xyzzyxyzzy' in the profile"},
        {"lib.so:main", "no function 'lib.so:main' in the profile"},
        {"0x1010", "no function '0x1010' in the profile"},
        {"0x200f", "no function '0x200f' in the profile"},
        {"0x8101", "no function '0x8101' in the profile"},
        {"0x", "no function '0x' in the profile"},
        {"0x1000z", "no function '0x1000z' in the profile"},
        {"twice", "'twice' is ambiguous: twice at 0x8000 (lib.so), twice at 0x1300 (prog); give MODULE:NAME"},
        {"many", "many at 0x1603 (prog) and 1 more; give"},
        {"outer", "'outer' is not a separate function: it was inlined into main, give(int); "},
        {"inner", "'inner' is not a separate function: it was inlined into main; "},
    };
    struct as_view view = view_bed_open("find.db", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_error err = AS_ERROR_INIT;
        struct as_function_found found;
        if (as_function_find(&view, cases[i].symbol, &found, &err))
            fail_msg("%s was found", cases[i].symbol);
        if (!strstr(err.message, cases[i].said))
            fail_msg("'%s' has no '%s'", err.message, cases[i].said);
        assert_int_equal(err.status, AS_EXIT_USAGE);
    }
    as_view_free(&view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_found), cmocka_unit_test(what_is_not)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
