/* What assay points shows: phases, points, weights, CPI, as text, CSV and JSON. */
#include "base/json.h"
#include "base/show.h"
#include "cmd/points.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static double cpi_of(const struct as_points_session *session, size_t point)
{
    if (point >= session->results.len || session->results.data[point].instructions == 0)
        return NAN;
    return (double)session->results.data[point].cycles / (double)session->results.data[point].instructions;
}

static uint64_t intervals_of(const struct as_points_session *session, uint32_t group)
{
    uint64_t n = 0;
    for (size_t i = 0; i < session->choice.groups.len; i++)
        n += session->choice.groups.data[i] == group;
    return n;
}

const char *as_points_function(const struct as_points_session *session, const struct as_chosen_point *point)
{
    size_t n;
    if (!session->collect)
        return NULL;
    const struct as_collect_block *blocks = as_collect_blocks(session->collect, &n);
    const struct as_vector *vector = &session->vectors->list.data[point->interval];
    struct as_map sums = {0};
    const char *best = NULL;
    uint64_t most = 0;
    for (size_t i = vector->first; i < vector->end; i++) {
        const struct as_vector_entry *entry = &session->vectors->entries.data[i];
        const struct as_block *block = blocks[entry->block - 1].block;
        const struct as_image *image = as_engine_image(session->engine, block->image);
        struct as_location location;
        as_space_find(image->space, block->address, &location);
        const char *name = location.function ? location.function : as_space_name(image->space, block->address);
        uint64_t *sum = as_map_put(&sums, (uint64_t)(uintptr_t)name);
        *sum += entry->count;
        if (*sum > most) {
            most = *sum;
            best = name;
        }
    }
    as_map_free(&sums);
    return best;
}

static uint64_t detailed(const struct as_points_session *session)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < session->results.len; i++)
        sum += session->results.data[i].instructions;
    return sum;
}

/* ---- text ---- */

/* The run from left to right, a letter for each part: the phase that has most of its intervals. */
static void print_course(const struct as_points_session *session, FILE *out)
{
    enum { WIDTH = 72 };
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    size_t n = session->choice.groups.len, width = n < WIDTH ? n : WIDTH;
    fprintf(out, "\nThe run, from left to right:\n  ");
    for (size_t at = 0; at < width; at++) {
        size_t first = at * n / width, end = (at + 1) * n / width, best = first, most = 0;
        for (size_t i = first; i < end; i++) {
            size_t alike = 0;
            for (size_t j = first; j < end; j++)
                alike += session->choice.groups.data[j] == session->choice.groups.data[i];
            if (alike > most) {
                most = alike;
                best = i;
            }
        }
        uint32_t group = session->choice.groups.data[best];
        putc(group < sizeof letters - 1 ? letters[group] : '*', out);
    }
    putc('\n', out);
}

