/* See gate_text.h. */
#include "report/gate_text.h"

#include "base/str.h"

#include <ctype.h>
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

static const char *word_of(const struct as_gate_result *result, enum as_gate_verdict verdict)
{
    static const char *const words[] = {"passed", "INCONCLUSIVE", "FAILED"};
    return words[as_gate_fails(result, verdict) && result->gate.strict ? AS_GATE_FAILED : verdict];
}

/* Times as whole numbers, alike in all formats. */
static uint64_t whole(double time)
{
    return time > 0 && time < 0x1p63 ? (uint64_t)(time + 0.5) : 0;
}

/* Two digits: the number is a guide. */
static uint64_t rounded(double number)
{
    double unit = pow(10, fmax(floor(log10(number)) - 1, 0));
    return (uint64_t)(ceil(number / unit) * unit);
}

/* ": 29 samples before and 42 samples after can only show a growth of 145 % or more; …". */
static void add_inconclusive(struct as_str *text, const struct as_gate_finding *finding, const struct as_diff *diff)
{
    const char *what = diff->views[AS_DIFF_AFTER]->summary.sampled ? "region" : "sample";
    as_str_add(text, ": ");
    for (int side = 0; side < AS_DIFF_SIDES; side++) {
        const struct as_summary *summary = &diff->views[side]->summary;
        uint64_t n = summary->sampled ? summary->samples : (uint64_t)diff->samples[side];
        as_str_add(text, side ? " and " : "");
        if (summary->exact || summary->counted)
            as_str_add(text, "exact times");
        else
            as_str_addf(text, "%s %s%s", AS_COUNT(n), what, n == 1 ? "" : "s");
        as_str_add(text, side ? " after" : " before");
    }
    if (isinf(finding->least))
        as_str_add(text, " can show no growth");
    else
        as_str_addf(text, " can only show a growth of %.*f %% or more", finding->least < 0.1 ? 1 : 0,
                    100 * finding->least);
    if (isfinite(finding->needed) && finding->needed < 1e18)
        as_str_addf(text, "; the limit needs about %s on each side", AS_COUNT(rounded(finding->needed)));
}

/* "demo: +3.10 %, at most 2 % allowed". */
static void add_finding(struct as_str *text, const struct as_gate_result *result, const struct as_gate_finding *finding,
                        const struct as_diff *diff)
{
    as_str_addf(text, "%s: ", AS_SHOW(name_of(finding, diff)));
    add_growth(text, finding->growth, is_significant(finding, diff));
    as_str_addf(text, ", at most %g %% allowed", 100 * limit_of(result, finding));
    if (finding->verdict == AS_GATE_INCONCLUSIVE)
        add_inconclusive(text, finding, diff);
}

/* The rows have a line of their own if none of them failed. */
static bool tells_rows(const struct as_gate_result *result)
{
    return !isnan(result->gate.row) && result->failed_rows == 0 && result->obstacles.len == 0;
}

static enum as_gate_verdict verdict_of_rows(const struct as_gate_result *result)
{
    return result->noisy_rows ? AS_GATE_INCONCLUSIVE : AS_GATE_PASSED;
}

/* "12 functions: none grew significantly by more than 2 %, 3 did within noise". */
static void add_rows(struct as_str *text, const struct as_gate_result *result, const struct as_diff *diff)
{
    as_str_addf(text, "%s %s%s: none grew %sby more than %g %%", AS_COUNT(result->rows),
                as_view_level_name(diff->level), result->rows == 1 ? "" : "s", result->exact ? "" : "significantly ",
                100 * result->gate.row);
    if (result->noisy_rows)
        as_str_addf(text, ", %s did within noise", AS_COUNT(result->noisy_rows));
}

/* Threads may be all that a slowdown is made of. NULL: there is none, or there are no such threads. */
static const char *doubt_of(const struct as_gate_result *result, const struct as_diff *diff)
{
    bool slower = result->obstacles.len == 0 && result->verdict == AS_GATE_FAILED;
    return slower ? as_diff_threads_note(diff) : NULL;
}

