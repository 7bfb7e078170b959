/* The table of a folder of jobs, as text, JSON and CSV, against tests/golden/jobs_shown.txt. The folder is real; what its
 * machines found is made by hand here in place of jobs_collect.c. */
#include "unit.h"

#include "cmd/jobs_shown.h"
#include "unit_golden.h"

enum { MACHINES = 5, REPEAT = 3 };

static bool merges[MACHINES]; /* false: "of another program" */
static struct as_jobs_row found[MACHINES];

struct as_jobs_collector {
    uint64_t machine;
};

struct as_jobs_collector *as_jobs_collect_begin(const struct as_jobs *jobs, uint64_t machine, const bool *done,
                                                const struct as_notices *notices)
{
    struct as_jobs_collector *collector = calloc(1, sizeof *collector);
    collector->machine = machine;
    assert_int_equal(done[0], 1);
    return collector;
}

bool as_jobs_collect_end(struct as_jobs_collector *collector, const struct as_jobs *jobs, struct as_jobs_row *row,
                         struct as_error *err)
{
    uint64_t machine = collector->machine;
    free(collector);
    *row = found[machine];
    return merges[machine] || as_error_set(err, "2.db is of another program");
}

void as_jobs_row_free(struct as_jobs_row *row)
{
    as_vec_free(&row->unreadable.list);
}

static struct as_spread spread(size_t n, double mean, double deviation)
{
    return (struct as_spread){.n = n, .mean = mean, .deviation = deviation};
}

/* Three runs that agree; two that do not execute the same; one; none; and two of which one cannot be read. */
static void find(void)
{
    memset(merges, true, sizeof merges);
    found[0] = (struct as_jobs_row){.machine = 0,
                                    .runs = 3,
                                    .cycles = spread(3, 1234567.6, 12345.676),
                                    .cpi = spread(3, 1.25, 0),
                                    .fewest = 987654,
                                    .most = 987654,
                                    .merged = "/f/machine-0.db"};
    found[1] = (struct as_jobs_row){.machine = 1,
                                    .runs = 2,
                                    .cycles = spread(2, 2000, 1000),
                                    .cpi = spread(2, 2, 0),
                                    .fewest = 999,
                                    .most = 1001,
                                    .merged = "/f/machine-1.db"};
    found[2] = (struct as_jobs_row){.machine = 2,
                                    .runs = 1,
                                    .cycles = spread(1, 5000, 0),
                                    .cpi = spread(1, 0.5, 0),
                                    .fewest = 10000,
                                    .most = 10000};
    found[3] = (struct as_jobs_row){.machine = 3};
    found[4] = (struct as_jobs_row){
        .machine = 4, .runs = 2, .cycles = spread(1, 0, 0), .cpi = spread(1, 0, 0), .merged = "/f/machine-4.db"};
    merges[2] = false;
    *as_vec_push(&found[4].unreadable.list) = 13;
    *as_vec_push(&found[4].unreadable.list) = 14;
}

static char folder[] = "/tmp/assay-jobs-shown.XXXXXX";

static void put(char *path, const char *text)
{
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_jobs_write_text(path, text, &err));
    free(path);
}

static struct as_jobs make_jobs(void)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_jobs jobs = {0};
    struct as_jobs_plan plan = {.directory = as_strdup("/"), .repeat = REPEAT};
    as_words_add(&plan.sets, as_strdup("rob=64,128,256,512,1024"));
    as_words_add(&plan.program, as_strdup("prog"));
    assert_true(as_jobs_create(&jobs, folder, &plan, &err));
    return jobs;
}

static void show(const struct as_jobs *jobs, enum as_jobs_form form, int status, FILE *out)
{
    struct as_error err = AS_ERROR_INIT;
    find();
    assert_int_equal(as_jobs_show(jobs, form, out, &err), status);
}

static void test_forms(void **state)
{
    struct as_jobs jobs = make_jobs();
    FILE *out = unit_golden_begin();
    for (uint64_t job = 0; job < 8; job++) /* seven are missing; of these, some left a last line */
        put(as_jobs_profile(&jobs, job), "");
    put(as_jobs_log(&jobs, 8), "beginning\nno memory\n\n");
    put(as_jobs_log(&jobs, 10), "\n");
    put(as_jobs_log(&jobs, 13), "a tab\there");
    unit_golden_section(out, "text");
    show(&jobs, AS_JOBS_TEXT, AS_EXIT_FAILURE, out);
    unit_golden_section(out, "JSON");
    show(&jobs, AS_JOBS_JSON, AS_EXIT_FAILURE, out);
    unit_golden_section(out, "CSV");
    show(&jobs, AS_JOBS_CSV, AS_EXIT_FAILURE, out);
    unit_golden_check(out, "jobs_shown.txt");
    as_jobs_free(&jobs);
}

/* All is well only where nothing is missing, everything was merged and everything could be read. */
static void test_status(void **state)
{
    struct as_jobs jobs = make_jobs();
    struct as_error err = AS_ERROR_INIT;
    FILE *out = fopen("/dev/null", "w");
    for (uint64_t job = 0; job < MACHINES * REPEAT; job++)
        put(as_jobs_profile(&jobs, job), "");
    show(&jobs, AS_JOBS_TEXT, AS_EXIT_FAILURE, out);
    for (int unreadable = 0; unreadable <= 1; unreadable++)
        for (int refused = 0; refused <= 1; refused++) {
            find();
            merges[2] = !refused;
            if (!unreadable)
                as_vec_free(&found[4].unreadable.list);
            assert_int_equal(as_jobs_show(&jobs, AS_JOBS_CSV, out, &err),
                             unreadable || refused ? AS_EXIT_FAILURE : AS_EXIT_OK);
        }
    fclose(out);
    as_jobs_free(&jobs);
}

static int make_folder(void **state)
{
    return mkdtemp(folder) && rmdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_status)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
