/* See term.h. */
#include "report/term.h"

#include "base/error.h"

#include <string.h>

/* Length of the valid UTF-8 character at `text`, 0 where there is none. */
static size_t character(const unsigned char *text)
{
    if (text[0] < 0x80)
        return text[0] != 0;
    size_t n = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (text[0] < 0xc2 || text[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool outside = (text[0] == 0xed && text[1] > 0x9f) || (text[0] == 0xf4 && text[1] > 0x8f);
    return overlong || outside ? 0 : n;
}

/* C0, DEL, C1, line and paragraph separators, and what turns the direction of writing. */
static bool is_control(const unsigned char *text, size_t n)
{
    if (n == 1)
        return text[0] < 0x20 || text[0] == 0x7f;
    if (n == 2)
        return text[0] == 0xc2 && text[1] < 0xa0;
    if (n == 3 && text[0] == 0xe2 && text[1] == 0x80)
        return text[2] >= 0xa8 && text[2] <= 0xae;
    return n == 3 && text[0] == 0xe2 && text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9;
}

const char *as_show(const char *text)
{
    static char shown[8][AS_SHOW_MAX];
    static unsigned next;
    char *to = shown[next++ % 8];
    size_t at = 0;
    if (!text)
        return "?";
    for (const unsigned char *from = (const unsigned char *)text; *from;) {
        size_t n = character(from);
        if (at + 8 > AS_SHOW_MAX) {
            memcpy(to + at, "...", 4);
            return to;
        }
        if (n == 0 || is_control(from, n)) {
            to[at++] = '?';
            from += n ? n : 1;
            continue;
        }
        memcpy(to + at, from, n);
        at += n;
        from += n;
    }
    to[at] = '\0';
    return to;
}

size_t as_show_columns(const char *text)
{
    size_t columns = 0;
    for (; *text; text++)
        columns += (*text & 0xc0) != 0x80;
    return columns;
}

void as_show_in(FILE *out, const struct as_term *term, const char *text, unsigned columns, bool pad)
{
    const char *shown = as_show(text);
    size_t all = as_show_columns(shown), cut = term->utf8 ? 1 : 2, keep = all <= columns ? all : 0;
    if (all > columns && columns > cut)
        keep = columns - cut;
    for (size_t done = 0; *shown; shown++) {
        if ((*shown & 0xc0) != 0x80 && done++ == keep)
            break;
        if (term->utf8 || (unsigned char)*shown < 0x80)
            fputc(*shown, out);
        else if ((*shown & 0xc0) != 0x80) /* the first byte of a character that cannot be shown */
            fputc('?', out);
    }
    if (all > columns && columns > cut)
        fputs(term->utf8 ? "…" : "..", out);
    for (size_t done = all > columns ? columns : all; pad && done < columns; done++)
        fputc(' ', out);
}

/* The next piece of a text: up to the end of a word, or of a clause (behind a comma, semicolon or colon). */
static size_t piece_columns(const char *text, bool clause, size_t *bytes)
{
    size_t columns = 0;
    for (*bytes = 0; text[*bytes]; ++*bytes) {
        if (text[*bytes] == ' ' && (!clause || (*bytes && strchr(",;:", text[*bytes - 1]))))
            break;
        columns += (text[*bytes] & 0xc0) != 0x80;
    }
    return columns;
}

void as_show_wrapped(FILE *out, const struct as_term *term, const char *text, unsigned column, unsigned indent)
{
    for (bool first = true; *text; first = false) {
        size_t bytes, columns = piece_columns(text, true, &bytes), gap = first ? 0 : 1;
        if (indent + columns > term->width)
            columns = piece_columns(text, false, &bytes);
        if (!first && column + gap + columns > term->width) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            gap = 0;
        }
        fprintf(out, "%s%.*s", gap ? " " : "", (int)bytes, text);
        column += (unsigned)(gap + columns);
        text += bytes + (text[bytes] == ' ');
    }
}

/* ---- bars ---- */

char as_term_letter(size_t key)
{
    return key == 0 ? '.' : key < AS_TERM_KEYS ? (char)('A' + key - 1) : '?';
}

void as_term_ground(FILE *out, const struct as_term *term, size_t key)
{
    static const int colours[AS_TERM_KEYS] = {47, 41, 44, 43, 45, 42, 46, 101, 104, 103, 105, 102};
    if (term->colour)
        fprintf(out, "\033[%d;30m", key < AS_TERM_KEYS ? colours[key] : 100);
}

void as_term_key(FILE *out, const struct as_term *term, size_t key, size_t times)
{
    if (times == 0)
        return;
    as_term_ground(out, term, key);
    for (size_t i = 0; i < times; i++)
        fputc(as_term_letter(key), out);
    as_term_plain(out, term);
}

void as_term_bold(FILE *out, const struct as_term *term, bool on)
{
    if (term->colour)
        fputs(on ? "\033[1m" : "\033[22m", out);
}

void as_term_dim(FILE *out, const struct as_term *term, bool on)
{
    if (term->colour)
        fputs(on ? "\033[2m" : "\033[22m", out);
}

void as_term_heat(FILE *out, const struct as_term *term, double share)
{
    if (term->colour && share >= 0.005)
        fputs(share >= 0.1 ? "\033[1;31m" : share >= 0.02 ? "\033[33m" : "\033[32m", out);
}

void as_term_plain(FILE *out, const struct as_term *term)
{
    if (term->colour)
        fputs("\033[0m", out);
}
