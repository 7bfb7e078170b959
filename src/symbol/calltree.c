/* The calling-context tree: an array of nodes, and a hash table over all properties of a node that finds a
 * child in constant time. Nodes are never removed. */
#include "symbol/calltree.h"

#include "base/vec.h"

struct node {
    struct as_call_node shown;
    uint32_t depth;
    uint32_t likely; /* the child that was looked for last; 0: none */
    uint32_t beside; /* the node that took its place last; 0: none */
};

struct as_call_tree {
    AS_VEC(struct node) nodes;
    uint32_t *slots; /* 0: free (the root is never a child); open addressing */
    size_t n_slots;  /* a power of two, more than twice the nodes */
    uint64_t folded;
    as_function_of *function_of;
    void *context;
};

struct as_call_tree *as_call_tree_new(void)
{
    struct as_call_tree *tree = as_alloc(sizeof *tree);
    tree->n_slots = 1024;
    tree->slots = as_alloc_array(tree->n_slots, sizeof *tree->slots);
    *as_vec_push(&tree->nodes) = (struct node){0};
    return tree;
}

void as_call_tree_free(struct as_call_tree *tree)
{
    if (tree == NULL)
        return;
    as_vec_free(&tree->nodes);
    free(tree->slots);
    free(tree);
}

size_t as_call_tree_count(const struct as_call_tree *tree)
{
    return tree->nodes.len;
}

uint64_t as_call_tree_folded(const struct as_call_tree *tree)
{
    return tree->folded;
}

const struct as_call_node *as_call_tree_node(const struct as_call_tree *tree, uint32_t node)
{
    return &tree->nodes.data[node].shown;
}

void as_call_tree_set_resolver(struct as_call_tree *tree, as_function_of *function_of, void *context)
{
    tree->function_of = function_of;
    tree->context = context;
}

uint64_t as_call_tree_function_of(const struct as_call_tree *tree, uint64_t address)
{
    return tree->function_of != NULL ? tree->function_of(tree->context, address) : address;
}

static size_t hash(const struct as_call_node *key)
{
    uint64_t h = key->function * 0x9e3779b97f4a7c15 ^ key->call_site * 0xc2b2ae3d27d4eb4f;
    h ^= ((uint64_t)key->parent << 1 | key->signal) * 0x165667b19e3779f9;
    h ^= ((uint64_t)key->entry << 32 | key->site) * 0x27d4eb2f165667c5;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9;
    return (size_t)(h ^ h >> 32);
}

/* Each field is read as it was written: with && compilers read neighbours as one word, for which the host has to wait where they
 * have just been written one by one. */
static bool equal(const struct as_call_node *a, const struct as_call_node *b)
{
    return a->parent == b->parent && a->function == b->function && a->call_site == b->call_site &&
           ((uint32_t)(a->signal ^ b->signal) | (a->entry ^ b->entry) | (a->site ^ b->site)) == 0;
}

/* The slot that holds the key, or the free one where it belongs. */
static uint32_t *find_slot(const struct as_call_tree *tree, const struct as_call_node *key)
{
    size_t at = hash(key) & (tree->n_slots - 1);
    while (tree->slots[at] != 0 && !equal(&tree->nodes.data[tree->slots[at]].shown, key))
        at = (at + 1) & (tree->n_slots - 1);
    return &tree->slots[at];
}

static void grow(struct as_call_tree *tree)
{
    free(tree->slots);
    tree->n_slots *= 2;
    tree->slots = as_alloc_array(tree->n_slots, sizeof *tree->slots);
    for (size_t i = 1; i < tree->nodes.len; i++)
        *find_slot(tree, &tree->nodes.data[i].shown) = (uint32_t)i;
}

static uint32_t find_or_make(struct as_call_tree *tree, const struct as_call_node *node)
{
    uint32_t *slot = find_slot(tree, node), depth = tree->nodes.data[node->parent].depth + 1;
    if (*slot != 0)
        return *slot;
    if (depth > AS_CALLPATH_MAX_DEPTH || tree->nodes.len >= AS_CALL_TREE_MAX_NODES) {
        tree->folded++;
        return node->parent;
    }
    uint32_t id = *slot = (uint32_t)tree->nodes.len;
    *as_vec_push(&tree->nodes) = (struct node){.shown = *node, .depth = depth};
    if (2 * tree->nodes.len > tree->n_slots)
        grow(tree);
    return id;
}

static inline bool is_at(const struct as_call_tree *tree, uint32_t id, const struct as_call_node *node)
{
    return id && equal(&tree->nodes.data[id].shown, node);
}

uint32_t as_call_tree_child(struct as_call_tree *tree, const struct as_call_node *node)
{
    uint32_t id = tree->nodes.data[node->parent].likely;
    if (is_at(tree, id, node))
        return id;
    id = find_or_make(tree, node);
    return tree->nodes.data[node->parent].likely = id;
}

uint32_t as_call_tree_instead(struct as_call_tree *tree, uint32_t of, const struct as_call_node *node)
{
    uint32_t id = tree->nodes.data[of].beside;
    if (is_at(tree, id, node))
        return id;
    id = find_or_make(tree, node);
    return tree->nodes.data[of].beside = id;
}
