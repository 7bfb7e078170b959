/* Demangling: known names, and names made to take forever. Names of code that threads begin and end in. */
#include "symbol/demangle.h"
#include "symbol/thread_entry.h"

#include "unit.h"

#include <stdio.h>
#include <time.h>

static void test_known(void **state)
{
    static const struct {
        const char *raw, *name;
        bool mangled;
    } cases[] = {
        {"main", "main", false},
        {"_ZN5outer10overloadedEi", "outer::overloaded(int)", true},
        {"_ZN5outer10overloadedEi.cold", "outer::overloaded(int) [clone .cold]", true},
        {"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back(int&&)", true},
        {"_ZN5outer10overloadedEi@plt", "outer::overloaded(int)@plt", true},
        {"memcpy@@GLIBC_2.14", "memcpy", false},
        {"puts@plt", "puts@plt", false},
        {"_RNvCskwGfYPst2Cb_3foo3bar", "foo::bar", true},
        {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt", true},
        {"_Z", "_Z", false},
        {"_Znonsense!", "_Znonsense!", false},
        {"", "", false},
        {"@", "@", false},
        {"a\x1b[31mb\n", "a?[31mb?", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[AS_NAME_MAX];
        assert_int_equal(as_demangle(cases[i].raw, name, sizeof name), cases[i].mangled);
        assert_string_equal(name, cases[i].name);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* the machine may be busy */
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Each substitution names a pair of the one before: the text doubles with every step. */
static void test_explosion(void **state)
{
    char raw[1200] = "_Z1fI", name[AS_NAME_MAX];
    size_t length = strlen(raw);
    length += (size_t)snprintf(raw + length, sizeof raw - length, "1aI1bE");
    for (int i = 0; i < 30; i++)
        length += (size_t)snprintf(raw + length, sizeof raw - length, "S%dIS%c_S%c_E", i % 2, '0' + i % 8, '0' + i % 8);
    snprintf(raw + length, sizeof raw - length, "Evv");
    double start = seconds();
    as_demangle(raw, name, sizeof name);
    assert_true(strlen(name) < sizeof name);

    /* Nested function types that refer back to themselves, several ways. */
    for (int kind = 0; kind < 4; kind++) {
        static const char *const steps[] = {"FvS_S_E", "PFS_S_S_E", "3fooIS_S_E", "M3barS_"};
        length = (size_t)snprintf(raw, sizeof raw, "_Z1f");
        for (int i = 0; i < 60 && length + 20 < sizeof raw; i++)
            length += (size_t)snprintf(raw + length, sizeof raw - length, "%s", steps[kind]);
        as_demangle(raw, name, sizeof name);
    }
    assert_true(seconds() - start < 2);
}

/* f(A<B, B>, A<A<B, B>, A<B, B>>, …): each type is twice the one before, 2 to the 30th in the end. */
static void test_doubling(void **state)
{
    char raw[600] = "_Z1f1AI1BS0_E", name[AS_NAME_MAX];
    size_t length = strlen(raw);
    for (int i = 1; i < 30; i++) {
        char last = (char)(i < 10 ? '0' + i : 'A' + i - 10);
        length += (size_t)snprintf(raw + length, sizeof raw - length, "S_IS%c_S%c_E", last, last);
    }
    double start = seconds();
    assert_true(as_demangle(raw, name, sizeof name));
    assert_true(seconds() - start < 2);
    assert_true(strncmp(name, "f(A<B, B>, A<A<B, B>, A<B, B> >, ", 33) == 0);
    assert_string_equal(name + strlen(name) - strlen("…"), "…");
}

static void test_length(void **state)
{
    char name[64], longer[20000];
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    as_demangle(longer, name, sizeof name);
    assert_int_equal(strlen(name), sizeof name - 1);
    assert_string_equal(name + sizeof name - 1 - strlen("…"), "…");
    memcpy(longer, "_Z19000", 7);
    as_demangle(longer, name, sizeof name);
    assert_int_equal(strlen(name), sizeof name - 1);
    memset(longer, 'P', sizeof longer);
    memcpy(longer, "_Z1f", 4);
    longer[sizeof longer - 2] = 'i';
    longer[sizeof longer - 1] = '\0';
    assert_false(as_demangle(longer, name, sizeof name)); /* deeper than the demangler may go */
}

/* The C library's own functions, and its code without names: not a program's. */
static void test_thread_entries(void **state)
{
    static const char *const entries[] = {"clone",
                                          "start_thread",
                                          "_start",
                                          "exit",
                                          "advise_stack_range",
                                          "__sigsetjmp",
                                          "libc.so.6+0x1234",
                                          "libc-2.31.so+0x1",
                                          "ld-linux-x86-64.so.2+0xffff",
                                          "ld.so+0x1",
                                          "libpthread.so.0+0x8",
                                          "unknown+0x5",
                                          "ld64.so.1+0x2",
                                          "[libc.so.6]",
                                          "[ld-linux.so.2]",
                                          "[unknown]"},
                             *const others[] = {
                                 "main",         "clone_all",   "clon",   "",    "libc.so.6", "libcurl.so+0x4",
                                 "[libcurl.so]", "prog+0x1234", "[prog]", "+0x", "0x"};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (!as_is_thread_entry(entries[i]))
            fail_msg("%s is not an entry", entries[i]);
    assert_true(as_is_thread_end("__libc_thread_freeres") && as_is_thread_entry("__libc_thread_freeres"));
    assert_false(as_is_thread_end("start_thread") || as_is_thread_end("main") || as_is_thread_end("libc.so.6+0x1"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (as_is_thread_entry(others[i]))
            fail_msg("'%s' is an entry", others[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known), cmocka_unit_test(test_explosion),
                                       cmocka_unit_test(test_doubling), cmocka_unit_test(test_length),
                                       cmocka_unit_test(test_thread_entries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
