/* What a long run has done so far, on stderr unless --quiet. On a terminal that standard output does not go to, it is one
 * line that is redrawn, from the second second on. Elsewhere, such as in a log or beside the program's own output, there is a
 * line after ten seconds, then ever fewer of them, and one a minute in the end; ASSAY_PROGRESS has other seconds for the
 * first, or 0 for none. */
#ifndef AS_CMD_PROGRESS_H
#define AS_CMD_PROGRESS_H

#include "record/modelled.h"

#include <stdbool.h>
#include <stdint.h>

struct as_progress {
    bool on, terminal, shown;
    const char *then; /* what is done behind the run, NULL: nothing yet */
    double started, next;
    double gap;    /* seconds between the last line of a log and the next */
    uint64_t goal; /* measured instructions, 0: unknown */
};

void as_progress_start(struct as_progress *progress, uint64_t goal);
/* Cheap. The goal is of the measured instructions. */
void as_progress_update(struct as_progress *progress, uint64_t executed, uint64_t measured);
/* The same for a profile that is written behind a run, or without one: it starts by itself. */
void as_progress_write(struct as_progress *progress, uint64_t rows);
/* The same for ways to choose simulation points. */
void as_progress_try(struct as_progress *progress, uint64_t ways, uint64_t of);
void as_progress_end(struct as_progress *progress); /* erases the line */

extern const struct as_meter as_progress_meter; /* the same, with a struct as_progress as context */
/* as_modelled_run with that line. */
bool as_progress_run(struct as_modelled *modelled, struct as_engine_options engine, struct as_error *err) AS_MUST_CHECK;

#endif
