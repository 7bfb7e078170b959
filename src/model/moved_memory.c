/* See moved_memory.h. */
#include "model/moved_memory.h"

#include "model/process_ranges.h"

enum { MOST_MADE = 1 << 20 };

/* Values of Linux, which both architectures have alike: MREMAP_DONTUNMAP, MAP_TYPE, MAP_PRIVATE, MAP_FIXED, MAP_ANONYMOUS, MADV_DONTNEED. */
enum { DOES_NOT_UNMAP = 4, KINDS = 0xf, PRIVATE = 2, FIXED = 0x10, ANONYMOUS = 0x20, NOT_NEEDED = 4 };

/* Numbers of system calls, by architecture. */
static const struct {
    uint32_t map, unmap, remap, program_break, advise;
} calls_of[AS_ARCH_COUNT] = {
    [AS_ARCH_X86_64] = {.map = 9, .unmap = 11, .remap = 25, .program_break = 12, .advise = 28},
    [AS_ARCH_RISCV64] = {.map = 222, .unmap = 215, .remap = 216, .program_break = 214, .advise = 233},
};

struct process {
    struct as_process_ranges memory;
    const struct as_image *image;
    struct as_range_list gone, anonymous; /* unmapped; private and without a file; `physical` is `start` */
    uint64_t program_break;               /* 0: not known yet */
};

struct pending {
    uint64_t args[6];
};

struct as_moved_memory {
    struct as_process_table processes;
    AS_VEC(struct pending) pending; /* by thread number: of the call that it is in */
    struct as_range_list made;      /* new names, and the addresses that they were made for; in the order of names */
    uint64_t next;                  /* the next new name */
};

struct as_moved_memory *as_moved_memory_new(void)
{
    struct as_moved_memory *moved = as_alloc(sizeof *moved);
    moved->next = AS_SHARED_BIT;
    moved->processes.size = sizeof(struct process);
    return moved;
}

static void release(void *context)
{
    struct process *process = context;
    as_vec_free(&process->gone);
    as_vec_free(&process->anonymous);
}

void as_moved_memory_free(struct as_moved_memory *moved)
{
    if (!moved)
        return;
    as_process_table_free(&moved->processes, release);
    as_vec_free(&moved->pending);
    as_vec_free(&moved->made);
    free(moved);
}

static struct process *process_of(struct as_moved_memory *moved, uint32_t number)
{
    return as_process_table_get(&moved->processes, number);
}

const struct as_shared_ranges *as_moved_memory_of(struct as_moved_memory *moved, uint32_t process)
{
    return &process_of(moved, process)->memory.ranges;
}

/* ---- lists of ranges ---- */

static struct as_shared_range same(uint64_t start, uint64_t end)
{
    return (struct as_shared_range){.start = start, .end = end, .physical = start};
}

/* Adds what lies in [start, end) to the other list. */
static void copy(const struct as_range_list *list, uint64_t start, uint64_t end, struct as_range_list *copied)
{
    for (size_t i = as_range_list_behind(list, start); i < list->len && list->data[i].start < end; i++)
        as_range_list_insert(copied, as_range_part(list->data[i], start, end));
}

/* Puts [start, end) into a list that says only which memory is meant. */
static void put(struct as_range_list *list, uint64_t start, uint64_t end)
{
    as_range_list_cut(list, start, end);
    as_range_list_insert(list, same(start, end));
}

/* That a name was made for. */
static uint64_t first_address(const struct as_moved_memory *moved, uint64_t name)
{
    const struct as_shared_range *made = moved->made.data;
    size_t at = as_search(0, moved->made.len, i, made[i].physical + (made[i].end - made[i].start) <= name);
    bool is_made = as_shared_is(name) && at < moved->made.len;
    return is_made ? made[at].start + (name - made[at].physical) : name;
}

/* Whether memory of that name is at its first address no more. */
static bool has_left(const struct process *process, uint64_t name, uint64_t first)
{
    return as_shared_physical(&process->memory.ranges, first) != name || as_range_list_has(&process->gone, first);
}

uint64_t as_moved_memory_home(const struct as_moved_memory *moved, uint32_t number, uint64_t name)
{
    const struct process *process = as_process_table_find(&moved->processes, number);
    uint64_t first = first_address(moved, name), address = first;
    if (process && (as_shared_is(first) || has_left(process, name, first)))
        as_shared_virtual(&process->memory.ranges, name, &address);
    return address;
}

/* ---- what the program asks for ---- */

static void unmap(struct process *process, uint64_t start, uint64_t end)
{
    as_range_list_cut(&process->memory.list, start, end);
    as_range_list_cut(&process->anonymous, start, end);
    put(&process->gone, start, end);
}

/* New memory: where there was other memory before, it gets new names. */
static void map(struct as_moved_memory *moved, struct process *process, uint64_t start, uint64_t end)
{
    struct as_range_list over = {0};
    copy(&process->gone, start, end, &over);
    copy(&process->memory.list, start, end, &over);
    as_range_list_cut(&process->memory.list, start, end);
    as_range_list_cut(&process->gone, start, end);
    for (size_t i = 0; i < over.len; i++) {
        struct as_shared_range range = over.data[i];
        range.physical = moved->next;
        moved->next += range.end - range.start;
        as_range_list_insert(&process->memory.list, range);
        if (moved->made.len < MOST_MADE)
            *as_vec_push(&moved->made) = range;
    }
    as_vec_free(&over);
}

