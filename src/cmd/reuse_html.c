/* See reuse_html.h. */
#include "cmd/reuse_html.h"

#include "base/html.h"
#include "base/ratio.h"
#include "base/show.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_ROWS = 200 };

static const char style[] =
    ":root{color-scheme:light dark;--ink:light-dark(#1a2029,#e4e9ef);--dim:light-dark(#5b6675,#97a3b2);"
    "--line:light-dark(#dfe3e9,#2a3440);--a:light-dark(#0b6cb8,#6cb6f5);--b:light-dark(#9a5b00,#e8b44c);"
    "--bg:light-dark(#f6f7f9,#0f141a)}"
    "body{font:14px/1.5 system-ui,sans-serif;margin:20px 28px;color:var(--ink);background:var(--bg)}"
    "h1{font-size:20px}h2{font-size:16px;margin:28px 0 6px}table{border-collapse:collapse}"
    "td,th{padding:3px 14px 3px 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    "code{font-size:.93em}.dim,small{color:var(--dim)}small{display:block}"
    "svg{width:100%;max-width:900px;height:auto}svg text{font-size:11px;fill:var(--dim)}"
    "svg text.mark{fill:var(--ink)}line.grid{stroke:var(--line)}line.mark{stroke:var(--dim);stroke-dasharray:3 3}"
    "polyline{fill:none;stroke-width:2}polyline.a{stroke:var(--a)}polyline.b{stroke:var(--b)}"
    "rect.a,circle.a,polygon.a{fill:var(--a)}rect.b,circle.b{fill:var(--b)}"
    ".key{margin:0;color:var(--dim)}.key span{display:inline-block;width:11px;height:11px;margin:0 5px 0 12px}"
    "span.a{background:var(--a)}span.b{background:var(--b)}";

static void put_fact(FILE *out, const char *name, uint64_t n, uint64_t whole)
{
    fprintf(out, "<tr><th>%s<td class=\"n\">%s<td class=\"n\">", name, AS_COUNT(n));
    if (whole)
        fprintf(out, "%.2f %%", 100 * as_ratio(n, whole));
    fprintf(out, "</tr>\n");
}

static void put_facts(const struct as_reuse_shown *shown, FILE *out)
{
    fprintf(out, "<table>\n");
    if (shown->exact) {
        const struct as_reuse_counts *counts = &as_reuse_all_threads(shown->exact)->counts;
        const struct as_reuse_view *sockets = as_reuse_all_sockets(shown->exact);
        put_fact(out, "accesses", counts->accesses, 0);
        if (counts->touches != counts->accesses)
            put_fact(out, "touches of granules: some accesses lie in two", counts->touches, 0);
        put_fact(out, "reuses in threads", counts->reuses, counts->touches);
        if (!counts->left_out)
            put_fact(out, "of the same bytes (temporal)", counts->temporal, counts->reuses);
        put_fact(out, "first touches", counts->cold, counts->touches);
        put_fact(out, "invalidations by other threads' stores", counts->invalidations, counts->touches);
        if (sockets) {
            put_fact(out, "reuses of another thread's lines", sockets->counts.reuses, sockets->counts.touches);
            put_fact(out, "of these, false sharing", sockets->counts.false_sharing, sockets->counts.reuses);
        }
    }
    if (shown->estimate) {
        const struct as_reuse_estimate *estimate = shown->estimate;
        if (shown->native && shown->native->unsure)
            fprintf(out, "<tr><th>accesses<td class=\"n\">%s to %s<td>too short a run to say how many</tr>\n",
                    AS_COUNT(shown->native->least), AS_COUNT(shown->native->most));
        put_fact(out, "samples", estimate->result.samples, 0);
        put_fact(out, "of these watched", estimate->result.armed, estimate->result.samples);
        put_fact(out, "uses that are reused (estimated)",
                 (uint64_t)llround(estimate->survival.reused * (double)estimate->accesses), estimate->accesses);
    }
    fprintf(out, "</table>\n");
}

static void put_causes(FILE *out, const uint64_t misses[AS_MISS_CAUSES])
{
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        fprintf(out, "<td class=\"n\">%s", AS_COUNT(misses[cause]));
}

static const char cause_heads[] =
    "<th class=\"n\">cold<th class=\"n\">capacity<th class=\"n\">conflict<th class=\"n\">coherence";

static void put_level(const struct as_reuse_shown *shown, FILE *out, int level)
{
    char size[32];
    const struct as_reuse_view *all = as_reuse_all_threads(shown->exact);
    const struct as_cache_shape *shape = &shown->options->shape.levels[level];
    uint64_t missed[AS_MISS_CAUSES];
    as_reuse_level_misses(shown->exact, level, missed);
    fprintf(out, "<tr><th>%s<td class=\"n\">%s<td class=\"n\">%u<td class=\"n\">%.3f %%<td class=\"n\">%.3f %%",
            as_reuse_level_names[level], as_reuse_size_text(shape->lines << shown->options->shape.shift, size),
            shape->ways, 100 * as_reuse_miss_ratio(shown->exact, level == AS_REUSE_LLC, shape->lines),
            100 * as_ratio(as_reuse_sum(missed), all->counts.touches));
    put_causes(out, missed);
    fprintf(out, "</tr>\n");
}

