/* See autofdo.h: from blocks to lines. */
#include "blocks/autofdo_internal.h"
#include "blocks/loops.h"
#include "symbol/debuginfo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES = 64, LINE_MASK = 0xffff };

struct maker {
    const struct as_flow *flow;
    uint32_t module;
    struct as_debug *debug;
    struct as_autofdo *profile;
    struct as_strings *node_keys; /* in step with the nodes */
    struct as_map lines;          /* by node, offset and discriminator: the line's index + 1 */
    uint32_t *loops;              /* by block: the header of the innermost one */
};

/* ---- discriminators ---- */

/* Clang packs up to three numbers into a discriminator: which of the line's blocks it is, how many copies an instruction
 * stands for, which copy. Each takes 1 bit if it is 0, else 7 or 14: the lowest bit says that it is 0, bit 6 that the
 * longer form is used. */
static uint32_t unpack(uint32_t *packed)
{
    uint32_t word = *packed;
    if (word & 1) {
        *packed = word >> 1;
        return 0;
    }
    bool is_long = word & 0x40;
    *packed = word >> (is_long ? 14 : 7);
    word >>= 1;
    return is_long ? (word >> 1 & 0xfe0) | (word & 0x1f) : word & 0x1f;
}

static uint32_t base_of(uint32_t discriminator, uint32_t *copies)
{
    uint32_t base = unpack(&discriminator), factor = unpack(&discriminator);
    *copies = factor ? factor : 1;
    return base;
}

/* ---- the tree ---- */

static uint32_t node_of(struct maker *maker, const char *key, const char *name, bool inlined)
{
    uint32_t number = as_strings_intern(maker->node_keys, key);
    if (number == maker->profile->nodes.len)
        *as_vec_push(&maker->profile->nodes) =
            (struct as_autofdo_node){.name = as_strings_intern(maker->profile->names, name), .inlined = inlined};
    return number;
}

/* Of a function that is not inlined there: the outermost frame. */
static uint32_t node_of_function(struct maker *maker, const struct as_source_frame *outermost)
{
    return node_of(maker, outermost->linkage, outermost->linkage, false);
}

static uint32_t child_of(struct maker *maker, uint32_t parent, uint32_t offset, uint32_t discriminator,
                         const char *name)
{
    char *key = as_format("%" PRIu32 ":%" PRIu32 ".%" PRIu32 ":%s", parent, offset, discriminator, name);
    size_t before = maker->profile->nodes.len;
    uint32_t node = node_of(maker, key, name, true);
    if (node == before)
        *as_vec_push(&maker->profile->nodes.data[parent].children) =
            (struct as_autofdo_child){offset, discriminator, node};
    free(key);
    return node;
}

static struct as_autofdo_line *line_of(struct maker *maker, uint32_t node, uint32_t offset, uint32_t discriminator)
{
    struct as_autofdo_node *n = &maker->profile->nodes.data[node];
    uint64_t *index = as_map_put(&maker->lines, (uint64_t)node << 32 | offset << 16 | (discriminator & LINE_MASK));
    if (!*index) {
        *as_vec_push(&n->lines) = (struct as_autofdo_line){.offset = offset, .discriminator = discriminator};
        *index = n->lines.len;
    }
    return &n->lines.data[*index - 1];
}

static uint32_t offset_of(const struct as_source_frame *frame)
{
    return (frame->line - frame->declared) & LINE_MASK;
}

/* The line of an instruction, in the innermost function that was inlined there; NULL: unknown. */
static struct as_autofdo_line *find_line(struct maker *maker, uint64_t address, uint32_t *copies)
{
    struct as_source_frame frames[MOST_FRAMES];
    size_t n = as_debug_frames(maker->debug, address, frames, MOST_FRAMES);
    uint32_t ignored;
    if (!n || !frames[0].line || !frames[n - 1].linkage || frames[n - 1].inlined)
        return NULL;
    uint32_t node = node_of_function(maker, &frames[n - 1]);
    for (size_t i = n; i-- > 1;)
        node = child_of(maker, node, offset_of(&frames[i]), base_of(frames[i].discriminator, &ignored),
                        frames[i - 1].linkage ? frames[i - 1].linkage : "");
    maker->profile->discriminators |= frames[0].discriminator != 0;
    return line_of(maker, node, offset_of(&frames[0]), base_of(frames[0].discriminator, copies));
}

/* ---- counts ---- */

#define ORDER(x, y)                                                                                                    \
    if ((x) != (y))                                                                                                    \
    return (x) < (y) ? -1 : 1

static const char *name_of_target(const struct maker *maker, const struct as_flow_edge *edge, char *text, size_t size)
{
    if (edge->to == AS_CFG_NONE || edge->to_module == AS_CFG_NONE)
        return NULL;
    const struct as_cfg_module *m = as_cfg_get(maker->flow->cfg, edge->to_module);
    const struct as_cfg_function *function = &m->functions.data[m->blocks.data[edge->to].function];
    if (!function->linkage || function->start != edge->target || strlen(function->linkage) >= size)
        return NULL;
    strcpy(text, function->linkage);
    char *at = strchr(text, '@'); /* "puts@plt" */
    if (at)
        *at = '\0';
    return text[0] && !strchr(text, ':') && !strchr(text, ' ') ? text : NULL;
}

