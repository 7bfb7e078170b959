/* Shared by the sources that run a program in the model: record_model.c. */
#ifndef AS_RECORD_MODEL_H
#define AS_RECORD_MODEL_H

#include "record/modelled.h"
#include "record/record_internal.h"

/* Runs the program and lets the observers finish. */
bool as_record_execute(const struct as_record *record, struct as_modelled *modelled,
                       struct as_error *err) AS_MUST_CHECK;
/* Returns false if no part of the program was measured. */
bool as_record_check_measured(struct as_record *record, const struct as_modelled *modelled,
                              struct as_error *err) AS_MUST_CHECK;
/* Adds why this core was modelled, and what an x86-64 program saw of the processor that is not as here: record_processor.c. */
void as_record_add_processor(struct as_store_writer *writer, const struct as_record_options *options,
                             const struct as_engine *engine);
/* Adds that the program waits for the clock, if it does. */
void as_record_add_clock(struct as_store_writer *writer, const struct as_engine_result *engine);
/* Adds the machine file as it was used, and the counters. */
void as_record_add_core(struct as_store_writer *writer, const struct as_modelled *modelled);

#endif
