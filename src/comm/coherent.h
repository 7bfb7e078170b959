/* Exact communication without time: every hand-over of a line between the private caches of threads, over the woven stream.
 *
 * What is modelled: MESI over lines of 64 bytes, a cache of unlimited size for each thread, threads interleaved by executed
 * instructions (lens/weave.h). A load of a line that another thread has written, and that this one has no copy of, is a
 * transfer from the writer; so is a store to a line that another one holds and this one does not. A store to a line that
 * this one shares with others is an invalidation, not a transfer: no data moves. Lines that nobody has written are shared
 * for nothing. A transfer is true sharing if the access touches a byte that the holder wrote since the line became its own
 * (read, where nobody wrote it), and false sharing otherwise.
 * What is not: time, evictions (so a line that a real cache had lost counts too), prefetches.
 * Processes have nothing in common but lines whose addresses are physical (model/shared_memory.h).
 *
 * Beside it, for comparison: the last-writer count of tools without coherence. Each access to a line that another thread
 * wrote last counts, whether or not this thread has read it since.
 *
 * Memory: about 40 bytes for each line of each page that was touched, 80 for each distinct contact. */
#ifndef AS_COMM_COHERENT_H
#define AS_COMM_COHERENT_H

#include "comm/contact.h"
#include "comm/pair_matrix.h"
#include "lens/weave.h"

enum { AS_COHERENT_LINE = 64 };

struct as_coherent_counts {
    uint64_t accesses;
    uint64_t transfers, false_;
    uint64_t remote;        /* of them, between nodes */
    uint64_t bytes;         /* that the threads wanted of the transferred lines: the size of the accesses */
    uint64_t invalidations; /* stores that took copies from others and needed no data */
    uint64_t last_writer;   /* what a count of last writers gives */
    uint64_t dropped;       /* of threads beyond AS_PAIR_THREADS */
};

/* What is known of the thread and the line at the time; each may be NULL. */
struct as_coherent_hooks {
    uint32_t (*path)(void *context, uint32_t thread); /* of calls */
    uint32_t (*node)(void *context, uint32_t thread); /* that its core belongs to */
    uint32_t (*object)(void *context, uint32_t process, uint64_t address);
    bool (*home)(void *context, uint32_t *process, uint64_t *address); /* of a physical address */
    void *context;
};

struct as_coherent;
struct as_coherent *as_coherent_new(const struct as_coherent_hooks *hooks); /* copied; NULL: none */
void as_coherent_span(struct as_coherent *coherent, const struct as_weave_span *span);
struct as_coherent_counts as_coherent_counts(const struct as_coherent *coherent);
const struct as_pair_matrix *as_coherent_matrix(const struct as_coherent *coherent);
const struct as_contacts *as_coherent_contacts(const struct as_coherent *coherent);
/* When no more spans come: rows of the matrix and bits of the contacts in the order of the threads' numbers, in place of
 * that in which they were met. */
void as_coherent_sort(struct as_coherent *coherent);
/* The threads in the order of the matrix: their numbers. */
const uint32_t *as_coherent_threads(const struct as_coherent *coherent, size_t *n);
size_t as_coherent_memory(const struct as_coherent *coherent); /* bytes, roughly */
void as_coherent_free(struct as_coherent *coherent);

#endif
