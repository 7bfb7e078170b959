/* The lines of a text file that may come from anyone: a NUL, or a line without an end, stops the reading before it
 * takes more memory than a line may have. */
#ifndef AS_BASE_TEXT_LINES_H
#define AS_BASE_TEXT_LINES_H

#include "base/error.h"

#include <stdio.h>

struct as_lines {
    FILE *in;
    const char *name; /* for messages: the path */
    size_t most;      /* bytes of a line */
    size_t number;    /* of the line that was read last, from 1 */
    char *text;       /* of that line */
    size_t size;
    const char *wrong; /* what is wrong with it; NULL: nothing */
};

/* The next line without its newline, valid until the next call. NULL: there is none, or none that can be read. */
char *as_lines_next(struct as_lines *lines);
/* Ends the reading. `ok`: what was read was right; then a line that could not be read makes it false, with a message. */
bool as_lines_end(struct as_lines *lines, bool ok, struct as_error *err) AS_MUST_CHECK;

#endif
