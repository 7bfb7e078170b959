/* Exact counts of what was executed, from block executions.
 *
 * A block's counts are fixed by its instructions. So for each thread and block, we count only how often it ran, how
 * often its last branch was taken and how often it continued a rep instruction; the sums are made when a thread ends.
 * Blocks whose accesses vary, and executions of a part of a block, are counted access by access.
 */
#ifndef AS_COUNT_COUNTS_H
#define AS_COUNT_COUNTS_H

#include "base/vec.h"
#include "engine/engine.h"

struct as_counts {
    uint64_t instructions, loads, stores, load_accesses, store_accesses;
    uint64_t branches, conditional, taken, calls, returns, syscalls;
    uint64_t classes[AS_CLASS_COUNT];
};

void as_counts_add(struct as_counts *to, const struct as_counts *from);
void as_counts_subtract(struct as_counts *from, const struct as_counts *what);

struct as_thread_counts {
    uint32_t number, process;
    int32_t pid, tid;
    struct as_counts counts;
};

struct as_counter;
/* `recorded`: the engine records every access, not only those that vary. */
struct as_counter *as_counter_new(bool recorded);
void as_counter_free(struct as_counter *counter);
extern const struct as_sink as_counter_sink; /* its context is the counter */

/* After the run: threads by number. */
size_t as_counter_count_threads(const struct as_counter *counter);
const struct as_thread_counts *as_counter_thread(const struct as_counter *counter, size_t index);
struct as_counts as_counter_total(const struct as_counter *counter);

/* What was counted in a region, by its place in the list. */
struct as_counts as_counter_region(const struct as_counter *counter, uint32_t region);

/* Where indirect calls went: image << 48 | address, each once, in no order. */
const uint64_t *as_counter_indirect_targets(const struct as_counter *counter, size_t *n);

/* After the run: how often each instruction of a block was executed, summed over the threads. */
uint64_t as_counter_executions(const struct as_counter *counter, const struct as_block *block, uint32_t index);
/* … and how often control left the fall-through path at its end. */
uint64_t as_counter_taken(const struct as_counter *counter, const struct as_block *block);

#endif
