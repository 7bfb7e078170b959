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
    size_t size, mapped; /* size of the data, a power of two; of the whole mapping */
    uint8_t *aux;        /* the buffer that the processor itself writes (SPE); NULL: none */
    size_t aux_size;
};

/* Maps `size` bytes (rounded to a power of two of pages), or half, a quarter … down to `least`, if the kernel refuses
 * that much locked memory. Returns false and sets errno on failure. */
bool as_ring_map(struct as_ring *ring, int fd, size_t size, size_t least) AS_MUST_CHECK;
bool as_ring_map_aux(struct as_ring *ring, size_t size, size_t least) AS_MUST_CHECK;
void as_ring_unmap(struct as_ring *ring);

/* Returns the number of new bytes, which are whole records; as_ring_take copies exactly that many to `to` and returns
 * their room to the kernel. */
size_t as_ring_pending(const struct as_ring *ring);
void as_ring_take(struct as_ring *ring, uint8_t *to, size_t size);

/* Returns the next piece of AUX data; 0 bytes: none. as_ring_aux_done returns it to the kernel. */
size_t as_ring_aux(struct as_ring *ring, const uint8_t **bytes, uint64_t *offset);
void as_ring_aux_done(struct as_ring *ring, size_t size);

#endif
