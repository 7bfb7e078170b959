/* Writes one function as text. See annotate.h. */
#include "base/map.h"
#include "base/path.h"
#include "base/str.h"
#include "report/annotate.h"
#include "report/report_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { WORST_LINES = 5 };
#define WORST_SHARE 0.05 /* share of the function above which instructions and lines are marked */

enum { SHARE = 10, ERROR = 8, TAB = 4, SOURCE_MIN = 4, NAME_MIN = 4 };

static unsigned indent_of(const char *text)
{
    unsigned columns = 0;
    for (; *text == ' ' || *text == '\t'; text++)
        columns += *text == '\t' ? TAB : 1;
    return columns;
}

/* Writes a source line after a space, cut to fit: tabs become spaces, and the first `strip` columns are dropped. */
static void put_source(FILE *out, const struct as_term *term, const char *text, unsigned columns, unsigned strip)
{
    char flat[AS_SHOW_MAX];
    size_t at = 0;
    if (!text || !*text || columns < SOURCE_MIN + 1)
        return;
    for (; *text && at + TAB + 1 < sizeof flat; text++)
        for (int i = 0; i < (*text == '\t' ? TAB : 1); i++) {
            char c = *text == '\t' ? ' ' : *text;
            if (strip && c == ' ')
                strip--;
            else
                flat[at++] = c;
            strip = c == ' ' ? strip : 0;
        }
    flat[at] = '\0';
    fputc(' ', out);
    as_show_in(out, term, flat, columns - 1, false);
}

/* Shortens a C++ name to this many columns by dropping template arguments, if possible; the caller cuts the rest. The
 * '<' of an operator does not begin arguments. */
static const char *short_function(const char *name, const struct as_term *term, unsigned columns,
                                  char shown[AS_SHOW_MAX])
{
    struct as_str text = {0};
    unsigned depth = 0;
    if (as_show_columns(as_show(name, shown)) <= columns)
        return shown;
    for (const char *at = name; *at; at++) {
        bool symbol = (at - name >= 8 && memcmp(at - 8, "operator", 8) == 0) ||
                      (at - name >= 9 && memcmp(at - 9, "operator", 8) == 0 && strchr("<>-", at[-1]));
        if (*at == '>' && !symbol && depth && !--depth)
            as_str_add(&text, term->utf8 ? "…" : "..");
        if (!depth)
            as_str_add_bytes(&text, at, 1);
        depth += *at == '<' && !symbol;
    }
    as_show(as_str_get(&text), shown);
    as_str_free(&text);
    return shown;
}

static void put_share(const struct as_annotation *annotation, FILE *out, const struct as_term *term, uint64_t units)
{
    double share = as_ratio(units, annotation->units);
    if (!units) {
        fputs("          ", out);
        return;
    }
    as_term_heat(out, term, share);
    fprintf(out, "%c%6.2f %% ", share >= WORST_SHARE ? '*' : ' ', 100 * share);
    as_term_plain(out, term);
}

/* The error bar of a time, of the function's time as its share is. */
static void put_error(const struct as_annotation *annotation, FILE *out, uint64_t units, double error)
{
    double part = as_ratio(annotation->units, annotation->rows.total);
    if (!annotation->has_errors)
        return;
    if (units && part > 0)
        fprintf(out, "%*.2f  ", ERROR - 2, 100 * error / part);
    else
        fprintf(out, "%*s", ERROR, "");
}

/* Returns the columns that are left. */
static unsigned put_where(const struct as_annotation *annotation, FILE *out, const struct as_term *term, uint32_t file,
                          uint32_t line, unsigned columns)
{
    struct as_str where = {0};
    const char *path = as_annotation_file(annotation, file);
    as_str_addf(&where, "%s:%" PRIu32, AS_SHOW(path ? as_path_base(path) : NULL), line);
    size_t used = as_show_columns(as_str_get(&where));
    as_show_in(out, term, as_str_get(&where), columns, false);
    as_str_free(&where);
    return used < columns ? columns - (unsigned)used : 0;
}

