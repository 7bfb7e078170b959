/* Running jobs: here with a script in the place of `assay`, and on Slurm with scripts in the place of its programs. */
#include "jobs/jobs_run.h"
#include "store_bed.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>

static void put(const char *path, const char *text)
{
    struct as_error err = AS_ERROR_INIT;
    if (!as_jobs_write_text(path, text, &err) || chmod(path, 0700) != 0)
        fail_msg("%s: %s", path, err.message);
}

static char *get(const char *path)
{
    struct as_error err = AS_ERROR_INIT;
    char *text = as_jobs_read_text(path, &err);
    if (!text)
        fail_msg("%s", err.message);
    return text;
}

/* The program is a line of shell, which the script that stands for assay runs. */
static struct as_jobs make_folder(const char *name, uint64_t repeat, const char *program)
{
    struct as_jobs jobs = {0};
    struct as_jobs_plan plan = {.directory = as_strdup("/"), .repeat = repeat};
    struct as_error err = AS_ERROR_INIT;
    as_words_add(&plan.program, as_strdup(program));
    if (!as_jobs_create(&jobs, bed_path(name), &plan, &err))
        fail_msg("%s", err.message);
    return jobs;
}

/* Takes the seed and the output from its options and does what the program says with them. */
static const char *stand_in(void)
{
    const char *path = bed_path("assay");
    put(path, "#!/bin/sh\n"
              "for word; do case $word in --seed=*) seed=${word#*=};; --output=*) output=${word#*=};; esac; done\n"
              "eval \"$word\"\n");
    return path;
}

/* Signals do afterwards what they did before. */
static void check_signals(const struct sigaction before[2])
{
    static const int numbers[2] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++) {
        struct sigaction after;
        assert_int_equal(sigaction(numbers[i], NULL, &after), 0);
        assert_ptr_equal(after.sa_handler, before[i].sa_handler);
    }
}

static bool run_here(const struct as_jobs *jobs, uint64_t at_once, uint64_t seconds, struct as_error *err)
{
    struct as_jobs_how how = {.assay = stand_in(), .at_once = at_once, .seconds = seconds};
    struct as_job_list all = as_jobs_missing(jobs);
    struct sigaction before[2];
    sigaction(SIGINT, NULL, &before[0]);
    sigaction(SIGTERM, NULL, &before[1]);
    bool ok = as_jobs_run_here(jobs, &all, &how, err);
    check_signals(before);
    as_vec_free(&all.list);
    return ok;
}

static void check_file(char *path, const char *want) /* NULL: it is not there */
{
    if (!want)
        assert_int_equal(access(path, F_OK), -1);
    if (want) {
        char *text = get(path);
        assert_string_equal(text, want);
        free(text);
    }
    free(path);
}

/* A profile is there when its job has ended by itself; a log is kept where there is none. */
static void test_here(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_jobs jobs = make_folder("here", 5,
                                      "test -t 0 || ! read line || exit; case $seed in 3) pwd; echo no >&2; exit 1;; "
                                      "4) echo part >$output; kill -9 $$;; esac; echo said; echo $seed >$output");
    for (uint64_t at_once = 1; at_once <= 3; at_once += 2) {
        assert_true(run_here(&jobs, at_once, 0, &err));
        check_file(as_jobs_profile(&jobs, 0), "1\n");
        check_file(as_jobs_log(&jobs, 0), NULL);
        check_file(as_jobs_profile(&jobs, 1), "2\n");
        check_file(as_jobs_profile(&jobs, 2), NULL);
        check_file(as_jobs_log(&jobs, 2), "/\nno\n");
        check_file(as_jobs_profile(&jobs, 3), NULL);
        check_file(as_jobs_unfinished(&jobs, 3), NULL);
        check_file(as_jobs_log(&jobs, 3), "assay jobs: killed by signal 9\n");
        check_file(as_jobs_profile(&jobs, 4), "5\n");
        check_file(as_jobs_unfinished(&jobs, 4), NULL);
    }
    as_jobs_free(&jobs);
}

