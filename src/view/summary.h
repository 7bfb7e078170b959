/* What a profile says about the whole run and about one of its series: the head of every report, so that every report
 * states its source, its losses and its error. */
#ifndef AS_VIEW_SUMMARY_H
#define AS_VIEW_SUMMARY_H

#include "score/bias.h"
#include "score/confidence.h"
#include "store/store_read.h"

/* With fewer samples than this an expected error says nothing: it depends on which few were taken. */
enum { AS_SUMMARY_LEAST_SAMPLES = 50 };

/* The levels at which errors are reported, coarsest first. */
enum { AS_SUMMARY_LEVELS = 4 };
extern const char *const as_summary_levels[AS_SUMMARY_LEVELS]; /* "function" … */
/* Shares of `unnamed` from which it is said, and from which nothing is left of functions. */
#define AS_SUMMARY_UNNAMED 0.05
#define AS_SUMMARY_NO_NAMES 0.995
/* Share of `guessed` from which the error by function says nothing. */
#define AS_SUMMARY_GUESSES 0.5

/* The expected error at a level (trust_levels.c): by chance with this number of samples, by the bias of the sampler, and
 * both together. */
struct as_summary_trust {
    double chance;
    struct as_bias_range bias, expected;
};

/* Strings belong to the store or are constants; NULL if unknown. */
struct as_summary {
    const struct as_store *store;
    uint32_t series;     /* the series that is shown */
    const char *program; /* the title or, without one, the last component of its path */
    const char *source, *source_why, *core, *core_why, *sampler, *description, *unit, *partial, *part, *region;
    bool exact;
    bool contradicts; /* the series claims to be exact, but its times are not those of the run */
    bool sampled;     /* an estimate for the whole program from regions of it, whose number is `samples` */
    bool counted;     /* not sampled: every call of the allocator was counted */
    bool has_events;  /* its times can be divided by events of instructions */
    bool has_threads; /* the run had more than one */
    int32_t precise;
    double scale; /* units of time per `unit` */
    uint64_t instructions, cycles;
    uint64_t samples; /* for an exact series: the cycles of the run, all of which it covers */
    double effective; /* the part of the samples that as many of equal weight make up for: 1 for equal ones */
    uint64_t lost, throttled, dropped, period;
    uint64_t left_running; /* processes that went on when the recording had ended */
    double seconds;        /* NAN: unknown */
    double seconds_error;  /* of an estimate from regions: half its 95 % interval, as a part of it; NAN: unknown */
    double clocked; /* seconds that clocks of the kernel counted, which run only while the program does; 0: none did */
    double error;   /* at error_level, a fraction; NAN: unknown */
    const char *error_level; /* "instruction"; "program" for an estimate from regions: of the cycles of all of it */
    const char *error_how;
    bool expected;                      /* the error is one to expect of such samples, it was not measured */
    bool too_few;                       /* samples to expect an error of: none is stated */
    double error_by[AS_SUMMARY_LEVELS]; /* at each level; NAN: unknown */
    double unnamed;    /* part of the time of samples in no known function: by function, it counts by module */
    double guessed;    /* part of the samples whose function is a guess: most, and none has an error by function */
    double runs_apart; /* expected distance of two such runs at the first level; NAN: unknown */
    const struct as_bias *bias;                    /* of the sampler; NULL: unknown, or the error was measured */
    struct as_summary_trust trust[AS_BIAS_LEVELS]; /* if the bias is known */
    bool bias_here;                                /* it was measured on this program */
    char bias_from[128];                           /* how it is known, in words */
    size_t n_runs;
    bool merged; /* the profile covers all runs, not only the first */
    /* Over the runs; NAN if the profile has none. n is 0 if some runs lack the value or the mean is 0, as for a source
     * that counts no cycles. */
    struct as_spread run_cycles, run_seconds;
    /* By row of as_store_stacks, in a sampled run: half the 95 % interval of its share of its bar; NULL: not known. */
    const double *stack_errors;
};

/* Returns false if the profile has no series, or its times cannot be read. */
bool as_summary_read(struct as_store *store, uint32_t series, struct as_summary *summary,
                     struct as_error *err) AS_MUST_CHECK;

/* Sets `bias` and `trust` of a series of samples: trust_levels.c. */
void as_summary_find_trust(struct as_summary *summary);
double as_summary_effective(const struct as_store *store, uint32_t series); /* see `effective` */

/* Returns what the profile says about the part of its call chains that has no caller; NULL if that part is small. */
const struct as_store_quality *as_summary_lone_chains(const struct as_store *store);
/* The same of chains that lack their outermost callers. */
const struct as_store_quality *as_summary_cut_chains(const struct as_store *store);
/* … that end in code without unwind tables that the program made; NULL if that are few. */
const struct as_store_quality *as_summary_made_chains(const struct as_store *store);

/* What the shares of the series are of: "time" if it counts cycles or nanoseconds, otherwise what it counts
 * ("instructions"). Samples without a period are taken for time, as those of most tools are. */
const char *as_summary_noun(const struct as_summary *summary);

/* The cycles that TIP and TEA sampled: instructions that commit in one of them share its period, with a sample each. 0:
 * of another sampler, or no cycle was shared. */
uint64_t as_summary_sampled_cycles(const struct as_store *store);

/* The cycles of a region of a run that was measured in regions, about; 0: not known. */
double as_summary_region_cycles(const struct as_summary *summary);

/* What was lost of all series of a recording; a series may have lost less. */
uint64_t as_summary_lost(const struct as_store *store);

/* Whether a row is a part of this bar. Series with replicates have their own: that of the first series counts. */
bool as_summary_is_of_stack(const struct as_summary *summary, const struct as_store_stack *part, const char *stack);
/* The sum of one bar of the program ("states"); 0 if the profile does not have it. */
uint64_t as_summary_stack_total(const struct as_summary *summary, const char *stack);

#endif
