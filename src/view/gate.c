/* See gate.h. */
#include "view/gate.h"

#include "base/alloc.h"
#include "base/path.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double growth_of(const double cycles[AS_DIFF_SIDES])
{
    return cycles[AS_DIFF_BEFORE] > 0  ? as_diff_change(cycles) / cycles[AS_DIFF_BEFORE]
           : cycles[AS_DIFF_AFTER] > 0 ? INFINITY
                                       : 0;
}

/* ---- profiles that cannot be judged ---- */

static void obstruct(struct as_gate_result *result, char *why)
{
    *as_vec_push(&result->obstacles) = why;
    result->verdict = AS_GATE_FAILED;
}

static bool is_system_wide(const struct as_view *view)
{
    static const char start[] = "system-wide";
    const char *title = as_store_meta(view->store, AS_META_TITLE);
    return title && strncmp(title, start, sizeof start - 1) == 0;
}

/* Another build of the program has the same name. */
static bool same_program(const struct as_view *before, const struct as_view *after)
{
    const char *first = as_store_meta(before->store, AS_META_PROGRAM),
               *second = as_store_meta(after->store, AS_META_PROGRAM);
    if (is_system_wide(before) || is_system_wide(after))
        return is_system_wide(before) && is_system_wide(after);
    return !first || !second || strcmp(as_path_base(first), as_path_base(second)) == 0;
}

/* "all", in words that are true of a run that was cut short, too. */
static const char *extent_text(const struct as_summary *summary)
{
    const char *extent = as_diff_extent(summary);
    return *extent ? extent : summary->partial ? "an unknown part" : "all";
}

/* The value of a line "NAME = VALUE" of a machine file's text; NULL: it has none. */
static const char *value_of(const char *machine, const char *name, size_t len)
{
    for (const char *line = machine; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, name, len) == 0 && strncmp(line + len, " = ", 3) == 0)
            return line + len + 3;
    return NULL;
}

