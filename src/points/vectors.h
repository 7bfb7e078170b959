/* Basic-block vectors: how often each block of code was executed in each interval of a run.
 *
 * An interval is a number of instructions of the program, the last one perhaps shorter. Its vector has, for each block
 * that it executed, the instructions that it executed there (executions times length), so the entries of an interval
 * add up to its instructions. Blocks have the numbers 1, 2 … in no particular order, the same in every run.
 *
 * The text format is that of SimPoint's frequency vectors (.bb): a line "T:block:count :block:count …" for each
 * interval; other lines are comments.
 */
#ifndef AS_POINTS_VECTORS_H
#define AS_POINTS_VECTORS_H

#include "base/error.h"
#include "base/vec.h"

#include <stdint.h>
#include <stdio.h>

struct as_vector_entry {
    uint32_t block; /* from 1 */
    uint32_t count; /* instructions */
};

/* One interval: entries[first..end) of its set, ascending by block, each block once. */
struct as_vector {
    size_t first, end;
    uint64_t instructions; /* the sum of the entries */
};

struct as_vectors {
    AS_VEC(struct as_vector_entry) entries;
    AS_VEC(struct as_vector) list; /* in the order of the run */
    uint32_t blocks;               /* the highest number */
};

void as_vectors_free(struct as_vectors *vectors);

/* Adds an entry to the interval that is being made. Entries of 0 are left out. */
void as_vectors_add(struct as_vectors *vectors, uint32_t block, uint64_t count);
/* Ends the interval: sorts it and joins entries of one block. An empty one is not added. */
void as_vectors_end(struct as_vectors *vectors);

/* The instructions of all intervals. */
uint64_t as_vectors_instructions(const struct as_vectors *vectors);

/* How many blocks they have; numbers need not be without gaps. */
uint32_t as_vectors_blocks(const struct as_vectors *vectors);

/* The vectors as text. False: writing failed (errno). */
bool as_vectors_write(const struct as_vectors *vectors, FILE *out) AS_MUST_CHECK;
/* Reads a text. `name`: of the file, for messages. */
bool as_vectors_read(struct as_vectors *vectors, FILE *in, const char *name, struct as_error *err) AS_MUST_CHECK;

#endif
