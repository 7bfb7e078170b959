/* Why a program took its time: the part of `assay compare` about events. */
#ifndef AS_CMD_COMPARE_EVENTS_H
#define AS_CMD_COMPARE_EVENTS_H

#include "cmd/compare.h"

/* "events": the set, the time of each event, components of the program, stalls without an event. */
void as_compare_events_json(const struct as_compare *compare, struct as_json *json);
void as_compare_events_text(const struct as_compare *compare, FILE *out);

/* {name: cycles} of the entries of one instruction, or of one group. */
void as_compare_components_json(struct as_json *json, const char *name, const struct as_pics_entry *entries, size_t n);
void as_compare_event_names_json(struct as_json *json, const char *name, uint32_t events);

#endif
