/* SimPoint's two files of points: each line has a value and the number of its group. */
#include "points/simpoints.h"

#include "base/text_lines.h"

#include <inttypes.h>
#include <math.h>

enum { LONGEST = 1 << 12, MOST_PAIRS = 1 << 16 };

bool as_choice_write_points(const struct as_choice *choice, FILE *out)
{
    for (uint32_t i = 0; i < choice->points.len; i++)
        fprintf(out, "%" PRIu32 " %" PRIu32 "\n", choice->points.data[i].interval, i);
    return !ferror(out);
}

bool as_choice_write_weights(const struct as_choice *choice, FILE *out)
{
    for (uint32_t i = 0; i < choice->points.len; i++)
        fprintf(out, "%.9g %" PRIu32 "\n", choice->points.data[i].weight, i);
    return !ferror(out);
}

struct pair {
    double value;
    uint32_t group;
};
typedef AS_VEC(struct pair) pairs;

static bool read_pairs(pairs *list, FILE *in, const char *name, const char *what, struct as_error *err)
{
    struct as_lines lines = {.in = in, .name = name, .most = LONGEST};
    bool ok = true;
    for (const char *text; ok && (text = as_lines_next(&lines));) {
        char rest;
        struct pair pair;
        if (text[strspn(text, " \t\r")] == '\0')
            continue;
        ok = sscanf(text, "%lf %" SCNu32 " %c", &pair.value, &pair.group, &rest) == 2 && pair.value >= 0 &&
             isfinite(pair.value);
        if (!ok)
            as_error_set(err, "%s:%zu: not a line of %s", name, lines.number, what);
        else if (list->len == MOST_PAIRS)
            ok = as_error_set(err, "%s: more than %d lines of %s", name, MOST_PAIRS, what);
        else
            *as_vec_push(list) = pair;
    }
    ok = as_lines_end(&lines, ok, err);
    return ok && (list->len > 0 || as_error_set(err, "%s: no point in it", name));
}

static const struct pair *pair_of(const pairs *list, uint32_t group)
{
    for (size_t i = 0; i < list->len; i++)
        if (list->data[i].group == group)
            return &list->data[i];
    return NULL;
}

static int compare_points(const void *a, const void *b)
{
    const struct as_chosen_point *x = a, *y = b;
    return (x->interval > y->interval) - (x->interval < y->interval);
}

static bool check_points(struct as_choice *choice, const char *name, const char *weights_name, struct as_error *err)
{
    static const double slack = 0.01; /* SimPoint prints few digits */
    double sum = 0;
    qsort(choice->points.data, choice->points.len, sizeof *choice->points.data, compare_points);
    for (size_t i = 0; i < choice->points.len; i++) {
        sum += choice->points.data[i].weight;
        if (i && choice->points.data[i].interval == choice->points.data[i - 1].interval)
            return as_error_set(err, "%s: interval %" PRIu32 " is there twice", name, choice->points.data[i].interval);
    }
    if (fabs(sum - 1) > slack)
        return as_error_set(
            err,
            "%s: the weights of the points in %s sum to %g instead of 1, so these points do not stand for the "
            "whole run: take the complete files that SimPoint wrote in one run, or make them again",
            weights_name, name, sum);
    for (size_t i = 0; i < choice->points.len; i++)
        choice->points.data[i].weight /= sum;
    choice->k = (uint32_t)choice->points.len;
    return true;
}

static bool join(struct as_choice *choice, const pairs *points, const char *points_name, const pairs *weights,
                 const char *weights_name, struct as_error *err)
{
    for (size_t i = 0; i < points->len; i++) {
        const struct pair *point = &points->data[i], *weight = pair_of(weights, point->group);
        if (point->value != floor(point->value) || point->value > UINT32_MAX)
            return as_error_set(err, "%s: %g is not the number of an interval", points_name, point->value);
        if (pair_of(points, point->group) != point)
            return as_error_set(err, "%s: group %" PRIu32 " has two points", points_name, point->group);
        if (!weight)
            return as_error_set(err, "%s: no weight for group %" PRIu32 " of %s", weights_name, point->group,
                                points_name);
        *as_vec_push(&choice->points) = (struct as_chosen_point){
            .interval = (uint32_t)point->value, .group = point->group, .weight = weight->value};
    }
    return check_points(choice, points_name, weights_name, err);
}

bool as_choice_read(struct as_choice *choice, FILE *points, const char *points_name, FILE *weights,
                    const char *weights_name, struct as_error *err)
{
    pairs where = {0}, much = {0};
    *choice = (struct as_choice){0};
    bool ok = read_pairs(&where, points, points_name, "simulation points, such as '17 0'", err) &&
              read_pairs(&much, weights, weights_name, "weights, such as '0.25 0'", err) &&
              join(choice, &where, points_name, &much, weights_name, err);
    as_vec_free(&where);
    as_vec_free(&much);
    return ok;
}
