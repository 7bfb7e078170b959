/* The experiments of `assay whatif`, and how they are shown.
 *
 * A cause is something that can be made ideal: events at a place or everywhere, or a value of the machine. An
 * experiment is a run with one or several causes made ideal.
 */
#ifndef AS_CMD_WHATIF_H
#define AS_CMD_WHATIF_H

#include "base/json.h"
#include "cmd/whatif_apart.h"
#include "cmd/whatif_heap.h"
#include "model/place.h"
#include "record/modelled.h"

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

struct as_whatif {
    char **argv;
    const struct as_modelled *as_is; /* the unchanged run */
    const struct as_experiment *experiments;
    size_t n;
};

/* Time of the unchanged run divided by that of the experiment: whole run, first commit to last. */
double as_experiment_speedup(const struct as_whatif *whatif, const struct as_experiment *experiment);
double as_experiment_promise(const struct as_whatif *whatif, const struct as_experiment *experiment);

void as_whatif_json(const struct as_whatif *whatif, struct as_json *json);
void as_whatif_text(const struct as_whatif *whatif, FILE *out);

#endif
