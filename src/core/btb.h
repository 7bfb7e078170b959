/* A branch target buffer: set-associative, partial tags; ways are replaced in turn, but never the one used last.
 *
 * An entry counts as 16 bits of tag, 32 of target and 2 of kind. The model keeps the whole target. */
#ifndef AS_CORE_BTB_H
#define AS_CORE_BTB_H

#include <stdint.h>

struct as_btb;
/* entries / ways must be a power of two (as_machine_validate sees to it). */
struct as_btb *as_btb_new(uint32_t entries, uint32_t ways);
void as_btb_free(struct as_btb *btb);

/* The target that is kept for the branch at `address`; 0 where there is none. Changes nothing. */
uint64_t as_btb_look(const struct as_btb *btb, uint64_t address);
/* The same, and afterwards the branch is there with this target and is the one used last of its set. */
uint64_t as_btb_use(struct as_btb *btb, uint64_t address, uint64_t target);
uint64_t as_btb_bits(const struct as_btb *btb);

#endif
