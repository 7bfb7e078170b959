/* The part of a run that a profile covers, and how much of it is the start-up of the program. */
#ifndef AS_RECORD_PART_H
#define AS_RECORD_PART_H

#include "record/record_internal.h"

/* Adds the part of the run to the profile's facts, and a remark if start-up is most of it. */
void as_record_add_part(const struct as_record *record, const struct as_record_run *run);

#endif
