/* See record_waits.h. Rows are kept in the order in which they are first met, with an index by hash. */
#include "record/record_waits.h"

#include "base/random.h"
#include "model/guest_memory.h"
#include "model/shared_memory.h"

#include <inttypes.h>

enum { MOST = 1 << 20 };

struct wait {
    struct as_transfer like; /* of all but time and cycles */
    uint64_t cycles, transfers;
    uint32_t next; /* another one of the same hash + 1 */
};

struct as_record_waits {
    struct as_model *model;
    struct as_guest_memory *memory;
    AS_VEC(struct wait) list;
    struct as_map index; /* of a hash: its first place in the list + 1 */
    uint64_t dropped;    /* transfers beyond the most rows */
    /* While they are written: */
    struct as_record_code *code;
    const struct as_record_threads *threads;
    struct as_strings *objects; /* by a key of their own: ids are numbers in the profile */
    uint64_t scale;
    uint32_t series;
};

/* ---- during the run ---- */

static uint64_t hash_of(const struct as_transfer *transfer)
{
    uint64_t hash = as_random_hash(transfer->line ^ (uint64_t)transfer->process << 48);
    hash = as_random_hash(hash ^ ((uint64_t)transfer->from_insn << 32 | transfer->to_insn));
    hash = as_random_hash(hash ^ ((uint64_t)transfer->from << 32 | transfer->to));
    return as_random_hash(hash ^
                          ((uint64_t)transfer->offset << 16 | (uint64_t)transfer->kind << 8 | transfer->overlaps));
}

static bool is_same(const struct as_transfer *a, const struct as_transfer *b)
{
    return a->line == b->line && a->process == b->process && a->from_insn == b->from_insn && a->to_insn == b->to_insn &&
           a->from == b->from && a->to == b->to && a->offset == b->offset && a->kind == b->kind &&
           a->overlaps == b->overlaps;
}

static void on_transfer(void *context, const struct as_transfer *transfer)
{
    struct as_record_waits *waits = context;
    uint64_t *first = as_map_put(&waits->index, hash_of(transfer));
    struct wait *found = NULL;
    for (uint64_t place = *first; place && !found; place = waits->list.data[place - 1].next)
        if (is_same(&waits->list.data[place - 1].like, transfer))
            found = &waits->list.data[place - 1];
    if (!found && waits->list.len == MOST) {
        waits->dropped++;
        return;
    }
    if (!found) {
        found = as_vec_push(&waits->list);
        *found = (struct wait){.like = *transfer, .next = (uint32_t)*first};
        *first = waits->list.len;
    }
    found->cycles += transfer->cycles;
    found->transfers++;
}

struct as_record_waits *as_record_waits_new(struct as_model *model)
{
    struct as_record_waits *waits = as_alloc(sizeof *waits);
    waits->model = model;
    waits->memory = as_guest_memory_new();
    as_model_set_transfers(model, on_transfer, waits);
    as_model_set_calls(model, &as_guest_memory_sink, waits->memory);
    return waits;
}

void as_record_waits_free(struct as_record_waits *waits)
{
    if (!waits)
        return;
    as_guest_memory_free(waits->memory);
    as_vec_free(&waits->list);
    as_map_free(&waits->index);
    free(waits);
}

/* ---- objects ---- */

static uint32_t add_object(struct as_record_waits *waits, const struct as_store_object *object)
{
    char *key = as_format("%" PRIu32 " %" PRIx64 " %" PRIx64 " %s", object->module, object->address, object->size,
                          object->name);
    size_t before = as_strings_count(waits->objects);
    uint32_t number = as_strings_intern(waits->objects, key);
    if (number == before)
        as_store_add_object(waits->code->writer, object);
    free(key);
    return number;
}