static void test_not_started(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_jobs jobs = make_folder("absent", 1, "true");
    struct as_jobs_how how = {.assay = "/nothing/here", .at_once = 1};
    struct as_job_list all = as_jobs_missing(&jobs);
    assert_true(as_jobs_run_here(&jobs, &all, &how, &err));
    check_file(as_jobs_log(&jobs, 0), "assay jobs: cannot start '/nothing/here' in '/': No such file or directory\n");
    as_vec_free(&all.list);
    as_jobs_free(&jobs);
}

/* What a job started ends with it, and a profile that it was at is not a result. The other job has no such time. */
static void test_late(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_jobs jobs = make_folder("late", 2, "echo $seed >$output; test $seed = 2 || sleep 100");
    assert_true(run_here(&jobs, 2, 1, &err));
    check_file(as_jobs_profile(&jobs, 0), NULL);
    check_file(as_jobs_unfinished(&jobs, 0), NULL);
    check_file(as_jobs_log(&jobs, 0), "assay jobs: ended because it took longer than 1 seconds\n");
    as_jobs_free(&jobs);
}

/* The second job interrupts Assay, which ends it, keeps what is done, and starts no third one. */
static void test_interrupted(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    char *program = as_format("echo $seed >$output; test $seed != 2 || { kill -INT %ld; sleep 100; }", (long)getpid());
    struct as_jobs jobs = make_folder("interrupted", 3, program);
    assert_false(run_here(&jobs, 1, 0, &err));
    assert_string_equal(err.message, "interrupted; the same command goes on");
    check_file(as_jobs_profile(&jobs, 0), "1\n");
    check_file(as_jobs_profile(&jobs, 1), NULL);
    check_file(as_jobs_unfinished(&jobs, 1), NULL);
    check_file(as_jobs_log(&jobs, 1), "assay jobs: ended because 'assay jobs' was interrupted\n");
    check_file(as_jobs_profile(&jobs, 2), NULL);
    check_file(as_jobs_log(&jobs, 2), NULL);
    as_jobs_free(&jobs);
    free(program);
}

/* Jobs end with the process that runs them, however it ends. */
static void test_orphans(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_jobs jobs = make_folder("orphans", 1, "echo $$ >$output; exec sleep 60");
    char *path = as_jobs_unfinished(&jobs, 0);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* the job becomes a child of this test */
    pid_t runner = fork();
    if (runner == 0)
        _exit(run_here(&jobs, 1, 0, &err));
    struct stat info;
    while (stat(path, &info) != 0 || info.st_size == 0)
        usleep(1000);
    char *text = get(path);
    int status;
    pid_t job = atoi(text);
    assert_true(job > 0 && kill(runner, SIGKILL) == 0 && waitpid(runner, &status, 0) == runner);
    assert_int_equal(waitpid(job, &status, 0), job);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    free(text);
    free(path);
    as_jobs_free(&jobs);
}

/* ---- Slurm ---- */

/* Programs that note how they are called; sbatch does the jobs of the list right away, by `body`. */
static void make_slurm(const char *sbatch, const char *squeue)
{
    char *path = as_format("%s:%s", bed_path("bin"), "/usr/bin:/bin");
    mkdir(bed_path("bin"), 0700);
    setenv("PATH", path, 1);
    setenv("NOTES", bed_path("notes"), 1);
    put(bed_path("bin/sbatch"), sbatch);
    put(bed_path("bin/squeue"), squeue);
    put(bed_path("notes"), "");
    free(path);
}

static const char over[] = "#!/bin/sh\necho \"squeue $*\" >>$NOTES\n";

static void check_notes(const struct as_jobs *jobs, const char *want)
{
    char *notes = get(bed_path("notes")), *full = as_format(want, jobs->folder, jobs->folder);
    assert_string_equal(notes, full);
    free(notes);
    free(full);
}

static void say(void *context, enum as_log_level level, const char *text)
{
    as_str_addf(context, "%s\n", text);
}

