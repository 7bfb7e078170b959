/* Where memory is allocated: the stack of callers by frame pointers, and the table of such stacks. See agent.h.
 *
 * The first return address is always right, because it is the caller's. The further ones need callers with frame
 * pointers. The walk never leaves the used part of the thread's own stack, so it reads only mapped memory, whatever the
 * frames contain.
 */
#include "agent/agent.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

AS_THREAD_LOCAL uintptr_t stack_end; /* 0: unknown */
AS_THREAD_LOCAL bool inside;         /* a call that the agent itself makes */

AS_THREAD_LOCAL const void *operator_frame; /* of the outermost operator new that the thread is in; NULL: none */
AS_THREAD_LOCAL const void *deleting;       /* the block that an operator delete is freeing; NULL: none */

enum { NEAR = 1 << 14 }; /* most bytes of stack between an operator and the malloc that it calls */

bool as_agent_enter(void)
{
    bool before = inside;
    inside = true;
    return before;
}

void as_agent_leave(bool before)
{
    inside = before;
}

void as_agent_thread_begin(void)
{
    pthread_attr_t attributes;
    void *base;
    size_t size;
    int saved = errno;
    bool before = as_agent_enter(); /* this allocates */
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &base, &size) == 0)
            stack_end = (uintptr_t)base + size;
        pthread_attr_destroy(&attributes);
    }
    as_agent_leave(before);
    errno = saved;
}

/* ---- operators ---- */

/* An operator that threw before allocating leaves its frame behind. A frame that is not close above this one is such a
 * leftover. */
static bool is_within(const void *frame)
{
    uintptr_t outer = (uintptr_t)operator_frame, here = (uintptr_t)frame;
    return here < outer && outer - here < NEAR;
}

void as_agent_operator_begin(const void *frame)
{
    if (!is_within(frame)) /* new[] calls new */
        operator_frame = frame;
}

bool as_agent_operator_end(const void *frame)
{
    bool is_left = operator_frame == frame;
    if (is_left)
        operator_frame = NULL;
    return is_left;
}

/* The frame that an allocation counts for. */
static const void *frame_of_caller(const void *frame)
{
    const void *outer = is_within(frame) ? operator_frame : frame;
    operator_frame = NULL;
    return outer;
}

const void *as_agent_delete_begin(const void *block)
{
    const void *outer = deleting;
    if (outer != block) /* delete[] calls delete */
        as_agent_gave(block, false);
    deleting = block;
    return outer;
}

void as_agent_delete_end(const void *outer)
{
    deleting = outer;
}

bool as_agent_deleting(const void *block)
{
    return deleting && deleting == block;
}

/* ---- stacks ---- */

/* A frame begins with the caller's frame and the return address. A stack that is not the thread's own (of a signal or a
 * coroutine) is below or above it, which ends the walk at once. */
static unsigned walk(const void *frame, uint64_t *stack, unsigned most)
{
    uintptr_t at = (uintptr_t)frame;
    const uintptr_t *words = frame;
    unsigned n = 0;
    stack[n++] = words[1];
    while (n < most) {
        uintptr_t next = words[0];
        if (next <= at || next % sizeof next || !stack_end || next >= stack_end - 2 * sizeof next || at >= stack_end ||
            stack_end - at > (uintptr_t)1 << 30)
            break;
        at = next;
        words = (const uintptr_t *)next;
        if (words[1] < 4096)
            break;
        stack[n++] = words[1];
    }
    return n;
}

static uint64_t key_of(const uint64_t *stack, unsigned n, enum as_agent_call call)
{
    uint64_t key = UINT64_C(0x9e3779b97f4a7c15) * (call + 1);
    for (unsigned i = 0; i < n; i++) {
        key = (key ^ stack[i]) * UINT64_C(0xff51afd7ed558ccd);
        key ^= key >> 32;
    }
    return key ? key : 1;
}

