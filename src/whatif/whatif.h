/* A program with causes of time made ideal: how much faster it would be without them.
 *
 * A cause is something that can be made ideal: events at a place or everywhere, or a value of the machine. An
 * experiment is a run with one or several causes made ideal.
 */
#ifndef AS_WHATIF_WHATIF_H
#define AS_WHATIF_WHATIF_H

#include "base/notice.h"
#include "model/place.h"
#include "record/input.h"
#include "record/modelled.h"
#include "whatif/whatif_apart.h"
#include "whatif/whatif_heap.h"

struct as_cause {
    char *text;               /* "ST-L1@main+0x1c", "memory.l2.latency=1" */
    uint32_t events;          /* AS_IDEAL_REMOVED: the whole instruction; 0: a change of the machine */
    const char *set;          /* that change */
    char *separate;           /* a variable whose parts get lines of their own; NULL: none */
    struct as_apart apart;    /* … and where it is */
    struct as_heap_rule heap; /* … or blocks of the heap */
    struct as_place place;    /* text NULL: everywhere */
};

struct as_experiment {
    const struct as_cause *const *causes;
    size_t n;
    /* In the unchanged run: executions that met one of the events, and their cycles, which are the speed-up that the
     * cycle stacks promise. */
    uint64_t met;
    double promised;     /* NAN if a change of the machine is among the causes */
    bool skipped;        /* it never happened: nothing to try */
    uint32_t insn;       /* the only instruction that it affects … */
    bool about_one;      /* … if there is one */
    struct as_heap heap; /* while it runs */
    struct as_model_result result;
};

/* EVENT[+EVENT…][@PLACE]. */
bool as_cause_parse(const char *text, struct as_cause *cause, struct as_error *err) AS_MUST_CHECK;
void as_cause_free(struct as_cause *cause);
/* The events that the experiment removes from an instruction. */
uint32_t as_experiment_mask(const struct as_experiment *experiment, const struct as_model *model,
                            const struct as_insn *insn);

#define AS_WHATIF_USUAL UINT64_MAX /* as_whatif_request.rank: a few, if nothing else is asked for */

struct as_whatif_request {
    const char *core;
    struct as_strlist set;                             /* changes of the machine in all runs */
    struct as_strlist ideal, remove, change, separate; /* causes, as they are typed: each is an experiment */
    bool together;                                     /* and all of these at once */
    uint64_t rank;                                     /* so many that the cycle stacks promise most of */
    struct as_engine_options engine;                   /* of each run */
    struct as_memo_options memo;
    const struct as_meter *meter; /* NULL: none */
    void *meter_context;
    struct as_notices notices;
};

struct as_whatif {
    const struct as_whatif_request *request;
    struct as_input input;
    struct as_modelled as_is; /* the unchanged run */
    struct as_pics golden;    /* its cycle stacks */
    struct as_moved moved;    /* … lines that went from core to core in it */
    struct as_heap heap;      /* … and blocks that experiments are about */
    char **environment;       /* with the agent, if there are any; NULL: that of the request */
    AS_VEC(struct as_cause *) causes;
    AS_VEC(struct as_experiment) experiments; /* those that were asked for, then others by their speed-up */
    int interrupted_by;                       /* the signal by which the user ended the session; 0: there was none */
    size_t missing;                           /* the last so many experiments were not made, or not to their end */
};

/* Calls: prepare, which reads the causes before anything runs; the run as it is; the experiments; free in any case. `whatif` is
 * zeroed but for its request. */
bool as_whatif_prepare(struct as_whatif *whatif, struct as_error *err) AS_MUST_CHECK;
bool as_whatif_run_as_is(struct as_whatif *whatif, struct as_error *err) AS_MUST_CHECK;
/* Ends with the run that the user interrupts, and succeeds if an experiment was whole before. */
bool as_whatif_try(struct as_whatif *whatif, struct as_error *err) AS_MUST_CHECK;
void as_whatif_free(struct as_whatif *whatif);

/* Time of the unchanged run divided by that of the experiment: whole run, first commit to last. */
double as_experiment_speedup(const struct as_whatif *whatif, const struct as_experiment *experiment);
double as_experiment_promise(const struct as_whatif *whatif, const struct as_experiment *experiment);

#endif
