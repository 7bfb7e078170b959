/* Allocation for Assay's own structures. No caller could handle running out of memory, so it ends the process at once:
 * no exit handlers, no stdio, since either may allocate or wait for a lock that is held. */
#include "base/alloc.h"

#include "base/error.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void out_of_memory(void)
{
    static const char line[] = "assay: out of memory\n";
    ssize_t ignored = write(STDERR_FILENO, line, sizeof line - 1);
    (void)ignored;
    _exit(AS_EXIT_FAILURE);
}

/* A size of 0 still gives a valid pointer: NULL would look like a failure. */
static size_t total_size(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total) || total > PTRDIFF_MAX)
        out_of_memory();
    return total ? total : 1;
}

void *as_alloc(size_t size)
{
    return as_alloc_array(1, size);
}

void *as_alloc_array(size_t count, size_t size)
{
    void *memory = calloc(1, total_size(count, size));
    if (!memory)
        out_of_memory();
    return memory;
}

void *as_alloc_apart(size_t count, size_t size)
{
    enum { LINES = 128 }; /* bytes: hosts fetch lines of 64 in pairs */
    size_t bytes = (total_size(count, size) + LINES - 1) / LINES * LINES;
    void *memory = aligned_alloc(LINES, bytes);
    if (!memory)
        out_of_memory();
    return memset(memory, 0, bytes);
}

void *as_realloc_array(void *old, size_t count, size_t size)
{
    void *memory = realloc(old, total_size(count, size));
    if (!memory)
        out_of_memory();
    return memory;
}

char *as_strdup(const char *text)
{
    return as_strndup(text, strlen(text));
}

char *as_strndup(const char *text, size_t length)
{
    size_t copied = strnlen(text, length);
    char *copy = as_alloc(copied + 1);
    memcpy(copy, text, copied);
    return copy;
}

char *as_format(const char *format, ...)
{
    struct as_str str = {0};
    va_list args;
    va_start(args, format);
    as_str_vaddf(&str, format, args);
    va_end(args);
    return as_str_take(&str);
}
