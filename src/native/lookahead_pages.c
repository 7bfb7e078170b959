/* See lookahead_pages.h. */
#include "native/lookahead_pages.h"

#include <string.h>
#include <sys/uio.h>

void as_pages_begin(struct as_pages *pages, pid_t pid)
{
    pages->pid = pid;
    pages->used = 0;
    as_map_free(&pages->places);
    pages->places = (struct as_map){0};
    memset(pages->recent, 0, sizeof pages->recent);
}

void as_pages_free(struct as_pages *pages)
{
    for (size_t i = 0; i < pages->copies.len; i++)
        free(pages->copies.data[i]);
    as_vec_free(&pages->copies);
    as_map_free(&pages->places);
}

static bool copy_in(const struct as_pages *pages, uint64_t page, uint8_t *to)
{
    struct iovec local = {to, AS_PAGE_COPY}, remote = {(void *)(uintptr_t)(page * AS_PAGE_COPY), AS_PAGE_COPY};
    return process_vm_readv(pages->pid, &local, 1, &remote, 1, 0) == AS_PAGE_COPY;
}

/* The copy of a page; NULL: not mapped. */
static uint8_t *find(struct as_pages *pages, uint64_t page)
{
    size_t at = page % AS_PAGES_RECENT;
    if (pages->recent[at] == page + 1)
        return pages->recent_copy[at];
    uint64_t *place = as_map_put(&pages->places, page);
    if (!*place) {
        if (pages->used == pages->copies.len)
            *as_vec_push(&pages->copies) = as_alloc(AS_PAGE_COPY);
        if (!copy_in(pages, page, pages->copies.data[pages->used])) {
            as_map_remove(&pages->places, page);
            return NULL;
        }
        *place = ++pages->used;
    }
    pages->recent[at] = page + 1;
    pages->recent_copy[at] = pages->copies.data[*place - 1];
    return pages->recent_copy[at];
}

bool as_pages_read(struct as_pages *pages, uint64_t address, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        uint64_t at = address + done, offset = at % AS_PAGE_COPY;
        size_t part = size - done < AS_PAGE_COPY - offset ? size - done : (size_t)(AS_PAGE_COPY - offset);
        const uint8_t *copy = find(pages, at / AS_PAGE_COPY);
        if (!copy)
            return false;
        memcpy((uint8_t *)bytes + done, copy + offset, part);
        done += part;
    }
    return true;
}

bool as_pages_write(struct as_pages *pages, uint64_t address, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        uint64_t at = address + done, offset = at % AS_PAGE_COPY;
        size_t part = size - done < AS_PAGE_COPY - offset ? size - done : (size_t)(AS_PAGE_COPY - offset);
        uint8_t *copy = find(pages, at / AS_PAGE_COPY);
        if (!copy)
            return false;
        memcpy(copy + offset, (const uint8_t *)bytes + done, part);
        done += part;
    }
    return true;
}