/* Seven jobs in at most three tasks: three each, in three tasks. */
static void test_slurm(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_str said = {0};
    struct as_jobs jobs = make_folder("slurm's", 7, "true");
    struct as_jobs_how how = {.assay = "/opt/as say",
                              .tasks = 3,
                              .seconds = 50,
                              .partition = "short",
                              .megabytes = 100,
                              .notices = {.say = say, .context = &said}};
    struct as_job_list all = as_jobs_missing(&jobs);
    make_slurm("#!/bin/sh\necho \"sbatch $*\" >>$NOTES\necho '42;cluster'\n", over);
    mode_t mask = umask(027);
    struct sigaction before[2];
    sigaction(SIGINT, NULL, &before[0]);
    sigaction(SIGTERM, NULL, &before[1]);
    if (!as_jobs_run_slurm(&jobs, &all, &how, &err))
        fail_msg("%s", err.message);
    umask(mask);
    check_signals(before);
    check_notes(&jobs, "sbatch --parsable --requeue --job-name=assay --array=0-2 --output=%s/slurm/%%A_%%a.out "
                       "--partition=short --mem=100 --time=4 %s/slurm/task.sh\nsqueue --noheader --jobs 42\n");
    assert_string_equal(as_str_get(&said), "7 jobs are array 42 of Slurm, in 3 tasks\n");
    check_file(as_format("%s/slurm/list", jobs.folder), "3\n0\n1\n2\n3\n4\n5\n6\n");
    check_file(as_format("%s/slurm/array", jobs.folder), NULL); /* it is over */
    char *quoted = as_format("#!/bin/sh\nexec '/opt/as say' jobs --quiet --jobs 1 --time 50 --task "
                             "\"$SLURM_ARRAY_TASK_ID\" -- '%.*s'\\''s'\n",
                             (int)strlen(jobs.folder) - 2, jobs.folder);
    char *script = as_format("%s/slurm/task.sh", jobs.folder);
    struct stat file;
    assert_int_equal(stat(script, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0750);
    check_file(script, quoted);
    free(quoted);
    as_str_free(&said);
    as_vec_free(&all.list);
    as_jobs_free(&jobs);
}

static void check_task(const struct as_jobs *jobs, uint64_t task, const char *want) /* NULL: there is none */
{
    struct as_error err = AS_ERROR_INIT;
    struct as_job_list list = {0};
    struct as_str text = {0};
    assert_int_equal(as_jobs_task(jobs, task, &list, &err), want != NULL);
    as_job_list_show(&list, &text);
    if (want)
        assert_string_equal(as_str_get(&text), want);
    else
        assert_true(err.message[0] != '\0');
    as_str_free(&text);
    as_vec_free(&list.list);
}

static void test_tasks(void **state)
{
    struct as_jobs jobs = make_folder("tasks", 7, "true");
    check_task(&jobs, 0, NULL); /* no list */
    assert_int_equal(mkdir(bed_path("tasks/slurm"), 0700), 0);
    put(bed_path("tasks/slurm/list"), "3\n0\n1\n3\n4\n6\n");
    check_task(&jobs, 0, "0-1, 3");
    check_task(&jobs, 1, "4, 6");
    check_task(&jobs, 100, NULL);
    put(bed_path("tasks/slurm/list"), "3\n0\n7\n"); /* not one of the plan's */
    check_task(&jobs, 0, NULL);
    put(bed_path("tasks/slurm/list"), "0\n1\n");
    check_task(&jobs, 0, NULL);
    put(bed_path("tasks/slurm/list"), "");
    check_task(&jobs, 0, NULL);
    put(bed_path("tasks/slurm/list"), "3\n"); /* a list of no jobs */
    check_task(&jobs, 0, "");
    as_jobs_free(&jobs);
}

static void check_refused(const struct as_jobs *jobs, const char *want)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_job_list all = as_jobs_missing(jobs);
    struct as_jobs_how how = {.assay = "assay", .tasks = 3};
    assert_false(as_jobs_run_slurm(jobs, &all, &how, &err));
    assert_string_equal(err.message, want);
    check_file(as_format("%s/slurm/array", jobs->folder), NULL);
    as_vec_free(&all.list);
}

