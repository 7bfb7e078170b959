/* See export_text.h. */
#include "export/export_text.h"

#include <string.h>

/* Bytes of the UTF-8 character at `text`, 0 where it is none: too long forms, surrogates and what lies above U+10FFFF
 * are none. */
static size_t character_size(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t n = 0; n < 4; n++) {
        if ((text[0] & forms[n].mask) != forms[n].lead)
            continue;
        uint32_t code = text[0] & (unsigned char)~forms[n].mask;
        for (size_t i = 1; i <= n; i++) {
            if ((text[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (text[i] & 0x3f);
        }
        return code >= forms[n].least && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? n + 1 : 0;
    }
    return 0;
}

/* C0, DEL, and C1, which terminals obey too. */
static bool is_control(const unsigned char *text, size_t size)
{
    return size == 1 ? text[0] < 0x20 || text[0] == 0x7f : size == 2 && text[0] == 0xc2 && text[1] < 0xa0;
}

void as_export_clean(struct as_str *out, const char *text, const char *forbidden, char instead, size_t most)
{
    size_t start = out->len;
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t size = character_size(at);
        if (most && out->len - start + 4 > most) {
            as_str_add(out, "…");
            return;
        }
        if (size == 0)
            as_str_add(out, "\xef\xbf\xbd");
        else if (is_control(at, size))
            as_str_add(out, "?");
        else if (size == 1 && forbidden && strchr(forbidden, *at))
            as_str_add_bytes(out, &instead, 1);
        else
            as_str_add_bytes(out, at, size);
        at += size ? size : 1;
    }
}

void as_export_csv_field(struct as_str *out, const char *text)
{
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    size_t start = out->len;
    as_str_add(out, quoted ? "\"" : "");
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t size = character_size(at);
        if (out->len - start > AS_EXPORT_NAME_MAX) {
            as_str_add(out, "…");
            break;
        }
        if (size == 0)
            as_str_add(out, "\xef\xbf\xbd");
        else if (*at == '"')
            as_str_add(out, "\"\"");
        else if (is_control(at, size) && !strchr("\t\r\n", *at))
            as_str_add(out, "?");
        else
            as_str_add_bytes(out, at, size);
        at += size ? size : 1;
    }
    as_str_add(out, quoted ? "\"" : "");
}

uint64_t as_export_round(struct as_export_rounder *rounder, uint64_t units)
{
    rounder->seen += units;
    uint64_t total = (uint64_t)((rounder->seen * rounder->parts + rounder->scale / 2) / rounder->scale);
    uint64_t value = total - rounder->told;
    rounder->told = total;
    return value;
}
