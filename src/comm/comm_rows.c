/* See comm_rows.h. Contacts are added up four times, each time by another key. */
#include "comm/comm_rows.h"

#include "base/random.h"
#include "comm/comm_advice.h"
#include "comm/lock_object.h"

#include <inttypes.h>
#include <stdio.h>

enum { NONE = UINT32_MAX };

struct maker {
    struct as_comm_rows *rows;
    const struct as_comm_result *result;
    struct as_strings *names;        /* of objects: their place */
    struct as_map lines, pairs, far; /* hash: place + 1 */
    AS_VEC(struct as_guest_stack) stacks;
    AS_VEC(uint64_t) line_tops; /* by line: the count of its contact */
};

/* ---- objects ---- */

static void find_stacks(struct maker *maker)
{
    for (size_t i = 0; i < maker->result->n_threads; i++) {
        const struct as_comm_thread *thread = &maker->result->threads[i];
        *as_vec_push(&maker->stacks) = (struct as_guest_stack){.thread = thread->number,
                                                               .process = thread->process,
                                                               .start = thread->stack_start,
                                                               .end = thread->stack_end};
    }
}

/* The place of the object at an address in the list. */
static uint32_t object_at(struct maker *maker, struct as_space *space, uint32_t process, uint64_t address)
{
    const struct as_guest_lookup lookup = {.memory = maker->result->memory,
                                           .blocks = maker->result->blocks,
                                           .regions = maker->result->regions,
                                           .n_regions = maker->result->n_regions,
                                           .stacks = maker->stacks.data,
                                           .n_stacks = maker->stacks.len};
    struct as_comm_object object = {0};
    as_guest_object_find(&object.what, &lookup, space, process, address);
    char *key = as_guest_object_key(&object.what);
    size_t before = as_strings_count(maker->names);
    uint32_t place = as_strings_intern(maker->names, key);
    if (place == before)
        *as_vec_push(&maker->rows->objects) = object;
    else
        as_guest_object_free(&object.what);
    free(key);
    return place;
}

/* ---- adding up ---- */

static void add_kind(uint64_t *true_, uint64_t *false_, const struct as_contact *contact)
{
    *(contact->is_false ? false_ : true_) += contact->count;
}

/* A line can hold several objects: each contact belongs to the one that its reader touched. */
static void add_line(struct maker *maker, const struct as_contact *contact, uint32_t number, uint32_t object,
                     const char *lock)
{
    uint64_t key = as_random_hash(contact->line ^ (uint64_t)contact->process << 48) ^ object;
    uint64_t *place = as_map_put(&maker->lines, key);
    if (!*place) {
        *as_vec_push(&maker->rows->lines) =
            (struct as_comm_line){.address = contact->line, .process = contact->process, .object = object};
        *as_vec_push(&maker->line_tops) = 0;
        *place = maker->rows->lines.len;
        maker->rows->objects.data[object].lines++;
    }
    struct as_comm_line *line = &maker->rows->lines.data[*place - 1];
    uint64_t *top = &maker->line_tops.data[*place - 1];
    add_kind(&line->true_, &line->false_, contact);
    line->from_threads |= contact->from_threads;
    line->to_threads |= contact->to_threads;
    line->contact = contact->count > *top ? number : line->contact;
    line->lock = contact->count > *top ? lock : line->lock;
    *top = contact->count > *top ? contact->count : *top;
}

static void add_object(struct as_comm_object *object, const struct as_contact *contact, const char *lock)
{
    add_kind(&object->true_, &object->false_, contact);
    object->remote += contact->remote;
    object->in_lock += lock ? contact->count : 0;
    object->lock = lock ? lock : object->lock;
}

static struct as_comm_code code_of(const struct as_contact_side *side)
{
    return (struct as_comm_code){.insn = side->insn, .process = side->process, .path = side->path};
}

static void add_pair(struct maker *maker, const struct as_contact *contact, uint32_t object)
{
    struct as_comm_pair pair = {.from = code_of(&contact->from), .to = code_of(&contact->to), .object = object};
    uint64_t key = as_random_hash(as_random_hash(pair.from.insn ^ (uint64_t)pair.from.process << 48) ^ pair.to.insn);
    key = as_random_hash(key ^ ((uint64_t)pair.from.path << 32 | pair.to.path) ^ (uint64_t)pair.to.process << 24);
    uint64_t *place = as_map_put(&maker->pairs, key);
    if (!*place) {
        *as_vec_push(&maker->rows->pairs) = pair;
        *place = maker->rows->pairs.len;
    }
    struct as_comm_pair *found = &maker->rows->pairs.data[*place - 1];
    add_kind(&found->true_, &found->false_, contact);
    found->remote += contact->remote;
    if (contact->count > found->object_count) {
        found->object = object;
        found->object_count = contact->count;
    }
}

/* All transfers of the code: those that are not remote are what it is compared with. */
static void add_far(struct maker *maker, const struct as_contact *contact, uint32_t object)
{
    struct as_comm_far far = {.code = {.insn = contact->to.insn, .process = contact->to.process}, .object = object};
    uint64_t *place = as_map_put(&maker->far, as_random_hash(far.code.insn ^ (uint64_t)far.code.process << 48));
    if (!*place) {
        *as_vec_push(&maker->rows->far) = far;
        *place = maker->rows->far.len;
    }
    struct as_comm_far *found = &maker->rows->far.data[*place - 1];
    found->transfers += contact->count;
    found->remote += contact->remote;
    found->wanted += contact->remote * contact->to.size;
    if (contact->remote > found->object_count) {
        found->object = object;
        found->object_count = contact->remote;
    }
}

