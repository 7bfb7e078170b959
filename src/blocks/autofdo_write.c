/* LLVM's sample profile as text and as binary; llvm/ProfileData/SampleProfReader.h and SampleProfWriter.cpp describe
 * both. */
#include "blocks/autofdo_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

static void text_place(const struct as_autofdo *profile, int depth, uint32_t offset, uint32_t discriminator, FILE *out)
{
    fprintf(out, "%*s%" PRIu32, depth, "", offset);
    if (discriminator)
        fprintf(out, ".%" PRIu32, discriminator);
    fputs(": ", out);
}

static void text_node(const struct as_autofdo *profile, const struct as_autofdo_node *node, int depth, FILE *out)
{
    for (size_t i = 0; i < node->lines.len; i++) {
        const struct as_autofdo_line *line = &node->lines.data[i];
        text_place(profile, depth, line->offset, line->discriminator, out);
        fprintf(out, "%" PRIu64, line->count);
        for (size_t t = 0; t < line->targets.len; t++)
            fprintf(out, " %s:%" PRIu64, as_strings_get(profile->names, line->targets.data[t].name),
                    line->targets.data[t].count);
        fputc('\n', out);
    }
    for (size_t i = 0; i < node->children.len; i++) {
        const struct as_autofdo_child *child = &node->children.data[i];
        const struct as_autofdo_node *inlined = &profile->nodes.data[child->node];
        text_place(profile, depth, child->offset, child->discriminator, out);
        fprintf(out, "%s:%" PRIu64 "\n", as_strings_get(profile->names, inlined->name), inlined->total);
        text_node(profile, inlined, depth + 1, out);
    }
}

void as_autofdo_write_text(const struct as_autofdo *profile, FILE *out)
{
    for (size_t i = 0; i < profile->functions.len; i++) {
        const struct as_autofdo_node *node = &profile->nodes.data[profile->functions.data[i]];
        fprintf(out, "%s:%" PRIu64 ":%" PRIu64 "\n", as_strings_get(profile->names, node->name), node->total,
                node->head);
        text_node(profile, node, 1, out);
    }
}

/* ---- binary ---- */

static void put(FILE *out, uint64_t value)
{
    do {
        fputc((int)(value & 0x7f) | (value > 0x7f ? 0x80 : 0), out);
        value >>= 7;
    } while (value);
}

/* Like the summary of instrumented profiles: how many counts are needed for a part of the sum of all. */
struct summary {
    AS_VEC(uint64_t) counts; /* all, largest first */
    uint64_t total, most, most_head;
};

static int by_count(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void summarise(const struct as_autofdo *profile, struct summary *summary)
{
    for (size_t i = 0; i < profile->nodes.len; i++) {
        const struct as_autofdo_node *node = &profile->nodes.data[i];
        for (size_t l = 0; node->total && l < node->lines.len; l++) {
            *as_vec_push(&summary->counts) = node->lines.data[l].count;
            summary->total += node->lines.data[l].count;
        }
        if (node->head > summary->most_head)
            summary->most_head = node->head;
    }
    if (summary->counts.len) {
        qsort(summary->counts.data, summary->counts.len, sizeof(uint64_t), by_count);
        summary->most = summary->counts.data[0];
    }
}

static void put_summary(const struct as_autofdo *profile, FILE *out)
{
    static const uint32_t cutoffs[] = {10000,  100000, 200000, 300000, 400000, 500000, 600000, 700000,
                                       800000, 900000, 950000, 990000, 999000, 999900, 999990, 999999};
    struct summary summary = {0};
    summarise(profile, &summary);
    put(out, summary.total);
    put(out, summary.most);
    put(out, summary.most_head);
    put(out, summary.counts.len);
    put(out, profile->functions.len);
    put(out, sizeof cutoffs / sizeof *cutoffs);
    uint64_t sum = 0;
    size_t at = 0;
    for (size_t i = 0; i < sizeof cutoffs / sizeof *cutoffs; i++) {
        uint64_t wanted = (uint64_t)((double)summary.total * cutoffs[i] / 1e6);
        while (at < summary.counts.len && (sum < wanted || at == 0))
            sum += summary.counts.data[at++];
        put(out, cutoffs[i]);
        put(out, at ? summary.counts.data[at - 1] : 0);
        put(out, at);
    }
    as_vec_free(&summary.counts);
}

static void put_names(const struct as_autofdo *profile, FILE *out)
{
    size_t n = as_strings_count(profile->names);
    put(out, n);
    for (size_t i = 0; i < n; i++) {
        const char *name = as_strings_get(profile->names, (uint32_t)i);
        fwrite(name, 1, strlen(name) + 1, out);
    }
}

static void put_node(const struct as_autofdo *profile, const struct as_autofdo_node *node, FILE *out)
{
    put(out, node->name);
    put(out, node->total);
    put(out, node->lines.len);
    for (size_t i = 0; i < node->lines.len; i++) {
        const struct as_autofdo_line *line = &node->lines.data[i];
        put(out, line->offset);
        put(out, line->discriminator);
        put(out, line->count);
        put(out, line->targets.len);
        for (size_t t = 0; t < line->targets.len; t++) {
            put(out, line->targets.data[t].name);
            put(out, line->targets.data[t].count);
        }
    }
    put(out, node->children.len);
    for (size_t i = 0; i < node->children.len; i++) {
        put(out, node->children.data[i].offset);
        put(out, node->children.data[i].discriminator);
        put_node(profile, &profile->nodes.data[node->children.data[i].node], out);
    }
}

void as_autofdo_write_binary(const struct as_autofdo *profile, FILE *out)
{
    enum { VERSION = 103, FORMAT = 0xff };
    uint64_t magic = 0;
    for (const char *letter = "SPROF42"; *letter; letter++)
        magic = magic << 8 | (uint8_t)*letter;
    put(out, magic << 8 | FORMAT);
    put(out, VERSION);
    put_summary(profile, out);
    put_names(profile, out);
    for (size_t i = 0; i < profile->functions.len; i++) {
        const struct as_autofdo_node *node = &profile->nodes.data[profile->functions.data[i]];
        put(out, node->head);
        put_node(profile, node, out);
    }
}
