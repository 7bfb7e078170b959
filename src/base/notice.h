/* Notices: what a library wants a person to know beside its result, such as samples that were lost.
 *
 * Libraries below the commands never print. They send a notice to their caller, as one line of text with the
 * level of base/log.h; a command prints it (as_notices_to_log), a test collects it.
 */
#ifndef AS_BASE_NOTICE_H
#define AS_BASE_NOTICE_H

#include "base/log.h"

struct as_notices {
    void (*say)(void *context, enum as_log_level level, const char *text);
    void *context;
};

/* `to` may be NULL, and so may its function: the notice is dropped. */
void as_notice(const struct as_notices *to, enum as_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

extern const struct as_notices as_notices_to_log;

#endif
