/* How far a sampler can be trusted: programs whose events are known (trust_kernels.h) are run under it, and what it says is
 * held against what happened.
 *
 * A subject takes samples: a modelled unit, this machine's PMU, or its clocks. Experiments run kernels under a subject
 * and add rows to a report: what was expected, what came out, the error, the spread over runs; and verdicts, in words.
 * doc/design/trust.md says what each experiment is after, and holds the results against what was published.
 *
 * This folder must not print: src/cmd does.
 */
#ifndef AS_TRUST_H
#define AS_TRUST_H

#include "base/notice.h"
#include "base/strlist.h"
#include "base/vec.h"
#include "pmu/pmu_request.h"
#include "trust/trust_kernels.h"

/* ---- one run of a kernel under a subject ---- */

struct as_trust_probe {
    const struct as_kernel *kernel;
    struct as_kernel_options options;
    uint32_t threads;
    const char *events[AS_PMU_COUNTERS_MAX]; /* of the unit */
    size_t n_events;
    uint64_t period, seed;
    enum as_pmu_handler handler;
    bool timed; /* on this machine: the run is timed, with samples and without */
};

/* What the samples of one event say. Sub-events are what a tagging unit tells of an operation. */
struct as_trust_counts {
    uint64_t happened;                 /* events in the run, as the model counts them; 0: unknown */
    uint64_t samples;                  /* in the kernel's code, or of the kernel stub */
    uint64_t at[AS_KERNEL_LABELS];     /* by label */
    double nanoseconds;                /* of a clock: that its samples stand for */
    uint64_t loads, l1_misses, locked; /* of the operations that were sampled */
    uint64_t stores, branches, taken, returns;
    uint64_t locked_in_user; /* … that are told to be of user mode */
    uint64_t loads_at[AS_KERNEL_LABELS];
    uint64_t loads_elsewhere; /* load samples at no label of a load */
};

struct as_trust_result {
    struct as_kernel_code code; /* its bytes are not kept */
    struct as_trust_counts counts[AS_PMU_COUNTERS_MAX];
    uint64_t cycles, instructions;
    double seconds;                    /* of the run, where it is timed */
    double overhead[AS_HANDLER_COUNT]; /* that the samples cost, as a part of the run; NAN: not known */
    double overhead_spread;            /* over runs, where they are timed; NAN: one run */
    uint64_t bytes;                    /* of memory that they need in one thread; on this machine, in all */
};

/* ---- subjects ---- */

struct as_trust_options {
    const char *pmu;      /* name or path of a modelled unit; NULL: this machine's */
    bool machine;         /* … its PMU, not its clocks */
    const char *stand_in; /* an event that stands for all of its PMU's, for tests where there is none; NULL: none */
    const char *core;     /* the machine that the program runs on */
    struct as_strlist set, pmu_set;
    const char *program; /* qualify; NULL: found beside Assay */
    bool riscv;          /* the programs' code is RV64GC, not x86-64; of a modelled unit */
    uint32_t scale;      /* percent of the usual number of iterations */
    uint32_t runs;       /* for the spread */
    struct as_notices notices;
};

struct as_trust_subject {
    const struct as_trust_options *options;
    struct as_pmu pmu; /* a modelled unit; of this machine's PMU only its kind and what it can do */
    bool timer;        /* the kernel's clocks on this machine */
    bool machine;      /* its PMU: units are real, and what programs count is what is known of them */
    char program[4096];
    uint64_t runs; /* so far */
};
bool as_trust_open(struct as_trust_subject *subject, const struct as_trust_options *options,
                   struct as_error *err) AS_MUST_CHECK;
/* Runs the kernel once. */
bool as_trust_run(struct as_trust_subject *subject, const struct as_trust_probe *probe, struct as_trust_result *result,
                  struct as_error *err) AS_MUST_CHECK;

/* trust_machine.c: the kernel's clocks, and the PMU. */
bool as_trust_run_native(struct as_trust_subject *subject, const struct as_trust_probe *probe,
                         struct as_trust_result *result, struct as_error *err) AS_MUST_CHECK;
