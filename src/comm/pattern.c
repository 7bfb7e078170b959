/* See pattern.h. A pattern is tried in the order of the enum: the first that enough of the communication fits is it. So that
 * a few transfers at the start and the end of threads do not matter, a thread counts as communicating where it has at least
 * a twentieth of its even share. In a short run a main thread that only makes and awaits the others can have more than that: if no
 * pattern fits, those that have less than a quarter do not count. */
#include "comm/pattern.h"

#include "base/alloc.h"

#include <stdlib.h>

enum { MOST_ORDERED = 512 }; /* threads: the order takes cubic time */

struct shape {
    const struct as_pair_matrix *matrix;
    size_t n, active;
    uint64_t total;
    uint64_t *sums; /* by thread; each pair is in two of them */
    bool *is_active;
};

static uint64_t talk(const struct shape *shape, size_t a, size_t b)
{
    return as_pair_sum(as_pair_matrix_pair(shape->matrix, a, b));
}

static struct shape measure(const struct as_pair_matrix *matrix)
{
    struct shape shape = {.matrix = matrix, .n = matrix->n};
    shape.sums = as_alloc_array(matrix->n + 1, sizeof *shape.sums);
    shape.is_active = as_alloc_array(matrix->n + 1, sizeof *shape.is_active);
    for (size_t i = 0; i < shape.n; i++)
        for (size_t k = 0; k < i; k++) {
            uint64_t pair = talk(&shape, i, k);
            shape.sums[i] += pair;
            shape.sums[k] += pair;
            shape.total += pair;
        }
    for (size_t i = 0; i < shape.n; i++) {
        shape.is_active[i] = shape.total && shape.sums[i] * shape.n * 20 >= 2 * shape.total;
        shape.active += shape.is_active[i];
    }
    return shape;
}

static double part(const struct shape *shape, uint64_t count)
{
    return shape->total ? (double)count / (double)shape->total : 0;
}

/* ---- one pattern each; they return the share that fits ---- */

static double fit_master(const struct shape *shape, size_t *master)
{
    *master = 0;
    for (size_t i = 1; i < shape->n; i++)
        if (shape->sums[i] > shape->sums[*master])
            *master = i;
    uint64_t most = 0;
    for (size_t i = 0; i < shape->n; i++)
        most = talk(shape, *master, i) > most ? talk(shape, *master, i) : most;
    bool with_several = shape->n && (double)most < AS_PATTERN_SHARE * (double)shape->sums[*master];
    return shape->active >= 3 && with_several ? part(shape, shape->sums[*master]) : 0;
}

static size_t next_active(const struct shape *shape, size_t from)
{
    while (from < shape->n && !shape->is_active[from])
        from++;
    return from;
}

/* With the last and the first as neighbours where they are. Every link of the chain must be used: a twentieth of an even
 * share, again. */
static double fit_neighbours(const struct shape *shape)
{
    uint64_t sum = 0;
    size_t first = next_active(shape, 0), links = 0, last = first;
    if (shape->active < 4)
        return 0;
    for (size_t next; (next = next_active(shape, last + 1)) < shape->n; last = next) {
        uint64_t link = talk(shape, last, next);
        links += part(shape, link) * (double)shape->active * 20 >= 1;
        sum += link;
    }
    return links == shape->active - 1 ? part(shape, sum + talk(shape, first, last)) : 0;
}

static size_t best_partner(const struct shape *shape, size_t thread)
{
    size_t best = thread;
    for (size_t i = 0; i < shape->n; i++)
        if (i != thread && talk(shape, thread, i) > (best == thread ? 0 : talk(shape, thread, best)))
            best = i;
    return best;
}

static double fit_pairs(const struct shape *shape, size_t *groups)
{
    uint64_t sum = 0;
    *groups = 0;
    for (size_t i = 0; i < shape->n; i++) {
        size_t other = best_partner(shape, i);
        if (!shape->is_active[i] || other <= i || best_partner(shape, other) != i)
            continue;
        sum += talk(shape, i, other);
        ++*groups;
    }
    return *groups >= 2 && 2 * *groups == shape->active ? part(shape, sum) : 0;
}

/* Whether a thread has a quarter of its even share. */
static bool is_busy(const struct shape *shape, size_t thread)
{
    return shape->sums[thread] * shape->n * 4 >= 2 * shape->total;
}

/* Busy threads among themselves: the share of pairs that are used, or that of what passes between them if it is less. */
static double fit_all(const struct shape *shape)
{
    size_t used = 0, busy = 0;
    uint64_t within = 0;
    for (size_t i = 0; i < shape->n; i++)
        busy += is_busy(shape, i);
    double pairs = (double)busy * ((double)busy - 1) / 2;
    for (size_t i = 0; i < shape->n; i++)
        for (size_t k = 0; k < i; k++)
            if (is_busy(shape, i) && is_busy(shape, k)) {
                within += talk(shape, i, k);
                used += 4 * part(shape, talk(shape, i, k)) * pairs >= 1;
            }
    double even = busy >= 3 ? (double)used / pairs : 0;
    return even < part(shape, within) ? even : part(shape, within);
}

static uint32_t root_of(uint32_t *parents, uint32_t i)
{
    while (parents[i] != i)
        i = parents[i] = parents[parents[i]];
    return i;
}

