/* What the program does with signals, as far as it can be seen by its calls of sigaction: where its handlers begin, and whether it minds SIGINT.
 */
#ifndef AS_PLUGIN_SIGNAL_HANDLERS_H
#define AS_PLUGIN_SIGNAL_HANDLERS_H

#include <stdbool.h>
#include <stdint.h>

/* Actions are addresses in the program's memory; 0: there is none. */
void as_handlers_note(uint64_t action);
bool as_handlers_has(uint64_t address); /* a handler begins there, or one did */
void as_handlers_note_interrupt(uint64_t action);
void as_handlers_inherit_interrupt(void);

#endif
