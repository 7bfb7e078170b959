/* See export_text.h. */
#include "export/export_text.h"

#include "base/utf8.h"

#include <string.h>

void as_export_clean(struct as_str *out, const char *text, const char *forbidden, char instead, size_t most)
{
    size_t start = out->len;
    for (const char *at = text; *at;) {
        size_t size = as_utf8_length(at);
        if (most && out->len - start + 4 > most) {
            as_str_add(out, "…");
            return;
        }
        if (size == 0)
            as_str_add(out, AS_UTF8_REPLACEMENT);
        else if (as_utf8_is_control(at, size))
            as_str_add(out, "?");
        else if (size == 1 && forbidden && strchr(forbidden, *at))
            as_str_add_bytes(out, &instead, 1);
        else
            as_str_add_bytes(out, at, size);
        at += size ? size : 1;
    }
}

uint64_t as_export_round(struct as_export_rounder *rounder, uint64_t units)
{
    rounder->seen += units;
    uint64_t total = (uint64_t)((rounder->seen * rounder->parts + rounder->scale / 2) / rounder->scale);
    uint64_t value = total - rounder->told;
    rounder->told = total;
    return value;
}
