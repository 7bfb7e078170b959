/* A run in the model with the Oracle and samplers watching: what the verbs that run programs in the model share.
 *
 * Calls: open, sample and other observers added to `fanout`, run, read; free in any case.
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

/* The machine alone, for whoever wants to know that it exists. */
bool as_modelled_machine(struct as_machine *machine, const char *core, const struct as_strlist *set,
                         struct as_error *err) AS_MUST_CHECK;
/* `core` is a name or a file; `set` are changes to it (KEY=VALUE), NULL: none. `modelled` must be all 0. Nobody
 * watches yet. */
bool as_modelled_open(struct as_modelled *modelled, const char *core, const struct as_strlist *set,
                      struct as_error *err) AS_MUST_CHECK;
/* The Oracle watches. */
bool as_modelled_watch(struct as_modelled *modelled, struct as_error *err) AS_MUST_CHECK;
bool as_modelled_sample(struct as_modelled *modelled, const struct as_schedule *schedule,
                        const struct as_sampler *const *samplers, size_t n, struct as_error *err) AS_MUST_CHECK;
/* When samples are to be taken, as options ask for it: every `period` cycles (0: AS_SAMPLE_PERIOD) or at a rate per
 * second of simulated time (NAN: none), never both. */
enum { AS_SAMPLE_PERIOD = 1009 };
bool as_modelled_schedule(const struct as_modelled *modelled, uint64_t period, double rate,
                          struct as_schedule *schedule, struct as_error *err) AS_MUST_CHECK;
/* The events of cycle stacks that `list` asks for (NULL: those of TEA), of those that the machine can have. */
bool as_modelled_events(const struct as_modelled *modelled, const char *list, uint32_t *events,
                        struct as_error *err) AS_MUST_CHECK;
/* After the samplers were added: the Oracle, if it watches, keeps these and what any sampler records, so that each can
 * be held against it. */
void as_modelled_set_events(struct as_modelled *modelled, uint32_t events);
/* The engine's tick belongs to the meter. */
bool as_modelled_run(struct as_modelled *modelled, struct as_engine_options engine, struct as_error *err) AS_MUST_CHECK;
/* Returns how many observers have crashed in all. */
size_t as_modelled_free(struct as_modelled *modelled);

/* The samplers that a list names, each once: `samplers` has room for AS_SAMPLER_COUNT. */
bool as_samplers_choose(const char *list, const struct as_sampler **samplers, size_t *n,
                        struct as_error *err) AS_MUST_CHECK;

#endif
