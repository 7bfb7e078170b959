/* See term.h. */
#include "report/term.h"

#include <string.h>

size_t as_show_columns(const char *text)
{
    size_t columns = 0;
    for (; *text; text++)
        columns += (*text & 0xc0) != 0x80;
    return columns;
}

void as_show_in(FILE *out, const struct as_term *term, const char *text, unsigned columns, bool pad)
{
    const char *shown = AS_SHOW(text);
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

/* The next piece of a text: up to the end of a word, or of a clause (after a comma, semicolon or colon). */
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
    const char *by_words = text; /* up to here by words: a clause that is too long for a line */
    for (bool first = true; *text; first = false) {
        size_t bytes, columns = piece_columns(text, true, &bytes), gap = first ? 0 : 1;
        if (indent + columns > term->width && text >= by_words)
            by_words = text + bytes;
        if (text < by_words)
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
