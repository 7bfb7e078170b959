/* See propeller.h.
 *
 * Blocks of a function: edges by falling count, each joining the end of one chain to the start of another (Pettis and
 * Hansen); the chain of the entry goes first, the others by the count of their first block. Functions: the hottest first,
 * each goes behind the caller that calls it most often, as long as both fit into a page (call-chain clustering), and
 * clusters go by how many instructions a byte of them executed. */
#include "blocks/propeller.h"

#include "base/bytes.h"
#include "base/search.h"
#include "symbol/elffile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the compiler's map ---- */

enum { VERSION = 2, MULTI_RANGE = 1 << 3 };

static void read_range(struct as_bytes *bytes, struct as_propeller_map *map)
{
    uint64_t at = as_bytes_u64(bytes), n = as_bytes_uleb(bytes);
    struct as_propeller_function function = {.start = at, .first = map->blocks.len};
    for (uint64_t i = 0; i < n && !bytes->bad; i++) {
        uint64_t id = as_bytes_uleb(bytes), gap = as_bytes_uleb(bytes), size = as_bytes_uleb(bytes);
        as_bytes_uleb(bytes); /* how it ends */
        bytes->bad |= id > UINT32_MAX || gap > UINT32_MAX || size > UINT32_MAX;
        *as_vec_push(&map->blocks) = (struct as_propeller_block){at + gap, at + gap + size, (uint32_t)id};
        at += gap + size;
    }
    function.n = map->blocks.len - function.first;
    if (function.n)
        *as_vec_push(&map->functions) = function;
}

bool as_propeller_read(const uint8_t *data, size_t size, struct as_propeller_map *map, struct as_error *err)
{
    struct as_bytes bytes = as_bytes(data, size, false);
    while (as_bytes_left(&bytes) && !bytes.bad) {
        uint8_t version = as_bytes_u8(&bytes), features = as_bytes_u8(&bytes);
        if (version != VERSION)
            return as_error_set(err, "the map of basic blocks has version %u; version 2 is read (clang 17 to 19)",
                                version);
        if (features & ~MULTI_RANGE)
            return as_error_set(err,
                                "the map of basic blocks has a profile in it (-pgo-analysis-map), which is not read");
        uint64_t ranges = features & MULTI_RANGE ? as_bytes_uleb(&bytes) : 1;
        for (uint64_t i = 0; i < ranges && !bytes.bad; i++)
            read_range(&bytes, map);
    }
    return !bytes.bad || as_error_set(err, "the map of basic blocks is corrupt");
}

void as_propeller_map_free(struct as_propeller_map *map)
{
    as_vec_free(&map->functions);
    as_vec_free(&map->blocks);
}

static bool load_map(const struct as_cfg_module *module, struct as_propeller_map *map, struct as_error *err)
{
    enum { MOST = 1 << 30, WITHOUT_VERSION = 0x6fff4c08 /* SHT_LLVM_BB_ADDR_MAP_V0 */ };
    static const char advice[] = "build it with clang 17 to 19 and -fbasic-block-address-map";
    struct as_elf *elf = as_elf_open(module->file, err);
    struct as_error why = AS_ERROR_INIT;
    size_t size = 0;
    if (!elf)
        return false;
    const struct as_elf_section *section = as_elf_section(elf, ".llvm_bb_addr_map");
    bool old = section && section->type == WITHOUT_VERSION;
    uint8_t *bytes = as_elf_read(elf, section, MOST, &size);
    as_elf_close(elf);
    bool good = false;
    if (!bytes)
        as_error_set(err, "%s has no map of basic blocks; %s", module->path, advice);
    else if (old)
        as_error_set(err, "the map of basic blocks of %s is of clang 15 or older, which gave it no version; %s",
                     module->path, advice);
    else if (!(good = as_propeller_read(bytes, size, map, &why)))
        as_error_set(err, "%s: %s", module->path, why.message);
    free(bytes);
    return good;
}

bool as_propeller_check(const struct as_cfg *cfg, uint32_t module, struct as_error *err)
{
    struct as_propeller_map map = {0};
    bool good = load_map(as_cfg_get(cfg, module), &map, err);
    as_propeller_map_free(&map);
    return good;
}

/* ---- blocks ---- */

struct arc {
    uint32_t from, to;
    double count;
};
struct layout {
    const struct as_flow *flow;
    uint32_t module;
    const struct as_propeller_block *blocks;
    uint32_t n;
    AS_VEC(struct arc) arcs;
    uint32_t *next, *previous; /* in a chain; AS_CFG_NONE: its end or start */
};

static double count_at(const struct layout *layout, uint32_t block)
{
    uint32_t found = as_cfg_find(layout->flow->cfg, layout->module, layout->blocks[block].start);
    return found == AS_CFG_NONE ? 0 : layout->flow->counts[layout->module][found];
}

static uint32_t holder(const struct layout *layout, uint64_t address)
{
    uint32_t at = as_search(0u, layout->n, i, layout->blocks[i].end <= address);
    return at < layout->n && layout->blocks[at].start <= address ? at : AS_CFG_NONE;
}

static void add_arc(struct layout *layout, uint32_t from, uint32_t to, double count)
{
    if (from != AS_CFG_NONE && to != AS_CFG_NONE && to && from != to && count > 0)
        *as_vec_push(&layout->arcs) = (struct arc){from, to, count};
}

