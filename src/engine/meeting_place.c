/* See meeting_place.h. */
#include "engine/meeting_place.h"

#include "engine/wire.h"

/* Turns after which it is looked how close they come, and the most instructions between two of them to meet. */
enum { WINDOW = 64, CLOSE = 1000 };

static void join(struct as_meeting_place *place, struct as_wire_header *wire)
{
    int here = sched_getcpu();
    if (place->joined || here < 0 || here >= CPU_SETSIZE ||
        sched_getaffinity(0, sizeof place->before, &place->before) != 0 || CPU_COUNT(&place->before) < 2)
        return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(here, &one);
    place->joined = sched_setaffinity(0, sizeof one, &one) == 0;
    if (place->joined)
        atomic_store(&wire->processor, (uint32_t)here + 1);
}

void as_meeting_place_forsake(struct as_meeting_place *place)
{
    if (place->joined)
        sched_setaffinity(0, sizeof place->before, &place->before);
    place->joined = false;
}

void as_meeting_place_leave(struct as_meeting_place *place, struct as_wire_header *wire)
{
    place->turns = 0;
    if (!place->joined)
        return;
    atomic_store(&wire->processor, 0);
    as_meeting_place_forsake(place);
}

void as_meeting_place_note_turn(struct as_meeting_place *place, struct as_wire_header *wire, uint64_t executed)
{
    if (place->turns++ == 0)
        place->progress = executed;
    if (place->turns < WINDOW)
        return;
    place->turns = 0;
    if (executed - place->progress < WINDOW * CLOSE)
        join(place, wire);
    else
        as_meeting_place_leave(place, wire);
}
