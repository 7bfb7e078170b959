/* perf script text in the forms that perf 6.1 prints, with -F and without. */
#include "perf_build.h"

#include "base/alloc.h"
#include "perfdata/perf_script_plain.h"
#include "unit.h"

#include <stdio.h>

static void expect(const char *script, const char *wanted)
{
    struct as_str text = read_as_text(script, strlen(script), NULL, NULL, NULL);
    /* The columns that the text cannot have are cut away. */
    struct as_str shorter = {0};
    for (char *line = text.data, *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        char *plain = strstr(line, " plain,"), *chain = strstr(line, " chain"), *stack = strstr(line, " stack  aux ");
        if (plain != NULL && plain < end) {
            as_str_add_bytes(&shorter, line, (size_t)(plain - line));
            as_str_add_bytes(&shorter, plain, (size_t)(chain - plain));
            char *branch = strstr(chain, " branch "), *index = strstr(chain, " index ");
            if (branch != NULL && branch < index)
                as_str_add_bytes(&shorter, branch, (size_t)(index - branch));
            as_str_add_bytes(&shorter, stack + 12, (size_t)(end + 1 - stack - 12));
        } else
            as_str_add_bytes(&shorter, line, (size_t)(end + 1 - line));
    }
    assert_string_equal(as_str_get(&shorter), wanted);
    as_str_free(&shorter);
    as_str_free(&text);
}

#define NOTHING " plain,0,0,0,0,0,0,0,0,0,0,0,0,0,0"
#define EVENT(number, name) "event " #number " " name " - type 0 config 0/0 period 0 freq 0 precise 0\n"

static void test_plain(void **state)
{
    expect(
        "sh  8707 11087.199058:     250000 cpu-clock:      7f12 __strcmp_evex+0x1c (/usr/lib/libc.so.6)\n",
        EVENT(
            0,
            "cpu-clock") "sample 0 mode 2 ip 7f12 8707/8707 time 11087199058000 cpu -1 period 250000 comm 'sh'" NOTHING
                         "\n  7f12 __strcmp_evex+1c (/usr/lib/libc.so.6)\n");
}

static void test_chains(void **state)
{
    expect(
        "# hostname : there\n"
        "a long name 12/13 [001] 5.000000001:          1 cycles:ppp: \n"
        "\tffffffff81000000 do_it+0x10 ([kernel.kallsyms])\n"
        "\t          401000 ns::f(int, char const*)+0xff (/tmp/my prog (deleted))\n"
        "\t          400fff g (inlined)\n"
        "\t               0 [unknown] ([unknown])\n"
        "\n"
        "x 1 [000] 6.5: 2 instructions: \n"
        "\t5 only\n",
        EVENT(
            0,
            "cycles:ppp") "sample 0 mode 1 ip ffffffff81000000 12/13 time 5000000001 cpu 1 period 1 comm "
                          "'a long name'" NOTHING "\n"
                          "  ffffffff81000000 do_it+10 ([kernel.kallsyms])\n"
                          "  401000 ns::f(int, char const*)+ff (/tmp/my prog (deleted))\n"
                          "  400fff g+ffffffffffffffff (?) inlined\n"
                          "  0 ?+ffffffffffffffff (?)\n" EVENT(
                              1,
                              "instructions") "sample 1 mode 2 ip 5 1/1 time 6500000000 cpu 0 period 2 comm 'x'" NOTHING
                                              "\n  5 only+ffffffffffffffff (?)\n");
}

/* -F +dsoff: where in its file the code is. */
static void test_module_offsets(void **state)
{
    expect("prog 42 1.5: cycles: 10 f+0x1 (/my prog+0x1139)\n",
           EVENT(0, "cycles") "sample 0 mode 2 ip 10 42/42 time 1500000000 cpu -1 period 1 comm 'prog'" NOTHING
                              "\n  10 f+1 (/my prog) at 1139\n");
    expect("prog 42 1.5: cycles: 10 f+0x1 (/my prog (deleted)+0x1139)\n",
           EVENT(0, "cycles") "sample 0 mode 2 ip 10 42/42 time 1500000000 cpu -1 period 1 comm 'prog'" NOTHING
                              "\n  10 f+1 (/my prog (deleted)) at 1139\n");
    expect("prog 42 1.5: cycles: 10 f+0x1 (/lib+0xyz)\n",
           EVENT(0, "cycles") "sample 0 mode 2 ip 10 42/42 time 1500000000 cpu -1 period 1 comm 'prog'" NOTHING
                              "\n  10 f+1 (/lib+0xyz)\n");
}

