/* See report_kinds.h. */
#include "cmd/report_kinds.h"

#include "base/log.h"

#include <string.h>

#define SMALL_SHARE 0.0005 /* rows below are left out unless a limit or an order is asked for */
#define SMALL_PATH 0.005   /* likewise, of call trees */

const char *const as_report_by_names[] = {"function", "line",   "block",  "instruction", "file",
                                          "module",   "thread", "object", NULL};

static enum as_store_level level_of(int by)
{
    static const enum as_store_level levels[] = {AS_STORE_BY_FUNCTION,    AS_STORE_BY_LINE,   AS_STORE_BY_BLOCK,
                                                 AS_STORE_BY_INSTRUCTION, AS_STORE_BY_FILE,   AS_STORE_BY_MODULE,
                                                 AS_STORE_BY_THREAD,      AS_STORE_BY_PROGRAM};
    return levels[by];
}

#define LEVEL(by) (1u << (by))
#define CODE_LEVELS (LEVEL(AS_REPORT_BY_OBJECT) - 1)

/* ---- rows ---- */

static bool make_rows(struct as_report_content *content, struct as_error *err)
{
    if (!as_report_make(&content->report, &content->view, level_of(content->by), content->sort, err))
        return false;
    content->report.limit = content->limit;
    content->report.least = content->limited || content->sort ? 0 : SMALL_SHARE;
    return true;
}

static void rows_text(const struct as_report_content *content, FILE *out, const struct as_term *term)
{
    as_report_text(&content->report, out, term);
}

static bool rows_json(const struct as_report_content *content, struct as_json *json, struct as_error *err)
{
    return as_report_json(&content->report, json, err);
}

static bool rows_csv(const struct as_report_content *content, FILE *out, struct as_error *err)
{
    return as_report_csv(&content->report, out, err);
}

const struct as_report_kind as_report_rows = {.name = "rows",
                                              .filters = {true, true, true},
                                              .levels = CODE_LEVELS,
                                              .sorts = true,
                                              .make = make_rows,
                                              .text = rows_text,
                                              .json = rows_json,
                                              .csv = rows_csv};

/* ---- call trees ---- */

static bool make_tree(struct as_report_content *content, struct as_error *err)
{
    return as_tree_make(&content->tree, &content->view, err);
}

static bool make_calls(struct as_report_content *content, struct as_error *err)
{
    return content->text ? as_tree_make_folded(&content->tree, &content->view, err) : make_tree(content, err);
}

static void calls_text(const struct as_report_content *content, FILE *out, const struct as_term *term)
{
    as_tree_text(&content->tree, &content->view, out, term, content->limit, content->limited ? 0 : SMALL_PATH);
}

static bool calls_json(const struct as_report_content *content, struct as_json *json, struct as_error *err)
{
    as_tree_json(&content->tree, &content->view, json, content->limit);
    return true;
}

static bool calls_csv(const struct as_report_content *content, FILE *out, struct as_error *err)
{
    as_tree_csv(&content->tree, &content->view, out, content->limit);
    return true;
}

static void flame_text(const struct as_report_content *content, FILE *out, const struct as_term *term)
{
    as_tree_flame(&content->tree, &content->view, out, term);
}

const struct as_report_kind as_report_calls = {.option = "--calls",
                                               .name = "call paths",
                                               .filters = {.threads = true},
                                               .levels = LEVEL(AS_REPORT_BY_FUNCTION), /* the default: none */
                                               .make = make_calls,
                                               .text = calls_text,
                                               .json = calls_json,
                                               .csv = calls_csv};
const struct as_report_kind as_report_flame = {.option = "--flame",
                                               .name = "call paths",
                                               .filters = {.threads = true},
                                               .levels = LEVEL(AS_REPORT_BY_FUNCTION), /* the default: none */
                                               .make = make_tree,
                                               .text = flame_text};

/* ---- data ---- */

static bool make_data(struct as_report_content *content, struct as_error *err)
{
    enum as_data_level level = content->by == AS_REPORT_BY_LINE          ? AS_DATA_BY_LINE
                               : content->by == AS_REPORT_BY_INSTRUCTION ? AS_DATA_BY_INSTRUCTION
                                                                         : AS_DATA_BY_OBJECT;
    bool ok = as_data_make(&content->data, &content->view, level, err);
    content->data.limit = content->limit;
    return ok;
}

static void data_text(const struct as_report_content *content, FILE *out, const struct as_term *term)
{
    as_data_text(&content->data, out, term);
}

