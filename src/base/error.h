/* Errors travel up as a return value plus one message; only commands print them.
 *
 * Every function that can fail takes a `struct as_error *err` as its last parameter and returns false, NULL or -1
 * after filling it in. The message is one line: what is wrong and, where possible, what to do. `status` is
 * the exit status that the command should end with (AS_EXIT_*).
 */
#ifndef AS_BASE_ERROR_H
#define AS_BASE_ERROR_H

#include <stdbool.h>

#define AS_MUST_CHECK __attribute__((warn_unused_result))
#define AS_PRINTF(format_arg, first_arg) __attribute__((format(printf, format_arg, first_arg)))

enum as_exit {
    AS_EXIT_OK = 0,
    AS_EXIT_USAGE = 2,
    AS_EXIT_FAILURE = 125,    /* Assay's own failure */
    AS_EXIT_CANNOT_RUN = 126, /* the program exists but cannot be run */
    AS_EXIT_NOT_FOUND = 127,
};

struct as_error {
    int status;
    char message[1024];
};

#define AS_ERROR_INIT                                                                                                  \
    {                                                                                                                  \
        .status = AS_EXIT_FAILURE                                                                                      \
    }

/* Fills `err` and returns false, so that callers can `return as_error_set(err, …)`. Newlines and control characters in
 * the result (a hostile file name, say) are replaced by '?': a message is always one line. `err` may be NULL. */
bool as_error_set(struct as_error *err, const char *format, ...) AS_PRINTF(2, 3);
bool as_error_set_status(struct as_error *err, int status, const char *format, ...) AS_PRINTF(3, 4);

/* Replaces newlines, control characters (C0, DEL, C1) and bytes that are not UTF-8 by "?", in place. */
void as_error_clean(char *text);

#endif
