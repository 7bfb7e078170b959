/* The option parser and the help printer, over a command made up for the purpose. */
#include "unit.h"

#include "cmd/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

struct options {
    bool json;
    const char *output;
    uint64_t period, big;
    double rate;
    int source;
    struct as_strlist only;
};

static const char *const sources[] = {"auto", "model", "timer", NULL};

static void name_files(struct as_str *list)
{
    as_str_add_word(list, true, "one");
    as_str_add_word(list, true, "other");
}

static const struct as_option table[] = {
    {.name = "json", .short_name = 'j', .offset = offsetof(struct options, json), .help = "One document."},
    {.name = "output",
     .short_name = 'o',
     .type = AS_OPTION_STRING,
     .offset = offsetof(struct options, output),
     .value = "FILE",
     .help = "Write to FILE (%s).",
     .names = name_files},
    {.name = "period",
     .type = AS_OPTION_U64,
     .offset = offsetof(struct options, period),
     .value = "N",
     .help = "Every N cycles.",
     .min = 10,
     .max = 5000000},
    {.name = "big", .type = AS_OPTION_U64, .offset = offsetof(struct options, big), .value = "N", .help = "Any."},
    {.name = "rate",
     .type = AS_OPTION_DOUBLE,
     .offset = offsetof(struct options, rate),
     .value = "HZ",
     .help = "A rate with a name and a text so long that it does not fit into one line and must be wrapped by the "
             "printer."},
    {.name = "source",
     .type = AS_OPTION_CHOICE,
     .offset = offsetof(struct options, source),
     .choices = sources,
     .help = "Where from."},
    {.name = "only",
     .short_name = 'n',
     .type = AS_OPTION_LIST,
     .offset = offsetof(struct options, only),
     .value = "WHAT",
     .help = "Only WHAT."},
    {0},
};

static const struct as_command command = {.name = "probe",
                                          .summary = "a command for the tests",
                                          .usage = "[options] -- PROGRAM [ARGS…]",
                                          .description = "First paragraph.\n\nSecond one.",
                                          .options = table,
                                          .examples = "assay probe -- true\nassay probe -j -- true"};

/* Parses words (NULL-terminated, without the verb). */
static enum as_parse parse(struct options *options, int *rest, const char *const *words)
{
    char *argv[20] = {"probe"};
    int argc = 1;
    while (words[argc - 1]) {
        argv[argc] = (char *)words[argc - 1];
        argc++;
    }
    *options = (struct options){.period = 77};
    return as_cli_parse(&command, argc, argv, options, rest);
}
#define PARSE(options, rest, ...) parse(options, rest, (const char *const[]){__VA_ARGS__, NULL})

static void keeps_defaults(void **state)
{
    struct options options;
    int rest;
    assert_int_equal(parse(&options, &rest, (const char *const[]){NULL}), AS_PARSE_OK);
    assert_int_equal(rest, 1);
    assert_int_equal(options.period, 77);
    assert_false(options.json);
}

static void reads_every_form(void **state)
{
    struct options options;
    int rest;
    assert_int_equal(PARSE(&options, &rest, "--json", "--output=a=b", "--period", "10k", "--rate=-2.5e1", "--source",
                           "timer", "--", "-x"),
                     AS_PARSE_OK);
    assert_true(options.json);
    assert_string_equal(options.output, "a=b");
    assert_int_equal(options.period, 10000);
    assert_true(options.rate == -25);
    assert_int_equal(options.source, 2);
    assert_int_equal(rest, 9);
    assert_int_equal(PARSE(&options, &rest, "-jo", "f", "word", "--json"), AS_PARSE_OK);
    assert_true(options.json);
    assert_string_equal(options.output, "f");
    assert_int_equal(rest, 3);
    assert_int_equal(PARSE(&options, &rest, "-of", "--output=g", "-"), AS_PARSE_OK);
    assert_string_equal(options.output, "g");
    assert_int_equal(rest, 3);
    assert_int_equal(PARSE(&options, &rest, "--output", "-j"), AS_PARSE_OK);
    assert_string_equal(options.output, "-j");
    assert_false(options.json);
}

