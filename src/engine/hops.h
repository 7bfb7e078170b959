/* Calls, returns and jumps in counted stretches that are sieved (as_sink.passed), as far as they still matter.
 *
 * A sink that follows calls needs the path on which the next region begins, not all paths up to there. So transfers wait in
 * a list. A call and the return to the instruction behind it leave the list together, of several jumps to functions
 * the last one counts, and jumps inside a function do not count. What is left is reported in order before anything else
 * that may depend on it: another stretch, an event, a transfer that fits none of these rules.
 */
#ifndef AS_ENGINE_HOPS_H
#define AS_ENGINE_HOPS_H

#include <stdbool.h>
#include <stdint.h>

struct as_stream;

enum as_hop_kind { AS_HOP_NONE, AS_HOP_CALL, AS_HOP_RETURN, AS_HOP_JUMP };

struct as_hop {
    uint32_t id, next; /* the block that ends in the transfer, and the one that it leads to */
    bool jump;
};

struct as_block;

/* What kind of transfer ends a block that leaves its function, or may do so. */
enum as_hop_kind as_hops_kind(const struct as_block *block);
/* Block `id` was executed as a whole and led to block `next`. */
void as_hops_add(struct as_stream *stream, enum as_hop_kind kind, uint32_t id, uint32_t next);
/* Reports the transfers that wait to the sink. */
void as_hops_tell(struct as_stream *stream);

#endif
