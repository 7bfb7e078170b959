/* Rows as a table for people: shares, what they are made of as bars, and what the bars' signs mean. See report.h. */
#include "report/module_check.h"
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

enum { BAR_MIN = 10, BAR_MAX = 48, NAME_MIN = 16, SORTED = 15 };

struct layout {
    unsigned name, bar;
    bool total, samples, module;
    bool sorted;    /* a column of what they are sorted by, where no other shows that */
    size_t columns; /* components with a column of their own */
    size_t keys[AS_LEGEND_COLUMNS];
};

static unsigned longest_name(const struct as_report *report, size_t n)
{
    char name[AS_ROW_NAME_MAX];
    unsigned longest = NAME_MIN;
    for (size_t i = 0; i < n; i++) {
        size_t columns = as_show_columns(as_view_row_name(report->view, report->level, &report->rows.rows[i], name));
        longest = columns > longest ? (unsigned)(columns < 60 ? columns : 60) : longest;
    }
    return longest;
}

static struct layout lay_out(const struct as_report *report, const struct as_term *term, size_t n)
{
    struct layout layout = {.total = as_report_has_total(report),
                            .samples = !report->view->summary.exact,
                            .module = report->level != AS_STORE_BY_MODULE && report->level != AS_STORE_BY_THREAD};
    layout.sorted = report->order.key == AS_SORT_EXECUTIONS || report->order.key == AS_SORT_EVENT;
    unsigned used = 11 + (layout.total ? 10 : 0) + (layout.samples ? 12 : 0) + (layout.module ? 18 : 0) +
                    (layout.sorted ? SORTED + 2 : 0);
    layout.columns = as_legend_columns(&report->legend, term, layout.keys);
    used += 8 * (unsigned)layout.columns;
    unsigned left = term->width > used + NAME_MIN + BAR_MIN ? term->width - used - 2 : NAME_MIN + BAR_MIN;
    layout.name = longest_name(report, n);
    if (layout.name > left - BAR_MIN)
        layout.name = left - BAR_MIN;
    layout.bar = left - layout.name > BAR_MAX ? BAR_MAX : left - layout.name;
    return layout;
}

static void put_header(const struct as_report *report, FILE *out, const struct as_term *term,
                       const struct layout *layout)
{
    as_term_bold(out, term, true);
    fprintf(out, "   self    ");
    if (layout->total)
        fprintf(out, "  total   ");
    if (layout->samples)
        fprintf(out, "   samples  ");
    if (layout->sorted)
        fprintf(out, "%*.*s  ", SORTED, SORTED,
                report->order.key == AS_SORT_EVENT ? AS_SHOW(report->order.event_name) : "executions");
    for (size_t i = 0; i < layout->columns; i++)
        fprintf(out, "    %c   ", as_term_letter(layout->keys[i]));
    as_show_in(out, term, as_view_level_name(report->level), layout->name, true);
    if (layout->module)
        fputs("  module", out);
    as_term_bold(out, term, false);
    fputc('\n', out);
}

static void put_sorted(const struct as_report *report, FILE *out, const struct as_store_row *row)
{
    if (report->order.key == AS_SORT_EXECUTIONS)
        fprintf(out, "%*s  ", SORTED, AS_COUNT(row->executions));
    else
        fprintf(out, "%*.2f %%  ", SORTED - 2,
                100 * as_part_of(as_report_event_units(row, report->order.event), report->rows.total));
}

static void put_row(const struct as_report *report, FILE *out, const struct as_term *term, const struct layout *layout,
                    const struct as_store_row *row, uint64_t most)
{
    const struct as_view *view = report->view;
    char name[AS_ROW_NAME_MAX];
    double share = as_part_of(row->units, report->rows.total);
    as_term_heat(out, term, share);
    fprintf(out, "%7.2f %%  ", 100 * share);
    as_term_plain(out, term);
    if (layout->total)
        fprintf(out, "%6.2f %%  ", 100 * as_part_of(as_report_total(report, row), report->rows.total));
    if (layout->samples)
        fprintf(out, "%10s  ", AS_COUNT(row->samples));
    if (layout->sorted)
        put_sorted(report, out, row);
    for (size_t i = 0; i < layout->columns; i++)
        fprintf(out, "%6.2f  ",
                100 * as_part_of(as_legend_part(row, report->legend.masks[layout->keys[i]]), report->rows.total));
    as_show_in(out, term, as_view_row_name(view, report->level, row, name), layout->name, true);
    bool bar = layout->bar * as_part_of(row->units, most) >= 0.5;
    if (layout->module) {
        const char *module = as_view_module(view, row->module);
        fputs("  ", out);
        as_show_in(out, term, module ? module : "", 16, bar);
    }
    if (bar) {
        fputc(' ', out);
        as_legend_bar(&report->legend, out, term, row, most, layout->bar, false);
    }
    fputc('\n', out);
}

static void put_rest(const struct as_report *report, FILE *out, size_t n)
{
    uint64_t units = 0;
    for (size_t i = n; i < report->rows.n; i++)
        units += report->rows.rows[i].units;
    if (n < report->rows.n)
        fprintf(out, "%7.2f %%  in %zu more; --limit 0 shows all\n", 100 * as_part_of(units, report->rows.total),
                report->rows.n - n);
}

static void put_filters(const struct as_report *report, FILE *out)
{
    if (!as_view_filters_text(report->view, out, true))
        return;
    if (report->rows.units != report->rows.total)
        fprintf(out, "; shown is %.2f %% of it: what the filters leave",
                100 * as_part_of(report->rows.units, report->rows.total));
    fputc('\n', out);
}

void as_report_text(const struct as_report *report, FILE *out, const struct as_term *term)
{
    size_t n = report->limit && report->limit < report->rows.n ? report->limit : report->rows.n;
    while (n > 1 && as_part_of(report->rows.rows[n - 1].units, report->rows.total) < report->least)
        n--;
    struct layout layout = lay_out(report, term, n);
    uint64_t most = 0;
    as_summary_text(&report->view->summary, out, term);
    as_module_notes_text(report->view, out, term);
    put_filters(report, out);
    fputc('\n', out);
    put_header(report, out, term, &layout);
    for (size_t i = 0; i < n; i++)
        most = report->rows.rows[i].units > most ? report->rows.rows[i].units : most;
    for (size_t i = 0; i < n; i++)
        put_row(report, out, term, &layout, &report->rows.rows[i], most);
    put_rest(report, out, n);
    if (report->view->has_events) {
        fputc('\n', out);
        as_legend_text(&report->legend, report->view, out, term);
    }
}
