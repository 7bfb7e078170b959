/* Reads the kernel's ring buffers. See ring.h. */
#include "native/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t power_of_two(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), power = page;
    while (power < size && power < (size_t)1 << 32)
        power *= 2;
    return power;
}

/* Whether a smaller buffer may succeed: the kernel returns EPERM beyond the allowed locked memory, ENOMEM without
 * memory. */
static bool worth_less(void)
{
    return errno == EPERM || errno == ENOMEM || errno == EAGAIN;
}

bool as_ring_map(struct as_ring *ring, int fd, size_t size, size_t least)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *ring = (struct as_ring){.fd = fd};
    for (size = power_of_two(size), least = power_of_two(least); size >= least; size /= 2) {
        void *at = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at != MAP_FAILED) {
            ring->page = at;
            ring->data = (uint8_t *)at + page;
            ring->size = size;
            ring->mapped = page + size;
            return true;
        }
        if (!worth_less())
            break;
    }
    return false;
}

bool as_ring_map_aux(struct as_ring *ring, size_t size, size_t least)
{
    for (size = power_of_two(size), least = power_of_two(least); size >= least; size /= 2) {
        ring->page->aux_offset = ring->mapped;
        ring->page->aux_size = size;
        void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, (off_t)ring->mapped);
        if (at != MAP_FAILED) {
            ring->aux = at;
            ring->aux_size = size;
            return true;
        }
        if (!worth_less())
            break;
    }
    return false;
}

void as_ring_unmap(struct as_ring *ring)
{
    if (ring->aux)
        munmap(ring->aux, ring->aux_size);
    if (ring->page)
        munmap(ring->page, ring->mapped);
    ring->page = NULL;
    ring->aux = NULL;
}

/* The kernel is the partner of each head and tail here: perf_event_open(2). It releases the records before data_head, and the bytes before
 * aux_head; the tails release them to be overwritten. */
size_t as_ring_pending(const struct as_ring *ring)
{
    uint64_t pending = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) - ring->page->data_tail;
    return pending <= ring->size ? (size_t)pending : 0;
}

void as_ring_take(struct as_ring *ring, uint8_t *to, size_t size)
{
    uint64_t tail = ring->page->data_tail;
    size_t offset = (size_t)(tail & (ring->size - 1)), first = ring->size - offset;
    first = first < size ? first : size;
    memcpy(to, ring->data + offset, first);
    memcpy(to + first, ring->data, size - first);
    __atomic_store_n(&ring->page->data_tail, tail + size, __ATOMIC_RELEASE);
}

size_t as_ring_aux(struct as_ring *ring, const uint8_t **bytes, uint64_t *offset)
{
    if (!ring->aux)
        return 0;
    uint64_t head = __atomic_load_n(&ring->page->aux_head, __ATOMIC_ACQUIRE), tail = ring->page->aux_tail;
    size_t at = (size_t)(tail & (ring->aux_size - 1)), left = (size_t)(head - tail);
    *bytes = ring->aux + at;
    *offset = tail;
    return left < ring->aux_size - at ? left : ring->aux_size - at;
}

void as_ring_aux_done(struct as_ring *ring, size_t size)
{
    __atomic_store_n(&ring->page->aux_tail, ring->page->aux_tail + size, __ATOMIC_RELEASE);
}
