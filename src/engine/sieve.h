/* A sieve for accesses: leaves out those that a small cache with one way would have, as the caches behind a core's first one do
 * not see them. Its slots are chosen by the low bits of the line; an access passes where the slot's last access was to
 * another line, or where it writes and the line was only read so far.
 *
 * Behind a sieve that was empty later, a second one lets through the same as it would alone: a slot that changes is always
 * seen. So what passes in a run does not depend on when QEMU began to sieve. What passes a coarse sieve also passes a fine one
 * behind it: two lines that share a slot of the coarse one share a slot of the fine one. QEMU leaves accesses to the stack out of
 * the coarse one; where it begins is the same in every run (gear.h).
 */
#ifndef AS_ENGINE_SIEVE_H
#define AS_ENGINE_SIEVE_H

#include <stdint.h>

enum {
    AS_SIEVE_LINE_SHIFT = 6,
    AS_SIEVE_SLOTS = 128,         /* 8 KiB */
    AS_SIEVE_COARSE_SLOTS = 4096, /* 256 KiB: between a first cache and the last one */
};

/* A slot: the line, and in the lowest bit whether it was written. `n` is a power of two, `stores` is 0 or 1. Returns whether the
 * access passes. */
static inline int as_sieve_pass(uint64_t *slots, uint64_t n, uint64_t address, uint64_t stores)
{
    uint64_t line = (address >> AS_SIEVE_LINE_SHIFT) + 1, written = line << 1 | 1;
    uint64_t *slot = &slots[line & (n - 1)];
    if ((*slot | !stores) == written)
        return 0;
    *slot = line << 1 | stores;
    return 1;
}

/* Another thread, which has a sieve of its own, has accessed this: what the slot says of the line is as true as it is of a cache. */
static inline void as_sieve_lose(uint64_t *slots, uint64_t n, uint64_t address, int written)
{
    uint64_t line = (address >> AS_SIEVE_LINE_SHIFT) + 1;
    uint64_t *slot = &slots[line & (n - 1)];
    if (*slot >> 1 == line)
        *slot = written ? 0 : line << 1;
}

#endif
