/* `assay record`: a run, by one of several sources, into a profile file.
 *
 * A source is a const struct of functions. It is asked whether it can work here; the command opens the file; the source
 * runs the program and adds all that it found out about the run; the command adds what is the same for all of them and
 * commits the file. A new source is one line in the table of record_source.c.
 */
#ifndef AS_RECORD_H
#define AS_RECORD_H

#include "base/vec.h"
#include "cmd/run_options.h"
#include "store/store_write.h"

enum as_record_calls { AS_RECORD_FP, AS_RECORD_DWARF, AS_RECORD_NO_CALLS };

struct as_record_options {
    struct as_run_options run;
    bool json, random;
    int golden; /* 0: on, 1: off */
    const char *source, *core, *samplers, *events, *output;
    uint64_t period; /* 0: not given */
    uint64_t seed, repeat;
    double rate; /* NAN: not given */
    struct as_strlist set;
    /* Native sources: */
    struct as_strlist event;
    uint64_t pid; /* 0: the program is run */
    double duration;
    int call_graph; /* enum as_record_calls */
    bool user, allocations, accesses, branches, processors;
};
extern const struct as_record_options as_record_defaults;

struct as_record {
    const struct as_record_options *options;
    char **argv;
    struct as_store_writer *writer;
    const char *source_why;
    char hint[352]; /* what the user may want instead; "": nothing */
    AS_VEC(struct as_store_run) runs;
    struct as_engine_result engine; /* of the run that the profile is of */
    char partial[256];              /* why the profile is not of a whole run; "": it is */
};

struct as_record_source {
    const char *name;
    /* Whether it can work here, and with these options. False and `err`: why not. */
    bool (*possible)(const struct as_record_options *options, struct as_error *err);
    /* Runs the program as often as asked for, adds to the writer and to `runs`. False only where there is nothing worth
     * keeping. */
    bool (*run)(struct as_record *record, struct as_error *err);
    /* After all is written: tells how the program ended, returns the exit status. NULL: as_run_report. */
    int (*report)(const struct as_record *record);
};

extern const struct as_record_source as_record_model, as_record_pmu, as_record_timer;

/* The source asked for, or the best one that can work; sets `source_why` and `hint`. NULL and `err`: none can. */
const struct as_record_source *as_record_choose(struct as_record *record, struct as_error *err) AS_MUST_CHECK;

/* What is the same for all sources: the program, its arguments, a few variables, the machine that it ran on. */
void as_record_add_program(struct as_record *record);
/* The runs, with mean and spread where there are several, and how the run ended. */
void as_record_add_runs(struct as_record *record);

/* Prints what the file at `path` says of the run, as text or JSON, and what to type next. Returns an exit status;
 * -1 where `err` says what is wrong. */
int as_record_summary(const char *path, bool json, FILE *out, struct as_error *err) AS_MUST_CHECK;

#endif
