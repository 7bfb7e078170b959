/* System calls by which a program waits for time to pass, reads what time it is, or has itself told of it. In QEMU all mean this
 * computer's time:
 * the model neither waits nor advances the clock, and takes much longer than the modelled core would. */
#ifndef AS_ENGINE_CLOCK_CALLS_H
#define AS_ENGINE_CLOCK_CALLS_H

#include "assay/insn.h"

#include <stdint.h>

enum as_clock_call { AS_CLOCK_NONE, AS_CLOCK_WAIT, AS_CLOCK_READ, AS_CLOCK_TIMER, AS_CLOCK_CALLS };

/* Waits without a timeout are for something else than time; those of futexes are not looked at. A timer that is set to zero, which
 * ends it, cannot be told from others, except alarm's. */
enum as_clock_call as_clock_call_of(enum as_arch arch, uint32_t number, const uint64_t args[6]);

#endif
