/* Basic blocks and function boundaries from what executed: the engine reports runs of instructions (translation
 * blocks), which overlap and are cut at arbitrary places; this finds the real blocks.
 *
 * A leader is: a function's entry, the target of a control transfer that was seen or that is encoded in an executed
 * direct branch (if executed itself), the instruction after a control transfer or system call. Blocks are maximal runs
 * of adjacent executed instructions without a leader inside.
 */
#ifndef AS_SYMBOL_BLOCKS_H
#define AS_SYMBOL_BLOCKS_H

#include "assay/insn.h"

struct as_blocks;

struct as_basic_block {
    uint64_t start, end; /* [start, end) */
    uint32_t n_insns;
    uint64_t function; /* entry of the function that it belongs to; 0 unknown */
};

struct as_blocks *as_blocks_new(void);
void as_blocks_free(struct as_blocks *blocks);
void as_blocks_add_insn(struct as_blocks *blocks,
                        const struct as_insn *insn);                   /* insn must stay valid; duplicates fine */
void as_blocks_add_leader(struct as_blocks *blocks, uint64_t address); /* seen targets: indirect, returns … */
void as_blocks_add_function(struct as_blocks *blocks, uint64_t start, uint64_t size); /* from symbols or seen calls */
void as_blocks_finish(struct as_blocks *blocks); /* sorts and cuts; add nothing afterwards */
size_t as_blocks_count(const struct as_blocks *blocks);
const struct as_basic_block *as_blocks_get(const struct as_blocks *blocks, size_t index); /* by ascending address */
const struct as_basic_block *as_blocks_find(const struct as_blocks *blocks, uint64_t address); /* NULL: none */

#endif
