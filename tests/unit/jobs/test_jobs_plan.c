/* Plans of jobs: which machines and runs there are, the command of each, and the plan as text. */
#include "jobs/jobs_plan.h"

#include "unit.h"

static void add(struct as_words *words, const char *word)
{
    as_words_add(words, as_strdup(word));
}

/* Two cores, two sizes and three widths, twice each: 24 jobs. */
static struct as_jobs_plan make_plan(void)
{
    struct as_jobs_plan plan = {.directory = as_strdup("/here"), .repeat = 2};
    add(&plan.cores, "a");
    add(&plan.cores, "b");
    add(&plan.sets, "rob=64,128");
    add(&plan.sets, "width=1,2,4");
    add(&plan.options, "--max=1k");
    add(&plan.program, "prog");
    add(&plan.program, "-x");
    return plan;
}

static void check_command(const struct as_jobs_plan *plan, uint64_t job, const char *want)
{
    struct as_words words = as_jobs_command(plan, job, "assay", "o.db");
    struct as_str text = {0};
    for (size_t i = 0; i < words.list.len; i++)
        as_str_addf(&text, "%s%s", i ? " " : "", words.list.data[i]);
    assert_string_equal(as_str_get(&text), want);
    as_str_free(&text);
    as_words_free(&words);
}

static void check_name(const struct as_jobs_plan *plan, uint64_t machine, const char *want)
{
    char *name = as_jobs_machine_name(plan, machine);
    assert_string_equal(name, want);
    free(name);
}

/* The core changes first, then the first set, then the second. */
static void test_machines(void **state)
{
    struct as_jobs_plan plan = make_plan();
    assert_int_equal(as_jobs_count_machines(&plan), 12);
    assert_int_equal(as_jobs_count(&plan), 24);
    check_name(&plan, 0, "a rob=64 width=1");
    check_name(&plan, 1, "b rob=64 width=1");
    check_name(&plan, 2, "a rob=128 width=1");
    check_name(&plan, 4, "a rob=64 width=2");
    check_name(&plan, 11, "b rob=128 width=4");
    as_jobs_plan_free(&plan);
    assert_null(plan.directory);
    check_name(&plan, 0, "as it is");
    assert_int_equal(as_jobs_count_machines(&plan), 1);
}

static void test_commands(void **state)
{
    struct as_jobs_plan plan = make_plan();
    check_command(&plan, 0,
                  "assay record -q --core=a --set=rob=64 --set=width=1 --seed=1 --max=1k --output=o.db -- prog -x");
    check_command(&plan, 23,
                  "assay record -q --core=b --set=rob=128 --set=width=4 --seed=2 --max=1k --output=o.db -- prog -x");
    plan.repeat = 1; /* one run needs no seed of its own */
    check_command(&plan, 3, "assay record -q --core=b --set=rob=128 --set=width=1 --max=1k --output=o.db -- prog -x");
    as_jobs_plan_free(&plan);
}

/* What is not modelled has no seed. */
static void test_seeds(void **state)
{
    static const char *const options[] = {"--source=timer", "--source=pmu", "--source=model"};
    static const char *const seeds[] = {"", "", "--seed=1 "};
    for (size_t i = 0; i < 3; i++) {
        struct as_jobs_plan plan = {.repeat = 3};
        char *want = as_format("assay record -q %s%s --output=o.db -- prog", seeds[i], options[i]);
        add(&plan.options, options[i]);
        add(&plan.program, "prog");
        check_command(&plan, 0, want);
        free(want);
        as_jobs_plan_free(&plan);
    }
}

static void check_text(const struct as_jobs_plan *plan, const char *want)
{
    struct as_str text = {0};
    as_jobs_plan_write(plan, &text);
    assert_string_equal(as_str_get(&text), want);
    as_str_free(&text);
}

static void test_text(void **state)
{
    static const char want[] = "assay-jobs 1\ndirectory /here\ncore a\ncore b\nset rob=64,128\nset width=1,2,4\n"
                               "option --max=1k\nrepeat 2\nword prog\nword -x\nword two\\nlines\\\\n\n";
    struct as_jobs_plan plan = make_plan(), again = {0};
    struct as_error err = AS_ERROR_INIT;
    add(&plan.program, "two\nlines\\n");
    check_text(&plan, want);
    assert_true(as_jobs_plan_read(&again, want, &err));
    assert_int_equal(again.repeat, 2);
    assert_string_equal(again.program.list.data[2], "two\nlines\\n");
    check_text(&again, want);
    as_jobs_plan_free(&again);
    assert_true(as_jobs_plan_read(&again, "assay-jobs 1\ndirectory /\nrepeat 1\nword a\\\nword b\\\\\n", &err));
    assert_string_equal(again.program.list.data[0], "a\\"); /* nothing is behind it */
    assert_string_equal(again.program.list.data[1], "b\\");
    as_jobs_plan_free(&plan);
    as_jobs_plan_free(&again);
}

static void check_bad(const char *text, const char *part)
{
    struct as_jobs_plan plan = {0};
    struct as_error err = AS_ERROR_INIT;
    assert_false(as_jobs_plan_read(&plan, text, &err));
    if (!strstr(err.message, part))
        fail_msg("%s", err.message);
    as_jobs_plan_free(&plan);
}

static void test_texts_that_are_no_plans(void **state)
{
    check_bad("", "does not begin with");
    check_bad("assay-jobs 1", "names no directory");
    check_bad("assay-jobs 2\ndirectory /\nrepeat 1\nword p\n", "does not begin with");
    check_bad("assay-jobs 1\ndirectory /\nrepeat 1\nword p\ncolour red\n", "'colour red' is not a line");
    check_bad("assay-jobs 1\ndirectory /\nrepeat many\nword p\n", "'repeat many' is not a line");
    check_bad("assay-jobs 1\ndirectory /\ndirectory /tmp\nrepeat 1\nword p\n", "'directory /tmp' is not a line");
    check_bad("assay-jobs 1\nrepeat 1\nword p\n", "names no directory");
    check_bad("assay-jobs 1\ndirectory /\nrepeat 1\n", "no program given");
    check_bad("assay-jobs 1\ndirectory /\nrepeat 1\nset rob\nword p\n", "--set=rob: KEY=VALUE");
    check_bad("assay-jobs 1\ndirectory /\nrepeat 1\nset rob=\nword p\n", "--set=rob=: KEY=VALUE");
}

/* From one to ten million, however they multiply. */
static void test_how_many(void **state)
{
    struct as_jobs_plan plan = {.repeat = AS_JOBS_MOST};
    struct as_error err = AS_ERROR_INIT;
    add(&plan.program, "prog");
    assert_true(as_jobs_plan_check(&plan, &err));
    add(&plan.sets, "a=1,2");
    assert_false(as_jobs_plan_check(&plan, &err));
    assert_int_equal(err.status, AS_EXIT_USAGE);
    plan.repeat = AS_JOBS_MOST / 2;
    assert_true(as_jobs_plan_check(&plan, &err));
    plan.repeat++;
    assert_false(as_jobs_plan_check(&plan, &err));
    plan.repeat = 0;
    assert_false(as_jobs_plan_check(&plan, &err));
    plan.repeat = 1;
    for (int i = 0; i < 70; i++) /* 2 to the power of 71 */
        add(&plan.sets, "b=1,2");
    assert_int_equal(as_jobs_count_machines(&plan), AS_JOBS_MOST + 1);
    assert_false(as_jobs_plan_check(&plan, &err));
    as_jobs_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machines),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_texts_that_are_no_plans),
        cmocka_unit_test(test_how_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