void as_gate_text(const struct as_gate_result *result, const struct as_diff *diff, FILE *out)
{
    struct as_str text = {0};
    for (size_t i = 0; i < result->obstacles.len; i++)
        as_str_addf(&text, "NOT JUDGED %s: not comparable: %s\n", AS_SHOW(program_of(diff)),
                    AS_SHOW(result->obstacles.data[i]));
    for (size_t i = 0; i < result->findings.len; i++) {
        as_str_addf(&text, "%s ", word_of(result, result->findings.data[i].verdict));
        add_finding(&text, result, &result->findings.data[i], diff);
        as_str_add(&text, "\n");
    }
    if (tells_rows(result)) {
        as_str_addf(&text, "%s ", word_of(result, verdict_of_rows(result)));
        add_rows(&text, result, diff);
        as_str_add(&text, "\n");
    }
    if (doubt_of(result, diff))
        as_str_addf(&text, "note: %s\n", doubt_of(result, diff));
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
    fprintf(out, " | %s | %s | %s |\n", AS_COUNT(whole(cycles[AS_DIFF_BEFORE])), AS_COUNT(whole(cycles[AS_DIFF_AFTER])),
            as_str_get(&growth));
    as_str_free(&growth);
}

static void put_item(FILE *out, const char *verdict, const char *text)
{
    bool plain = strcmp(verdict, "passed") == 0;
    fprintf(out, "- %s", plain ? "" : "**");
    for (const char *c = verdict; *c; c++)
        fputc(tolower((unsigned char)*c), out);
    fputs(plain ? " " : "** ", out);
    put_cell(out, text);
    fputc('\n', out);
}

static void put_items(const struct as_gate_result *result, const struct as_diff *diff, FILE *out)
{
    struct as_str text = {0};
    for (size_t i = 0; i < result->obstacles.len; i++)
        put_item(out, "not judged", AS_SHOW(result->obstacles.data[i]));
    for (size_t i = 0; i < result->findings.len; i++) {
        as_str_clear(&text);
        add_finding(&text, result, &result->findings.data[i], diff);
        put_item(out, word_of(result, result->findings.data[i].verdict), as_str_get(&text));
    }
    if (tells_rows(result)) {
        as_str_clear(&text);
        add_rows(&text, result, diff);
        put_item(out, word_of(result, verdict_of_rows(result)), as_str_get(&text));
    }
    as_str_free(&text);
}

void as_gate_markdown(const struct as_gate_result *result, const struct as_diff *diff, FILE *out)
{
    static const char *const heads[] = {"No slowdown beyond the limit", "Inconclusive: too few samples",
                                        "Slower than allowed"};
    bool strictly = result->verdict == AS_GATE_INCONCLUSIVE && result->gate.strict;
    fprintf(out, "### %s: ",
            result->obstacles.len ? "Not comparable"
            : strictly            ? "Failed (--strict): too few samples to tell"
                                  : heads[result->verdict]);
    put_cell(out, AS_SHOW(program_of(diff)));
    fputs("\n\n", out);
    put_items(result, diff, out);
    if (*diff->differences)
        fprintf(out, "- the profiles differ in more than the program: %s\n", diff->differences);
    if (doubt_of(result, diff))
        fprintf(out, "- note: %s\n", doubt_of(result, diff));
    fprintf(out, "\n| %s | before (%s) | after | change |\n|---|---:|---:|---:|\n", as_view_level_name(diff->level),
            unit_of(diff));
    put_row(out, "all", diff->cycles, diff->significant);
    for (size_t i = 0; i < diff->rows.len && i < MARKDOWN_ROWS; i++)
        if (diff->rows.data[i].significant)
            put_row(out, diff->rows.data[i].name, diff->rows.data[i].cycles, true);
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

/* A test that could not be run. */
static void put_error_case(const char *program, size_t number, const char *why, FILE *out)
{
    fputs("  <testcase classname=\"", out);
    put_xml(out, program);
    fputs("\" name=\"comparable", out);
    if (number > 1) /* what reads the file tells cases apart by name */
        fprintf(out, " (%zu)", number);
    fputs("\">\n    <error message=\"", out);
    put_xml(out, why);
    fputs("\"/>\n  </testcase>\n", out);
}

static void put_suite(size_t tests, size_t failures, size_t errors, size_t skipped, FILE *out)
{
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"assay\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
            tests, failures, errors, skipped);
}

/* `details` can be NULL. */
static void put_case(const struct as_gate_result *result, const struct as_diff *diff, const char *name,
                     enum as_gate_verdict verdict, const char *message, const char *details, FILE *out)
{
    bool fails = as_gate_fails(result, verdict);
    fputs("  <testcase classname=\"", out);
    put_xml(out, AS_SHOW(program_of(diff)));
    fputs("\" name=\"", out);
    put_xml(out, name);
    if (verdict == AS_GATE_PASSED) {
        fputs("\"/>\n", out);
        return;
    }
    fprintf(out, "\">\n    <%s message=\"", fails ? "failure" : "skipped");
    put_xml(out, message);
    if (fails)
        fprintf(out, "\">%s</failure>\n", details ? details : "");
    else
        fputs("\"/>\n", out);
    fputs("  </testcase>\n", out);
}