static void put_levels(const struct as_reuse_shown *shown, FILE *out)
{
    if (!as_reuse_has_caches(shown) || shown->options->shape.sampled)
        return;
    fprintf(out, "<h2>Caches of ");
    as_html_text(out, shown->machine->name);
    fprintf(
        out,
        "</h2>\n<table><tr><th>level<th class=\"n\">size<th class=\"n\">ways<th class=\"n\">predicted<th class=\"n\">"
        "simulated%s</tr>\n",
        cause_heads);
    for (int level = 0; level < AS_REUSE_LEVELS; level++)
        if (shown->options->shape.levels[level].lines)
            put_level(shown, out, level);
    fprintf(out, "</table>\n");
}

/* ---- code and objects ---- */

static void put_place(const struct as_reuse_shown *shown, FILE *out, uint32_t code, uint32_t path)
{
    char *place = as_reuse_location_text(shown, code), *calls = as_reuse_path_text(shown, path);
    fprintf(out, "<td><code>");
    as_html_text(out, place);
    fprintf(out, "</code><small>");
    as_html_text(out, calls);
    fprintf(out, "</small>");
    free(place);
    free(calls);
}

static void put_pairs(const struct as_reuse_shown *shown, FILE *out, const struct as_reuse_view *view,
                      const char *title)
{
    const struct as_reuse_pair **sorted = as_reuse_sorted_pairs(view);
    bool caches = as_reuse_has_caches(shown), sets = caches && !view->shared && !shown->options->shape.sampled;
    if (view->pairs.len)
        fprintf(out,
                "<h2>%s</h2>\n<table><tr><th class=\"n\">reuses<th class=\"n\">beyond L1<th class=\"n\">L1 "
                "conflicts<th class=\"n\">beyond LLC<th class=\"n\">spatial<th>use<th>reuse</tr>\n",
                title);
    for (size_t i = 0; i < view->pairs.len && i < MOST_ROWS && i < shown->top; i++) {
        const struct as_reuse_pair *pair = sorted[i];
        fprintf(out,
                "<tr><td class=\"n\">%s<td class=\"n\">%s<td class=\"n\">%s<td class=\"n\">%s<td class=\"n\">%.0f %%",
                AS_COUNT(pair->count), caches ? AS_COUNT(pair->beyond[AS_REUSE_L1]) : "-",
                sets ? AS_COUNT(pair->conflicts) : "-", caches ? AS_COUNT(pair->beyond[AS_REUSE_LLC]) : "-",
                100 * as_ratio(pair->spatial, pair->count));
        put_place(shown, out, pair->use, pair->use_path);
        put_place(shown, out, pair->reuse, pair->reuse_path);
        fprintf(out, "</tr>\n");
    }
    fprintf(out, view->pairs.len ? "</table>\n" : "");
    free(sorted);
}

static void put_codes(const struct as_reuse_shown *shown, FILE *out)
{
    const struct as_reuse_view *all = as_reuse_all_threads(shown->exact);
    size_t n;
    uint32_t *codes = as_reuse_sorted_codes(all, AS_REUSE_L1, &n);
    if (n)
        fprintf(out,
                "<h2>L1 misses by code</h2>\n<table><tr><th class=\"n\">misses%s<th class=\"n\">bytes used of a "
                "line<th class=\"n\">brought<th class=\"n\">from memory<th>code</tr>\n",
                cause_heads);
    for (size_t i = 0; i < n && i < MOST_ROWS && i < shown->top; i++) {
        const struct as_reuse_code *code = &all->codes.data[codes[i]];
        fprintf(out, "<tr><td class=\"n\">%s", AS_COUNT(as_reuse_sum(code->misses[AS_REUSE_L1])));
        put_causes(out, code->misses[AS_REUSE_L1]);
        char brought[32], memory[32];
        fprintf(out, "<td class=\"n\">%.1f<td class=\"n\">%s<td class=\"n\">%s",
                as_ratio(code->fetched_bytes, code->fetched), as_reuse_brought_text(shown, code, AS_REUSE_L1, brought),
                as_reuse_brought_text(shown, code, AS_REUSE_LLC, memory));
        put_place(shown, out, codes[i], code->path);
        fprintf(out, "</tr>\n");
    }
    fprintf(out, n ? "</table>\n" : "");
    free(codes);
}

