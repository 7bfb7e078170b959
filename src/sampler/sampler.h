/* Samplers: policies that pick the instruction(s) to which a sample is charged, each the way some real profiler does.
 *
 * A policy is asked about one cycle after another and answers from the window alone. doc/design/samplers.md holds them
 * side by side.
 */
#ifndef AS_SAMPLER_SAMPLER_H
#define AS_SAMPLER_SAMPLER_H

#include "observe/events.h"
#include "sampler/window.h"

enum as_verdict {
    AS_SAMPLE_TAKEN,
    AS_SAMPLE_DROPPED, /* its cycles go to the thread's next sample */
    AS_SAMPLE_WAITS,   /* the answer lies behind the window; never when the window has ended */
};

struct as_query {
    const struct as_window *window;
    const struct as_run_info *run;
    uint64_t cycle; /* the window holds the record that commits then, or the next one to commit */
    /* The policy's own for this thread, 0 at first: */
    uint64_t *cursor; /* where the search for this or a later cycle may start */
    uint64_t *busy;   /* the cycle in which its tag is free again, where it can follow one instruction at a time */
};

struct as_sampler {
    const char *name;
    const char *stands_for; /* the hardware or tool that works like this */
    uint32_t events;        /* that it records with a sample; 0: it records where the time goes, not why */
    bool any_events;        /* … and can be given another set: its vectors are Assay's to choose */
    enum as_verdict (*take)(const struct as_query *query, struct as_attribution *sample);
};

extern const struct as_sampler as_sampler_software, as_sampler_dispatch, as_sampler_lci, as_sampler_nci,
    as_sampler_nci_ilp, as_sampler_tip_ilp, as_sampler_tip, as_sampler_ris, as_sampler_ibs, as_sampler_spe,
    as_sampler_nci_tea, as_sampler_tea;

/* From the worst to the best as in the papers: first those that record where the time goes, then those that also record why. */
enum { AS_SAMPLER_COUNT = 12 };
extern const struct as_sampler *const as_samplers[AS_SAMPLER_COUNT];
const struct as_sampler *as_sampler_find(const char *name); /* NULL: there is none */
/* Adds their names, "a, b": of all, and of those that record events. For help and messages. */
void as_samplers_name(struct as_str *list);
void as_samplers_name_events(struct as_str *list);

/* Policies that several samplers share. */
enum as_verdict as_nci_take(const struct as_query *query, struct as_attribution *sample);
enum as_verdict as_tip_take(const struct as_query *query, struct as_attribution *sample);

/* The Oracle's answer for one cycle, by its definition: what samples are held against. The same as what the streaming
 * Oracle (observe/oracle.h) adds up over all cycles. */
enum as_verdict as_truth_take(const struct as_query *query, struct as_attribution *truth);

/* For policies: the first position whose record commits at or after the cycle, kept in the cursor. False: not in the
 * window. */
static inline bool as_query_head(const struct as_query *query, uint64_t *position)
{
    *position = as_window_after(query->window, AS_STAGE_COMMIT, *query->cursor, query->cycle - 1);
    *query->cursor = *position;
    return *position < query->window->end;
}

/* Nothing (more) is in the window. */
static inline enum as_verdict as_query_waits(const struct as_query *query)
{
    return query->window->ended ? AS_SAMPLE_DROPPED : AS_SAMPLE_WAITS;
}

static inline enum as_verdict as_sample_one(struct as_attribution *sample, enum as_state state,
                                            const struct as_pipe *pipe)
{
    sample->state = state;
    sample->n = 1;
    sample->ids[0] = pipe->insn;
    sample->paths[0] = pipe->path;
    sample->events[0] = pipe->events;
    return AS_SAMPLE_TAKEN;
}

#endif
