/* See show.h. */
#include "base/show.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Control characters, line and paragraph separators, and characters that change the writing direction. */
static bool is_harmful(const char *text, size_t n)
{
    const unsigned char *at = (const unsigned char *)text;
    if (n == 3 && at[0] == 0xe2 && at[1] == 0x80)
        return at[2] >= 0xa8 && at[2] <= 0xae;
    if (n == 3 && at[0] == 0xe2 && at[1] == 0x81)
        return at[2] >= 0xa6 && at[2] <= 0xa9;
    return as_utf8_is_control(text, n);
}

const char *as_show(const char *text, char shown[AS_SHOW_MAX])
{
    size_t at = 0;
    if (!text)
        return "?";
    for (const char *from = text; *from;) {
        size_t n = as_utf8_length(from);
        if (at + 8 > AS_SHOW_MAX) {
            memcpy(shown + at, "...", 4);
            return shown;
        }
        if (n == 0 || is_harmful(from, n)) {
            shown[at++] = '?';
            from += n ? n : 1;
            continue;
        }
        memcpy(shown + at, from, n);
        at += n;
        from += n;
    }
    shown[at] = '\0';
    return shown;
}

const char *as_count(uint64_t number, char text[AS_COUNT_MAX])
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, number), to = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            text[to++] = ',';
        text[to++] = digits[i];
    }
    text[to] = '\0';
    return text;
}
