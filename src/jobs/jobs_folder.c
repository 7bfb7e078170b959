/* See jobs_folder.h. */
#include "jobs/jobs_folder.h"

#include "base/whole_file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GROUP = 1000, MOST_TEXT = 64 << 20 };

/* ---- files ---- */

char *as_jobs_read_text(const char *path, struct as_error *err)
{
    size_t size;
    char *text = as_whole_file(path, MOST_TEXT, &size);
    if (!text)
        as_error_set(err, "cannot read '%s': %s", path, strerror(errno));
    return text;
}

char *as_jobs_last_line(const char *path)
{
    struct as_error err = AS_ERROR_INIT;
    char *text = as_jobs_read_text(path, &err);
    size_t end = text ? strlen(text) : 0;
    while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == ' '))
        end--;
    size_t start = end;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    char *line = as_strndup(text ? text + start : "", end - start);
    free(text);
    as_error_clean(line);
    return line;
}

bool as_jobs_write_text(const char *path, const char *text, struct as_error *err)
{
    char *temporary = as_format("%s.%ld", path, (long)getpid());
    FILE *file = fopen(temporary, "we");
    bool ok = file && fputs(text, file) >= 0;
    ok = file && fclose(file) == 0 && ok && rename(temporary, path) == 0;
    if (!ok)
        as_error_set(err, "cannot write '%s': %s", path, strerror(errno));
    if (!ok && file)
        unlink(temporary);
    free(temporary);
    return ok;
}

bool as_jobs_make_folder(const struct as_jobs *jobs, const char *name, struct as_error *err)
{
    char *path = as_format("%s/%s", jobs->folder, name);
    bool ok = mkdir(path, 0777) == 0 || errno == EEXIST ||
              as_error_set(err, "cannot make the folder '%s': %s", path, strerror(errno));
    free(path);
    return ok;
}

/* ---- names ---- */

static char *file_of(const struct as_jobs *jobs, uint64_t job, const char *suffix)
{
    return as_format("%s/jobs/%" PRIu64 "/%" PRIu64 "%s", jobs->folder, job / GROUP, job, suffix);
}

char *as_jobs_profile(const struct as_jobs *jobs, uint64_t job)
{
    return file_of(jobs, job, ".db");
}

char *as_jobs_unfinished(const struct as_jobs *jobs, uint64_t job)
{
    return file_of(jobs, job, ".new");
}

char *as_jobs_log(const struct as_jobs *jobs, uint64_t job)
{
    return file_of(jobs, job, ".log");
}

char *as_jobs_merged(const struct as_jobs *jobs, uint64_t machine)
{
    return as_format("%s/machine-%" PRIu64 ".db", jobs->folder, machine);
}

/* ---- the folder ---- */

static bool set_folder(struct as_jobs *jobs, const char *folder, struct as_error *err)
{
    char path[PATH_MAX];
    if (!realpath(folder, path))
        return as_error_set(err, "folder '%s': %s", folder, strerror(errno));
    jobs->folder = as_strdup(path);
    return true;
}

static bool load_plan(struct as_jobs *jobs, struct as_error *err)
{
    struct as_error reason = AS_ERROR_INIT;
    char *path = as_format("%s/plan", jobs->folder), *text = as_jobs_read_text(path, err);
    bool ok = text && (as_jobs_plan_read(&jobs->plan, text, &reason) ||
                       as_error_set(err, "'%s' is not a plan of jobs: %s", path, reason.message));
    free(text);
    free(path);
    return ok;
}

static bool make_groups(const struct as_jobs *jobs, struct as_error *err)
{
    char name[64];
    bool ok = as_jobs_make_folder(jobs, "jobs", err);
    for (uint64_t group = 0; ok && group * GROUP < as_jobs_count(&jobs->plan); group++) {
        snprintf(name, sizeof name, "jobs/%" PRIu64, group);
        ok = as_jobs_make_folder(jobs, name, err);
    }
    return ok;
}

/* Writes the plan, or compares it with the one that is there. */
static bool keep_plan(const struct as_jobs *jobs, struct as_error *err)
{
    struct as_str text = {0};
    char *path = as_format("%s/plan", jobs->folder), *old = NULL;
    bool ok = true;
    as_jobs_plan_write(&jobs->plan, &text);
    if (access(path, F_OK) != 0)
        ok = as_jobs_write_text(path, as_str_get(&text), err);
    else if (!(old = as_jobs_read_text(path, err)))
        ok = false;
    else if (strcmp(old, as_str_get(&text)) != 0)
        ok = as_error_set_status(err, AS_EXIT_USAGE,
                                 "'%s' has other jobs; take another folder, or give no program to go on with them",
                                 jobs->folder);
    free(old);
    free(path);
    as_str_free(&text);
    return ok;
}

bool as_jobs_create(struct as_jobs *jobs, const char *folder, struct as_jobs_plan *plan, struct as_error *err)
{
    jobs->plan = *plan;
    *plan = (struct as_jobs_plan){0};
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return as_error_set(err, "cannot make the folder '%s': %s", folder, strerror(errno));
    return set_folder(jobs, folder, err) && keep_plan(jobs, err) && make_groups(jobs, err);
}

bool as_jobs_open(struct as_jobs *jobs, const char *folder, struct as_error *err)
{
    return set_folder(jobs, folder, err) && load_plan(jobs, err) && make_groups(jobs, err);
}

void as_jobs_free(struct as_jobs *jobs)
{
    free(jobs->folder);
    as_jobs_plan_free(&jobs->plan);
    *jobs = (struct as_jobs){0};
}

/* ---- what is done ---- */

static void find_in(const char *path, uint64_t n, bool *done)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char *end;
        unsigned long long job = strtoull(entry->d_name, &end, 10);
        if (end != entry->d_name && strcmp(end, ".db") == 0 && job < n)
            done[job] = true;
    }
    if (folder)
        closedir(folder);
}

void as_jobs_find_done(const struct as_jobs *jobs, bool *done)
{
    uint64_t n = as_jobs_count(&jobs->plan);
    for (uint64_t group = 0; group * GROUP < n; group++) {
        char *path = as_format("%s/jobs/%" PRIu64, jobs->folder, group);
        find_in(path, n, done);
        free(path);
    }
}

struct as_job_list as_jobs_missing(const struct as_jobs *jobs)
{
    uint64_t n = as_jobs_count(&jobs->plan);
    bool *done = as_alloc_array(n + 1, sizeof *done);
    struct as_job_list missing = {0};
    as_jobs_find_done(jobs, done);
    for (uint64_t job = 0; job < n; job++)
        if (!done[job])
            *as_vec_push(&missing.list) = job;
    free(done);
    return missing;
}

void as_job_list_show(const struct as_job_list *list, struct as_str *text)
{
    for (size_t i = 0, end; i < list->list.len; i = end) {
        for (end = i + 1; end < list->list.len && list->list.data[end] == list->list.data[end - 1] + 1;)
            end++;
        as_str_addf(text, "%s%" PRIu64, i ? ", " : "", list->list.data[i]);
        if (end > i + 1)
            as_str_addf(text, "-%" PRIu64, list->list.data[end - 1]);
    }
}
