/* The part of a thread's records that a sampler can see: the current batch and the end of the ones before it.
 *
 * Records have positions, counted from 0 at the thread's start. Fetch, dispatch and commit cycles never decrease with
 * the position, so the record that answers a question about a cycle is found by binary search, and samplers cost
 * nothing for records between samples.
 */
#ifndef AS_SAMPLER_WINDOW_H
#define AS_SAMPLER_WINDOW_H

#include "assay/observer.h"
#include "observe/attribution.h"

/* Enough for a commit group that a batch's end cut, its predecessor, and what TIP reads of the ROB. */
enum { AS_WINDOW_TAIL = 2 * AS_GROUP_MAX };

struct as_window {
    struct as_pipe tail[AS_WINDOW_TAIL]; /* copies of the records before the batch, the last `n_tail` ones used */
    size_t n_tail;
    const struct as_pipe *pipes; /* the batch; valid during one call */
    uint64_t base, end;          /* positions of its first record and behind its last */
    bool ended;                  /* nothing follows */
};

void as_window_open(struct as_window *window, const struct as_pipe_batch *batch);
/* A batch of n records that no sampler asks about, in place of open and close. Before the next one is opened, as_window_keep
 * gives those that came before it: the last of them, AS_WINDOW_TAIL or as many as there were. */
void as_window_pass(struct as_window *window, size_t n);
void as_window_keep(struct as_window *window, const struct as_pipe *pipes, size_t n);
/* Keeps the end of the batch. */
void as_window_close(struct as_window *window);

static inline uint64_t as_window_start(const struct as_window *window)
{
    return window->base - window->n_tail;
}

/* Positions from start to end - 1. */
static inline const struct as_pipe *as_window_at(const struct as_window *window, uint64_t position)
{
    return position >= window->base ? &window->pipes[position - window->base]
                                    : &window->tail[AS_WINDOW_TAIL - (window->base - position)];
}

enum as_stage { AS_STAGE_FETCH, AS_STAGE_DISPATCH, AS_STAGE_COMMIT };

/* The first position from `from` on whose record reaches the stage in a cycle after `cycle`; `end` if none does. */
uint64_t as_window_after(const struct as_window *window, enum as_stage stage, uint64_t from, uint64_t cycle);

/* Collects the instructions of the commit group that starts at `position`; further iterations of a rep instruction are
 * the same one. False: the window ends before it is known that the group does. */
bool as_window_group(const struct as_window *window, uint64_t position, struct as_attribution *group);

#endif
