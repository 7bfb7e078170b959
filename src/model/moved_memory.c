/* See moved_memory.h. */
#include "model/moved_memory.h"

#include "base/map.h"
#include "base/vec.h"

enum { MOST_RANGES = 1 << 12, DOES_NOT_UNMAP = 4 /* MREMAP_DONTUNMAP */ };

/* Numbers of system calls, by architecture. */
static const struct {
    uint32_t map, unmap, remap;
} calls_of[AS_ARCH_COUNT] = {
    [AS_ARCH_X86_64] = {.map = 9, .unmap = 11, .remap = 25},
    [AS_ARCH_RISCV64] = {.map = 222, .unmap = 215, .remap = 216},
};

/* In order, none overlaps another. */
struct list {
    struct as_shared_range *data;
    size_t len, cap;
};

struct process {
    const struct as_image *image;
    struct as_shared_ranges ranges;
    struct list list;
    struct list gone; /* unmapped; `physical` does not count */
};

struct pending {
    uint64_t args[6];
};

struct as_moved_memory {
    AS_VEC(struct process *) processes;
    struct as_map by_number;        /* number of a process: place + 1 */
    AS_VEC(struct pending) pending; /* by thread number: of the call that it is in */
    struct list made;               /* new names, and the addresses that they were made for; in the order of names */
    uint64_t next;                  /* the next new name */
};

struct as_moved_memory *as_moved_memory_new(void)
{
    struct as_moved_memory *moved = as_alloc(sizeof *moved);
    moved->next = AS_SHARED_BIT;
    return moved;
}

void as_moved_memory_free(struct as_moved_memory *moved)
{
    if (!moved)
        return;
    for (size_t i = 0; i < moved->processes.len; i++) {
        as_vec_free(&moved->processes.data[i]->list);
        as_vec_free(&moved->processes.data[i]->gone);
        free(moved->processes.data[i]);
    }
    as_vec_free(&moved->processes);
    as_vec_free(&moved->pending);
    as_vec_free(&moved->made);
    as_map_free(&moved->by_number);
    free(moved);
}

static struct process *process_of(struct as_moved_memory *moved, uint32_t number)
{
    uint64_t *place = as_map_put(&moved->by_number, number);
    if (!*place) {
        *as_vec_push(&moved->processes) = as_alloc(sizeof(struct process));
        *place = moved->processes.len;
    }
    return moved->processes.data[*place - 1];
}

const struct as_shared_ranges *as_moved_memory_of(struct as_moved_memory *moved, uint32_t process)
{
    return &process_of(moved, process)->ranges;
}

uint64_t as_moved_memory_home(const struct as_moved_memory *moved, uint32_t number, uint64_t name)
{
    const uint64_t *place = as_map_get(&moved->by_number, number);
    uint64_t address = name;
    if (!place || as_shared_virtual(&moved->processes.data[*place - 1]->ranges, name, &address))
        return address;
    for (size_t i = 0; i < moved->made.len && as_shared_is(name); i++)
        if (name - moved->made.data[i].physical < moved->made.data[i].end - moved->made.data[i].start)
            return moved->made.data[i].start + (name - moved->made.data[i].physical);
    return name;
}

/* ---- lists of ranges ---- */

static void insert(struct list *list, struct as_shared_range range)
{
    size_t at = list->len;
    if (at == MOST_RANGES || range.start >= range.end)
        return;
    (void)as_vec_push(list);
    for (; at && list->data[at - 1].start > range.start; at--)
        list->data[at] = list->data[at - 1];
    list->data[at] = range;
}

static struct as_shared_range part_of(struct as_shared_range range, uint64_t start, uint64_t end)
{
    struct as_shared_range part = {.start = range.start > start ? range.start : start,
                                   .end = range.end < end ? range.end : end};
    part.physical = range.physical + (part.start - range.start);
    return part;
}

/* Moves what lies in [start, end) from one list to the other. */
static void cut(struct list *list, uint64_t start, uint64_t end, struct list *taken)
{
    struct list kept = {0};
    for (size_t i = 0; i < list->len; i++) {
        insert(&kept, part_of(list->data[i], 0, start));
        insert(&kept, part_of(list->data[i], end, UINT64_MAX));
        insert(taken, part_of(list->data[i], start, end));
    }
    as_vec_free(list);
    *list = kept;
}

/* Unmapped memory is one range where it lies side by side: QEMU goes through addresses in order, and does not come back for long. */
static void add_gone(struct process *process, uint64_t start, uint64_t end)
{
    struct list over = {0};
    cut(&process->gone, start, end, &over);
    as_vec_free(&over);
    for (size_t i = 0; i < process->gone.len; i++) {
        struct as_shared_range *range = &process->gone.data[i];
        if (range->end == start || range->start == end) {
            range->start = range->start < start ? range->start : start;
            range->end = range->end > end ? range->end : end;
            return;
        }
    }
    insert(&process->gone, (struct as_shared_range){.start = start, .end = end});
}

static void refresh(struct process *process)
{
    size_t n = process->list.len;
    process->ranges = (struct as_shared_ranges){.list = process->list.data, .n = n};
    if (n) {
        process->ranges.low = process->list.data[0].start;
        process->ranges.span = process->list.data[n - 1].end - process->ranges.low;
    }
}

