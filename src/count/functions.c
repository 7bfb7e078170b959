/* Assigns every executed instruction to the function whose symbol covers it. Code without symbols is cut into functions
 * at the addresses that were called. */
#include "count/functions.h"

#include "base/map.h"
#include "base/search.h"
#include "base/str.h"
#include "count/function_cache.h"
#include "count/targets.h"

#include <inttypes.h>
#include <stdio.h>

struct gathering {
    const struct as_engine *engine;
    const struct as_counter *counter;
    struct as_strings *names; /* "module\nfunction" to an index of functions */
    as_function_counts functions;
    struct as_function_cache known;
    AS_VEC(uint64_t) entries; /* sorted addresses that were called; image in the high 16 bits */
};

static int compare_addresses(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void gather_entries(struct gathering *all)
{
    for (size_t i = 0; i < as_engine_count_blocks(all->engine); i++) {
        const struct as_block *block = as_engine_block(all->engine, i);
        const struct as_insn *last = block->insns[block->n - 1];
        if (last->class_ == AS_CLASS_CALL && as_counter_executions(all->counter, block, block->n - 1))
            *as_vec_push(&all->entries) = as_target_key(block->image, last->target);
    }
    size_t n;
    const uint64_t *seen = as_counter_indirect_targets(all->counter, &n);
    for (size_t i = 0; i < n; i++)
        *as_vec_push(&all->entries) = seen[i];
    if (all->entries.len)
        qsort(all->entries.data, all->entries.len, sizeof(uint64_t), compare_addresses);
}

/* The nearest called address at or below, or the address itself. */
static uint64_t entry_before(const struct gathering *all, uint32_t image, uint64_t address)
{
    uint64_t key = as_target_key(image, address);
    size_t at = as_search(0, all->entries.len, i, all->entries.data[i] <= key);
    bool found = at > 0 && all->entries.data[at - 1] >> 48 == image;
    return found ? as_target_address(all->entries.data[at - 1]) : address;
}

static void name_function(const struct gathering *all, const struct as_image *image, uint64_t address,
                          const struct as_location *location, struct as_str *name)
{
    struct as_location entry;
    if (location->function) {
        as_str_add(name, location->function);
        return;
    }
    uint64_t start = location->function_start;
    as_space_find(image->space, start ? start : entry_before(all, image->number, address), &entry);
    if (strcmp(entry.module, location->module) != 0)
        entry = *location;
    as_str_addf(name, "%s+0x%" PRIx64, location->module_name, entry.module_offset);
}

static struct as_function_count *function_at(struct gathering *all, const struct as_image *image,
                                             const struct as_insn *insn, struct as_location *location)
{
    struct as_str name = {0}, key = {0};
    uint32_t id;
    as_engine_locate(all->engine, insn->id, location);
    if (as_function_cache_get(&all->known, image->number, location, &id))
        return &all->functions.data[id];
    name_function(all, image, insn->address, location, &name);
    as_str_addf(&key, "%s\n%s", location->module, as_str_get(&name));
    id = as_strings_intern(all->names, as_str_get(&key));
    as_function_cache_put(&all->known, image->number, location, id);
    if (id == all->functions.len)
        *as_vec_push(&all->functions) =
            (struct as_function_count){.module = as_strdup(location->module), .function = as_str_take(&name)};
    as_str_free(&key);
    as_str_free(&name);
    return &all->functions.data[id];
}

static void gather_block(struct gathering *all, const struct as_block *block)
{
    const struct as_image *image = as_engine_image(all->engine, block->image);
    struct as_function_count *function = NULL;
    struct as_location location = {0};
    for (uint32_t i = 0; i < block->n; i++) {
        uint64_t executions = as_counter_executions(all->counter, block, i), address = block->insns[i]->address;
        if (!executions)
            continue;
        if (!function || (location.function_start && address - location.function_start >= location.function_size))
            function = function_at(all, image, block->insns[i], &location);
        function->instructions += executions;
    }
}

static int compare_functions(const void *a, const void *b)
{
    const struct as_function_count *x = a, *y = b;
    if (x->instructions != y->instructions)
        return x->instructions < y->instructions ? 1 : -1;
    int modules = strcmp(x->module, y->module);
    return modules ? modules : strcmp(x->function, y->function);
}

as_function_counts as_functions_count(const struct as_engine *engine, const struct as_counter *counter)
{
    struct gathering all = {.engine = engine, .counter = counter, .names = as_strings_new()};
    gather_entries(&all);
    for (size_t i = 0; i < as_engine_count_blocks(engine); i++)
        gather_block(&all, as_engine_block(engine, i));
    if (all.functions.len)
        qsort(all.functions.data, all.functions.len, sizeof all.functions.data[0], compare_functions);
    as_strings_free(all.names);
    as_vec_free(&all.entries);
    as_function_cache_free(&all.known);
    return all.functions;
}

void as_functions_free(as_function_counts *functions)
{
    for (size_t i = 0; i < functions->len; i++) {
        free(functions->data[i].module);
        free(functions->data[i].function);
    }
    as_vec_free(functions);
}