/* Adds the file of an address, once. Two threads may add the same file, which does no harm. */
static void note_file(struct as_agent_image *image, uint64_t address)
{
    struct dl_find_object found;
    uint32_t n = atomic_load(&image->files);
    if (_dl_find_object((void *)(uintptr_t)(address - 1), &found) != 0)
        return;
    for (uint32_t i = 0; i < n && i < AS_AGENT_FILES; i++)
        if (atomic_load(&image->file[i].start) == (uint64_t)(uintptr_t)found.dlfo_map_start)
            return;
    n = atomic_fetch_add(&image->files, 1);
    if (n >= AS_AGENT_FILES)
        return;
    struct as_agent_file *file = &image->file[n];
    const char *path = found.dlfo_link_map && found.dlfo_link_map->l_name ? found.dlfo_link_map->l_name : "";
    size_t length = strnlen(path, sizeof file->path);
    memcpy(file->path, path, length < sizeof file->path ? length : 0);
    file->end = (uint64_t)(uintptr_t)found.dlfo_map_end;
    atomic_store(&file->start, (uint64_t)(uintptr_t)found.dlfo_map_start); /* to as_agent_read_file (agent_host.c) */
}

static void fill(struct as_agent_image *image, uint32_t number, enum as_agent_call call, const uint64_t *stack,
                 unsigned n)
{
    struct as_agent_site *site = &image->site[number];
    site->call = call;
    site->frames = n;
    memcpy(site->stack, stack, n * sizeof *stack);
    for (unsigned i = 0; i < n; i++)
        note_file(image, stack[i]);
    atomic_store_explicit(&site->ready, 1, memory_order_release); /* the frames, to as_agent_read_site (agent_host.c) */
    uint32_t order = atomic_fetch_add(&image->sites, 1);
    if (order < AS_AGENT_SITES)
        atomic_store(&image->order[order], number);
}

/* Returns the site's number. */
static uint32_t site_of(struct as_agent_image *image, enum as_agent_call call, const void *frame)
{
    uint64_t stack[AS_AGENT_DEPTH];
    unsigned n = walk(frame, stack, as_agent_depth());
    uint64_t key = key_of(stack, n, call);
    for (unsigned i = 0; i < AS_AGENT_PROBES; i++) {
        uint32_t number = (uint32_t)(key + i) & (AS_AGENT_SITES - 1);
        struct as_agent_site *site = &image->site[number];
        /* relaxed: who finds the key needs the site's number, and not what `ready` releases */
        uint64_t there = atomic_load_explicit(&site->key, memory_order_relaxed);
        if (there == 0 && atomic_compare_exchange_strong(&site->key, &there, key)) {
            fill(image, number, call, stack, n);
            return number;
        }
        if (there == key)
            return number;
    }
    return AS_AGENT_SITES + call;
}

struct as_agent_image *as_agent_counting(void)
{
    return inside ? NULL : as_agent_here();
}

static uint32_t count(struct as_agent_image *image, enum as_agent_call call, size_t bytes, const void *frame)
{
    uint32_t number = site_of(image, call, frame);
    as_agent_add(&image->site[number].count, 1);
    as_agent_add(&image->site[number].bytes, bytes);
    return number;
}

/* Whatever answers it, errno stays. */
static void tell_model(enum as_agent_call call, const void *block, size_t bytes, const void *frame)
{
    uint64_t stack[AS_AGENT_MODEL_FRAMES] = {0};
    int saved = errno;
    walk(frame, stack, AS_AGENT_MODEL_FRAMES);
    syscall(AS_AGENT_MODEL_CALL, (long)call, block, bytes, stack[0], stack[1], stack[2]);
    errno = saved;
}

void as_agent_took(enum as_agent_call call, const void *block, size_t bytes, const void *frame)
{
    if (as_agent_in_model() && !inside) {
        tell_model(call, block, bytes, frame_of_caller(frame));
        return;
    }
    struct as_agent_image *image = as_agent_counting();
    if (!image)
        return;
    uint32_t site = count(image, call, bytes, frame_of_caller(frame));
    as_agent_live_add(image, block, bytes, site);
    as_agent_blocks_add(image, block, bytes, site);
}

void as_agent_mapped(size_t bytes, const void *frame)
{
    struct as_agent_image *image = as_agent_counting();
    if (image)
        count(image, AS_AGENT_MMAP, bytes, frame);
}

void as_agent_unmapped(void)
{
    struct as_agent_image *image = as_agent_counting();
    if (image)
        as_agent_add(&image->munmaps, 1);
}
