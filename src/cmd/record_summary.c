/* The summary that `assay record` prints at the end: read back from the file, like any report. */
#include "cmd/record_summary.h"
#include "base/cpp_name.h"
#include "base/path.h"
#include "base/ratio.h"
#include "cmd/cli.h"
#include "cmd/pager.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "score/confidence.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

enum { TOP = 3 };

/* The share, and its 95 % confidence interval. */
static void json_share(struct as_json *json, const struct as_summary *summary, const struct as_store_rows *rows,
                       size_t i)
{
    double share = as_ratio(rows->rows[i].units, rows->total);
    struct as_interval interval = as_share_interval(
        share, summary->exact || summary->counted ? INFINITY : summary->effective * (double)summary->samples, AS_Z_95);
    as_json_double(json, "share", share);
    as_json_double(json, "low", interval.low);
    as_json_double(json, "high", interval.high);
}

static void json_functions(struct as_json *json, const struct as_summary *summary, const struct as_store_rows *rows)
{
    size_t n;
    const struct as_store_function *functions = as_store_functions(summary->store, &n);
    as_json_array(json, "functions");
    for (size_t i = 0; i < rows->n && i < TOP; i++) {
        as_json_object(json, NULL);
        as_json_string(json, "function", rows->rows[i].id < n ? functions[rows->rows[i].id].name : NULL);
        json_share(json, summary, rows, i);
        as_json_end(json);
    }
    as_json_end(json);
}

static int print_json(FILE *out, const struct as_summary *summary, const struct as_store_rows *rows)
{
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    as_summary_json(summary, json, "summary");
    json_functions(json, summary, rows);
    as_json_end(json);
    return as_json_finish(json) ? AS_EXIT_OK : as_cli_stdout_failed();
}

/* Names of C++ with all that belongs to them can be longer than the rest of the summary. */
static const char *listed_name(const char *name, char *base)
{
    enum { LONG = 60 };
    bool shorter = strlen(name) > LONG && as_cpp_name_shorten(name, base) && base[0];
    return shorter ? base : name;
}

/* As in reports: code in no function has the name of its file. */
static void put_name(FILE *out, const struct as_store *store, const struct as_store_row *row)
{
    size_t n, n_modules;
    const struct as_store_function *functions = as_store_functions(store, &n);
    const struct as_store_module *modules = as_store_modules(store, &n_modules);
    char base[AS_CPP_NAME_MAX];
    const char *name = row->id < n ? functions[row->id].name : NULL;
    const char *path = row->id >= n && row->module < n_modules ? modules[row->module].path : NULL;
    if (path)
        fprintf(out, path[0] == '[' ? "%s" : "[%s]", AS_SHOW(as_path_base(path)));
    else
        fputs(name ? AS_SHOW(listed_name(name, base)) : "(no function)", out);
}

static void text_functions(FILE *out, const struct as_summary *summary, const struct as_store_rows *rows)
{
    for (size_t i = 0; i < rows->n && i < TOP; i++) {
        if (i == 0)
            fprintf(out, "most %s: ", AS_SHOW(as_summary_noun(summary)));
        fputs(i ? ", " : "", out);
        put_name(out, summary->store, &rows->rows[i]);
        fprintf(out, " %.1f %%", 100 * as_ratio(rows->rows[i].units, rows->total));
    }
    if (rows->n)
        fputc('\n', out);
}

/* The samplers besides the golden reference. */
static void text_samplers(FILE *out, const struct as_summary *summary)
{
    size_t n;
    const struct as_store_series *series = as_store_series(summary->store, &n);
    for (uint32_t i = 0; i < n; i++) {
        double error = as_store_estimate_of(summary->store, i, "error", "instruction");
        double by_function = as_store_estimate_of(summary->store, i, "error", "function");
        if (i == summary->series || isnan(error))
            continue;
        fprintf(out, "%s: %s samples, %.2f %% off by instruction", AS_SHOW(series[i].name), AS_COUNT(series[i].samples),
                100 * error);
        if (!isnan(by_function))
            fprintf(out, ", %.2f %% by function", 100 * by_function);
        fputc('\n', out);
    }
}

/* Writes a word quoted for a shell if necessary. */
static void put_word(FILE *out, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:@,=%";
    const char *shown = AS_SHOW(word);
    if (*shown && strspn(shown, safe) == strlen(shown)) {
        fputs(shown, out);
        return;
    }
    fputc('\'', out);
    for (; *shown; shown++)
        fputs(*shown == '\'' ? "'\\''" : (char[]){*shown, '\0'}, out);
    fputc('\'', out);
}

static bool has_code(const struct as_store *store, const struct as_store_function *function)
{
    size_t n;
    const struct as_store_module *modules = as_store_modules(store, &n);
    const char *path = function->module < n ? modules[function->module].path : NULL;
    return function->name && function->name[0] != '[' && path && path[0] != '[';
}

/* The function with the most time that has code to show: code in no file, such as [anon] or [kernel], has none. */
static const char *next_symbol(const struct as_store *store, const struct as_store_rows *rows)
{
    size_t n;
    const struct as_store_function *functions = as_store_functions(store, &n);
    for (size_t i = 0; i < rows->n; i++)
        if (rows->rows[i].id < n && has_code(store, &functions[rows->rows[i].id]))
            return functions[rows->rows[i].id].name;
    return NULL;
}

static void text_next(FILE *out, const struct as_store *store, const struct as_store_rows *rows, const char *path)
{
    bool usual = strcmp(path, "assay.db") == 0;
    const struct {
        const char *verb, *symbol, *rest;
    } next[] = {
        {"report", NULL, ""}, {"annotate", next_symbol(store, rows), ""}, {"report --html page.html", NULL, ""}};
    fputs("Next:\n", out);
    for (size_t i = 0; i < 3; i++) {
        if (i == 1 && !next[i].symbol)
            continue;
        fputs("  ", out);
        put_word(out, program_invocation_name); /* as it was called, because it may not be on the PATH */
        fprintf(out, " %s", next[i].verb);
        if (next[i].symbol) {
            fputc(' ', out);
            put_word(out, next[i].symbol);
        }
        if (!usual) {
            fputc(' ', out);
            put_word(out, path);
        }
        fputc('\n', out);
    }
}

static void print_text(FILE *out, const struct as_summary *summary, const struct as_store_rows *rows, const char *path)
{
    struct stat status;
    struct as_term term = as_terminal(true);
    as_summary_text(summary, out, &term);
    text_samplers(out, summary);
    text_functions(out, summary, rows);
    fprintf(out, "wrote %s", AS_SHOW(path));
    if (stat(path, &status) == 0)
        fprintf(out, " (%.1f MB)", (double)status.st_size / 1e6);
    fputc('\n', out);
    text_next(out, summary->store, rows, path);
}

int as_record_summary(const char *path, bool json, FILE *out, struct as_error *err)
{
    struct as_store *store = as_store_open(path, err);
    struct as_store_query query = AS_STORE_QUERY_INIT;
    struct as_store_rows rows = {0};
    struct as_summary summary;
    int status = AS_EXIT_FAILURE;
    if (!store)
        return -1;
    query.series = as_store_find_series(store, NULL);
    bool ok = as_summary_read(store, query.series, &summary, err) && as_store_load(store, AS_STORE_CODE, err) &&
              as_store_query(store, &query, &rows, err);
    if (ok && json)
        status = print_json(out, &summary, &rows);
    else if (ok)
        print_text(out, &summary, &rows, path);
    as_store_rows_free(&rows);
    as_store_close(store);
    return !ok ? -1 : json ? status : AS_EXIT_OK;
}