/* The edges that leave a counted block, if they lead to the start of one of the compiler's. */
static void add_edges(struct layout *layout, uint32_t counted)
{
    size_t n;
    const struct as_flow_edge *edges = as_flow_out(layout->flow, layout->module, counted, &n);
    const struct as_cfg_block *block = &as_cfg_get(layout->flow->cfg, layout->module)->blocks.data[counted];
    for (size_t i = 0; i < n; i++) {
        uint32_t to = edges[i].to_module == layout->module ? holder(layout, edges[i].target) : AS_CFG_NONE;
        if (edges[i].kind != AS_EDGE_CALL && to != AS_CFG_NONE && layout->blocks[to].start == edges[i].target)
            add_arc(layout, holder(layout, block->last), to, edges[i].count);
    }
}

static int by_count(const void *a, const void *b)
{
    const struct arc *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : x->to < y->to ? -1 : x->to > y->to;
}

static void find_arcs(struct layout *layout)
{
    const struct as_cfg_module *m = as_cfg_get(layout->flow->cfg, layout->module);
    uint64_t start = layout->blocks[0].start, end = layout->blocks[layout->n - 1].end;
    size_t first = as_search((size_t)0, m->blocks.len, i, m->blocks.data[i].end <= start);
    for (size_t i = first; i < m->blocks.len && m->blocks.data[i].start < end; i++)
        add_edges(layout, (uint32_t)i);
    for (uint32_t i = 1; i < layout->n; i++) { /* where no branch leads, what was counted goes on */
        uint32_t counted = as_cfg_find(layout->flow->cfg, layout->module, layout->blocks[i].start);
        if (counted != AS_CFG_NONE && m->blocks.data[counted].start < layout->blocks[i].start)
            add_arc(layout, i - 1, i, layout->flow->counts[layout->module][counted]);
    }
    if (layout->arcs.len)
        qsort(layout->arcs.data, layout->arcs.len, sizeof *layout->arcs.data, by_count);
}

static uint32_t chain_start(const struct layout *layout, uint32_t block)
{
    while (layout->previous[block] != AS_CFG_NONE)
        block = layout->previous[block];
    return block;
}

static void join_chains(struct layout *layout)
{
    for (size_t i = 0; i < layout->arcs.len; i++) {
        uint32_t from = layout->arcs.data[i].from, to = layout->arcs.data[i].to;
        if (layout->next[from] != AS_CFG_NONE || layout->previous[to] != AS_CFG_NONE || chain_start(layout, from) == to)
            continue;
        layout->next[from] = to;
        layout->previous[to] = from;
    }
}

struct chain {
    uint32_t start;
    double count;
};

static int by_heat(const void *a, const void *b)
{
    const struct chain *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

static size_t put_chains(const struct layout *layout, uint32_t *order)
{
    AS_VEC(struct chain) chains = {0};
    size_t n = 0;
    for (uint32_t i = 0; i < layout->n; i++)
        if (layout->previous[i] == AS_CFG_NONE && (i == 0 || count_at(layout, i) > 0))
            *as_vec_push(&chains) = (struct chain){i, i == 0 ? 1e300 : count_at(layout, i)};
    qsort(chains.data, chains.len, sizeof *chains.data, by_heat);
    for (size_t i = 0; i < chains.len; i++)
        for (uint32_t at = chains.data[i].start; at != AS_CFG_NONE; at = layout->next[at])
            order[n++] = at;
    as_vec_free(&chains);
    return n;
}

size_t as_propeller_layout(const struct as_flow *flow, uint32_t module, const struct as_propeller_map *map,
                           const struct as_propeller_function *function, uint32_t *order)
{
    struct layout layout = {
        .flow = flow, .module = module, .blocks = map->blocks.data + function->first, .n = (uint32_t)function->n};
    layout.next = as_alloc_array(function->n, sizeof *layout.next);
    layout.previous = as_alloc_array(function->n, sizeof *layout.previous);
    for (size_t i = 0; i < function->n; i++)
        layout.next[i] = layout.previous[i] = AS_CFG_NONE;
    find_arcs(&layout);
    join_chains(&layout);
    size_t n = put_chains(&layout, order);
    as_vec_free(&layout.arcs);
    free(layout.next);
    free(layout.previous);
    return n;
}

static void write_function(const struct as_flow *flow, uint32_t module, const struct as_propeller_map *map,
                           const struct as_propeller_function *at, FILE *out)
{
    uint32_t found = as_cfg_find_function(flow->cfg, module, at->start);
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    const struct as_cfg_function *function = found == AS_CFG_NONE ? NULL : &m->functions.data[found];
    if (!function || function->start != at->start || !function->linkage || strpbrk(function->linkage, " @") ||
        as_flow_function_instructions(flow, module, found) <= 0)
        return;
    uint32_t *order = as_alloc_array(at->n, sizeof *order);
    size_t n = as_propeller_layout(flow, module, map, at, order);
    fprintf(out, "f %s\nc", function->linkage);
    for (size_t i = 0; i < n; i++)
        fprintf(out, " %" PRIu32, map->blocks.data[at->first + order[i]].id);
    fputc('\n', out);
    free(order);
}

bool as_propeller_write_clusters(const struct as_flow *flow, uint32_t module, FILE *out, struct as_error *err)
{
    struct as_propeller_map map = {0};
    bool good = load_map(as_cfg_get(flow->cfg, module), &map, err);
    if (good)
        fputs("v1\n", out);
    for (size_t i = 0; good && i < map.functions.len; i++)
        write_function(flow, module, &map, &map.functions.data[i], out);
    as_propeller_map_free(&map);
    return good;
}
