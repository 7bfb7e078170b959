/* Messages to stderr, each one line behind "assay: ". Levels: errors always; warnings and notes unless --quiet; debug
 * with --verbose. Thread-safe: one write a line. */
#ifndef AS_BASE_LOG_H
#define AS_BASE_LOG_H

#include <stdbool.h>

enum as_log_level { AS_LOG_ERROR, AS_LOG_WARN, AS_LOG_NOTE, AS_LOG_DEBUG };

void as_log_set_level(enum as_log_level most);
bool as_log_shows(enum as_log_level level);
void as_log(enum as_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define as_log_error(...) as_log(AS_LOG_ERROR, __VA_ARGS__)
#define as_log_warn(...) as_log(AS_LOG_WARN, __VA_ARGS__)
#define as_log_note(...) as_log(AS_LOG_NOTE, __VA_ARGS__)
#define as_log_debug(...) as_log(AS_LOG_DEBUG, __VA_ARGS__)

#endif
