/* Merges the limitations of the inputs: counts add up, shares become their mean by the importance of the inputs, and
 * hints about modules without names are ranked anew. */
#include "base/show.h"
#include "merge/merge_internal.h"

#include <math.h>
#include <stdio.h>

static const char ranked[] = "nameless_";

static bool is_ranked(const struct as_store_quality *row)
{
    return strncmp(row->key, ranked, sizeof ranked - 1) == 0 && row->text;
}

/* What shares of an input count for: its samples or, if it has none, its cycles. */
static double importance(const struct as_merge *merge, const struct as_store *store)
{
    struct as_weight weight = merge->inputs[merge->at].weight;
    size_t n;
    uint64_t samples = 0, cycles = 0;
    const struct as_store_series *series = as_store_series(store, &n);
    for (size_t i = 0; i < n; i++)
        samples += series[i].samples;
    if (!samples && !as_store_meta_u64(store, AS_META_CYCLES, &cycles))
        cycles = 1;
    return (double)(samples ? samples : cycles) * (double)weight.part / (double)weight.whole;
}

/* The rows nameless_1, nameless_2 … are about the modules that their texts name, in an order that differs from run to
 * run. */
static bool same_quality(const struct as_store_quality *a, const struct as_store_quality *b)
{
    if (is_ranked(a) && is_ranked(b))
        return strcmp(a->text, b->text) == 0;
    return strcmp(a->key, b->key) == 0;
}

/* Makes room in the means of the inputs so far for one more input. Returns its part of them. */
static double make_room(struct as_merge *merge, const struct as_store *store)
{
    double own = importance(merge, store), before = merge->importance;
    merge->importance += own;
    if (!(merge->importance > 0))
        return 1;
    for (size_t k = 0; k < merge->quality.len; k++)
        if (as_store_is_part(&merge->quality.data[k]))
            merge->quality.data[k].value *= before / merge->importance;
    return own / merge->importance;
}

static bool is_sampled(const struct as_store_quality *row)
{
    return strcmp(row->key, AS_STORE_SAMPLED) == 0;
}

/* A run that was not sampled was measured as a whole. */
static void count_measured(struct as_merge *merge, const struct as_store *store)
{
    struct as_weight weight = merge->inputs[merge->at].weight;
    size_t n;
    uint64_t instructions = 0;
    const struct as_store_quality *rows = as_store_quality(store, &n);
    double part = 1;
    for (size_t i = 0; i < n; i++)
        part = is_sampled(&rows[i]) && !isnan(rows[i].value) ? rows[i].value : part;
    if (!as_store_meta_u64(store, AS_META_INSTRUCTIONS, &instructions))
        return;
    double own = (double)instructions * (double)weight.part / (double)weight.whole;
    merge->sampled_of += own;
    merge->sampled += part * own;
}

/* Counts add up. Shares do not: their row is the mean of the inputs so far by importance (with one input exactly its
 * share); an input without the row has a share of 0. The files without symbols are the same ones in every run. */
void as_merge_quality(struct as_merge *merge, const struct as_store *store)
{
    size_t n, k;
    const struct as_store_quality *rows = as_store_quality(store, &n);
    double part = make_room(merge, store);
    count_measured(merge, store);
    for (size_t i = 0; i < n; i++) {
        for (k = 0; k < merge->quality.len && !same_quality(&merge->quality.data[k], &rows[i]); k++)
            ;
        if (k == merge->quality.len)
            *as_vec_push(&merge->quality) = (struct as_store_quality){
                as_merge_keep(merge, rows[i].key), isnan(rows[i].value) ? NAN : 0, as_merge_keep(merge, rows[i].text)};
        double *value = &merge->quality.data[k].value;
        if (strcmp(rows[i].key, "symbols") == 0)
            *value = fmax(*value, rows[i].value);
        else
            *value += as_store_is_part(&rows[i]) ? part * rows[i].value : rows[i].value;
    }
}

static int by_share(const void *a, const void *b)
{
    const struct as_store_quality *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value ? 1 : -1) : strcmp(x->text, y->text);
}

/* The inputs' text has the instructions of one run. */
static void write_sampled(struct as_merge *merge)
{
    char *text = as_format(
        "SAMPLED: an estimate for all %s instructions of %zu merged profiles; %s of them were measured",
        AS_COUNT((uint64_t)llround(merge->sampled_of)), merge->n, AS_COUNT((uint64_t)llround(merge->sampled)));
    as_store_add(merge->writer, AS_TABLE_QUALITY,
                 &(struct as_store_quality){AS_STORE_SAMPLED, merge->sampled / merge->sampled_of, text});
    free(text);
}

/* Ranked rows come last, the largest share first. */
void as_merge_write_quality(struct as_merge *merge)
{
    AS_VEC(struct as_store_quality) last = {0};
    for (size_t i = 0; i < merge->quality.len; i++) {
        const struct as_store_quality *row = &merge->quality.data[i];
        if (is_ranked(row))
            *as_vec_push(&last) = *row;
        else if (is_sampled(row) && merge->n > 1 && merge->sampled_of > 0)
            write_sampled(merge);
        else
            as_store_add(merge->writer, AS_TABLE_QUALITY, row);
    }
    if (last.len)
        qsort(last.data, last.len, sizeof *last.data, by_share);
    for (size_t i = 0; i < last.len; i++) {
        char key[sizeof ranked + 24];
        snprintf(key, sizeof key, "%s%zu", ranked, i + 1);
        as_store_add(merge->writer, AS_TABLE_QUALITY,
                     &(struct as_store_quality){key, last.data[i].value, last.data[i].text});
    }
    free(last.data);
}
