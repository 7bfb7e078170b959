/* Allocation, strings, errors and log lines: lengths at their limits, hostile text, running out of memory. */
#include "unit.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/cpp_name.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/log.h"
#include "base/show.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>

/* The value that two to four bytes of UTF-8 hold; -1: they are not of that form. */
static long utf8_value(const unsigned char *bytes, int length)
{
    long value = bytes[0] & (0xff >> (length + 1));
    if (bytes[0] >> (7 - length) != (0xff >> (7 - length) & ~1))
        return -1;
    for (int i = 1; i < length; i++) {
        if (bytes[i] >> 6 != 2)
            return -1;
        value = value << 6 | (bytes[i] & 0x3f);
    }
    return value;
}

/* By the definition: the shortest form of a value up to 0x10ffff that is no surrogate. Every first byte with every second one. */
static void all_pairs_of_utf8(void **state)
{
    static const long least[] = {0, 0, 0x80, 0x800, 0x10000};
    for (int first = 0x80; first < 0x100; first++)
        for (int second = 0; second < 0x100; second++) {
            const unsigned char bytes[] = {(unsigned char)first, (unsigned char)second, 0x80, 0xbf, 0};
            size_t expected = 0;
            for (int length = 2; length <= 4; length++) {
                long value = utf8_value(bytes, length);
                if (value >= least[length] && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff))
                    expected = (size_t)length;
            }
            assert_int_equal(as_utf8_length((const char *)bytes), expected);
        }
}

static void allocates_zeroed(void **state)
{
    unsigned char *memory = as_alloc_array(100, 10);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(memory[i], 0);
    free(memory);
    void *empty = as_alloc(0);
    assert_non_null(empty);
    free(empty);
}

static void short_names_of_functions(void **state)
{
    assert_true(as_cpp_name_is("main", "main"));
    assert_true(as_cpp_name_is("void ns::sort<int*, std::less<int> >(int*, int*)", "sort"));
    assert_true(as_cpp_name_is("void ns::sort<int*, std::less<int> >(int*, int*)", "ns::sort"));
    assert_true(as_cpp_name_is("(anonymous namespace)::Pool<int>::run(int) const", "Pool::run"));
    assert_true(as_cpp_name_is("Pool::operator()(int)", "operator()"));
    assert_true(as_cpp_name_is("bool std::operator< <char>(A const&, B const&)", "operator< <char>"));
    assert_false(as_cpp_name_is("void ns::sort<int*>(int*, int*)", "ort"));
    assert_false(as_cpp_name_is("void use<ns::sort>(int)", "sort"));
    assert_false(as_cpp_name_is("f(sort)", "sort"));
    assert_false(as_cpp_name_is("", ""));
    char base[AS_CPP_NAME_MAX];
    assert_true(as_cpp_name_shorten("std::vector<A<int>, B>::push_back(A<int> const&)", base));
    assert_string_equal(base, "std::vector::push_back");
}

static void clones_of_functions(void **state)
{
    static const char *const clones[] = {"f",      "f.constprop.0", "f.isra.0",   "f.part.1.isra.0", "f.part.0.cold",
                                         "f.cold", "f.lto_priv.12", "f.cold.123", "f.localalias"};
    for (size_t i = 0; i < sizeof clones / sizeof *clones; i++)
        assert_int_equal(as_clone_length(clones[i]), 1);
    assert_int_equal(as_clone_length("ns::f(int) [clone .constprop.0] [clone .cold]"), strlen("ns::f(int)"));
    static const char *const others[] = {"main.work", "fmt.(*pp).free", "f.0", "f.12", "cold", ".cold", "", "f.colder"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(as_clone_length(others[i]), strlen(others[i]));
}

static void copies_text(void **state)
{
    char *whole = as_strdup("abc"), *part = as_strndup("abcdef", 2), *beyond = as_strndup("ab", 100);
    assert_string_equal(whole, "abc");
    assert_string_equal(part, "ab");
    assert_string_equal(beyond, "ab");
    char *made = as_format("%s-%d", whole, 7);
    assert_string_equal(made, "abc-7");
    free(whole);
    free(part);
    free(beyond);
    free(made);
}

static void allocate_too_much(void *ignored)
{
    volatile size_t huge = SIZE_MAX / 2;
    as_alloc_array(huge, 4);
}

static void reallocate_too_much(void *ignored)
{
    volatile size_t huge = SIZE_MAX / 2 + 2;
    as_realloc_array(NULL, huge, 1);
}

static void ends_when_memory_is_out(void **state)
{
    void (*actions[])(void *) = {allocate_too_much, reallocate_too_much};
    for (size_t i = 0; i < 2; i++) {
        char text[100];
        int status = unit_run_child(actions[i], NULL, text, sizeof text);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), AS_EXIT_FAILURE);
        assert_string_equal(text, "assay: out of memory\n");
    }
}

