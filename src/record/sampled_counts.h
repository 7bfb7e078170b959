/* Counts what each thread executes in a sampled run, measured or not: a short thread is in few regions or in none.
 *
 * The first thread's counts are those of the program without those of all others, so a program with one thread costs nothing.
 * The threads that executed most keep counts of their own when they end (thread_limit.h); the others share AS_NO_THREAD's. */
#ifndef AS_RECORD_SAMPLED_COUNTS_H
#define AS_RECORD_SAMPLED_COUNTS_H

#include "engine/engine.h"
#include "observe/thread_limit.h"

struct as_thread_count {
    uint32_t id;
    uint64_t executions; /* further iterations of a rep instruction are none … */
    uint64_t again;      /* … but counted here */
};

struct as_thread_counts {
    uint32_t number;
    uint64_t executed;                   /* since the thread started, or executed another program */
    AS_VEC(uint64_t) runs;               /* whole executions of blocks, by their index, until it ends */
    struct as_map cut, again;            /* by id, until it ends: single instructions, and iterations */
    AS_VEC(struct as_thread_count) list; /* once it has ended; by id */
};

struct as_sampled_counts {
    AS_VEC(struct as_thread_counts *) threads; /* by number, NULL: none */
    struct as_thread_limit limit;
    struct as_thread_counts others; /* AS_NO_THREAD */
};

/* The thread executed instructions [first, end) of a block so many times; and a rep instruction went on with another iteration. */
void as_sampled_counts_add(struct as_sampled_counts *counts, uint32_t thread, const struct as_block *block,
                           uint32_t first, uint32_t end, uint64_t times);
void as_sampled_counts_again(struct as_sampled_counts *counts, uint32_t thread, uint32_t id);
/* The thread has ended, or executes another program. */
void as_sampled_counts_end(struct as_sampled_counts *counts, const struct as_engine *engine, uint32_t thread);
/* After the run: completes all lists. */
void as_sampled_counts_finish(struct as_sampled_counts *counts, const struct as_engine *engine);
void as_sampled_counts_free(struct as_sampled_counts *counts);

#endif
