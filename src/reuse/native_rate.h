/* How many accesses a thread makes in a nanosecond, and what a trap takes: from traps at places that it comes to after a known
 * number of accesses. Pure arithmetic over times; traced_rate.c sets the watchpoints. */
#ifndef AS_REUSE_NATIVE_RATE_H
#define AS_REUSE_NATIVE_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AS_RATE_TRAPS = 31 };

struct as_rate_way {
    double accesses, nanoseconds, stops;
};

struct as_native_rate {
    /* The last ones: accesses a nanosecond, right behind a stop and further on, when the caches are warm again; nanoseconds. */
    double rates[AS_RATE_TRAPS], warm[AS_RATE_TRAPS], traps[AS_RATE_TRAPS];
    double later[AS_RATE_TRAPS];                /* accesses a nanosecond when the thread had run for long … */
    uint64_t sites[AS_RATE_TRAPS];              /* … and which code that was */
    double hits[AS_RATE_TRAPS];                 /* nanoseconds that it takes to count that a place was come to */
    double rough[AS_RATE_TRAPS];                /* accesses a nanosecond of ways that take no longer than a trap */
    uint64_t measured, warmed, trapped, gained; /* in all */
    uint64_t roughly, hit;
};

double as_rate_median(double *values, size_t n); /* sorts them; 0: there are none */
/* Two places next to each other: nearly all the time between was the trap's. Returns what it says of a trap now: an interruption makes
 * it longer, so not more than the median. */
double as_rate_add_trap(struct as_native_rate *rate, double nanoseconds);
double as_rate_trap(const struct as_native_rate *rate); /* the median; 0: unknown */
/* `accesses` took so long, with `stops` traps or other stops in between. Returns accesses a nanosecond; 0: too short for an
 * answer, or what a trap takes is not known. */
double as_rate_add(struct as_native_rate *rate, double accesses, double nanoseconds, double stops);
/* The same for a way that is short beside what a trap takes, which varies: counts while there is nothing better. */
void as_rate_add_rough(struct as_native_rate *rate, double accesses, double nanoseconds, double stops);
/* The same for what followed, at a rate of `cold` up to there: nothing where the two do not fit together, because the thread was
 * elsewhere in between. */
double as_rate_add_warm(struct as_native_rate *rate, double cold, double accesses, double nanoseconds, double stops);
/* From a use to its reuse by the code `site`, so many accesses, it took so long behind a stop, and so long later on. False where the two do not fit
 * together: the thread went another way. */
bool as_rate_add_gain(struct as_native_rate *rate, double behind, double later, double accesses, uint64_t site);
/* A thread that had run for long went round in so many accesses in `one` nanoseconds on average while one of the places on its way was
 * counted, and in `two` while two were: what they differ by is what counting takes. False: it took nearly all the time, so nothing is
 * known of the rest. */
bool as_rate_add_turn(struct as_native_rate *rate, double accesses, double one, double two, uint64_t site);
/* Whether so many accesses may have taken so long: not much longer than usual, because then the thread was elsewhere in between. */
bool as_rate_fits(const struct as_native_rate *rate, double accesses, double nanoseconds, double stops);
/* The rate of a way that is so long that what its stops take, which varies, hardly matters; 0: it is not. */
double as_rate_if_long(const struct as_native_rate *rate, double accesses, double nanoseconds, double stops);
/* Such a rate, of warm caches: it needs no other to fit to. */
void as_rate_add_long(struct as_native_rate *rate, double found);
/* The likely rate of a way, however short: where what its stops take is more than the rest, it says little, and what was expected counts,
 * unless it took far longer than that. */
double as_rate_likely(const struct as_native_rate *rate, double expected, const struct as_rate_way *way);
/* How many times as fast as usual the program is when it has run for long; 1: unknown. It is the mean over
 * samples, which are taken by time, so it is that of a long time, with slow and fast code in it. Of the rates of one code the upper
 * quartile counts: behind traps others may have had the processor and its caches. */
double as_rate_gain(const struct as_native_rate *rate);
/* Between which rates that of a long run lies, in all likelihood. If it was measured with warm caches, within a factor of two; if only
 * behind stops, where caches are cold, loops that stay in them can be many times as fast. Not narrower than what was measured. */
#define AS_RATE_SLOWEST 0.01 /* accesses a nanosecond; nothing is known */
struct as_rate_range {
    double low, high;
};
uint64_t as_rate_count(const struct as_native_rate *rate); /* the rates that the answer comes from */
bool as_rate_is_known(const struct as_native_rate *rate);  /* not from one measurement or two, which may be anything */
struct as_rate_range as_rate_range(const struct as_native_rate *rate);
double as_rate_usual(const struct as_native_rate *rate); /* the median, of warm ones if there are some; 0: unknown */

#endif
