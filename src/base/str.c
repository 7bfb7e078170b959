/* A growable string. Invariant: data is NULL with cap 0, or holds len bytes and a NUL within cap. */
#include "base/str.h"

#include "base/alloc.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A string whose size overflows cannot exist in memory: lengths are below PTRDIFF_MAX each, so the sum needs no check
 * beyond the allocator's. */
static void make_room(struct as_str *str, size_t more)
{
    as_vec_reserve((void **)&str->data, &str->cap, str->len + more + 1, 1);
}

void as_str_add(struct as_str *str, const char *text)
{
    as_str_add_bytes(str, text, strlen(text));
}

void as_str_add_word(struct as_str *str, bool when, const char *word)
{
    if (!when)
        return;
    if (str->len > 0)
        as_str_add(str, ", ");
    as_str_add(str, word);
}

void as_str_add_bytes(struct as_str *str, const void *bytes, size_t length)
{
    make_room(str, length);
    if (length > 0)
        memcpy(str->data + str->len, bytes, length);
    str->len += length;
    str->data[str->len] = '\0';
}

void as_str_addf(struct as_str *str, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    as_str_vaddf(str, format, args);
    va_end(args);
}

/* vsnprintf fails only for results above INT_MAX and for wide characters, which are not used here: a programming
 * error. */
void as_str_vaddf(struct as_str *str, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        abort();
    make_room(str, (size_t)length);
    vsnprintf(str->data + str->len, (size_t)length + 1, format, args);
    str->len += (size_t)length;
}

const char *as_str_get(const struct as_str *str)
{
    return str->data ? str->data : "";
}

char *as_str_take(struct as_str *str)
{
    char *taken = str->data ? str->data : as_strdup("");
    *str = (struct as_str){0};
    return taken;
}

void as_str_clear(struct as_str *str)
{
    str->len = 0;
    if (str->data)
        str->data[0] = '\0';
}

void as_str_free(struct as_str *str)
{
    free(str->data);
    *str = (struct as_str){0};
}
