/* Block counts for compilers that optimise by sample profiles (AutoFDO): executions by source line.
 *
 * A line is known by its distance from the function's first one and by its discriminator, and what was inlined by the
 * line of the call, so the profile outlives changes elsewhere in the file. The count of a line is the largest of its
 * instructions'. Where the compiler says that it made copies of them, unrolling or vectorising a loop, the copies count together. Lines that never ran in functions that did have
 * a count of nothing, which tells the compiler more than silence.
 *
 * Formats: LLVM's sample profile as text, and as the binary that `llvm-profdata merge --sample --binary` writes; GCC's.
 */
#ifndef AS_BLOCKS_AUTOFDO_H
#define AS_BLOCKS_AUTOFDO_H

#include "blocks/flow.h"

#include <stdio.h>

/* Whether a module has debug information. */
bool as_autofdo_check(struct as_cfg *cfg, uint32_t module, struct as_error *err) AS_MUST_CHECK;

struct as_autofdo;
/* Of one module. NULL: it has no debug information, or nothing of it ran. */
struct as_autofdo *as_autofdo_new(const struct as_flow *flow, uint32_t module, struct as_error *err) AS_MUST_CHECK;
void as_autofdo_free(struct as_autofdo *profile);
size_t as_autofdo_count_functions(const struct as_autofdo *profile);
bool as_autofdo_has_discriminators(const struct as_autofdo *profile);

void as_autofdo_write_text(const struct as_autofdo *profile, FILE *out);
void as_autofdo_write_binary(const struct as_autofdo *profile, FILE *out);
void as_autofdo_write_gcov(const struct as_autofdo *profile, FILE *out); /* GCC 12 and later */

#endif
