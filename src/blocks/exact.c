/* See exact.h. QEMU's translated blocks overlap and are cut anywhere, so executions are added up by instruction; a
 * basic block ran as often as its first instruction, and ends where executions differ. A direct branch left a translated block as often as that was
 * taken. */
#include "blocks/exact.h"

#include "base/map.h"
#include "base/str.h"
#include "blocks/code_versions.h"

#include <stdlib.h>

struct loaded {
    uint32_t module;
    uint64_t bias; /* address in the run minus address in the module */
};

struct gathering {
    const struct as_engine *engine;
    const struct as_counter *counter;
    struct as_cfg *cfg;
    AS_VEC(struct loaded) places; /* by index of the translated block; module AS_CFG_NONE: it never ran */
    AS_VEC(struct as_map) counts; /* by module: address to executions */
    AS_VEC(struct as_map) ends;   /* … to where the instruction ends */
    AS_VEC(struct as_executed_bytes) codes;
    AS_VEC(struct as_flow_branch) branches;
    struct as_code_versions versions;
};

/* Tells files apart that were at one path in turn. Code that is in no file has no versions. */
static void find_versions(struct gathering *all)
{
    for (size_t i = 0; i < as_engine_count_blocks(all->engine); i++) {
        const struct as_block *block = as_engine_block(all->engine, i);
        struct as_location location = {0};
        for (uint32_t k = 0; k < block->n; k++) {
            if (!as_counter_executions(all->counter, block, k))
                continue;
            if (!location.module)
                as_space_find(as_engine_image(all->engine, block->image)->space, block->address, &location);
            const struct as_insn *insn = block->insns[k];
            if (location.module[0] == '/')
                as_code_versions_add(&all->versions, block->image, location.module,
                                     location.module_offset + (insn->address - block->address), insn->bytes,
                                     insn->length);
        }
    }
    as_code_versions_settle(&all->versions);
}

static uint32_t module_of(struct gathering *all, const struct as_image *image, const char *path)
{
    uint32_t number = as_code_versions_number(&all->versions, image->number, path);
    if (!number)
        return as_cfg_module_of(all->cfg, path, image->arch);
    char *name = as_format("%s (%u)", path, number), *file = as_format("[%s]", name); /* never read */
    uint32_t module = as_cfg_module_at(all->cfg, file, name, image->arch);
    if (as_cfg_get(all->cfg, module)->code == AS_CFG_CODE_ONE)
        as_cfg_get(all->cfg, module)->code = AS_CFG_CODE_GONE;
    free(name);
    free(file);
    return module;
}

static struct loaded place_of(struct gathering *all, const struct as_image *image, uint64_t address)
{
    struct as_location location;
    as_space_find(image->space, address, &location);
    struct loaded place = {.module = module_of(all, image, location.module), .bias = address - location.module_offset};
    while (all->counts.len <= place.module) {
        *as_vec_push(&all->counts) = (struct as_map){0};
        *as_vec_push(&all->ends) = (struct as_map){0};
        *as_vec_push(&all->codes) = (struct as_executed_bytes){0};
    }
    return place;
}

static void see(struct gathering *all, const struct loaded *place, const struct as_insn *insn)
{
    if (as_cfg_get(all->cfg, place->module)->has_code) {
        as_cfg_see(all->cfg, place->module, insn->address - place->bias);
        return;
    }
    struct as_insn moved = *insn;
    moved.address -= place->bias;
    moved.target -= moved.target ? place->bias : 0;
    as_cfg_see_insn(all->cfg, place->module, &moved);
}

/* Code that is in no file may be rewritten: what was there last counts. */
static void check_bytes(struct gathering *all, uint32_t number, uint64_t address, const struct as_insn *insn)
{
    struct as_cfg_module *module = as_cfg_get(all->cfg, number);
    if (module->path[0] != '/' || as_executed_bytes_add(&all->codes.data[number], address, insn->bytes, insn->length))
        return;
    if (module->code != AS_CFG_CODE_MIXED || address < module->code_differs)
        module->code_differs = address;
    module->code = AS_CFG_CODE_MIXED;
}

/* The graph is made of the files as they are at the end of the run. */
static void check_files(struct gathering *all)
{
    for (uint32_t m = 0; m < all->codes.len; m++) {
        struct as_cfg_module *module = as_cfg_get(all->cfg, m);
        struct as_elf *elf =
            module->has_code && module->code == AS_CFG_CODE_ONE ? as_elf_open(module->file, NULL) : NULL;
        if (elf && !as_executed_bytes_are_in(&all->codes.data[m], elf, &module->code_differs))
            module->code = AS_CFG_CODE_OTHER;
        as_elf_close(elf);
    }
}

static void gather_branch(struct gathering *all, const struct loaded *from, uint64_t source, uint64_t target,
                          const struct as_image *image, uint8_t class_, double count)
{
    struct loaded to = place_of(all, image, target);
    bool call = class_ == AS_CLASS_CALL || class_ == AS_CLASS_CALL_INDIRECT;
    as_cfg_lead(all->cfg, to.module, target - to.bias);
    *as_vec_push(&all->branches) = (struct as_flow_branch){
        .module = from->module,
        .to_module = to.module,
        .from = source - from->bias,
        .to = target - to.bias,
        .kind = call                               ? AS_EDGE_CALL
                : class_ == AS_CLASS_JUMP_INDIRECT ? AS_EDGE_INDIRECT
                                                   : AS_EDGE_TAKEN,
        .count = count,
    };
}

