/* The words of a line of `perf script`, by their form. For perf_script.c and its parts alone. */
#ifndef AS_PERFDATA_PERF_SCRIPT_WORDS_H
#define AS_PERFDATA_PERF_SCRIPT_WORDS_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct word {
    const char *start;
    size_t length;
};

static inline struct word next_word(const char **at)
{
    while (**at == ' ' || **at == '\t')
        (*at)++;
    struct word word = {.start = *at};
    while (**at != '\0' && **at != ' ' && **at != '\t')
        (*at)++;
    word.length = (size_t)(*at - word.start);
    return word;
}

static inline bool all_of(struct word word, const char *set)
{
    return word.length > 0 && strspn(word.start, set) >= word.length;
}

static inline bool is_number(struct word word)
{
    return all_of(word, "0123456789") && word.length < 20;
}

static inline bool is_hex(struct word word)
{
    return all_of(word, "0123456789abcdef") && word.length <= 16;
}

/* "123" or "123/456". */
static inline bool is_ids(struct word word, uint32_t *pid, uint32_t *tid)
{
    if (!all_of(word, "0123456789/") || !isdigit((unsigned char)word.start[0]) || word.length > 21)
        return false;
    char *end;
    *pid = (uint32_t)strtoul(word.start, &end, 10);
    *tid = *pid;
    if (*end == '/')
        *tid = (uint32_t)strtoul(end + 1, &end, 10);
    return end == word.start + word.length;
}

static inline bool is_cpu(struct word word, uint32_t *cpu)
{
    if (word.length < 3 || word.start[0] != '[' || word.start[word.length - 1] != ']' ||
        !is_number((struct word){word.start + 1, word.length - 2}))
        return false;
    *cpu = (uint32_t)strtoul(word.start + 1, NULL, 10);
    return true;
}

/* "123.456789:" → nanoseconds. */
static inline bool is_time(struct word word, uint64_t *time)
{
    const char *dot = memchr(word.start, '.', word.length);
    if (dot == NULL || word.start[word.length - 1] != ':')
        return false;
    struct word whole = {word.start, (size_t)(dot - word.start)};
    struct word part = {dot + 1, word.length - whole.length - 2};
    if (!is_number(whole) || !is_number(part) || part.length > 9 || whole.length > 10)
        return false;
    uint64_t fraction = strtoull(part.start, NULL, 10);
    for (size_t i = part.length; i < 9; i++)
        fraction *= 10;
    *time = strtoull(whole.start, NULL, 10) * UINT64_C(1000000000) + fraction;
    return true;
}

#endif
