/* What `assay trust` found, as a page that opens from disk: the verdicts, a picture and a table for each experiment. See
 * trust_html.h.
 *
 * Shares are bars, with a mark where each should end, and errors of numbers bars to either side of a mark; what was tried at
 * several intervals, ratios or distances is a curve. There are no scripts, and whatever a picture shows stands in the table below it, too. */
#include "cmd/trust_html.h"

#include "base/html.h"
#include "base/show.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 860, LEFT = 300, RIGHT = 70, BAR = 22, CURVE = 260, TOP = 14, BOTTOM = 38, INDENT = 60 };

static const char style[] =
    ":root{color-scheme:light "
    "dark;--ink:light-dark(#1b1f24,#e6e9ee);--dim:light-dark(#57606a,#9aa4b1);--line:light-dark("
    "#d5dae0,#3a424c);--bg:light-dark(#fff,#14181d);--bar:light-dark(#0b6cb8,#6cb6f5);--mark:light-dark(#b3261e,#"
    "ff8a80)}"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--bg);max-width:900px;margin:24px "
    "auto;padding:"
    "0 16px}h1{font-size:22px}h2{font-size:17px;margin-top:28px}svg{width:100%;height:auto}svg "
    "text{fill:var(--ink);font:"
    "12px system-ui,sans-serif}svg .dim{fill:var(--dim)}.bar{fill:var(--bar)}.mark{stroke:var(--mark);stroke-width:2}"
    ".grid{stroke:var(--line)}.curve{fill:none;stroke:var(--bar);stroke-width:2}.dot{fill:var(--bar)}table{border-"
    "collapse:"
    "collapse;font-size:13px}th,td{padding:2px 10px;text-align:left;border-bottom:1px solid "
    "var(--line)}.num{text-align:"
    "right;font-variant-numeric:tabular-nums}.dim{color:var(--dim)}";

/* ---- text ---- */

static void put_percent(FILE *out, double value, bool sign)
{
    if (isnan(value))
        fputs("<td class=\"num\">–</td>", out);
    else
        fprintf(out, sign ? "<td class=\"num\">%+.2f %%</td>" : "<td class=\"num\">%.2f %%</td>", 100 * value);
}

static void put_number(FILE *out, double value, enum as_trust_unit unit)
{
    if (isnan(value) || unit == AS_TRUST_SHARE)
        put_percent(out, value, false);
    else if (unit == AS_TRUST_BYTES)
        fprintf(out, "<td class=\"num\">%s KiB</td>", AS_COUNT((uint64_t)(value / 1024 + 0.5)));
    else if (value < 1000)
        fprintf(out, "<td class=\"num\">%.1f</td>", value);
    else
        fprintf(out, "<td class=\"num\">%s</td>", AS_COUNT((uint64_t)(value + 0.5)));
}

/* The first number in a setting: "10,007" of "interval 10,007"; NAN: there is none. */
static double number_in(const char *setting)
{
    double number = NAN;
    while (*setting && !isdigit((unsigned char)*setting))
        setting++;
    for (; isdigit((unsigned char)*setting) || *setting == ','; setting++)
        if (*setting != ',')
            number = (isnan(number) ? 0 : 10 * number) + (*setting - '0');
    return number;
}

/* ---- rows of one experiment ---- */

struct part {
    const struct as_trust_row *rows;
    size_t n;
};