static void grows_vectors(void **state)
{
    struct pair {
        int a, b;
    };
    AS_VEC(struct pair) vec = {0};
    for (int i = 0; i < 1000; i++)
        as_vec_push(&vec)->b = i;
    assert_int_equal(vec.len, 1000);
    assert_true(vec.cap >= 1000 && vec.cap < 4000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(vec.data[i].b, i);
    as_vec_clear(&vec);
    assert_int_equal(vec.len, 0);
    assert_non_null(vec.data);
    as_vec_free(&vec);
    assert_null(vec.data);
    assert_int_equal(vec.cap, 0);
}

static void grows_strings(void **state)
{
    struct as_str str = {0};
    assert_string_equal(as_str_get(&str), "");
    as_str_add(&str, "");
    assert_string_equal(str.data, "");
    as_str_add_bytes(&str, "a\0b", 3);
    assert_int_equal(str.len, 3);
    as_str_clear(&str);
    for (int i = 0; i < 200; i++)
        as_str_addf(&str, "%05d", i);
    assert_int_equal(str.len, 1000);
    assert_memory_equal(str.data + 995, "00199", 6);
    char *taken = as_str_take(&str);
    assert_int_equal(strlen(taken), 1000);
    free(taken);
    assert_string_equal(as_str_get(&str), "");
    taken = as_str_take(&str);
    assert_string_equal(taken, "");
    free(taken);
    as_str_free(&str);
}

static void error_is_one_line(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    assert_false(as_error_set(&err, "bad file '%s'",
                              "a\nb\x1b[31m\x7f\xc2\x9b"
                              "caf\xc3\xa9"));
    assert_string_equal(err.message, "bad file 'a?b?[31m???caf\xc3\xa9'");
    assert_int_equal(err.status, AS_EXIT_FAILURE);
    as_error_set(&err, "%s", "bare \x9b, torn \xc3(, long \xe2\x82\xac");
    assert_string_equal(err.message, "bare ?, torn ?(, long \xe2\x82\xac");
    assert_false(as_error_set_status(&err, AS_EXIT_NOT_FOUND, "no"));
    assert_int_equal(err.status, AS_EXIT_NOT_FOUND);
    assert_false(as_error_set(NULL, "nobody %s", "listens"));
    assert_false(as_error_set_status(NULL, 1, "nobody"));
}

static void error_may_quote_itself(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    as_error_set(&err, "inner");
    as_error_set_status(&err, 3, "outer: %s", err.message);
    assert_string_equal(err.message, "outer: inner");
}

/* Two-byte characters at both phases, so that one of the two is cut in the middle. */
static void error_is_cut_at_characters(void **state)
{
    for (int phase = 0; phase < 2; phase++) {
        struct as_str text = {0};
        as_str_add(&text, phase ? "x" : "");
        for (int i = 0; i < 2000; i++)
            as_str_add(&text, "\xc3\xa9");
        struct as_error err = AS_ERROR_INIT;
        as_error_set(&err, "%s", text.data);
        size_t length = strlen(err.message);
        assert_int_equal(length, phase ? 1023 : 1022);
        assert_memory_equal(err.message, text.data, length);
        as_str_free(&text);
    }
}

/* Three and four bytes long, cut after one, two and three bytes: a whole number of characters always remains. */
static void error_drops_torn_sequences(void **state)
{
    static const char *const characters[] = {"\xe2\x80\xa6", "\xf0\x9f\x98\x80"};
    for (size_t pad = 0; pad < 8; pad++) {
        size_t size = strlen(characters[pad % 2]);
        struct as_str text = {0};
        as_str_add_bytes(&text, "abcdefgh", pad);
        for (int i = 0; i < 400; i++)
            as_str_add(&text, characters[pad % 2]);
        struct as_error err = AS_ERROR_INIT;
        as_error_set(&err, "%s", text.data);
        size_t length = strlen(err.message);
        assert_int_equal((length - pad) % size, 0);
        assert_true(length > 1023 - size);
        as_str_free(&text);
    }
}

static void log_some(void *most)
{
    as_log_set_level(*(enum as_log_level *)most);
    errno = ENOENT;
    as_log_error("e%d", 1);
    as_log_warn("w\n2");
    as_log_note("n");
    as_log_debug("d");
    if (errno != ENOENT)
        _exit(1);
}

static void logs_by_level(void **state)
{
    static const char *const wanted[] = {
        [AS_LOG_ERROR] = "assay: e1\n",
        [AS_LOG_WARN] = "assay: e1\nassay: w?2\n",
        [AS_LOG_NOTE] = "assay: e1\nassay: w?2\nassay: n\n",
        [AS_LOG_DEBUG] = "assay: e1\nassay: w?2\nassay: n\nassay: d\n",
    };
    for (enum as_log_level level = AS_LOG_ERROR; level <= AS_LOG_DEBUG; level++) {
        char text[200];
        assert_int_equal(unit_run_child(log_some, &level, text, sizeof text), 0);
        assert_string_equal(text, wanted[level]);
    }
}

/* ---- a pipe that is full, and read only when a signal interrupts who writes ---- */

enum { LONG_LINE = 200000 };
static int full[2];
static size_t drained;

static void drain(int signal)
{
    char some[4096];
    for (ssize_t n; (n = read(full[0], some, sizeof some)) > 0;)
        drained += (size_t)n;
}

/* The line is longer than a pipe holds: write(2) comes back with a part of it. */
static void logs_all_of_a_line(void **state)
{
    char *text = as_alloc(LONG_LINE + 1);
    memset(text, 'x', LONG_LINE);
    assert_int_equal(pipe(full), 0);
    assert_int_equal(fcntl(full[0], F_SETFL, O_NONBLOCK), 0);
    int saved = dup(STDERR_FILENO);
    struct sigaction on_alarm = {.sa_handler = drain}, before;
    struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0}};
    sigaction(SIGALRM, &on_alarm, &before);
    dup2(full[1], STDERR_FILENO);
    setitimer(ITIMER_REAL, &often, NULL);
    as_log_error("%s", text);
    setitimer(ITIMER_REAL, &never, NULL);
    dup2(saved, STDERR_FILENO);
    sigaction(SIGALRM, &before, NULL);
    drain(0);
    close(saved);
    close(full[0]);
    close(full[1]);
    free(text);
    assert_int_equal(drained, strlen("assay: \n") + LONG_LINE);
}

