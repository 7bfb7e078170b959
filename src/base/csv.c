/* See csv.h. */
#include "base/csv.h"

#include "base/utf8.h"

#include <string.h>

static void add_character(struct as_str *out, const char *text, size_t length)
{
    if (length == 0)
        as_str_add(out, AS_UTF8_REPLACEMENT);
    else if (*text == '"')
        as_str_add(out, "\"\"");
    else if (as_utf8_is_control(text, length) && !strchr("\t\r\n", *text))
        as_str_add(out, "?");
    else
        as_str_add_bytes(out, text, length);
}

void as_csv_add_text(struct as_str *out, const char *text, size_t most)
{
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    size_t start = out->len;
    as_str_add(out, quoted ? "\"" : "");
    if (*text && strchr("=+-@\t\r\n", *text))
        as_str_add(out, "'");
    while (*text) {
        size_t length = as_utf8_length(text);
        if (most && out->len - start > most) {
            as_str_add(out, "…");
            break;
        }
        add_character(out, text, length);
        text += length ? length : 1;
    }
    as_str_add(out, quoted ? "\"" : "");
}
