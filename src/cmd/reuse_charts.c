/* The pictures of assay reuse's page: histograms, miss ratios by size with the caches marked, the working set over time. SVG
 * whose colours are the page's. See reuse_html.h. */
#include "base/html.h"
#include "base/show.h"
#include "cmd/reuse_html.h"

#include <inttypes.h>
#include <math.h>

enum { WIDTH = 900, HEIGHT = 260, LEFT = 64, RIGHT = 44, TOP = 14, BOTTOM = 40, MARKS = 16 };

/* ---- axes ---- */

static double x_of(double share)
{
    return LEFT + share * (WIDTH - LEFT - RIGHT);
}

static double y_of(double share)
{
    return TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);
}

static void begin(FILE *out, const char *title, const char *sentence)
{
    fprintf(out, "<h2>%s</h2>\n<svg viewBox=\"0 0 %d %d\" role=\"img\"><title>%s</title>\n", title, WIDTH, HEIGHT,
            sentence);
}

static void put_y(FILE *out, double share, const char *label)
{
    fprintf(out,
            "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" y=\"%.1f\" "
            "text-anchor=\"end\">%s</text>\n",
            LEFT, WIDTH - RIGHT, y_of(share), y_of(share), LEFT - 6, y_of(share) + 4, label);
}

static void put_x(FILE *out, double share, const char *label)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x_of(share), HEIGHT - BOTTOM + 16,
            label);
}

static void put_percents(FILE *out, double most)
{
    char label[32];
    for (int i = 0; i <= 4; i++) {
        snprintf(label, sizeof label, most < 0.08 ? "%.1f %%" : "%.0f %%", 100 * most * i / 4);
        put_y(out, i / 4.0, label);
    }
}

/* ---- histograms ---- */

struct bars {
    const char *name, *class;
    const struct as_distances *distances;
    uint64_t octaves[AS_DISTANCE_OCTAVES], total;
};

static uint32_t last_octave(const struct bars *bars, size_t n)
{
    uint32_t last = 0;
    for (size_t i = 0; i < n; i++)
        for (uint32_t octave = 0; octave < AS_DISTANCE_OCTAVES; octave++)
            last = bars[i].octaves[octave] && octave > last ? octave : last;
    return last;
}

static double most_of(const struct bars *bars, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        for (uint32_t octave = 0; octave < AS_DISTANCE_OCTAVES; octave++)
            most = fmax(most, bars[i].total ? (double)bars[i].octaves[octave] / (double)bars[i].total : 0);
    return most;
}

static void put_bar(FILE *out, const struct bars *bars, uint32_t octave, double left, double width, double most)
{
    double share = bars->total ? (double)bars->octaves[octave] / (double)bars->total : 0;
    fprintf(out,
            "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>%s, distance %s to %s: %s "
            "reuses, %.2f %%</title></rect>\n",
            bars->class, left, y_of(share / most), width, y_of(0) - y_of(share / most), bars->name,
            AS_COUNT(as_distance_octave_low(octave)), AS_COUNT(as_distances_high(bars->distances, octave)),
            AS_COUNT(bars->octaves[octave]), 100 * share);
}

static void put_bars(FILE *out, const char *title, const struct bars *bars, size_t n)
{
    uint32_t last = last_octave(bars, n);
    double most = most_of(bars, n), step = (double)(WIDTH - LEFT - RIGHT) / (last + 1);
    if (most == 0)
        return;
    begin(out, title, "Reuses by distance, in powers of two: the table below has the numbers");
    put_percents(out, most);
    for (uint32_t octave = 0; octave <= last; octave++) {
        for (size_t i = 0; i < n; i++)
            put_bar(out, &bars[i], octave, LEFT + step * octave + step * (0.1 + 0.8 * (double)i / (double)n),
                    0.8 * step / (double)n, most);
        char label[32];
        snprintf(label, sizeof label, octave < 11 ? "%.0f" : "2^%.0f",
                 octave < 11 ? (double)as_distance_octave_low(octave) : octave - 1.0);
        put_x(out, (octave + 0.5) / (last + 1), label);
    }
    fprintf(out, "</svg>\n<p class=\"key\">");
    for (size_t i = 0; i < n; i++)
        fprintf(out, "<span class=\"%s\"></span>%s ", bars[i].class, bars[i].name);
    fprintf(out, "</p>\n");
}

