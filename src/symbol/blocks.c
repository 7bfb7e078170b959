/* Cutting executed instructions into basic blocks. All of it happens in as_blocks_finish: instructions are sorted by
 * address, each is linked to the one that follows it in memory (where it executed too), leaders are marked, and each
 * run from a leader to the next leader, control transfer or gap is a block. Every instruction is in exactly one block,
 * also where instructions overlap (x86 code that jumps behind a prefix): an instruction on which two others fall
 * through is a leader.
 *
 * Of several instructions seen at one address (code that was rewritten) the one added last counts.
 */
#include "symbol/blocks.h"

#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "symbol/interval.h"

enum { NONE = UINT32_MAX };

struct item {
    uint64_t address; /* the instruction's: sorting and searching look at nothing else */
    const struct as_insn *insn;
    uint32_t block; /* its index */
    uint32_t next;  /* the instruction behind it, or NONE */
    bool leader;
};

struct function {
    uint64_t start, size;
};

struct as_blocks {
    AS_VEC(struct item) items;
    AS_VEC(uint64_t) leaders;
    AS_VEC(struct function) functions;
    AS_VEC(struct as_basic_block) blocks;
};

struct as_blocks *as_blocks_new(void)
{
    return as_alloc(sizeof(struct as_blocks));
}

void as_blocks_free(struct as_blocks *blocks)
{
    if (blocks == NULL)
        return;
    as_vec_free(&blocks->items);
    as_vec_free(&blocks->leaders);
    as_vec_free(&blocks->functions);
    as_vec_free(&blocks->blocks);
    free(blocks);
}

void as_blocks_add_insn(struct as_blocks *blocks, const struct as_insn *insn)
{
    if (blocks->items.len < NONE)
        *as_vec_push(&blocks->items) = (struct item){.address = insn->address, .insn = insn, .next = NONE};
}

void as_blocks_add_leader(struct as_blocks *blocks, uint64_t address)
{
    *as_vec_push(&blocks->leaders) = address;
}

void as_blocks_add_function(struct as_blocks *blocks, uint64_t start, uint64_t size)
{
    *as_vec_push(&blocks->functions) = (struct function){.start = start, .size = size};
}

/* ---- instructions ---- */

static uint64_t address_of(const void *item)
{
    return ((const struct item *)item)->address;
}

static void sort_items(struct as_blocks *blocks)
{
    size_t kept = 0;
    as_sort(blocks->items.data, blocks->items.len, sizeof *blocks->items.data, address_of);
    for (size_t i = 0; i < blocks->items.len; i++) {
        if (kept > 0 && blocks->items.data[kept - 1].address == blocks->items.data[i].address)
            kept--;
        blocks->items.data[kept++] = blocks->items.data[i];
    }
    blocks->items.len = kept;
}

/* The index of the last instruction that starts at or below `address`, or NONE. */
static uint32_t last_before(const struct as_blocks *blocks, uint64_t address)
{
    size_t at = as_search(0, blocks->items.len, i, blocks->items.data[i].address <= address);
    return at == 0 ? NONE : (uint32_t)at - 1;
}

static void mark(struct as_blocks *blocks, uint64_t address)
{
    uint32_t at = last_before(blocks, address);
    if (at != NONE && blocks->items.data[at].address == address)
        blocks->items.data[at].leader = true;
}

static bool ends_block(const struct as_insn *insn)
{
    return (insn->flags & AS_INSN_ENDS_BLOCK) != 0 || as_insn_is_control(insn);
}

/* Links each instruction to its successor in memory; one with two predecessors, or none, or behind a transfer, leads.
 */