static void put_table(FILE *out, struct part part)
{
    fputs("<table><thead><tr><th></th><th></th><th class=\"num\">expected</th><th class=\"num\">got</th><th "
          "class=\"num\">"
          "error</th><th class=\"num\">by chance</th><th class=\"num\">spread</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < part.n; i++) {
        const struct as_trust_row *row = &part.rows[i];
        fputs("<tr><th scope=\"row\">", out);
        as_html_text(out, row->what);
        fputs("</th><td>", out);
        as_html_text(out, row->setting);
        fputs("</td>", out);
        put_number(out, row->expected, row->unit);
        put_number(out, row->got, row->unit);
        put_percent(out, row->error, true);
        put_percent(out, row->chance, false);
        put_percent(out, row->spread, false);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table>\n", out);
}

/* ---- bars ---- */

static double bar_end(double share, double full)
{
    return LEFT + fmin(1, fmax(0, share) / full) * (WIDTH - LEFT - RIGHT);
}

static void put_bar(FILE *out, const struct as_trust_row *row, double y, double full)
{
    double end = bar_end(row->got, full);
    fprintf(out, "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">", LEFT - 8, y + 14);
    as_html_text(out, row->what);
    fputs(" <tspan class=\"dim\">", out);
    as_html_text(out, row->setting);
    fprintf(out, "</tspan></text><rect class=\"bar\" x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"%d\"/>", LEFT, y + 2,
            end - LEFT, BAR - 6);
    fprintf(out, "<text x=\"%.1f\" y=\"%.0f\">%.1f %%</text>", end + 6, y + 14, 100 * row->got);
    if (!isnan(row->expected))
        fprintf(out, "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.0f\" y2=\"%.0f\"/>\n",
                bar_end(row->expected, full), bar_end(row->expected, full), y, y + BAR - 2);
}

static bool is_share(const struct as_trust_row *row)
{
    return row->unit == AS_TRUST_SHARE && !isnan(row->got);
}

static bool has_shares(struct part part)
{
    for (size_t i = 0; i < part.n; i++)
        if (is_share(&part.rows[i]))
            return true;
    return false;
}

static void put_bars(FILE *out, struct part part)
{
    double full = 0.01;
    size_t n = 0;
    for (size_t i = 0; i < part.n; i++) {
        if (!is_share(&part.rows[i]))
            continue;
        full = fmax(full, fmax(part.rows[i].got, isnan(part.rows[i].expected) ? 0 : part.rows[i].expected));
        n++;
    }
    fprintf(out,
            "<svg viewBox=\"0 0 %d %zu\" role=\"img\"><title>Shares; the marks are where they should end</title>\n",
            WIDTH, n * BAR + 4);
    for (size_t i = 0, line = 0; i < part.n; i++)
        if (is_share(&part.rows[i]))
            put_bar(out, &part.rows[i], (double)(line++ * BAR), full);
    fputs("</svg>\n", out);
}

/* ---- errors of numbers: bars to the left of the mark are too few, to the right too many ---- */

static void put_error(FILE *out, const struct as_trust_row *row, double y, double full)
{
    double middle = LEFT + (WIDTH - LEFT - RIGHT) / 2.0, length = row->error / full * (WIDTH - LEFT - 3 * RIGHT) / 2;
    fprintf(out, "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">", LEFT - 8, y + 14);
    as_html_text(out, row->what);
    fputs(" <tspan class=\"dim\">", out);
    as_html_text(out, row->setting);
    fprintf(out, "</tspan></text><rect class=\"bar\" x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\"/>",
            length < 0 ? middle + length : middle, y + 2, fabs(length), BAR - 6);
    fprintf(out, "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"%s\">%+.1f %%</text>",
            length < 0 ? middle + length - 6 : middle + length + 6, y + 14, length < 0 ? "end" : "start",
            100 * row->error);
    fprintf(out, "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.0f\" y2=\"%.0f\"/>\n", middle, middle, y,
            y + BAR - 2);
}

static void put_errors(FILE *out, struct part part)
{
    double full = 0.01;
    size_t n = 0;
    for (size_t i = 0; i < part.n; i++) {
        full = fmax(full, isnan(part.rows[i].error) ? 0 : fabs(part.rows[i].error));
        n += !isnan(part.rows[i].error);
    }
    fprintf(out, "<svg viewBox=\"0 0 %d %zu\" role=\"img\"><title>Errors of numbers of samples</title>\n", WIDTH,
            n * BAR + 4);
    for (size_t i = 0, line = 0; i < part.n; i++)
        if (!isnan(part.rows[i].error))
            put_error(out, &part.rows[i], (double)(line++ * BAR), full);
    fputs("</svg>\n", out);
}

/* ---- curves ---- */

struct axes {
    double low, high, from, to; /* of x, as its logarithm where that is used; of y */
    bool log;
};

static double x_of(const struct axes *axes, double x)
{
    double at = axes->log ? log10(x) : x;
    return INDENT + (at - axes->low) / fmax(axes->high - axes->low, 1e-9) * (WIDTH - INDENT - RIGHT);
}

static double y_of(const struct axes *axes, double y)
{
    return TOP + (axes->to - y) / fmax(axes->to - axes->from, 1e-9) * (CURVE - TOP - BOTTOM);
}

static struct axes axes_of(struct part part, bool log, bool errors)
{
    struct axes axes = {.low = INFINITY, .high = -INFINITY, .from = 0, .to = errors ? 0.01 : 0.55, .log = log};
    for (size_t i = 0; i < part.n; i++) {
        double x = number_in(part.rows[i].setting), y = errors ? part.rows[i].error : part.rows[i].got;
        x = log ? log10(x) : x;
        axes.low = fmin(axes.low, x);
        axes.high = fmax(axes.high, x);
        axes.from = fmin(axes.from, isnan(y) ? 0 : y);
        axes.to = fmax(axes.to, isnan(y) ? 0 : y);
    }
    return axes;
}

static void put_axes(FILE *out, const struct axes *axes, struct part part)
{
    enum { LINES = 4 };
    for (int i = 0; i <= LINES; i++) {
        double y = axes->from + (axes->to - axes->from) * i / LINES;
        fprintf(out,
                "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" y=\"%.1f\" "
                "text-anchor=\"end\">%.*f %%</text>\n",
                INDENT, WIDTH - RIGHT, y_of(axes, y), y_of(axes, y), INDENT - 6, y_of(axes, y) + 4,
                axes->to - axes->from < 0.04 ? 2 : 0, 100 * y);
    }
    double last = -INFINITY;
    for (size_t i = 0; i < part.n; i++) {
        double x = number_in(part.rows[i].setting);
        if (x_of(axes, x) - last < 60)
            continue;
        last = x_of(axes, x);
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", last, CURVE - BOTTOM + 18,
                AS_COUNT((uint64_t)x));
    }
}

/* Rows of the same thing are one curve. */
static void put_line(FILE *out, const struct axes *axes, struct part part, bool errors)
{
    const char *before = "";
    for (size_t i = 0; i < part.n; i++) {
        const struct as_trust_row *row = &part.rows[i];
        double y = errors ? row->error : row->got;
        if (isnan(y))
            continue;
        if (strcmp(before, row->what) != 0)
            fprintf(out, "%s<path class=\"curve\" d=\"M", *before ? "\"/>\n" : "");
        before = row->what;
        fprintf(out, " %.1f %.1f", x_of(axes, number_in(row->setting)), y_of(axes, y));
    }
    fputs(*before ? "\"/>\n" : "", out);
    for (size_t i = 0; i < part.n; i++) {
        const struct as_trust_row *row = &part.rows[i];
        double y = errors ? row->error : row->got;
        bool last = i + 1 == part.n || strcmp(row->what, row[1].what) != 0;
        if (isnan(y))
            continue;
        fprintf(out, "<circle class=\"dot\" r=\"3\" cx=\"%.1f\" cy=\"%.1f\"/>\n", x_of(axes, number_in(row->setting)),
                y_of(axes, y));
        if (last && *row->what) {
            fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", x_of(axes, number_in(row->setting)),
                    y_of(axes, y) - 8);
            as_html_text(out, row->what);
            fputs("</text>\n", out);
        }
    }
}

static void put_curve(FILE *out, struct part part, bool log, bool errors, const char *below)
{
    struct axes axes = axes_of(part, log, errors);
    fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\"><title>%s against the %s</title>\n", WIDTH, CURVE,
            errors ? "Error" : "Share of the samples", below);
    put_axes(out, &axes, part);
    put_line(out, &axes, part, errors);
    fprintf(out, "<text class=\"dim\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text></svg>\n", WIDTH - RIGHT,
            CURVE - 4, below);
}

