/* Merges the limitations of the inputs: counts add up, shares become their mean by the importance of the inputs, and
 * hints about modules without names are ranked anew. */
#include "base/show.h"
#include "merge/merge_internal.h"

#include <math.h>
#include <stdio.h>

static const char ranked[] = "nameless_", start_up[] = "start_up";

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
        if (as_store_is_part(&merge->quality.data[k].row))
            merge->quality.data[k].row.value *= before / merge->importance;
    return own / merge->importance;
}

static bool has_key(const struct as_store_quality *row, const char *key)
{
    return strcmp(row->key, key) == 0;
}

/* Instructions that shares of instructions are of. A run that was not sampled was measured as a whole. */
static void count_instructions(struct as_merge *merge, const struct as_store *store)
{
    struct as_weight weight = merge->inputs[merge->at].weight;
    size_t n;
    uint64_t instructions = 0;
    const struct as_store_quality *rows = as_store_quality(store, &n);
    double sampled = 1, started = 0;
    for (size_t i = 0; i < n; i++) {
        sampled = has_key(&rows[i], AS_STORE_SAMPLED) && !isnan(rows[i].value) ? rows[i].value : sampled;
        started = has_key(&rows[i], start_up) && !isnan(rows[i].value) ? rows[i].value : started;
    }
    if (!as_store_meta_u64(store, AS_META_INSTRUCTIONS, &instructions))
        return;
    double own = (double)instructions * (double)weight.part / (double)weight.whole;
    merge->executed += own;
    merge->sampled += sampled * own;
    merge->started += started * own;
}

static struct as_merge_limit *find_limit(struct as_merge *merge, const struct as_store_quality *row)
{
    for (size_t k = 0; k < merge->quality.len; k++)
        if (same_quality(&merge->quality.data[k].row, row))
            return &merge->quality.data[k];
    struct as_merge_limit *limit = as_vec_push(&merge->quality);
    *limit = (struct as_merge_limit){
        .row = {as_merge_keep(merge, row->key), isnan(row->value) ? NAN : 0, as_merge_keep(merge, row->text)}};
    return limit;
}

/* Counts add up. Shares do not: their row is the mean of the inputs so far by importance (with one input exactly its
 * share); an input without the row has a share of 0. The files without symbols are the same ones in every run. */
void as_merge_quality(struct as_merge *merge, const struct as_store *store)
{
    size_t n;
    const struct as_store_quality *rows = as_store_quality(store, &n);
    double part = make_room(merge, store);
    count_instructions(merge, store);
    for (size_t i = 0; i < n; i++) {
        struct as_merge_limit *limit = find_limit(merge, &rows[i]);
        double *value = &limit->row.value;
        limit->met++;
        limit->differs |= rows[i].text && limit->row.text && strcmp(rows[i].text, limit->row.text) != 0;
        if (has_key(&rows[i], "symbols"))
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

static void write_row(struct as_merge *merge, const char *key, double value, char *text)
{
    as_store_add(merge->writer, AS_TABLE_QUALITY, &(struct as_store_quality){key, value, text});
    free(text);
}

/* The inputs' text has the instructions of one run. */
static void write_sampled(struct as_merge *merge)
{
    write_row(merge, AS_STORE_SAMPLED, merge->sampled / merge->executed,
              as_format("SAMPLED: an estimate for all %s instructions of %zu merged profiles; %s of them were measured",
                        AS_COUNT((uint64_t)llround(merge->executed)), merge->n,
                        AS_COUNT((uint64_t)llround(merge->sampled))));
}

/* The same: a share of the instructions, and their number in brackets. Inputs of which it is a small share do not say it. */
static void write_start_up(struct as_merge *merge, const struct as_merge_limit *limit)
{
    const char *text = limit->row.text, *open = strchr(text, '('), *close = open ? strchr(open, ')') : NULL;
    const char *least = limit->met < merge->n ? "at least " : "";
    double share = merge->started / merge->executed;
    if (close)
        write_row(merge, start_up, share,
                  as_format("%.*s(%s%s%s", (int)(open - text), text, least, AS_COUNT((uint64_t)llround(merge->started)),
                            close));
    else
        write_row(merge, start_up, share, as_strdup(text));
}

static void write_limit(struct as_merge *merge, const struct as_merge_limit *limit)
{
    bool counted = merge->n > 1 && merge->executed > 0;
    if (counted && has_key(&limit->row, AS_STORE_SAMPLED))
        write_sampled(merge);
    else if (counted && has_key(&limit->row, start_up) && limit->row.text)
        write_start_up(merge, limit);
    else if (limit->differs && !is_ranked(&limit->row))
        write_row(merge, limit->row.key, limit->row.value,
                  as_format("%s (as the first profile says; the others differ)", limit->row.text));
    else
        as_store_add(merge->writer, AS_TABLE_QUALITY, &limit->row);
}

/* What a reader must know of a profile in which inputs count more or less than they ran. An input may say so already. */
static void write_weights(struct as_merge *merge)
{
    enum { SHOWN = 8 };
    struct as_str text = {0};
    bool weighted = false, known = false;
    for (size_t i = 0; i < merge->quality.len; i++)
        known |= has_key(&merge->quality.data[i].row, "weights");
    for (size_t i = 0; i < merge->n; i++) {
        struct as_weight weight = merge->inputs[i].weight;
        weighted |= weight.part != 1 || weight.whole != 1;
        if (i < SHOWN)
            as_str_addf(&text, "%s%.6g", i ? ", " : "", (double)weight.part / (double)weight.whole);
    }
    char *note = as_format("WEIGHTED: merged profiles count by their weights (%s%s); instructions, times, executions "
                           "and counters are weighted sums",
                           as_str_get(&text), merge->n > SHOWN ? ", …" : "");
    if (weighted && !known)
        as_store_add_quality(merge->writer, "weights", NAN, note);
    free(note);
    as_str_free(&text);
}

/* Ranked rows come last, the largest share first. */
void as_merge_write_quality(struct as_merge *merge)
{
    AS_VEC(struct as_store_quality) last = {0};
    for (size_t i = 0; i < merge->quality.len; i++) {
        if (is_ranked(&merge->quality.data[i].row))
            *as_vec_push(&last) = merge->quality.data[i].row;
        else
            write_limit(merge, &merge->quality.data[i]);
    }
    if (merge->options->parts)
        as_store_add_quality(merge->writer, "weights", NAN, merge->options->parts->note);
    else
        write_weights(merge);
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
