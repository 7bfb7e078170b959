/* GCC's AutoFDO profile, for -fauto-profile: gcc/auto-profile.cc reads it, gcc/gcov-io.h describes the numbers. GCC knows a
 * line by its distance from the function's first one alone, so discriminators of one line become one count, the largest.
 *
 * Words are of 32 bits, counters two of them, the lower one first. */
#include "blocks/autofdo_internal.h"

#include <string.h>

enum {
    MAGIC = 0x67636461, /* "gcda" */
    VERSION = 2,
    TAG_NAMES = 0xaa000000u,
    TAG_FUNCTIONS = 0xac000000u,
    TAG_MODULES = 0xae000000u,
    INDIRECT_CALL = 7, /* the kind of histogram; read and not used */
    LINE_SHIFT = 16,
};

static void put_word(FILE *out, uint32_t value)
{
    fwrite(&value, sizeof value, 1, out);
}

static void put_counter(FILE *out, uint64_t value)
{
    put_word(out, (uint32_t)value);
    put_word(out, (uint32_t)(value >> 32));
}

/* With its NUL, as GCC 12 and later read it: the bytes, not padded. */
static void put_string(FILE *out, const char *text)
{
    put_word(out, (uint32_t)strlen(text) + 1);
    fwrite(text, 1, strlen(text) + 1, out);
}

static void put_names(const struct as_autofdo *profile, FILE *out)
{
    size_t n = as_strings_count(profile->names);
    put_word(out, TAG_NAMES);
    put_word(out, 0); /* the length of the section: skipped */
    put_word(out, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        put_string(out, as_strings_get(profile->names, (uint32_t)i));
}

/* ---- functions ---- */

/* Lines of one offset follow each other: how many, and the largest count. */
static size_t same_line(const struct as_autofdo_node *node, size_t first, uint64_t *count, size_t *targets)
{
    size_t n = 0;
    *count = *targets = 0;
    for (; first + n < node->lines.len && node->lines.data[first + n].offset == node->lines.data[first].offset; n++) {
        const struct as_autofdo_line *line = &node->lines.data[first + n];
        *count = line->count > *count ? line->count : *count;
        *targets += line->targets.len;
    }
    return n;
}

static void put_lines(const struct as_autofdo_node *node, FILE *out)
{
    uint64_t count;
    size_t targets;
    for (size_t i = 0, n; i < node->lines.len; i += n) {
        n = same_line(node, i, &count, &targets);
        put_word(out, node->lines.data[i].offset << LINE_SHIFT);
        put_word(out, (uint32_t)targets);
        put_counter(out, count);
        for (size_t k = i; k < i + n; k++)
            for (size_t t = 0; t < node->lines.data[k].targets.len; t++) {
                put_word(out, INDIRECT_CALL);
                put_counter(out, node->lines.data[k].targets.data[t].name);
                put_counter(out, node->lines.data[k].targets.data[t].count);
            }
    }
}

static void put_node(const struct as_autofdo *profile, const struct as_autofdo_node *node, FILE *out)
{
    uint32_t lines = 0;
    uint64_t count;
    size_t targets;
    for (size_t i = 0; i < node->lines.len; i += same_line(node, i, &count, &targets))
        lines++;
    put_word(out, node->name);
    put_word(out, lines);
    put_word(out, (uint32_t)node->children.len);
    put_lines(node, out);
    for (size_t i = 0; i < node->children.len; i++) {
        put_word(out, node->children.data[i].offset << LINE_SHIFT);
        put_node(profile, &profile->nodes.data[node->children.data[i].node], out);
    }
}

void as_autofdo_write_gcov(const struct as_autofdo *profile, FILE *out)
{
    put_word(out, MAGIC);
    put_word(out, VERSION);
    put_word(out, 0);
    put_names(profile, out);
    put_word(out, TAG_FUNCTIONS);
    put_word(out, 0);
    put_word(out, (uint32_t)profile->functions.len);
    for (size_t i = 0; i < profile->functions.len; i++) {
        const struct as_autofdo_node *node = &profile->nodes.data[profile->functions.data[i]];
        put_counter(out, node->head);
        put_node(profile, node, out);
    }
    put_word(out, TAG_MODULES);
    put_word(out, 0);
    put_word(out, 0);
}
