/* See sampled_counts.h. */
#include "record/sampled_counts.h"

enum { FIRST = 1 }; /* the thread that is not counted */

static struct as_thread_counts *counts_of(struct as_sampled_counts *counts, uint32_t thread)
{
    while (counts->threads.len <= thread)
        *as_vec_push(&counts->threads) = NULL;
    struct as_thread_counts **own = &counts->threads.data[thread];
    if (!*own) {
        *own = as_alloc(sizeof **own);
        (*own)->number = thread;
    }
    return *own;
}

void as_sampled_counts_add(struct as_sampled_counts *counts, uint32_t thread, const struct as_block *block,
                           uint32_t first, uint32_t end, uint64_t times)
{
    if (thread == FIRST)
        return;
    struct as_thread_counts *own = counts_of(counts, thread);
    own->executed += times * (end - first);
    if (first > 0 || end < block->n) {
        for (uint32_t i = first; i < end; i++)
            *as_map_put(&own->cut, block->insns[i]->id) += times;
        return;
    }
    while (own->runs.len <= block->index)
        *as_vec_push(&own->runs) = 0;
    own->runs.data[block->index] += times;
}

void as_sampled_counts_again(struct as_sampled_counts *counts, uint32_t thread, uint32_t id)
{
    if (thread != FIRST)
        ++*as_map_put(&counts_of(counts, thread)->again, id);
}

/* ---- lists ---- */

static int compare_ids(const void *a, const void *b)
{
    const struct as_thread_count *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Sorts the list and joins the counts of an instruction. */
static void sort_list(struct as_thread_counts *own)
{
    size_t kept = 0;
    if (own->list.len)
        qsort(own->list.data, own->list.len, sizeof *own->list.data, compare_ids);
    for (size_t i = 0; i < own->list.len; i++)
        if (kept && own->list.data[kept - 1].id == own->list.data[i].id) {
            own->list.data[kept - 1].executions += own->list.data[i].executions;
            own->list.data[kept - 1].again += own->list.data[i].again;
        } else {
            own->list.data[kept++] = own->list.data[i];
        }
    own->list.len = kept;
}

static void list_runs(struct as_thread_counts *own, const struct as_engine *engine)
{
    for (size_t at = 0; at < own->runs.len; at++) {
        const struct as_block *block = own->runs.data[at] ? as_engine_block(engine, at) : NULL;
        for (uint32_t i = 0; block && i < block->n; i++)
            *as_vec_push(&own->list) =
                (struct as_thread_count){.id = block->insns[i]->id, .executions = own->runs.data[at]};
    }
    as_vec_free(&own->runs);
}

/* Moves the counts to the list. */
static void make_list(struct as_thread_counts *own, const struct as_engine *engine)
{
    list_runs(own, engine);
    for (size_t i = 0; i < own->cut.cap; i++)
        if (own->cut.slots[i].used)
            *as_vec_push(&own->list) =
                (struct as_thread_count){.id = (uint32_t)own->cut.slots[i].key, .executions = own->cut.slots[i].value};
    for (size_t i = 0; i < own->again.cap; i++)
        if (own->again.slots[i].used)
            *as_vec_push(&own->list) =
                (struct as_thread_count){.id = (uint32_t)own->again.slots[i].key, .again = own->again.slots[i].value};
    as_map_free(&own->cut);
    as_map_free(&own->again);
    sort_list(own);
}

static void free_thread(struct as_thread_counts *own)
{
    as_vec_free(&own->runs);
    as_map_free(&own->cut);
    as_map_free(&own->again);
    as_vec_free(&own->list);
}

/* Adds the counts to those of AS_NO_THREAD, whose list has every id. The thread may be executing another program now. */
static void give_up(struct as_sampled_counts *counts, const struct as_engine *engine, uint32_t thread)
{
    struct as_thread_counts *own = counts->threads.data[thread], *others = &counts->others;
    make_list(own, engine);
    for (size_t i = 0; i < own->list.len; i++) {
        const struct as_thread_count *more = &own->list.data[i];
        while (others->list.len <= more->id)
            *as_vec_push(&others->list) = (struct as_thread_count){.id = (uint32_t)others->list.len - 1};
        others->list.data[more->id].executions += more->executions;
        others->list.data[more->id].again += more->again;
    }
    free_thread(own);
    free(own);
    counts->threads.data[thread] = NULL;
}

void as_sampled_counts_end(struct as_sampled_counts *counts, const struct as_engine *engine, uint32_t thread)
{
    if (thread == FIRST || thread >= counts->threads.len || !counts->threads.data[thread])
        return;
    struct as_thread_counts *own = counts->threads.data[thread];
    make_list(own, engine);
    uint32_t given_up = as_thread_limit_end(&counts->limit, thread, own->executed);
    own->executed = 0;
    if (given_up != AS_NO_THREAD)
        give_up(counts, engine, given_up);
}

void as_sampled_counts_finish(struct as_sampled_counts *counts, const struct as_engine *engine)
{
    counts->others.number = AS_NO_THREAD;
    for (size_t i = 0; i < counts->threads.len; i++)
        if (counts->threads.data[i])
            make_list(counts->threads.data[i], engine);
}

void as_sampled_counts_free(struct as_sampled_counts *counts)
{
    for (size_t i = 0; i < counts->threads.len; i++)
        if (counts->threads.data[i]) {
            free_thread(counts->threads.data[i]);
            free(counts->threads.data[i]);
        }
    as_vec_free(&counts->threads);
    free_thread(&counts->others);
}
