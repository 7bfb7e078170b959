/* The part of a run that a profile is of, and how much of it is the start of the program. */
#ifndef AS_RECORD_PART_H
#define AS_RECORD_PART_H

#include "record/modelled.h"
#include "record/record_internal.h"

/* After a run with an Oracle: how many of its instructions the dynamic linker executed. */
struct as_record_start as_record_start_of(const struct as_modelled *modelled);
/* Adds the part of the run to the profile's facts, and a remark where the start is most of it. */
void as_record_add_part(const struct as_record *record, const struct as_record_run *run);

#endif
