/* See reuse_objects.h. Lines are looked at in the order of their addresses, so most belong to the object of the one before. */
#include "cmd/reuse_objects.h"

#include "base/path.h"
#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

const char *const as_reuse_object_kinds[AS_OBJECT_KINDS] = {
    [AS_OBJECT_GLOBAL] = "global",   [AS_OBJECT_BLOCKS] = "blocks", [AS_OBJECT_HEAP] = "heap",
    [AS_OBJECT_MAPPING] = "mapping", [AS_OBJECT_STACK] = "stack",   [AS_OBJECT_UNKNOWN] = "unknown"};

struct line {
    uint64_t key;
    const struct as_reuse_misses *misses;
};

struct stack {
    uint32_t thread, process;
    uint64_t start, end;
};

struct maker {
    struct as_reuse_objects *objects;
    struct as_guest_memory *memory;
    uint32_t shift;
    AS_VEC(struct line) lines;
    AS_VEC(struct stack) stacks;
    struct as_strings *names; /* their place */
    uint32_t last;            /* object of the line before, where it is one piece without blocks; UINT32_MAX: none */
    struct as_map of_site;    /* place of the object + 1 */
};

/* ---- names ---- */

static char *frame_text(const struct as_image *image, uint64_t address)
{
    struct as_location location;
    struct as_line line;
    as_space_find(image->space, address - 1, &location);
    const char *function = location.function ? location.function : as_space_name(image->space, address - 1);
    if (as_space_line(image->space, address - 1, &line) && line.line)
        return as_format("%s at %s:%d", function, as_path_base(line.file), line.line);
    return as_strdup(function);
}

static char *site_text(const struct as_image *image, const struct as_guest_site *site)
{
    struct as_str text = {0};
    as_str_add(&text, "blocks of ");
    for (int i = 0; i < AS_GUEST_FRAMES && site->frames[i]; i++) {
        char *frame = image ? frame_text(image, site->frames[i]) : as_format("0x%" PRIx64, site->frames[i]);
        as_str_addf(&text, "%s%s", i ? " < " : "", frame);
        free(frame);
    }
    return as_str_take(&text);
}

/* ---- what lies at an address ---- */

static bool find_blocks(struct as_reuse_object *object, const struct maker *maker, uint64_t address)
{
    size_t n;
    const struct as_guest_site *sites = as_guest_memory_sites(maker->memory, &n);
    uint32_t site = as_guest_memory_site_at(maker->memory, object->process, address);
    if (site >= n)
        return false;
    object->kind = AS_OBJECT_BLOCKS;
    object->site = site;
    object->name = site_text(as_guest_memory_image(maker->memory, object->process), &sites[site]);
    return true;
}

static bool find_global(struct as_reuse_object *object, const struct maker *maker, uint64_t address)
{
    struct as_variable variable;
    const struct as_image *image = as_guest_memory_image(maker->memory, object->process);
    if (!image || !as_space_variable(image->space, address, &variable))
        return false;
    object->kind = AS_OBJECT_GLOBAL;
    object->name = as_strdup(variable.name);
    object->module = as_strdup(variable.module_name);
    object->start = variable.start;
    object->end = variable.start + variable.size;
    return true;
}

static bool find_stack(struct as_reuse_object *object, const struct maker *maker, uint64_t address)
{
    for (size_t i = 0; i < maker->stacks.len; i++) {
        const struct stack *stack = &maker->stacks.data[i];
        if (stack->process != object->process || address < stack->start || address >= stack->end)
            continue;
        object->kind = AS_OBJECT_STACK;
        object->name = as_format("stack of thread %" PRIu32, stack->thread);
        object->start = stack->start;
        object->end = stack->end;
        return true;
    }
    return false;
}

static bool find_region(struct as_reuse_object *object, const struct maker *maker, uint64_t address)
{
    const struct as_guest_region *region = as_guest_memory_region(maker->memory, object->process, address);
    if (!region)
        return false;
    object->kind = region->is_heap ? AS_OBJECT_HEAP : AS_OBJECT_MAPPING;
    object->name = region->is_heap ? as_strdup("heap") : as_format("mapping at 0x%" PRIx64, region->start);
    object->start = region->start;
    object->end = region->end;
    return true;
}