static void test_slurm_refuses(void **state)
{
    struct as_jobs jobs = make_folder("refused", 2, "true");
    make_slurm("#!/bin/sh\necho 'no such partition'\nexit 1\n", over);
    check_refused(&jobs, "sbatch: no such partition");
    make_slurm("#!/bin/sh\necho 'hello'\n", over); /* not a number */
    check_refused(&jobs, "sbatch: hello");
    unlink(bed_path("bin/sbatch"));
    setenv("PATH", bed_path("bin"), 1);
    check_refused(&jobs, "there is no sbatch here: is Slurm installed?");
    as_jobs_free(&jobs);
}

/* An array that was submitted before is awaited, and does not run again what it has done. That Slurm does not answer once, or that
 * squeue fails without a word, does not mean that it is over. */
static void test_slurm_goes_on(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_jobs jobs = make_folder("goes_on", 1, "true");
    struct as_job_list all = as_jobs_missing(&jobs);
    struct as_jobs_how how = {.assay = "assay", .tasks = 3};
    make_slurm("#!/bin/sh\necho \"sbatch $*\" >>$NOTES\n",
               "#!/bin/sh\necho \"squeue $*\" >>$NOTES\n"
               "test -e $NOTES.3 && { echo 'slurm_load_jobs error: Invalid job id specified'; exit 1; }\n"
               "test -e $NOTES.2 && { : >$NOTES.3; exit 1; }\n"
               "test -e $NOTES.1 && { : >$NOTES.2; echo 'slurm_load_jobs error: Unable to contact'; exit 1; }\n"
               ": >$NOTES.1\necho ' 7 running'\n");
    char *profile = as_jobs_profile(&jobs, 0);
    assert_int_equal(mkdir(bed_path("goes_on/slurm"), 0700), 0);
    put(bed_path("goes_on/slurm/array"), "7");
    put(profile, "done meanwhile");
    if (!as_jobs_run_slurm(&jobs, &all, &how, &err))
        fail_msg("%s", err.message);
    check_notes(&jobs, "squeue --noheader --jobs 7\nsqueue --noheader --jobs 7\n"
                       "squeue --noheader --jobs 7\nsqueue --noheader --jobs 7\n");
    check_file(as_format("%s/slurm/array", jobs.folder), NULL);
    free(profile);
    as_vec_free(&all.list);
    as_jobs_free(&jobs);
}

/* Interrupted while Slurm is at it, it says how to end that or to go on; the array is kept for then. Slurm is asked again only so often. */
static void test_slurm_interrupted(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_jobs jobs = make_folder("broken_off", 2, "true");
    struct as_job_list all = as_jobs_missing(&jobs);
    struct as_jobs_how how = {.assay = "assay", .tasks = 3};
    struct sigaction before[2];
    char *squeue =
        as_format("#!/bin/sh\necho \"squeue $*\" >>$NOTES\nkill -INT %ld\necho ' 8 running'\n", (long)getpid());
    make_slurm("#!/bin/sh\necho \"sbatch\" >>$NOTES\necho 8\n", squeue);
    sigaction(SIGINT, NULL, &before[0]);
    sigaction(SIGTERM, NULL, &before[1]);
    for (int i = 0; i < 2; i++) { /* the second time it is there already */
        assert_false(as_jobs_run_slurm(&jobs, &all, &how, &err));
        assert_string_equal(err.message,
                            "interrupted; array 8 goes on ('scancel 8' ends it), and the same command waits for it");
        check_signals(before);
        check_file(as_format("%s/slurm/array", jobs.folder), "8");
    }
    check_notes(&jobs, "sbatch\nsqueue --noheader --jobs 8\nsqueue --noheader --jobs 8\n");
    as_vec_free(&all.list);
    as_jobs_free(&jobs);
    free(squeue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_here),          cmocka_unit_test(test_not_started),
        cmocka_unit_test(test_late),          cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_orphans),       cmocka_unit_test(test_slurm),
        cmocka_unit_test(test_tasks),         cmocka_unit_test(test_slurm_goes_on),
        cmocka_unit_test(test_slurm_refuses), cmocka_unit_test(test_slurm_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
