/* A growable string. data is always NUL-terminated once anything was added; as_str_get() never returns NULL. */
#ifndef AS_BASE_STR_H
#define AS_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct as_str {
    char *data;
    size_t len, cap;
};

void as_str_add(struct as_str *str, const char *text);
void as_str_add_bytes(struct as_str *str, const void *bytes, size_t length);
void as_str_addf(struct as_str *str, const char *format, ...) __attribute__((format(printf, 2, 3)));
void as_str_add_word(struct as_str *str, bool when, const char *word); /* of a list: "a, b" */
void as_str_vaddf(struct as_str *str, const char *format, va_list args);
const char *as_str_get(const struct as_str *str);
char *as_str_take(struct as_str *str); /* the caller frees; the string is empty again */
void as_str_clear(struct as_str *str);
void as_str_free(struct as_str *str);

#endif
