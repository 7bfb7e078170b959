/* Blocks of the heap for `assay comm` on this machine: the agent in the program, and what it saw. Where that cannot be, the run
 * goes on and a note says why.
 *
 * Calls: open, run the program with the environment, read, close.
 */
#ifndef AS_CMD_COMM_BLOCKS_H
#define AS_CMD_COMM_BLOCKS_H

#include "comm/comm_native.h"

struct as_agent;

struct as_comm_blocks {
    struct as_agent *agent; /* NULL: it is in no program */
    char *note;             /* why heap objects are not known; NULL: they are */
};

/* `program`: NULL where one that runs already is looked at. False: `err`. */
bool as_comm_blocks_open(struct as_comm_blocks *blocks, bool wanted, const char *program,
                         struct as_error *err) AS_MUST_CHECK;
char *const *as_comm_blocks_environment(const struct as_comm_blocks *blocks); /* NULL: Assay's own */
void as_comm_blocks_read(struct as_comm_blocks *blocks, struct as_comm_native *native);
void as_comm_blocks_close(struct as_comm_blocks *blocks);

#endif
