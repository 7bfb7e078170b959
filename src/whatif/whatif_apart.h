/* Variables that an experiment puts on cache lines of their own: each element of an array, each word of anything else. What a
 * program computes stays the same; in the model's caches the variable lies elsewhere, a line for each part. */
#ifndef AS_WHATIF_WHATIF_APART_H
#define AS_WHATIF_WHATIF_APART_H

#include "base/map.h"
#include "base/vec.h"
#include "model/model.h"

struct as_apart {
    uint64_t start, size; /* of the variable; size 0: there is none */
    uint64_t part;        /* bytes that stay together */
    uint64_t to;          /* where its first part lies instead */
};

/* Where lines moved in a run, and how long accesses waited there. */
struct as_moved_address {
    uint64_t address, cycles, false_cycles;
    uint32_t insn; /* one that waited */
};
struct as_moved {
    AS_VEC(struct as_moved_address) addresses;
    struct as_map index; /* address: its place in the list + 1 */
};

void as_moved_take(void *moved, const struct as_transfer *transfer); /* as_on_transfer */
void as_moved_free(struct as_moved *moved);

/* The variable of that name, if lines of it moved; `number` tells it from others of the same experiment. False: none did. */
bool as_apart_find(const struct as_moved *moved, const struct as_model *model, const char *name, uint32_t number,
                   struct as_apart *apart);
/* The variable with the most cycles of false sharing, if these are more than `least`; NULL: there is none. The caller frees.
 */
char *as_apart_worst(const struct as_moved *moved, const struct as_model *model, uint64_t least);
/* Where an address lies with the variable apart. */
uint64_t as_apart_move(const struct as_apart *apart, uint64_t address);

#endif
