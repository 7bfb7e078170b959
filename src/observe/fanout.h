/* From one producer to many observers: batches, each seen by every observer, in the order in which they were published,
 * on the observer's own thread.
 *
 * The producer takes an empty buffer, fills it, and publishes it. It may hold several at a time (one for each guest
 * thread, say). At most `in_flight` buffers are published and not yet done with by all; one more waits for the slowest
 * observer. A buffer is reused when the last observer is done with it.
 *
 * What a buffer holds is its kind's business: observe/pipe_buffer.h has the records of the core model,
 * model/access_buffer.h accesses alone. A producer works with those headers; this one is for everybody else.
 *
 * Calls: new, add…, start, (take, publish)…, finish, report, free. All on one thread, the producer's.
 */
#ifndef AS_OBSERVE_FANOUT_H
#define AS_OBSERVE_FANOUT_H

#include "assay/observer.h"
#include "base/error.h"

struct as_buffer; /* a kind's own struct, seen from here */
struct as_buffer_kind {
    struct as_buffer *(*make)(size_t records); /* room for a batch of so many */
    void (*deliver)(struct as_buffer *buffer, const struct as_observer *ops, void *self); /* on any thread */
    void (*free)(struct as_buffer *buffer);
};
extern const struct as_buffer_kind as_pipe_buffers;

struct as_fanout_options {
    const struct as_buffer_kind *kind; /* NULL: as_pipe_buffers */
    bool inline_;                      /* no threads: publish calls the observers itself */
    size_t batch;                      /* records */
    size_t in_flight;
};
#define AS_FANOUT_DEFAULTS                                                                                             \
    {                                                                                                                  \
        .inline_ = false, .batch = 4096, .in_flight = 32                                                               \
    }

struct as_fanout;
struct as_fanout *as_fanout_new(const struct as_fanout_options *options);

/* `ops` and `self` stay the caller's until as_fanout_free, which calls ops->free. A foreign observer is called under a
 * guard: when it crashes it is left out. */
void as_fanout_add(struct as_fanout *fanout, const struct as_observer *ops, void *self, bool foreign);
/* One observer as n workers that take every n-th batch. as_fanout_finish merges them into the first and frees the
 * others, so only selves[0] is of interest afterwards. */
void as_fanout_add_workers(struct as_fanout *fanout, const struct as_observer *ops, void *const *selves, size_t n,
                           bool foreign);
/* How many workers to create for an observer on a machine with so many processors: the producer and the program take
 * two. At least 1. */
size_t as_fanout_count_workers(const struct as_observer *ops, size_t processors);
uint32_t as_fanout_wants(const struct as_fanout *fanout); /* AS_WANT_*: what any of them asks for */
bool as_fanout_start(struct as_fanout *fanout, struct as_error *err) AS_MUST_CHECK;

/* An empty buffer for `options.batch` records; what is in it is undefined. */
struct as_buffer *as_fanout_take(struct as_fanout *fanout);
void as_fanout_publish(struct as_fanout *fanout, struct as_buffer *buffer);
void as_fanout_give_back(struct as_fanout *fanout, struct as_buffer *buffer); /* unused */
size_t as_fanout_batch(const struct as_fanout *fanout);                       /* options.batch */
uint64_t as_fanout_published(const struct as_fanout *fanout); /* how many so far: the next one's number */

/* Waits until every observer has seen all that was published, and lets them forget the edges (assay/edge.h). */
void as_fanout_forget(struct as_fanout *fanout);
/* Waits until every observer has seen everything, ends their threads, and merges workers. */
void as_fanout_finish(struct as_fanout *fanout);
/* After that: calls the observers' finish, in the order in which they were added. Returns how many have crashed in all.
 * Which ones: as_fanout_crashed, by the order of adding. */
size_t as_fanout_report(struct as_fanout *fanout, FILE *out);
bool as_fanout_crashed(const struct as_fanout *fanout, size_t index);
/* Finishes first if need be. Returns how many observers have crashed in all, in their free too. */
size_t as_fanout_free(struct as_fanout *fanout);

#endif
