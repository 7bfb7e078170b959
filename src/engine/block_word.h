/* The word of a block that begins (wire.h): its number, and where blocks have stamps the low bits of a time that all processors share
 * (stamp.h). A thread whose last stamp lies so far back that they could have come round reports the whole time first: AS_WIRE_TIME. */
#ifndef AS_ENGINE_BLOCK_WORD_H
#define AS_ENGINE_BLOCK_WORD_H

#include <stdint.h>

#define AS_WIRE_STAMP_SHIFT 32
#define AS_WIRE_STAMP_MASK UINT64_C(0xffffff)

/* The number of the block, without its stamp. A word that is no block's becomes no number that a block can have. */
static inline uint64_t as_wire_number_of(uint64_t word)
{
    return word & ~(AS_WIRE_STAMP_MASK << AS_WIRE_STAMP_SHIFT);
}

/* The time of a block, by its word and the last time of its thread. A word without a stamp, or one further ahead than a thread goes
 * without AS_WIRE_TIME, leaves the time as it is. */
static inline uint64_t as_wire_time_of(uint64_t last, uint64_t word)
{
    uint64_t ahead = ((word >> AS_WIRE_STAMP_SHIFT) - last) & AS_WIRE_STAMP_MASK;
    return ahead > AS_WIRE_STAMP_MASK / 2 ? last : last + ahead;
}

#endif
