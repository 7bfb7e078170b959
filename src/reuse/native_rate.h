/* How many accesses a thread makes in a nanosecond, and what a trap takes: from traps at places that it comes to after a known
 * number of accesses. Pure arithmetic over times; traced_rate.c sets the watchpoints. */
#ifndef AS_REUSE_NATIVE_RATE_H
#define AS_REUSE_NATIVE_RATE_H

#include <stdbool.h>
#include <stdint.h>

enum { AS_RATE_TRAPS = 31 };

struct as_native_rate {
    /* The last ones: accesses a nanosecond, right behind a stop and further on, when the caches are warm again; nanoseconds. */
    double rates[AS_RATE_TRAPS], warm[AS_RATE_TRAPS], traps[AS_RATE_TRAPS];
    double gains[AS_RATE_TRAPS];                /* how much faster the same way was when the thread had run for long */
    uint64_t measured, warmed, trapped, gained; /* in all */
};

/* Two places next to each other: nearly all the time between was the trap's. */
void as_rate_add_trap(struct as_native_rate *rate, double nanoseconds);
double as_rate_trap(const struct as_native_rate *rate); /* the median; 0: unknown */
/* `accesses` took so long, with `stops` traps or other stops in between. Returns accesses a nanosecond; 0: too short for an
 * answer, or what a trap takes is not known. */
double as_rate_add(struct as_native_rate *rate, double accesses, double nanoseconds, double stops);
/* The same for what followed, at a rate of `cold` up to there: nothing where the two do not fit together, because the thread was
 * elsewhere in between. */
double as_rate_add_warm(struct as_native_rate *rate, double cold, double accesses, double nanoseconds, double stops);
/* From a use to its reuse it took so long behind a stop, and so long later on. Nothing where the two do not fit together: the thread
 * went another way. */
void as_rate_add_gain(struct as_native_rate *rate, double behind, double later);
double as_rate_gain(const struct as_native_rate *rate);  /* the median; 1: unknown */
double as_rate_usual(const struct as_native_rate *rate); /* the median, of warm ones if there are some; 0: unknown */

#endif
