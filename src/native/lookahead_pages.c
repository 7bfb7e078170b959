/* See lookahead_pages.h. */
#include "native/lookahead_pages.h"

#include <string.h>
#include <sys/uio.h>

void as_pages_begin(struct as_pages *pages, pid_t pid)
{
    pages->pid = pid;
    pages->used = 0;
    pages->full = false;
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
static uint8_t *look_up(struct as_pages *pages, uint64_t page)
{
    size_t at = page % AS_PAGES_RECENT;
    uint64_t *place = as_map_put(&pages->places, page);
    if (!*place && pages->used == AS_PAGES_MOST) {
        as_map_remove(&pages->places, page);
        pages->full = true;
        return NULL;
    }
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

static inline uint8_t *find(struct as_pages *pages, uint64_t page)
{
    size_t at = page % AS_PAGES_RECENT;
    return pages->recent[at] == page + 1 ? pages->recent_copy[at] : look_up(pages, page);
}

/* Nearly all operands have one of a few sizes. */
static inline void copy(void *to, const void *from, size_t size)
{
    switch (size) {
    case 1:
        memcpy(to, from, 1);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 8:
        memcpy(to, from, 8);
        break;
    case 16:
        memcpy(to, from, 16);
        break;
    default:
        memcpy(to, from, size);
    }
}

bool as_pages_read(struct as_pages *pages, uint64_t address, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        uint64_t at = address + done, offset = at % AS_PAGE_COPY;
        size_t part = size - done < AS_PAGE_COPY - offset ? size - done : (size_t)(AS_PAGE_COPY - offset);
        const uint8_t *page = find(pages, at / AS_PAGE_COPY);
        if (!page)
            return false;
        copy((uint8_t *)bytes + done, page + offset, part);
        done += part;
    }
    return true;
}

bool as_pages_write(struct as_pages *pages, uint64_t address, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        uint64_t at = address + done, offset = at % AS_PAGE_COPY;
        size_t part = size - done < AS_PAGE_COPY - offset ? size - done : (size_t)(AS_PAGE_COPY - offset);
        uint8_t *page = find(pages, at / AS_PAGE_COPY);
        if (!page)
            return false;
        copy(page + offset, (const uint8_t *)bytes + done, part);
        done += part;
    }
    return true;
}
