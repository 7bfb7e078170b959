/* See comm_memory.h. */
#include "comm/comm_memory.h"

enum { MAP_IS_ANONYMOUS = 0x20, MAP_IS_STACK = 0x20000, USUAL_STACK = 8 << 20, MOST_REGIONS = 1 << 16 };

/* Numbers of system calls, by architecture. */
struct calls {
    uint32_t map, break_;
};
static const struct calls calls_of[AS_ARCH_COUNT] = {
    [AS_ARCH_X86_64] = {.map = 9, .break_ = 12},
    [AS_ARCH_RISCV64] = {.map = 222, .break_ = 214},
};

struct pending {
    uint64_t args[6];
};

struct as_comm_memory {
    AS_VEC(struct pending) pending; /* by thread number: of the call that it is in */
    AS_VEC(struct as_comm_region) regions;
    struct as_map heaps; /* process: place of its heap in regions + 1 */
};

struct as_comm_memory *as_comm_memory_new(void)
{
    return as_alloc(sizeof(struct as_comm_memory));
}

void as_comm_memory_free(struct as_comm_memory *memory)
{
    if (!memory)
        return;
    as_vec_free(&memory->pending);
    as_vec_free(&memory->regions);
    as_map_free(&memory->heaps);
    free(memory);
}

void as_comm_memory_syscall(struct as_comm_memory *memory, const struct as_thread *thread, const uint64_t args[6])
{
    while (memory->pending.len <= thread->number)
        *as_vec_push(&memory->pending) = (struct pending){{0}};
    memcpy(memory->pending.data[thread->number].args, args, sizeof memory->pending.data->args);
}

/* The first answer is where the heap begins; later ones move its end. */
static void move_break(struct as_comm_memory *memory, uint32_t process, uint64_t end)
{
    uint64_t *place = as_map_put(&memory->heaps, process);
    if (!*place) {
        *as_vec_push(&memory->regions) =
            (struct as_comm_region){.process = process, .start = end, .end = end, .is_heap = true};
        *place = memory->regions.len;
    }
    struct as_comm_region *heap = &memory->regions.data[*place - 1];
    heap->end = end > heap->end ? end : heap->end;
}

void as_comm_memory_return(struct as_comm_memory *memory, const struct as_thread *thread, uint32_t number,
                           int64_t result)
{
    enum as_arch arch = thread->image ? thread->image->arch : AS_ARCH_X86_64;
    bool failed = result < 0 && result > -4096;
    if (failed || thread->number >= memory->pending.len || memory->regions.len >= MOST_REGIONS)
        return;
    const uint64_t *args = memory->pending.data[thread->number].args;
    uint64_t start = (uint64_t)result;
    if (number == calls_of[arch].break_)
        move_break(memory, thread->process, start);
    if (number == calls_of[arch].map && args[3] & MAP_IS_ANONYMOUS)
        *as_vec_push(&memory->regions) = (struct as_comm_region){
            .process = thread->process, .start = start, .end = start + args[1], .is_stack = args[3] & MAP_IS_STACK};
}

const struct as_comm_region *as_comm_memory_regions(const struct as_comm_memory *memory, size_t *n)
{
    *n = memory->regions.len;
    return memory->regions.data;
}

void as_comm_memory_stack(const struct as_comm_memory *memory, uint32_t process, uint64_t address, uint64_t *start,
                          uint64_t *end)
{
    *start = *end = 0;
    for (size_t i = memory->regions.len; address && i-- > 0;) {
        const struct as_comm_region *region = &memory->regions.data[i];
        if (region->process != process || address < region->start || address >= region->end)
            continue;
        *start = region->start;
        *end = region->end;
        return;
    }
    if (address) {
        *start = address > USUAL_STACK ? address - USUAL_STACK : 0;
        *end = (address | 0xffff) + 1;
    }
}
