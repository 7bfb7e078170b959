/* Folders of jobs: what is there, what is missing, and what the profiles of a machine say together. */
#include "jobs/jobs_collect.h"
#include "store_bed.h"
#include "unit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/stat.h>

static struct as_jobs_plan make_plan(uint64_t repeat)
{
    struct as_jobs_plan plan = {.directory = as_strdup("/"), .repeat = repeat};
    as_words_add(&plan.sets, as_strdup("rob=64,128"));
    as_words_add(&plan.program, as_strdup("prog"));
    return plan;
}

static struct as_jobs make_folder(const char *name, uint64_t repeat)
{
    struct as_jobs jobs = {0};
    struct as_jobs_plan plan = make_plan(repeat);
    struct as_error err = AS_ERROR_INIT;
    if (!as_jobs_create(&jobs, bed_path(name), &plan, &err))
        fail_msg("%s", err.message);
    return jobs;
}

static void put(char *path, const char *text)
{
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_jobs_write_text(path, text, &err));
    free(path);
}

static void check_missing(const struct as_jobs *jobs, const char *want)
{
    struct as_job_list missing = as_jobs_missing(jobs);
    struct as_str text = {0};
    as_job_list_show(&missing, &text);
    assert_string_equal(as_str_get(&text), want);
    as_str_free(&text);
    as_vec_free(&missing.list);
}

/* 2006 jobs are in three groups; only whole profiles of jobs of the plan count. */
static void test_what_is_missing(void **state)
{
    struct as_jobs jobs = make_folder("many", 1003);
    check_missing(&jobs, "0-2005");
    put(as_jobs_profile(&jobs, 0), "");
    put(as_jobs_profile(&jobs, 2), "");
    put(as_jobs_profile(&jobs, 1500), "");
    put(as_jobs_profile(&jobs, 2005), "");
    put(as_jobs_unfinished(&jobs, 3), "");
    put(as_jobs_log(&jobs, 4), "");
    put(as_format("%s/jobs/2/2006.db", jobs.folder), "");
    put(as_format("%s/jobs/2/.db", jobs.folder), "");
    check_missing(&jobs, "1, 3-1499, 1501-2004");
    as_jobs_free(&jobs);
    assert_null(jobs.folder);
}

static void test_names(void **state)
{
    struct as_jobs jobs = {.folder = (char *)"/f"};
    char *names[] = {as_jobs_profile(&jobs, 999), as_jobs_unfinished(&jobs, 1000), as_jobs_log(&jobs, 12345),
                     as_jobs_merged(&jobs, 7)};
    static const char *const want[] = {"/f/jobs/0/999.db", "/f/jobs/1/1000.new", "/f/jobs/12/12345.log",
                                       "/f/machine-7.db"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(names[i], want[i]);
        free(names[i]);
    }
}

static void check_create(const char *name, uint64_t repeat, const char *part)
{
    struct as_jobs jobs = {0};
    struct as_jobs_plan plan = make_plan(repeat);
    struct as_error err = AS_ERROR_INIT;
    assert_int_equal(as_jobs_create(&jobs, bed_path(name), &plan, &err), !part);
    if (part && !strstr(err.message, part))
        fail_msg("%s", err.message);
    assert_null(plan.directory); /* it is the folder's */
    as_jobs_free(&jobs);
}

static void check_open(const char *name, const char *part)
{
    struct as_jobs jobs = {0};
    struct as_error err = AS_ERROR_INIT;
    assert_int_equal(as_jobs_open(&jobs, bed_path(name), &err), !part);
    if (part && !strstr(err.message, part))
        fail_msg("%s", err.message);
    as_jobs_free(&jobs);
}

/* A folder is for one plan. */
static void test_again(void **state)
{
    check_create("again", 3, NULL);
    check_create("again", 3, NULL);
    check_create("again", 4, "has other jobs");
    check_create("nowhere/deep", 3, "cannot make the folder");
    check_open("again", NULL);
    check_open("nowhere", "folder '");
    assert_int_equal(mkdir(bed_path("empty"), 0700), 0);
    check_open("empty", "cannot read '");
    put(as_strdup(bed_path("empty/plan")), "assay-jobs 1\nrepeat 1\n");
    check_open("empty", "is not a plan of jobs: it names no directory");
    struct as_jobs jobs = {0};
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_jobs_open(&jobs, bed_path("again"), &err));
    assert_int_equal(as_jobs_count(&jobs.plan), 6);
    check_missing(&jobs, "0-5");
    assert_false(as_jobs_make_folder(&jobs, "no/such", &err));
    assert_false(as_jobs_write_text("/proc/nothing/here", "x", &err));
    assert_non_null(strstr(err.message, "cannot write '/proc/nothing/here'"));
    as_jobs_free(&jobs);
}

static void check_last_line(const char *text, const char *want)
{
    const char *path = bed_path("log");
    if (text)
        put(as_strdup(path), text);
    char *line = as_jobs_last_line(path);
    assert_string_equal(line, want);
    free(line);
}

