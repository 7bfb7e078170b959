/* Standard input for commands that run a program several times: every run reads the same input.
 *
 * A file is read again from its position at the start. Input from a pipe is first read to its end into memory. A
 * terminal is left to the program.
 */
#ifndef AS_RECORD_INPUT_H
#define AS_RECORD_INPUT_H

#include "base/error.h"
#include "base/notice.h"

#include <sys/types.h>

struct as_input {
    off_t start; /* -1: cannot be read again */
};

/* Call this before the first of several runs, which then reads from the start. */
bool as_input_keep(struct as_input *input, const struct as_notices *notices, struct as_error *err) AS_MUST_CHECK;
/* Call this before each further run. */
void as_input_rewind(const struct as_input *input);
/* The same in a process that runs the program while others do: it gets a position of its own. */
void as_input_reopen(const struct as_input *input);

#endif
