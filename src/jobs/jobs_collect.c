/* See jobs_collect.h. Profiles are read one after the other; memory does not grow with their number, but for a path each. */
#include "jobs/jobs_collect.h"

#include "merge/merge.h"
#include "store/store_read.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct runs {
    AS_VEC(struct as_merge_input) inputs;
    AS_VEC(double) cycles;
    AS_VEC(double) cpi;
};

static bool add_run(struct runs *runs, struct as_jobs_row *row, const char *path)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store *store = as_store_open(path, &err);
    uint64_t cycles, instructions;
    if (!store)
        return false;
    if (as_store_meta_u64(store, "instructions", &instructions) && instructions > 0) {
        row->fewest = row->runs == 0 || instructions < row->fewest ? instructions : row->fewest;
        row->most = instructions > row->most ? instructions : row->most;
        if (as_store_meta_u64(store, "cycles", &cycles)) {
            *as_vec_push(&runs->cycles) = (double)cycles;
            *as_vec_push(&runs->cpi) = (double)cycles / (double)instructions;
        }
    }
    as_store_close(store);
    *as_vec_push(&runs->inputs) = (struct as_merge_input){.path = as_strdup(path), .name = "a run", .weight = {1, 1}};
    row->runs++;
    return true;
}

static void read_runs(const struct as_jobs *jobs, const bool *done, struct runs *runs, struct as_jobs_row *row)
{
    uint64_t first = row->machine * jobs->plan.repeat;
    for (uint64_t job = first; job < first + jobs->plan.repeat; job++) {
        char *path = done[job] ? as_jobs_profile(jobs, job) : NULL;
        if (path && !add_run(runs, row, path))
            *as_vec_push(&row->unreadable.list) = job;
        free(path);
    }
    row->cycles = as_spread_of(runs->cycles.data, runs->cycles.len);
    row->cpi = as_spread_of(runs->cpi.data, runs->cpi.len);
}

bool as_jobs_collect(const struct as_jobs *jobs, uint64_t machine, const bool *done, const struct as_notices *notices,
                     struct as_jobs_row *row, struct as_error *err)
{
    struct runs runs = {0};
    struct as_merge_options options = {.runs = true, .notices = *notices};
    *row = (struct as_jobs_row){.machine = machine};
    read_runs(jobs, done, &runs, row);
    bool ok = true;
    if (row->runs > 0) {
        row->merged = as_jobs_merged(jobs, machine);
        ok = as_merge(runs.inputs.data, runs.inputs.len, row->merged, &options, err);
    }
    for (size_t i = 0; i < runs.inputs.len; i++)
        free((char *)runs.inputs.data[i].path);
    as_vec_free(&runs.inputs);
    as_vec_free(&runs.cycles);
    as_vec_free(&runs.cpi);
    return ok;
}

/* ---- in a process of its own ---- */

/* What the process tells: the row, whose lists are told apart. */
struct told {
    bool ok;
    struct as_jobs_row row;
    char message[1024];
    size_t n_unreadable;
    uint64_t unreadable[];
};

struct as_jobs_collector {
    uint64_t machine;
    pid_t pid; /* 0: it has been done here */
    size_t size;
    struct told *told; /* shared memory */
    struct as_jobs_row row;
    struct as_error err;
    bool ok;
};

static void tell(struct told *told, bool ok, const struct as_jobs_row *row, const struct as_error *err)
{
    told->ok = ok;
    told->row = *row;
    if (!ok)
        snprintf(told->message, sizeof told->message, "%s", err->message);
    told->n_unreadable = row->unreadable.list.len;
    if (told->n_unreadable)
        memcpy(told->unreadable, row->unreadable.list.data, told->n_unreadable * sizeof *told->unreadable);
}

struct as_jobs_collector *as_jobs_collect_begin(const struct as_jobs *jobs, uint64_t machine, const bool *done,
                                                const struct as_notices *notices)
{
    struct as_jobs_collector *own = as_alloc(sizeof *own);
    pid_t parent = getpid();
    own->machine = machine;
    own->err = (struct as_error)AS_ERROR_INIT;
    own->size = sizeof *own->told + jobs->plan.repeat * sizeof *own->told->unreadable;
    own->told = mmap(NULL, own->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fflush(NULL);
    own->pid = own->told != MAP_FAILED ? fork() : -1;
    if (own->pid > 0)
        return own;
    if (own->pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (own->pid == 0 && getppid() != parent)
        _exit(AS_EXIT_FAILURE);
    own->ok = as_jobs_collect(jobs, machine, done, notices, &own->row, &own->err);
    if (own->pid == 0) {
        tell(own->told, own->ok, &own->row, &own->err);
        _exit(AS_EXIT_OK);
    }
    own->pid = 0;
    return own;
}

/* Takes over what the process has told. */
static bool hear(struct as_jobs_collector *own, const struct as_jobs *jobs)
{
    const struct told *told = own->told;
    int status;
    while (waitpid(own->pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != AS_EXIT_OK)
        return as_error_set(&own->err, "the process that merged machine %" PRIu64 " was ended", own->machine);
    own->row = told->row;
    own->row.merged = told->row.runs ? as_jobs_merged(jobs, own->machine) : NULL;
    own->row.unreadable = (struct as_job_list){0};
    for (size_t i = 0; i < told->n_unreadable; i++)
        *as_vec_push(&own->row.unreadable.list) = told->unreadable[i];
    return told->ok || as_error_set(&own->err, "%s", told->message);
}

bool as_jobs_collect_end(struct as_jobs_collector *own, const struct as_jobs *jobs, struct as_jobs_row *row,
                         struct as_error *err)
{
    own->row.machine = own->machine;
    if (own->pid)
        own->ok = hear(own, jobs);
    bool ok = own->ok;
    *row = own->row;
    row->machine = own->machine;
    *err = own->err;
    if (own->told != MAP_FAILED)
        munmap(own->told, own->size);
    free(own);
    return ok;
}

void as_jobs_row_free(struct as_jobs_row *row)
{
    as_vec_free(&row->unreadable.list);
    free(row->merged);
    *row = (struct as_jobs_row){0};
}
