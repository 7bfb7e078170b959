/* assay comm as a page of its own: the heat maps of comm_svg.c, and tables of objects, lines, pairs of code and advice. One file
 * without scripts, links or fonts; all that comes from the program goes in as text. */
#include "base/html.h"
#include "base/show.h"
#include "cmd/comm_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char style[] = "body{font:14px/1.5 system-ui,sans-serif;margin:20px "
                            "28px;color:#1a2029}table{border-collapse:collapse;margin:0 0 "
                            "24px}td,th{padding:3px 14px 3px 0;border-bottom:1px solid "
                            "#dfe3e9;text-align:left;vertical-align:top}td.n,th.n{text-align:"
                            "right;font-variant-numeric:tabular-nums}code{font-size:.93em}pre{white-space:pre-wrap}svg{"
                            "max-width:100%;height:auto}";

/* A table while it is written. */
struct table {
    FILE *out;
    const struct as_comm_shown *shown;
};

static void put_head(const struct table *table, const char *title, const char *last)
{
    fprintf(table->out,
            "<h2>%s</h2>\n<table><tr><th class=\"n\">%s<th class=\"n\">true<th class=\"n\">false<th>%s</tr>\n", title,
            table->shown->result->is_time ? "ns" : "transfers", last);
}

static void put_counts(const struct table *table, uint64_t true_, uint64_t false_)
{
    fprintf(table->out, "<tr><td class=\"n\">%s<td class=\"n\">%s<td class=\"n\">%s<td>", AS_COUNT(true_ + false_),
            AS_COUNT(true_), AS_COUNT(false_));
}

static void put_lines_of(const struct table *table, char *text)
{
    char *rest = NULL;
    for (const char *line = strtok_r(text, "\n", &rest), *end = ""; line;
         line = strtok_r(NULL, "\n", &rest), end = "\n") {
        fputs(end, table->out);
        as_html_text(table->out, line);
    }
}

/* What `put` writes, as text of the page. */
static void put_text(const struct table *table, void (*put)(const struct table *table, FILE *out, uint32_t number),
                     uint32_t number)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return;
    put(table, memory, number);
    if (fclose(memory) == 0)
        put_lines_of(table, text);
    free(text);
}

static void write_summary(const struct table *table, FILE *out, uint32_t number)
{
    as_comm_summary(table->shown, out);
}

static void write_path(const struct table *table, FILE *out, uint32_t path)
{
    as_comm_path_text(table->shown, path, out);
}

static void put_summary(const struct table *table)
{
    fputs("<pre>", table->out);
    put_text(table, write_summary, 0);
    fputs("</pre>\n", table->out);
}

static void put_code(const struct table *table, const struct as_comm_code *code)
{
    char *text = as_comm_code_text(table->shown->result, code->process, code->insn);
    fputs("<code>", table->out);
    as_html_text(table->out, text);
    put_text(table, write_path, code->path);
    fputs("</code>", table->out);
    free(text);
}

static void put_objects(const struct table *table)
{
    const struct as_comm_rows *rows = table->shown->rows;
    put_head(table, "Objects", "object");
    for (size_t i = 0; i < rows->objects.len && i < table->shown->top; i++) {
        put_counts(table, rows->objects.data[i].true_, rows->objects.data[i].false_);
        as_html_text(table->out, rows->objects.data[i].what.name);
        fputs("</tr>\n", table->out);
    }
    fputs("</table>\n", table->out);
}

static void put_place(const struct table *table, const struct as_contact *contact, const struct as_contact_side *side)
{
    const struct as_comm_result *result = table->shown->result;
    struct as_comm_code code = {.insn = side->insn, .process = side->process, .path = side->path};
    char *place = as_comm_address_text(as_comm_space(result, side->process, side->insn), contact->line + side->offset);
    as_html_text(table->out, place);
    fputs(" by ", table->out);
    put_code(table, &code);
    free(place);
}

