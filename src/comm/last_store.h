/* Communication from samples of last stores: a way beside Algorithm 1 that has no bias where threads access a line several times in a row.
 *
 * Each transfer of a line to a thread has one store before it that is the last of another thread. So the stores that are followed by an
 * access of another thread, before any other store to the line, are as many as the transfers, and a sample of such a store stands for its
 * period: how long the runs are does not matter. Behind a sampled store all threads of the process watch words of its line, its own thread for
 * stores. A thread that touches them has the line and counts once; a store ends it, whoever makes it. It is true sharing if the thread touches
 * bytes that the store's thread was sampled to store to: with the access that counts, or, where not all words in use may be
 * watched, with any before that end.
 *
 * What is not exact about it:
 *   words     a thread has fewer registers than a line has words. Those that were seen in use are watched, the store's own first; where there
 *             are more than registers, the one behind it, where code that fills a line goes on, and others at random. A run can go on unseen.
 *   one       store is followed at a time. One that is sampled meanwhile is not, and the next one of its thread stands for it, too; what is
 *             left over when the thread ends is lost.
 *   life      a store that nothing ends for `life` samples of stores, of all threads, is given up.
 */
#ifndef AS_COMM_LAST_STORE_H
#define AS_COMM_LAST_STORE_H

#include "lens/lens.h"

struct as_last_store;
struct as_last_store *as_last_store_new(const struct as_lens *lens, uint32_t registers, uint32_t life, uint64_t seed);
void as_last_store_free(struct as_last_store *last);

/* A communication that was found. */
struct as_last_found {
    struct as_lens_access from, to;
    uint64_t count; /* accesses for which it stands */
    bool is_false;
};

/* As those of a lens's client. as_last_store_sample returns whether the store is followed. */
void as_last_store_start(struct as_last_store *last, uint32_t thread, uint32_t process);
void as_last_store_end(struct as_last_store *last, uint32_t thread);
bool as_last_store_sample(struct as_last_store *last, const struct as_lens_sample *sample);
void as_last_store_trap(struct as_last_store *last, const struct as_lens_trap *trap);
/* No more calls come. */
void as_last_store_finish(struct as_last_store *last);
/* Takes one of what was found by any of these; false: there is no more. */
bool as_last_store_next(struct as_last_store *last, struct as_last_found *found);

#endif