static void link_items(struct as_blocks *blocks)
{
    bool *entered = as_alloc_array(blocks->items.len + 1, sizeof *entered);
    for (size_t i = 0; i < blocks->items.len; i++) {
        const struct as_insn *insn = blocks->items.data[i].insn;
        uint64_t end = insn->address + insn->length;
        size_t next = i + 1;
        while (next < blocks->items.len && blocks->items.data[next].address < end)
            next++; /* overlapping ones: at most an instruction's length of them */
        if (next >= blocks->items.len || blocks->items.data[next].address != end)
            continue;
        blocks->items.data[i].next = (uint32_t)next;
        blocks->items.data[next].leader |= entered[next] || ends_block(insn);
        entered[next] = true;
    }
    for (size_t i = 0; i < blocks->items.len; i++)
        blocks->items.data[i].leader |= !entered[i];
    free(entered);
}

static void mark_leaders(struct as_blocks *blocks)
{
    for (size_t i = 0; i < blocks->leaders.len; i++)
        mark(blocks, blocks->leaders.data[i]);
    for (size_t i = 0; i < blocks->functions.len; i++)
        mark(blocks, blocks->functions.data[i].start);
    for (size_t i = 0; i < blocks->items.len; i++) {
        const struct as_insn *insn = blocks->items.data[i].insn;
        if (insn->target != 0 && as_insn_is_control(insn))
            mark(blocks, insn->target);
    }
}

static void cut(struct as_blocks *blocks)
{
    for (size_t i = 0; i < blocks->items.len; i++) {
        if (!blocks->items.data[i].leader)
            continue;
        struct as_basic_block block = {.start = blocks->items.data[i].address};
        for (uint32_t at = (uint32_t)i;; at = blocks->items.data[at].next) {
            struct item *item = &blocks->items.data[at];
            block.n_insns++;
            block.end = item->address + item->insn->length;
            item->block = (uint32_t)blocks->blocks.len;
            if (item->next == NONE || blocks->items.data[item->next].leader || ends_block(item->insn))
                break;
        }
        *as_vec_push(&blocks->blocks) = block;
    }
}

/* ---- functions ---- */

static int by_start(const void *x, const void *y)
{
    const struct function *a = x, *b = y;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* Functions of unknown size reach to the next one; those with a size win over them. */
static void find_functions(struct as_blocks *blocks)
{
    size_t count = blocks->functions.len;
    if (count == 0)
        return;
    const struct function *functions = blocks->functions.data;
    qsort(blocks->functions.data, count, sizeof *functions, by_start);
    struct as_address_range *items = as_alloc_array(count, sizeof *items);
    uint64_t next = UINT64_MAX;
    for (size_t i = count; i-- > 0;) {
        uint64_t start = functions[i].start, size = functions[i].size;
        if (i + 1 < count && functions[i + 1].start != start)
            next = functions[i + 1].start;
        uint64_t end = size == 0 ? next : size > UINT64_MAX - start ? UINT64_MAX : start + size;
        items[i] = (struct as_address_range){start, end, size == 0, (uint32_t)i};
    }
    struct as_interval_index index;
    as_interval_build(&index, items, count);
    free(items);
    for (size_t i = 0; i < blocks->blocks.len; i++) {
        uint32_t id = as_interval_find(&index, blocks->blocks.data[i].start);
        blocks->blocks.data[i].function = id == AS_INTERVAL_NONE ? 0 : functions[id].start;
    }
    as_interval_free(&index);
}

void as_blocks_finish(struct as_blocks *blocks)
{
    sort_items(blocks);
    link_items(blocks);
    mark_leaders(blocks);
    cut(blocks);
    find_functions(blocks);
}

size_t as_blocks_count(const struct as_blocks *blocks)
{
    return blocks->blocks.len;
}

const struct as_basic_block *as_blocks_get(const struct as_blocks *blocks, size_t index)
{
    return &blocks->blocks.data[index];
}

const struct as_basic_block *as_blocks_find(const struct as_blocks *blocks, uint64_t address)
{
    uint32_t at = last_before(blocks, address);
    for (int back = 0; at != NONE && back < AS_INSN_MAX_BYTES; at--, back++) {
        const struct item *item = &blocks->items.data[at];
        if (address - item->address < item->insn->length)
            return &blocks->blocks.data[item->block];
        if (at == 0)
            break;
    }
    return NULL;
}
