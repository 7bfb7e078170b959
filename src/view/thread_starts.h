/* The functions that threads began with, from their call paths: the outermost ones that are not the C library's. */
#ifndef AS_VIEW_THREAD_STARTS_H
#define AS_VIEW_THREAD_STARTS_H

#include "view/view.h"

/* By thread: its start function; NULL if it has a name of its own, is its process's first, or its paths do not reach its
 * start. The caller frees the array; the names are the store's. NULL and `err`: the profile cannot be read. */
const char **as_thread_starts(const struct as_view *view, struct as_error *err) AS_MUST_CHECK;

#endif