static void put_finding(const struct as_gate_result *result, const struct as_gate_finding *finding,
                        const struct as_diff *diff, FILE *out)
{
    struct as_str text = {0};
    char details[512];
    const char *doubt = doubt_of(result, diff);
    add_finding(&text, result, finding, diff);
    snprintf(details, sizeof details, "%s %s before, %s after%s%s", AS_COUNT(whole(finding->before)), unit_of(diff),
             AS_COUNT(whole(finding->after)), doubt ? "; " : "", doubt ? doubt : "");
    put_case(result, diff, finding->row ? AS_SHOW(finding->row->name) : "whole program", finding->verdict,
             as_str_get(&text), details, out);
    as_str_free(&text);
}

static void put_rows_case(const struct as_gate_result *result, const struct as_diff *diff, FILE *out)
{
    struct as_str name = {0}, text = {0};
    as_str_addf(&name, "%s %s%s", AS_COUNT(result->rows), as_view_level_name(diff->level),
                result->rows == 1 ? "" : "s");
    add_rows(&text, result, diff);
    put_case(result, diff, as_str_get(&name), verdict_of_rows(result), as_str_get(&text), NULL, out);
    as_str_free(&name);
    as_str_free(&text);
}

void as_gate_junit(const struct as_gate_result *result, const struct as_diff *diff, FILE *out)
{
    size_t of[] = {[AS_GATE_PASSED] = 0, [AS_GATE_INCONCLUSIVE] = 0, [AS_GATE_FAILED] = 0};
    size_t tests = result->obstacles.len + result->findings.len + tells_rows(result);
    for (size_t i = 0; i < result->findings.len; i++)
        of[result->findings.data[i].verdict]++;
    of[verdict_of_rows(result)] += tells_rows(result);
    put_suite(tests, of[AS_GATE_FAILED] + (result->gate.strict ? of[AS_GATE_INCONCLUSIVE] : 0), result->obstacles.len,
              result->gate.strict ? 0 : of[AS_GATE_INCONCLUSIVE], out);
    for (size_t i = 0; i < result->obstacles.len; i++)
        put_error_case(AS_SHOW(program_of(diff)), i + 1, AS_SHOW(result->obstacles.data[i]), out);
    for (size_t i = 0; i < result->findings.len; i++)
        put_finding(result, &result->findings.data[i], diff, out);
    if (tells_rows(result))
        put_rows_case(result, diff, out);
    fputs("</testsuite>\n", out);
}

/* ---- profiles that cannot even be compared ---- */

void as_gate_refuse_markdown(const char *why, FILE *out)
{
    fputs("### Not comparable\n\n", out);
    put_item(out, "not judged", AS_SHOW(why));
}

void as_gate_refuse_junit(const char *why, FILE *out)
{
    put_suite(1, 0, 1, 0, out);
    put_error_case("assay", 1, AS_SHOW(why), out);
    fputs("</testsuite>\n", out);
}

/* ---- JSON ---- */

void as_gate_json(const struct as_gate_result *result, const struct as_diff *diff, struct as_json *json)
{
    as_json_object(json, "gate");
    as_json_bool(json, "judged", as_gate_judged(result));
    as_json_bool(json, "failed", as_gate_fails(result, result->verdict));
    as_json_bool(json, "inconclusive", result->verdict == AS_GATE_INCONCLUSIVE);
    as_json_array(json, "not_comparable");
    for (size_t i = 0; i < result->obstacles.len; i++)
        as_json_string(json, NULL, result->obstacles.data[i]);
    as_json_end(json);
    as_json_double(json, "program_limit", result->gate.program);
    as_json_double(json, "row_limit", result->gate.row);
    as_json_array(json, "findings");
    for (size_t i = 0; i < result->findings.len; i++) {
        const struct as_gate_finding *finding = &result->findings.data[i];
        as_json_object(json, NULL);
        as_json_string(json, "name", name_of(finding, diff));
        as_json_bool(json, "program", finding->row == NULL);
        as_json_double(json, "growth", finding->growth);
        as_json_bool(json, "failed", as_gate_fails(result, finding->verdict));
        as_json_bool(json, "inconclusive", finding->verdict == AS_GATE_INCONCLUSIVE);
        as_json_double(json, "least", finding->least);
        as_json_double(json, "samples_needed", finding->least > 0 ? finding->needed : NAN);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_end(json);
}
