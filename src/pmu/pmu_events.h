/* The events that modelled units count, each as a test of an executed instruction: what its static record must say, and
 * what must have happened to it.
 *
 * A `rep` instruction is one event, whatever its iterations. Kinds of events: those of PEBS are instructions that meet
 * a condition; tagging units count operations, fetches or cycles and take what they find.
 */
#ifndef AS_PMU_EVENTS_H
#define AS_PMU_EVENTS_H

#include "assay/insn.h"
#include "assay/pipe.h"
#include "pmu/pmu.h"

enum as_pmu_counted {
    AS_COUNTS_EVENTS, /* instructions that pass the test */
    AS_COUNTS_OPS,    /* dispatched operations */
    AS_COUNTS_FETCHES,
    AS_COUNTS_CYCLES,
};

struct as_pmu_event {
    const char *name;  /* "l3-miss" */
    const char *alias; /* as Intel calls it since Skylake, or perf; NULL: nothing else */
    const char *meaning;
    uint32_t kinds; /* units that have it: 1 << enum as_pmu_kind */
    enum as_pmu_counted counts;
    enum as_pmu_shadow shadow;
    uint16_t config;        /* event and unit mask of Intel's, for the recording */
    uint32_t insn_flags;    /* AS_INSN_*: all of them */
    uint32_t classes;       /* 1 << enum as_class: one of them; 0: any */
    uint32_t events, never; /* AS_EVENT_*: all of the first, none of the second */
    uint16_t flags;         /* AS_PIPE_*: all of them */
    bool latency;           /* … and takes as long as the threshold says */
    uint8_t fixed;          /* the fixed counter that counts it where the unit has so many; 0: none */
};

enum { AS_PMU_EVENTS_MAX = 40 };
extern const struct as_pmu_event as_pmu_events[];
extern const size_t as_pmu_events_count;

const struct as_pmu_event *as_pmu_event_find(const char *name); /* name or alias, in any case; NULL: there is none */
void as_pmu_events_name(uint32_t kind, struct as_str *list);    /* those that a unit of the kind has */

/* Whether a static instruction can be such an event, and whether an executed one is. */
bool as_pmu_event_may(const struct as_pmu_event *event, const struct as_insn *insn);
static inline bool as_pmu_event_is(const struct as_pmu_event *event, uint32_t threshold, const struct as_pipe *pipe)
{
    return (pipe->events & event->events) == event->events && !(pipe->events & event->never) &&
           (pipe->flags & event->flags) == event->flags && (!event->latency || pipe->done - pipe->issue >= threshold);
}

#endif
