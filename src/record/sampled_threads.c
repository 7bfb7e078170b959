/* Divides the estimate of a sampled run between its threads, as rows like the Oracle's.
 *
 * How often each thread executed an instruction is known (sampled_counts.h). What an execution costs a thread is what it cost
 * it in regions; as far as they have few of its executions, what it costs all threads. */
#include "record/sampled_internal.h"

#include <math.h>

enum { FEW = 100 }; /* executions in regions that say as much about a thread's cost as all threads do */

/* ---- who executed what ---- */

/* The units of an execution; 1 where no thread's are known. */
static double cost_of(const struct as_sampled *sampled, uint32_t thread, uint32_t id)
{
    double count = as_sampled_at(&sampled->counts, id), units = as_sampled_units(&sampled->costs.data[id]);
    const struct as_oracle_row *row =
        thread == AS_NO_THREAD ? NULL : as_oracle_thread_row(sampled->modelled->oracle, thread, id);
    if (count == 0 || units == 0)
        return 1;
    /* The Oracle does not count iterations, which are most of what a rep instruction costs. */
    if (!row || as_sampled_at(&sampled->counts_again, id) > 0)
        return units / count;
    return ((double)as_oracle_row_units(row) + FEW * units / count) / ((double)row->executions + FEW);
}

static void add_row(const struct as_sampled *sampled, struct as_sampled_thread *thread, uint32_t id, double executions,
                    double again)
{
    *as_vec_push(&thread->rows) =
        (struct as_sampled_row){.id = id,
                                .weight = (executions + again) * cost_of(sampled, thread->number, id),
                                .row.executions = (uint64_t)llround(executions)};
}

static struct as_sampled_thread *add_thread(struct as_sampled *sampled, uint32_t number)
{
    struct as_sampled_thread *thread = as_vec_push(&sampled->threads);
    *thread = (struct as_sampled_thread){.number = number};
    return thread;
}

/* What is left for the first thread, by id. */
struct rest {
    double *executions, *again;
};

static void add_counted(struct as_sampled *sampled, const struct as_thread_counts *counts, struct rest *rest)
{
    if (!counts || counts->list.len == 0)
        return;
    struct as_sampled_thread *thread = add_thread(sampled, counts->number);
    for (size_t i = 0; i < counts->list.len; i++) {
        const struct as_thread_count *own = &counts->list.data[i];
        if (own->id >= sampled->n || (own->executions == 0 && own->again == 0))
            continue;
        double executions = fmin((double)own->executions, rest->executions[own->id]);
        double again = fmin((double)own->again, rest->again[own->id]);
        add_row(sampled, thread, own->id, executions, again);
        rest->executions[own->id] -= executions;
        rest->again[own->id] -= again;
    }
}

/* Whether an instruction was charged time without being executed. */
static bool has_time_alone(const struct as_sampled *sampled, uint32_t id)
{
    return as_sampled_at(&sampled->counts, id) == 0 && as_sampled_units(&sampled->costs.data[id]) > 0;
}

static void add_first(struct as_sampled *sampled, const struct rest *rest)
{
    struct as_sampled_thread *thread = add_thread(sampled, 1);
    for (uint32_t id = 0; id < sampled->n; id++)
        if (rest->executions[id] > 0 || rest->again[id] > 0)
            add_row(sampled, thread, id, rest->executions[id], rest->again[id]);
        else if (has_time_alone(sampled, id))
            *as_vec_push(&thread->rows) = (struct as_sampled_row){.id = id, .weight = 1};
}

static void add_all(struct as_sampled *sampled)
{
    struct rest rest = {.executions = as_alloc_array(sampled->n + 1, sizeof *rest.executions),
                        .again = as_alloc_array(sampled->n + 1, sizeof *rest.again)};
    const struct as_sampled_counts *counts = &sampled->thread_counts;
    for (size_t id = 0; id < sampled->n; id++) {
        rest.executions[id] = as_sampled_instructions(sampled, id);
        rest.again[id] = as_sampled_at(&sampled->counts_again, id);
    }
    for (size_t i = 0; i < counts->threads.len; i++)
        add_counted(sampled, counts->threads.data[i], &rest);
    add_counted(sampled, &counts->others, &rest);
    add_first(sampled, &rest);
    free(rest.executions);
    free(rest.again);
}

/* ---- rows ---- */

/* Rounds an instruction's time in a thread: the row is the sum of its states. */
static void fill_row(struct as_oracle_row *row, const struct as_sampled_cost *cost, double share)
{
    for (int state = 0; state < AS_STATE_COUNT; state++)
        row->units[state] = (uint64_t)llround(share * cost->units[state]);
}

/* Fills the components of a row, rounded so that they add up to it: the largest takes the remainder. */
static void fill_parts(struct as_pics *pics, const struct as_sampled_part *parts, size_t n, double share,
                       const struct as_sampled_row *own)
{
    uint64_t units = as_oracle_row_units(&own->row), sum = 0;
    size_t first = pics->len, largest = first;
    if (units == 0 && own->row.executions == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        struct as_pics_entry entry = {.id = parts[i].id,
                                      .events = parts[i].events,
                                      .units = (uint64_t)llround(share * parts[i].units),
                                      .count = (uint64_t)llround(share * parts[i].count)};
        as_pics_push(pics, &entry);
        sum += entry.units;
        largest = pics->data[pics->len - 1].units > pics->data[largest].units ? pics->len - 1 : largest;
    }
    if (n == 0) /* without time: it is in the list all the same, which says what the thread executed */
        as_pics_push(pics, &(struct as_pics_entry){.id = own->id});
    pics->data[largest].units += units - sum; /* modulo 2^64 */
}

static void fill_thread(struct as_sampled *sampled, struct as_sampled_thread *thread, const double *weights)
{
    size_t at = 0;
    for (size_t i = 0; i < thread->rows.len; i++) {
        struct as_sampled_row *own = &thread->rows.data[i];
        while (at < sampled->parts.len && sampled->parts.data[at].id < own->id)
            at++;
        size_t first = at;
        while (at < sampled->parts.len && sampled->parts.data[at].id == own->id)
            at++;
        double share = weights[own->id] > 0 ? own->weight / weights[own->id] : 0;
        fill_row(&own->row, &sampled->costs.data[own->id], share);
        fill_parts(&thread->pics, sampled->parts.data + first, at - first, share, own);
        sampled->summary.units += as_oracle_row_units(&own->row);
    }
}

void as_sampled_make_threads(struct as_sampled *sampled)
{
    double *weights = as_alloc_array(sampled->n + 1, sizeof *weights);
    as_sampled_counts_finish(&sampled->thread_counts, as_model_engine(sampled->modelled->model));
    add_all(sampled);
    for (size_t i = 0; i < sampled->threads.len; i++)
        for (size_t at = 0; at < sampled->threads.data[i].rows.len; at++)
            weights[sampled->threads.data[i].rows.data[at].id] += sampled->threads.data[i].rows.data[at].weight;
    for (size_t i = 0; i < sampled->threads.len; i++)
        fill_thread(sampled, &sampled->threads.data[i], weights);
    free(weights);
}
