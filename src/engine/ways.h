/* Counting whole executions of blocks without a closer look at each: the engine's fast path.
 *
 * A stream remembers for each block the two blocks that followed it last, after it has checked once that the block can
 * lead there and that its executions can be summed up. An execution that goes one of these ways costs a comparison and
 * two additions. Where accesses are recorded, the execution must also end with the access that it ended with when it was
 * checked; then all of its instructions completed (stream.c explains why).
 */
#ifndef AS_ENGINE_WAYS_H
#define AS_ENGINE_WAYS_H

#include <stddef.h>
#include <stdint.h>

struct as_stream;
struct as_block;

/* What is known of a block, by its id. */
struct as_ways {
    uint64_t runs[2]; /* executions that went each way and are not reported yet */
    uint32_t next[2]; /* ids of the blocks; AS_WAY_NONE: none */
    uint16_t n;       /* instructions */
    uint16_t head;    /* of the last word of an execution: its last access or, without accesses, the block's own word */
    uint8_t falls;    /* way 0 leads straight on; otherwise both are taken branches */
    uint8_t targets;  /* the tallies are reported by target */
    uint8_t listed;   /* it is in the stream's list, since it was counted */
    uint8_t hop;      /* enum as_hop_kind: where accesses are sieved, its transfer may change the call path */
};
#define AS_WAY_NONE UINT32_MAX

/* Counts whole executions from the block that is being executed on, whose accesses are words[*from..at), for as long as
 * there are no others and no border. words[at] is the number of the next block. Returns whether there were any; then the
 * stream executes another block, whose accesses begin at words[*from]. */
_Bool as_ways_follow(struct as_stream *stream, const uint64_t *words, size_t *from, size_t at, size_t n);
/* Counts one whole execution of a block of which only the sum is wanted. */
void as_ways_add_run(struct as_stream *stream, uint32_t id);
/* Reports to the sink what was counted. */
void as_ways_report(struct as_stream *stream);

#endif
