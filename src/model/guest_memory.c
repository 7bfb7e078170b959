/* See guest_memory.h. */
#include "model/guest_memory.h"

#include "base/random.h"
#include "symbol/interval.h"

enum { MAP_IS_ANONYMOUS = 0x20, MAP_IS_STACK = 0x20000, USUAL_STACK = 8 << 20, MOST_REGIONS = 1 << 16 };
enum { MOST_BLOCKS = 1 << 26, MOST_GENERATIONS = 64 };

/* Numbers of system calls, by architecture. */
static const struct {
    uint32_t map, remap, break_;
} calls_of[AS_ARCH_COUNT] = {
    [AS_ARCH_X86_64] = {.map = 9, .remap = 25, .break_ = 12},
    [AS_ARCH_RISCV64] = {.map = 222, .remap = 216, .break_ = 214},
};

struct pending {
    uint64_t args[6];
};

struct as_guest_memory {
    AS_VEC(struct pending) pending; /* by thread number: of the call that it is in */
    AS_VEC(struct as_guest_region) regions;
    struct as_map heaps;      /* process: place of its heap in regions + 1 */
    struct as_map images;     /* process: the image that it executed last */
    struct as_map processes;  /* of a thread */
    struct as_map origins;    /* of a forked process: its parent, and the number of regions then << 32 */
    struct as_strings *names; /* of what is shared */
    AS_VEC(struct as_guest_site) sites;
    struct as_map site_numbers; /* hash: number + 1 */
    AS_VEC(struct as_guest_block) blocks;
    struct as_interval_index index; /* of the blocks … */
    uint32_t indexed;               /* … of this process; 0: of none */
};

struct as_guest_memory *as_guest_memory_new(void)
{
    struct as_guest_memory *memory = as_alloc(sizeof *memory);
    memory->names = as_strings_new();
    return memory;
}

void as_guest_memory_free(struct as_guest_memory *memory)
{
    if (!memory)
        return;
    as_vec_free(&memory->pending);
    as_vec_free(&memory->regions);
    as_vec_free(&memory->sites);
    as_vec_free(&memory->blocks);
    as_interval_free(&memory->index);
    as_map_free(&memory->heaps);
    as_map_free(&memory->images);
    as_map_free(&memory->processes);
    as_map_free(&memory->origins);
    as_strings_free(memory->names);
    as_map_free(&memory->site_numbers);
    free(memory);
}

/* ---- what the program asks for ---- */

static void on_thread_start(void *context, struct as_thread *thread)
{
    struct as_guest_memory *memory = context;
    const uint64_t *parent = thread->parent ? as_map_get(&memory->processes, thread->parent) : NULL;
    *as_map_put(&memory->images, thread->process) = (uintptr_t)thread->image;
    if (parent)
        *as_map_put(&memory->origins, thread->process) = (uint64_t)memory->regions.len << 32 | *parent;
    *as_map_put(&memory->processes, thread->number) = thread->process;
}

/* Two sites with one hash would be one; with 64 bits that does not happen. */
static uint32_t site_of(struct as_guest_memory *memory, const struct as_guest_site *site)
{
    uint64_t key = as_random_hash((uint64_t)site->process << 32 | site->call);
    for (int i = 0; i < AS_GUEST_FRAMES; i++)
        key = as_random_hash(key ^ site->frames[i]);
    uint64_t *number = as_map_put(&memory->site_numbers, key);
    if (!*number) {
        struct as_guest_site *added = as_vec_push(&memory->sites);
        *added = *site;
        added->blocks = added->bytes = 0;
        *number = memory->sites.len;
    }
    return (uint32_t)*number - 1;
}

void as_guest_memory_add(struct as_guest_memory *memory, const struct as_guest_site *site, uint64_t start,
                         uint64_t bytes)
{
    uint64_t end = start + (bytes ? bytes : 1);
    if (memory->blocks.len >= MOST_BLOCKS || end < start)
        return;
    uint32_t number = site_of(memory, site);
    memory->sites.data[number].blocks++;
    memory->sites.data[number].bytes += bytes;
    *as_vec_push(&memory->blocks) =
        (struct as_guest_block){.start = start, .end = end, .process = site->process, .site = number};
    memory->indexed = 0;
}

static void on_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    struct as_guest_memory *memory = context;
    if (number == AS_GUEST_BLOCK_CALL) {
        const struct as_guest_site site = {
            .process = thread->process, .call = (uint32_t)args[0], .frames = {args[3], args[4], args[5]}};
        as_guest_memory_add(memory, &site, args[1], args[2]);
        return;
    }
    while (memory->pending.len <= thread->number)
        *as_vec_push(&memory->pending) = (struct pending){{0}};
    memcpy(memory->pending.data[thread->number].args, args, sizeof memory->pending.data->args);
}

/* The first answer is where the heap begins; later ones move its end. */
static void move_break(struct as_guest_memory *memory, uint32_t process, uint64_t end)
{
    uint64_t *place = as_map_put(&memory->heaps, process);
    if (!*place) {
        *as_vec_push(&memory->regions) =
            (struct as_guest_region){.process = process, .start = end, .end = end, .is_heap = true};
        *place = memory->regions.len;
    }
    struct as_guest_region *heap = &memory->regions.data[*place - 1];
    heap->end = end > heap->end ? end : heap->end;
}

