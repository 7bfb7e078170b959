/* Events and sets of them: the possible contents of an instruction's performance signature vector (as_pipe.events), as
 * data.
 *
 * An event explains one of the states in which the commit stage makes no progress, and has a place in a hierarchy: a
 * dependent event occurs only if its root has occurred (an LLC miss is an L1 miss first); independent events occur by
 * themselves. A set with a dependent event but without its root cannot be interpreted, because an unmarked execution
 * may be a hit or a miss of the level before. Such sets are refused.
 *
 * A set is a mask. Events outside it are cleared from the vectors, at the cost of one AND. doc/design/events.md has the
 * table and the sets.
 */
#ifndef AS_OBSERVE_EVENTS_H
#define AS_OBSERVE_EVENTS_H

#include "assay/pipe.h"
#include "base/error.h"
#include "base/str.h"

#include <stddef.h>

enum as_explains { AS_EXPLAINS_DRAINED, AS_EXPLAINS_FLUSHED, AS_EXPLAINS_STALLED };
const char *as_explains_name(enum as_explains explains); /* "drained" … */

struct as_event_info {
    uint32_t bit;            /* enum as_event */
    const char *name;        /* "ST-L1" */
    const char *description; /* a few words */
    enum as_explains explains;
    uint32_t roots; /* it occurs only with one of these; 0: independent */
};

enum { AS_EVENT_COUNT = 17, AS_EVENTS_ALL = (1 << AS_EVENT_COUNT) - 1 };
extern const struct as_event_info as_events[AS_EVENT_COUNT]; /* by bit */
const struct as_event_info *as_event_find(const char *name); /* whatever its case; NULL: there is none */

/* Sets of Table B.1 of the TEA paper: what TEA, AMD IBS, Arm SPE and IBM RIS record. */
enum {
    AS_EVENTS_TEA = AS_EVENT_DR_L1 | AS_EVENT_DR_TLB | AS_EVENT_DR_SQ | AS_EVENT_FL_MB | AS_EVENT_FL_EX |
                    AS_EVENT_FL_MO | AS_EVENT_ST_L1 | AS_EVENT_ST_TLB | AS_EVENT_ST_LLC,
    AS_EVENTS_IBS =
        AS_EVENT_DR_L1 | AS_EVENT_DR_TLB | AS_EVENT_FL_MB | AS_EVENT_ST_L1 | AS_EVENT_ST_TLB | AS_EVENT_ST_LLC,
    AS_EVENTS_SPE = AS_EVENT_FL_MB | AS_EVENT_FL_EX | AS_EVENT_ST_L1 | AS_EVENT_ST_TLB | AS_EVENT_ST_LLC,
    AS_EVENTS_RIS = AS_EVENTS_IBS | AS_EVENT_DR_SQ,
    /* Not in the table: TEA's, and what threads that share data wait for. */
    AS_EVENTS_THREADS = AS_EVENTS_TEA | AS_EVENT_COHERENCE | AS_EVENT_ORDER,
};

/* Reads a set: words separated by commas, each the name of a set (tea, ibs, spe, ris, threads, all, none), of an event,
 * or +NAME or -NAME to add or remove one. It starts from nothing, or from `usual` if the first word has a sign.
 * `possible` is what the machine can raise: a set named as a whole is cut down to it, an event named by itself must be
 * in it. */
bool as_events_parse(const char *text, uint32_t usual, uint32_t possible, uint32_t *events,
                     struct as_error *err) AS_MUST_CHECK;
/* Whether all dependent events have their roots. */
bool as_events_check(uint32_t events, struct as_error *err) AS_MUST_CHECK;

/* "ST-L1+ST-TLB"; "Base" for none. Always terminated, and cut where the buffer ends. Returns the buffer. */
enum { AS_EVENTS_NAME_MAX = 192 };
const char *as_events_name(uint32_t events, char *buffer, size_t size);

/* Adds the names of events, and of the sets that as_events_parse knows: "a, b". For help and messages. */
void as_events_list(uint32_t events, struct as_str *list);
void as_event_sets_name(struct as_str *list);

/* Without the roots that a dependent event of the set stands for already: ST-L1+ST-LLC is an LLC miss, one event. */
uint32_t as_events_leaves(uint32_t events);

#endif
