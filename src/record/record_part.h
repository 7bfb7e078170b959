/* The part of a run that a profile covers, and how much of it is the start-up of the program. */
#ifndef AS_RECORD_PART_H
#define AS_RECORD_PART_H

#include "record/modelled.h"
#include "record/record_internal.h"

/* Call this after a run with an Oracle: returns how many of its instructions the dynamic linker executed. */
struct as_record_start as_record_start_of(const struct as_modelled *modelled);
/* Adds the part of the run to the profile's facts, and a remark if start-up is most of it. */
void as_record_add_part(const struct as_record *record, const struct as_record_run *run);

#endif