/* A name with digits and colons in it does not confuse the columns. */
static void test_names(void **state)
{
    expect("kworker/0:1-ev 2 x: 77 [002] 7.25: 3 raw 0x1cd: 10 f+0x0 (m)\n",
           EVENT(0, "raw 0x1cd") "sample 0 mode 2 ip 10 77/77 time 7250000000 cpu 2 period 3 comm "
                                 "'kworker/0:1-ev 2 x:'" NOTHING "\n  10 f+0 (m)\n");
}

static void test_columns_left_out(void **state)
{
    expect("prog 42 cycles:u: 10 f+0x0 (m)\n",
           EVENT(0, "cycles:u") "sample 0 mode 2 ip 10 42/42 time -1 cpu -1 period 1 comm 'prog'" NOTHING
                                "\n  10 f+0 (m)\n");
    expect("prog 1.5: cycles: 10\n", EVENT(0, "cycles") "sample 0 mode 2 ip 10 -1/-1 time 1500000000 cpu -1 period 1 "
                                                        "comm 'prog'" NOTHING "\n  10 ?+ffffffffffffffff (?)\n");
    expect("[003] 1.5: cycles: \n",
           EVENT(0, "cycles") "sample 0 mode 2 ip 0 -1/-1 time 1500000000 cpu 3 period 1" NOTHING "\n");
}

static void test_memory_columns(void **state)
{
    expect(
        "prog 42 [000] 1.5: 10 loads:     7fff0010     68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|"
        "BLK  N/A            77           401234 f+0x1 (m)\n",
        EVENT(0, "loads") "sample 0 mode 2 ip 401234 42/42 time 1500000000 cpu 0 period 10 comm 'prog' "
                          "plain,7fff0010,0,0,4d,0,0,68100142,0,0,0,0,0,0,0\n  401234 f+1 (m)\n");
    expect(
        "prog 42 [000] 1.5: 10 loads:     68100142 |OP LOAD|LVL L1 hit|SNP None    401234 f+0x1 (m)\n", /* no address */
        EVENT(0, "loads") "sample 0 mode 2 ip 401234 42/42 time 1500000000 cpu 0 period 10 comm 'prog' "
                          "plain,0,0,0,0,0,0,68100142,0,0,0,0,0,0,0\n  401234 f+1 (m)\n");
    expect("prog 42 [000] 1.5: 10 loads:     7fff0010           401234 f+0x1 (m)\n",
           EVENT(0, "loads") "sample 0 mode 2 ip 401234 42/42 time 1500000000 cpu 0 period 10 comm 'prog' "
                             "plain,7fff0010,0,0,0,0,0,0,0,0,0,0,0,0,0\n  401234 f+1 (m)\n");
}

static void test_branches(void **state)
{
    expect("prog 42 1.5: cycles:  401234 f+0x1 (m)  0x401000/0x401200/P/-/-/17  0x1/0x2/M/X/A/0/CALL/-\n",
           EVENT(0, "cycles") "sample 0 mode 2 ip 401234 42/42 time 1500000000 cpu -1 period 1 comm 'prog'" NOTHING
                              " branch 401000>401200 0100 cycles 17 type 0 spec 0 new 0 priv 0"
                              " branch 1>2 1011 cycles 0 type 0 spec 0 new 0 priv 0\n  401234 f+1 (m)\n");
}

