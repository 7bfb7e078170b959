/* Names for people: C++ (Itanium ABI) and Rust (both schemes) symbol names turned back into source form. */
#ifndef AS_SYMBOL_DEMANGLE_H
#define AS_SYMBOL_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

enum { AS_NAME_MAX = 4096 }; /* the longest name that is shown, with its zero */

/* Writes the source form of `raw` into `out` (always terminated), cut with "…" where it is longer than `size`. False
 * where `raw` is not a mangled name; `out` then holds `raw` itself. Control characters become '?', versions
 * ("name@@VERS") go, "@plt" stays. Bounded in time and memory whatever `raw` is. */
bool as_demangle(const char *raw, char *out, size_t size);

#endif
