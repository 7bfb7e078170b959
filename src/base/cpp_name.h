/* Names of functions as people type them: without parameters, template arguments, namespaces and classes. */
#ifndef AS_BASE_CPP_NAME_H
#define AS_BASE_CPP_NAME_H

#include <stdbool.h>

/* Whether `name` is what a demangled name ends with, apart from parameters and template arguments: "sort" and "ns::sort"
 * are "void ns::sort<int*>(int*, int*)", "run" is "(anonymous namespace)::Pool::run(int) const". */
bool as_cpp_name_is(const char *full, const char *name);

#endif