struct as_probe;
/* Makes this machine's PMU the subject. `root` as for as_native_choose. False: it has none that can be qualified. */
bool as_trust_open_machine(struct as_trust_subject *subject, const char *root, const struct as_probe *probe,
                           struct as_error *err) AS_MUST_CHECK;
/* An event of a modelled unit as this machine's PMU has it, for as_native_event_parse. May use the buffer. */
const char *as_trust_native_event(const struct as_trust_subject *subject, const char *event, char *text, size_t size);
bool as_trust_has_event(const struct as_trust_subject *subject, const char *event); /* of modelled units always */

/* ---- the report ---- */

enum as_trust_unit { AS_TRUST_SAMPLES, AS_TRUST_SHARE, AS_TRUST_BYTES };
extern const char *const as_trust_unit_names[]; /* "samples" … */

struct as_trust_row {
    const char *experiment;  /* "accuracy" … */
    char what[64];           /* event or instruction */
    char setting[64];        /* "interval 10,000" */
    enum as_trust_unit unit; /* of expected and got */
    double expected, got;    /* NAN: there is no such number */
    double error;            /* relative to what was expected; of shares their difference */
    double spread;           /* standard deviation over runs, relative; of shares as it is; NAN: one run */
    double chance;           /* the largest error that chance explains (trust_parts.h); NAN: not known */
};

struct as_trust_report {
    AS_VEC(struct as_trust_row) rows;
    AS_VEC(char *) verdicts;
};
void as_trust_report_free(struct as_trust_report *report);

/* One kind of experiment. */
struct as_trust_experiment {
    const char *name, *about;
    uint32_t kinds; /* units that support it: 1 << enum as_pmu_kind; bit 31: the task clock */
    bool (*run)(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err);
};
enum { AS_TRUST_TIMER = 1u << 31, AS_TRUST_MODEL = 1u << 30 }; /* MODEL: a real unit cannot do it */
/* Microseconds that a set of events keeps the counters where experiments are shorter than the kernel's tick. */
enum { AS_TRUST_TICK = 20 };
extern const struct as_trust_experiment as_trust_experiments[];
extern const size_t as_trust_experiments_count;
bool as_trust_supports(const struct as_trust_subject *subject, const struct as_trust_experiment *experiment);

/* ---- for experiments ---- */

struct as_trust_row *as_trust_add(struct as_trust_report *report, const char *experiment, const char *what);
void as_trust_say(struct as_trust_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A probe with the kernel's usual options, scaled. */
/* Whether the kernel can be had in the code that the subject runs. */
bool as_trust_has_kernel(const struct as_trust_subject *subject, const char *kernel);
struct as_trust_probe as_trust_probe(const struct as_trust_subject *subject, const char *kernel, const char *event,
                                     uint64_t period);

/* ---- probability against distance: trust_distance.c ---- */

bool as_trust_run_distance(struct as_trust_subject *subject, struct as_trust_report *report,
                           struct as_error *err) AS_MUST_CHECK;

/* ---- the shadow: trust_shadow.c ---- */

/* The fewest nops behind each event with which samples are even. */
struct as_trust_shadow {
    const char *event, *kernel;
    bool fence; /* the kernel's events stand behind one */
    bool even;  /* there is such a number, up to the limit */
    bool few;   /* … which cannot be told: there are too few samples */
    uint32_t nops;
    uint64_t samples;     /* of the last trial */
    double cycles;        /* from one event to the next where only the nops are between them; 0: not even, or no nops */
    double before, after; /* the largest share of an instruction, without them and with them */
    double fair;          /* … that it should have */
    double cost;          /* time that the kernel takes longer */
};
enum { AS_TRUST_SHADOWS = 7 };
const char *as_trust_shadow_event(size_t which);
bool as_trust_has_shadow(const struct as_trust_subject *subject, size_t which); /* there is a program for it */
bool as_trust_find_shadow(struct as_trust_subject *subject, size_t which, struct as_trust_shadow *shadow,
                          struct as_error *err) AS_MUST_CHECK;

#endif
