/* What assay points shows: phases, points, weights, CPI, as text, CSV and JSON. */
#include "base/json.h"
#include "base/show.h"
#include "cmd/points_shown.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static double cpi_of(const struct as_points_shown *shown, size_t point)
{
    if (point >= shown->predict->results.len || shown->predict->results.data[point].instructions == 0)
        return NAN;
    return (double)shown->predict->results.data[point].cycles /
           (double)shown->predict->results.data[point].instructions;
}

static uint64_t intervals_of(const struct as_points_shown *shown, uint32_t group)
{
    uint64_t n = 0;
    for (size_t i = 0; i < shown->predict->choice.groups.len; i++)
        n += shown->predict->choice.groups.data[i] == group;
    return n;
}

static uint64_t detailed(const struct as_points_shown *shown)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < shown->predict->results.len; i++)
        sum += shown->predict->results.data[i].instructions;
    return sum;
}

/* ---- text ---- */

/* The run from left to right, a letter for each part: the phase that has most of its intervals. */
static void print_course(const struct as_points_shown *shown, FILE *out)
{
    enum { WIDTH = 72 };
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    size_t n = shown->predict->choice.groups.len, width = n < WIDTH ? n : WIDTH;
    fprintf(out, "\nThe run, from left to right:\n  ");
    for (size_t at = 0; at < width; at++) {
        size_t first = at * n / width, end = (at + 1) * n / width, best = first, most = 0;
        for (size_t i = first; i < end; i++) {
            size_t alike = 0;
            for (size_t j = first; j < end; j++)
                alike += shown->predict->choice.groups.data[j] == shown->predict->choice.groups.data[i];
            if (alike > most) {
                most = alike;
                best = i;
            }
        }
        uint32_t group = shown->predict->choice.groups.data[best];
        putc(group < sizeof letters - 1 ? letters[group] : '*', out);
    }
    putc('\n', out);
}

static void print_points(const struct as_points_shown *shown, FILE *out)
{
    bool timed = shown->predict->results.len > 0;
    fprintf(out, "\n  phase  intervals   weight   interval          starts at%s  most executed\n",
            timed ? "     CPI" : "");
    for (uint32_t i = 0; i < shown->predict->choice.points.len; i++) {
        const struct as_chosen_point *point = &shown->predict->choice.points.data[i];
        const char *function = as_predict_function(shown->predict, point);
        fprintf(out, "  %5" PRIu32 "  %9s %7.2f %% %10s %18s", i + 1,
                shown->predict->choice.groups.len ? AS_COUNT(intervals_of(shown, i)) : "-", 100 * point->weight,
                AS_COUNT(point->interval), AS_COUNT(as_predict_start(shown->predict, point)));
        if (timed)
            fprintf(out, " %7.3f", cpi_of(shown, i));
        fprintf(out, "  %s\n", function ? AS_SHOW(function) : "-");
    }
}

static void print_score(double score, FILE *out)
{
    if (fabs(score) < 1e18)
        fprintf(out, "(%s%s)", score < 0 ? "-" : "", AS_COUNT((uint64_t)llround(fabs(score))));
    else
        fprintf(out, "(%.0f)", score);
}

static void print_search(const struct as_points_shown *shown, FILE *out)
{
    const struct as_points_options *options = shown->options;
    if (shown->predict->choice.tried.len == 0)
        return;
    fprintf(out, "\nPhases tried (BIC):");
    for (size_t i = 0; i < shown->predict->choice.tried.len; i++) {
        fprintf(out, "%s %" PRIu32 " ", i ? "," : "", shown->predict->choice.tried.data[i].k);
        print_score(shown->predict->choice.tried.data[i].bic, out);
    }
    fprintf(out, "\n%" PRIu64 " dimensions, threshold %g of the %s, %" PRIu64 " tries each, %.2f s\n", options->dims,
            options->threshold, options->rule == AS_BIC_RANGE ? "range of scores" : "best score", options->tries,
            shown->predict->seconds);
}

static void print_prediction(const struct as_points_shown *shown, FILE *out)
{
    double cpi = as_predict_cpi(shown->predict), differs = 0;
    uint64_t whole = shown->predict->vectors ? as_vectors_instructions(shown->predict->vectors) : 0,
             detail = detailed(shown);
    if (isnan(cpi))
        return;
    fprintf(out, "\nPredicted CPI %.4f (IPC %.3f), from %s instructions in detail", cpi, 1 / cpi, AS_COUNT(detail));
    if (whole)
        fprintf(out, " (%.2f %% of the run)", 100 * (double)detail / (double)whole);
    fprintf(out, ", warmed by %s before each\n", shown->options->warm);
    for (size_t i = 0; i < shown->predict->results.len; i++)
        differs = shown->predict->results.data[i].differs > differs ? shown->predict->results.data[i].differs : differs;
    if (differs > 0.5)
        fprintf(out, "The second run did something else than the first: the points do not stand for it.\n");
    else if (differs > 0)
        fprintf(out,
                "The second run did the same as the first in all points but for %.3f %% of a point's instructions.\n",
                100 * differs);
    fprintf(out, "How far that is from the truth is not known: phases are found by the code that is executed, so code "
                 "that meets other data\nseems to do the same. 'assay record --sampled' and '--points=auto' state an "
                 "error; 'assay points sweep' measures it.\n");
}

