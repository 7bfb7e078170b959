/* One function as instructions and blocks. The cutting is that of src/symbol/blocks.h; its records are large, so they
 * live only while the function is at work. */
#include "blocks/cfg_internal.h"

#include "base/search.h"
#include "blocks/case_tables.h"
#include "symbol/blocks.h"

#include <stdlib.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 20 };
enum { LED = 1, LED_BY_TABLE }; /* what a target is */

typedef AS_VEC(struct as_insn) insn_list;

/* ---- its bytes ---- */

static uint8_t *read_bytes(const struct as_elf *elf, uint64_t address, uint64_t size)
{
    if (!elf || size == 0 || size > MOST_BYTES)
        return NULL;
    for (size_t i = 0; i < elf->segments.len; i++) {
        const struct as_elf_segment *segment = &elf->segments.data[i];
        if (!segment->executable || address < segment->address ||
            !as_inside(address - segment->address, size, segment->file_size) ||
            !as_inside(segment->offset, segment->file_size, elf->size))
            continue;
        uint8_t *bytes = as_alloc(size);
        ssize_t n = pread(elf->fd, bytes, size, (off_t)(segment->offset + (address - segment->address)));
        if (n >= 0 && (uint64_t)n == size)
            return bytes;
        free(bytes);
    }
    return NULL;
}

/* From start to end; at an address that was seen decoding begins anew, also inside an instruction that was seen too. */
static void decode_bytes(const struct as_cfg_module *module, const struct as_cfg_function *function,
                         const uint8_t *bytes, size_t from, size_t to, insn_list *insns)
{
    const uint64_t *seen = module->seen->addresses.data;
    uint64_t at = function->start;
    while (at < function->end) {
        while (from < to && seen[from] < at)
            from++;
        struct as_insn insn;
        uint64_t left = function->end - at;
        as_insn_decode(module->arch, at, bytes + (at - function->start), left, &insn);
        uint64_t length = insn.length ? insn.length : 1;
        bool executed = from < to && seen[from] == at;
        size_t next = from + executed;
        if (!module->seen->loose && next < to && seen[next] < at + length) {
            length = seen[next] - at;
            if (!executed) { /* the bytes here are no code */
                at += length;
                continue;
            }
        }
        *as_vec_push(insns) = insn;
        at += length;
    }
}

/* Code without a size ends behind the last instruction seen. */
static void extend(const struct as_cfg_module *module, struct as_cfg_function *function, const struct as_elf *elf)
{
    uint8_t *bytes = NULL;
    uint64_t size = AS_INSN_MAX_BYTES, at = function->end - 1;
    while (size && !(bytes = read_bytes(elf, at, size)))
        size--;
    struct as_insn insn;
    if (bytes && as_insn_decode(module->arch, at, bytes, size, &insn))
        function->end = at + insn.length;
    free(bytes);
}

static void copy_insns(const struct as_cfg_module *module, const struct as_cfg_function *function, insn_list *insns)
{
    const struct as_cfg_seen *seen = module->seen;
    size_t at = as_search(0, seen->insns.len, i, seen->insns.data[i].address < function->start);
    for (; at < seen->insns.len && seen->insns.data[at].address < function->end; at++)
        *as_vec_push(insns) = seen->insns.data[at];
}

/* ---- its blocks ---- */

/* Whether control can go on behind an instruction. A system call comes back, and so does a call. */
static bool can_fall(const struct as_insn *insn)
{
    return insn->class_ != AS_CLASS_JUMP && insn->class_ != AS_CLASS_JUMP_INDIRECT && insn->class_ != AS_CLASS_RETURN;
}

static bool is_filler(const struct as_insn *insn)
{
    static const uint8_t int3 = 0xcc;
    return insn->class_ == AS_CLASS_NOP || insn->class_ == AS_CLASS_UNKNOWN ||
           (insn->arch == AS_ARCH_X86_64 && insn->length == 1 && insn->bytes[0] == int3) ||
           (insn->arch == AS_ARCH_X86_64 && insn->length == 2 && insn->bytes[0] == 0x66 && insn->bytes[1] == 0x90);
}

static uint64_t end_of(const struct as_insn *insn)
{
    return insn->address + insn->length;
}

