/* Codes that are instructions on call paths (code_sites.h), added up by instruction: what a person reads. */
#ifndef AS_REUSE_REUSE_FOLD_H
#define AS_REUSE_REUSE_FOLD_H

#include "reuse/code_sites.h"
#include "reuse/reuse_view.h"

/* Behind the end of a view. Its codes and pairs are those of instructions from here on, each with the path that it has
 * most of its misses, or far reuses, on. */
void as_reuse_fold(struct as_reuse_view *view, const struct as_code_sites *sites);

#endif
