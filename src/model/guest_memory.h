/* What memory a program has: regions that it asked the kernel for, and blocks of its allocator where the agent runs in it.
 *
 * It is a sink of the engine, and is told of system calls outside of the measured regions as well. Blocks come as system
 * calls that no kernel knows (AS_GUEST_BLOCK_CALL): call, address, bytes and up to three return addresses.
 *
 * What was freed is not forgotten: memory belongs to the block that had it last. */
#ifndef AS_MODEL_GUEST_MEMORY_H
#define AS_MODEL_GUEST_MEMORY_H

#include "base/map.h"
#include "base/vec.h"
#include "engine/engine.h"

enum { AS_GUEST_FRAMES = 3, AS_GUEST_BLOCK_CALL = 0x41537361 };

/* A mapping without a file, one that processes share, or the break. Later ones hold where two cover an address. */
struct as_guest_region {
    uint32_t process;
    uint64_t start, end;
    bool is_heap, is_stack;
    const char *shared; /* what processes share: "[shared]", or the path of a file; NULL: the process's own */
};
/* What as_guest_region.shared is for a path, as the kernel writes it. The caller frees. */
char *as_guest_shared_name(const char *path);
/* The region of a list that holds an address, or NULL. */
const struct as_guest_region *as_guest_region_at(const struct as_guest_region *regions, size_t n, uint32_t process,
                                                 uint64_t address);

/* A call that allocates. */
struct as_guest_site {
    uint32_t process, call;           /* call: enum as_agent_call */
    uint64_t frames[AS_GUEST_FRAMES]; /* return addresses, innermost first; 0: none */
    uint64_t blocks, bytes;
};

/* A block of the allocator. */
struct as_guest_block {
    uint64_t start, end;
    uint32_t process, site;
};

struct as_guest_memory;
struct as_guest_memory *as_guest_memory_new(void);
void as_guest_memory_free(struct as_guest_memory *memory);
/* Where no engine tells of blocks: the site says its process, call and frames; a later block has the memory of earlier ones. */
void as_guest_memory_add(struct as_guest_memory *memory, const struct as_guest_site *site, uint64_t start,
                         uint64_t bytes);
extern const struct as_sink as_guest_memory_sink; /* its context is the memory */

/* After the run. */
const struct as_image *as_guest_memory_image(const struct as_guest_memory *memory, uint32_t process); /* or NULL */
/* In the order in which the program asked for them. */
const struct as_guest_region *as_guest_memory_regions(const struct as_guest_memory *memory, size_t *n);
/* The process's own, or one that it had when it was forked. NULL: none is known. */
const struct as_guest_region *as_guest_memory_region(const struct as_guest_memory *memory, uint32_t process,
                                                     uint64_t address);
/* The stack that an address lies on. A process's first thread has one from the kernel, of the usual 8 MiB. */
void as_guest_memory_stack(const struct as_guest_memory *memory, uint32_t process, uint64_t address, uint64_t *start,
                           uint64_t *end);
const struct as_guest_site *as_guest_memory_sites(const struct as_guest_memory *memory, size_t *n);
/* The site of the block that had an address last; UINT32_MAX: no block. Quick while the process is the same. */
uint32_t as_guest_memory_site_at(struct as_guest_memory *memory, uint32_t process, uint64_t address);
/* That block; NULL: none. */
const struct as_guest_block *as_guest_memory_block_at(struct as_guest_memory *memory, uint32_t process,
                                                      uint64_t address);

#endif