/* ---- what the program asks for ---- */

static void unmap(struct process *process, uint64_t start, uint64_t end)
{
    struct list over = {0};
    cut(&process->list, start, end, &over);
    as_vec_free(&over);
    add_gone(process, start, end);
}

/* New memory: where there was other memory before, it gets new names. */
static void map(struct as_moved_memory *moved, struct process *process, uint64_t start, uint64_t end)
{
    struct list over = {0};
    cut(&process->list, start, end, &over);
    cut(&process->gone, start, end, &over);
    for (size_t i = 0; i < over.len; i++) {
        struct as_shared_range range = over.data[i];
        range.physical = moved->next;
        moved->next += range.end - range.start;
        insert(&process->list, range);
        if (moved->made.len < MOST_RANGES)
            *as_vec_push(&moved->made) = range;
    }
    as_vec_free(&over);
}

/* The names of [start, end), as ranges that cover all of it. */
static void names_of(const struct process *process, uint64_t start, uint64_t end, struct list *names)
{
    uint64_t at = start;
    for (size_t i = 0; i < process->list.len; i++) {
        struct as_shared_range part = part_of(process->list.data[i], start, end);
        if (part.start >= part.end)
            continue;
        insert(names, (struct as_shared_range){.start = at, .end = part.start, .physical = at});
        insert(names, part);
        at = part.end;
    }
    insert(names, (struct as_shared_range){.start = at, .end = end, .physical = at});
}

static void move(struct process *process, uint64_t from, uint64_t to, uint64_t bytes)
{
    struct list names = {0}, over = {0};
    names_of(process, from, from + bytes, &names);
    unmap(process, from, from + bytes);
    cut(&process->list, to, to + bytes, &over);
    cut(&process->gone, to, to + bytes, &over);
    for (size_t i = 0; i < names.len; i++) {
        struct as_shared_range range = names.data[i];
        range.start += to - from;
        range.end += to - from;
        if (range.physical != range.start) /* else it is where it began */
            insert(&process->list, range);
    }
    as_vec_free(&names);
    as_vec_free(&over);
}

static uint64_t pages(uint64_t bytes)
{
    return (bytes + 4095) & ~UINT64_C(4095);
}

static void remap(struct as_moved_memory *moved, struct process *process, const uint64_t args[6], uint64_t to)
{
    uint64_t from = args[0], before = pages(args[1]), after = pages(args[2]), kept = before < after ? before : after;
    if (!before) /* the same memory a second time */
        return;
    if (to != from)
        move(process, from, to, kept);
    if (before > kept)
        unmap(process, from + kept, from + before);
    map(moved, process, to + kept, to + after);
    if (to != from && args[3] & DOES_NOT_UNMAP)
        map(moved, process, from, from + before);
}

/* ---- the sink ---- */

static void on_thread_start(void *context, struct as_thread *thread)
{
    struct process *process = process_of(context, thread->process);
    if (process->image != thread->image) { /* another program, with memory of its own */
        process->list.len = process->gone.len = 0;
        refresh(process);
    }
    process->image = thread->image;
}

static void on_thread_end(void *context, struct as_thread *thread)
{
}

static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
}

static void on_tally(void *context, struct as_thread *thread, const struct as_block *block,
                     const struct as_tally *tally)
{
}

static void on_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    struct as_moved_memory *moved = context;
    while (moved->pending.len <= thread->number)
        *as_vec_push(&moved->pending) = (struct pending){{0}};
    memcpy(moved->pending.data[thread->number].args, args, sizeof moved->pending.data->args);
}

static bool is_of_programs(uint64_t start, uint64_t bytes)
{
    return start < AS_SHARED_BIT && bytes <= AS_SHARED_BIT - start;
}

static void on_syscall_return(void *context, struct as_thread *thread, uint32_t number, int64_t result)
{
    struct as_moved_memory *moved = context;
    enum as_arch arch = thread->image ? thread->image->arch : AS_ARCH_X86_64;
    if ((result < 0 && result > -4096) || thread->number >= moved->pending.len)
        return;
    struct process *process = process_of(moved, thread->process);
    const uint64_t *args = moved->pending.data[thread->number].args;
    uint64_t start = number == calls_of[arch].unmap ? args[0] : (uint64_t)result;
    if (!is_of_programs(start, args[1]) || !is_of_programs(args[0], args[1]))
        return;
    if (number == calls_of[arch].unmap)
        unmap(process, start, start + pages(args[1]));
    else if (number == calls_of[arch].map)
        map(moved, process, start, start + pages(args[1]));
    else if (number == calls_of[arch].remap && is_of_programs(start, args[2]))
        remap(moved, process, args, start);
    else
        return;
    refresh(process);
}

const struct as_sink as_moved_memory_sink = {
    .thread_start = on_thread_start,
    .thread_end = on_thread_end,
    .block = on_block,
    .tally = on_tally,
    .recorded_tallies = true,
    .syscall = on_syscall,
    .syscall_return = on_syscall_return,
    .all_calls = true,
};
