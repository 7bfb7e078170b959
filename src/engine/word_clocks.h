/* When the words of memory were last written, and by whom: so that a thread that saw a value is put behind the thread that
 * wrote it.
 *
 * Words of 8 bytes. Those that threads look at and write are kept for good; of all others only the last thousands, because
 * a word can turn out to be one of those only after it was written. Both the order of calls and the clocks are the caller's: it
 * calls in an order in which what was seen comes behind what was written.
 */
#ifndef AS_ENGINE_WORD_CLOCKS_H
#define AS_ENGINE_WORD_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct as_word_clocks;

struct as_word_writer {
    uint32_t thread;
    bool was_awaited; /* what as_word_clocks_write returned for this store */
    uint64_t clock;
};

struct as_word_clocks *as_word_clocks_new(void);
void as_word_clocks_free(struct as_word_clocks *clocks);
/* A thread has written the word, at this clock at the latest. Returns whether another thread has seen it before. */
bool as_word_clocks_write(struct as_word_clocks *clocks, uint64_t word, uint32_t thread, uint64_t clock);
/* A thread sees the word. Returns whether another thread wrote it last, as far as that is known. */
bool as_word_clocks_see(struct as_word_clocks *clocks, uint64_t word, uint32_t thread, struct as_word_writer *writer);

#endif