/* The heap, or what else the program asked the kernel for. */
static uint32_t region_at(struct as_record_waits *waits, uint32_t process, uint64_t address)
{
    const struct as_guest_region *region = as_guest_memory_region(waits->memory, process, address);
    if (!region)
        return AS_STORE_NONE;
    const char *name = region->shared     ? region->shared
                       : region->is_heap  ? "[heap]"
                       : region->is_stack ? "[stack of a thread]"
                                          : "[anon]";
    return add_object(waits, &(struct as_store_object){.module = AS_STORE_NONE,
                                                       .name = name,
                                                       .address = region->start,
                                                       .size = region->end - region->start});
}

/* What lies at the address of a wait, and the part of it. */
static void name_data(struct as_record_waits *waits, const struct as_transfer *transfer, struct as_store_wait *row)
{
    const struct as_engine *engine = as_model_engine(waits->model);
    const struct as_image *image = as_engine_image(engine, as_engine_insn_image(engine, transfer->to_insn));
    uint32_t process = transfer->process;
    uint64_t address = transfer->line + transfer->offset, start;
    struct as_variable variable;
    row->object = row->place = AS_STORE_NONE;
    bool shared = as_shared_memory_home(as_model_shared(waits->model), &process, &address);
    if (shared || !as_space_variable(image->space, address, &variable)) {
        row->line = address - transfer->offset;
        row->object = region_at(waits, process, address);
        return;
    }
    start = variable.start;
    uint32_t module = as_record_code_data(waits->code, image, &start);
    uint64_t shift = start - variable.start;
    row->line += shift;
    row->object = add_object(waits, &(struct as_store_object){module, variable.name, start, variable.size});
    char *member = variable.is_object ? as_space_member(image->space, address) : NULL;
    if (member && *member) {
        char *name = as_format("%s%s", variable.name, member);
        row->place = add_object(waits, &(struct as_store_object){module, name, address + shift, transfer->size});
        free(name);
    }
    free(member);
}

/* ---- rows ---- */

static uint32_t thread_of(const struct as_record_waits *waits, uint32_t number, uint32_t id)
{
    uint32_t image = id < waits->code->n ? as_engine_insn_image(as_model_engine(waits->model), id) : 0;
    return as_record_thread_of(waits->threads, number, image);
}

static uint32_t insn_of(const struct as_record_waits *waits, uint32_t id)
{
    return id < waits->code->n ? waits->code->number_of[id] : AS_STORE_NONE;
}

/* False: a side is not in the profile. */
static bool add_wait(struct as_record_waits *waits, const struct wait *wait)
{
    const struct as_transfer *like = &wait->like;
    struct as_store_wait row = {.series = waits->series,
                                .thread = thread_of(waits, like->to, like->to_insn),
                                .instruction = insn_of(waits, like->to_insn),
                                .other = thread_of(waits, like->from, like->from_insn),
                                .culprit = insn_of(waits, like->from_insn),
                                .line = like->line,
                                .offset = like->offset,
                                .kind = like->kind,
                                .sharing = like->overlaps,
                                .units = wait->cycles * waits->scale,
                                .transfers = wait->transfers};
    if (row.instruction == AS_STORE_NONE || row.thread == AS_STORE_NONE || row.other == AS_STORE_NONE)
        return false;
    name_data(waits, like, &row);
    as_store_add_wait(waits->code->writer, &row);
    return true;
}

void as_record_waits_add(struct as_record_waits *waits, struct as_record_code *code,
                         const struct as_record_threads *threads, uint32_t series, uint64_t scale)
{
    waits->code = code;
    waits->threads = threads;
    waits->series = series;
    waits->scale = scale;
    waits->objects = as_strings_new();
    for (size_t i = 0; i < waits->list.len; i++)
        waits->dropped += add_wait(waits, &waits->list.data[i]) ? 0 : waits->list.data[i].transfers;
    if (waits->dropped)
        as_store_add_quality(code->writer, "waits_dropped", (double)waits->dropped,
                             "transfers of lines that are not among the waits: too many different ones, or code that "
                             "was not measured");
    as_strings_free(waits->objects);
}
