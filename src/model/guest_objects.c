/* See guest_objects.h. */
#include "model/guest_objects.h"

#include "base/path.h"
#include "base/str.h"

#include <inttypes.h>

const char *const as_guest_kinds[AS_GUEST_KINDS] = {
    [AS_GUEST_GLOBAL] = "global",   [AS_GUEST_BLOCKS] = "blocks", [AS_GUEST_HEAP] = "heap",
    [AS_GUEST_MAPPING] = "mapping", [AS_GUEST_SHARED] = "shared", [AS_GUEST_STACK] = "stack",
    [AS_GUEST_UNKNOWN] = "unknown"};

/* ---- blocks ---- */

static char *frame_text(struct as_space *space, uint64_t address)
{
    struct as_location location;
    struct as_line line;
    as_space_find(space, address - 1, &location);
    const char *function = location.function ? location.function : as_space_name(space, address - 1);
    if (as_space_line(space, address - 1, &line) && line.line)
        return as_format("%s at %s:%d", function, as_path_base(line.file), line.line);
    return as_strdup(function);
}

static char *site_text(struct as_space *space, const struct as_guest_site *site)
{
    struct as_str text = {0};
    as_str_add(&text, "blocks of ");
    for (int i = 0; i < AS_GUEST_FRAMES && site->frames[i]; i++) {
        char *frame = space ? frame_text(space, site->frames[i]) : as_format("0x%" PRIx64, site->frames[i]);
        as_str_addf(&text, "%s%s", i ? " < " : "", frame);
        free(frame);
    }
    return as_str_take(&text);
}

static bool find_blocks(struct as_guest_object *object, const struct as_guest_lookup *lookup, struct as_space *space,
                        uint64_t address)
{
    size_t n;
    struct as_guest_memory *memory = lookup->memory ? lookup->memory : lookup->blocks;
    if (!memory)
        return false;
    const struct as_guest_site *sites = as_guest_memory_sites(memory, &n);
    const struct as_image *image = as_guest_memory_image(memory, object->process);
    uint32_t site = as_guest_memory_site_at(memory, object->process, address);
    if (site >= n)
        return false;
    object->kind = AS_GUEST_BLOCKS;
    object->site = site;
    object->name = site_text(image ? image->space : lookup->memory ? NULL : space, &sites[site]);
    return true;
}

/* ---- the others ---- */

static bool find_global(struct as_guest_object *object, struct as_space *space, uint64_t address)
{
    struct as_variable variable;
    if (!space || !as_space_variable(space, address, &variable))
        return false;
    object->kind = AS_GUEST_GLOBAL;
    object->name = as_strdup(variable.name);
    object->module = as_strdup(variable.module_name);
    object->start = variable.start;
    object->end = variable.start + variable.size;
    return true;
}

static bool find_stack(struct as_guest_object *object, const struct as_guest_lookup *lookup, uint64_t address)
{
    for (size_t i = 0; i < lookup->n_stacks; i++) {
        const struct as_guest_stack *stack = &lookup->stacks[i];
        if (stack->process != object->process || address < stack->start || address >= stack->end)
            continue;
        object->kind = AS_GUEST_STACK;
        object->name = as_format("stack of thread %" PRIu32, stack->thread);
        object->start = stack->start;
        object->end = stack->end;
        return true;
    }
    return false;
}

static bool take_region(struct as_guest_object *object, const struct as_guest_region *region)
{
    if (!region)
        return false;
    object->kind = region->shared ? AS_GUEST_SHARED : region->is_heap ? AS_GUEST_HEAP : AS_GUEST_MAPPING;
    object->name = region->shared    ? as_strdup(region->shared)
                   : region->is_heap ? as_strdup("heap")
                                     : as_format("mapping at 0x%" PRIx64, region->start);
    object->start = region->start;
    object->end = region->end;
    return true;
}

/* Memory that processes share has an address of one of them, where another may have something else: that comes first. */
void as_guest_object_find(struct as_guest_object *object, const struct as_guest_lookup *lookup, struct as_space *space,
                          uint32_t process, uint64_t address)
{
    const struct as_guest_region *region =
        lookup->memory ? as_guest_memory_region(lookup->memory, process, address)
                       : as_guest_region_at(lookup->regions, lookup->n_regions, process, address);
    *object = (struct as_guest_object){.kind = AS_GUEST_UNKNOWN, .process = process};
    if (region && region->shared)
        take_region(object, region);
    else if (!find_blocks(object, lookup, space, address) && !find_global(object, space, address) &&
             !find_stack(object, lookup, address) && !take_region(object, region))
        object->name = as_strdup("unknown");
    if (!object->module)
        object->module = as_strdup("");
}

void as_guest_object_free(struct as_guest_object *object)
{
    free(object->name);
    free(object->module);
}

char *as_guest_object_key(const struct as_guest_object *object)
{
    return as_format("%s %s %" PRIx64 " %" PRIu32 " %" PRIu32, object->name, object->module, object->start,
                     object->process, object->site);
}