/* Whether a jump leads to the start of another function, and not to a part of its own that was moved away: a call in the last place. */
static bool is_tail_call(const struct maker *maker, const struct as_flow_edge *edge)
{
    if (edge->kind == AS_EDGE_FALL || edge->to == AS_CFG_NONE)
        return false;
    const struct as_cfg_module *from = as_cfg_get(maker->flow->cfg, edge->module);
    const struct as_cfg_module *to = as_cfg_get(maker->flow->cfg, edge->to_module);
    const struct as_cfg_function *own = &from->functions.data[from->blocks.data[edge->from].function];
    const struct as_cfg_function *other = &to->functions.data[to->blocks.data[edge->to].function];
    if (own == other || !own->linkage || !other->linkage)
        return own != other;
    return !as_cfg_is_part(other->linkage, own->linkage) && !as_cfg_is_part(own->linkage, other->linkage);
}

static bool calls(const struct maker *maker, const struct as_flow_edge *edge)
{
    return edge->count >= 1 && (edge->kind == AS_EDGE_CALL || is_tail_call(maker, edge));
}

static void add_targets(struct maker *maker, uint32_t block, struct as_autofdo_line *line)
{
    size_t n;
    const struct as_flow_edge *edges = as_flow_out(maker->flow, maker->module, block, &n);
    for (size_t i = 0; i < n; i++) {
        char text[1024];
        const char *name = calls(maker, &edges[i]) ? name_of_target(maker, &edges[i], text, sizeof text) : NULL;
        if (!name)
            continue;
        uint32_t id = as_strings_intern(maker->profile->names, name);
        size_t at = 0;
        while (at < line->targets.len && line->targets.data[at].name != id)
            at++;
        if (at == line->targets.len)
            *as_vec_push(&line->targets) = (struct as_autofdo_target){.name = id};
        line->targets.data[at].count += (uint64_t)(edges[i].count + 0.5);
    }
}

/* What a block has of a line counts once, for as many copies as the instruction that stands for the most. */
static void note_count(struct as_autofdo_line *line, const struct as_autofdo_run *run)
{
    struct as_autofdo_run *last = line->runs.len ? &line->runs.data[line->runs.len - 1] : NULL;
    if (!last || last->block != run->block)
        *as_vec_push(&line->runs) = *run;
    else if (run->copies > last->copies)
        last->copies = run->copies;
}

static int by_copies(const void *a, const void *b)
{
    const struct as_autofdo_run *x = a, *y = b;
    ORDER(x->copies, y->copies);
    ORDER(y->count, x->count);
    return 0;
}

/* Copies in blocks of their own ran as often as those did. Otherwise they are side by side in a block, or one of them
 * does the work of all; what follows a loop on the same line is not a copy of what is in it. The largest count is the first. */
static uint64_t count_copies(const struct as_autofdo_run *runs, size_t n)
{
    uint64_t sum = 0;
    size_t found = 0;
    for (size_t i = 0; i < n && found < runs->copies; i++) {
        if (runs[i].loop != runs->loop)
            continue;
        sum += runs[i].count;
        found++;
    }
    return found < runs->copies ? runs->count * runs->copies : sum;
}

/* The loop that was unrolled, and what is left to one that was not, ran apart from each other. */
static void settle_count(struct as_autofdo_line *line)
{
    const struct as_autofdo_run *runs = line->runs.data;
    if (line->runs.len)
        qsort(line->runs.data, line->runs.len, sizeof *line->runs.data, by_copies);
    for (size_t i = 0, next; i < line->runs.len; i = next) {
        for (next = i + 1; next < line->runs.len && runs[next].copies == runs[i].copies;)
            next++;
        line->count += count_copies(runs + i, next - i);
    }
    as_vec_free(&line->runs);
}

static void add_block(struct maker *maker, uint32_t block)
{
    const struct as_cfg_module *m = as_cfg_get(maker->flow->cfg, maker->module);
    const struct as_cfg_block *b = &m->blocks.data[block];
    uint64_t count = (uint64_t)(maker->flow->counts[maker->module][block] + 0.5);
    for (uint32_t i = 0; i < b->n_insns; i++) {
        uint32_t copies;
        struct as_autofdo_line *line = find_line(maker, m->insns.data[b->first_insn + i], &copies);
        if (!line)
            continue;
        note_count(line, &(struct as_autofdo_run){block, copies, maker->loops[block], count});
        if (i + 1 == b->n_insns && count)
            add_targets(maker, block, line);
    }
}

static void add_function(struct maker *maker, uint32_t function)
{
    const struct as_cfg_function *f = &as_cfg_get(maker->flow->cfg, maker->module)->functions.data[function];
    if (as_flow_function_instructions(maker->flow, maker->module, function) <= 0)
        return;
    for (uint32_t i = 0; i < f->n; i++)
        add_block(maker, f->first + i);
    struct as_source_frame frames[MOST_FRAMES];
    size_t n = as_debug_frames(maker->debug, f->start, frames, MOST_FRAMES);
    if (!n || !f->linkage || !frames[n - 1].linkage || strstr(f->linkage, ".cold"))
        return;
    uint32_t node = node_of_function(maker, &frames[n - 1]);
    maker->profile->nodes.data[node].head += (uint64_t)(as_flow_entries(maker->flow, maker->module, function) + 0.5);
}

