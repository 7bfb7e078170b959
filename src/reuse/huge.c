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

/* The kernel aligns mappings to small pages: the part before the first large one is given back. */
void *as_huge_alloc(size_t bytes)
{
    size_t size = mapped_size(bytes), slack = size >= HUGE_PAGE ? HUGE_PAGE - PAGE : 0;
    char *memory = mmap(NULL, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        free(as_alloc_array(SIZE_MAX, SIZE_MAX)); /* says that memory is out, and ends */
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