static void set_bars(struct bars *bars, const char *name, const char *class, const struct as_distances *distances)
{
    *bars = (struct bars){.name = name, .class = class, .distances = distances, .total = distances->total};
    as_distances_octaves(distances, bars->octaves);
}

void as_reuse_chart_histograms(const struct as_reuse_shown *shown, FILE *out)
{
    struct bars bars[2];
    size_t n = 0;
    if (shown->estimate)
        set_bars(&bars[n++], "estimated from watchpoints", "a", &shown->estimate->distances);
    if (shown->exact)
        set_bars(&bars[n++], "in threads", shown->estimate ? "b" : "a", &as_reuse_all_threads(shown->exact)->distances);
    if (shown->exact && n < 2 && as_reuse_all_sockets(shown->exact))
        set_bars(&bars[n++], "between threads, in the shared cache", "b",
                 &as_reuse_all_sockets(shown->exact)->distances);
    put_bars(out, "Reuse distance, distinct granules in between", bars, n);
    n = 0;
    if (shown->estimate)
        set_bars(&bars[n++], "estimated from watchpoints", "a", &shown->estimate->times);
    if (shown->exact && !shown->options->shape.sampled)
        set_bars(&bars[n++], "in threads", shown->estimate ? "b" : "a", &as_reuse_all_threads(shown->exact)->times);
    put_bars(out, "Time distance, accesses in between", bars, n);
}

/* ---- miss ratios ---- */

struct curve {
    const struct as_reuse_shown *shown;
    FILE *out;
    uint32_t first, last; /* powers of two, of bytes */
    double most;
};

static double place_of(const struct curve *curve, double bytes)
{
    return (log2(bytes) - curve->first) / (curve->last - curve->first);
}

static void put_line(const struct curve *curve, bool shared, const char *class)
{
    uint32_t shift = curve->shown->options->shape.shift;
    fprintf(curve->out, "<polyline class=\"%s\" points=\"", class);
    for (uint32_t step = 4 * curve->first; step <= 4 * curve->last; step++) {
        uint64_t lines = (uint64_t)exp2(step / 4.0) >> shift;
        double ratio = as_reuse_miss_ratio(curve->shown->exact, shared, lines ? lines : 1);
        fprintf(curve->out, "%.1f,%.1f ", x_of(place_of(curve, exp2(step / 4.0))), y_of(ratio / curve->most));
    }
    fprintf(curve->out, "\"/>\n");
}

static void put_mark(const struct curve *curve, uint64_t bytes, bool shared, const char *name, int row)
{
    char size[32];
    double ratio = as_reuse_miss_ratio(curve->shown->exact, shared, bytes >> curve->shown->options->shape.shift);
    double x = x_of(place_of(curve, (double)bytes));
    if (bytes >> curve->first == 0 || bytes >> curve->last > 1)
        return;
    fprintf(curve->out,
            "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\"/><circle class=\"%s\" cx=\"%.1f\" "
            "cy=\"%.1f\" r=\"4\"/><text class=\"mark\" x=\"%.1f\" y=\"%d\"%s>",
            x, x, TOP, y_of(0), shared ? "b" : "a", x, y_of(ratio / curve->most), x > WIDTH - 240 ? x - 4 : x + 4,
            TOP + 10 + 13 * row, x > WIDTH - 240 ? " text-anchor=\"end\"" : "");
    as_html_text(curve->out, name);
    fprintf(curve->out, ", %s: %.2f %%</text>\n", as_reuse_size_text(bytes, size), 100 * ratio);
}

