/* When a pager shows long results, which one, and what a terminal can show. Terminals are made up. */
#include "unit.h"

#include "cmd/pager.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_terminal;
static unsigned short columns;

int isatty(int fd)
{
    return is_terminal && fd == STDOUT_FILENO;
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    va_start(args, request);
    struct winsize *size = va_arg(args, struct winsize *);
    va_end(args);
    size->ws_col = columns;
    return fd == STDOUT_FILENO && request == TIOCGWINSZ && columns ? 0 : -1;
}

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

struct wish {
    bool terminal;
    const char *term, *assay, *pager, *said; /* said: of what is missing */
    bool shown;                              /* by the pager */
};

/* Writes a line, and says what the environment of less is. */
static void show(void *context)
{
    const struct wish *wish = context;
    is_terminal = wish->terminal;
    set("TERM", wish->term);
    set("ASSAY_PAGER", wish->assay);
    set("PAGER", wish->pager);
    unsetenv("LESS");
    dup2(STDERR_FILENO, STDOUT_FILENO);
    struct as_pager pager = as_pager_open();
    if (pager.piped == (pager.out == stdout))
        _exit(9);
    fputs("a line\n", pager.out);
    as_pager_close(&pager);
    fflush(stdout);
    _exit(pager.piped);
}

static void which_pager(void **state)
{
    static const char upper[] = "tr a-z A-Z";
    static const struct wish cases[] = {
        {false, "xterm", upper, NULL, NULL, false},
        {true, "xterm", upper, NULL, NULL, true},
        {true, "dumb", upper, NULL, NULL, false},
        {true, NULL, upper, NULL, NULL, false},
        {true, "xterm", NULL, upper, NULL, true},
        {true, "xterm", "", upper, NULL, false},
        {true, "xterm", "cat", upper, NULL, false},
        {true, "xterm", upper, "cat", NULL, true},
        {true, "xterm", "/nowhere/pager x", NULL, "assay: there is no pager '/nowhere/pager x'\n", false},
        {true, "xterm", "no-such-pager", NULL, "assay: there is no pager 'no-such-pager'\n", false},
        {true, "xterm", "X=1 tr a-z A-Z", NULL, NULL, true}};
    char text[256], expected[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(expected, sizeof expected, "%s%s", cases[i].said ? cases[i].said : "",
                 cases[i].shown ? "A LINE\n" : "a line\n");
        assert_int_equal(unit_run_child(show, (void *)&cases[i], text, sizeof text), cases[i].shown << 8);
        assert_string_equal(text, expected);
    }
}

/* What less is told, unless the user tells it something else. */
static void options_of_less(void **state)
{
    static const struct wish wish = {true, "xterm", "echo \"$LESS\"; cat", NULL, NULL, true};
    char text[64];
    assert_int_equal(unit_run_child(show, (void *)&wish, text, sizeof text), 1 << 8);
    assert_string_equal(text, "FRX\na line\n");
}

static void widths(void **state)
{
    static const struct {
        const char *wish;
        bool terminal;
        unsigned short columns;
        unsigned width;
    } cases[] = {{NULL, false, 90, 120}, {NULL, true, 90, 90},     {NULL, true, 0, 120},     {"80", true, 90, 80},
                 {"80", false, 90, 80},  {"0", true, 90, 90},      {"-5", true, 90, 90},     {"x", true, 90, 90},
                 {"39", true, 90, 40},   {"1000", true, 90, 1000}, {"1001", true, 90, 1000}, {"1", false, 0, 40}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set("COLUMNS", cases[i].wish);
        is_terminal = cases[i].terminal;
        columns = cases[i].columns;
        assert_int_equal(as_terminal(false).width, cases[i].width);
    }
    unsetenv("COLUMNS");
    is_terminal = false;
}

static void colours(void **state)
{
    static const struct {
        bool file, terminal;
        const char *plain, *term;
        bool colour;
    } cases[] = {{false, true, NULL, "xterm", true}, {false, true, "", NULL, true},
                 {false, true, "1", "xterm", false}, {false, true, NULL, "dumb", false},
                 {true, true, NULL, "xterm", false}, {false, false, NULL, "xterm", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        is_terminal = cases[i].terminal;
        set("NO_COLOR", cases[i].plain);
        set("TERM", cases[i].term);
        assert_int_equal(as_terminal(cases[i].file).colour, cases[i].colour);
    }
    unsetenv("NO_COLOR");
    set("LC_ALL", "C.UTF-8");
    assert_true(as_terminal(false).utf8);
    set("LC_ALL", "C");
    assert_false(as_terminal(false).utf8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(which_pager), cmocka_unit_test(options_of_less),
                                       cmocka_unit_test(widths), cmocka_unit_test(colours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