static void reads_numbers(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {{"0", 0},
                 {"1000", 1000},
                 {"5M", 5000000},
                 {"3K", 3000},
                 {"2G", 2000000000},
                 {"1T", 1000000000000},
                 {"0x10", 16},
                 {"0XfF", 255},
                 {"010", 10},
                 {"0xffffffffffffffff", UINT64_MAX},
                 {"18446744073709551615", UINT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options options;
        int rest;
        assert_int_equal(PARSE(&options, &rest, "--big", cases[i].text), AS_PARSE_OK);
        assert_true(options.big == cases[i].value);
    }
}

static void gathers_lists(void **state)
{
    struct options options;
    int rest;
    assert_int_equal(PARSE(&options, &rest, "-na", "--only=b", "--only", "c"), AS_PARSE_OK);
    assert_int_equal(options.only.len, 3);
    assert_string_equal(options.only.data[0], "a");
    assert_string_equal(options.only.data[2], "c");
    as_strlist_free(&options.only);
    assert_null(options.only.data);
}

struct wrong {
    const char *words[4];
    const char *message;
};

static void parse_wrong(void *argument)
{
    const struct wrong *wrong = argument;
    struct options options;
    int rest;
    enum as_parse result = parse(&options, &rest, wrong->words);
    _exit(result == AS_PARSE_ERROR && !options.only.data ? 9 : 0);
}

static void complains_in_one_line(void **state)
{
    static const struct wrong cases[] = {
        {{"--jsno"}, "unknown option --jsno (did you mean --json?)"},
        {{"--per=3"}, "unknown option --per (did you mean --period?)"},
        {{"--quit"}, "unknown option --quit (did you mean --quiet?)"},
        {{"--xyzzy"}, "unknown option --xyzzy"},
        {{"--a\nb"}, "unknown option --a?b"},
        {{"-z"}, "unknown option -z"},
        {{"-jz"}, "unknown option -z"},
        {{"--json=1"}, "option --json takes no value"},
        {{"--output"}, "option --output needs a value"},
        {{"--output", "--", "x"}, "option --output needs a value"},
        {{"-n", "a", "-o"}, "option --output needs a value"},
        {{"--period=ten"}, "--period=ten: not a number like 1000, 10k, 5M, 2G or 0x10"},
        {{"--period=-1"}, "--period=-1: not a number like 1000, 10k, 5M, 2G or 0x10"},
        {{"--period="}, "--period=: not a number like 1000, 10k, 5M, 2G or 0x10"},
        {{"--period= 20"}, "--period= 20: not a number like 1000, 10k, 5M, 2G or 0x10"},
        {{"--period=20kk"}, "--period=20kk: not a number like 1000, 10k, 5M, 2G or 0x10"},
        {{"--period=0x10k"}, "--period=0x10k: not a number like 1000, 10k, 5M, 2G or 0x10"},
        {{"--period=0x"}, "--period=0x: not a number like 1000, 10k, 5M, 2G or 0x10"},
        {{"--period=9"}, "--period=9: must be at least 10"},
        {{"--period=6M"}, "--period=6M: must be at most 5000000"},
        {{"--big=18446744073709551616"}, "--big=18446744073709551616: not a number like 1000, 10k, 5M, 2G or 0x10"},
        {{"--big=99999999T"}, "--big=99999999T: not a number like 1000, 10k, 5M, 2G or 0x10"},
        {{"--rate=fast"}, "--rate=fast: not a number"},
        {{"--rate="}, "--rate=: not a number"},
        {{"--rate=1e999"}, "--rate=1e999: not a number"},
        {{"--rate=inf"}, "--rate=inf: not a number"},
        {{"--rate=1x"}, "--rate=1x: not a number"},
        {{"--source=pmu"}, "--source=pmu: not one of auto, model, timer"},
        {{"--source=mod"}, "--source=mod: not one of auto, model, timer"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[600], wanted[600];
        int status = unit_run_child(parse_wrong, (void *)&cases[i], text, sizeof text);
        snprintf(wanted, sizeof wanted, "assay probe: %s; see 'assay probe -h'\n", cases[i].message);
        assert_string_equal(text, wanted);
        assert_int_equal(WEXITSTATUS(status), 9);
    }
}

static void fail_with_error(void *ignored)
{
    struct as_error err = AS_ERROR_INIT;
    as_error_set_status(&err, AS_EXIT_NOT_FOUND, "%s", "no\nsuch thing");
    _exit(as_cli_fail(&command, &err));
}

static void prints_errors(void **state)
{
    char text[200];
    int status = unit_run_child(fail_with_error, NULL, text, sizeof text);
    assert_int_equal(WEXITSTATUS(status), AS_EXIT_NOT_FOUND);
    assert_string_equal(text, "assay probe: no?such thing\n");
}

static void prints_help(void **state)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    as_cli_help(&command, out);
    fclose(out);
    assert_string_equal(text, "assay probe: a command for the tests\n"
                              "\n"
                              "Usage: assay probe [options] -- PROGRAM [ARGS…]\n"
                              "\n"
                              "First paragraph.\n"
                              "\n"
                              "Second one.\n"
                              "\n"
                              "Options:\n"
                              "  -j, --json              One document.\n"
                              "  -o, --output=FILE       Write to FILE (one, other).\n"
                              "      --period=N          Every N cycles.\n"
                              "      --big=N             Any.\n"
                              "      --rate=HZ           A rate with a name and a text so long that it does not\n"
                              "                          fit into one line and must be wrapped by the printer.\n"
                              "      --source=auto|model|timer\n"
                              "                          Where from.\n"
                              "  -n, --only=WHAT         Only WHAT.\n"
                              "  -h, --help              Print this help and exit.\n"
                              "  -q, --quiet             Print only errors and results.\n"
                              "  -v, --verbose           Also report progress on stderr.\n"
                              "\n"
                              "Examples:\n"
                              "  assay probe -- true\n"
                              "  assay probe -j -- true\n");
    free(text);
}

/* The reason is that of the write that failed, or what another one fails for now. */
static void fails_to_write(void *reason)
{
    int full = open("/dev/full", O_WRONLY);
    dup2(full, STDOUT_FILENO);
    errno = *(int *)reason;
    _exit(as_cli_stdout_failed());
}

static void names_why_nothing_is_written(void **state)
{
    static const struct {
        int reason;
        const char *said;
    } cases[] = {{0, "assay: cannot write to standard output: No space left on device\n"},
                 {EPIPE, "assay: cannot write to standard output: Broken pipe\n"}};
    char text[256];
    for (size_t i = 0; i < 2; i++) {
        int reason = cases[i].reason;
        assert_int_equal(unit_run_child(fails_to_write, &reason, text, sizeof text), AS_EXIT_FAILURE << 8);
        assert_string_equal(text, cases[i].said);
    }
}

static void asks_for_help(void *word)
{
    struct options options;
    int rest;
    dup2(STDERR_FILENO, STDOUT_FILENO);
    enum as_parse parsed = PARSE(&options, &rest, "-j", word, "--nonsense");
    fflush(stdout);
    _exit((int)parsed);
}

/* Whatever comes behind it. */
static void helps(void **state)
{
    static const char *const words[] = {"-h", "--help"};
    char text[2048];
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(unit_run_child(asks_for_help, (void *)words[i], text, sizeof text), AS_PARSE_HELP << 8);
        assert_int_equal(strncmp(text, "assay probe: a command for the tests\n", 37), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_defaults),
        cmocka_unit_test(reads_every_form),
        cmocka_unit_test(reads_numbers),
        cmocka_unit_test(gathers_lists),
        cmocka_unit_test(complains_in_one_line),
        cmocka_unit_test(prints_errors),
        cmocka_unit_test(prints_help),
        cmocka_unit_test(names_why_nothing_is_written),
        cmocka_unit_test(helps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
