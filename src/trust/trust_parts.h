/* What experiments share: events and intervals that suit a sampler, several runs of one probe, rows of their results. See
 * trust.h. */
#ifndef AS_TRUST_PARTS_H
#define AS_TRUST_PARTS_H

#include "trust/trust.h"

bool as_trust_is_pebs(const struct as_trust_subject *subject);
/* What a unit counts if nobody says what: PEBS has events, the others one thing that they count. */
const char *as_trust_usual_event(const struct as_trust_subject *subject);
/* The interval, or the least that the unit takes; of this machine's PMU, that the kernel keeps up with. */
enum { AS_TRUST_NATIVE_LEAST = 10007, AS_TRUST_NATIVE_TIMES = 20 };
uint64_t as_trust_usual_period(const struct as_trust_subject *subject, uint64_t period);

/* Which of the samples are meant. */
typedef uint64_t as_trust_pick(const struct as_trust_counts *counts);
as_trust_pick as_trust_all, as_trust_loads, as_trust_l1_misses, as_trust_locked;

struct as_trust_several {
    double mean, spread; /* relative standard deviation; NAN: one run */
    struct as_trust_result last;
};
/* As many runs as the options say, with other random numbers and a few more iterations each. */
bool as_trust_run_several(struct as_trust_subject *subject, struct as_trust_probe probe, as_trust_pick *pick,
                          struct as_trust_several *several, struct as_error *err) AS_MUST_CHECK;

/* Several runs whose samples are added up. Where a unit chooses nothing at random (modelled PEBS, TIP and TEA), a second run
 * would be the first one again, and there is one. */
struct as_trust_sum {
    struct as_trust_result result; /* the last run's, with the counts of all */
    struct as_trust_counts *each;  /* of each run, and in it of each event */
    uint32_t runs;
    size_t n_events;
};
bool as_trust_is_random(const struct as_trust_subject *subject);
/* Free it with as_trust_sum_free, also after a failure. */
bool as_trust_run_sum(struct as_trust_subject *subject, struct as_trust_probe probe, struct as_trust_sum *sum,
                      struct as_error *err) AS_MUST_CHECK;
void as_trust_sum_free(struct as_trust_sum *sum);
/* The standard deviation of what `value` finds in the runs; NAN: one run. */
typedef double as_trust_value(const struct as_trust_counts *counts, size_t which);
double as_trust_spread(const struct as_trust_sum *sum, size_t event, as_trust_value *value, size_t which);
double as_trust_share_at(const struct as_trust_counts *counts, size_t label); /* of the samples */
/* The mean over the runs, and their spread, of samples that `pick` picks. */
struct as_trust_several as_trust_mean(const struct as_trust_sum *sum, size_t event, as_trust_pick *pick);

void as_trust_set_counts(struct as_trust_row *row, double expected, const struct as_trust_several *several,
                         double chance);
double as_trust_expected(const struct as_trust_probe *probe, const struct as_kernel_code *code,
                         enum as_kernel_event event);
/* Makes the run so long that so many samples are expected: with few, one more or less is a large error. */
void as_trust_lengthen(struct as_trust_probe *probe, const struct as_trust_subject *subject, double per_iteration,
                       uint64_t samples);

/* ---- what samples can tell ---- */

/* The largest error that chance explains, but for one time in a thousand. Of a number of samples, relative: one more or less
 * in each thread, as a counter need not begin with an interval, and what a unit's random bits do to its intervals. `kind`: they
 * are picked among samples at random, as loads are among operations. */
double as_trust_chance_of_count(const struct as_trust_subject *subject, const struct as_trust_probe *probe,
                                double expected, bool kind);
/* Of a share of so many samples: the difference. */
double as_trust_chance_of_share(double expected, uint64_t samples);
/* Whether the row has an error that is none of chance. */
bool as_trust_row_errs(const struct as_trust_row *row);

/* The worst of several rows: of the errors that are none of chance, and of what chance may hide. */
struct as_trust_worst {
    double error; /* 0: no row errs */
    double chance, least_chance;
    char which[64], hidden[64], least_hidden[64]; /* rows, by what they are of: of the error, of each chance */
    size_t rows;                                  /* that tell something */
};
void as_trust_worst_add(struct as_trust_worst *worst, const struct as_trust_row *row);
/* "right to 1.0 %", "off by up to 30.0 %", "right as far as samples tell, to 0.5 %". */
const char *as_trust_how_right(const struct as_trust_worst *worst, char *text, size_t size);

/* ---- whether a verdict can be given ---- */

/* Whether equal places with so many samples in all differ by more than chance makes them, one time in a thousand: Pearson's
 * chi-square. */
bool as_trust_uneven(const uint64_t *at, size_t places);
/* Samples with which places that are much preferred are told from equal ones: five of each. */
enum { AS_TRUST_LEAST = 5 };
/* False: there are no samples, or too few, which is said of the experiment. */
bool as_trust_enough(struct as_trust_report *report, const char *experiment, uint64_t samples, uint64_t least);
/* The same of the experiment's rows: false where none has samples, or where so few are due everywhere that one more or less
 * is a large error. */
bool as_trust_rows_enough(struct as_trust_report *report, const char *experiment, const char *said);
/* Whether the row can be judged: five samples are due, and chance explains no more than a half of them, or not what
 * is wrong. */
bool as_trust_row_tells(const struct as_trust_row *row);
/* "right to" or "off by up to", which the error follows. */
const char *as_trust_right_to(double worst);

bool as_trust_interrupted(int signal, struct as_error *err); /* false, with the status that other commands have then */

/* ---- experiments in files of their own ---- */

typedef bool as_trust_runner(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err);
as_trust_runner as_trust_run_accuracy, as_trust_run_ratio, as_trust_run_interval; /* trust_accuracy.c */
as_trust_runner as_trust_run_cost, as_trust_run_handler;                          /* trust_cost.c */

#endif
