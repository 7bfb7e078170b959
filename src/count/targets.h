/* The targets of indirect jumps and calls: a set of addresses, each with its image. */
#ifndef AS_COUNT_TARGETS_H
#define AS_COUNT_TARGETS_H

#include "base/map.h"
#include "base/vec.h"

enum { AS_TARGETS_RECENT = 64 };

struct as_targets {
    struct as_map set;
    AS_VEC(uint64_t) list;              /* keys, each once, in order of first appearance */
    uint64_t recent[AS_TARGETS_RECENT]; /* keys that are known to be there, by some of their bits */
};

/* An address with its image in one word: user addresses have 48 bits. */
static inline uint64_t as_target_key(uint32_t image, uint64_t address)
{
    return (uint64_t)image << 48 | (address & ((UINT64_C(1) << 48) - 1));
}

static inline uint64_t as_target_address(uint64_t key)
{
    return key & ((UINT64_C(1) << 48) - 1);
}

/* An address of 0 is unknown and not kept. */
static inline void as_targets_note(struct as_targets *targets, uint32_t image, uint64_t address)
{
    uint64_t key = as_target_key(image, address);
    uint64_t *recent = &targets->recent[(address ^ address >> 6) % AS_TARGETS_RECENT];
    if (key == *recent || !address)
        return;
    *recent = key;
    uint64_t *known = as_map_put(&targets->set, key);
    if (!*known)
        *as_vec_push(&targets->list) = key;
    *known = 1;
}

static inline void as_targets_free(struct as_targets *targets)
{
    as_map_free(&targets->set);
    as_vec_free(&targets->list);
}

#endif
