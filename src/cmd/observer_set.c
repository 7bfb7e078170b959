/* See observer_set.h. */
#include "cmd/observer_set.h"

#include "base/log.h"
#include "base/path.h"
#include "base/processors.h"
#include "base/vec.h"
#include "cmd/output.h"
#include "observe/observer_load.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct observer_file {
    char *path;
    struct as_output output;
};

struct as_observer_set {
    const char *result;
    const struct as_observer_set *before;
    AS_VEC(struct as_loaded_observer) loaded;
    pthread_mutex_t mutex; /* guards what follows */
    AS_VEC(struct observer_file *) files;
    size_t own;          /* files from here on belong to the observer that is being created */
    struct as_error err; /* error of the first file that could not be opened */
    bool failed;
};

struct as_observer_set *as_observer_set_new(const char *result, const struct as_observer_set *before)
{
    struct as_observer_set *set = as_alloc(sizeof *set);
    set->result = result;
    set->before = before;
    set->own = SIZE_MAX;
    pthread_mutex_init(&set->mutex, NULL);
    return set;
}

/* ---- files ---- */

static bool is_open(const struct as_observer_set *set, const char *path)
{
    for (size_t i = 0; i < set->files.len; i++)
        if (as_path_is_same(set->files.data[i]->path, path))
            return true;
    return false;
}

/* Checks that neither the command nor an observer of an earlier set writes to `path`. */
static bool check_free(const struct as_observer_set *set, const char *path, struct as_error *err)
{
    if (set->result && as_path_is_same(set->result, path))
        return as_error_set_status(err, AS_EXIT_USAGE, "--output and --observer cannot write to one file (%s)", path);
    for (const struct as_observer_set *before = set->before; before; before = before->before)
        if (is_open(before, path))
            return as_error_set_status(err, AS_EXIT_USAGE,
                                       "the observers of two machines cannot write to one file (%s)", path);
    return true;
}

static struct observer_file *open_file(struct as_observer_set *set, const char *path, struct as_error *err)
{
    if (!check_free(set, path, err))
        return NULL;
    for (size_t i = 0; i < set->files.len; i++) {
        if (strcmp(set->files.data[i]->path, path) != 0 && !as_path_is_same(set->files.data[i]->path, path))
            continue;
        if (i >= set->own)
            return set->files.data[i]; /* opened by another worker */
        as_error_set_status(err, AS_EXIT_USAGE, "two observers cannot write to one file (%s)", path);
        return NULL;
    }
    struct observer_file *file = as_alloc(sizeof *file);
    file->path = as_strdup(path);
    if (as_output_open(&file->output, file->path, err)) {
        *as_vec_push(&set->files) = file;
        return file;
    }
    free(file->path);
    free(file);
    return NULL;
}

FILE *as_observer_set_open(void *context, const char *path)
{
    struct as_observer_set *set = context;
    struct as_error err = AS_ERROR_INIT;
    pthread_mutex_lock(&set->mutex);
    struct observer_file *file = set->failed ? NULL : open_file(set, path, &err);
    if (!file && !set->failed) {
        set->failed = true;
        set->err = err;
    }
    pthread_mutex_unlock(&set->mutex);
    return file ? file->output.file : NULL;
}

/* Notes the size of a file in a readable unit. */
static void note_size(const struct observer_file *file, double bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    size_t unit = 0;
    for (; bytes >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1000;
    fflush(stdout); /* or the line may come in the middle of one of the report, where both go to one place */
    as_log_note("wrote %s (%.*f %s)", file->path, unit ? 1 : 0, bytes, units[unit]);
}

static bool finish_file(struct observer_file *file, struct as_error *err)
{
    off_t size = ftello(file->output.file);
    bool ok = as_output_finish(&file->output, err);
    file->output = (struct as_output){0};
    if (ok && size >= 0)
        note_size(file, (double)size);
    return ok;
}

bool as_observer_set_finish(struct as_observer_set *set, struct as_error *err)
{
    if (set->failed) {
        *err = set->err;
        return false;
    }
    for (size_t i = 0; i < set->files.len; i++)
        if (!finish_file(set->files.data[i], err))
            return false;
    return true;
}

/* ---- observers ---- */

/* Keeps what was created until the set is freed; its `self` belongs to the fan-out from now on. */
static bool add_to(struct as_observer_set *set, const struct as_loaded_observer *loaded, const char *spec,
                   bool accesses, struct as_fanout *fanout, struct as_error *err)
{
    void *selves[AS_OBSERVER_MOST_WORKERS];
    *as_vec_push(&set->loaded) = *loaded;
    if (accesses ? !loaded->ops->accesses : !loaded->ops->batch)
        return as_error_set_status(err, AS_EXIT_USAGE, "--observer %s: '%s' takes %s", spec, loaded->ops->name,
                                   accesses ? "the core model's records; use it with assay compare"
                                            : "only accesses; use it with assay stat");
    size_t n = as_fanout_count_workers(loaded->ops, as_processors());
    n = n < AS_OBSERVER_MOST_WORKERS ? n : AS_OBSERVER_MOST_WORKERS;
    set->own = set->files.len;
    bool created = as_observer_create(loaded, selves, n, err);
    set->own = SIZE_MAX;
    if (!created)
        return false;
    as_fanout_add_workers(fanout, loaded->ops, selves, n, loaded->foreign);
    return true;
}

bool as_observer_set_add(struct as_observer_set *set, const char *spec, bool accesses, const struct as_run_info *run,
                         struct as_fanout *fanout, struct as_error *err)
{
    struct as_loaded_observer loaded;
    if (!as_observer_load(spec, run, &loaded, err))
        return false;
    bool added = add_to(set, &loaded, spec, accesses, fanout, err);
    if (!added && set->failed)
        *err = set->err; /* the reason why it could not be created */
    return added;
}

void as_observer_set_free(struct as_observer_set *set, bool crashed)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->files.len; i++) {
        as_output_drop(&set->files.data[i]->output);
        free(set->files.data[i]->path);
        free(set->files.data[i]);
    }
    for (size_t i = 0; i < set->loaded.len && !crashed; i++)
        as_observer_unload(&set->loaded.data[i]);
    as_vec_free(&set->files);
    as_vec_free(&set->loaded);
    pthread_mutex_destroy(&set->mutex);
    free(set);
}
