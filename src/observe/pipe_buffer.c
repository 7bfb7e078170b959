/* See pipe_buffer.h. */
#include "observe/pipe_buffer.h"

#include "base/log.h"

#include <assert.h>

static struct as_buffer *make(size_t records)
{
    struct as_pipe_buffer *buffer = as_alloc(sizeof *buffer);
    buffer->pipes = aligned_alloc(sizeof(struct as_pipe), records * sizeof(struct as_pipe));
    if (!buffer->pipes) {
        as_log_error("out of memory");
        exit(AS_EXIT_FAILURE);
    }
    return (struct as_buffer *)buffer;
}

static void deliver(const struct as_buffer *buffer, const struct as_observer *ops, void *self)
{
    const struct as_pipe_batch *batch = &((const struct as_pipe_buffer *)buffer)->batch;
    if (ops->batch)
        ops->batch(self, batch);
}

static void release(struct as_buffer *base)
{
    struct as_pipe_buffer *buffer = (struct as_pipe_buffer *)base;
    as_vec_free(&buffer->accesses);
    as_vec_free(&buffer->owners);
    as_vec_free(&buffer->stays);
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
    return buffer;
}

void as_pipe_buffer_add_stays(struct as_pipe_buffer *buffer, const struct as_stay *stays, size_t n)
{
    if (n == 0)
        return;
    as_vec_reserve((void **)&buffer->stays.data, &buffer->stays.cap, buffer->stays.len + n, sizeof *stays);
    memcpy(buffer->stays.data + buffer->stays.len, stays, n * sizeof *stays);
    buffer->stays.len += n;
}

void as_pipe_buffer_publish(struct as_fanout *fanout, struct as_pipe_buffer *buffer, uint32_t thread, size_t n)
{
    assert(n <= as_fanout_batch(fanout));
    if (n == 0) {
        as_fanout_give_back(fanout, (struct as_buffer *)buffer);
        return;
    }
    buffer->batch = (struct as_pipe_batch){.size = sizeof buffer->batch,
                                           .thread = thread,
                                           .n = n,
                                           .pipes = buffer->pipes,
                                           .number = as_fanout_published(fanout),
                                           .n_accesses = buffer->accesses.len,
                                           .accesses = buffer->accesses.data,
                                           .owners = buffer->owners.data,
                                           .n_stays = buffer->stays.len,
                                           .stays = buffer->stays.data};
    as_fanout_publish(fanout, (struct as_buffer *)buffer);
}
