/* The remedy for the shadow: nops in the code of a function, so that one event retires when the shadow of the one
 * before has ended. See doc/design/trust.md.
 *
 * Text in, text out: GNU assembler syntax as compilers write it (x86-64 in AT&T syntax, RISC-V). What is not an
 * instruction of the function is left as it is, byte by byte. Or an object of x86-64 in, text out that assembles to it.
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
    const uint64_t *places; /* nops here instead: lines of the assembly, offsets in the object's function */
    size_t n_places;
};

struct as_remedy_result {
    uint64_t functions, instructions, events; /* that were seen in what was asked for */
    bool debug_dropped;                       /* the object had debug information, which the text has not */
    struct as_str *shown;                     /* gets the code before and after; NULL: not wanted */
};

/* Whether a line of assembly is such an event: what stands before a comment, without labels. */
bool as_remedy_is_event(enum as_arch arch, enum as_remedy_event event, const char *line);

/* The bytes of a file, up to 64 MiB, and a NUL behind them; the caller frees. NULL and `err`: it cannot be read. */
char *as_remedy_read(const char *path, size_t *size, struct as_error *err) AS_MUST_CHECK;

/* Adds the changed assembly to `out`, of assembly or of an object. False: the function is not in it, it cannot be changed, or
 * the bytes are neither. Of `result`, `shown` is the caller's, the rest is set. */
bool as_remedy_apply(const struct as_remedy_options *options, const char *bytes, size_t size, struct as_str *out,
                     struct as_remedy_result *result, struct as_error *err) AS_MUST_CHECK;

/* For the two kinds of files. Whether the user asked for this place; counts an instruction, and shows it. */
bool as_remedy_is_place(const struct as_remedy_options *options, uint64_t place);
void as_remedy_count(const struct as_remedy_options *options, struct as_remedy_result *result, bool event,
                     const char *place, const char *text);
bool as_remedy_no_function(const struct as_remedy_options *options, struct as_error *err);
bool as_remedy_apply_object(const struct as_remedy_options *options, const uint8_t *bytes, size_t size,
                            struct as_str *out, struct as_remedy_result *result, struct as_error *err) AS_MUST_CHECK;

#endif
