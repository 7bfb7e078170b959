/* The core's state at the start of a block, in words: all that decides the times of what follows, but for the answers
 * that it gets (core_script.h). Two cores with the same words have the same future, as far as they get the same answers.
 *
 * Times count from the last dispatch; what can hold up nobody any more is left out. doc/design/memo.md goes through it
 * word by word.
 */
#ifndef AS_CORE_CORE_STATE_H
#define AS_CORE_CORE_STATE_H

#include "core/memo.h"

/* Flags of the last record that decide what the time behind it is called. */
enum { AS_STATE_FLAGS = AS_PIPE_MISPREDICTED | AS_PIPE_FLUSHES };

enum { AS_STATE_WORDS = 4096 }; /* of a state that is remembered, at most */

/* Writes the state before `body`; returns how many words. 0: it does not fit. */
uint32_t as_state_take(struct as_core *core, const struct as_body *body, uint16_t *words);
/* Makes the core one with this state. Numbers of stores are the caller's to set before; `horizon` is the last commit
 * that the core's calendars know of. */
void as_state_put(struct as_core *core, const struct as_body *body, const uint16_t *words, uint64_t horizon);

#endif