/* ---- in order ---- */

static int compare_counts(uint64_t a, uint64_t b)
{
    return a < b ? 1 : a > b ? -1 : 0;
}

static int by_line_count(const void *a, const void *b)
{
    const struct as_comm_line *x = a, *y = b;
    int order = compare_counts(x->true_ + x->false_, y->true_ + y->false_);
    return order ? order : x->address < y->address ? -1 : x->address > y->address;
}

static int by_pair_count(const void *a, const void *b)
{
    const struct as_comm_pair *x = a, *y = b;
    int order = compare_counts(x->true_ + x->false_, y->true_ + y->false_);
    return order ? order : x->from.insn < y->from.insn ? -1 : x->from.insn > y->from.insn;
}

static int by_remote_count(const void *a, const void *b)
{
    const struct as_comm_far *x = a, *y = b;
    int order = compare_counts(x->remote, y->remote);
    return order ? order : x->code.insn < y->code.insn ? -1 : x->code.insn > y->code.insn;
}

static void sort_far(struct as_comm_rows *rows)
{
    if (rows->far.len)
        qsort(rows->far.data, rows->far.len, sizeof *rows->far.data, by_remote_count);
    while (rows->far.len && !rows->far.data[rows->far.len - 1].remote)
        rows->far.len--;
}

struct ranked {
    uint32_t place;
    uint64_t count;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    int order = compare_counts(x->count, y->count);
    return order ? order : x->place < y->place ? -1 : 1;
}

/* Lines, pairs and advice name objects by their place, so those follow. */
static void sort_objects(struct as_comm_rows *rows)
{
    size_t n = rows->objects.len;
    struct ranked *ranks = as_alloc_array(n + 1, sizeof *ranks);
    uint32_t *places = as_alloc_array(n + 1, sizeof *places);
    struct as_comm_object *sorted = as_alloc_array(n + 1, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        ranks[i] = (struct ranked){(uint32_t)i, rows->objects.data[i].true_ + rows->objects.data[i].false_};
    qsort(ranks, n, sizeof *ranks, by_rank);
    for (size_t i = 0; i < n; i++) {
        sorted[i] = rows->objects.data[ranks[i].place];
        places[ranks[i].place] = (uint32_t)i;
    }
    if (n)
        memcpy(rows->objects.data, sorted, n * sizeof *sorted);
    for (size_t i = 0; i < rows->lines.len; i++)
        rows->lines.data[i].object = places[rows->lines.data[i].object];
    for (size_t i = 0; i < rows->pairs.len; i++)
        rows->pairs.data[i].object = places[rows->pairs.data[i].object];
    for (size_t i = 0; i < rows->far.len; i++)
        rows->far.data[i].object = places[rows->far.data[i].object];
    free(ranks);
    free(places);
    free(sorted);
}

void as_comm_rows_make(struct as_comm_rows *rows, const struct as_comm_result *result)
{
    const struct as_contacts *contacts = result->contacts;
    struct maker maker = {.rows = rows, .result = result, .names = as_strings_new()};
    find_stacks(&maker);
    for (size_t i = 0; i < contacts->list.len; i++) {
        const struct as_contact *contact = &contacts->list.data[i];
        struct as_space *space = as_comm_space(result, contact->to.process, contact->to.insn);
        uint32_t object = object_at(&maker, space, contact->process, contact->line + contact->to.offset);
        const char *lock = contact->is_false ? as_lock_object(result, contact) : NULL;
        add_object(&rows->objects.data[object], contact, lock);
        add_line(&maker, contact, (uint32_t)i, object, lock);
        add_pair(&maker, contact, object);
        add_far(&maker, contact, object);
    }
    sort_objects(rows);
    if (rows->lines.len)
        qsort(rows->lines.data, rows->lines.len, sizeof *rows->lines.data, by_line_count);
    if (rows->pairs.len)
        qsort(rows->pairs.data, rows->pairs.len, sizeof *rows->pairs.data, by_pair_count);
    sort_far(rows);
    as_comm_advice_make(rows, result);
    as_strings_free(maker.names);
    as_map_free(&maker.lines);
    as_map_free(&maker.pairs);
    as_map_free(&maker.far);
    as_vec_free(&maker.line_tops);
    as_vec_free(&maker.stacks);
}

void as_comm_rows_free(struct as_comm_rows *rows)
{
    for (size_t i = 0; i < rows->objects.len; i++)
        as_guest_object_free(&rows->objects.data[i].what);
    for (size_t i = 0; i < rows->advice.len; i++) {
        free(rows->advice.data[i].from);
        free(rows->advice.data[i].to);
        free(rows->advice.data[i].text);
    }
    as_vec_free(&rows->objects);
    as_vec_free(&rows->lines);
    as_vec_free(&rows->pairs);
    as_vec_free(&rows->far);
    as_vec_free(&rows->advice);
}
