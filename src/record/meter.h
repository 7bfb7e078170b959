/* Reports the progress of a run to a caller that displays it. All calls come from the thread that runs the program. */
#ifndef AS_RECORD_METER_H
#define AS_RECORD_METER_H

#include <stdint.h>

struct as_meter {
    void (*start)(void *context, uint64_t goal); /* instructions; 0: unknown */
    void (*update)(void *context, uint64_t instructions);
    void (*end)(void *context);
};

#endif