/* Lines of a machine file that say nothing of how fast the core is. */
static bool is_about(const char *line, size_t len)
{
    static const char *const names[] = {"name", "description", "source", "cpuid"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (len == strlen(names[i]) && strncmp(line, names[i], len) == 0)
            return true;
    return false;
}

/* "memory.l1d.latency is 3 before, 12 after" for the first parameter of `first` that `second` has not alike. */
static char *differing_parameter(const char *first, const char *second)
{
    for (const char *line = first; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t len = strcspn(line, " \n");
        const char *before = value_of(line, line, len), *after = value_of(second, line, len);
        int width = before ? (int)strcspn(before, "\n") : 0, other = after ? (int)strcspn(after, "\n") : 0;
        if (!before || is_about(line, len) || (after && width == other && memcmp(before, after, (size_t)width) == 0))
            continue;
        return as_format("%.*s is %.*s before, %.*s after", (int)len, line, width, before, after ? other : 4,
                         after ? after : "none");
    }
    return NULL;
}

/* Another core has another speed for the same work; so have other parameters (--set) of the same one. Which processor a text
 * of perf script is of is not known, but no model is. */
static void find_other_core(struct as_gate_result *result, const struct as_diff *diff)
{
    const struct as_view *before = diff->views[AS_DIFF_BEFORE], *after = diff->views[AS_DIFF_AFTER];
    const char *first = as_store_meta(before->store, AS_META_MACHINE),
               *second = as_store_meta(after->store, AS_META_MACHINE);
    static const char unknown[] = "a processor that is not known";
    if (before->summary.core && after->summary.core && strcmp(before->summary.core, after->summary.core) != 0) {
        obstruct(result, as_format("other core: %s before, %s after (%s)", before->summary.core, after->summary.core,
                                   first || second ? "--core names one" : "measure both on the same machine"));
        return;
    }
    if (!first != !second && !before->summary.core != !after->summary.core) {
        obstruct(result,
                 as_format("other core: %s before, %s after", before->summary.core ? before->summary.core : unknown,
                           after->summary.core ? after->summary.core : unknown));
        return;
    }
    char *what = first && second ? differing_parameter(first, second) : NULL;
    if (what)
        obstruct(result, as_format("other core: %s", what));
    free(what);
}

static void find_obstacles(struct as_gate_result *result, const struct as_diff *diff)
{
    static const char *const names[] = {"before", "after"};
    const struct as_summary *sides[AS_DIFF_SIDES];
    const char *extent[AS_DIFF_SIDES], *status[AS_DIFF_SIDES];
    for (int i = 0; i < AS_DIFF_SIDES; i++) {
        sides[i] = &diff->views[i]->summary;
        extent[i] = as_diff_extent(sides[i]);
        status[i] = as_store_meta(diff->views[i]->store, AS_META_STATUS);
        if (sides[i]->partial)
            obstruct(result, as_format("the profile %s is PARTIAL: %s", names[i], sides[i]->partial));
        else if (!sides[i]->exact && !sides[i]->counted && !sides[i]->contradicts && sides[i]->samples == 0)
            obstruct(result, as_format("the profile %s has no samples", names[i]));
    }
    if (!same_program(diff->views[AS_DIFF_BEFORE], diff->views[AS_DIFF_AFTER]))
        obstruct(result, as_format("other program: %s before, %s after", sides[AS_DIFF_BEFORE]->program,
                                   sides[AS_DIFF_AFTER]->program));
    find_other_core(result, diff);
    if (strcmp(extent[AS_DIFF_BEFORE], extent[AS_DIFF_AFTER]) != 0)
        obstruct(result, as_format("other part of the run: %s before, %s after", extent_text(sides[AS_DIFF_BEFORE]),
                                   extent_text(sides[AS_DIFF_AFTER])));
    else if (!*extent[AS_DIFF_AFTER] && result->obstacles.len == 0 && status[AS_DIFF_BEFORE] && status[AS_DIFF_AFTER] &&
             strcmp(status[AS_DIFF_BEFORE], status[AS_DIFF_AFTER]) != 0)
        obstruct(result, as_format("other exit status of the program: %s before, %s after", status[AS_DIFF_BEFORE],
                                   status[AS_DIFF_AFTER]));
}

/* ---- growth ---- */

static void count_verdict(struct as_gate_result *result, enum as_gate_verdict verdict)
{
    result->verdict = verdict > result->verdict ? verdict : result->verdict;
}

static bool is_sampled(const struct as_view *view)
{
    return !view->summary.exact && !view->summary.counted;
}

/* The samples on each side with which a growth of `limit` is significant, for equal times: see score/change.h. Of regions
 * it takes as many times those that there are as the smallest growth is to be smaller, squared. */
static double samples_for(const struct as_diff *diff, double limit, double least)
{
    double sum = 0, most = 0;
    for (int i = 0; i < AS_DIFF_SIDES; i++)
        if (diff->views[i]->summary.sampled)
            most = fmax(most, (double)diff->views[i]->summary.samples);
    if (most > 0)
        return limit > 0 ? most * least * least / (limit * limit) : INFINITY;
    for (int i = 0; i < AS_DIFF_SIDES; i++)
        sum += is_sampled(diff->views[i]) ? 1 / diff->views[i]->summary.effective : 0;
    return limit > 0 ? AS_Z_5_SIGMA * AS_Z_5_SIGMA * sum / (limit * limit) : INFINITY;
}

static void judge_program(struct as_gate_result *result, const struct as_diff *diff)
{
    double before = diff->cycles[AS_DIFF_BEFORE], growth = growth_of(diff->cycles), limit = result->gate.program;
    double least = result->exact ? 0 : before > 0 ? AS_Z_5_SIGMA * diff->deviation / before : INFINITY;
    enum as_gate_verdict verdict = diff->significant && growth > limit       ? AS_GATE_FAILED
                                   : least > limit && growth > limit - least ? AS_GATE_INCONCLUSIVE
                                                                             : AS_GATE_PASSED;
    *as_vec_push(&result->findings) = (struct as_gate_finding){NULL,    before, diff->cycles[AS_DIFF_AFTER],    growth,
                                                               verdict, least,  samples_for(diff, limit, least)};
    count_verdict(result, verdict);
}

static void judge_row(struct as_gate_result *result, const struct as_diff *diff, const struct as_diff_row *row)
{
    double growth = growth_of(row->cycles);
    if (growth <= result->gate.row || as_diff_change(row->cycles) < AS_GATE_LEAST * diff->cycles[AS_DIFF_BEFORE])
        return;
    count_verdict(result, row->significant ? AS_GATE_FAILED : AS_GATE_INCONCLUSIVE);
    result->failed_rows += row->significant;
    result->noisy_rows += !row->significant;
    if (row->significant)
        *as_vec_push(&result->findings) = (struct as_gate_finding){.row = row,
                                                                   .before = row->cycles[AS_DIFF_BEFORE],
                                                                   .after = row->cycles[AS_DIFF_AFTER],
                                                                   .growth = growth,
                                                                   .verdict = AS_GATE_FAILED};
}

void as_gate_judge(struct as_gate_result *result, struct as_gate gate, const struct as_diff *diff)
{
    *result = (struct as_gate_result){
        .gate = gate, .exact = !is_sampled(diff->views[AS_DIFF_BEFORE]) && !is_sampled(diff->views[AS_DIFF_AFTER])};
    find_obstacles(result, diff);
    if (result->obstacles.len)
        return;
    if (!isnan(gate.program))
        judge_program(result, diff);
    if (isnan(gate.row))
        return;
    result->rows = diff->rows.len;
    for (size_t i = 0; i < diff->rows.len; i++)
        judge_row(result, diff, &diff->rows.data[i]);
}

void as_gate_free(struct as_gate_result *result)
{
    for (size_t i = 0; i < result->obstacles.len; i++)
        free(result->obstacles.data[i]);
    as_vec_free(&result->obstacles);
    as_vec_free(&result->findings);
}

bool as_gate_parse(const char *text, double *fraction)
{
    char *end;
    double percent = strtod(text, &end);
    if (end == text || !(percent >= 0 && percent <= 1e6))
        return false;
    while (isspace((unsigned char)*end))
        end++;
    if (*end == '%')
        end++;
    *fraction = percent / 100;
    return *end == '\0';
}