/* Frames stay with their sample whatever their indentation; a thread whose name looks like an address is no frame. */
static void test_indentation(void **state)
{
#define SAMPLE(number, period, frames)                                                                                 \
    "sample " #number " mode 2 ip 7f12 42/42 time 1500000000 cpu -1 period " #period " comm 'cafe'" NOTHING "\n" frames
    const char *wanted = EVENT(0, "cycles") SAMPLE(0, 5, "  7f12 f+1 (m)\n  401000 main+2 (/bin/a b)\n")
        SAMPLE(0, 6, "  7f12 f+1 (m)\n");
    expect("cafe 42 1.5: 5 cycles: \n\t 7f12 f+0x1 (m)\n\t 401000 main+0x2 (/bin/a b)\n\n"
           "cafe 42 1.5: 6 cycles: \n\t 7f12 f+0x1 (m)\n\n",
           wanted);
    expect("cafe 42 1.5: 5 cycles: \n    7f12 f+0x1 (m)\n    401000 main+0x2 (/bin/a b)\n\n"
           "    cafe 42 1.5: 6 cycles: \n   7f12 f+0x1 (m)\n",
           wanted);
    expect("cafe 42 1.5: 5 cycles: \n7f12 f+0x1 (m)\n401000 main+0x2 (/bin/a b)\n"
           "cafe 42 1.5: 6 cycles: \n7f12 f+0x1 (m)\n",
           wanted);
#undef SAMPLE
    expect("cafe 42 cycles: \n\t7f12 f+0x1 (m)\ncafe 42 cycles: \n\t7f12 f+0x1 (m)\n",
           EVENT(0, "cycles") "sample 0 mode 2 ip 7f12 42/42 time -1 cpu -1 period 1 comm 'cafe'" NOTHING
                              "\n  7f12 f+1 (m)\n"
                              "sample 0 mode 2 ip 7f12 42/42 time -1 cpu -1 period 1 comm 'cafe'" NOTHING
                              "\n  7f12 f+1 (m)\n");
}

/* -F +srcline: a line under each frame, which is neither a frame nor the end of the sample. */
static void test_source_lines(void **state)
{
    const char *script = "prog 42 1.5: cycles: \n"
                         "\t7f12 f+0x1 (m)\n"
                         "  f.c:12\n"
                         "\t401000 main+0x2 (a)\n"
                         "  main.c:7 (inlined)\n"
                         "\t402000 [unknown] (libc.so.6)\n"
                         "  libc.so.6[2a1ca]\n";
    struct as_perf_summary summary;
    struct as_str text = read_as_text(script, strlen(script), NULL, &summary, NULL);
    assert_int_equal(summary.samples, 1);
    assert_int_equal(summary.skipped_lines, 0);
    assert_non_null(
        strstr(text.data, "  7f12 f+1 (m)\n  401000 main+2 (a)\n  402000 ?+ffffffffffffffff (libc.so.6)\n"));
    as_str_free(&text);
}

static void test_other_lines(void **state)
{
    const char *script = "prog 42 1.5: PERF_RECORD_MMAP2 42/42: [0x1(0x2) @ 0 8:1 5 1]: r-xp /bin/prog\n"
                         "some warning\n"
                         "prog 42 1.5: cycles:\n"
                         "\tno frame\n";
    struct as_perf_summary summary;
    struct as_perf_info info;
    struct as_str text = read_as_text(script, strlen(script), NULL, &summary, &info);
    assert_int_equal(summary.samples, 1);
    assert_int_equal(summary.skipped_lines, 3);
    assert_int_equal(info.format, AS_PERF_SCRIPT);
    as_str_free(&text);
}

/* perf script -F comm,tid,time,ip,sym,dso: no event. What ends in a time is a sample, other records are not. */
static void test_eventless(void **state)
{
    const char *script = "my prog 42 1.5:\n"
                         "\t401000 main (a)\n"
                         "\n"
                         "1.5:\n"
                         "prog 42 1.5: PERF_RECORD_EXIT(42:42):(1:1)\n"
                         "prog 42 2.5: \n"
                         "\t401002 main (a)\n";
    struct as_perf_summary summary;
    struct as_perf_info info;
    struct as_str text = read_as_text(script, strlen(script), NULL, &summary, &info);
    assert_int_equal(summary.samples, 2);
    assert_int_equal(summary.skipped_lines, 2);
    assert_non_null(strstr(text.data, "samples"));
    assert_non_null(strstr(text.data, "my prog"));
    as_str_free(&text);
}

/* Reads a sample that stands there twice: samples without an event must all have the same columns. */
static struct as_str read_twice(const char *script, struct as_perf_summary *summary)
{
    char twice[256];
    snprintf(twice, sizeof twice, "%s%s", script, script);
    struct as_str text = read_as_text(twice, strlen(twice), NULL, summary, NULL);
    assert_int_equal(summary->samples, 2);
    return text;
}