static void free_object(struct as_reuse_object *object)
{
    free(object->name);
    free(object->module);
    free(object->hottest_name);
}

/* The place of the object at an address in the list. */
static uint32_t name_object(struct maker *maker, uint32_t process, uint64_t address)
{
    struct as_reuse_object object = {.kind = AS_OBJECT_UNKNOWN, .process = process};
    if (!find_blocks(&object, maker, address) && !find_global(&object, maker, address) &&
        !find_stack(&object, maker, address) && !find_region(&object, maker, address))
        object.name = as_strdup("unknown");
    if (!object.module)
        object.module = as_strdup("");
    char *key =
        as_format("%s %s %" PRIx64 " %" PRIu32 " %u", object.name, object.module, object.start, process, object.site);
    size_t before = as_strings_count(maker->names);
    uint32_t place = as_strings_intern(maker->names, key);
    if (place == before)
        *as_vec_push(&maker->objects->list) = object;
    else
        free_object(&object);
    free(key);
    return place;
}

static uint32_t object_at(struct maker *maker, uint32_t process, uint64_t address)
{
    uint32_t site = as_guest_memory_site_at(maker->memory, process, address);
    if (site == UINT32_MAX)
        return name_object(maker, process, address);
    uint64_t *place = as_map_put(&maker->of_site, site);
    if (!*place)
        *place = name_object(maker, process, address) + UINT64_C(1);
    return (uint32_t)*place - 1;
}

static bool is_one_piece(const struct maker *maker, const struct as_reuse_object *object)
{
    size_t sites;
    as_guest_memory_sites(maker->memory, &sites);
    return object->kind == AS_OBJECT_GLOBAL || object->kind == AS_OBJECT_STACK || !sites;
}

/* ---- adding up ---- */

uint64_t as_reuse_object_misses(const struct as_reuse_object *object)
{
    uint64_t sum = 0;
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        sum += object->misses[cause];
    return sum;
}

static void add_line(struct as_reuse_object *object, uint64_t address, const struct as_reuse_misses *line)
{
    uint64_t misses = 0;
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++) {
        object->misses[cause] += line->misses[cause];
        misses += line->misses[cause];
    }
    object->llc += line->llc;
    object->fetched_bytes += line->fetched_bytes;
    object->far_octaves += line->far_octaves;
    object->lines++;
    for (int byte = 0; byte < 64; byte++)
        object->bytes[byte] += line->used >> byte & 1 ? (double)misses : 0;
    if (misses > object->hottest_n) {
        object->hottest_n = misses;
        object->hottest = address;
    }
}

static void take_line(struct maker *maker, const struct line *line)
{
    uint32_t process = (uint32_t)(line->key >> 48), scale = maker->shift > 6 ? maker->shift - 6 : 0;
    uint64_t address = (line->key & ((UINT64_C(1) << 48) - 1)) << maker->shift;
    uint64_t first = address + (line->misses->used ? (uint64_t)__builtin_ctzll(line->misses->used) << scale : 0);
    struct as_reuse_object *last = maker->last != UINT32_MAX ? &maker->objects->list.data[maker->last] : NULL;
    uint32_t place = maker->last;
    if (!last || last->process != process || first < last->start || first >= last->end)
        place = object_at(maker, process, first);
    add_line(&maker->objects->list.data[place], first, line->misses);
    maker->last = is_one_piece(maker, &maker->objects->list.data[place]) ? place : UINT32_MAX;
}

static void note_leaf(void *context, uint64_t first, void *records)
{
    struct maker *maker = context;
    const struct as_reuse_misses *misses = records;
    for (uint64_t i = 0; i < 1 << AS_GRANULES_LEAF; i++) {
        uint64_t sum = 0;
        for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
            sum += misses[i].misses[cause];
        if (sum)
            *as_vec_push(&maker->lines) = (struct line){first + i, &misses[i]};
    }
}

