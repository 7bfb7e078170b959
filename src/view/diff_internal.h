/* What diff.c and diff_inlined.c share. */
#ifndef AS_VIEW_DIFF_INTERNAL_H
#define AS_VIEW_DIFF_INTERNAL_H

#include "view/diff.h"

/* The key of a function's row; the caller frees. */
char *as_diff_function_key(const struct as_view *view, uint32_t module, const char *function);
struct as_diff_part *as_diff_part_of(struct as_diff *diff, struct as_diff_row *row, const char *name);

/* After the rows of both sides were added: see diff_inlined.c. */
bool as_diff_count_inlined(struct as_diff *diff, struct as_error *err) AS_MUST_CHECK;

#endif