void as_points_text(const struct as_points_shown *shown, FILE *out)
{
    uint32_t blocks = shown->predict->vectors ? as_vectors_blocks(shown->predict->vectors) : 0;
    if (shown->predict->vectors)
        fprintf(out, "\n%s: %s instructions, %s interval%s%s%s, %s block%s, %" PRIu32 " phase%s\n",
                shown->argv ? shown->argv[0] : shown->options->from_bb,
                AS_COUNT(as_vectors_instructions(shown->predict->vectors)), AS_COUNT(shown->predict->vectors->list.len),
                shown->predict->vectors->list.len == 1 ? "" : "s", shown->predict->collect ? " of " : "",
                shown->predict->collect ? AS_COUNT(shown->options->interval) : "", AS_COUNT(blocks),
                blocks == 1 ? "" : "s", shown->predict->choice.k, shown->predict->choice.k == 1 ? "" : "s");
    if (shown->predict->choice.groups.len)
        print_course(shown, out);
    print_points(shown, out);
    print_search(shown, out);
    print_prediction(shown, out);
}

/* ---- CSV ---- */

void as_points_csv(const struct as_points_shown *shown, FILE *out)
{
    fprintf(out, "phase,interval,start,intervals,weight,instructions,cycles,cpi\n");
    for (uint32_t i = 0; i < shown->predict->choice.points.len; i++) {
        const struct as_chosen_point *point = &shown->predict->choice.points.data[i];
        fprintf(out, "%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%.9g,", i + 1, point->interval,
                as_predict_start(shown->predict, point), intervals_of(shown, i), point->weight);
        if (i < shown->predict->results.len && shown->predict->results.data[i].instructions)
            fprintf(out, "%" PRIu64 ",%" PRIu64 ",%.9g\n", shown->predict->results.data[i].instructions,
                    shown->predict->results.data[i].cycles, cpi_of(shown, i));
        else
            fprintf(out, ",,\n");
    }
}

/* ---- JSON ---- */

static void json_points(const struct as_points_shown *shown, struct as_json *json)
{
    as_json_array(json, "points");
    for (uint32_t i = 0; i < shown->predict->choice.points.len; i++) {
        const struct as_chosen_point *point = &shown->predict->choice.points.data[i];
        as_json_object(json, NULL);
        as_json_u64(json, "phase", i + 1);
        as_json_u64(json, "interval", point->interval);
        as_json_u64(json, "start", as_predict_start(shown->predict, point));
        if (shown->options->loop)
            as_json_u64(json, "pass", as_collect_pass(shown->predict->collect, point->interval));
        if (shown->predict->choice.groups.len)
            as_json_u64(json, "intervals", intervals_of(shown, i));
        as_json_double(json, "weight", point->weight);
        as_json_string(json, "function", as_predict_function(shown->predict, point));
        if (i < shown->predict->results.len) {
            as_json_u64(json, "instructions", shown->predict->results.data[i].instructions);
            as_json_u64(json, "cycles", shown->predict->results.data[i].cycles);
            as_json_double(json, "cpi", cpi_of(shown, i));
            as_json_double(json, "differs", shown->predict->results.data[i].differs);
        }
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_search(const struct as_points_shown *shown, struct as_json *json)
{
    as_json_u64(json, "phases", shown->predict->choice.k);
    if (shown->predict->choice.tried.len == 0)
        return;
    as_json_double(json, "bic", shown->predict->choice.bic);
    as_json_array(json, "tried");
    for (size_t i = 0; i < shown->predict->choice.tried.len; i++) {
        as_json_object(json, NULL);
        as_json_u64(json, "k", shown->predict->choice.tried.data[i].k);
        as_json_double(json, "bic", shown->predict->choice.tried.data[i].bic);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_array(json, "phase_of_interval");
    for (size_t i = 0; i < shown->predict->choice.groups.len; i++)
        as_json_u64(json, NULL, shown->predict->choice.groups.data[i] + 1);
    as_json_end(json);
}

bool as_points_json(const struct as_points_shown *shown, FILE *out)
{
    struct as_json *json = as_json_new(out);
    double cpi = as_predict_cpi(shown->predict);
    as_json_object(json, NULL);
    as_json_array(json, "program");
    for (char **word = shown->argv; word && *word; word++)
        as_json_string(json, NULL, *word);
    as_json_end(json);
    if (shown->predict->vectors) {
        as_json_u64(json, "instructions", as_vectors_instructions(shown->predict->vectors));
        as_json_u64(json, "intervals", shown->predict->vectors->list.len);
        as_json_u64(json, "blocks", as_vectors_blocks(shown->predict->vectors));
    }
    as_json_u64(json, "interval", shown->options->interval);
    if (shown->predict->collect)
        as_json_double(json, "seconds", shown->predict->run.seconds);
    json_search(shown, json);
    json_points(shown, json);
    as_json_u64(json, "detailed", detailed(shown));
    as_json_double(json, "cpi", cpi);
    as_json_double(json, "ipc", 1 / cpi);
    as_json_end(json);
    return as_json_finish(json);
}
