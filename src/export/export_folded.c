/* Folded stacks: one line `outermost;…;innermost COUNT` per stack, for FlameGraph's scripts and compatible tools. The
 * count is the stack's own time, in whole units of the series; the lines add up to its total. */
#include "export/export_internal.h"
#include "export/export_text.h"
#include "export/export_tree.h"

#include <inttypes.h>

static void write_stack(FILE *out, const struct as_export_tree *tree, const struct as_export_frames *frames,
                        const struct as_export_leaf *leaf, uint64_t count)
{
    uint32_t stack[AS_EXPORT_DEPTH];
    struct as_str line = {0};
    size_t n = as_export_tree_stack(tree, leaf->node, stack, AS_EXPORT_DEPTH);
    if (tree->nodes.data[leaf->node - 1].depth > n)
        as_str_add(&line, "[cut];");
    while (n-- > 0) {
        as_export_clean(&line, frames->frames.data[stack[n]].name, ";", ':', AS_EXPORT_NAME_MAX);
        as_str_add(&line, n ? ";" : "");
    }
    fprintf(out, "%s %" PRIu64 "\n", as_str_get(&line), count);
    as_str_free(&line);
}

static bool write_folded(struct as_store *store, const struct as_export_options *options, FILE *out,
                         struct as_error *err)
{
    struct as_export_view view;
    struct as_export_frames frames;
    struct as_export_tree tree;
    if (!as_export_view_open(&view, store, options, err))
        return false;
    struct as_export_rounder rounder = {.scale = view.series->scale, .parts = 1};
    as_export_frames_open(&frames, &view);
    as_export_tree_build(&tree, &frames, true);
    for (size_t i = 0; i < tree.leaves.len && !ferror(out); i++) {
        uint64_t count = as_export_round(&rounder, tree.leaves.data[i].units);
        if (count)
            write_stack(out, &tree, &frames, &tree.leaves.data[i], count);
    }
    as_export_tree_free(&tree);
    as_export_frames_free(&frames);
    as_export_view_free(&view);
    return true;
}

const struct as_export_format as_export_folded = {
    .name = "folded", .description = "one line per stack, for flame graphs", .write = write_folded};