static bool data_json(const struct as_report_content *content, struct as_json *json, struct as_error *err)
{
    return as_data_json(&content->data, json, err);
}

static bool data_csv(const struct as_report_content *content, FILE *out, struct as_error *err)
{
    as_data_csv(&content->data, out);
    return true;
}

const struct as_report_kind as_report_of_data = {
    .option = "--data",
    .name = "data",
    .filters = {.threads = true, .places = true},
    .levels = LEVEL(AS_REPORT_BY_FUNCTION) | LEVEL(AS_REPORT_BY_LINE) | LEVEL(AS_REPORT_BY_INSTRUCTION) |
              LEVEL(AS_REPORT_BY_OBJECT), /* functions: nobody asked for a level */
    .make = make_data,
    .text = data_text,
    .json = data_json,
    .csv = data_csv};

/* ---- branches ---- */

static bool make_branches(struct as_report_content *content, struct as_error *err)
{
    bool ok = as_branches_make(&content->branches, &content->view, err);
    content->branches.limit = content->limit;
    return ok;
}

static void branches_text(const struct as_report_content *content, FILE *out, const struct as_term *term)
{
    as_branches_text(&content->branches, out, term);
}

static bool branches_json(const struct as_report_content *content, struct as_json *json, struct as_error *err)
{
    return as_branches_json(&content->branches, json, err);
}

static bool branches_csv(const struct as_report_content *content, FILE *out, struct as_error *err)
{
    as_branches_csv(&content->branches, out);
    return true;
}

const struct as_report_kind as_report_of_branches = {.option = "--branches",
                                                     .name = "branches",
                                                     .filters = {.places = true},
                                                     .levels = LEVEL(AS_REPORT_BY_FUNCTION), /* the default: none */
                                                     .make = make_branches,
                                                     .text = branches_text,
                                                     .json = branches_json,
                                                     .csv = branches_csv};

/* ---- two profiles ---- */

static bool make_diff(struct as_report_content *content, struct as_error *err)
{
    content->diff = as_diff_new(&content->other, &content->view, level_of(content->by), err);
    return content->diff != NULL;
}

static void diff_text(const struct as_report_content *content, FILE *out, const struct as_term *term)
{
    as_diff_text(content->diff, out, term, content->limit);
}

static bool diff_json(const struct as_report_content *content, struct as_json *json, struct as_error *err)
{
    as_diff_json(content->diff, json, content->limit);
    return true;
}

static bool diff_csv(const struct as_report_content *content, FILE *out, struct as_error *err)
{
    const char *differences = as_diff_differences(content->diff);
    if (*differences) /* a table has no place for it */
        as_log_warn("the profiles differ in more than the program: %s", differences);
    as_diff_csv(content->diff, out, content->limit);
    return true;
}

const struct as_report_kind as_report_of_diff = {.option = "--diff",
                                                 .name = "differences",
                                                 .filters = {true, true, true},
                                                 .levels = CODE_LEVELS,
                                                 .make = make_diff,
                                                 .text = diff_text,
                                                 .json = diff_json,
                                                 .csv = diff_csv};

/* ---- all of them ---- */

bool as_report_kind_takes(const struct as_report_kind *kind, int by, bool sorted, struct as_report_filters asked,
                          struct as_error *err)
{
    const struct as_report_filters *takes = &kind->filters;
    const char *refused = asked.threads && !takes->threads ? "--thread"
                          : asked.places && !takes->places ? "--module or --symbol"
                          : asked.events && !takes->events ? "--event"
                                                           : NULL;
    if (refused)
        return as_error_set_status(err, AS_EXIT_USAGE, "%s does not apply to %s", refused, kind->name);
    if (!(kind->levels & LEVEL(by)))
        return as_error_set_status(err, AS_EXIT_USAGE, "--by=%s does not apply to %s%s", as_report_by_names[by],
                                   kind->name, by == AS_REPORT_BY_OBJECT ? ": it is for --data" : "");
    return !sorted || kind->sorts ||
           as_error_set_status(err, AS_EXIT_USAGE, "--sort is for rows; %s has an order of its own", kind->option);
}

void as_report_content_free(struct as_report_content *content)
{
    as_diff_free(content->diff);
    as_branches_free(&content->branches);
    as_data_free(&content->data);
    as_tree_free(&content->tree);
    as_report_free(&content->report);
    as_view_free(&content->other);
    as_view_free(&content->view);
}
