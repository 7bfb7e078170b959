/* See export_tree.h. */
#include "export/export_tree.h"

struct builder {
    struct as_export_tree *tree;
    struct as_export_frames *frames;
    bool by_name;
    struct as_map children; /* parent << 32 | frame or name, to a node */
    struct as_map leaves;   /* of the current thread: node to leaf + 1 */
    uint32_t *above;        /* by path: node of its caller */
};

static uint32_t child_of(struct builder *builder, uint32_t parent, uint32_t frame)
{
    uint32_t key = builder->by_name ? builder->frames->frames.data[frame].name_number : frame;
    uint64_t *node = as_map_put(&builder->children, (uint64_t)parent << 32 | key);
    if (*node == 0) {
        uint32_t depth = parent ? builder->tree->nodes.data[parent - 1].depth + 1 : 1;
        *as_vec_push(&builder->tree->nodes) = (struct as_export_node){parent, frame, depth};
        *node = builder->tree->nodes.len;
    }
    return (uint32_t)*node;
}

static uint32_t below(struct builder *builder, uint32_t parent, uint32_t location)
{
    const struct as_export_location at = builder->frames->locations.data[location];
    for (uint32_t i = at.n; i-- > 0;)
        parent = child_of(builder, parent, builder->frames->lines.data[at.first + i].frame);
    return parent;
}

/* Parents come before their children, so one pass is enough. */
static void place_paths(struct builder *builder)
{
    size_t n;
    const struct as_store_path *paths = as_store_paths(builder->frames->view->store, &n);
    for (uint32_t i = 0; i < n; i++)
        if (paths[i].parent != AS_STORE_NONE)
            builder->above[i] =
                below(builder, builder->above[paths[i].parent], as_export_location_of_call(builder->frames, i));
}

static void add_leaf(struct builder *builder, const struct as_export_cell *cell, uint32_t node)
{
    uint64_t *known = as_map_put(&builder->leaves, node);
    if (*known == 0) {
        *as_vec_push(&builder->tree->leaves) = (struct as_export_leaf){.thread = cell->thread, .node = node};
        *known = builder->tree->leaves.len;
    }
    struct as_export_leaf *leaf = &builder->tree->leaves.data[*known - 1];
    leaf->units += cell->units;
    leaf->samples += cell->samples;
}

void as_export_tree_build(struct as_export_tree *tree, struct as_export_frames *frames, bool by_name)
{
    const struct as_export_view *view = frames->view;
    size_t n;
    as_store_paths(view->store, &n);
    struct builder builder = {
        .tree = tree, .frames = frames, .by_name = by_name, .above = as_alloc_array(n + 1, sizeof(uint32_t))};
    *tree = (struct as_export_tree){0};
    place_paths(&builder);
    for (size_t i = 0; i < view->cells.len; i++) {
        const struct as_export_cell *cell = &view->cells.data[i];
        if (!by_name && i > 0 && cell->thread != view->cells.data[i - 1].thread)
            as_map_free(&builder.leaves);
        uint32_t above = cell->path == AS_STORE_NONE ? 0 : builder.above[cell->path];
        add_leaf(&builder, cell, below(&builder, above, as_export_location_at(frames, cell->instruction)));
    }
    as_map_free(&builder.children);
    as_map_free(&builder.leaves);
    free(builder.above);
}

void as_export_tree_free(struct as_export_tree *tree)
{
    as_vec_free(&tree->nodes);
    as_vec_free(&tree->leaves);
}

size_t as_export_tree_stack(const struct as_export_tree *tree, uint32_t node, uint32_t *frames, size_t most)
{
    size_t n = 0;
    for (; node && n < most; node = tree->nodes.data[node - 1].parent)
        frames[n++] = tree->nodes.data[node - 1].frame;
    return n;
}