/* perf script -F comm,tid,ip,sym and less: neither an event nor a time. */
static void test_plain_lines(void **state)
{
    static const char samples[] = "event 0 samples - type 0 config 0/0 period 0 freq 0 precise 0\n";
    static const struct {
        const char *script, *sample;
    } cases[] = {
        {"my prog 42 \n\t          401136 main\n\t          40100a start\n\n",
         "42/42 time -1 cpu -1 period 1 comm 'my prog'"},
        {"my prog  42/43 [001]      401136 main\n", "42/43 time -1 cpu 1 period 1 comm 'my prog'"},
        {"prog \n\t          401136 main\n\n", "-1/-1 time -1 cpu -1 period 1 comm 'prog'"},
        {"prog       401136 main (a)\n", "-1/-1 time -1 cpu -1 period 1 comm 'prog'"},
        {"   42 \n\t          401136 main\n\n", "42/42 time -1 cpu -1 period 1 plain"},
        {"\t          401136 main\n\t          40100a start\n\n", "-1/-1 time -1 cpu -1 period 1 plain"},
        {"   42    1000000           401136 main\n", "42/42 time -1 cpu -1 period 1 plain"},
        {"   42           401136 main\n", "42/42 time -1 cpu -1 period 1 plain"},
        {"   1000000           401136 main\n", "-1/-1 time -1 cpu -1 period 1 plain"},
        {"my 3 prog    42    1000000           401136 main\n", "42/42 time -1 cpu -1 period 1 comm 'my 3 prog'"},
        {"prog 3    42           401136 main\n", "42/42 time -1 cpu -1 period 1 comm 'prog 3'"},
        {"prog 3           401136 main\n", "-1/-1 time -1 cpu -1 period 1 comm 'prog 3'"},
        {"prog    1000000           401136 main\n", "-1/-1 time -1 cpu -1 period 1 comm 'prog'"},
        {"prog    42    1000000 \n\t          401136 main\n\n", "42/42 time -1 cpu -1 period 1 comm 'prog'"},
        {"prog 42/43 [001] 1000000 \n\t          401136 main\n\n", "42/43 time -1 cpu 1 period 1 comm 'prog'"},
        {"prog 42/43 [001] 1000000 401136 main\n", "42/43 time -1 cpu 1 period 1 comm 'prog'"},
        {"prog 42/43 1.5: 401136 main\n", "42/43 time 1500000000 cpu -1 period 1 comm 'prog'"},
        {"42 1.5: 1000000 401136 main\n", "42/42 time 1500000000 cpu -1 period 1 plain"},
        {"1.5: 401136 main\n", "-1/-1 time 1500000000 cpu -1 period 1 plain"},
        {"          401136 main\n", "-1/-1 time -1 cpu -1 period 1 plain"},
        {"          401136 f(int, char const*) (/a b)\n", "-1/-1 time -1 cpu -1 period 1 plain"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_perf_summary summary;
        struct as_str text = read_twice(cases[i].script, &summary);
        assert_int_equal(summary.skipped_lines, 0);
        assert_non_null(strstr(text.data, samples));
        if (!strstr(text.data, cases[i].sample))
            fail_msg("%s: %s", cases[i].script, text.data);
        assert_non_null(strstr(text.data, i + 1 < sizeof cases / sizeof *cases ? "401136 main" : "401136 f(int, "));
        as_str_free(&text);
    }
}

/* The words that are columns, of a line without an anchor: "name|ids|period|ip", "?" behind them if it is unclear; "-": no sample. */
static void describe(const char *line, char *text, size_t size)
{
    struct word words[8];
    struct as_script_plain plain;
    size_t count = 0;
    for (const char *at = line; count < 8;) {
        words[count] = next_word(&at);
        if (words[count].length == 0)
            break;
        count++;
    }
    if (!as_script_plain(line, words, count, &plain)) {
        snprintf(text, size, "-");
        return;
    }
    const size_t columns[] = {plain.ids, plain.period, plain.ip};
    const char *comma = "";
    text[0] = '\0';
    for (size_t i = 0; i < plain.name; i++, comma = " ")
        snprintf(text + strlen(text), size - strlen(text), "%s%.*s", comma, (int)words[i].length, words[i].start);
    for (size_t i = 0; i < 3; i++) {
        struct word word = columns[i] < count ? words[columns[i]] : (struct word){"", 0};
        snprintf(text + strlen(text), size - strlen(text), "|%.*s", (int)word.length, word.start);
    }
    snprintf(text + strlen(text), size - strlen(text), "%s", plain.unclear ? "?" : "");
}

/* What a number is shows in its width: perf pads addresses to sixteen characters, periods to ten and threads to five. */
static void test_widths(void **state)
{
    static const char *const cases[][2] = {
        {"          401136", "|||401136"},
        {"         401136", "||401136|"}, /* too narrow for an address, wide enough for a period */
        {"prog          401136", "prog|||401136"},
        {"prog         401136", "prog||401136|"},
        {"prog 40113c", "prog|||40113c"}, /* no number in decimal */
        {"prog    42   401136", "prog|42||401136"},
        {"prog       1234", "prog||1234|"},
        {"prog      1234", "prog|1234||"}, /* too narrow for a period */
        {"prog 4194304", "prog|4194304||"},
        {"prog 4194305", "prog||4194305|"}, /* Linux has no such thread */
        {"prog   1234       1000", "prog|1234|1000|"},
        {"prog 12 main", "prog 12 main|||"},
        {"prog    12   40113c main", "prog|12||40113c"},
        {"prog   12   40113c main", "prog 12|||40113c"}, /* too narrow for a thread */
        {"prog 12345 40113c main", "prog|12345||40113c"},
        {"prog 123456 40113c main", "prog 123456|||40113c?"}, /* no layout is left that would tell */
        {"prog", "prog|||"},
        {"", "-"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        describe(cases[i][0], text, sizeof text);
        if (strcmp(text, cases[i][1]) != 0)
            fail_msg("\"%s\": %s", cases[i][0], text);
    }
}

/* An event without anything before it, or only with what could be a thread or a period. */
static void test_loose_events(void **state)
{
    static const struct {
        const char *script, *sample;
    } cases[] = {
        {"   1000000  cycles:u:      401136 main\n", "-1/-1 time -1 cpu -1 period 1000000 plain"},
        {" cycles:u:      401136 main\n", "-1/-1 time -1 cpu -1 period 1 plain"},
        {"   1000000  cycles:u: \n\t      401136 main\n\n", "-1/-1 time -1 cpu -1 period 1000000 plain"},
        {"   42  cycles:u:      401136 main\n", "42/42 time -1 cpu -1 period 1 plain"},
        {"my prog  cycles:u:      401136 main\n", "-1/-1 time -1 cpu -1 period 1 comm 'my prog'"},
        {"my prog    1000000  cycles:u:      401136 main\n", "-1/-1 time -1 cpu -1 period 1000000 comm 'my prog'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_perf_summary summary;
        struct as_str text = read_twice(cases[i].script, &summary);
        if (!strstr(text.data, cases[i].sample) || !strstr(text.data, "event 0 cycles:u ") ||
            !strstr(text.data, "\n  401136 main"))
            fail_msg("%s: %s", cases[i].script, text.data);
        as_str_free(&text);
    }
}

/* What could be several columns is refused, and so are lines of which each has others. */
static void test_unclear(void **state)
{
    static const char *const scripts[] = {
        "prog 1000000 401136 main\n",                                         /* a thread, or a period */
        "1000000 401136 main\n",                                              /* likewise */
        "1000000 cycles: 401136 main\n",                                      /* likewise */
        "prog 1000000 cycles:\nprog 1000000 cycles:\n",                       /* likewise */
        "prog 42/43 1.5: 7ffe00ab10 401136 main\n",                           /* an address of data */
        "prog 42/43 1.5: 1000000 401136 main\nprog 42/43 1.6: 401136 main\n", /* only one has a period */
        "prog 3 [001] 401136 main\nprog [001] 401136 main\n",                 /* a thread, or part of the name */
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        bool ok = true;
        struct as_str text = read_as_text(scripts[i], strlen(scripts[i]), &ok, NULL, NULL);
        if (ok)
            fail_msg("%s: %s", scripts[i], text.data);
        as_str_free(&text);
    }
}

/* Text that breaks off, or ends in nonsense, is incomplete. */
static void test_incomplete(void **state)
{
    static const char sample[] = "prog 42 1.5: cycles: 401000 main\n";
    static const struct {
        const char *rest, *problem; /* "": none */
    } cases[] = {
        {"", ""},
        {"\n\n", ""},
        {"# a comment\n", ""},
        {"prog 42 1.6: PERF_RECORD_EXIT(42:42):(1:1)\n", ""},
        {"garb\nprog 42 1.6: cycles: 401000 main\n", ""},
        {"  main.c:7\n", ""},
        {"garb\n", "the text ends in lines that are neither samples nor frames"},
        {"\tno frame\n", "the text ends in lines that are neither samples nor frames"},
        {"\nand so on\n\n", "the text ends in lines that are neither samples nor frames"},
        {"prog 42 1.6: cycles: 401000 mai", "the text ends in the middle of a line"},
        {"prog 42 1.", "the text ends in the middle of a line"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_perf_summary summary;
        char script[256];
        snprintf(script, sizeof script, "%s%s", sample, cases[i].rest);
        struct as_str text = read_as_text(script, strlen(script), NULL, &summary, NULL);
        if (strcmp(summary.problem, cases[i].problem) != 0 || summary.incomplete != (*cases[i].problem != 0))
            fail_msg("%s: '%s'", script, summary.problem);
        as_str_free(&text);
    }
}

/* Addresses and names of functions alone, however many words these have. */
static void test_bare_addresses(void **state)
{
    struct as_perf_summary summary;
    struct as_str script = {0}, want = {0};
    as_str_add(&script, "401136 f(int");
    for (unsigned i = 0; i < 100; i++)
        as_str_add(&script, ", int");
    as_str_add(&script, ")\n40100a start\n");
    struct as_str text = read_as_text(script.data, script.len, NULL, &summary, NULL);
    assert_int_equal(summary.samples, 2);
    assert_int_equal(summary.skipped_lines, 0);
    as_str_add(&want, "\n  ");
    as_str_add_bytes(&want, script.data, strcspn(script.data, "\n"));
    assert_non_null(strstr(text.data, as_str_get(&want)));
    assert_non_null(strstr(text.data, "\n  40100a start"));
    as_str_free(&text);
    as_str_free(&want);
    as_str_free(&script);
}

/* Prose is not a recording; and text with events or times has no plain lines. */
static void test_prose(void **state)
{
    static const char *const prose[] = {"chapter 12\n\nit begins\n", "one\ntwo\nthe face 12 abcdef is\n",
                                        "401136 main\n40100a start\n\n401136 main\n", /* stacks? */
                                        "401136 main\nand more\n"};
    struct as_perf_summary summary;
    for (size_t i = 0; i < sizeof prose / sizeof *prose; i++) {
        bool ok = true;
        struct as_str text = read_as_text(prose[i], strlen(prose[i]), &ok, NULL, NULL);
        assert_false(ok);
        as_str_free(&text);
    }
    static const char facade[] =
        "facade job 42 1.5: cycles:\n\t401000 main\n\nfacade job 42 2.5: cycles:\n\t401000 main\n";
    struct as_str named = read_as_text(facade, strlen(facade), NULL, &summary, NULL);
    assert_int_equal(summary.samples, 2);
    as_str_free(&named);
    static const char script[] = "prog 42 1.5: cycles:\n\t401000 main\n\nprog 42 401000 main\n";
    struct as_str text = read_as_text(script, strlen(script), NULL, &summary, NULL);
    assert_int_equal(summary.samples, 1);
    assert_int_equal(summary.skipped_lines, 1);
    as_str_free(&text);
}

/* Lines of any length, and a file that ends anywhere. */
static void test_long_and_cut(void **state)
{
    struct as_str script = {0};
    for (unsigned i = 0; i < 3; i++) {
        as_str_add(&script, "prog 42 1.5: cycles: 10 ");
        for (unsigned k = 0; k < 100000u * (i == 1); k++)
            as_str_add(&script, "abc");
        as_str_add(&script, "f+0x1 (m)\n\n");
    }
    struct as_perf_summary summary;
    struct as_str text = read_as_text(script.data, script.len, NULL, &summary, NULL);
    assert_int_equal(summary.samples, 3);
    as_str_free(&text);
    for (size_t size = 1; size < 60; size++) {
        char *copy = malloc(size);
        memcpy(copy, script.data, size);
        bool ok;
        text = read_as_text(copy, size, &ok, NULL, NULL);
        assert_int_equal(ok, size == 12 || size == 13 || size >= 20); /* up to the time, or the event's colon */
        as_str_free(&text);
        free(copy);
    }
    as_str_free(&script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_module_offsets),
        cmocka_unit_test(test_columns_left_out),
        cmocka_unit_test(test_memory_columns),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_other_lines),
        cmocka_unit_test(test_eventless),
        cmocka_unit_test(test_long_and_cut),
        cmocka_unit_test(test_indentation),
        cmocka_unit_test(test_source_lines),
        cmocka_unit_test(test_plain_lines),
        cmocka_unit_test(test_bare_addresses),
        cmocka_unit_test(test_prose),
        cmocka_unit_test(test_loose_events),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_unclear),
        cmocka_unit_test(test_incomplete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
