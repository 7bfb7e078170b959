/* The kernel's ring buffer of one processor, mapped, and the AUX buffer that some units write beside it. */
#ifndef AS_NATIVE_RING_H
#define AS_NATIVE_RING_H

#include "base/error.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct as_ring {
    int fd;
    struct perf_event_mmap_page *page; /* NULL: not mapped */
    uint8_t *data;
    size_t size, mapped; /* of the data, a power of two; of all */
    uint8_t *aux;        /* the buffer that the processor itself writes (SPE); NULL: none */
    size_t aux_size;
};

/* Maps `size` bytes (rounded to a power of two of pages), or half, or a quarter … down to `least`, where the kernel
 * says that that is too much locked memory. False: errno tells. */
bool as_ring_map(struct as_ring *ring, int fd, size_t size, size_t least) AS_MUST_CHECK;
bool as_ring_map_aux(struct as_ring *ring, size_t size, size_t least) AS_MUST_CHECK;
void as_ring_unmap(struct as_ring *ring);

/* Bytes that have come since; as_ring_take copies exactly so many to `to` and gives their room back to the kernel. They
 * are whole records. */
size_t as_ring_pending(const struct as_ring *ring);
void as_ring_take(struct as_ring *ring, uint8_t *to, size_t size);

/* The next piece of AUX data, 0 bytes: none. as_ring_aux_done gives it back. */
size_t as_ring_aux(struct as_ring *ring, const uint8_t **bytes, uint64_t *offset);
void as_ring_aux_done(struct as_ring *ring, size_t size);

#endif
