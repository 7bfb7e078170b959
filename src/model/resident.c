/* See resident.h. */
#include "model/resident.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define PRESENT (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)
#define QEMU_ITSELF UINT64_C(0x550000000000) /* QEMU and its libraries are mapped above */
enum { PAGE_SHIFT = 12, PAGES = 4096 };      /* as many are read at a time */

struct search {
    int pagemap;
    as_resident_take *take;
    void *context;
    uint64_t start, end; /* the run of pages that was found last; it may go on */
};

static void add_page(struct search *search, uint64_t page)
{
    if (page != search->end && search->end)
        search->take(search->context, search->start << PAGE_SHIFT, search->end << PAGE_SHIFT);
    if (page != search->end)
        search->start = page;
    search->end = page + 1;
}

static void search_pages(struct search *search, uint64_t first, uint64_t last)
{
    uint64_t entries[PAGES];
    while (first < last) {
        size_t wanted = last - first < PAGES ? last - first : PAGES;
        ssize_t got = pread(search->pagemap, entries, wanted * sizeof *entries, (off_t)(first * sizeof *entries));
        if (got < (ssize_t)sizeof *entries)
            return;
        size_t n = (size_t)got / sizeof *entries;
        for (size_t i = 0; i < n; i++)
            if (entries[i] & (PRESENT | SWAPPED))
                add_page(search, first + i);
        first += n;
    }
}

static void search_maps(struct search *search, FILE *maps)
{
    char line[4400], rights[8];
    uint64_t start, end;
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &start, &end, rights) == 3 && end <= QEMU_ITSELF &&
            (rights[0] == 'r' || rights[1] == 'w'))
            search_pages(search, start >> PAGE_SHIFT, end >> PAGE_SHIFT);
}

void as_resident_pages(pid_t pid, as_resident_take *take, void *context)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/pagemap", pid);
    struct search search = {.pagemap = open(path, O_RDONLY | O_CLOEXEC), .take = take, .context = context};
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "re");
    if (maps && search.pagemap >= 0)
        search_maps(&search, maps);
    if (search.end)
        take(context, search.start << PAGE_SHIFT, search.end << PAGE_SHIFT);
    if (maps)
        fclose(maps);
    if (search.pagemap >= 0)
        close(search.pagemap);
}
