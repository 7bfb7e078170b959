/* See shared_memory.h. */
#include "model/shared_memory.h"

#include "base/random.h"

enum { PIECE_SHIFT = 30, MOST_PIECES = 1 << (47 - PIECE_SHIFT), MOST_RANGES = 1 << 12 };
#define PIECE_MASK ((UINT64_C(1) << PIECE_SHIFT) - 1)

struct process {
    uint32_t number, image;
    struct as_shared_ranges ranges;
    AS_VEC(struct as_shared_range) list;
};

/* 1 GiB of an object. */
struct piece {
    uint32_t process; /* that mapped it first … */
    uint64_t origin;  /* … and the address that the piece's first byte would have there */
};

struct as_shared_memory {
    AS_VEC(struct process *) processes;
    struct as_map by_number;     /* number of a process: place + 1 */
    struct as_map piece_numbers; /* hash of object and part: place + 1 */
    AS_VEC(struct piece) pieces;
};

struct as_shared_memory *as_shared_memory_new(void)
{
    return as_alloc(sizeof(struct as_shared_memory));
}

void as_shared_memory_free(struct as_shared_memory *shared)
{
    if (!shared)
        return;
    for (size_t i = 0; i < shared->processes.len; i++) {
        as_vec_free(&shared->processes.data[i]->list);
        free(shared->processes.data[i]);
    }
    as_vec_free(&shared->processes);
    as_vec_free(&shared->pieces);
    as_map_free(&shared->by_number);
    as_map_free(&shared->piece_numbers);
    free(shared);
}

static struct process *process_of(struct as_shared_memory *shared, uint32_t number)
{
    uint64_t *place = as_map_put(&shared->by_number, number);
    if (!*place) {
        *as_vec_push(&shared->processes) = as_alloc(sizeof(struct process));
        *place = shared->processes.len;
        shared->processes.data[*place - 1]->number = number;
    }
    return shared->processes.data[*place - 1];
}

const struct as_shared_ranges *as_shared_memory_of(struct as_shared_memory *shared, uint32_t process)
{
    return &process_of(shared, process)->ranges;
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

static void refresh(struct process *process)
{
    size_t n = process->list.len;
    process->ranges = (struct as_shared_ranges){.list = process->list.data, .n = n};
    if (n) {
        process->ranges.low = process->list.data[0].start;
        process->ranges.span = process->list.data[n - 1].end - process->ranges.low;
    }
}

/* Takes [start, end) out of what is shared. */
static void cut(struct process *process, uint64_t start, uint64_t end)
{
    AS_VEC(struct as_shared_range) kept = {0};
    for (size_t i = 0; i < process->list.len; i++) {
        struct as_shared_range range = process->list.data[i], left = range, right = range;
        left.end = left.end < start ? left.end : start;
        right.start = right.start > end ? right.start : end;
        right.physical += right.start - range.start;
        if (left.start < left.end)
            *as_vec_push(&kept) = left;
        if (right.start < right.end)
            *as_vec_push(&kept) = right;
    }
    free(process->list.data);
    process->list.data = kept.data;
    process->list.len = kept.len;
    process->list.cap = kept.cap;
}

static void insert(struct process *process, const struct as_shared_range *range)
{
    size_t at = process->list.len;
    if (at == MOST_RANGES)
        return;
    (void)as_vec_push(&process->list);
    for (; at && process->list.data[at - 1].start > range->start; at--)
        process->list.data[at] = process->list.data[at - 1];
    process->list.data[at] = *range;
}

static void add(struct as_shared_memory *shared, struct process *process, const struct as_mapping *mapping)
{
    uint64_t done = 0;
    while (done < mapping->bytes) {
        uint64_t offset = mapping->offset + done, within = offset & PIECE_MASK, room = PIECE_MASK + 1 - within;
        uint64_t bytes = mapping->bytes - done < room ? mapping->bytes - done : room, start = mapping->start + done;
        struct piece *piece = piece_at(shared, mapping, process->number, offset, start);
        if (!piece)
            return;
        uint64_t physical = AS_SHARED_BIT | (uint64_t)(piece - shared->pieces.data) << PIECE_SHIFT | within;
        insert(process, &(struct as_shared_range){.start = start, .end = start + bytes, .physical = physical});
        done += bytes;
    }
}

void as_shared_memory_map(struct as_shared_memory *shared, uint32_t number, const struct as_mapping *mapping)
{
    struct process *process = process_of(shared, number);
    if (mapping->start >= AS_SHARED_BIT || mapping->bytes > AS_SHARED_BIT - mapping->start ||
        (!mapping->object && !process->list.len))
        return;
    cut(process, mapping->start, mapping->start + mapping->bytes);
    if (mapping->object)
        add(shared, process, mapping);
    refresh(process);
}

void as_shared_memory_fork(struct as_shared_memory *shared, uint32_t parent, uint32_t child)
{
    const struct process *from = process_of(shared, parent);
    struct process *to = process_of(shared, child);
    as_vec_clear(&to->list);
    for (size_t i = 0; i < from->list.len; i++)
        *as_vec_push(&to->list) = from->list.data[i];
    refresh(to);
}

/* ---- the sink ---- */

/* Another program has none of its predecessor's memory. */
static void on_thread_start(void *context, struct as_thread *thread)
{
    struct process *process = process_of(context, thread->process);
    uint32_t image = thread->image ? thread->image->number : 0;
    if (process->image != image) {
        as_vec_clear(&process->list);
        refresh(process);
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