static void add_block(struct as_cfg_module *module, uint32_t function, const struct as_basic_block *basic,
                      const insn_list *insns)
{
    struct as_cfg_block block = {.start = basic->start,
                                 .end = basic->end,
                                 .first_insn = (uint32_t)module->insns.len,
                                 .function = function,
                                 .flags = AS_CFG_PADDING};
    size_t at = as_search(0, insns->len, i, insns->data[i].address < basic->start);
    const struct as_insn *last = NULL;
    for (; at < insns->len && insns->data[at].address < basic->end; at++) {
        if (last && insns->data[at].address < end_of(last)) /* inside the block's last one: of another block */
            break;
        last = &insns->data[at];
        *as_vec_push(&module->insns) = last->address;
        block.n_insns++;
        block.n_uops += last->n_uops ? last->n_uops : 1;
        block.flags &= is_filler(last) ? ~0 : ~AS_CFG_PADDING;
    }
    if (!last)
        return;
    block.last = last->address;
    block.last_class = last->class_;
    block.target = as_insn_is_control(last) ? last->target : 0;
    block.flags |= can_fall(last) ? AS_CFG_FALLS : 0;
    *as_vec_push(&module->blocks) = block;
}

static int by_address(const void *a, const void *b)
{
    uint64_t x = ((const struct as_cfg_block *)a)->start, y = ((const struct as_cfg_block *)b)->start;
    return (x > y) - (x < y);
}

/* Whether control comes from the block before. A call may never come back, and no-operations behind one then fill space:
 * where executions are known they say so; samples do not, and of those what goes on into code of the function can run. */
static bool is_fallen_into(const struct as_cfg_module *module, const struct as_cfg_function *function,
                           const struct as_cfg_block *block)
{
    const struct as_cfg_block *before = block - 1, *next = block + 1;
    if (before->end != block->start || !(before->flags & AS_CFG_FALLS))
        return false;
    if (!as_cfg_calls(before) || as_map_get(&module->seen->known, block->start))
        return true;
    bool last = next == module->blocks.data + function->first + function->n;
    return module->seen->loose && !last && next->start == block->end && block->flags & AS_CFG_FALLS;
}

/* No-operations are padding only behind something that does not fall into them, and where they were not executed. */
static void settle_padding(struct as_cfg_module *module, const struct as_cfg_function *function,
                           const struct as_map *targets)
{
    for (uint32_t i = 0; i < function->n; i++) {
        struct as_cfg_block *block = &module->blocks.data[function->first + i];
        bool target = as_map_get(targets, block->start) != NULL;
        bool executed = !module->seen->loose && as_map_get(&module->seen->known, block->start);
        if (i == 0 || target || executed || is_fallen_into(module, function, block))
            block->flags &= ~AS_CFG_PADDING;
        block->flags |= target ? AS_CFG_TARGET : 0;
        block->flags |= target && *as_map_get(targets, block->start) == LED_BY_TABLE ? AS_CFG_CASE : 0;
    }
}

/* Blocks begin where execution does, though what lies before could fall into it (padding before the target of an indirect
 * jump), and end where it ends (a signal, the end of the run). */
static void lead_executed(const struct as_cfg_module *module, const insn_list *insns, struct as_blocks *blocks,
                          struct as_map *targets)
{
    bool before = false;
    for (size_t i = 0; i < insns->len && !module->seen->loose; i++) {
        uint64_t address = insns->data[i].address;
        bool executed = as_map_get(&module->seen->known, address) != NULL;
        if (executed != before)
            as_blocks_add_leader(blocks, address);
        if (executed && !before)
            *as_map_put(targets, address) = LED;
        before = executed;
    }
}

/* Where samples choose functions, nobody saw where indirect jumps lead: what lies behind something that does not fall, and behind what
 * fills space there, begins a block (a case of a jump table, aligned). */
static void lead_behind_padding(const struct as_cfg_module *module, const insn_list *insns, struct as_blocks *blocks)
{
    bool filled = false; /* since control could not go on there was nothing else */
    for (size_t i = 1; i < insns->len && module->seen->loose; i++) {
        const struct as_insn *before = &insns->data[i - 1], *insn = &insns->data[i];
        bool joined = before->address + before->length == insn->address;
        filled = joined && is_filler(before) ? filled : joined && !can_fall(before);
        if (filled && is_filler(before) && !is_filler(insn))
            as_blocks_add_leader(blocks, insn->address);
    }
}

