/* See jobs_shown.h. */
#include "cmd/jobs_shown.h"

#include "base/csv.h"
#include "base/error.h"
#include "base/json.h"
#include "base/show.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>

enum { REASONS = 5 }; /* of missing jobs that are told */

/* All that is shown of a machine. */
struct line {
    struct as_jobs_row row;
    char *name, *reason; /* why its profiles were not merged; NULL: they were */
};

struct table {
    const struct as_jobs *jobs;
    AS_VEC(struct line) lines;
    struct as_job_list missing;
};

static double spread_of(const struct line *line)
{
    return line->row.cycles.mean > 0 ? line->row.cycles.deviation / line->row.cycles.mean : 0;
}

/* Runs of one machine that differ in what they executed: the program does not do the same every time. */
static bool differs(const struct line *line)
{
    return line->row.most > line->row.fewest;
}

static size_t count_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
}

static void end_line(const struct table *table, size_t at, struct as_jobs_collector *collector)
{
    struct as_error err = AS_ERROR_INIT;
    struct line *line = &table->lines.data[at];
    if (!as_jobs_collect_end(collector, table->jobs, &line->row, &err))
        line->reason = as_strdup(err.message);
}

/* Machines are collected side by side, as many as there are processors. */
static void collect(struct table *table)
{
    const struct as_jobs *jobs = table->jobs;
    size_t machines = as_jobs_count_machines(&jobs->plan), most = count_processors();
    bool *done = as_alloc_array(as_jobs_count(&jobs->plan) + 1, sizeof *done);
    struct as_jobs_collector **collectors = as_alloc_array(machines + 1, sizeof(struct as_jobs_collector *));
    as_jobs_find_done(jobs, done);
    for (size_t machine = 0; machine < machines + most; machine++) {
        if (machine >= most && machine - most < machines)
            end_line(table, machine - most, collectors[machine - most]);
        if (machine >= machines)
            continue;
        *as_vec_push(&table->lines) = (struct line){.name = as_jobs_machine_name(&jobs->plan, machine)};
        collectors[machine] = as_jobs_collect_begin(jobs, machine, done, &as_notices_to_log);
    }
    free(collectors);
    free(done);
    table->missing = as_jobs_missing(jobs);
}

static void free_table(struct table *table)
{
    for (size_t i = 0; i < table->lines.len; i++) {
        as_jobs_row_free(&table->lines.data[i].row);
        free(table->lines.data[i].name);
        free(table->lines.data[i].reason);
    }
    as_vec_free(&table->lines);
    as_vec_free(&table->missing.list);
}

/* ---- text ---- */

static void print_line(const struct table *table, const struct line *line, FILE *out)
{
    const struct as_jobs_row *row = &line->row;
    fprintf(out, "%7" PRIu64 " %4" PRIu64 " of %-4" PRIu64, row->machine, row->runs, table->jobs->plan.repeat);
    if (row->cycles.n > 1)
        fprintf(out, " %18s %8.4f %7.2f %%", AS_COUNT((uint64_t)llround(row->cycles.mean)), row->cpi.mean,
                100 * spread_of(line));
    else if (row->cycles.n)
        fprintf(out, " %18s %8.4f %9s", AS_COUNT((uint64_t)llround(row->cycles.mean)), row->cpi.mean, "-");
    else
        fprintf(out, " %18s %8s %9s", "-", "-", "-");
    fprintf(out, "  %s\n", AS_SHOW(line->name));
}

static void print_notes(const struct table *table, const struct line *line, FILE *out)
{
    struct as_str jobs = {0};
    if (line->reason)
        fprintf(out, "machine %" PRIu64 ": not merged: %s\n", line->row.machine, line->reason);
    else if (line->row.merged && table->jobs->plan.repeat > 1)
        fprintf(out, "machine %" PRIu64 ": all %sruns are in %s\n", line->row.machine,
                line->row.unreadable.list.len ? "other " : "", AS_SHOW(line->row.merged));
    if (differs(line))
        fprintf(out, "machine %" PRIu64 ": the program does not do the same every time: %s to %s instructions\n",
                line->row.machine, AS_COUNT(line->row.fewest), AS_COUNT(line->row.most));
    if (line->row.unreadable.list.len) {
        as_job_list_show(&line->row.unreadable, &jobs);
        fprintf(out, "machine %" PRIu64 ": profiles of jobs %s cannot be read; remove them to run these jobs again\n",
                line->row.machine, as_str_get(&jobs));
    }
    as_str_free(&jobs);
}

static char *reason_of(const struct table *table, uint64_t job)
{
    char *path = as_jobs_log(table->jobs, job), *line = as_jobs_last_line(path);
    free(path);
    return line;
}

