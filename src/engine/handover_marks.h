/* Where lanes have to stop, and for what: the marks that other threads wait for, and the waits of the lane itself. handover.c finds
 * them ahead of the reader; as_handover_arrive carries them out when the lane has been read that far. */
#ifndef AS_ENGINE_HANDOVER_MARKS_H
#define AS_ENGINE_HANDOVER_MARKS_H

#include "engine/handover.h"
#include "engine/reader_lanes.h"

struct as_word_writer;

static inline uint64_t as_handover_read_of(const struct as_reader *reader, uint32_t lane)
{
    return atomic_load(&reader->wire->lanes[lane].consumed);
}

static inline void as_handover_set_stop(struct as_handover_lane *own)
{
    own->stop = own->allowed;
    if (own->passed < own->marks.len && own->marks.data[own->passed].position < own->stop)
        own->stop = own->marks.data[own->passed].position;
    if (own->waited < own->waits.len && own->waits.data[own->waited].position < own->stop)
        own->stop = own->waits.data[own->waited].position;
}

/* A mark at a position, the one that is there or a new one; returns its number. */
uint32_t as_handover_add_mark(struct as_handovers *all, struct as_handover_lane *own, uint64_t position);
/* What comes at a position of a lane comes behind the last store of another one, among the first `used` lanes. */
void as_handover_add_wait(struct as_reader *reader, uint32_t used, struct as_handover_lane *own, uint64_t position,
                          const struct as_word_writer *writer, uint64_t word, bool atomic);

#endif