static void put_worst(const struct as_annotation *annotation, FILE *out, const struct as_term *term)
{
    for (size_t i = 0; i < annotation->lines.len && i < WORST_LINES && annotation->lines.data[i].units; i++) {
        const struct as_note_line *line = &annotation->lines.data[i];
        if (i == 0)
            fputs("\nThe worst lines:\n", out);
        put_share(annotation, out, term, line->units);
        put_error(annotation, out, line->units, line->error);
        const char *source = as_annotation_source(annotation, line->file, line->line);
        unsigned left = put_where(annotation, out, term, line->file, line->line,
                                  term->width - SHARE - (annotation->has_errors ? ERROR : 0));
        put_source(out, term, source, left, UINT_MAX);
        fputc('\n', out);
    }
}

static void put_note(FILE *out, const struct as_term *term, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void put_note(FILE *out, const struct as_term *term, const char *format, ...)
{
    struct as_str text = {0};
    va_list args;
    va_start(args, format);
    as_str_add(&text, "note: ");
    as_str_vaddf(&text, format, args);
    va_end(args);
    as_show_wrapped(out, term, as_str_get(&text), 0, 6);
    fputc('\n', out);
    as_str_free(&text);
}

/* Whether executions are known: in a sampled run of the model they are exact, and its rows have no samples. */
static bool counts_executions(const struct as_annotation *annotation)
{
    return annotation->view->summary.exact || annotation->view->summary.sampled;
}

static void put_notes(const struct as_annotation *annotation, FILE *out, const struct as_term *term)
{
    const struct as_view *view = annotation->view;
    uint32_t module = annotation->what.module;
    if (annotation->module_note)
        put_note(out, term, "%s: %s; the code shown is that of the recording; source lines may have moved",
                 AS_SHOW(view->module[module].path), annotation->module_note);
    if (annotation->hole_note)
        put_note(out, term, "instructions %s are not shown: %s",
                 counts_executions(annotation) ? "that were not executed" : "without samples", annotation->hole_note);
    for (size_t i = 0; i < annotation->lines.len; i++) {
        const char *path = as_annotation_file(annotation, annotation->lines.data[i].file);
        bool told = !path;
        for (size_t k = 0; k < i && !told; k++)
            told = annotation->lines.data[k].file == annotation->lines.data[i].file;
        if (told)
            continue;
        const struct as_source *source = as_sources_get(annotation->sources, path);
        if (source->problem)
            put_note(out, term, "no source for %s: %s (--source-path may help)", AS_SHOW(path), source->problem);
        else if (module < view->n_modules && view->module[module].file_time &&
                 source->time > view->module[module].file_time)
            put_note(out, term, "%s is newer than the program: its lines may have moved", AS_SHOW(source->found));
    }
    bool any = false;
    for (size_t i = 0; i < annotation->insns.len && !any; i++)
        any = annotation->insns.data[i].line != 0;
    const char *path = module < view->n_modules ? view->module[module].path : NULL;
    if (!any && !(path && path[0] == '[')) /* code in no file, the kernel's for one, has a note already */
        put_note(out, term, "no line numbers: the program was built without debug information (-g)");
}

/* The component with the most time of an instruction, except Base; NULL if none has a tenth. */
static const struct as_store_row_part *main_event(const struct as_store_row *row)
{
    for (size_t i = 0; i < row->n_parts; i++)
        if (row->parts[i].key)
            return as_ratio(row->parts[i].units, row->units) >= 0.1 ? &row->parts[i] : NULL;
    return NULL;
}

/* Columns of a listing. */
struct layout {
    unsigned first; /* the columns of the share and its error */
    unsigned count, text, bar;
    unsigned runs;   /* the column of blocks' counts; 0: there is none */
    unsigned events; /* the column of the main event's name; 0: there is no room for it */
    struct as_arrows *arrows;
    struct as_map indents; /* the common indentation of the source lines of one function, plus 1 */
};

enum { OFFSET = 9, TEXT_LEAST = 8, TEXT_MIN = 24, TEXT_MAX = 44, BAR = 16, BAR_NARROW = 8 };

static uint64_t count_of(const struct as_annotation *annotation, const struct as_note_insn *insn)
{
    return counts_executions(annotation) ? insn->row.executions : insn->row.samples;
}

/* The disassembly of an instruction, with the target of a jump named as in reports, and data by its symbol. */
static void add_text(const struct as_annotation *annotation, struct as_str *text, const struct as_note_insn *insn)
{
    if (insn->data) {
        as_str_add_bytes(text, insn->text, insn->data_at);
        as_str_addf(text, "%s%s", AS_SHOW(insn->data), insn->text + insn->data_at + insn->data_length);
        return;
    }
    char name[AS_TARGET_MAX], absolute[24];
    const char *target = as_annotation_target(annotation, insn, name), *found = NULL;
    snprintf(absolute, sizeof absolute, "0x%" PRIx64, insn->target);
    for (const char *at = target ? strstr(insn->text, absolute) : NULL; at; at = strstr(at + 1, absolute))
        if (!isxdigit((unsigned char)at[strlen(absolute)]))
            found = at;
    if (!found) {
        as_str_add(text, insn->text);
        return;
    }
    as_str_add_bytes(text, insn->text, (size_t)(found - insn->text));
    as_str_addf(text, "%s%s", target, found + strlen(absolute));
}

static unsigned longest_text(const struct as_annotation *annotation, const struct as_note_insn *insn, unsigned most)
{
    struct as_str text = {0};
    add_text(annotation, &text, insn);
    size_t columns = as_show_columns(as_str_get(&text));
    as_str_free(&text);
    return columns <= most ? most : columns < TEXT_MAX ? (unsigned)columns : TEXT_MAX;
}

/* The runs of a block, where it begins. */
static void put_runs(const struct as_annotation *annotation, FILE *out, const struct as_term *term,
                     const struct layout *layout, const struct as_note_insn *insn)
{
    if (!layout->runs)
        return;
    bool shown = insn && insn->starts && !isnan(insn->runs);
    if (shown && annotation->most_runs > 0)
        as_term_heat(out, term, insn->runs / annotation->most_runs);
    fprintf(out, "%*s ", (int)layout->runs - 1, shown ? AS_COUNT((uint64_t)(insn->runs + 0.5)) : "");
    if (shown)
        as_term_plain(out, term);
}

static unsigned runs_width(const struct as_annotation *annotation)
{
    enum { LEAST = sizeof "block runs" - 1 };
    size_t width = strlen(AS_COUNT((uint64_t)(annotation->most_runs + 0.5)));
    return annotation->has_runs ? (unsigned)(width > LEAST ? width : LEAST) + 1 : 0;
}

static struct layout lay_out(const struct as_annotation *annotation, const struct as_term *term)
{
    bool wide = term->width >= AS_TERM_WIDE;
    unsigned longest = TEXT_MIN;
    struct layout layout = {.first = SHARE + (annotation->has_errors ? ERROR : 0),
                            .count = counts_executions(annotation) ? 10 : 7,
                            .bar = wide ? BAR : BAR_NARROW};
    layout.runs = runs_width(annotation);
    for (size_t i = 0; i < annotation->insns.len; i++) {
        size_t count = strlen(AS_COUNT(count_of(annotation, &annotation->insns.data[i])));
        layout.count = count > layout.count ? (unsigned)count : layout.count;
        longest = longest_text(annotation, &annotation->insns.data[i], longest);
    }
    layout.arrows = as_arrows_new(annotation->insns.data, annotation->insns.len);
    unsigned used =
        layout.first + layout.runs + layout.count + 1 + as_arrows_width(layout.arrows) + OFFSET + 1 + layout.bar;
    if (used + TEXT_MIN > term->width) { /* bars are dropped first if there is no room */
        used -= 1 + layout.bar;
        layout.bar = 0;
    }
    unsigned left = term->width > used + TEXT_LEAST ? term->width - used : TEXT_LEAST;
    layout.text = left > longest ? longest : left;
    layout.events = wide && annotation->view->has_events ? used + layout.text + 1 : 0;
    return layout;
}

static bool has_stack(const struct as_annotation *annotation, const struct layout *layout,
                      const struct as_store_row *row)
{
    return layout->bar * as_ratio(row->units, annotation->most) >= 0.5 || (layout->events && main_event(row));
}

static void put_stack(const struct as_annotation *annotation, FILE *out, const struct as_term *term,
                      const struct layout *layout, const struct as_store_row *row)
{
    const struct as_store_row_part *event = layout->events ? main_event(row) : NULL;
    char text[AS_SHOW_MAX + 32], component[AS_COMPONENT_MAX];
    fputc(' ', out);
    as_legend_bar(&annotation->legend, out, term, row, annotation->most, layout->bar, event != NULL);
    if (!event || term->width < layout->events + 8)
        return;
    snprintf(text, sizeof text, "%3.0f %% %s", 100 * as_ratio(event->units, row->units),
             AS_SHOW(as_view_component(annotation->view, event->key, component)));
    fputc(' ', out);
    as_show_in(out, term, text, term->width - layout->events, false);
}

static void put_insn(const struct as_annotation *annotation, FILE *out, const struct as_term *term,
                     const struct layout *layout, size_t index)
{
    const struct as_note_insn *insn = &annotation->insns.data[index];
    uint64_t start = annotation->what.address;
    uint64_t count = count_of(annotation, insn);
    struct as_str text = {0};
    char offset[24];
    add_text(annotation, &text, insn);
    put_share(annotation, out, term, insn->row.units);
    put_error(annotation, out, insn->row.units, insn->error);
    put_runs(annotation, out, term, layout, insn);
    fprintf(out, "%*s ", (int)layout->count, count ? AS_COUNT(count) : "");
    as_arrows_put(layout->arrows, out, term, index, false);
    snprintf(offset, sizeof offset, insn->address >= start ? "+0x%" PRIx64 : "-0x%" PRIx64,
             insn->address >= start ? insn->address - start : start - insn->address);
    as_term_dim(out, term, !insn->recorded);
    fprintf(out, "%*s  ", OFFSET - 2, offset);
    bool stack = has_stack(annotation, layout, &insn->row);
    as_show_in(out, term, as_str_get(&text), layout->text, stack);
    as_term_dim(out, term, false);
    if (stack)
        put_stack(annotation, out, term, layout, &insn->row);
    fputc('\n', out);
    as_str_free(&text);
}

/* Whether two instructions are of one line, in the same inlined function. */
/* The time of the consecutive instructions from `index` on that belong to the same line. */
static uint64_t run_units(const struct as_annotation *annotation, size_t index)
{
    const struct as_note_insn *first = &annotation->insns.data[index];
    uint64_t units = 0;
    for (size_t i = index; i < annotation->insns.len; i++) {
        const struct as_note_insn *insn = &annotation->insns.data[i];
        if (!as_annotation_same_line(annotation, first, insn))
            break;
        units += insn->row.units;
    }
    return units;
}

/* A key for lines of one file in the same inlined function. */
static uint64_t group_of(const struct as_annotation *annotation, const struct as_note_insn *insn)
{
    const char *name = insn->n_chain ? annotation->chains.data[insn->chain] : "";
    return as_hash_bytes(name, strlen(name)) + insn->file;
}

static void find_indents(const struct as_annotation *annotation, struct layout *layout)
{
    for (size_t i = 0; i < annotation->insns.len; i++) {
        const struct as_note_insn *insn = &annotation->insns.data[i];
        const char *source = as_annotation_source(annotation, insn->file, insn->line);
        if (!source || !*source)
            continue;
        uint64_t *least = as_map_put(&layout->indents, group_of(annotation, insn)), indent = indent_of(source) + 1;
        *least = !*least || indent < *least ? indent : *least;
    }
}

/* Writes " (inlined NAME)"; the name takes at most a third of the terminal. Returns the columns that are left. */
static unsigned put_inlined(FILE *out, const struct as_term *term, const char *name, unsigned columns)
{
    enum { AROUND = sizeof " (inlined )" - 1 };
    char text[AS_SHOW_MAX];
    unsigned third = term->width / 3, most = columns > AROUND + third ? third : columns > AROUND ? columns - AROUND : 0;
    if (most < NAME_MIN)
        return columns;
    const char *shown = short_function(name, term, most, text);
    size_t used = as_show_columns(shown);
    fputs(" (inlined ", out);
    as_show_in(out, term, shown, most, false);
    fputc(')', out);
    return columns - AROUND - (used < most ? (unsigned)used : most);
}

static void put_line(const struct as_annotation *annotation, FILE *out, const struct as_term *term,
                     const struct layout *layout, size_t index)
{
    const struct as_note_insn *insn = &annotation->insns.data[index];
    if (insn->file == AS_STORE_NONE || !insn->line)
        return;
    unsigned used = layout->first + layout->runs + layout->count + 1 + as_arrows_width(layout->arrows);
    const uint64_t *indent = as_map_get(&layout->indents, group_of(annotation, insn));
    put_share(annotation, out, term, run_units(annotation, index));
    put_error(annotation, out, run_units(annotation, index), insn->run_error);
    put_runs(annotation, out, term, layout, NULL);
    fprintf(out, "%*s ", (int)layout->count, "");
    as_arrows_put(layout->arrows, out, term, index, true);
    as_term_bold(out, term, insn->recorded);
    unsigned left =
        put_where(annotation, out, term, insn->file, insn->line, term->width > used ? term->width - used : 1);
    if (insn->n_chain)
        left = put_inlined(out, term, annotation->chains.data[insn->chain], left);
    put_source(out, term, as_annotation_source(annotation, insn->file, insn->line), left,
               indent ? (unsigned)*indent - 1 : 0);
    as_term_bold(out, term, false);
    fputc('\n', out);
}

static void put_body(const struct as_annotation *annotation, FILE *out, const struct as_term *term)
{
    struct layout layout = lay_out(annotation, term);
    const char *runs = !layout.runs ? "" : annotation->runs_are_time ? "block time" : "block runs";
    find_indents(annotation, &layout);
    as_term_bold(out, term, true);
    fprintf(out, "\n  share   %s%*s%s%*s\n", annotation->has_errors ? "    +-  " : "",
            layout.runs ? (int)layout.runs - 1 : 0, runs, layout.runs ? " " : "", (int)layout.count,
            counts_executions(annotation) ? "executions" : "samples");
    as_term_bold(out, term, false);
    for (size_t i = 0; i < annotation->insns.len; i++) {
        const struct as_note_insn *insn = &annotation->insns.data[i];
        if (!i || !as_annotation_same_line(annotation, insn - 1, insn))
            put_line(annotation, out, term, &layout, i);
        put_insn(annotation, out, term, &layout, i);
    }
    as_arrows_free(layout.arrows);
    as_map_free(&layout.indents);
}

static void put_title(const struct as_annotation *annotation, FILE *out, const struct as_term *term)
{
    const struct as_store_function *function = &annotation->what;
    struct as_str text = {0};
    char range[64], name[AS_SHOW_MAX];
    snprintf(range, sizeof range, "code in no function, 0x%" PRIx64 " to 0x%" PRIx64, function->address,
             function->address + function->size);
    const char *shown = function->name ? short_function(function->name, term, term->width, name) : range;
    bool fits = as_show_columns(shown) <= term->width;
    fputc('\n', out);
    if (!fits) {
        as_show_in(out, term, shown, term->width, false);
        fputc('\n', out);
    }
    as_str_addf(&text, "%s%s(%s): %.2f %% of the %s; the shares below are of this part%s", fits ? shown : "",
                fits ? " " : "", AS_SHOW(as_view_module(annotation->view, function->module)),
                100 * as_ratio(annotation->units, annotation->rows.total),
                AS_SHOW(as_summary_noun(&annotation->view->summary)),
                annotation->has_errors ? ", and so is +-, half the 95 % interval" : "");
    as_show_wrapped(out, term, as_str_get(&text), 0, 2);
    fputc('\n', out);
    as_str_free(&text);
}

void as_annotation_text(const struct as_annotation *annotation, FILE *out, const struct as_term *term)
{
    const struct as_view *view = annotation->view;
    as_summary_text(&view->summary, out, term);
    put_title(annotation, out, term);
    put_notes(annotation, out, term);
    put_worst(annotation, out, term);
    put_body(annotation, out, term);
    if (view->has_events) {
        fputc('\n', out);
        as_legend_text(&annotation->legend, view, out, term);
    }
}
