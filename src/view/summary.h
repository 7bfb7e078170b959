/* What a profile says of the whole run, and of one of its series: the head of every report, so that none goes without
 * its source, its losses and its error. */
#ifndef AS_VIEW_SUMMARY_H
#define AS_VIEW_SUMMARY_H

#include "score/bias.h"
#include "score/confidence.h"
#include "store/store_read.h"

/* The levels at which an error is told, the coarsest first. */
enum { AS_SUMMARY_LEVELS = 4 };
extern const char *const as_summary_levels[AS_SUMMARY_LEVELS]; /* "function" … */

/* What error to expect at a level (trust_levels.c): what chance makes of so many samples, what the way of sampling gets
 * wrong by itself, and both together. */
struct as_summary_trust {
    double chance;
    struct as_bias_range bias, expected;
};

/* Strings are the store's, or constants; NULL where unknown. */
struct as_summary {
    const struct as_store *store;
    uint32_t series;     /* the one shown */
    const char *program; /* the last component of its path */
    const char *source, *source_why, *core, *sampler, *description, *unit, *partial, *part, *region;
    bool exact;
    bool contradicts; /* the series claims to be exact, and its times are not those of the run */
    bool sampled;     /* an estimate for the whole program from regions of it: `samples` are these */
    bool counted;     /* not sampled: every call of the allocator */
    bool has_events;  /* its times can be split by the events that instructions met */
    int32_t precise;
    double scale; /* units of time in a `unit` */
    uint64_t instructions, cycles;
    uint64_t samples; /* an exact series looks at every cycle */
    uint64_t lost, throttled, dropped, period;
    double seconds; /* NAN: unknown */
    double error;   /* by instruction, a fraction; NAN: unknown */
    const char *error_how;
    double error_by[AS_SUMMARY_LEVELS]; /* at each level, where it is sampled; NAN: unknown */
    double runs_apart;                  /* how far two such runs would be apart at the first level; NAN: unknown */
    const struct as_bias *bias;         /* of how the samples were taken; NULL: unknown, or the error is measured */
    struct as_summary_trust trust[AS_BIAS_LEVELS]; /* where it is known */
    char bias_from[128];                           /* how it is known, in words */
    size_t n_runs;
    bool merged; /* the profile is of all of them, not of the first */
    /* Over these; NAN where the profile has none. n is 0 where it does not have all of them, or the mean is 0, as it is
     * where a source counts no cycles. */
    struct as_spread run_cycles, run_seconds;
};

/* False where the profile has no series at all, or its times cannot be read. */
bool as_summary_read(struct as_store *store, uint32_t series, struct as_summary *summary,
                     struct as_error *err) AS_MUST_CHECK;

/* Sets `bias` and `trust` of a series of samples: trust_levels.c. */
void as_summary_find_trust(struct as_summary *summary);

/* The sum of one bar of the program ("states"); 0: the profile does not have it. */
uint64_t as_summary_stack_total(const struct as_summary *summary, const char *stack);

#endif