static void put_marks(const struct curve *curve)
{
    const struct as_reuse_shown *shown = curve->shown;
    int row = 0;
    for (int level = 0; level < AS_REUSE_LEVELS; level++) {
        char name[128];
        uint64_t bytes = shown->options->shape.levels[level].lines << shown->options->shape.shift;
        snprintf(name, sizeof name, "%s of %s", as_reuse_level_names[level], shown->machine->name);
        if (bytes)
            put_mark(curve, bytes, level == AS_REUSE_LLC, name, row++);
    }
    for (size_t i = 0; i < shown->n_host; i++) {
        char name[32];
        snprintf(name, sizeof name, "L%u here", shown->host[i].level);
        put_mark(curve, shown->host[i].bytes, shown->host[i].level > 2, name, row++);
    }
}

void as_reuse_chart_curve(const struct as_reuse_shown *shown, FILE *out)
{
    if (!shown->exact || !as_reuse_all_threads(shown->exact)->counts.touches)
        return;
    uint32_t shift = shown->options->shape.shift;
    uint64_t granules = as_reuse_last_level(shown->exact)->counts.cold;
    struct curve curve = {.shown = shown, .out = out, .first = shift, .last = shift + 10};
    while (curve.last < shift + 34 && (granules > UINT64_C(1) << (curve.last - shift) || curve.last < 26))
        curve.last++;
    while (UINT64_C(1) << (curve.first - shift) < as_reuse_least(shown->exact))
        curve.first++;
    curve.most = fmax(as_reuse_miss_ratio(shown->exact, false, as_reuse_least(shown->exact)),
                      as_reuse_miss_ratio(shown->exact, true, as_reuse_least(shown->exact)));
    begin(out, "Misses by the size of a fully associative LRU cache",
          "Miss ratio by size; the caches of the modelled machine and of this one are marked");
    put_percents(out, curve.most);
    for (uint32_t power = curve.first; power <= curve.last; power += 2) {
        char size[32];
        put_x(out, place_of(&curve, exp2(power)), as_reuse_size_text(UINT64_C(1) << power, size));
    }
    if (as_reuse_all_sockets(shown->exact))
        put_line(&curve, true, "b");
    put_line(&curve, false, "a");
    put_marks(&curve);
    fprintf(out, "</svg>\n<p class=\"key\"><span class=\"a\"></span>of a thread %s</p>\n",
            as_reuse_all_sockets(shown->exact) ? "<span class=\"b\"></span>shared by all threads" : "");
}

/* ---- the working set ---- */

void as_reuse_chart_working_set(const struct as_reuse_shown *shown, FILE *out)
{
    char size[32];
    const struct as_reuse_view *view = shown->exact ? as_reuse_working_view(shown->exact) : NULL;
    if (!view || view->working_set.len < 2)
        return;
    size_t n = view->working_set.len, columns = n < WIDTH ? n : WIDTH;
    uint64_t most = 1;
    for (size_t i = 0; i < n; i++)
        most = view->working_set.data[i] > most ? view->working_set.data[i] : most;
    begin(out, "Working set over time", "Bytes that each interval touches");
    for (int i = 0; i <= 4; i++)
        put_y(out, i / 4.0, as_reuse_size_text((most << shown->options->shape.shift) * (uint64_t)i / 4, size));
    fprintf(out, "<polygon class=\"a\" points=\"%.1f,%.1f ", x_of(0), y_of(0));
    for (size_t column = 0; column < columns; column++) {
        uint64_t top = 0;
        for (size_t i = column * n / columns; i < (column + 1) * n / columns; i++)
            top = view->working_set.data[i] > top ? view->working_set.data[i] : top;
        double y = y_of((double)top / (double)most), width = 1.0 / (double)columns;
        fprintf(out, "%.1f,%.1f %.1f,%.1f ", x_of((double)column * width), y, x_of((double)(column + 1) * width), y);
    }
    fprintf(out, "%.1f,%.1f\"/>\n", x_of(1), y_of(0));
    for (int i = 0; i <= 4; i++)
        put_x(out, i / 4.0, AS_COUNT(n * shown->options->shape.interval * (uint64_t)i / 4));
    fprintf(out, "</svg>\n<p class=\"key\">accesses; intervals of %s</p>\n", AS_COUNT(shown->options->shape.interval));
}