/* Threads that have more than half of an even share with each other are of one group. */
static double fit_groups(const struct shape *shape, size_t *groups)
{
    uint32_t *parents = as_alloc_array(shape->n + 1, sizeof *parents);
    uint64_t within = 0;
    *groups = 0;
    for (uint32_t i = 0; i < shape->n; i++)
        parents[i] = i;
    for (uint32_t i = 0; i < shape->n; i++)
        for (uint32_t k = 0; k < i; k++) {
            uint64_t even = (shape->sums[i] < shape->sums[k] ? shape->sums[i] : shape->sums[k]) / shape->n;
            if (talk(shape, i, k) > 2 * even && shape->is_active[i] && shape->is_active[k])
                parents[root_of(parents, i)] = root_of(parents, k);
        }
    for (uint32_t i = 0; i < shape->n; i++) {
        *groups += shape->is_active[i] && root_of(parents, i) == i;
        for (uint32_t k = 0; k < i; k++)
            within += root_of(parents, i) == root_of(parents, k) ? talk(shape, i, k) : 0;
    }
    free(parents);
    return *groups >= 2 && 2 * *groups <= shape->active ? part(shape, within) : 0;
}

/* Of two active threads. */
static double fit_pair(const struct shape *shape)
{
    size_t one = next_active(shape, 0), other = next_active(shape, one + 1);
    return shape->active == 2 ? part(shape, talk(shape, one, other)) : 0;
}

static struct as_pattern_found name_it(const struct shape *shape)
{
    struct as_pattern_found found = {.threads = shape->active, .share = 1};
    if (!shape->total)
        return found;
    found.pattern = AS_PATTERN_PAIR;
    if (fit_pair(shape) >= AS_PATTERN_SHARE)
        return found;
    found.pattern = AS_PATTERN_MASTER;
    if ((found.share = fit_master(shape, &found.master)) >= AS_PATTERN_SHARE)
        return found;
    found.pattern = AS_PATTERN_NEIGHBOUR;
    if ((found.share = fit_neighbours(shape)) >= AS_PATTERN_SHARE)
        return found;
    found.pattern = AS_PATTERN_PAIRS;
    if ((found.share = fit_pairs(shape, &found.groups)) >= AS_PATTERN_SHARE)
        return found;
    found.pattern = AS_PATTERN_GROUPS;
    if ((found.share = fit_groups(shape, &found.groups)) >= AS_PATTERN_SHARE)
        return found;
    found.groups = 0;
    found.pattern = AS_PATTERN_ALL;
    if ((found.share = fit_all(shape)) >= AS_PATTERN_SHARE)
        return found;
    found.pattern = AS_PATTERN_IRREGULAR;
    found.share = 1;
    return found;
}

static void keep_busy(struct shape *shape)
{
    shape->active = 0;
    for (size_t i = 0; i < shape->n; i++) {
        shape->is_active[i] = is_busy(shape, i);
        shape->active += shape->is_active[i];
    }
}

struct as_pattern_found as_pattern_find(const struct as_pair_matrix *matrix)
{
    struct shape shape = measure(matrix);
    struct as_pattern_found found = name_it(&shape);
    if (found.pattern == AS_PATTERN_IRREGULAR) {
        keep_busy(&shape);
        found = name_it(&shape);
    }
    free(shape.sums);
    free(shape.is_active);
    return found;
}

struct as_pattern_found as_pattern_of_run(const struct as_pair_matrix *matrix, uint64_t transfers, size_t started)
{
    struct as_pattern_found found = as_pattern_find(matrix);
    if (found.pattern != AS_PATTERN_NONE && transfers < AS_PATTERN_THREAD * started)
        found = (struct as_pattern_found){.pattern = AS_PATTERN_START, .threads = found.threads, .share = 1};
    return found;
}

const char *as_pattern_name(enum as_pattern pattern)
{
    static const char *const names[] = {
        [AS_PATTERN_NONE] = "none",
        [AS_PATTERN_PAIR] = "one pair",
        [AS_PATTERN_MASTER] = "master bottleneck",
        [AS_PATTERN_NEIGHBOUR] = "nearest neighbour",
        [AS_PATTERN_PAIRS] = "pairs",
        [AS_PATTERN_GROUPS] = "groups",
        [AS_PATTERN_ALL] = "all to all",
        [AS_PATTERN_IRREGULAR] = "irregular",
        [AS_PATTERN_START] = "nothing shared",
    };
    return names[pattern];
}

/* ---- an order by clusters ---- */

/* From the thread that talks most on, always the one next that talks most with the four placed last: so groups stay
 * together, and chains too. */
static size_t best_next(const struct as_pair_matrix *matrix, const uint32_t *order, size_t placed, const bool *used)
{
    enum { LOOK_BACK = 4 };
    size_t best = matrix->n;
    uint64_t most = 0;
    for (size_t i = 0; i < matrix->n; i++) {
        uint64_t sum = 0;
        for (size_t k = placed; !used[i] && k-- > 0 && placed - k <= LOOK_BACK;)
            sum += as_pair_sum(as_pair_matrix_pair(matrix, i, order[k]));
        if (!used[i] && (best == matrix->n || sum > most)) {
            best = i;
            most = sum;
        }
    }
    return best;
}

void as_pattern_order(const struct as_pair_matrix *matrix, uint32_t *order)
{
    bool *used = as_alloc_array(matrix->n + 1, sizeof *used);
    for (size_t i = 0; i < matrix->n; i++) {
        order[i] = (uint32_t)i;
        if (matrix->n > MOST_ORDERED)
            continue;
        size_t next = best_next(matrix, order, i, used);
        order[i] = (uint32_t)next;
        used[next] = true;
    }
    free(used);
}
