/* Why a program took its time: the part of `assay compare` that is about events. */
#ifndef AS_CMD_COMPARE_EVENTS_H
#define AS_CMD_COMPARE_EVENTS_H

#include "cmd/compare.h"

enum { AS_PICS_LEVELS = 4 }; /* instruction, block, function, program */
extern const char *const as_pics_level_names[AS_PICS_LEVELS];

/* What a machine can raise; the others are never set in its records. */
uint32_t as_machine_events(const struct as_machine *machine);

/* The errors of sampler number `index` of a sampling about cycle stacks, by level. Not for one without events. */
void as_compare_pics_errors(const struct as_compare *compare, const struct as_sampling *sampling, size_t index,
                            double errors[AS_PICS_LEVELS]);

/* "events": the set, what each event explains, components of the program, stalls that none explains. */
void as_compare_events_json(const struct as_compare *compare, struct as_json *json);
void as_compare_events_text(const struct as_compare *compare, FILE *out);

/* {name: cycles} of entries of one instruction, or of one group. */
void as_compare_components_json(struct as_json *json, const char *name, const struct as_pics_entry *entries, size_t n);
void as_compare_event_names_json(struct as_json *json, const char *name, uint32_t events);

#endif
