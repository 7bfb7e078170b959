/* A thread that waits for another one by looking: it loads the same words again and again, and does nothing else.
 *
 * A look whose value let the thread go on looking could have come earlier or later, wherever the store is that it waits for. Only
 * the last look is known to have seen that store.
 */
#ifndef AS_MODEL_SPIN_LOOK_H
#define AS_MODEL_SPIN_LOOK_H

#include "engine/engine.h"

enum { AS_SPIN_WORDS = 8 };

/* The last look of a thread; all zero: none. */
struct as_spin_look {
    const struct as_block *block;
    uint64_t words[AS_SPIN_WORDS];
    size_t n_words;
};

/* Whether an execution is the same look once more: a block that decides (engine/decisions.h), the same words, no store. */
bool as_spin_look_is(const struct as_spin_look *look, const struct as_block_exec *exec);
/* Call this for each other execution of the thread that accesses memory: it may be a first look. */
void as_spin_look_note(struct as_spin_look *look, const struct as_block_exec *exec);
/* The execution that the look was. */
struct as_block_exec as_spin_look_exec(const struct as_spin_look *look);

#endif