/* Cases of jump tables begin blocks, where nobody saw jumps. */
static void lead_cases(const struct as_cfg_module *module, const struct as_elf *elf, const insn_list *insns,
                       struct as_blocks *blocks, struct as_map *targets)
{
    if (!module->seen->loose)
        return;
    as_case_targets cases = as_case_targets_find(elf, insns->data, insns->len);
    for (size_t i = 0; i < cases.len; i++) {
        as_blocks_add_leader(blocks, cases.data[i]);
        *as_map_put(targets, cases.data[i]) = LED_BY_TABLE;
    }
    as_vec_free(&cases);
}

/* An instruction that others were executed inside of is the last of its block: no address is of two blocks' lists. */
static void lead_behind_overlaps(const insn_list *insns, struct as_blocks *blocks)
{
    for (size_t i = 0; i + 1 < insns->len; i++)
        if (insns->data[i + 1].address < end_of(&insns->data[i]))
            as_blocks_add_leader(blocks, end_of(&insns->data[i]));
}

static void cut(struct as_cfg_module *module, const struct as_elf *elf, uint32_t number, const insn_list *insns)
{
    struct as_cfg_function *function = &module->functions.data[number];
    const struct as_cfg_seen *seen = module->seen;
    struct as_blocks *blocks = as_blocks_new();
    struct as_map targets = {0};
    for (size_t i = 0; i < insns->len; i++) {
        as_blocks_add_insn(blocks, &insns->data[i]);
        if (as_insn_is_control(&insns->data[i]) && insns->data[i].target)
            *as_map_put(&targets, insns->data[i].target) = LED;
    }
    size_t at = as_search(0, seen->leaders.len, i, seen->leaders.data[i] < function->start);
    for (; at < seen->leaders.len && seen->leaders.data[at] < function->end; at++) {
        as_blocks_add_leader(blocks, seen->leaders.data[at]);
        *as_map_put(&targets, seen->leaders.data[at]) = LED;
    }
    at = as_search(0, seen->cuts.len, i, seen->cuts.data[i] < function->start);
    for (; at < seen->cuts.len && seen->cuts.data[at] < function->end; at++)
        as_blocks_add_leader(blocks, seen->cuts.data[at]);
    lead_executed(module, insns, blocks, &targets);
    lead_behind_padding(module, insns, blocks);
    lead_cases(module, elf, insns, blocks, &targets);
    lead_behind_overlaps(insns, blocks);
    as_blocks_add_leader(blocks, function->start);
    as_blocks_finish(blocks);
    function->first = (uint32_t)module->blocks.len;
    for (size_t i = 0; i < as_blocks_count(blocks); i++)
        add_block(module, number, as_blocks_get(blocks, i), insns);
    function->n = (uint32_t)module->blocks.len - function->first;
    if (function->n) {
        qsort(module->blocks.data + function->first, function->n, sizeof *module->blocks.data, by_address);
        module->blocks.data[function->first].flags |= AS_CFG_ENTRY;
        settle_padding(module, function, &targets);
    }
    as_map_free(&targets);
    as_blocks_free(blocks);
}

void as_cfg_decode(struct as_cfg_module *module, const struct as_elf *elf, uint32_t function, size_t from, size_t to)
{
    struct as_cfg_function *f = &module->functions.data[function];
    insn_list insns = {0};
    if (elf && f->end == module->seen->addresses.data[to - 1] + 1)
        extend(module, f, elf);
    uint8_t *bytes = read_bytes(elf, f->start, f->end - f->start);
    if (bytes)
        decode_bytes(module, f, bytes, from, to, &insns);
    else
        copy_insns(module, f, &insns);
    if (insns.len) /* an instruction may reach beyond what the symbol claims */
        f->end = end_of(&insns.data[insns.len - 1]);
    cut(module, elf, function, &insns);
    free(bytes);
    as_vec_free(&insns);
}
