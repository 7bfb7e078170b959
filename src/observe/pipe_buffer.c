/* See pipe_buffer.h. */
#include "observe/pipe_buffer.h"

#include "base/log.h"

#include <assert.h>

static struct as_buffer *make(size_t records)
{
    struct as_pipe_buffer *buffer = as_alloc_apart(1, sizeof *buffer);
    buffer->pipes = aligned_alloc(sizeof(struct as_pipe), records * sizeof(struct as_pipe));
    if (!buffer->pipes) {
        as_log_error("out of memory");
        exit(AS_EXIT_FAILURE);
    }
    pthread_mutex_init(&buffer->mutex, NULL);
    return (struct as_buffer *)buffer;
}

/* Adds the stays of edges to the batch. */
static void expand_stays(struct as_pipe_buffer *buffer, const struct as_edge_run *run)
{
    bool first = buffer->all_stays.len == 0;
    for (size_t i = 0; first && i < buffer->stays.len; i++)
        *as_vec_push(&buffer->all_stays) = buffer->stays.data[i];
    for (uint32_t i = 0; i < run->edge->n_stays; i++)
        *as_vec_push(&buffer->all_stays) = as_edge_stay_of(run, i);
    buffer->batch.stays = buffer->all_stays.data;
    buffer->batch.n_stays = buffer->all_stays.len;
}

/* Fills in the records of edges, once. */
static void expand(struct as_pipe_buffer *buffer)
{
    pthread_mutex_lock(&buffer->mutex);
    for (size_t i = 0; !buffer->expanded && i < buffer->runs.len; i++) {
        const struct as_edge_run *run = &buffer->runs.data[i];
        if (run->edge)
            as_edge_expand(run, buffer->batch.thread, 0, run->n, &buffer->pipes[run->first]);
        if (run->edge && run->edge->n_stays)
            expand_stays(buffer, run);
    }
    if (!buffer->expanded && buffer->edges.last)
        buffer->pipes[buffer->batch.n - 1].flags |= AS_PIPE_LAST;
    buffer->expanded = true;
    pthread_mutex_unlock(&buffer->mutex);
}

static void deliver(struct as_buffer *base, const struct as_observer *ops, void *self)
{
    struct as_pipe_buffer *buffer = (struct as_pipe_buffer *)base;
    if (ops->edges) {
        ops->edges(self, &buffer->edges);
    } else if (ops->batch) {
        expand(buffer);
        ops->batch(self, &buffer->batch);
    }
}

static void release(struct as_buffer *base)
{
    struct as_pipe_buffer *buffer = (struct as_pipe_buffer *)base;
    as_vec_free(&buffer->accesses);
    as_vec_free(&buffer->owners);
    as_vec_free(&buffer->stays);
    as_vec_free(&buffer->all_stays);
    as_vec_free(&buffer->runs);
    pthread_mutex_destroy(&buffer->mutex);
    free(buffer->pipes);
    free(buffer);
}

const struct as_buffer_kind as_pipe_buffers = {.make = make, .deliver = deliver, .free = release};

struct as_pipe_buffer *as_pipe_buffer_take(struct as_fanout *fanout)
{
    struct as_pipe_buffer *buffer = (struct as_pipe_buffer *)as_fanout_take(fanout);
    as_vec_clear(&buffer->accesses);
    as_vec_clear(&buffer->owners);
    as_vec_clear(&buffer->stays);
    as_vec_clear(&buffer->all_stays);
    as_vec_clear(&buffer->runs);
    buffer->cycles_before = 0;
    return buffer;
}

void as_pipe_buffer_swap_stays(struct as_pipe_buffer *buffer, struct as_stay **stays, size_t *n, size_t *room)
{
    struct as_stay *data = buffer->stays.data;
    size_t len = buffer->stays.len, cap = buffer->stays.cap;
    buffer->stays.data = *stays;
    buffer->stays.len = *n;
    buffer->stays.cap = *room;
    *stays = data;
    *n = len;
    *room = cap;
}

/* Runs of n records, one for each stretch with the same path. */
static void make_runs(struct as_pipe_buffer *buffer, size_t n)
{
    for (size_t first = 0, end; first < n; first = end) {
        end = first + 1;
        while (end < n && buffer->pipes[end].path == buffer->pipes[first].path)
            end++;
        *as_vec_push(&buffer->runs) = as_edge_run_of_records(buffer->pipes, first, end - first);
    }
}

void as_pipe_buffer_publish(struct as_fanout *fanout, struct as_pipe_buffer *buffer, uint32_t thread, size_t n,
                            bool last)
{
    assert(n <= as_fanout_batch(fanout) && n <= AS_EDGE_BATCH_MOST);
    if (n == 0) {
        as_fanout_give_back(fanout, (struct as_buffer *)buffer);
        return;
    }
    buffer->batch = (struct as_pipe_batch){.size = sizeof buffer->batch,
                                           .thread = thread,
                                           .n = n,
                                           .pipes = buffer->pipes,
                                           .number = as_fanout_published(fanout),
                                           .cycles_before = buffer->cycles_before,
                                           .n_accesses = buffer->accesses.len,
                                           .accesses = buffer->accesses.data,
                                           .owners = buffer->owners.data,
                                           .n_stays = buffer->stays.len,
                                           .stays = buffer->stays.data};
    if (buffer->runs.len == 0)
        make_runs(buffer, n);
    if (last && !buffer->runs.data[buffer->runs.len - 1].edge)
        buffer->pipes[n - 1].flags |= AS_PIPE_LAST;
    buffer->expanded = false;
    buffer->edges = (struct as_edge_batch){.thread = thread,
                                           .n = n,
                                           .n_runs = buffer->runs.len,
                                           .pipes = buffer->pipes,
                                           .runs = buffer->runs.data,
                                           .cycles_before = buffer->cycles_before,
                                           .n_stays = buffer->stays.len,
                                           .stays = buffer->stays.data,
                                           .last = last,
                                           .batch = &buffer->batch};
    as_fanout_publish(fanout, (struct as_buffer *)buffer);
}
