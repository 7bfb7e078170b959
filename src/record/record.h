/* A run of a program as a profile.
 *
 * A source runs the program and finds out where its time goes: the model (record_model.c), the kernel's task clock or
 * the processor's events (record_native.c). What is the same for all of them, the program, its environment, the runs and
 * how they ended, is written by record_program.c. A new source is one line in the table of record_source.c.
 *
 * This header, and modelled.h, meter.h and input.h for other verbs that run programs, are all that other folders include
 * of src/record.
 */
#ifndef AS_RECORD_H
#define AS_RECORD_H

#include "base/notice.h"
#include "base/run_end.h"
#include "base/strlist.h"
#include "engine/engine.h"
#include "record/meter.h"
#include "record/sampling_plan.h"

enum as_record_calls { AS_RECORD_FP, AS_RECORD_DWARF, AS_RECORD_NO_CALLS };

struct as_record_options {
    char *const *argv;        /* the program and its arguments; NULL: the process `pid` */
    char *const *environment; /* as environ has it */
    const char *source;       /* a name, pmu:NAME for a modelled PMU, or auto */
    const char *output;       /* the profile; it appears when it is complete */
    bool stdout_to_stderr;    /* the program's standard output goes to standard error */
    bool random;              /* samples at random cycles of their periods */
    double rate;              /* samples a second; NAN: not given */
    uint64_t period;          /* 0: not given */
    uint64_t seed, repeat;
    const char *region;      /* the part of the program that was asked for, in words; NULL: all of it */
    const char *model_wish;  /* an option that was given and is the model's alone; NULL: none */
    const char *native_wish; /* … that of the other sources */
    struct as_notices notices;
    /* The model: */
    struct as_engine_options engine; /* argv and what is above are filled in */
    bool golden;                     /* keep every cycle, not samples alone */
    const char *core, *samplers, *events;
    struct as_strlist set;
    const struct as_sampled_options *sampled; /* how to go on behind the head; NULL: all of the program is measured */
    size_t memo_bytes;                        /* to remember what the pipeline did; 0: it runs every time */
    bool memo_checks;                         /* it runs all the same, and must come to the same */
    const struct as_meter *meter;             /* NULL: nobody wants to know how far it is */
    void *meter_context;
    /* The other sources: */
    struct as_strlist event;
    uint64_t pid;                     /* 0: the program is run */
    double duration;                  /* seconds; NAN: to the end */
    double delay;                     /* seconds after the start that are not measured */
    const _Atomic uint32_t *switches; /* how often the user asked to start or stop measuring; NULL: all is measured */
    int call_graph;                   /* enum as_record_calls */
    struct as_strlist pmu_set;        /* of a modelled PMU: changes to its file */
    const char *perf_data;            /* … a file for its samples as perf writes them; NULL: none */
    bool user, allocations, accesses, branches, processors;
};
extern const struct as_record_options as_record_defaults;

struct as_record_result {
    struct as_run_end end; /* of the run that the profile is of */
    bool in_engine;        /* … which was one in the engine, with this result */
    struct as_engine_result engine;
};

/* Runs the program as often as asked for and writes the profile. False and `err`: there is none. */
bool as_record_run(const struct as_record_options *options, struct as_record_result *result,
                   struct as_error *err) AS_MUST_CHECK;

/* The name of the i-th source ("model"); NULL behind the last. */
const char *as_record_source_name(size_t i);

#endif
