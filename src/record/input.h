/* Standard input for commands that run a program several times: every run reads the same.
 *
 * A file is read again from where it stood. What comes through a pipe is kept in memory first, to its end. A terminal
 * is left to the program.
 */
#ifndef AS_RECORD_INPUT_H
#define AS_RECORD_INPUT_H

#include "base/error.h"
#include "base/notice.h"

#include <sys/types.h>

struct as_input {
    off_t start; /* -1: cannot be read again */
};

/* Before the first of several runs, which then reads from the start. */
bool as_input_keep(struct as_input *input, const struct as_notices *notices, struct as_error *err) AS_MUST_CHECK;
/* Before each further one. */
void as_input_rewind(const struct as_input *input);

#endif
