/* See reuse_feed.h. */
#include "reuse/reuse_feed.h"

#include "lens/modelled_lens.h"

struct as_reuse_feed {
    struct as_weave *weave;
    struct as_reuse *exact;
    struct as_modelled_lens *lens;
};

static void take_span(void *context, const struct as_weave_span *span)
{
    struct as_reuse_feed *feed = context;
    if (feed->exact)
        as_reuse_take(feed->exact, span->thread, span->process, span->accesses, span->n);
    if (feed->lens)
        as_modelled_lens_span(feed->lens, feed->weave, span);
}

static void end_thread(void *context, uint32_t thread)
{
    struct as_reuse_feed *feed = context;
    if (feed->lens)
        as_modelled_lens_end_thread(feed->lens, thread);
}

static const struct as_weave_ops weave_ops = {.span = take_span, .thread_end = end_thread};

struct as_reuse_feed *as_reuse_feed_new(struct as_reuse *exact, struct as_modelled_lens *lens)
{
    struct as_reuse_feed *feed = as_alloc(sizeof *feed);
    feed->exact = exact;
    feed->lens = lens;
    feed->weave = as_weave_new(0, &weave_ops, feed);
    return feed;
}

static void observe(void *self, const struct as_access_batch *batch)
{
    as_weave_batch(((struct as_reuse_feed *)self)->weave, batch);
}

static void finish(void *self, FILE *out)
{
    struct as_reuse_feed *feed = self;
    as_weave_finish(feed->weave);
    if (feed->exact)
        as_reuse_finish(feed->exact);
}

static void release(void *self)
{
    struct as_reuse_feed *feed = self;
    as_weave_free(feed->weave);
    free(feed);
}

const struct as_observer as_reuse_feed_observer = {
    .version = AS_OBSERVER_VERSION,
    .record_size = sizeof(struct as_pipe),
    .name = "reuse",
    .accesses = observe,
    .finish = finish,
    .free = release,
};