static void map_anonymous(struct as_moved_memory *moved, struct process *process, uint64_t start, uint64_t end)
{
    map(moved, process, start, end);
    put(&process->anonymous, start, end);
}

/* Anonymous memory of the process goes away, and where `anew` empty memory comes. */
static void drop(struct as_moved_memory *moved, struct process *process, uint64_t start, uint64_t end, bool anew)
{
    struct as_range_list parts = {0};
    copy(&process->anonymous, start, end, &parts);
    for (size_t i = 0; i < parts.len; i++) {
        unmap(process, parts.data[i].start, parts.data[i].end);
        if (anew)
            map_anonymous(moved, process, parts.data[i].start, parts.data[i].end);
    }
    as_vec_free(&parts);
}

/* The names of [start, end), as ranges that cover all of it. */
static void names_of(const struct process *process, uint64_t start, uint64_t end, struct as_range_list *names)
{
    uint64_t at = start;
    for (size_t i = as_range_list_behind(&process->memory.list, start); i < process->memory.list.len && at < end; i++) {
        struct as_shared_range part = as_range_part(process->memory.list.data[i], start, end);
        if (part.start >= part.end)
            break;
        as_range_list_insert(names, same(at, part.start));
        as_range_list_insert(names, part);
        at = part.end;
    }
    as_range_list_insert(names, same(at, end));
}

static void move(struct process *process, uint64_t from, uint64_t to, uint64_t bytes)
{
    struct as_range_list names = {0}, anonymous = {0};
    names_of(process, from, from + bytes, &names);
    copy(&process->anonymous, from, from + bytes, &anonymous);
    unmap(process, from, from + bytes);
    as_range_list_cut(&process->memory.list, to, to + bytes);
    as_range_list_cut(&process->gone, to, to + bytes);
    as_range_list_cut(&process->anonymous, to, to + bytes);
    for (size_t i = 0; i < names.len; i++) {
        struct as_shared_range range = names.data[i];
        range.start += to - from;
        range.end += to - from;
        if (range.physical != range.start) /* else it is where it began */
            as_range_list_insert(&process->memory.list, range);
    }
    for (size_t i = 0; i < anonymous.len; i++)
        put(&process->anonymous, anonymous.data[i].start + to - from, anonymous.data[i].end + to - from);
    as_vec_free(&names);
    as_vec_free(&anonymous);
}

static uint64_t pages(uint64_t bytes)
{
    return (bytes + 4095) & ~UINT64_C(4095);
}

static void remap(struct as_moved_memory *moved, struct process *process, const uint64_t args[6], uint64_t to)
{
    uint64_t from = args[0], before = pages(args[1]), after = pages(args[2]), kept = before < after ? before : after;
    void (*map_more)(struct as_moved_memory *, struct process *, uint64_t, uint64_t) =
        as_range_list_has(&process->anonymous, from) ? map_anonymous : map;
    if (!before) /* the same memory a second time */
        return;
    if (to != from)
        move(process, from, to, kept);
    if (before > kept)
        unmap(process, from + kept, from + before);
    map_more(moved, process, to + kept, to + after);
    if (to != from && args[3] & DOES_NOT_UNMAP)
        map_more(moved, process, from, from + before);
}

static void take_mapping(struct as_moved_memory *moved, struct process *process, const uint64_t args[6], uint64_t start)
{
    uint64_t end = start + pages(args[1]);
    if (args[3] & FIXED)
        drop(moved, process, start, end, false);
    if ((args[3] & (KINDS | ANONYMOUS)) == (PRIVATE | ANONYMOUS))
        map_anonymous(moved, process, start, end);
    else
        map(moved, process, start, end);
}

/* The first one known is where the others count from. */
static void take_break(struct as_moved_memory *moved, struct process *process, uint64_t now)
{
    uint64_t before = pages(process->program_break), after = pages(now);
    process->program_break = now;
    if (before && after < before)
        unmap(process, after, before);
    else if (before)
        map_anonymous(moved, process, before, after);
}

/* ---- the sink ---- */

static void on_thread_start(void *context, struct as_thread *thread)
{
    struct process *process = process_of(context, thread->process);
    if (process->image != thread->image) { /* another program, with memory of its own */
        process->memory.list.len = process->gone.len = process->anonymous.len = 0;
        process->program_break = 0;
        as_process_ranges_refresh(&process->memory);
    }
    process->image = thread->image;
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
    if (number == calls_of[arch].program_break && is_of_programs((uint64_t)result, 0)) {
        take_break(moved, process, (uint64_t)result);
        as_process_ranges_refresh(&process->memory);
        return;
    }
    bool is_given = number == calls_of[arch].unmap || number == calls_of[arch].advise;
    uint64_t start = is_given ? args[0] : (uint64_t)result;
    if (!is_of_programs(start, args[1]) || !is_of_programs(args[0], args[1]))
        return;
    if (number == calls_of[arch].unmap)
        unmap(process, start, start + pages(args[1]));
    else if (number == calls_of[arch].map)
        take_mapping(moved, process, args, start);
    else if (number == calls_of[arch].advise && args[2] == NOT_NEEDED)
        drop(moved, process, start, start + pages(args[1]), true);
    else if (number == calls_of[arch].remap && is_of_programs(start, args[2]))
        remap(moved, process, args, start);
    else
        return;
    as_process_ranges_refresh(&process->memory);
}

const struct as_sink as_moved_memory_sink = {
    .thread_start = on_thread_start,
    .syscall = on_syscall,
    .syscall_return = on_syscall_return,
    .all_calls = true,
};