/* ---- sections ---- */

static void put_part(FILE *out, struct part part)
{
    const char *name = part.rows[0].experiment;
    fputs("<h2>", out);
    as_html_text(out, name);
    fputs(": ", out);
    as_html_text(out, as_trust_about(name));
    fputs("</h2>\n", out);
    if (strcmp(name, "interval") == 0)
        put_curve(out, part, true, true, "interval");
    else if (strcmp(name, "distance") == 0)
        put_curve(out, part, false, false, "nops between an event and the one before");
    else if (strcmp(name, "ratio") == 0)
        put_curve(out, part, false, true, "instructions of which one is a miss");
    else if (has_shares(part))
        put_bars(out, part);
    else
        put_errors(out, part);
    put_table(out, part);
}

static void put_shadows(FILE *out, const struct as_trust_shown *shown)
{
    if (!shown->shadows.len)
        return;
    fputs("<h2>nops that take an event out of the shadow of the one "
          "before</h2>\n<table><thead><tr><th></th><th>kernel</th>"
          "<th class=\"num\">nops</th><th class=\"num\">cycles</th><th class=\"num\">most before</th><th "
          "class=\"num\">most "
          "after</th><th class=\"num\">slower</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < shown->shadows.len; i++) {
        const struct as_trust_shadow *shadow = &shown->shadows.data[i];
        char kernel[32], failure[64];
        fprintf(out, "<tr><th scope=\"row\">%s</th><td>%s</td>", shadow->event,
                as_trust_shadow_kernel(shadow, kernel, sizeof kernel));
        if (!shadow->even) {
            fprintf(out, "<td colspan=\"5\">%s</td></tr>\n", as_trust_shadow_failure(shadow, failure, sizeof failure));
            continue;
        }
        fprintf(out, "<td class=\"num\">%u</td><td class=\"num\">%.1f</td>", shadow->nops, shadow->cycles);
        put_percent(out, shadow->before, false);
        put_percent(out, shadow->after, false);
        put_percent(out, shadow->cost, true);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table>\n", out);
}

void as_trust_print_html(const struct as_trust_shown *shown, FILE *out)
{
    const struct as_trust_subject *subject = shown->subject;
    const struct as_trust_report *report = &shown->report;
    const char *name = subject->timer ? "the kernel's clocks on this machine" : subject->pmu.name;
    as_html_begin(out, style);
    fputs("Trust: ", out);
    as_html_text(out, name);
    fputs("</title></head><body>\n<h1>How far to trust ", out);
    as_html_text(out, name);
    fputs("</h1>\n<p class=\"dim\">", out);
    if (!subject->timer) {
        as_html_text(out, subject->pmu.description);
    }
    if (subject->options->core) {
        fputs(", on the modelled core ", out);
        as_html_text(out, subject->options->core);
    }
    fputs("</p>\n<ul>\n", out);
    for (size_t i = 0; i < report->verdicts.len; i++) {
        fputs("<li>", out);
        as_html_text(out, report->verdicts.data[i]);
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
    for (size_t i = 0, end; i < report->rows.len; i = end) {
        for (end = i;
             end < report->rows.len && strcmp(report->rows.data[end].experiment, report->rows.data[i].experiment) == 0;)
            end++;
        put_part(out, (struct part){&report->rows.data[i], end - i});
    }
    put_shadows(out, shown);
    fputs("</body></html>\n", out);
}