/* ---- in order ---- */

static int by_line(const void *a, const void *b)
{
    const struct as_autofdo_line *x = a, *y = b;
    ORDER(x->offset, y->offset);
    ORDER(x->discriminator, y->discriminator);
    return 0;
}

static int by_target(const void *a, const void *b)
{
    const struct as_autofdo_target *x = a, *y = b;
    ORDER(y->count, x->count);
    ORDER(x->name, y->name);
    return 0;
}

static int by_child(const void *a, const void *b)
{
    const struct as_autofdo_child *x = a, *y = b;
    ORDER(x->offset, y->offset);
    ORDER(x->discriminator, y->discriminator);
    ORDER(x->node, y->node);
    return 0;
}

/* Children have higher numbers than their parents, so all of a node's are summed before it. Those that never ran go. */
static void sum_node(struct as_autofdo *profile, struct as_autofdo_node *node)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->children.len; i++) {
        uint64_t total = profile->nodes.data[node->children.data[i].node].total;
        node->total += total;
        if (total)
            node->children.data[kept++] = node->children.data[i];
    }
    node->children.len = kept;
    for (size_t i = 0; i < node->lines.len; i++) {
        struct as_autofdo_line *line = &node->lines.data[i];
        settle_count(line);
        node->total += line->count;
        if (line->targets.len)
            qsort(line->targets.data, line->targets.len, sizeof *line->targets.data, by_target);
    }
    if (node->lines.len)
        qsort(node->lines.data, node->lines.len, sizeof *node->lines.data, by_line);
    if (node->children.len)
        qsort(node->children.data, node->children.len, sizeof *node->children.data, by_child);
}

static int by_total(const void *a, const void *b, void *context)
{
    const struct as_autofdo *sorted = context;
    const struct as_autofdo_node *x = &sorted->nodes.data[*(const uint32_t *)a];
    const struct as_autofdo_node *y = &sorted->nodes.data[*(const uint32_t *)b];
    ORDER(y->total, x->total);
    return strcmp(as_strings_get(sorted->names, x->name), as_strings_get(sorted->names, y->name));
}

static void finish(struct as_autofdo *profile)
{
    for (size_t i = profile->nodes.len; i-- > 0;)
        sum_node(profile, &profile->nodes.data[i]);
    for (size_t i = 0; i < profile->nodes.len; i++)
        if (!profile->nodes.data[i].inlined && profile->nodes.data[i].total)
            *as_vec_push(&profile->functions) = (uint32_t)i;
    if (profile->functions.len)
        qsort_r(profile->functions.data, profile->functions.len, sizeof(uint32_t), by_total, profile);
}

bool as_autofdo_check(struct as_cfg *cfg, uint32_t module, struct as_error *err)
{
    return as_cfg_debug(cfg, module) ||
           as_error_set(
               err, "%s has no debug information, so counts have no lines; build it with -g -fdebug-info-for-profiling",
               as_cfg_get(cfg, module)->path);
}

struct as_autofdo *as_autofdo_new(const struct as_flow *flow, uint32_t module, struct as_error *err)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    if (!as_autofdo_check(flow->cfg, module, err))
        return NULL;
    struct as_debug *debug = as_cfg_debug(flow->cfg, module);
    struct as_autofdo *profile = as_alloc(sizeof *profile);
    profile->names = as_strings_new();
    struct maker maker = {.flow = flow,
                          .module = module,
                          .debug = debug,
                          .profile = profile,
                          .node_keys = as_strings_new(),
                          .loops = as_loops_innermost(flow, module)};
    for (uint32_t i = 0; i < m->functions.len; i++)
        add_function(&maker, i);
    finish(profile);
    as_strings_free(maker.node_keys);
    as_map_free(&maker.lines);
    free(maker.loops);
    if (profile->functions.len)
        return profile;
    as_autofdo_free(profile);
    as_error_set(err, "nothing that ran of %s has line numbers", m->path);
    return NULL;
}

void as_autofdo_free(struct as_autofdo *profile)
{
    if (!profile)
        return;
    for (size_t i = 0; i < profile->nodes.len; i++) {
        struct as_autofdo_node *node = &profile->nodes.data[i];
        for (size_t l = 0; l < node->lines.len; l++)
            as_vec_free(&node->lines.data[l].targets);
        as_vec_free(&node->lines);
        as_vec_free(&node->children);
    }
    as_vec_free(&profile->nodes);
    as_vec_free(&profile->functions);
    as_strings_free(profile->names);
    free(profile);
}

size_t as_autofdo_count_functions(const struct as_autofdo *profile)
{
    return profile->functions.len;
}

bool as_autofdo_has_discriminators(const struct as_autofdo *profile)
{
    return profile->discriminators;
}
