/* A flame graph for terminals: one line per level, callers above their callees. See report_kinds.h.
 *
 * A frame shows the sign of the component with most of its time (including its callees), as bars do. On a terminal with
 * colours, the sign's colour fills the frame and a gap ends it; otherwise brackets enclose it. If a series has no
 * components, colours only separate neighbours.
 */
#include "base/alloc.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "report/report_kinds.h"
#include "report/report_text.h"
#include "view/tree.h"

#include <stdlib.h>
#include <string.h>

enum { FLAME_DEPTH = 48, NO_KEY = -1 };

struct frame {
    uint32_t node;
    double start, width; /* columns */
};

static void free_flame(void *state)
{
    as_tree_free(state);
    free(state);
}

static void *make_flame(const struct as_report_request *request, struct as_error *err)
{
    struct as_tree *tree = as_alloc(sizeof *tree);
    if (as_tree_make(tree, request->view, err) && as_tree_errors_make(tree, err))
        return tree;
    free_flame(tree);
    return NULL;
}

/* The key of the component with the most time; NO_KEY if the series has no components. */
static int key_of(const struct as_tree *tree, const struct as_tree_node *node)
{
    struct as_store_row row;
    if (!as_tree_has_parts(tree))
        return NO_KEY;
    as_tree_row_total(tree, node, &row);
    int key = row.n_parts ? (int)as_legend_key(&tree->legend, row.parts[0].key) : NO_KEY;
    as_tree_row_free(&row);
    return key;
}

static void put_coloured(FILE *out, const struct as_term *term, const char *text, int key, unsigned width)
{
    as_term_ground(out, term, key >= 0 ? (size_t)key : 1 + as_hash_bytes(text, strlen(text)) % (AS_LEGEND_KEYS - 1));
    as_show_in(out, term, text, width > 1 ? width - 1 : 1, true);
    as_term_plain(out, term);
    if (width > 1)
        fputc(' ', out);
}

static void put_plain(FILE *out, const struct as_term *term, const char *text, int key, unsigned width)
{
    if (width == 1) {
        fputc(key >= 0 ? as_term_letter((size_t)key) : '|', out);
        return;
    }
    fputc(width == 2 && key >= 0 ? as_term_letter((size_t)key) : '[', out);
    if (width > 2)
        as_show_in(out, term, text, width - 2, true);
    fputc(']', out);
}

static void put_frame(FILE *out, const struct as_term *term, const char *name, int key, unsigned width)
{
    char text[AS_SHOW_MAX + 64];
    if (key >= 0 && width > 5)
        snprintf(text, sizeof text, "%c %s", as_term_letter((size_t)key), name);
    else if (key >= 0)
        snprintf(text, sizeof text, "%c", as_term_letter((size_t)key));
    else
        snprintf(text, sizeof text, "%s", name);
    (term->colour ? put_coloured : put_plain)(out, term, text, key, width);
}

static void put_level(const struct as_tree *tree, FILE *out, const struct as_term *term, const struct frame *frames,
                      size_t n)
{
    char name[AS_TREE_NAME_MAX];
    unsigned column = 0;
    for (size_t i = 0; i < n; i++) {
        const struct as_tree_node *node = &tree->nodes[frames[i].node];
        unsigned start = (unsigned)(frames[i].start + 0.5), end = (unsigned)(frames[i].start + frames[i].width + 0.5);
        if (end <= start || end <= column)
            continue;
        start = start < column ? column : start;
        for (; column < start; column++)
            fputc(' ', out);
        put_frame(out, term, as_tree_name(tree, node, name), key_of(tree, node), end - start);
        column = end;
    }
    fputc('\n', out);
}

typedef AS_VEC(struct frame) frames;

/* Finds the frames below a level: the callees of its frames. */
static void find_below(const struct as_tree *tree, const frames *level, double width, frames *below)
{
    as_vec_clear(below);
    for (size_t i = 0; i < level->len; i++) {
        const struct as_tree_node *node = &tree->nodes[level->data[i].node];
        double at = level->data[i].start;
        for (uint32_t child = node->first; child < node->first + node->n; child++) {
            double part = width * as_ratio(tree->nodes[child].total, tree->total);
            if (part >= 0.5)
                *as_vec_push(below) = (struct frame){.node = child, .start = at, .width = part};
            at += part;
        }
    }
}

/* Frames have no room for error bars: the largest of those that are drawn, which are at least half a column wide. */
static void put_widths(const struct as_tree *tree, FILE *out, const struct as_term *term)
{
    double most = 0, least = term->width > 1 ? 0.5 / (term->width - 1) : 1;
    for (size_t i = 0; i < tree->n && tree->total_errors; i++)
        if (as_ratio(tree->nodes[i].total, tree->total) >= least)
            most = tree->total_errors[i] > most ? tree->total_errors[i] : most;
    if (!tree->total_errors)
        return;
    char *text = as_format(
        "SAMPLED: the widths are estimates; the error bars of these frames are +- %.2f points of the time at most, "
        "--calls shows each",
        100 * most);
    as_show_wrapped(out, term, text, 0, 2);
    fputs("\n\n", out);
    free(text);
}

static void put_text(const void *state, FILE *out, const struct as_term *term)
{
    const struct as_tree *tree = state;
    frames level = {0}, below = {0};
    double width = term->width > 1 ? term->width - 1 : 1, at = 0;
    as_head_text(tree->view, out, term);
    put_widths(tree, out, term);
    for (uint32_t i = 0; i < tree->n_roots; i++) {
        double part = width * as_ratio(tree->nodes[i].total, tree->total);
        *as_vec_push(&level) = (struct frame){.node = i, .start = at, .width = part};
        at += part;
    }
    for (int depth = 0; depth < FLAME_DEPTH && level.len; depth++) {
        put_level(tree, out, term, level.data, level.len);
        find_below(tree, &level, width, &below);
        frames shown = level;
        level = below;
        below = shown;
    }
    if (as_tree_has_parts(tree)) {
        fputc('\n', out);
        as_legend_text(&tree->legend, tree->view, out, term);
    }
    as_vec_free(&level);
    as_vec_free(&below);
}

const struct as_report_kind as_report_flame = {.option = "--flame",
                                               .name = "call paths",
                                               .filters = {.threads = true, .time = true},
                                               /* Rows have no levels. */
                                               .levels = AS_REPORT_LEVEL(AS_REPORT_BY_FUNCTION),
                                               .make = make_flame,
                                               .free = free_flame,
                                               .text = put_text,
                                               .values = "--calls"};
