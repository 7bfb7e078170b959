/* Jobs on this machine: so many at once, each in a process group of its own. A job that takes too long is killed, with all
 * that it started; an interrupt kills all. A profile gets its name when its job has ended by itself: one that was cut short
 * is not a result. */
#include "base/clock.h"
#include "base/signals.h"
#include "jobs/jobs_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct seat {
    pid_t pid; /* 0: free */
    uint64_t job;
    double since;
    bool late;
};

struct here {
    const struct as_jobs *jobs;
    const struct as_jobs_how *how;
    struct seat *seats;
    size_t busy;
};

/* In the child: becomes the job. */
static _Noreturn void become(const struct as_jobs *jobs, char *const *argv, const char *log)
{
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (out < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(AS_EXIT_FAILURE);
    if (chdir(jobs->plan.directory) == 0)
        execv(argv[0], argv);
    dprintf(2, "assay jobs: cannot start '%s' in '%s': %s\n", argv[0], jobs->plan.directory, strerror(errno));
    _exit(AS_EXIT_FAILURE);
}

static bool start(struct here *here, struct seat *seat, uint64_t job, struct as_error *err)
{
    char *profile = as_jobs_unfinished(here->jobs, job), *log = as_jobs_log(here->jobs, job);
    struct as_words words = as_jobs_command(&here->jobs->plan, job, here->how->assay, profile);
    *as_vec_push(&words.list) = NULL;
    pid_t pid = fork();
    if (pid == 0)
        become(here->jobs, words.list.data, log);
    if (pid > 0)
        setpgid(pid, pid); /* whoever comes first */
    as_words_free(&words);
    free(profile);
    free(log);
    if (pid < 0)
        return as_error_set(err, "cannot start a job: %s", strerror(errno));
    *seat = (struct seat){.pid = pid, .job = job, .since = as_clock_seconds()};
    here->busy++;
    return true;
}

static void tell_end(const struct here *here, const struct seat *seat, int status, const char *log)
{
    FILE *file = fopen(log, "ae");
    if (!file)
        return;
    if (seat->late)
        fprintf(file, "assay jobs: ended because it took longer than %" PRIu64 " seconds\n", here->how->seconds);
    else if (as_signals_interrupts() != 0)
        fprintf(file, "assay jobs: ended because 'assay jobs' was interrupted\n");
    else if (WIFSIGNALED(status))
        fprintf(file, "assay jobs: killed by signal %d\n", WTERMSIG(status));
    fclose(file);
}

/* A job has ended. One that left a profile needs no log. */
static void note_end(struct here *here, struct seat *seat, int status)
{
    char *profile = as_jobs_profile(here->jobs, seat->job), *log = as_jobs_log(here->jobs, seat->job);
    char *unfinished = as_jobs_unfinished(here->jobs, seat->job);
    bool whole = WIFEXITED(status) && !seat->late && as_signals_interrupts() == 0;
    if (whole && rename(unfinished, profile) == 0)
        unlink(log);
    else
        tell_end(here, seat, status, log);
    if (!whole)
        unlink(unfinished);
    free(unfinished);
    free(profile);
    free(log);
    seat->pid = 0;
    here->busy--;
}

static void end_late(struct here *here)
{
    for (uint64_t i = 0; here->how->seconds && i < here->how->at_once; i++) {
        struct seat *seat = &here->seats[i];
        if (!seat->pid || as_clock_seconds() - seat->since <= (double)here->how->seconds)
            continue;
        seat->late = true;
        kill(-seat->pid, SIGKILL);
    }
}

static void end_all(const struct here *here)
{
    for (uint64_t i = 0; i < here->how->at_once; i++)
        if (here->seats[i].pid)
            kill(-here->seats[i].pid, SIGKILL);
}

/* Waits until a job has ended. */
static void await_one(struct here *here)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    size_t before = here->busy;
    for (bool ended = false; here->busy == before;) {
        for (uint64_t i = 0; i < here->how->at_once; i++) {
            int status;
            pid_t pid = here->seats[i].pid;
            if (pid && waitpid(pid, &status, WNOHANG) == pid)
                note_end(here, &here->seats[i], status);
        }
        if (here->busy != before)
            return;
        end_late(here);
        if (as_signals_interrupts() > 0 && !ended) {
            end_all(here);
            ended = true;
        }
        nanosleep(&pause, NULL);
    }
}

static struct seat *free_seat(const struct here *here)
{
    for (uint64_t i = 0; i < here->how->at_once; i++)
        if (!here->seats[i].pid)
            return &here->seats[i];
    return NULL;
}

bool as_jobs_run_here(const struct as_jobs *jobs, const struct as_job_list *list, const struct as_jobs_how *how,
                      struct as_error *err)
{
    struct here here = {.jobs = jobs, .how = how, .seats = as_alloc_array(how->at_once, sizeof *here.seats)};
    bool ok = true;
    as_signals_catch(&(struct as_signals){.attached = true});
    for (size_t i = 0; ok && i < list->list.len && as_signals_interrupts() == 0; i++) {
        while (here.busy == how->at_once)
            await_one(&here);
        if (as_signals_interrupts() == 0)
            ok = start(&here, free_seat(&here), list->list.data[i], err);
    }
    while (here.busy > 0)
        await_one(&here);
    if (ok && as_signals_interrupts() > 0)
        ok = as_error_set(err, "interrupted; the same command goes on");
    as_signals_restore();
    free(here.seats);
    return ok;
}
