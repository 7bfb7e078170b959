/* See huge.h. */
#include "reuse/huge.h"

#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, HUGE_PAGE = 2 << 20 };

static size_t mapped_size(size_t bytes)
{
    return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static void *map(size_t bytes)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void *check(void *memory)
{
    if (memory == MAP_FAILED)
        free(as_alloc_array(SIZE_MAX, SIZE_MAX)); /* says that memory is out, and ends */
    return memory;
}

/* The kernel aligns mappings to small pages: the part before the first large one is given back. */
void *as_huge_alloc(size_t bytes)
{
    size_t size = mapped_size(bytes), slack = size >= HUGE_PAGE ? HUGE_PAGE - PAGE : 0;
    char *memory = check(map(size + slack));
    if (!slack)
        return memory;
    size_t before = -(uintptr_t)memory & slack;
    if (before)
        munmap(memory, before);
    if (slack - before)
        munmap(memory + before + size, slack - before);
    madvise(memory + before, size, MADV_HUGEPAGE);
    return memory + before;
}

void as_huge_free(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, mapped_size(bytes));
}

void *as_sparse_grow(void *memory, size_t had, size_t bytes)
{
    size_t size = mapped_size(bytes);
    memory = check(memory ? mremap(memory, mapped_size(had), size, MREMAP_MAYMOVE) : map(size));
    madvise(memory, size, MADV_NOHUGEPAGE);
    return memory;
}

void as_sparse_free(void *memory, size_t bytes)
{
    as_huge_free(memory, bytes);
}