static void print_points(const struct as_points_session *session, FILE *out)
{
    bool timed = session->results.len > 0;
    fprintf(out, "\n  phase  intervals   weight   interval          starts at%s  most executed\n",
            timed ? "     CPI" : "");
    for (uint32_t i = 0; i < session->choice.points.len; i++) {
        const struct as_chosen_point *point = &session->choice.points.data[i];
        const char *function = as_points_function(session, point);
        fprintf(out, "  %5" PRIu32 "  %9s %7.2f %% %10s %18s", i + 1,
                session->choice.groups.len ? AS_COUNT(intervals_of(session, i)) : "-", 100 * point->weight,
                AS_COUNT(point->interval), AS_COUNT(as_points_start(session, point)));
        if (timed)
            fprintf(out, " %7.3f", cpi_of(session, i));
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

static void print_search(const struct as_points_session *session, FILE *out)
{
    const struct as_points_options *options = session->options;
    if (session->choice.tried.len == 0)
        return;
    fprintf(out, "\nPhases tried (BIC):");
    for (size_t i = 0; i < session->choice.tried.len; i++) {
        fprintf(out, "%s %" PRIu32 " ", i ? "," : "", session->choice.tried.data[i].k);
        print_score(session->choice.tried.data[i].bic, out);
    }
    fprintf(out, "\n%" PRIu64 " dimensions, threshold %g of the %s, %" PRIu64 " tries each, %.2f s\n", options->dims,
            options->threshold, options->rule == AS_BIC_RANGE ? "range of scores" : "best score", options->tries,
            session->seconds);
}

static void print_prediction(const struct as_points_session *session, FILE *out)
{
    double cpi = as_points_cpi(session), differs = 0;
    uint64_t whole = session->vectors ? as_vectors_instructions(session->vectors) : 0, detail = detailed(session);
    if (isnan(cpi))
        return;
    fprintf(out, "\nPredicted CPI %.4f (IPC %.3f), from %s instructions in detail", cpi, 1 / cpi, AS_COUNT(detail));
    if (whole)
        fprintf(out, " (%.2f %% of the run)", 100 * (double)detail / (double)whole);
    fprintf(out, ", warmed by %s before each\n", session->options->warm);
    for (size_t i = 0; i < session->results.len; i++)
        differs = session->results.data[i].differs > differs ? session->results.data[i].differs : differs;
    if (differs > 0)
        fprintf(out,
                "The second run did the same as the first in all points but for %.3f %% of a point's instructions.\n",
                100 * differs);
    fprintf(out, "How far that is from the truth is not known: phases are found by the code that is executed, so code "
                 "that meets other data\nseems to do the same. 'assay record --sampled' and '--points=auto' state an "
                 "error; 'assay points sweep' measures it.\n");
}

void as_points_text(const struct as_points_session *session, FILE *out)
{
    if (session->vectors)
        fprintf(out, "\n%s: %s instructions, %s interval%s%s%s, %s blocks, %" PRIu32 " phase%s\n",
                session->argv ? session->argv[0] : session->options->from_bb,
                AS_COUNT(as_vectors_instructions(session->vectors)), AS_COUNT(session->vectors->list.len),
                session->vectors->list.len == 1 ? "" : "s", session->collect ? " of " : "",
                session->collect ? AS_COUNT(session->options->interval) : "", AS_COUNT(session->vectors->blocks),
                session->choice.k, session->choice.k == 1 ? "" : "s");
    if (session->choice.groups.len)
        print_course(session, out);
    print_points(session, out);
    print_search(session, out);
    print_prediction(session, out);
}

/* ---- CSV ---- */

void as_points_csv(const struct as_points_session *session, FILE *out)
{
    fprintf(out, "phase,interval,start,intervals,weight,instructions,cycles,cpi\n");
    for (uint32_t i = 0; i < session->choice.points.len; i++) {
        const struct as_chosen_point *point = &session->choice.points.data[i];
        fprintf(out, "%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%.9g,", i + 1, point->interval,
                as_points_start(session, point), intervals_of(session, i), point->weight);
        if (i < session->results.len && session->results.data[i].instructions)
            fprintf(out, "%" PRIu64 ",%" PRIu64 ",%.9g\n", session->results.data[i].instructions,
                    session->results.data[i].cycles, cpi_of(session, i));
        else
            fprintf(out, ",,\n");
    }
}

/* ---- JSON ---- */

static void json_points(const struct as_points_session *session, struct as_json *json)
{
    as_json_array(json, "points");
    for (uint32_t i = 0; i < session->choice.points.len; i++) {
        const struct as_chosen_point *point = &session->choice.points.data[i];
        as_json_object(json, NULL);
        as_json_u64(json, "phase", i + 1);
        as_json_u64(json, "interval", point->interval);
        as_json_u64(json, "start", as_points_start(session, point));
        if (session->options->loop)
            as_json_u64(json, "pass", as_collect_pass(session->collect, point->interval));
        if (session->choice.groups.len)
            as_json_u64(json, "intervals", intervals_of(session, i));
        as_json_double(json, "weight", point->weight);
        as_json_string(json, "function", as_points_function(session, point));
        if (i < session->results.len) {
            as_json_u64(json, "instructions", session->results.data[i].instructions);
            as_json_u64(json, "cycles", session->results.data[i].cycles);
            as_json_double(json, "cpi", cpi_of(session, i));
            as_json_double(json, "differs", session->results.data[i].differs);
        }
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_search(const struct as_points_session *session, struct as_json *json)
{
    as_json_u64(json, "phases", session->choice.k);
    if (session->choice.tried.len == 0)
        return;
    as_json_double(json, "bic", session->choice.bic);
    as_json_array(json, "tried");
    for (size_t i = 0; i < session->choice.tried.len; i++) {
        as_json_object(json, NULL);
        as_json_u64(json, "k", session->choice.tried.data[i].k);
        as_json_double(json, "bic", session->choice.tried.data[i].bic);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_array(json, "phase_of_interval");
    for (size_t i = 0; i < session->choice.groups.len; i++)
        as_json_u64(json, NULL, session->choice.groups.data[i] + 1);
    as_json_end(json);
}

bool as_points_json(const struct as_points_session *session, FILE *out)
{
    struct as_json *json = as_json_new(out);
    double cpi = as_points_cpi(session);
    as_json_object(json, NULL);
    as_json_array(json, "program");
    for (char **word = session->argv; word && *word; word++)
        as_json_string(json, NULL, *word);
    as_json_end(json);
    if (session->vectors) {
        as_json_u64(json, "instructions", as_vectors_instructions(session->vectors));
        as_json_u64(json, "intervals", session->vectors->list.len);
        as_json_u64(json, "blocks", session->vectors->blocks);
    }
    as_json_u64(json, "interval", session->options->interval);
    if (session->collect)
        as_json_double(json, "seconds", session->run.seconds);
    json_search(session, json);
    json_points(session, json);
    as_json_u64(json, "detailed", detailed(session));
    as_json_double(json, "cpi", cpi);
    as_json_double(json, "ipc", 1 / cpi);
    as_json_end(json);
    return as_json_finish(json);
}
