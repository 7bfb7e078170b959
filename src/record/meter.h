/* Reports the progress of a run, and of writing its profile, to a caller that displays it. All calls come from the thread that
 * runs the program. */
#ifndef AS_RECORD_METER_H
#define AS_RECORD_METER_H

#include <stdint.h>

struct as_meter {
    void (*start)(void *context, uint64_t goal); /* instructions; 0: unknown */
    /* Instructions that were executed, and how many of them were measured, which the goal is of. */
    void (*update)(void *context, uint64_t executed, uint64_t measured);
    void (*write)(void *context, uint64_t rows); /* of the profile, so far */
    void (*end)(void *context);                  /* of the run, and of writing */
};

#endif
