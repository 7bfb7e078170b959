/* See reuse_feed.h. */
#include "reuse/reuse_feed.h"

#include "lens/modelled_lens.h"

struct as_reuse_feed {
    struct as_weave *weave;
    struct as_reuse *exact;
    struct as_modelled_lens *machine;
    struct as_lens lens;
    struct as_reuse_watch *watch;
};

static void take_span(void *context, const struct as_weave_span *span)
{
    struct as_reuse_feed *feed = context;
    if (feed->exact)
        as_reuse_take(feed->exact, span->thread, span->process, span->accesses, span->n);
    if (!feed->watch)
        return;
    as_reuse_watch_before(feed->watch, span->thread, span->accesses, span->n, as_lens_time(&feed->lens));
    as_modelled_lens_span(feed->machine, feed->weave, span);
}

static void end_thread(void *context, uint32_t thread)
{
    struct as_reuse_feed *feed = context;
    if (feed->machine)
        as_modelled_lens_end_thread(feed->machine, thread);
}

static const struct as_weave_ops weave_ops = {.span = take_span, .thread_end = end_thread};

static void make_machine(struct as_reuse_feed *feed, const struct as_reuse_feed_options *options)
{
    struct as_modelled_options machine = AS_MODELLED_OPTIONS_DEFAULT;
    machine.load_period = machine.store_period = options->period;
    machine.registers = options->registers;
    machine.disturb = options->disturb;
    machine.seed = options->watch_options.seed;
    feed->machine = as_modelled_lens_new(&machine);
    feed->lens = as_modelled_lens_open(feed->machine);
    feed->watch = as_reuse_watch_new(&options->watch_options, &feed->lens);
    as_modelled_lens_set_client(feed->machine, &as_reuse_watch_client, feed->watch);
}

struct as_reuse_feed *as_reuse_feed_new(const struct as_reuse_feed_options *options)
{
    struct as_reuse_feed *feed = as_alloc(sizeof *feed);
    feed->exact = options->exact;
    feed->weave = as_weave_new(0, &weave_ops, feed);
    if (options->watch)
        make_machine(feed, options);
    return feed;
}

void as_reuse_feed_free(struct as_reuse_feed *feed)
{
    if (!feed)
        return;
    as_weave_free(feed->weave);
    as_reuse_watch_free(feed->watch);
    as_modelled_lens_free(feed->machine);
    free(feed);
}

const struct as_reuse_watch *as_reuse_feed_watch(const struct as_reuse_feed *feed)
{
    return feed->watch;
}

uint64_t as_reuse_feed_accesses(const struct as_reuse_feed *feed)
{
    return feed->watch ? as_lens_time(&feed->lens) : 0;
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
    if (feed->watch)
        as_reuse_watch_finish(feed->watch);
}

const struct as_observer as_reuse_feed_observer = {
    .version = AS_OBSERVER_VERSION,
    .record_size = sizeof(struct as_pipe),
    .name = "reuse",
    .accesses = observe,
    .finish = finish,
};
