/* The directory: which private caches may have a line, and which core may write it.
 *
 * An entry says who *may* have a copy: caches drop clean lines silently, as real ones do, so whoever acts on a bit looks
 * into that core's caches first. Bit c % 64 stands for core c. Entries of lines that no private cache has any more are
 * thrown out when the table is full, so it stays about as large as the private caches together.
 */
#ifndef AS_CORE_DIRECTORY_H
#define AS_CORE_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_directory_entry {
    uint64_t key;          /* line + 1; 0: empty */
    uint64_t sharers;      /* bit c % 64: core c may have it */
    uint64_t asked, ready; /* of the last request that changed hands: when it came, when it was answered */
    uint32_t owner;        /* core + 1: it alone has the line, and may write it (M, E) */
    uint32_t supplier;     /* core + 1: answers reads of others (the O of MOESI, the F of MESIF) */
    /* The last one that fetched the line by a load: what a later write of its owner waits for. */
    uint32_t reader, reader_insn;
    uint64_t read; /* the bytes of that load */
};

struct as_directory {
    struct as_directory_entry *entries;
    struct as_directory_entry *last; /* that was found; NULL: none */
    size_t n, mask;
    /* Whether any private cache has the line still. */
    bool (*is_held)(void *context, const struct as_directory_entry *entry);
    void *context;
};

void as_directory_free(struct as_directory *directory);
/* NULL: no entry. Valid until the next as_directory_put. */
struct as_directory_entry *as_directory_find(struct as_directory *directory, uint64_t line);
/* Made empty where it is absent. */
struct as_directory_entry *as_directory_put(struct as_directory *directory, uint64_t line);

#endif
