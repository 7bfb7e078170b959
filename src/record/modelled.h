/* A run in the model with the Oracle and samplers as observers: shared by the verbs that run programs in the model.
 *
 * Calls: open, add samplers and other observers to `fanout`, run, read; free in any case.
 */
#ifndef AS_RECORD_MODELLED_H
#define AS_RECORD_MODELLED_H

#include "base/strlist.h"
#include "base/vec.h"
#include "model/model.h"
#include "observe/oracle.h"
#include "record/meter.h"
#include "sampler/sampling.h"

struct as_modelled {
    struct as_machine machine;
    struct as_model *model;
    struct as_fanout *fanout;
    struct as_oracle *oracle;
    AS_VEC(struct as_sampling *) samplings;
    struct as_model_result result;
    const struct as_meter *meter; /* set before the run; NULL: none */
    void *meter_context;
};

/* Reads only the machine, for callers that check whether it exists. */
bool as_modelled_machine(struct as_machine *machine, const char *core, const struct as_strlist *set,
                         struct as_error *err) AS_MUST_CHECK;
/* `core` is a name or a file; `set` are changes to it (KEY=VALUE), NULL: none. `modelled` must be zeroed. There are no
 * observers yet. */
bool as_modelled_open(struct as_modelled *modelled, const char *core, const struct as_strlist *set,
                      struct as_error *err) AS_MUST_CHECK;
/* Adds the Oracle as an observer. */
bool as_modelled_watch(struct as_modelled *modelled, struct as_error *err) AS_MUST_CHECK;
bool as_modelled_sample(struct as_modelled *modelled, const struct as_schedule *schedule,
                        const struct as_sampler *const *samplers, size_t n, struct as_error *err) AS_MUST_CHECK;
/* When to take samples, from the options: every `period` cycles (0: AS_SAMPLE_PERIOD) or at a rate per second of
 * simulated time (NAN: none), never both. */
enum { AS_SAMPLE_PERIOD = 1009 };
bool as_modelled_schedule(const struct as_modelled *modelled, uint64_t period, double rate,
                          struct as_schedule *schedule, struct as_error *err) AS_MUST_CHECK;
/* The events of cycle stacks that `list` asks for (NULL: the `usual` ones), limited to those that the machine can raise. */
bool as_modelled_events(const struct as_modelled *modelled, const char *list, uint32_t usual, uint32_t *events,
                        struct as_error *err) AS_MUST_CHECK;
/* Call this after adding the samplers: the Oracle, if it observes, records these events and those of all samplers, so
 * that each sampler can be compared with it. */
void as_modelled_set_events(struct as_modelled *modelled, uint32_t events);
/* The engine's tick is used for the meter. */
bool as_modelled_run(struct as_modelled *modelled, struct as_engine_options engine, struct as_error *err) AS_MUST_CHECK;
/* The instructions that the dynamic linker executed in a run with an Oracle, or in the estimate of one; 0: none, or unknown. A run that is cut after its first
 * instructions is mostly a run of the linker: of 20 M instructions of a large program 12 M can be relocations. Every number of
 * such a run is exact, but none is about the program itself. */
struct as_modelled_start {
    uint64_t instructions;
    char linker[64];
    /* Part of the time that is in instructions with a rep prefix, which take a cycle an element in the model. */
    double repeated;
    double guessed; /* … in code of which nothing tells its name from others */
};
struct as_modelled_start as_modelled_start_of(const struct as_model *model, const struct as_oracle *oracle);
/* The same from rows by instruction, of an estimate. */
struct as_modelled_start as_modelled_start_of_rows(const struct as_model *model, const struct as_oracle_row *rows,
                                                   size_t n);
/* "the first 3,000,000 of 40,420,563 instructions (7.42 %), 61 % of them in ld.so": which part of a run was measured. The caller
 * frees. NULL: all of it. */
char *as_modelled_part(const struct as_engine_result *engine, uint64_t instructions,
                       const struct as_modelled_start *start);
/* A remark for a run that is mostly start-up, behind the share that the linker has of it: "the instructions (12,000) are in …". The
 * caller frees. NULL: it is not. */
char *as_modelled_start_up(const struct as_engine_result *engine, uint64_t instructions,
                           const struct as_modelled_start *start);

/* Returns the number of observers that crashed. */
size_t as_modelled_free(struct as_modelled *modelled);

/* Chooses the samplers that a list names, each once: `samplers` has room for AS_SAMPLER_COUNT. */
bool as_samplers_choose(const char *list, const struct as_sampler **samplers, size_t *n,
                        struct as_error *err) AS_MUST_CHECK;

#endif