static void gather_block(struct gathering *all, const struct as_block *block)
{
    const struct as_image *image = as_engine_image(all->engine, block->image);
    struct loaded *place = as_vec_push(&all->places);
    *place = (struct loaded){.module = AS_CFG_NONE};
    for (uint32_t i = 0; i < block->n; i++) {
        uint64_t executions = as_counter_executions(all->counter, block, i);
        if (!executions)
            continue;
        if (place->module == AS_CFG_NONE)
            *place = place_of(all, image, block->address);
        uint64_t address = block->insns[i]->address - place->bias;
        uint64_t *count = as_map_put(&all->counts.data[place->module], address);
        if (!*count)
            see(all, place, block->insns[i]);
        *count += executions;
        check_bytes(all, place->module, address, block->insns[i]);
        *as_map_put(&all->ends.data[place->module], address) = address + block->insns[i]->length;
    }
    const struct as_insn *last = block->insns[block->n - 1];
    uint64_t taken = as_counter_taken(all->counter, block);
    if (place->module != AS_CFG_NONE && taken && last->target && as_insn_is_control(last))
        gather_branch(all, &(struct loaded){place->module, place->bias}, last->address, last->target, image,
                      last->class_, (double)taken);
}

/* How often the block's last instruction led to the target: `sign` times what was counted. */
static void gather_jump(struct gathering *all, const struct as_jump_count *jump, int sign)
{
    const struct as_block *block = as_engine_block(all->engine, jump->block);
    const struct as_insn *last = block->insns[block->n - 1];
    struct loaded place = all->places.data[jump->block];
    if (place.module != AS_CFG_NONE)
        gather_branch(all, &place, last->address, jump->target, as_engine_image(all->engine, block->image),
                      last->class_, sign * (double)jump->count);
}

static void gather_jumps(struct gathering *all, const struct as_jump_counter *jumps)
{
    size_t n;
    const struct as_jump_count *list = as_jump_counter_list(jumps, &n);
    for (size_t i = 0; i < n; i++)
        gather_jump(all, &list[i], 1);
}

/* A direct branch behind which measuring ended was taken, but what it leads to did not run. */
static void take_back_cuts(struct gathering *all, const struct as_jump_counter *jumps)
{
    size_t n;
    const struct as_jump_count *cuts = as_jump_counter_cuts(jumps, &n);
    for (size_t i = 0; i < n; i++) {
        const struct as_block *block = as_engine_block(all->engine, cuts[i].block);
        const struct as_insn *last = block->insns[block->n - 1];
        if (last->target == cuts[i].target && as_insn_is_control(last))
            gather_jump(all, &cuts[i], -1);
    }
}

struct counted {
    uint64_t address, end, executions;
};

static int by_address(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* A block that is left half-way, by a fault or where a region ends, and one that a region begins in: its instructions ran
 * differently often, and are blocks of their own. */
static void cut_where_counts_differ(struct gathering *all)
{
    AS_VEC(struct counted) list = {0};
    for (uint32_t m = 0; m < all->counts.len; m++) {
        const struct as_map *counts = &all->counts.data[m];
        list.len = 0;
        for (size_t i = 0; i < counts->cap; i++)
            if (counts->slots[i].used)
                *as_vec_push(&list) =
                    (struct counted){counts->slots[i].key, *as_map_get(&all->ends.data[m], counts->slots[i].key),
                                     counts->slots[i].value};
        if (list.len)
            qsort(list.data, list.len, sizeof *list.data, by_address);
        for (size_t i = 1; i < list.len; i++) {
            struct counted *one = &list.data[i];
            if (one[-1].end == one->address && one->executions != one[-1].executions)
                as_cfg_cut(all->cfg, m, one->address);
        }
    }
    as_vec_free(&list);
}

static void fill_counts(struct as_flow *flow, const struct gathering *all)
{
    for (uint32_t m = 0; m < all->counts.len; m++) {
        const struct as_cfg_module *module = as_cfg_get(flow->cfg, m);
        for (uint32_t i = 0; i < module->blocks.len; i++) {
            const struct as_cfg_block *block = &module->blocks.data[i];
            const uint64_t *count = as_map_get(&all->counts.data[m], block->start);
            flow->counts[m][i] = count ? (double)*count : 0;
        }
    }
}

struct as_flow *as_exact_flow(const struct as_engine *engine, const struct as_counter *counter,
                              const struct as_jump_counter *jumps, const struct as_exact_options *options)
{
    struct gathering all = {.engine = engine, .counter = counter, .cfg = as_cfg_new(&options->cfg)};
    as_code_versions_open(&all.versions);
    if (!options->whole) /* samples are placed by path */
        find_versions(&all);
    for (size_t i = 0; i < as_engine_count_blocks(engine); i++)
        gather_block(&all, as_engine_block(engine, i));
    gather_jumps(&all, jumps);
    take_back_cuts(&all, jumps);
    check_files(&all);
    if (!options->whole)
        cut_where_counts_differ(&all);
    as_cfg_build(all.cfg);
    struct as_flow *flow = as_flow_new(all.cfg);
    fill_counts(flow, &all);
    for (size_t i = 0; i < all.branches.len; i++)
        as_flow_add(flow, &all.branches.data[i]);
    as_flow_finish(flow);
    for (size_t i = 0; i < all.counts.len; i++)
        as_map_free(&all.counts.data[i]);
    for (size_t i = 0; i < all.ends.len; i++)
        as_map_free(&all.ends.data[i]);
    for (size_t i = 0; i < all.codes.len; i++)
        as_executed_bytes_free(&all.codes.data[i]);
    as_vec_free(&all.codes);
    as_code_versions_close(&all.versions);
    as_vec_free(&all.counts);
    as_vec_free(&all.ends);
    as_vec_free(&all.places);
    as_vec_free(&all.branches);
    return flow;
}
