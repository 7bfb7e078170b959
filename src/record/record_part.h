/* The part of a run that a profile covers, and how much of it is the start-up of the program. */
#ifndef AS_RECORD_PART_H
#define AS_RECORD_PART_H

#include "record/record_internal.h"

/* Adds the part of the run to the profile's facts, and remarks if start-up is most of it, or if much of it is in
 * instructions that the model executes more slowly than processors do. */
void as_record_add_part(const struct as_record *record, const struct as_record_run *run);

#endif
