/* The threads of a batch of accesses, interleaved finely.
 *
 * The access stream delivers a few hundred accesses of one thread, then of another. That is too coarse for questions about
 * who had a line before whom: two threads that write one word in turns would seem to hand it over a hundred times less
 * often. The weave knows from the batches' clocks when each turn began and ended, spreads its accesses evenly over that
 * time, and gives them out in quanta: all accesses of one thread within `quantum` instructions, then those of the next.
 *
 * A thread whose clock is more than AS_WEAVE_WINDOW behind the latest is not waited for (the engine keeps running threads
 * closer together): its accesses come out when they are there. Of a thread that makes more than four accesses for each
 * instruction of that window, as a repeated string instruction does, the first come out before their time: memory is bounded.
 *
 * Not thread-safe. Calls: new, (batch…), finish, free.
 */
#ifndef AS_LENS_WEAVE_H
#define AS_LENS_WEAVE_H

#include "assay/observer.h"

enum { AS_WEAVE_WINDOW = 65536, AS_WEAVE_QUANTUM = 4 };

/* Accesses that one thread made one after the other. */
struct as_weave_span {
    uint32_t thread, process, image;
    size_t n;
    const struct as_data_access *accesses;
    uint64_t clock; /* of the first access, in instructions, without delays */
    uint64_t step;  /* from one access to the next, in 1/65536 instructions */
};

/* `part` becomes what lies between `at` and the next access of the kind `border`, where `at` is then. Returns false if nothing is left. */
bool as_weave_next_part(const struct as_weave_span *span, uint8_t border, size_t *at, struct as_weave_span *part);

struct as_weave_ops {
    void (*span)(void *context, const struct as_weave_span *span);
    void (*thread_end)(void *context, uint32_t thread); /* behind its last span; may be NULL */
};

struct as_weave;
struct as_weave *as_weave_new(uint32_t quantum, const struct as_weave_ops *ops, void *context); /* 0: the default */
void as_weave_batch(struct as_weave *weave, const struct as_access_batch *batch);
/* From within `span`: the thread stood still for so many instructions, so what it does from the next quantum on is late. */
void as_weave_delay(struct as_weave *weave, uint32_t thread, uint64_t instructions);
/* Accesses so far that came when later ones of other threads had been given out: they are not where they belong. */
uint64_t as_weave_late(const struct as_weave *weave);
void as_weave_finish(struct as_weave *weave); /* gives out what is left */
void as_weave_free(struct as_weave *weave);

#endif
