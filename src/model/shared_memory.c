/* See shared_memory.h. */
#include "model/shared_memory.h"

#include "base/random.h"
#include "model/process_ranges.h"

enum { PIECE_SHIFT = 30, MOST_PIECES = 1 << (47 - PIECE_SHIFT), MOST_RANGES = 1 << 12 };
#define PIECE_MASK ((UINT64_C(1) << PIECE_SHIFT) - 1)

struct process {
    struct as_process_ranges memory;
    uint32_t image;
};

/* 1 GiB of an object. */
struct piece {
    uint32_t process; /* that mapped it first … */
    uint64_t origin;  /* … and the address that the piece's first byte would have there */
};

struct as_shared_memory {
    struct as_process_table processes;
    struct as_map piece_numbers; /* hash of object and part: place + 1 */
    AS_VEC(struct piece) pieces;
};

struct as_shared_memory *as_shared_memory_new(void)
{
    struct as_shared_memory *shared = as_alloc(sizeof *shared);
    shared->processes.size = sizeof(struct process);
    return shared;
}

void as_shared_memory_free(struct as_shared_memory *shared)
{
    if (!shared)
        return;
    as_process_table_free(&shared->processes, NULL);
    as_vec_free(&shared->pieces);
    as_map_free(&shared->piece_numbers);
    free(shared);
}

const struct as_shared_ranges *as_shared_memory_of(struct as_shared_memory *shared, uint32_t number)
{
    const struct as_process_ranges *process = as_process_table_get(&shared->processes, number);
    return &process->ranges;
}

/* ---- objects ---- */

/* NULL: there are too many. `address`: where the process has the object's byte at `offset`. */
static struct piece *piece_at(struct as_shared_memory *shared, const struct as_mapping *mapping, uint32_t process,
                              uint64_t offset, uint64_t address)
{
    uint64_t key = as_random_hash(as_random_hash(mapping->object) ^ offset >> PIECE_SHIFT);
    uint64_t *place = as_map_put(&shared->piece_numbers, key);
    if (!*place && shared->pieces.len == MOST_PIECES)
        return NULL;
    if (!*place) {
        *as_vec_push(&shared->pieces) = (struct piece){.process = process, .origin = address - (offset & PIECE_MASK)};
        *place = shared->pieces.len;
    }
    return &shared->pieces.data[*place - 1];
}

/* ---- ranges ---- */

static void add(struct as_shared_memory *shared, struct as_process_ranges *process, const struct as_mapping *mapping)
{
    uint64_t done = 0;
    while (done < mapping->bytes) {
        uint64_t offset = mapping->offset + done, within = offset & PIECE_MASK, room = PIECE_MASK + 1 - within;
        uint64_t bytes = mapping->bytes - done < room ? mapping->bytes - done : room, start = mapping->start + done;
        struct piece *piece = piece_at(shared, mapping, process->number, offset, start);
        if (!piece || process->list.len == MOST_RANGES)
            return;
        uint64_t physical = AS_SHARED_BIT | (uint64_t)(piece - shared->pieces.data) << PIECE_SHIFT | within;
        as_range_list_insert(&process->list, (struct as_shared_range){start, start + bytes, physical});
        done += bytes;
    }
}

void as_shared_memory_map(struct as_shared_memory *shared, uint32_t number, const struct as_mapping *mapping)
{
    struct as_process_ranges *process = as_process_table_get(&shared->processes, number);
    if (mapping->start >= AS_SHARED_BIT || mapping->bytes > AS_SHARED_BIT - mapping->start ||
        (!mapping->object && !process->list.len))
        return;
    as_range_list_cut(&process->list, mapping->start, mapping->start + mapping->bytes);
    if (mapping->object)
        add(shared, process, mapping);
    as_process_ranges_refresh(process);
}

void as_shared_memory_fork(struct as_shared_memory *shared, uint32_t parent, uint32_t child)
{
    const struct as_process_ranges *from = as_process_table_get(&shared->processes, parent);
    struct as_process_ranges *to = as_process_table_get(&shared->processes, child);
    as_vec_clear(&to->list);
    for (size_t i = 0; i < from->list.len; i++)
        *as_vec_push(&to->list) = from->list.data[i];
    as_process_ranges_refresh(to);
}

/* ---- the sink ---- */

/* Another program has none of its predecessor's memory. */
static void on_thread_start(void *context, struct as_thread *thread)
{
    struct as_shared_memory *shared = context;
    struct process *process = as_process_table_get(&shared->processes, thread->process);
    uint32_t image = thread->image ? thread->image->number : 0;
    if (process->image != image) {
        as_vec_clear(&process->memory.list);
        as_process_ranges_refresh(&process->memory);
    }
    process->image = image;
}

static void on_mapping(void *context, struct as_thread *thread, const struct as_mapping *mapping)
{
    as_shared_memory_map(context, thread->process, mapping);
}

const struct as_sink as_shared_memory_sink = {.thread_start = on_thread_start, .mapping = on_mapping};

/* ---- answers ---- */

bool as_shared_memory_home(const struct as_shared_memory *shared, uint32_t *process, uint64_t *address)
{
    uint64_t number = (*address & (AS_SHARED_BIT - 1)) >> PIECE_SHIFT;
    if (!as_shared_is(*address) || number >= shared->pieces.len)
        return false;
    *process = shared->pieces.data[number].process;
    *address = shared->pieces.data[number].origin + (*address & PIECE_MASK);
    return true;
}
