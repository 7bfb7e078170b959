/* See reuse_objects.h. Lines are looked at in the order of their addresses, so most belong to the object of the one before. It is
 * leaves of 64 lines that are sorted: a list of all lines would take half as much again as what is known of them. */
#include "reuse/reuse_objects.h"

#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct leaf {
    uint64_t first;
    const struct as_reuse_misses *lines;
    size_t n;
};

struct maker {
    struct as_reuse_objects *objects;
    struct as_guest_memory *memory;
    const struct as_moved_memory *moved;
    uint32_t shift;
    AS_VEC(struct leaf) leaves;
    AS_VEC(struct as_guest_stack) stacks;
    struct as_strings *names; /* their place */
    uint64_t offset;          /* of the object that was named last from where it was first */
    uint32_t last;            /* object of the line before, where it is one piece without blocks; UINT32_MAX: none */
    struct as_map of_site;    /* place of the object + 1 */
};

/* ---- what lies at an address ---- */

static void free_object(struct as_reuse_object *object)
{
    as_guest_object_free(&object->what);
    free(object->hottest_name);
}

/* Equal for the same object, also of a library that was opened again elsewhere: by its file and the place in it. */
static char *key_of(const struct as_guest_object *object, struct as_space *space)
{
    struct as_variable variable;
    if (object->kind != AS_GUEST_GLOBAL || !space || !as_space_variable(space, object->start, &variable))
        return as_guest_object_key(object);
    return as_format("%s %s %" PRIx64 " %" PRIu32, object->name, variable.module, variable.module_offset,
                     object->process);
}

/* The place of the object at an address in the list. */
static uint32_t name_object(struct maker *maker, uint32_t process, uint64_t address)
{
    const struct as_guest_lookup lookup = {
        .memory = maker->memory, .stacks = maker->stacks.data, .n_stacks = maker->stacks.len};
    const struct as_image *image = as_guest_memory_image(maker->memory, process);
    struct as_reuse_object object = {0};
    as_guest_object_find(&object.what, &lookup, image ? image->space : NULL, process, address);
    char *key = key_of(&object.what, image ? image->space : NULL);
    size_t before = as_strings_count(maker->names);
    uint32_t place = as_strings_intern(maker->names, key);
    if (place == before)
        *as_vec_push(&maker->objects->list) = object;
    maker->offset = object.what.start - maker->objects->list.data[place].what.start;
    if (place != before)
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
    return object->what.kind == AS_GUEST_GLOBAL || object->what.kind == AS_GUEST_STACK || !sites;
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
    uint64_t far = line->misses[AS_MISS_CAPACITY] + line->misses[AS_MISS_CONFLICT];
    uint64_t middle = far ? (line->far_octaves + far / 2) / far : 0;
    object->octaves[middle < AS_DISTANCE_OCTAVES ? middle : AS_DISTANCE_OCTAVES - 1] += far;
    object->lines++;
    for (int byte = 0; byte < 64; byte++)
        object->bytes[byte] += line->last >> byte & 1 ? (double)misses : 0;
    if (misses > object->hottest_n) {
        object->hottest_n = misses;
        object->hottest = address;
    }
}

static void take_line(struct maker *maker, uint64_t key, const struct as_reuse_misses *line)
{
    uint32_t process = (uint32_t)(key >> 48), scale = maker->shift > 6 ? maker->shift - 6 : 0;
    uint64_t name = (key & ((UINT64_C(1) << 48) - 1)) << maker->shift;
    uint64_t address = as_moved_memory_home(maker->moved, process, name);
    uint64_t first = address + (line->used ? (uint64_t)__builtin_ctzll(line->used) << scale : 0);
    struct as_reuse_object *last = maker->last != UINT32_MAX ? &maker->objects->list.data[maker->last] : NULL;
    uint32_t place = maker->last;
    maker->offset = 0;
    if (!last || last->what.process != process || first < last->what.start || first >= last->what.end)
        place = object_at(maker, process, first);
    add_line(&maker->objects->list.data[place], first - maker->offset, line);
    maker->last = is_one_piece(maker, &maker->objects->list.data[place]) ? place : UINT32_MAX;
}

static void take_leaf(struct maker *maker, const struct leaf *leaf)
{
    for (uint64_t i = 0; i < leaf->n; i++) {
        uint64_t sum = 0;
        for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
            sum += leaf->lines[i].misses[cause];
        if (sum)
            take_line(maker, leaf->first + i, &leaf->lines[i]);
    }
}

static void note_leaf(void *context, uint64_t first, void *records, size_t n)
{
    *as_vec_push(&((struct maker *)context)->leaves) = (struct leaf){first, records, n};
}

static int by_address(const void *a, const void *b)
{
    const struct leaf *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static int by_misses(const void *a, const void *b)
{
    const struct as_reuse_object *x = a, *y = b;
    uint64_t m = as_reuse_object_misses(x), n = as_reuse_object_misses(y);
    return m != n                           ? (m < n ? 1 : -1)
           : x->what.start != y->what.start ? (x->what.start < y->what.start ? -1 : 1)
                                            : strcmp(x->what.name, y->what.name);
}

static void find_stacks(struct maker *maker, const struct as_reuse *exact, const struct as_reuse_feed *feed)
{
    for (size_t i = 0; i < as_reuse_count_threads(exact); i++) {
        const struct as_reuse_thread *thread = as_reuse_get_thread(exact, i);
        struct as_guest_stack stack = {.thread = thread->number, .process = thread->process};
        uint64_t top = as_moved_memory_home(maker->moved, thread->process, as_reuse_feed_stack(feed, thread->number));
        as_guest_memory_stack(maker->memory, thread->process, top, &stack.start, &stack.end);
        *as_vec_push(&maker->stacks) = stack;
    }
}

static void name_hottest(struct as_reuse_object *object, const struct as_guest_memory *memory)
{
    const struct as_guest_object *what = &object->what;
    const struct as_image *image = as_guest_memory_image(memory, what->process);
    char *member = what->kind == AS_GUEST_GLOBAL && image ? as_space_member(image->space, object->hottest) : NULL;
    object->hottest_name = what->kind != AS_GUEST_GLOBAL ? as_format("0x%" PRIx64, object->hottest)
                           : member                      ? as_format("%s%s", what->name, member)
                                    : as_format("%s+0x%" PRIx64, what->name, object->hottest - what->start);
    free(member);
}

void as_reuse_objects_make(struct as_reuse_objects *objects, const struct as_reuse *exact, uint32_t shift,
                           struct as_guest_memory *memory, const struct as_moved_memory *moved,
                           const struct as_reuse_feed *feed)
{
    struct maker maker = {.objects = objects,
                          .memory = memory,
                          .moved = moved,
                          .shift = shift,
                          .names = as_strings_new(),
                          .last = UINT32_MAX};
    find_stacks(&maker, exact, feed);
    as_granules_each(&as_reuse_all_threads(exact)->misses, note_leaf, &maker);
    if (maker.leaves.len)
        qsort(maker.leaves.data, maker.leaves.len, sizeof *maker.leaves.data, by_address);
    for (size_t i = 0; i < maker.leaves.len; i++)
        take_leaf(&maker, &maker.leaves.data[i]);
    if (objects->list.len)
        qsort(objects->list.data, objects->list.len, sizeof *objects->list.data, by_misses);
    for (size_t i = 0; i < objects->list.len; i++)
        name_hottest(&objects->list.data[i], memory);
    as_strings_free(maker.names);
    as_map_free(&maker.of_site);
    as_vec_free(&maker.leaves);
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
