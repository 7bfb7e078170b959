/* From one producer to many observers: batches of records, each seen by every observer, in the order in which they were
 * published, on the observer's own thread.
 *
 * The producer takes an empty buffer, fills it with records of one guest thread, and publishes it. It may hold several
 * at a time (one for each guest thread, say). At most `in_flight` batches are published and not yet done with by all;
 * one more waits for the slowest observer. A buffer is reused when the last observer is done with it.
 *
 * Calls: new, add…, start, (take, publish)…, finish, report, free. All on one thread, the producer's.
 */
#ifndef AS_OBSERVE_FANOUT_H
#define AS_OBSERVE_FANOUT_H

#include "assay/observer.h"
#include "base/error.h"

struct as_fanout_options {
    bool inline_; /* no threads: publish calls the observers itself */
    size_t batch; /* records */
    size_t in_flight;
};
#define AS_FANOUT_DEFAULTS                                                                                             \
    {                                                                                                                  \
        .inline_ = false, .batch = 4096, .in_flight = 16                                                               \
    }

struct as_fanout;
struct as_fanout *as_fanout_new(const struct as_fanout_options *options);

/* `ops` and `self` stay the caller's until as_fanout_free, which calls ops->free. A foreign observer is called under a
 * guard: when it crashes it is left out. */
void as_fanout_add(struct as_fanout *fanout, const struct as_observer *ops, void *self, bool foreign);
bool as_fanout_start(struct as_fanout *fanout, struct as_error *err) AS_MUST_CHECK;

/* A buffer for `options.batch` records; what is in it is undefined. */
struct as_pipe *as_fanout_take(struct as_fanout *fanout);
/* Gives the buffer away with its first n records; 0: unused. */
void as_fanout_publish(struct as_fanout *fanout, struct as_pipe *pipes, uint32_t thread, size_t n);

/* Waits until every observer has seen everything, and ends their threads. */
void as_fanout_finish(struct as_fanout *fanout);
/* After that: calls the observers' finish, in the order in which they were added. Returns how many have crashed in all.
 * Names of the crashed ones: as_fanout_crashed. */
size_t as_fanout_report(struct as_fanout *fanout, FILE *out);
bool as_fanout_crashed(const struct as_fanout *fanout, size_t index);
/* Finishes first if need be. Returns how many observers have crashed in all, in their free too. */
size_t as_fanout_free(struct as_fanout *fanout);

#endif