static void on_syscall_return(void *context, struct as_thread *thread, uint32_t number, int64_t result)
{
    struct as_guest_memory *memory = context;
    enum as_arch arch = thread->image ? thread->image->arch : AS_ARCH_X86_64;
    bool failed = result < 0 && result > -4096;
    if (failed || thread->number >= memory->pending.len || memory->regions.len >= MOST_REGIONS)
        return;
    const uint64_t *args = memory->pending.data[thread->number].args;
    uint64_t start = (uint64_t)result;
    if (number == calls_of[arch].break_)
        move_break(memory, thread->process, start);
    if (number == calls_of[arch].map && args[3] & MAP_IS_ANONYMOUS)
        *as_vec_push(&memory->regions) = (struct as_guest_region){
            .process = thread->process, .start = start, .end = start + args[1], .is_stack = args[3] & MAP_IS_STACK};
    if (number == calls_of[arch].remap)
        *as_vec_push(&memory->regions) =
            (struct as_guest_region){.process = thread->process, .start = start, .end = start + args[2]};
}

char *as_guest_shared_name(const char *path)
{
    static const char deleted[] = " (deleted)", unnamed[] = "/dev/zero";
    size_t length = strlen(path), tail = sizeof deleted - 1;
    if (length >= tail && strcmp(path + length - tail, deleted) == 0)
        length -= tail;
    bool none = length == 0 || (length == sizeof unnamed - 1 && strncmp(path, unnamed, length) == 0);
    return none ? as_strdup("[shared]") : as_format("%.*s", (int)length, path);
}

static const char *shared_name(struct as_guest_memory *memory, const char *path)
{
    char *name = as_guest_shared_name(path);
    const char *kept = as_strings_get(memory->names, as_strings_intern(memory->names, name));
    free(name);
    return kept;
}

static void on_mapping(void *context, struct as_thread *thread, const struct as_mapping *mapping)
{
    struct as_guest_memory *memory = context;
    if (mapping->object && memory->regions.len < MOST_REGIONS)
        *as_vec_push(&memory->regions) = (struct as_guest_region){.process = thread->process,
                                                                  .start = mapping->start,
                                                                  .end = mapping->start + mapping->bytes,
                                                                  .shared = shared_name(memory, mapping->name)};
}

const struct as_sink as_guest_memory_sink = {
    .thread_start = on_thread_start,
    .syscall = on_syscall,
    .syscall_return = on_syscall_return,
    .mapping = on_mapping,
    .all_calls = true,
};

/* ---- regions ---- */

const struct as_image *as_guest_memory_image(const struct as_guest_memory *memory, uint32_t process)
{
    const uint64_t *image = as_map_get(&memory->images, process);
    return image ? (const struct as_image *)(uintptr_t)*image : NULL;
}

const struct as_guest_region *as_guest_memory_regions(const struct as_guest_memory *memory, size_t *n)
{
    *n = memory->regions.len;
    return memory->regions.data;
}

const struct as_guest_region *as_guest_region_at(const struct as_guest_region *regions, size_t n, uint32_t process,
                                                 uint64_t address)
{
    while (n-- > 0)
        if (regions[n].process == process && address >= regions[n].start && address < regions[n].end)
            return &regions[n];
    return NULL;
}

const struct as_guest_region *as_guest_memory_region(const struct as_guest_memory *memory, uint32_t process,
                                                     uint64_t address)
{
    size_t n = memory->regions.len;
    for (uint32_t generation = 0; process && generation < MOST_GENERATIONS; generation++) {
        const struct as_guest_region *region = as_guest_region_at(memory->regions.data, n, process, address);
        const uint64_t *origin = as_map_get(&memory->origins, process);
        if (region || !origin)
            return region;
        process = (uint32_t)*origin;
        n = (size_t)(*origin >> 32);
    }
    return NULL;
}

void as_guest_memory_stack(const struct as_guest_memory *memory, uint32_t process, uint64_t address, uint64_t *start,
                           uint64_t *end)
{
    const struct as_guest_region *region = address ? as_guest_memory_region(memory, process, address) : NULL;
    *start = *end = 0;
    if (region) {
        *start = region->start;
        *end = region->end;
    } else if (address) {
        *start = address > USUAL_STACK ? address - USUAL_STACK : 0;
        *end = (address | 0xffff) + 1;
    }
}

/* ---- blocks ---- */

const struct as_guest_site *as_guest_memory_sites(const struct as_guest_memory *memory, size_t *n)
{
    *n = memory->sites.len;
    return memory->sites.data;
}

/* Of the blocks of one process: the later ones have the lower rank, and win. */
static void index_blocks(struct as_guest_memory *memory, uint32_t process)
{
    struct as_address_range *items = as_alloc_array(memory->blocks.len + 1, sizeof *items);
    size_t n = 0;
    for (size_t i = 0; i < memory->blocks.len; i++) {
        const struct as_guest_block *block = &memory->blocks.data[i];
        if (block->process == process)
            items[n++] = (struct as_address_range){
                .start = block->start, .end = block->end, .rank = UINT32_MAX - (uint32_t)i, .id = (uint32_t)i};
    }
    as_interval_free(&memory->index);
    memset(&memory->index, 0, sizeof memory->index);
    as_interval_build(&memory->index, items, n);
    memory->indexed = process;
    free(items);
}

const struct as_guest_block *as_guest_memory_block_at(struct as_guest_memory *memory, uint32_t process,
                                                      uint64_t address)
{
    if (!memory->blocks.len)
        return NULL;
    if (memory->indexed != process)
        index_blocks(memory, process);
    uint32_t found = as_interval_find(&memory->index, address);
    return found < memory->blocks.len ? &memory->blocks.data[found] : NULL;
}

uint32_t as_guest_memory_site_at(struct as_guest_memory *memory, uint32_t process, uint64_t address)
{
    const struct as_guest_block *block = as_guest_memory_block_at(memory, process, address);
    return block ? block->site : UINT32_MAX;
}
