/* Records a run of a program as a profile.
 *
 * A source runs the program and finds out where its time goes: the model (record_model.c), the kernel's task clock or
 * the processor's events (record_native.c). What is the same for all sources (the program, its environment, the runs
 * and how they ended) is written by record_program.c. A new source is one line in the table of record_source.c.
 *
 * Other folders include only this header and, for verbs that run programs, choose_points.h, modelled.h
 * and input.h.
 */
#ifndef AS_RECORD_H
#define AS_RECORD_H

#include "base/notice.h"
#include "base/run_end.h"
#include "base/strlist.h"
#include "engine/engine.h"
#include "record/meter.h"
#include "record/sampling_plan.h"

#include <stdio.h>

/* AS_RECORD_AUTO: copies of the stack and the kernel's chains, of which each sample takes what leads further.
 * AS_RECORD_LBR: by the branch record as a stack of calls, of a modelled PMU. */
enum as_record_calls { AS_RECORD_AUTO, AS_RECORD_FP, AS_RECORD_DWARF, AS_RECORD_NO_CALLS, AS_RECORD_LBR };

struct as_record_options {
    char *const *argv;        /* the program and its arguments; NULL: the process `pid` */
    char *const *environment; /* as environ has it */
    const char *source;       /* a name, pmu:NAME for a modelled PMU, or auto */
    const char *output;       /* the profile's path; the file appears when it is complete */
    bool stdout_to_stderr;    /* the program's standard output goes to standard error */
    bool random;              /* samples at random cycles of their periods */
    double rate;              /* samples a second; NAN: not given */
    uint64_t period;          /* 0: not given */
    uint64_t seed, repeat;
    const char *region;      /* the requested part of the program, in words; NULL: all of it */
    const char *model_wish;  /* an option that was given and applies only to the model; NULL: none */
    const char *native_wish; /* … and one that applies only to the other sources */
    struct as_notices notices;
    /* For the model: */
    struct as_engine_options engine; /* argv and the fields above are filled in */
    bool golden;                     /* record every cycle, not only samples */
    const char *core, *samplers, *events;
    const char *core_why; /* why this core, if nobody asked for it; NULL, "": somebody did */
    struct as_strlist set;
    /* How to continue after the head; NULL: the whole program is measured. */
    const struct as_sampled_options *sampled;
    const struct as_points_plan *points; /* simulation points that stand for the whole program; NULL: none */
    size_t memo_bytes;                   /* memory for what the pipeline did; 0: the pipeline runs every time */
    bool memo_checks;                    /* the pipeline always runs, and the memo must agree with it */
    const struct as_meter *meter;        /* reports progress; NULL: not */
    void *meter_context;
    /* For the other sources: */
    struct as_strlist event;
    uint64_t pid;    /* 0: the program is started */
    double duration; /* seconds; NAN: to the end */
    double delay;    /* seconds after the start that are not measured */
    /* Number of requests to start or stop measuring; NULL: everything is measured. */
    const _Atomic uint32_t *switches;
    int call_graph;            /* enum as_record_calls */
    uint64_t stack_size;       /* bytes of the stack that a sample copies; 0: 8192 */
    struct as_strlist pmu_set; /* for a modelled PMU: changes to its file */
    const char *perf_data;     /* … and a file for its samples in perf's format; NULL: none */
    FILE *perf_file;           /* … open for writing; of several runs, the last one is in it */
    bool user, allocations, accesses, branches, processors;
    bool system_wide; /* all processes; argv may be empty then: until the duration is over, or a signal */
};
extern const struct as_record_options as_record_defaults;

struct as_record_result {
    struct as_run_end end; /* of the run that the profile covers */
    int interrupted_by;    /* the signal by which the user ended further runs; 0: there was none */
    bool sampled;          /* the profile is an estimate from parts of that run */
    uint64_t instructions; /* … of which so many were executed where the source knows that */
    bool in_engine;        /* whether that run was in the engine, with this result */
    struct as_engine_result engine;
};

/* Runs the program as often as asked for and writes the profile. On false, `err` is set and there is no profile. */
bool as_record_run(const struct as_record_options *options, struct as_record_result *result,
                   struct as_error *err) AS_MUST_CHECK;

/* Whether the agent can be loaded into a program, which is searched for in `path`. False: `err` says why not. */
bool as_record_can_preload(const char *name, const char *path, struct as_error *err) AS_MUST_CHECK;

/* The name of source i ("model"); NULL after the last. */
const char *as_record_source_name(size_t i);

/* The modelled PMU of a source ("skylake" of "pmu:skylake"); NULL: another source. */
const char *as_record_unit_name(const char *source);

#endif
