/* Branches: text, JSON, CSV. See report_kinds.h. */
#include "base/alloc.h"
#include "report/report_csv.h"
#include "report/report_json.h"
#include "report/report_kinds.h"
#include "report/report_text.h"
#include "view/branches.h"

#include <inttypes.h>
#include <stdlib.h>

struct shown {
    struct as_branches branches;
    size_t limit; /* rows to show; 0: all */
};

static void free_branches(void *state)
{
    struct shown *shown = state;
    as_branches_free(&shown->branches);
    free(shown);
}

static void *make_branches(const struct as_report_request *request, struct as_error *err)
{
    struct shown *shown = as_alloc(sizeof *shown);
    shown->limit = request->limit;
    if (as_branches_make(&shown->branches, request->view, err))
        return shown;
    free_branches(shown);
    return NULL;
}

/* ---- text ---- */

static void put_row(const struct as_branches *branches, const struct as_store_branch *row, FILE *out,
                    const struct as_term *term, unsigned name)
{
    char location[AS_ROW_NAME_MAX];
    double share = as_ratio(row->taken, branches->taken);
    as_term_heat(out, term, share);
    fprintf(out, "%7.2f %%  ", 100 * share);
    as_term_plain(out, term);
    fprintf(out, "%11s  %7.2f %%  ", AS_COUNT(row->taken), 100 * as_ratio(row->mispredicted, row->taken));
    if (branches->has_cycles)
        fprintf(out, "%8.1f  ", as_ratio(row->cycles, row->taken));
    as_show_in(out, term, as_view_location_name(branches->view, row->source, location), name, true);
    fprintf(out, "  %s\n", AS_SHOW(as_view_location_name(branches->view, row->target, location)));
}

static unsigned longest_name(const struct as_branches *branches, size_t n)
{
    char location[AS_ROW_NAME_MAX];
    size_t longest = sizeof "from" - 1;
    for (size_t i = 0; i < n; i++) {
        size_t columns = as_show_columns(as_view_location_name(branches->view, branches->rows[i].source, location));
        longest = columns > longest ? columns : longest;
    }
    return longest < 40 ? (unsigned)longest : 40;
}

static void put_text(const void *state, FILE *out, const struct as_term *term)
{
    const struct shown *shown = state;
    const struct as_branches *branches = &shown->branches;
    size_t n = as_report_shown(branches->n, shown->limit);
    unsigned name = longest_name(branches, n);
    uint64_t rest = 0;
    as_summary_text(&branches->view->summary, out, term);
    if (as_filters_text(branches->view, out, false))
        fputc('\n', out);
    fprintf(out, "%s taken branches were recorded, %.2f %% of them mispredicted\n\n", AS_COUNT(branches->taken),
            100 * as_ratio(branches->mispredicted, branches->taken));
    as_term_bold(out, term, true);
    fprintf(out, "  share           taken  mispredict  %s%-*s  to\n", branches->has_cycles ? "  cycles  " : "",
            (int)name, "from");
    as_term_bold(out, term, false);
    for (size_t i = 0; i < n; i++)
        put_row(branches, &branches->rows[i], out, term, name);
    for (size_t i = n; i < branches->n; i++)
        rest += branches->rows[i].taken;
    if (n < branches->n)
        fprintf(out, "%7.2f %%  in %s more; --limit 0 shows all\n", 100 * as_ratio(rest, branches->taken),
                AS_COUNT(branches->n - n));
}

/* ---- JSON and CSV ---- */

static bool json_location(const struct as_view *view, uint32_t instruction, const char *name, struct as_json *json,
                          struct as_error *err)
{
    const struct as_store_insn *insn = as_store_instruction(view->store, instruction, err);
    if (!insn)
        return false;
    const struct as_store_location *location = &insn->location;
    as_json_object(json, name);
    as_json_string(json, "module", location->module < view->n_modules ? view->module[location->module].path : NULL);
    as_source_json(view, json, location->function, location->file, location->line);
    as_json_address(json, "address", location->address);
    as_json_string(json, "text", insn->text);
    as_json_end(json);
    return true;
}

static bool json_row(const struct as_branches *branches, const struct as_store_branch *row, struct as_json *json,
                     struct as_error *err)
{
    as_json_object(json, NULL);
    as_json_u64(json, "taken", row->taken);
    as_json_double(json, "share", as_ratio(row->taken, branches->taken));
    as_json_u64(json, "mispredicted", row->mispredicted);
    if (branches->has_cycles)
        as_json_u64(json, "cycles", row->cycles);
    else
        as_json_null(json, "cycles");
    bool ok = json_location(branches->view, row->source, "from", json, err) &&
              json_location(branches->view, row->target, "to", json, err);
    as_json_end(json);
    return ok;
}

static bool put_json(const void *state, struct as_json *json, struct as_error *err)
{
    const struct shown *shown = state;
    const struct as_branches *branches = &shown->branches;
    bool ok = true;
    as_summary_json(&branches->view->summary, json, "summary");
    as_json_string(json, "by", "branch");
    as_filters_json(branches->view, json);
    as_json_u64(json, "taken", branches->taken);
    as_json_u64(json, "mispredicted", branches->mispredicted);
    as_json_array(json, "rows");
    for (size_t i = 0; i < as_report_shown(branches->n, shown->limit) && ok; i++)
        ok = json_row(branches, &branches->rows[i], json, err);
    as_json_end(json);
    return ok;
}

static void csv_location(const struct as_view *view, uint32_t instruction, FILE *out)
{
    const struct as_store_location *location = &view->location[instruction];
    as_csv_field(out, location->module < view->n_modules ? view->module[location->module].path : NULL);
    fputc(',', out);
    as_csv_field(out, as_view_function(view, location->function));
    fprintf(out, ",0x%" PRIx64 ",", location->address);
}

static bool put_csv(const void *state, FILE *out, struct as_error *err)
{
    const struct shown *shown = state;
    const struct as_branches *branches = &shown->branches;
    fputs("from_module,from_function,from_address,to_module,to_function,to_address,taken,share,mispredicted,cycles\r\n",
          out);
    for (size_t i = 0; i < as_report_shown(branches->n, shown->limit); i++) {
        const struct as_store_branch *row = &branches->rows[i];
        csv_location(branches->view, row->source, out);
        csv_location(branches->view, row->target, out);
        fprintf(out, "%" PRIu64 ",%.17g,%" PRIu64 ",%" PRIu64 "\r\n", row->taken, as_ratio(row->taken, branches->taken),
                row->mispredicted, row->cycles);
    }
    return true;
}

const struct as_report_kind as_report_branches = {.option = "--branches",
                                                  .name = "branches",
                                                  .filters = {.places = true},
                                                  /* Rows have no levels. */
                                                  .levels = AS_REPORT_LEVEL(AS_REPORT_BY_FUNCTION),
                                                  .make = make_branches,
                                                  .free = free_branches,
                                                  .text = put_text,
                                                  .json = put_json,
                                                  .csv = put_csv};
