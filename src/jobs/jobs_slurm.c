/* Jobs on a Slurm cluster, as one array: each task takes a part of the list. Slurm's programs are used as a person would
 * use them, so every version works. The array's number is kept in the folder: if this process ends, the next one waits
 * for the same array instead of submitting another. */
#include "base/clock.h"
#include "base/number.h"
#include "base/signals.h"
#include "base/split.h"
#include "jobs/jobs_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const double patience = 600, longest_pause = 10; /* seconds */

/* ---- Slurm's programs ---- */

/* Runs a program and takes what it prints. Returns its status, 127 where there is none. */
static int capture(char *const *argv, struct as_str *text)
{
    int ends[2], status = 0;
    char buffer[512];
    if (pipe(ends) != 0)
        return AS_EXIT_FAILURE;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        execvp(argv[0], argv);
        _exit(AS_EXIT_NOT_FOUND);
    }
    close(ends[1]);
    for (ssize_t n; pid > 0 && ((n = read(ends[0], buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR));)
        as_str_add_bytes(text, buffer, n > 0 ? (size_t)n : 0);
    close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : AS_EXIT_FAILURE;
}

/* Whether the array is not over; -1: nobody could say. */
static int is_queued(const char *array)
{
    struct as_str text = {0};
    char *const argv[] = {(char *)"squeue", (char *)"--noheader", (char *)"--jobs", (char *)array, NULL};
    int status = capture(argv, &text);
    bool forgotten = strstr(as_str_get(&text), "Invalid job id") != NULL;
    int queued = status == 0 ? strspn(as_str_get(&text), " \n\t") < text.len : forgotten ? 0 : -1;
    as_str_free(&text);
    return queued;
}

/* ---- an array ---- */

static char *path_of(const struct as_jobs *jobs, const char *name)
{
    return as_format("%s/slurm/%s", jobs->folder, name);
}

static bool write_file(const struct as_jobs *jobs, const char *name, const char *text, struct as_error *err)
{
    char *path = path_of(jobs, name);
    struct stat file;
    bool ok = as_jobs_write_text(path, text, err);
    /* Whoever may read it may run it: chmod() does not heed the umask. */
    if (ok && (stat(path, &file) != 0 || chmod(path, (file.st_mode | (file.st_mode & 0444) >> 2) & 07777) != 0))
        ok = as_error_set(err, "cannot make '%s' executable: %s", path, strerror(errno));
    free(path);
    return ok;
}

static uint64_t jobs_of_task(size_t jobs, uint64_t tasks)
{
    return (jobs + tasks - 1) / tasks;
}

/* First line: jobs of a task; then one job a line. */
static bool write_list(const struct as_jobs *jobs, const struct as_job_list *list, uint64_t each, struct as_error *err)
{
    struct as_str text = {0};
    as_str_addf(&text, "%" PRIu64 "\n", each);
    for (size_t i = 0; i < list->list.len; i++)
        as_str_addf(&text, "%" PRIu64 "\n", list->list.data[i]);
    bool ok = write_file(jobs, "list", as_str_get(&text), err);
    as_str_free(&text);
    return ok;
}

/* 'word' for a shell. */
static void quote(struct as_str *text, const char *word)
{
    as_str_add(text, "'");
    for (; *word; word++)
        if (*word == '\'')
            as_str_add(text, "'\\''");
        else
            as_str_add_bytes(text, word, 1);
    as_str_add(text, "'");
}

static bool write_script(const struct as_jobs *jobs, const struct as_jobs_how *how, struct as_error *err)
{
    struct as_str text = {0};
    as_str_add(&text, "#!/bin/sh\nexec ");
    quote(&text, how->assay);
    as_str_add(&text, " jobs --quiet --jobs 1");
    if (how->seconds)
        as_str_addf(&text, " --time %" PRIu64, how->seconds);
    as_str_add(&text, " --task \"$SLURM_ARRAY_TASK_ID\" -- ");
    quote(&text, jobs->folder);
    as_str_add(&text, "\n");
    bool ok = write_file(jobs, "task.sh", as_str_get(&text), err);
    as_str_free(&text);
    return ok;
}

