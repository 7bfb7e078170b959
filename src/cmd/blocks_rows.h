/* The rows that the writers of `assay blocks` share: blocks and functions in order, and code that never ran. */
#ifndef AS_CMD_BLOCKS_ROWS_H
#define AS_CMD_BLOCKS_ROWS_H

#include "cmd/blocks_show.h"

struct as_block_row {
    uint32_t module, index; /* of a block or a function */
    double instructions;
};
typedef AS_VEC(struct as_block_row) as_block_rows;

/* Those that ran, most instructions first; of a function that is asked for, all blocks by address. */
as_block_rows as_block_rows_blocks(const struct as_blocks_shown *shown);
as_block_rows as_block_rows_functions(const struct as_blocks_shown *shown);

/* How much of a module's code ran. */
struct as_block_cover {
    size_t functions_run;      /* those of as_block_rows_functions */
    size_t functions;          /* and the others of the symbol table */
    bool symbols;              /* it has one */
    size_t blocks, blocks_run; /* of functions that ran, without padding */
    uint64_t bytes, bytes_run; /* likewise */
};
struct as_block_cover as_block_cover_of(const struct as_flow *flow, uint32_t module);

/* A stretch of code that never ran: blocks [first, first + n) of a function that did, or a whole function. */
struct as_block_gap {
    uint32_t module, first, n;
    const struct as_symbol *function; /* NULL: the blocks */
};
typedef AS_VEC(struct as_block_gap) as_block_gaps;
as_block_gaps as_block_gaps_of(const struct as_blocks_shown *shown);

bool as_blocks_wants_module(const struct as_blocks_shown *shown, uint32_t module);
bool as_blocks_wants_function(const struct as_blocks_shown *shown, uint32_t module, uint32_t function);
const struct as_cfg_function *as_blocks_function(const struct as_flow *flow, uint32_t module, uint32_t block);

#endif
