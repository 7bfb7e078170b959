/* See groups.h. Blocks are cut by symbol/blocks.h, separately for each image. */
#include "model/groups.h"

#include "base/map.h"
#include "base/vec.h"
#include "count/function_cache.h"
#include "count/targets.h"
#include "symbol/blocks.h"

#include <inttypes.h>
#include <stdio.h>

static uint32_t name_function(struct as_strings *names, const struct as_location *location, uint64_t address)
{
    char key[8192];
    if (location->function)
        snprintf(key, sizeof key, "%s (%s)", location->function, location->module_name);
    else if (location->function_start)
        snprintf(key, sizeof key, "%s+0x%" PRIx64 " (%s)", location->module_name,
                 location->module_offset - (address - location->function_start), location->module_name);
    else
        snprintf(key, sizeof key, "? (%s)", location->module_name);
    return as_strings_intern(names, key);
}

/* The number of the function of an instruction. Each function is added to the blocks once. */
static uint32_t find_function(struct as_groups *groups, const struct as_model *model, const struct as_insn *insn,
                              struct as_blocks *blocks, struct as_function_cache *known)
{
    struct as_location location;
    uint32_t number, image = as_engine_insn_image(as_model_engine(model), insn->id);
    as_model_locate(model, insn->id, &location);
    if (as_function_cache_get(known, image, &location, &number))
        return number;
    if (location.function_start)
        as_blocks_add_function(blocks, location.function_start, location.function_size);
    number = name_function(groups->function_names, &location, insn->address);
    as_function_cache_put(known, image, &location, number);
    return number;
}

/* The instructions of an image, in the order of their numbers. */
typedef AS_VEC(uint32_t) id_list;

/* Cuts the blocks of one image; their numbers start at `first`. Returns how many there are. */
static uint32_t cut_image(struct as_groups *groups, const struct as_model *model, uint32_t image, const id_list *ids,
                          uint32_t first)
{
    const struct as_engine *engine = as_model_engine(model);
    struct as_blocks *blocks = as_blocks_new();
    struct as_function_cache known = {0};
    size_t n_leaders;
    for (size_t i = 0; i < ids->len; i++) {
        const struct as_insn *insn = as_engine_insn(engine, ids->data[i]);
        as_blocks_add_insn(blocks, insn);
        groups->function_of[insn->id] = find_function(groups, model, insn, blocks, &known);
    }
    as_function_cache_free(&known);
    const uint64_t *leaders = as_model_leaders(model, &n_leaders);
    for (size_t i = 0; i < n_leaders; i++)
        if (leaders[i] >> 48 == image)
            as_blocks_add_leader(blocks, as_target_address(leaders[i]));
    as_blocks_finish(blocks);
    for (size_t i = 0; i < ids->len; i++) {
        const struct as_insn *insn = as_engine_insn(engine, ids->data[i]);
        const struct as_basic_block *block = as_blocks_find(blocks, insn->address);
        groups->block_of[insn->id] = block ? first + (uint32_t)(block - as_blocks_get(blocks, 0)) : UINT32_MAX;
    }
    uint32_t count = (uint32_t)as_blocks_count(blocks);
    as_blocks_free(blocks);
    return count;
}

/* Their ids by image, for images 1 to `n_images`. */
static id_list *sort_by_image(const struct as_engine *engine, uint32_t n_images)
{
    id_list *lists = as_alloc_array((size_t)n_images + 1, sizeof *lists);
    size_t n = as_engine_count_insns(engine);
    for (uint32_t id = 0; id < n; id++) {
        uint32_t image = as_engine_insn_image(engine, id);
        if (image <= n_images)
            *as_vec_push(&lists[image]) = id;
    }
    return lists;
}

void as_groups_make(struct as_groups *groups, const struct as_model *model)
{
    const struct as_engine *engine = as_model_engine(model);
    size_t n = as_engine_count_insns(engine);
    uint32_t blocks = 0, n_images = 0;
    while (as_engine_image(engine, n_images + 1))
        n_images++;
    id_list *lists = sort_by_image(engine, n_images);
    groups->function_names = as_strings_new();
    groups->block_of = as_alloc_array(n ? n : 1, sizeof *groups->block_of);
    groups->function_of = as_alloc_array(n ? n : 1, sizeof *groups->function_of);
    for (uint32_t image = 0; image <= n_images; image++) {
        if (image > 0)
            blocks += cut_image(groups, model, image, &lists[image], blocks);
        as_vec_free(&lists[image]);
    }
    free(lists);
    groups->blocks = (struct as_grouping){.of = groups->block_of, .n = n, .count = blocks};
    groups->functions = (struct as_grouping){
        .of = groups->function_of, .n = n, .count = (uint32_t)as_strings_count(groups->function_names)};
}

void as_groups_free(struct as_groups *groups)
{
    if (groups->function_names)
        as_strings_free(groups->function_names);
    free(groups->block_of);
    free(groups->function_of);
    *groups = (struct as_groups){0};
}

struct as_levels as_groups_levels(const struct as_groups *groups)
{
    return (struct as_levels){{
        [AS_LEVEL_BLOCK] = &groups->blocks,
        [AS_LEVEL_FUNCTION] = &groups->functions,
        [AS_LEVEL_PROGRAM] = &as_grouping_program,
    }};
}

const char *as_groups_function(const struct as_groups *groups, uint32_t function)
{
    return as_strings_get(groups->function_names, function);
}
