/* A sieve for accesses: leaves out those that a small cache with one way would have, as the caches behind a core's first one do
 * not see them. Its slots are chosen by the low bits of the line; an access passes where the slot's last access was to
 * another line, or where it writes and the line was only read so far.
 *
 * Behind a sieve that was empty later, a second one lets through the same as it would alone: a slot that changes is always
 * seen. So what passes in a run does not depend on when QEMU began to sieve.
 */
#ifndef AS_ENGINE_SIEVE_H
#define AS_ENGINE_SIEVE_H

#include <stdint.h>

enum { AS_SIEVE_LINE_SHIFT = 6, AS_SIEVE_SLOTS = 128 }; /* 8 KiB */

/* A slot: the line, and in the lowest bit whether it was written. `stores` is 0 or 1. Returns whether the access passes. */
static inline int as_sieve_pass(uint64_t slots[AS_SIEVE_SLOTS], uint64_t address, uint64_t stores)
{
    uint64_t line = (address >> AS_SIEVE_LINE_SHIFT) + 1, written = line << 1 | 1;
    uint64_t *slot = &slots[line % AS_SIEVE_SLOTS];
    if ((*slot | !stores) == written)
        return 0;
    *slot = line << 1 | stores;
    return 1;
}

#endif