static void test_last_line(void **state)
{
    check_last_line(NULL, "");
    check_last_line("", "");
    check_last_line("one", "one");
    check_last_line("one\ntwo words\n\n  \n", "two words");
    check_last_line("\n \n", "");
}

/* ---- what profiles say ---- */

static void put_profile(const struct as_jobs *jobs, uint64_t job, uint64_t cycles, uint64_t instructions)
{
    char *path = as_jobs_profile(jobs, job);
    struct as_store_writer *writer = bed_writer(path);
    as_store_add_meta(writer, AS_META_PROGRAM, "/bin/demo");
    as_store_add_meta(writer, AS_META_SOURCE, "model");
    as_store_add_meta_u64(writer, "instructions", instructions);
    if (cycles)
        as_store_add_meta_u64(writer, AS_META_CYCLES, cycles);
    bed_commit(writer);
    free(path);
}

/* Stands for the C library's, and counts. */
static bool without_processes;
static unsigned forks;
pid_t fork(void)
{
    pid_t (*next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
    forks++;
    return without_processes ? -1 : next();
}

static struct as_jobs_row collect(const struct as_jobs *jobs, uint64_t machine, bool apart)
{
    bool done[8] = {0};
    struct as_jobs_row row;
    struct as_error err = AS_ERROR_INIT;
    struct as_notices none = {0};
    bool ok;
    as_jobs_find_done(jobs, done);
    if (apart)
        ok = as_jobs_collect_end(as_jobs_collect_begin(jobs, machine, done, &none), jobs, &row, &err);
    else
        ok = as_jobs_collect(jobs, machine, done, &none, &row, &err);
    if (!ok)
        fail_msg("%s", err.message);
    return row;
}

static void check_row(const struct as_jobs_row *row, const struct as_jobs *jobs)
{
    char *merged = as_jobs_merged(jobs, 1);
    assert_int_equal(row->machine, 1);
    assert_int_equal(row->runs, 3);
    assert_int_equal(row->fewest, 80);
    assert_int_equal(row->most, 200);
    assert_int_equal(row->cycles.n, 2);
    assert_float_equal(row->cycles.mean, 300, 1e-9);
    assert_float_equal(row->cpi.mean, 3, 1e-9); /* 200 / 200 and 400 / 80 */
    assert_int_equal(row->unreadable.list.len, 1);
    assert_int_equal(row->unreadable.list.data[0], 6);
    assert_string_equal(row->merged, merged);
    assert_int_equal(access(merged, R_OK), 0);
    free(merged);
}

/* Of the second machine's four runs one cannot be read, one has no cycles. The first machine has none. */
static void test_collecting(void **state)
{
    struct as_jobs jobs = make_folder("collect", 4);
    put_profile(&jobs, 4, 200, 200);
    put_profile(&jobs, 5, 0, 100);
    put_profile(&jobs, 7, 400, 80);
    put(as_jobs_profile(&jobs, 6), "no profile");
    for (int apart = 0; apart <= 2; apart++) {
        without_processes = apart == 2;
        forks = 0;
        struct as_jobs_row row = collect(&jobs, 1, apart);
        check_row(&row, &jobs);
        as_jobs_row_free(&row);
        assert_null(row.merged);
        row = collect(&jobs, 0, apart);
        assert_int_equal(row.machine, 0);
        assert_int_equal(row.runs, 0);
        assert_int_equal(row.cycles.n, 0);
        assert_null(row.merged);
        as_jobs_row_free(&row);
        assert_int_equal(forks, apart ? 2 : 0);
    }
    without_processes = false;
    as_jobs_free(&jobs);
}

/* What cannot be merged is an error, with the same words from a process of its own. */
static void test_not_merged(void **state)
{
    struct as_jobs jobs = make_folder("unmerged", 2);
    bool done[4] = {0};
    struct as_jobs_row row;
    struct as_error here = AS_ERROR_INIT, apart = AS_ERROR_INIT;
    struct as_notices none = {0};
    put_profile(&jobs, 0, 10, 10);
    char *merged = as_jobs_merged(&jobs, 0);
    assert_int_equal(mkdir(merged, 0700), 0);
    free(merged);
    as_jobs_find_done(&jobs, done);
    assert_false(as_jobs_collect(&jobs, 0, done, &none, &row, &here));
    as_jobs_row_free(&row);
    assert_false(as_jobs_collect_end(as_jobs_collect_begin(&jobs, 0, done, &none), &jobs, &row, &apart));
    as_jobs_row_free(&row);
    assert_true(here.message[0] != '\0');
    assert_string_equal(here.message, apart.message);
    as_jobs_free(&jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_missing), cmocka_unit_test(test_names),      cmocka_unit_test(test_again),
        cmocka_unit_test(test_last_line),       cmocka_unit_test(test_collecting), cmocka_unit_test(test_not_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
