/* See text_lines.h. */
#include "base/text_lines.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 256 };

static void make_room(struct as_lines *lines, size_t length)
{
    if (length < lines->size)
        return;
    lines->size = lines->size ? 2 * lines->size : FIRST_SIZE;
    lines->text = as_realloc_array(lines->text, lines->size, 1);
}

char *as_lines_next(struct as_lines *lines)
{
    size_t length = 0;
    int c = lines->wrong ? EOF : getc_unlocked(lines->in);
    if (c == EOF)
        return NULL;
    for (lines->number++; c != EOF && c != '\n'; c = getc_unlocked(lines->in)) {
        lines->wrong = c == '\0' ? "not text" : length == lines->most ? "this line is too long" : NULL;
        if (lines->wrong)
            return NULL;
        make_room(lines, length);
        lines->text[length++] = (char)c;
    }
    make_room(lines, length);
    lines->text[length] = '\0';
    return lines->text;
}

bool as_lines_end(struct as_lines *lines, bool ok, struct as_error *err)
{
    free(lines->text);
    lines->text = NULL;
    if (!ok)
        return false;
    if (lines->wrong)
        return as_error_set(err, "%s:%zu: %s", lines->name, lines->number, lines->wrong);
    return !ferror(lines->in) || as_error_set(err, "%s: cannot be read: %s", lines->name, strerror(errno));
}