static int by_key(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static int by_misses(const void *a, const void *b)
{
    const struct as_reuse_object *x = a, *y = b;
    uint64_t m = as_reuse_object_misses(x), n = as_reuse_object_misses(y);
    return m != n ? (m < n ? 1 : -1) : x->start != y->start ? (x->start < y->start ? -1 : 1) : strcmp(x->name, y->name);
}

static void find_stacks(struct maker *maker, const struct as_reuse *exact, const struct as_reuse_feed *feed)
{
    for (size_t i = 0; i < as_reuse_count_threads(exact); i++) {
        const struct as_reuse_thread *thread = as_reuse_get_thread(exact, i);
        struct stack stack = {.thread = thread->number, .process = thread->process};
        as_guest_memory_stack(maker->memory, thread->process, as_reuse_feed_stack(feed, thread->number), &stack.start,
                              &stack.end);
        *as_vec_push(&maker->stacks) = stack;
    }
}

static void name_hottest(struct as_reuse_object *object, const struct as_guest_memory *memory)
{
    const struct as_image *image = as_guest_memory_image(memory, object->process);
    char *member = object->kind == AS_OBJECT_GLOBAL && image ? as_space_member(image->space, object->hottest) : NULL;
    object->hottest_name = object->kind != AS_OBJECT_GLOBAL ? as_format("0x%" PRIx64, object->hottest)
                           : member                         ? as_format("%s%s", object->name, member)
                                    : as_format("%s+0x%" PRIx64, object->name, object->hottest - object->start);
    free(member);
}

void as_reuse_objects_make(struct as_reuse_objects *objects, const struct as_reuse *exact, uint32_t shift,
                           struct as_guest_memory *memory, const struct as_reuse_feed *feed)
{
    struct maker maker = {
        .objects = objects, .memory = memory, .shift = shift, .names = as_strings_new(), .last = UINT32_MAX};
    find_stacks(&maker, exact, feed);
    as_granules_each(&as_reuse_all_threads(exact)->misses, note_leaf, &maker);
    if (maker.lines.len)
        qsort(maker.lines.data, maker.lines.len, sizeof *maker.lines.data, by_key);
    for (size_t i = 0; i < maker.lines.len; i++)
        take_line(&maker, &maker.lines.data[i]);
    if (objects->list.len)
        qsort(objects->list.data, objects->list.len, sizeof *objects->list.data, by_misses);
    for (size_t i = 0; i < objects->list.len; i++)
        name_hottest(&objects->list.data[i], memory);
    as_strings_free(maker.names);
    as_map_free(&maker.of_site);
    as_vec_free(&maker.lines);
    as_vec_free(&maker.stacks);
}

void as_reuse_objects_free(struct as_reuse_objects *objects)
{
    for (size_t i = 0; i < objects->list.len; i++)
        free_object(&objects->list.data[i]);
    as_vec_free(&objects->list);
}

/* ---- numbers of an object ---- */

double as_reuse_object_used(const struct as_reuse_object *object)
{
    uint64_t misses = as_reuse_object_misses(object);
    return misses ? (double)object->fetched_bytes / (double)misses : 0;
}

uint64_t as_reuse_object_distance(const struct as_reuse_object *object)
{
    uint64_t far = object->misses[AS_MISS_CAPACITY] + object->misses[AS_MISS_CONFLICT];
    return far ? as_distance_octave_low((uint32_t)llround((double)object->far_octaves / (double)far)) : 0;
}

char *as_reuse_object_bytes(const struct as_reuse_object *object)
{
    double least = (double)as_reuse_object_misses(object) / 10;
    struct as_str text = {0};
    for (int from = 0, to; from < 64; from = to + 1) {
        for (to = from; to < 64 && object->bytes[to] > least; to++)
            ;
        if (to > from)
            as_str_addf(&text, to - from > 1 ? "%s%d-%d" : "%s%d", text.len ? " " : "", from, to - 1);
    }
    return as_str_take(&text);
}