static void put_lines(const struct table *table)
{
    const struct as_comm_rows *rows = table->shown->rows;
    put_head(table, "Lines", "line<th>from<th>to");
    for (size_t i = 0; i < rows->lines.len && i < table->shown->top; i++) {
        const struct as_comm_line *line = &rows->lines.data[i];
        const struct as_contact *contact = &table->shown->result->contacts->list.data[line->contact];
        put_counts(table, line->true_, line->false_);
        fprintf(table->out, "<code>0x%" PRIx64 "</code><td>", line->address);
        put_place(table, contact, &contact->from);
        fputs("<td>", table->out);
        put_place(table, contact, &contact->to);
        if (line->lock)
            fprintf(table->out, ", inside one %s", line->lock);
        fputs("</tr>\n", table->out);
    }
    fputs("</table>\n", table->out);
}

static void put_pairs(const struct table *table)
{
    const struct as_comm_rows *rows = table->shown->rows;
    put_head(table, "Pairs of code", "wrote before<th>came behind<th>on");
    for (size_t i = 0; i < rows->pairs.len && i < table->shown->top; i++) {
        const struct as_comm_pair *pair = &rows->pairs.data[i];
        put_counts(table, pair->true_, pair->false_);
        put_code(table, &pair->from);
        fputs("<td>", table->out);
        put_code(table, &pair->to);
        fputs("<td>", table->out);
        as_html_text(table->out, rows->objects.data[pair->object].what.name);
        fputs("</tr>\n", table->out);
    }
    fputs("</table>\n", table->out);
}

static void put_far(const struct table *table)
{
    const struct as_comm_rows *rows = table->shown->rows;
    if (!as_comm_has_nodes(table->shown))
        return;
    fputs("<h2>Code with lines from another node</h2>\n<table><tr><th class=\"n\">lines<th class=\"n\">of all"
          "<th class=\"n\">bytes<th class=\"n\">wanted<th>code<th>on</tr>\n",
          table->out);
    for (size_t i = 0; i < rows->far.len && i < table->shown->top; i++) {
        const struct as_comm_far *far = &rows->far.data[i];
        fprintf(table->out, "<tr><td class=\"n\">%s<td class=\"n\">%s<td class=\"n\">%s<td class=\"n\">%s<td>",
                AS_COUNT(far->remote), AS_COUNT(far->transfers), AS_COUNT(far->remote * AS_COHERENT_LINE),
                AS_COUNT(far->wanted));
        put_code(table, &far->code);
        fputs("<td>", table->out);
        as_html_text(table->out, rows->objects.data[far->object].what.name);
        fputs("</tr>\n", table->out);
    }
    fputs("</table>\n", table->out);
}

static void put_advice(const struct table *table)
{
    const struct as_comm_rows *rows = table->shown->rows;
    fputs(rows->advice.len ? "<h2>Advice</h2>\n<ul>\n" : "", table->out);
    for (size_t i = 0; i < rows->advice.len; i++) {
        const struct as_comm_advice *advice = &rows->advice.data[i];
        fputs("<li>", table->out);
        as_html_text(table->out, advice->from);
        fputs(" and ", table->out);
        as_html_text(table->out, advice->to);
        fputs(" share a line: ", table->out);
        as_html_text(table->out, advice->text);
        fputs("</li>\n", table->out);
    }
    fputs(rows->advice.len ? "</ul>\n" : "", table->out);
}

void as_comm_html(const struct as_comm_shown *shown, FILE *out)
{
    struct table table = {.out = out, .shown = shown};
    as_html_begin(out, style);
    as_html_text(out, shown->argv[0]);
    fputs(": communication</title></head><body>\n", out);
    put_summary(&table);
    as_comm_svg(shown, out);
    put_objects(&table);
    put_lines(&table);
    put_pairs(&table);
    put_far(&table);
    put_advice(&table);
    fputs("</body></html>\n", out);
}
