/* Names of functions as people type them: without parameters, template arguments, namespaces and classes. */
#ifndef AS_BASE_CPP_NAME_H
#define AS_BASE_CPP_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `name` is what a demangled name ends with, apart from parameters and template arguments: "sort" and "ns::sort"
 * are "void ns::sort<int*>(int*, int*)", "run" is "(anonymous namespace)::Pool::run(int) const". */
bool as_cpp_name_is(const char *full, const char *name);

/* The length of a name without what a compiler adds for a copy or a part of a function: "f.constprop.0", "f.part.1.isra.0",
 * "f.cold" and "f(int) [clone .cold]" are all of "f". */
size_t as_clone_length(const char *name);

/* Writes a name without parameters and template arguments into `base`, which has room for AS_CPP_NAME_MAX characters.
 * False: it is too long. */
enum { AS_CPP_NAME_MAX = 512 };
bool as_cpp_name_shorten(const char *full, char *base);

#endif
