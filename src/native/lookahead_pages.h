/* A process's memory as far as it was touched, copied page by page, up to 8 MiB: a program that uses another page with each access would
 * otherwise be copied as a whole, which takes as long and as much memory as it is large. */
#ifndef AS_NATIVE_LOOKAHEAD_PAGES_H
#define AS_NATIVE_LOOKAHEAD_PAGES_H

#include "base/map.h"
#include "base/vec.h"

#include <sys/types.h>

enum { AS_PAGE_COPY = 4096, AS_PAGES_RECENT = 64, AS_PAGES_MOST = 2048 };

struct as_pages {
    pid_t pid;
    struct as_map places; /* page number: place in `copies` + 1 */
    AS_VEC(uint8_t *) copies;
    size_t used;                      /* of the copies; the others are kept for the next process */
    bool full;                        /* one more than AS_PAGES_MOST was wanted */
    uint64_t recent[AS_PAGES_RECENT]; /* page number + 1 … */
    uint8_t *recent_copy[AS_PAGES_RECENT];
};

void as_pages_begin(struct as_pages *pages, pid_t pid);
void as_pages_free(struct as_pages *pages);
/* False: a byte of it is not mapped, or there are too many pages. Across pages, too. */
bool as_pages_read(struct as_pages *pages, uint64_t address, void *bytes, size_t size);
bool as_pages_write(struct as_pages *pages, uint64_t address, const void *bytes, size_t size);

#endif
