/* What happened in each stretch of so many cycles: counts, and how many entries of the core's parts were in use.
 *
 * An instruction counts in the interval in which it commits, a stay in all that it reaches into. Nothing depends on the
 * order of the batches, so several of these can share the batches of a run, and be merged.
 */
#ifndef AS_OBSERVE_INTERVALS_H
#define AS_OBSERVE_INTERVALS_H

#include "assay/edge.h"
#include "assay/observer.h"
#include "base/vec.h"
#include "observe/events.h"

/* Counts of instructions, then those that met each event (as_events, by bit). */
enum as_interval_count {
    AS_INTERVAL_INSTRUCTIONS,
    AS_INTERVAL_UOPS,
    AS_INTERVAL_TAKEN,
    AS_INTERVAL_MISPREDICTED,
    AS_INTERVAL_FLUSHES, /* as the counter: behind instructions that flush, and before a second try */
    AS_INTERVAL_EXCEPTIONS,
    AS_INTERVAL_EVENTS,
    AS_INTERVAL_COUNTS = AS_INTERVAL_EVENTS + AS_EVENT_COUNT
};
const char *as_interval_name(unsigned count);            /* "instructions" …; of events "ST-L1" … */
const char *as_resource_name(enum as_resource resource); /* "rob", "queue_int" … */

struct as_interval {
    uint32_t counts[AS_INTERVAL_COUNTS];
    uint64_t occupied[AS_RESOURCE_COUNT]; /* entries times cycles */
};

/* Of one thread. A program that it executes after its first goes on behind the last cycle of that. */
struct as_interval_thread {
    uint32_t thread;
    uint64_t cycles;                 /* the last commit */
    AS_VEC(struct as_interval) rows; /* the first begins with cycle 1 */
};

/* One of the numbers that an edge adds: a count or an occupancy. Most are 0, and left out. */
struct as_interval_part {
    uint32_t which;
    uint32_t value;
};

/* What an edge adds to the interval that it lies in as a whole, by its number. */
struct as_interval_edge {
    const struct as_edge *edge;    /* NULL: not worked out yet */
    int64_t quick;                 /* `first`, or INT64_MIN: not worked out, or of many cycles */
    int32_t first;                 /* the cycles that it reaches into, from the run's base: the first … */
    uint32_t span;                 /* … and how many come behind it */
    uint32_t times;                /* runs in the interval at hand that are not added yet */
    uint32_t parts;                /* the first of them: … */
    uint16_t n_counts, n_occupied; /* … so many counts, and behind them so many occupancies */
};

struct as_intervals {
    uint64_t length; /* cycles of an interval */
    uint32_t unused; /* counts that nobody asks for, as bits: they may lack what runs along edges add */
    size_t most;     /* rows a thread may have: neighbours become one then, and the length doubles; 0: any number */
    AS_VEC(struct as_interval_thread) threads; /* by number; those without rows have none */
    AS_VEC(struct as_interval_edge) edges;     /* by number */
    AS_VEC(struct as_interval_part) parts;     /* of the edges */
    AS_VEC(uint32_t) waiting;                  /* edges with `times` … */
    uint32_t waits_thread;                     /* … in this thread's interval … */
    size_t waits_row;                          /* … of this number */
};

enum { AS_INTERVAL_LONGEST = 1 << 26 }; /* `length` where rows do not become one: counts have 32 bits */

void as_intervals_add(struct as_intervals *intervals, const struct as_pipe_batch *batch);
/* The same for blocks whose times are known: one sum for each, but for those on a border. */
void as_intervals_add_edges(struct as_intervals *intervals, const struct as_edge_batch *batch);
void as_intervals_forget(struct as_intervals *intervals); /* as as_observer.forget */
/* Rows are complete from here on until more is added. */
void as_intervals_settle(struct as_intervals *intervals);
/* The rows of a thread up to its last commit; what comes behind it (a prefetch under way) is left out. */
size_t as_intervals_count_rows(const struct as_intervals *intervals, const struct as_interval_thread *thread);
/* The cycles of one of these rows: the last ends with the thread. */
uint64_t as_intervals_cycles(const struct as_intervals *intervals, const struct as_interval_thread *thread, size_t row);
/* Both began with the same length. `from` is left as it is, or with longer intervals. */
void as_intervals_merge(struct as_intervals *to, struct as_intervals *from);
void as_intervals_free(struct as_intervals *intervals);

/* The functions of an as_observer whose state begins with its intervals. */
void as_intervals_observe(void *state, const struct as_pipe_batch *batch);
void as_intervals_observe_edges(void *state, const struct as_edge_batch *batch);
void as_intervals_observe_forget(void *state);
void as_intervals_observe_merge(void *state, void *other);

#endif