static void put_objects(const struct as_reuse_shown *shown, FILE *out)
{
    if (!shown->objects || !shown->objects->list.len)
        return;
    fprintf(
        out,
        "<h2>L1 misses by object</h2>\n<table><tr><th class=\"n\">misses%s<th class=\"n\">lines<th class=\"n\">bytes "
        "used of a line<th>which<th>object<th>hottest line</tr>\n",
        cause_heads);
    for (size_t i = 0; i < shown->objects->list.len && i < MOST_ROWS && i < shown->top; i++) {
        const struct as_reuse_object *object = &shown->objects->list.data[i];
        char *bytes = as_reuse_object_bytes(object);
        fprintf(out, "<tr><td class=\"n\">%s", AS_COUNT(as_reuse_object_misses(object)));
        put_causes(out, object->misses);
        fprintf(out, "<td class=\"n\">%s<td class=\"n\">%.1f<td>%s<td>", AS_COUNT(object->lines),
                as_reuse_object_used(object), bytes);
        as_html_text(out, object->what.name);
        fprintf(out, "<td>");
        as_html_text(out, object->hottest_name);
        fprintf(out, "</tr>\n");
        free(bytes);
    }
    fprintf(out, "</table>\n");
}

static void put_estimated(const struct as_reuse_shown *shown, FILE *out)
{
    const struct as_reuse_estimate *estimate = shown->estimate;
    if (estimate->pairs.len)
        fprintf(out, "<h2>Use and reuse</h2>\n<table><tr><th class=\"n\">samples<th class=\"n\">mean time "
                     "distance<th>use<th>reuse</tr>\n");
    for (size_t i = 0; i < estimate->pairs.len && i < MOST_ROWS && i < shown->top; i++) {
        const struct as_estimated_pair *pair = &estimate->pairs.data[i];
        fprintf(out, "<tr><td class=\"n\">%s<td class=\"n\">%s", AS_COUNT(pair->samples),
                AS_COUNT((uint64_t)llround(pair->distance)));
        put_place(shown, out, (uint32_t)pair->use, pair->use_path);
        put_place(shown, out, (uint32_t)pair->reuse, pair->reuse_path);
        fprintf(out, "</tr>\n");
    }
    fprintf(out, estimate->pairs.len ? "</table>\n" : "");
}

static void put_advice(const struct as_reuse_shown *shown, FILE *out)
{
    fprintf(out, shown->n_advice ? "<h2>What could be done</h2>\n<ul>\n" : "");
    for (size_t i = 0; i < shown->n_advice; i++) {
        char *text = as_reuse_advice_text(shown, &shown->advice[i]);
        fprintf(out, "<li>%s (%.0f %% of %s): ", as_reuse_advice_names[shown->advice[i].kind],
                100 * shown->advice[i].share,
                shown->advice[i].kind == AS_ADVICE_PADDING ? "the reuses between threads" : "the misses");
        as_html_text(out, text);
        fprintf(out, "</li>\n");
        free(text);
    }
    fprintf(out, shown->n_advice ? "</ul>\n" : "");
}

static void put_title(const struct as_reuse_shown *shown, FILE *out)
{
    char how[AS_REUSE_HOW];
    const char *part = shown->part;
    as_html_begin(out, style);
    as_html_text(out, shown->argv[0]);
    fprintf(out, " – reuse – Assay</title></head><body>\n<h1>Reuse distances of <code>");
    for (char **word = shown->argv; *word; word++) {
        as_html_text(out, *word);
        fputc(word[1] ? ' ' : '<', out);
    }
    fprintf(out, "/code></h1>\n<p class=\"dim\">%s, in granules of %u byte%s%s%s</p>\n",
            shown->native     ? "from samples and watchpoints on this machine"
            : shown->estimate ? "from samples and watchpoints on the modelled machine"
                              : as_reuse_method_text(shown, how),
            1u << shown->options->shape.shift, shown->options->shape.shift ? "s" : "", part ? "; " : "",
            part ? part : "");
}

void as_reuse_show_html(const struct as_reuse_shown *shown, FILE *out)
{
    put_title(shown, out);
    if (shown->exact && !shown->estimate && !as_reuse_all_threads(shown->exact)->counts.touches) {
        fprintf(out, "<p>No access was seen.</p></body></html>\n");
        return;
    }
    put_facts(shown, out);
    put_advice(shown, out);
    as_reuse_chart_histograms(shown, out);
    if (shown->exact && !shown->estimate) {
        as_reuse_chart_curve(shown, out);
        put_levels(shown, out);
        as_reuse_chart_working_set(shown, out);
        put_pairs(shown, out, as_reuse_all_threads(shown->exact), "Use and reuse");
        if (as_reuse_all_sockets(shown->exact))
            put_pairs(shown, out, as_reuse_all_sockets(shown->exact), "Use and reuse between threads");
        put_codes(shown, out);
        put_objects(shown, out);
    }
    if (shown->estimate)
        put_estimated(shown, out);
    fprintf(out, "</body></html>\n");
}
