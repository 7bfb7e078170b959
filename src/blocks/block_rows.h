/* Lists of what a graph with counts has: blocks and functions in order, how much of a module ran, and code that never ran. */
#ifndef AS_BLOCKS_BLOCK_ROWS_H
#define AS_BLOCKS_BLOCK_ROWS_H

#include "blocks/flow.h"

/* Which part of the counts. Passed by value; the caller keeps what it points to. */
struct as_block_scope {
    const struct as_flow *flow;
    const char *module;   /* only blocks of this module (name or path); NULL: all */
    const char *function; /* only this function, with all its blocks; NULL: all */
};
bool as_block_scope_has_module(struct as_block_scope scope, uint32_t module);
bool as_block_scope_has_function(struct as_block_scope scope, uint32_t module, uint32_t function);
/* Whether the function that is asked for has counts. */
bool as_block_scope_is_there(struct as_block_scope scope);
/* If not: the path of a module that has it all the same; NULL: none has. */
const char *as_block_scope_module(struct as_block_scope scope);

/* The function that a block is of. */
const struct as_cfg_function *as_block_function(const struct as_flow *flow, uint32_t module, uint32_t block);

struct as_block_row {
    uint32_t module, index; /* of a block or a function */
    double instructions;
};
typedef AS_VEC(struct as_block_row) as_block_rows;

/* Those that ran, most instructions first; of a function that is asked for, all blocks by address. */
as_block_rows as_block_rows_blocks(struct as_block_scope scope);
as_block_rows as_block_rows_functions(struct as_block_scope scope);

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
as_block_gaps as_block_gaps_of(struct as_block_scope scope);

#endif