static void csv_is_quoted_and_harmless(void **state)
{
    static const char *const cases[][2] = {
        {"a b", "a b"},
        {"a,b", "\"a,b\""},
        {"a\"b", "\"a\"\"b\""},
        {"a\nb", "\"a\nb\""},
        {"", ""},
        {"\x01", "?"},
        {"=1+1", "'=1+1"},
        {"+1", "'+1"},
        {"-1", "'-1"},
        {"@x", "'@x"},
        {"\tx", "'\tx"},
        {"\rx", "\"'\rx\""},
        {"a=1", "a=1"},
        {"\n=1", "\"'\n=1\""},
        {"=\"a\"", "\"'=\"\"a\"\"\""},
        {"'=1", "'=1"},
        {"\xff|\xc3", AS_UTF8_REPLACEMENT "|" AS_UTF8_REPLACEMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_str out = {0};
        as_csv_add_text(&out, cases[i][0], 0);
        assert_string_equal(as_str_get(&out), cases[i][1]);
        as_str_free(&out);
    }
    struct as_str out = {0};
    as_csv_add_text(&out, "abcdefgh", 3);
    assert_string_equal(as_str_get(&out), "abcd…");
    as_str_free(&out);
}

/* The first and last characters of each form, and what lies just outside. */
static void characters_of_utf8(void **state)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"\x01", 1},
        {"\x7f", 1},
        {"\x80", 0},
        {"\xc1\xbf", 0},
        {"\xc2\x80", 2},
        {"\xdf\xbf", 2},
        {"\xc2\x7f", 0},
        {"\xdf\xc0", 0},
        {"\xe0\x9f\xbf", 0},
        {"\xe0\xa0\x80", 3},
        {"\xe0\xbf\xbf", 3},
        {"\xe1\x80\x80", 3},
        {"\xec\xbf\xbf", 3},
        {"\xed\x80\x80", 3},
        {"\xed\x9f\xbf", 3},
        {"\xed\xa0\x80", 0},
        {"\xee\x80\x80", 3},
        {"\xef\xbf\xbf", 3},
        {"\xef\xbf\xc0", 0},
        {"\xef\xbf\x7f", 0},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xf0\x90\x80\x80", 4},
        {"\xf0\xbf\xbf\xbf", 4},
        {"\xf1\x80\x80\x80", 4},
        {"\xf3\xbf\xbf\xbf", 4},
        {"\xf4\x80\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\xf4\x90\x80\x80", 0},
        {"\xf5\x80\x80\x80", 0},
        {"\xf1\x80\x80", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(as_utf8_length(cases[i].text), cases[i].length);
    assert_true(as_utf8_is_control("\x1f", 1) && as_utf8_is_control("\x7f", 1) && as_utf8_is_control("\xc2\x9f", 2));
    assert_false(as_utf8_is_control(" ", 1) || as_utf8_is_control("\xc2\xa0", 2) || as_utf8_is_control("\xc3\x80", 2));
}

