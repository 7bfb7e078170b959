/* See jobs_collect.h. Profiles are read one after the other; memory does not grow with their number, but for a path each. */
#include "jobs/jobs_collect.h"

#include "merge/merge.h"
#include "store/store_read.h"

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

void as_jobs_row_free(struct as_jobs_row *row)
{
    as_vec_free(&row->unreadable.list);
    free(row->merged);
    *row = (struct as_jobs_row){0};
}
