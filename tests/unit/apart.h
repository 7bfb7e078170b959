/* Functions that a test finds in samples or in a symbol table must be there: never inlined, cloned or merged with what
 * calls them. GCC has an attribute for all of that; for clang it is enough not to inline. */
#ifndef AS_TESTS_APART_H
#define AS_TESTS_APART_H

#if __has_attribute(noipa)
#define UNIT_APART __attribute__((noipa))
#else
#define UNIT_APART __attribute__((noinline))
#endif

/* The same without a frame pointer where the rest of the file has them; clang cannot say that of one function. */
#if __has_attribute(optimize)
#define UNIT_NO_FRAME __attribute__((noipa, optimize("omit-frame-pointer")))
#else
#define UNIT_NO_FRAME __attribute__((noinline))
#endif

#endif