/* What a terminal would obey is not shown: controls, separators of lines, marks of direction. */
static void harmful_characters_are_not_shown(void **state)
{
    static const char *const harmful[] = {"\x1b",         "\x7f",         "\xc2\x85",     "\xe2\x80\xa8",
                                          "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9", "\xff"},
                             *const harmless[] = {" ",
                                                  "\xe2\x80\xa7",
                                                  "\xe2\x80\xaf",
                                                  "\xe2\x81\xa5",
                                                  "\xe2\x81\xaa",
                                                  "\xe2\x82\xac",
                                                  "\xe3\x80\xa8"};
    char text[16], shown[AS_SHOW_MAX];
    for (size_t i = 0; i < sizeof harmful / sizeof *harmful; i++) {
        snprintf(text, sizeof text, "a%sb", harmful[i]);
        assert_string_equal(as_show(text, shown), "a?b");
    }
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        snprintf(text, sizeof text, "a%sb", harmless[i]);
        assert_string_equal(as_show(text, shown), text);
    }
    assert_string_equal(as_show(NULL, shown), "?");
}

static void counts_have_commas(void **state)
{
    static const struct {
        uint64_t number;
        const char *text;
    } cases[] = {{0, "0"},
                 {7, "7"},
                 {99, "99"},
                 {100, "100"},
                 {999, "999"},
                 {1000, "1,000"},
                 {12345, "12,345"},
                 {123456, "123,456"},
                 {1234567, "1,234,567"},
                 {UINT64_MAX, "18,446,744,073,709,551,615"}};
    char text[AS_COUNT_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(as_count(cases[i].number, text), cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_of_utf8),
        cmocka_unit_test(all_pairs_of_utf8),
        cmocka_unit_test(harmful_characters_are_not_shown),
        cmocka_unit_test(counts_have_commas),
        cmocka_unit_test(allocates_zeroed),
        cmocka_unit_test(copies_text),
        cmocka_unit_test(ends_when_memory_is_out),
        cmocka_unit_test(short_names_of_functions),
        cmocka_unit_test(clones_of_functions),
        cmocka_unit_test(grows_vectors),
        cmocka_unit_test(grows_strings),
        cmocka_unit_test(error_is_one_line),
        cmocka_unit_test(error_may_quote_itself),
        cmocka_unit_test(error_is_cut_at_characters),
        cmocka_unit_test(error_drops_torn_sequences),
        cmocka_unit_test(logs_by_level),
        cmocka_unit_test(logs_all_of_a_line),
        cmocka_unit_test(csv_is_quoted_and_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