static void print_missing(const struct table *table, FILE *out)
{
    struct as_str jobs = {0};
    if (table->missing.list.len == 0)
        return;
    as_job_list_show(&table->missing, &jobs);
    fprintf(out, "missing: %zu of %" PRIu64 " jobs: %s\n", table->missing.list.len, as_jobs_count(&table->jobs->plan),
            AS_SHOW(as_str_get(&jobs)));
    for (size_t i = 0; i < table->missing.list.len && i < REASONS; i++) {
        char *reason = reason_of(table, table->missing.list.data[i]);
        fprintf(out, "job %" PRIu64 ": %s\n", table->missing.list.data[i], *reason ? AS_SHOW(reason) : "has not run");
        free(reason);
    }
    as_str_free(&jobs);
}

static void print_text(const struct table *table, FILE *out)
{
    fprintf(out, "%7s %12s %18s %8s %9s  %s\n", "machine", "runs", "cycles", "CPI", "spread", "what it is");
    for (size_t i = 0; i < table->lines.len; i++)
        print_line(table, &table->lines.data[i], out);
    for (size_t i = 0; i < table->lines.len; i++)
        print_notes(table, &table->lines.data[i], out);
    print_missing(table, out);
}

/* ---- for programs ---- */

static void print_csv(const struct table *table, FILE *out)
{
    fputs("machine,name,runs,of,cycles,cpi,spread,fewest_instructions,most_instructions\r\n", out);
    for (size_t i = 0; i < table->lines.len; i++) {
        const struct line *line = &table->lines.data[i];
        struct as_str name = {0};
        as_csv_add_text(&name, line->name, 0);
        fprintf(out, "%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",", line->row.machine, as_str_get(&name), line->row.runs,
                table->jobs->plan.repeat);
        if (line->row.cycles.n)
            fprintf(out, "%.0f,%.6f,%.6f,", line->row.cycles.mean, line->row.cpi.mean, spread_of(line));
        else
            fputs(",,,", out);
        fprintf(out, "%" PRIu64 ",%" PRIu64 "\r\n", line->row.fewest, line->row.most);
        as_str_free(&name);
    }
}

static void write_line(struct as_json *json, const struct line *line)
{
    const struct as_jobs_row *row = &line->row;
    as_json_object(json, NULL);
    as_json_u64(json, "machine", row->machine);
    as_json_string(json, "name", line->name);
    as_json_u64(json, "runs", row->runs);
    if (row->cycles.n)
        as_json_u64(json, "cycles", (uint64_t)llround(row->cycles.mean));
    else
        as_json_null(json, "cycles");
    as_json_double(json, "cpi", row->cpi.n ? row->cpi.mean : NAN);
    as_json_double(json, "spread", row->cycles.n ? spread_of(line) : NAN);
    as_json_bool(json, "same_every_time", !differs(line));
    as_json_u64(json, "fewest_instructions", row->fewest);
    as_json_u64(json, "most_instructions", row->most);
    as_json_string(json, "profile", line->reason ? NULL : row->merged);
    as_json_string(json, "not_merged", line->reason);
    as_json_array(json, "unreadable");
    for (size_t i = 0; i < row->unreadable.list.len; i++)
        as_json_u64(json, NULL, row->unreadable.list.data[i]);
    as_json_end(json);
    as_json_end(json);
}

static bool print_json(const struct table *table, FILE *out)
{
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    as_json_u64(json, "jobs", as_jobs_count(&table->jobs->plan));
    as_json_u64(json, "repeat", table->jobs->plan.repeat);
    as_json_array(json, "machines");
    for (size_t i = 0; i < table->lines.len; i++)
        write_line(json, &table->lines.data[i]);
    as_json_end(json);
    as_json_array(json, "missing");
    for (size_t i = 0; i < table->missing.list.len; i++) {
        char *reason = reason_of(table, table->missing.list.data[i]);
        as_json_object(json, NULL);
        as_json_u64(json, "job", table->missing.list.data[i]);
        as_json_string(json, "reason", *reason ? reason : NULL);
        as_json_end(json);
        free(reason);
    }
    as_json_end(json);
    as_json_end(json);
    return as_json_finish(json);
}

int as_jobs_show(const struct as_jobs *jobs, enum as_jobs_form form, FILE *out, struct as_error *err)
{
    struct table table = {.jobs = jobs};
    bool whole = true, ok = true;
    collect(&table);
    if (form == AS_JOBS_JSON)
        ok = print_json(&table, out) || as_error_set(err, "cannot write: %s", strerror(errno));
    else if (form == AS_JOBS_CSV)
        print_csv(&table, out);
    else
        print_text(&table, out);
    for (size_t i = 0; i < table.lines.len; i++)
        whole = whole && !table.lines.data[i].reason && table.lines.data[i].row.unreadable.list.len == 0;
    int status = whole && table.missing.list.len == 0 ? AS_EXIT_OK : AS_EXIT_FAILURE;
    free_table(&table);
    return ok ? status : -1;
}
