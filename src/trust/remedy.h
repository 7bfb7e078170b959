/* The remedy for the shadow: nops in the assembly of a function, so that one event retires when the shadow of the one
 * before has ended. See doc/design/trust.md.
 *
 * Text in, text out: GNU assembler syntax as compilers write it (x86-64 in AT&T syntax, RISC-V). What is not an
 * instruction of the function is left as it is, byte by byte.
 */
#ifndef AS_TRUST_REMEDY_H
#define AS_TRUST_REMEDY_H

#include "assay/insn.h"
#include "base/error.h"
#include "base/str.h"

#include <stddef.h>

enum as_remedy_event { AS_REMEDY_LOADS, AS_REMEDY_STORES, AS_REMEDY_BRANCHES, AS_REMEDY_EVENTS };
extern const char *const as_remedy_event_names[]; /* NULL behind the last */

struct as_remedy_options {
    enum as_arch arch;
    const char *function; /* its label; NULL: all */
    enum as_remedy_event event;
    uint32_t nops;
};

struct as_remedy_result {
    uint64_t functions, instructions, events; /* that were seen in what was asked for */
};

/* Whether a line of assembly is such an event: what stands before a comment, without labels. */
bool as_remedy_is_event(enum as_arch arch, enum as_remedy_event event, const char *line);

/* The text of a file, up to 64 MiB; the caller frees. NULL and `err`: it cannot be read, or is no text. */
char *as_remedy_read(const char *path, struct as_error *err) AS_MUST_CHECK;

/* Adds the changed text to `out`. False: the function is not in it. */
bool as_remedy_apply(const struct as_remedy_options *options, const char *text, struct as_str *out,
                     struct as_remedy_result *result, struct as_error *err) AS_MUST_CHECK;

#endif
