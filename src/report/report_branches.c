/* See report_branches.h. */
#include "report/report_branches.h"

#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>

static bool counts(const struct as_view *view, uint32_t instruction)
{
    const struct as_store_place *place = &view->place[instruction];
    return (!view->modules || (place->module != AS_STORE_NONE && view->modules[place->module])) &&
           (!view->functions || (place->function != AS_STORE_NONE && view->functions[place->function]));
}

static int by_taken(const void *a, const void *b)
{
    const struct as_store_branch *x = a, *y = b;
    if (x->taken != y->taken)
        return x->taken > y->taken ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return x->target < y->target ? -1 : x->target > y->target;
}

bool as_branches_read(struct as_branches *branches, const struct as_view *view, struct as_error *err)
{
    *branches = (struct as_branches){.view = view};
    branches->rows = as_store_branches(view->store, view->series, &branches->n_all, err);
    if (!branches->rows)
        return false;
    for (size_t i = 0; i < branches->n_all; i++) {
        const struct as_store_branch *row = &branches->rows[i];
        if (!counts(view, row->source))
            continue;
        branches->taken += row->taken;
        branches->mispredicted += row->mispredicted;
        branches->has_cycles |= row->cycles > 0;
        branches->rows[branches->n++] = *row;
    }
    if (branches->n > 0)
        qsort(branches->rows, branches->n, sizeof *branches->rows, by_taken);
    return true;
}

bool as_branches_make(struct as_branches *branches, const struct as_view *view, struct as_error *err)
{
    if (!as_branches_read(branches, view, err))
        return false;
    return branches->n_all ||
           as_error_set(err, "%s: the series %s has no branches; record --branches, or perf record -b, gives some",
                        as_store_file_name(view->store), view->summary.sampler);
}

void as_branches_free(struct as_branches *branches)
{
    free(branches->rows);
    *branches = (struct as_branches){0};
}

static size_t shown(const struct as_branches *branches)
{
    return branches->limit && branches->limit < branches->n ? branches->limit : branches->n;
}

/* ---- text ---- */

static void put_row(const struct as_branches *branches, const struct as_store_branch *row, FILE *out,
                    const struct as_term *term, unsigned name)
{
    char place[AS_ROW_NAME_MAX];
    double share = as_part_of(row->taken, branches->taken);
    as_term_heat(out, term, share);
    fprintf(out, "%7.2f %%  ", 100 * share);
    as_term_plain(out, term);
    fprintf(out, "%11s  %7.2f %%  ", AS_COUNT(row->taken), 100 * as_part_of(row->mispredicted, row->taken));
    if (branches->has_cycles)
        fprintf(out, "%8.1f  ", as_part_of(row->cycles, row->taken));
    as_show_in(out, term, as_view_place_name(branches->view, row->source, place), name, true);
    fprintf(out, "  %s\n", AS_SHOW(as_view_place_name(branches->view, row->target, place)));
}

static unsigned longest_name(const struct as_branches *branches)
{
    char place[AS_ROW_NAME_MAX];
    size_t longest = sizeof "from" - 1;
    for (size_t i = 0; i < shown(branches); i++) {
        size_t columns = as_show_columns(as_view_place_name(branches->view, branches->rows[i].source, place));
        longest = columns > longest ? columns : longest;
    }
    return longest < 40 ? (unsigned)longest : 40;
}

void as_branches_text(const struct as_branches *branches, FILE *out, const struct as_term *term)
{
    unsigned name = longest_name(branches);
    uint64_t rest = 0;
    as_summary_text(&branches->view->summary, out, term);
    if (as_view_filters_text(branches->view, out, false))
        fputc('\n', out);
    fprintf(out, "%s taken branches were recorded, %.2f %% of them mispredicted\n\n", AS_COUNT(branches->taken),
            100 * as_part_of(branches->mispredicted, branches->taken));
    as_term_bold(out, term, true);
    fprintf(out, "  share           taken  mispredict  %s%-*s  to\n", branches->has_cycles ? "  cycles  " : "",
            (int)name, "from");
    as_term_bold(out, term, false);
    for (size_t i = 0; i < shown(branches); i++)
        put_row(branches, &branches->rows[i], out, term, name);
    for (size_t i = shown(branches); i < branches->n; i++)
        rest += branches->rows[i].taken;
    if (shown(branches) < branches->n)
        fprintf(out, "%7.2f %%  in %zu more; --limit 0 shows all\n", 100 * as_part_of(rest, branches->taken),
                branches->n - shown(branches));
}

/* ---- JSON and CSV ---- */

static bool json_place(const struct as_view *view, uint32_t instruction, const char *name, struct as_json *json,
                       struct as_error *err)
{
    const struct as_store_insn *insn = as_store_instruction(view->store, instruction, err);
    if (!insn)
        return false;
    const struct as_store_place *place = &insn->place;
    as_json_object(json, name);
    as_json_string(json, "module", place->module < view->n_modules ? view->module[place->module].path : NULL);
    as_json_string(json, "function", as_view_function(view, place->function));
    as_json_string(json, "file", as_view_file(view, place->file));
    if (place->line)
        as_json_u64(json, "line", place->line);
    else
        as_json_null(json, "line");
    as_json_address(json, "address", place->address);
    as_json_string(json, "text", insn->text);
    as_json_end(json);
    return true;
}

static bool json_row(const struct as_branches *branches, const struct as_store_branch *row, struct as_json *json,
                     struct as_error *err)
{
    as_json_object(json, NULL);
    as_json_u64(json, "taken", row->taken);
    as_json_double(json, "share", as_part_of(row->taken, branches->taken));
    as_json_u64(json, "mispredicted", row->mispredicted);
    if (branches->has_cycles)
        as_json_u64(json, "cycles", row->cycles);
    else
        as_json_null(json, "cycles");
    bool ok = json_place(branches->view, row->source, "from", json, err) &&
              json_place(branches->view, row->target, "to", json, err);
    as_json_end(json);
    return ok;
}

bool as_branches_json(const struct as_branches *branches, struct as_json *json, struct as_error *err)
{
    bool ok = true;
    as_json_object(json, "summary");
    as_summary_json(&branches->view->summary, json);
    as_json_end(json);
    as_json_string(json, "by", "branch");
    as_view_filters_json(branches->view, json);
    as_json_u64(json, "taken", branches->taken);
    as_json_u64(json, "mispredicted", branches->mispredicted);
    as_json_array(json, "rows");
    for (size_t i = 0; i < shown(branches) && ok; i++)
        ok = json_row(branches, &branches->rows[i], json, err);
    as_json_end(json);
    return ok;
}

static void csv_place(const struct as_view *view, uint32_t instruction, FILE *out)
{
    const struct as_store_place *place = &view->place[instruction];
    as_report_csv_field(out, place->module < view->n_modules ? view->module[place->module].path : NULL);
    fputc(',', out);
    as_report_csv_field(out, as_view_function(view, place->function));
    fprintf(out, ",0x%" PRIx64 ",", place->address);
}

void as_branches_csv(const struct as_branches *branches, FILE *out)
{
    fputs("from_module,from_function,from_address,to_module,to_function,to_address,taken,share,mispredicted,cycles\r\n",
          out);
    for (size_t i = 0; i < shown(branches); i++) {
        const struct as_store_branch *row = &branches->rows[i];
        csv_place(branches->view, row->source, out);
        csv_place(branches->view, row->target, out);
        fprintf(out, "%" PRIu64 ",%.17g,%" PRIu64 ",%" PRIu64 "\r\n", row->taken,
                as_part_of(row->taken, branches->taken), row->mispredicted, row->cycles);
    }
}
