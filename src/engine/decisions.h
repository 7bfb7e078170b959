/* Loads whose value decides where the program goes on.
 *
 * What one thread reads of another matters to the order of both only if the program then does something else: a thread that
 * waits for a flag, takes a lock, looks whether there is work. A value that is only added to and stored again could have
 * been another one, and the same instructions would have been executed. So threads that only add to a counter may be
 * interleaved at will, and a thread that saw its turn come may not be put before the thread that gave it.
 *
 * Known per block: a load whose value reaches the conditional branch at the block's end, or the register in which the
 * function that ends there returns its result. A value that is kept in a register over the end of a block is not followed.
 */
#ifndef AS_ENGINE_DECISIONS_H
#define AS_ENGINE_DECISIONS_H

#include "engine/engine.h"

/* Fills as_block.deciders and .publishes. The rest of the block must be known. */
void as_block_find_decisions(struct as_block *block);

#endif
