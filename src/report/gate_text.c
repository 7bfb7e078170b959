/* See gate_text.h. */
#include "report/gate_text.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

enum { MARKDOWN_ROWS = 10 };

static const char *program_of(const struct as_diff *diff)
{
    const char *name = diff->views[AS_DIFF_AFTER]->summary.program;
    return name ? name : "the program";
}

static const char *unit_of(const struct as_diff *diff)
{
    return diff->views[AS_DIFF_AFTER]->summary.unit;
}

static const char *name_of(const struct as_gate_finding *finding, const struct as_diff *diff)
{
    return finding->row ? finding->row->name : program_of(diff);
}

static double limit_of(const struct as_gate_result *result, const struct as_gate_finding *finding)
{
    return finding->row ? result->gate.row : result->gate.program;
}

/* "+3.10 %", "new", "-0.20 % (within noise)". */
static void add_growth(struct as_str *text, double growth, bool significant)
{
    if (isinf(growth))
        as_str_add(text, "new");
    else
        as_str_addf(text, "%+.2f %%", 100 * growth);
    as_str_add(text, significant || growth == 0 ? "" : " (within noise)");
}

static bool is_significant(const struct as_gate_finding *finding, const struct as_diff *diff)
{
    return finding->row ? finding->row->significant : diff->significant;
}

/* "demo: +3.10 %, at most 2 % allowed". */
static void add_finding(struct as_str *text, const struct as_gate_result *result, const struct as_gate_finding *finding,
                        const struct as_diff *diff)
{
    as_str_addf(text, "%s: ", AS_SHOW(name_of(finding, diff)));
    add_growth(text, finding->growth, is_significant(finding, diff));
    as_str_addf(text, ", at most %g %% allowed", 100 * limit_of(result, finding));
}

void as_gate_text(const struct as_gate_result *result, const struct as_diff *diff, FILE *out)
{
    struct as_str text = {0};
    for (size_t i = 0; i < result->findings.len; i++) {
        as_str_addf(&text, "%s ", result->findings.data[i].failed ? "FAILED" : "passed");
        add_finding(&text, result, &result->findings.data[i], diff);
        as_str_add(&text, "\n");
    }
    if (!isnan(result->gate.row) && result->failed_rows == 0)
        as_str_addf(&text, "passed %s %ss: none grew by more than %g %%\n", AS_COUNT(result->rows),
                    as_view_level_name(diff->level), 100 * result->gate.row);
    fputs(as_str_get(&text), out);
    as_str_free(&text);
}

/* ---- Markdown ---- */

/* Writes a name in a table: characters that would end the cell or start markup become entities. */
static void put_cell(FILE *out, const char *text)
{
    for (const char *c = text; *c; c++)
        if (strchr("|`<>&*_[]\\~#", *c))
            fprintf(out, "&#%d;", *c);
        else
            fputc(*c == '\n' ? ' ' : *c, out);
}

static void put_row(FILE *out, const char *name, const double cycles[AS_DIFF_SIDES], bool significant)
{
    struct as_str growth = {0};
    add_growth(&growth, cycles[AS_DIFF_BEFORE] > 0 ? as_diff_change(cycles) / cycles[AS_DIFF_BEFORE] : INFINITY,
               significant);
    fputs("| ", out);
    put_cell(out, AS_SHOW(name));
    fprintf(out, " | %s | %s | %s |\n", AS_COUNT((uint64_t)cycles[AS_DIFF_BEFORE]),
            AS_COUNT((uint64_t)cycles[AS_DIFF_AFTER]), as_str_get(&growth));
    as_str_free(&growth);
}

void as_gate_markdown(const struct as_gate_result *result, const struct as_diff *diff, FILE *out)
{
    struct as_str text = {0};
    fprintf(out, "### %s: ", result->failed ? "Slower than allowed" : "No slowdown beyond the limit");
    put_cell(out, AS_SHOW(program_of(diff)));
    fputs("\n\n", out);
    for (size_t i = 0; i < result->findings.len; i++) {
        as_str_clear(&text);
        add_finding(&text, result, &result->findings.data[i], diff);
        fprintf(out, "- %s ", result->findings.data[i].failed ? "**failed**" : "passed");
        put_cell(out, as_str_get(&text));
        fputc('\n', out);
    }
    if (*diff->differences)
        fprintf(out, "- the profiles differ in more than the program: %s\n", diff->differences);
    fprintf(out, "\n| %s | before (%s) | after | change |\n|---|---:|---:|---:|\n", as_view_level_name(diff->level),
            unit_of(diff));
    put_row(out, "all", diff->cycles, diff->significant);
    for (size_t i = 0; i < diff->rows.len && i < MARKDOWN_ROWS; i++)
        if (diff->rows.data[i].significant)
            put_row(out, diff->rows.data[i].name, diff->rows.data[i].cycles, true);
    as_str_free(&text);
}

/* ---- JUnit ---- */

static void put_xml(FILE *out, const char *text)
{
    for (const char *c = text; *c; c++)
        if (strchr("<>&\"'", *c))
            fprintf(out, "&#%d;", *c);
        else
            fputc(*c, out);
}

static void put_case(const struct as_gate_result *result, const struct as_gate_finding *finding,
                     const struct as_diff *diff, FILE *out)
{
    struct as_str text = {0};
    add_finding(&text, result, finding, diff);
    fputs("  <testcase classname=\"", out);
    put_xml(out, AS_SHOW(program_of(diff)));
    fputs("\" name=\"", out);
    put_xml(out, finding->row ? AS_SHOW(finding->row->name) : "whole program");
    if (finding->failed) {
        fputs("\">\n    <failure message=\"", out);
        put_xml(out, as_str_get(&text));
        fprintf(out, "\">%.0f %s before, %.0f after</failure>\n  </testcase>\n", finding->before, unit_of(diff),
                finding->after);
    } else {
        fputs("\"/>\n", out);
    }
    as_str_free(&text);
}

void as_gate_junit(const struct as_gate_result *result, const struct as_diff *diff, FILE *out)
{
    bool rows_passed = !isnan(result->gate.row) && result->failed_rows == 0;
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"assay\" tests=\"%zu\" failures=\"%zu\">\n",
            result->findings.len + rows_passed, result->failed);
    for (size_t i = 0; i < result->findings.len; i++)
        put_case(result, &result->findings.data[i], diff, out);
    if (rows_passed) {
        fputs("  <testcase classname=\"", out);
        put_xml(out, AS_SHOW(program_of(diff)));
        fprintf(out, "\" name=\"%zu %ss\"/>\n", result->rows, as_view_level_name(diff->level));
    }
    fputs("</testsuite>\n", out);
}

/* ---- JSON ---- */

void as_gate_json(const struct as_gate_result *result, const struct as_diff *diff, struct as_json *json)
{
    as_json_object(json, "gate");
    as_json_bool(json, "failed", result->failed > 0);
    as_json_double(json, "program_limit", result->gate.program);
    as_json_double(json, "row_limit", result->gate.row);
    as_json_array(json, "findings");
    for (size_t i = 0; i < result->findings.len; i++) {
        const struct as_gate_finding *finding = &result->findings.data[i];
        as_json_object(json, NULL);
        as_json_string(json, "name", name_of(finding, diff));
        as_json_bool(json, "program", finding->row == NULL);
        as_json_double(json, "growth", finding->growth);
        as_json_bool(json, "failed", finding->failed);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_end(json);
}