static struct as_words sbatch(const struct as_jobs *jobs, const struct as_jobs_how *how, uint64_t tasks, uint64_t each)
{
    struct as_words words = {0};
    as_words_add(&words, as_strdup("sbatch"));
    as_words_add(&words, as_strdup("--parsable"));
    as_words_add(&words, as_strdup("--requeue"));
    as_words_add(&words, as_strdup("--job-name=assay"));
    as_words_add(&words, as_format("--array=0-%" PRIu64, tasks - 1));
    as_words_add(&words, as_format("--output=%s/slurm/%%A_%%a.out", jobs->folder));
    if (how->partition)
        as_words_add(&words, as_format("--partition=%s", how->partition));
    if (how->megabytes)
        as_words_add(&words, as_format("--mem=%" PRIu64, how->megabytes));
    if (how->seconds) /* in minutes, with one for what surrounds the jobs */
        as_words_add(&words, as_format("--time=%" PRIu64, (how->seconds * each + 59) / 60 + 1));
    as_words_add(&words, path_of(jobs, "task.sh"));
    *as_vec_push(&words.list) = NULL;
    return words;
}

static bool submit(const struct as_jobs *jobs, const struct as_job_list *list, const struct as_jobs_how *how,
                   struct as_error *err)
{
    uint64_t each = jobs_of_task(list->list.len, how->tasks), tasks = jobs_of_task(list->list.len, each);
    if (!write_list(jobs, list, each, err) || !write_script(jobs, how, err))
        return false;
    struct as_str text = {0};
    struct as_words words = sbatch(jobs, how, tasks, each);
    int status = capture(words.list.data, &text);
    as_words_free(&words);
    char *array = as_strndup(as_str_get(&text), strcspn(as_str_get(&text), ";\n"));
    uint64_t number;
    bool ok = status == 0 && as_number_read(array, &number);
    if (!ok)
        as_error_set(err, status == AS_EXIT_NOT_FOUND ? "there is no sbatch here%s" : "sbatch: %s",
                     status == AS_EXIT_NOT_FOUND ? ": is Slurm installed?" : array);
    ok = ok && write_file(jobs, "array", array, err);
    if (ok)
        as_notice(&how->notices, AS_LOG_NOTE, "%zu jobs are array %s of Slurm, in %" PRIu64 " tasks", list->list.len,
                  array, tasks);
    free(array);
    as_str_free(&text);
    return ok;
}

/* Waits until the array of the folder is over. */
static bool await_array(const struct as_jobs *jobs, struct as_error *err)
{
    char *path = path_of(jobs, "array"),
         *array = access(path, F_OK) == 0 ? as_jobs_read_text(path, err) : as_strdup("");
    double pause = 0.25, asked = as_clock_seconds();
    bool ok = array != NULL;
    as_signals_catch(&(struct as_signals){.attached = true});
    for (int queued; ok && *array && (queued = is_queued(array)) != 0;) {
        if (queued > 0)
            asked = as_clock_seconds();
        else if (as_clock_seconds() - asked > patience)
            ok = as_error_set(err, "Slurm does not answer; the same command goes on with array %s", array);
        if (as_signals_interrupts() > 0)
            ok = as_error_set(err,
                              "interrupted; array %s goes on ('scancel %s' ends it), and the same command waits for it",
                              array, array);
        nanosleep(&(struct timespec){.tv_sec = (time_t)pause, .tv_nsec = (long)((pause - (double)(time_t)pause) * 1e9)},
                  NULL);
        pause = pause * 1.5 < longest_pause ? pause * 1.5 : longest_pause;
    }
    as_signals_restore();
    if (ok)
        unlink(path);
    free(array);
    free(path);
    return ok;
}

bool as_jobs_run_slurm(const struct as_jobs *jobs, const struct as_job_list *list, const struct as_jobs_how *how,
                       struct as_error *err)
{
    if (!as_jobs_make_folder(jobs, "slurm", err) || !await_array(jobs, err))
        return false;
    struct as_job_list missing = as_jobs_missing(jobs); /* one that was submitted before may have done them */
    bool ok = missing.list.len == 0 ||
              (submit(jobs, list->list.len < missing.list.len ? list : &missing, how, err) && await_array(jobs, err));
    as_vec_free(&missing.list);
    return ok;
}

bool as_jobs_task(const struct as_jobs *jobs, uint64_t task, struct as_job_list *list, struct as_error *err)
{
    char *path = path_of(jobs, "list"), *text = as_jobs_read_text(path, err);
    size_t n = 0;
    char **lines = text ? as_split(text, "\n", &n) : NULL;
    uint64_t each = 0, job, all = as_jobs_count(&jobs->plan);
    bool ok = text && n > 0 && as_number_read(lines[0], &each) && each > 0 && task < n;
    for (uint64_t i = task * each + 1; ok && i < n && i <= (task + 1) * each; i++)
        if ((ok = as_number_read(lines[i], &job) && job < all))
            *as_vec_push(&list->list) = job;
    if (text && !ok)
        as_error_set(err, "'%s' is not a list of jobs with a task %" PRIu64, path, task);
    as_split_free(lines);
    free(text);
    free(path);
    return ok;
}
