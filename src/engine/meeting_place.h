/* While threads execute atomics in turn (pace.h), the reader and the threads that wait for it stay on one of the host's processors.
 *
 * A turn goes from the reader to a thread and back, and only one of the two has something to do. The kernel spreads them all the same: whoever is
 * woken goes to a processor that idles, which takes an interrupt to wake, on a virtual machine by way of its host
 * (plugin/one_processor.h is the other side, and has figures). Observers stay on the other processors.
 *
 * Only where turns come close together: with thousands of instructions between two of them, the reader has enough to do while threads
 * execute. A copy of the reader (twin.h) has all processors again.
 */
#ifndef AS_ENGINE_MEETING_PLACE_H
#define AS_ENGINE_MEETING_PLACE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct as_wire_header;

struct as_meeting_place {
    bool joined;
    cpu_set_t before;  /* the reader's processors, if it has joined */
    uint32_t turns;    /* since it was last looked how close together they come … */
    uint64_t progress; /* … and the instructions that had been executed then */
};

/* A thread has got its turn; so many instructions have been executed by all of them. */
void as_meeting_place_note_turn(struct as_meeting_place *place, struct as_wire_header *wire, uint64_t executed);
/* In a copy of the reader, which gives no turns. */
void as_meeting_place_forsake(struct as_meeting_place *place);
/* No more turns are given. */
void as_meeting_place_leave(struct as_meeting_place *place, struct as_wire_header *wire);

#endif
