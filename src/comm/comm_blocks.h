/* Blocks of the heap in a run on this machine: the agent in the program, and what it saw. Where that cannot be, the run goes on and
 * a note says why.
 *
 * Calls: open (or set the note), run the program with the environment, read, close.
 */
#ifndef AS_COMM_COMM_BLOCKS_H
#define AS_COMM_COMM_BLOCKS_H

#include "comm/comm_native.h"

struct as_agent;

struct as_comm_blocks {
    struct as_agent *agent; /* NULL: it is in no program */
    char *note;             /* why heap objects are not known; NULL: they are */
};

/* `blocks` is zeroed. */
bool as_comm_blocks_open(struct as_comm_blocks *blocks, struct as_error *err) AS_MUST_CHECK;
char *const *as_comm_blocks_environment(const struct as_comm_blocks *blocks); /* NULL: Assay's own */
void as_comm_blocks_read(struct as_comm_blocks *blocks, struct as_comm_native *native,
                         const struct as_notices *notices);
void as_comm_blocks_close(struct as_comm_blocks *blocks);

#endif
