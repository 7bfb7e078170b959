/* Declarations shared by the sources of profiles. See record.h. */
#ifndef AS_RECORD_INTERNAL_H
#define AS_RECORD_INTERNAL_H

#include "record/modelled.h"
#include "record/record.h"
#include "store/store_write.h"

struct as_record {
    const struct as_record_options *options;
    char *const *argv;
    char source_why[528]; /* why this source was chosen */
    char hint[352];       /* a suggestion for the user; "": none */
    struct as_store_writer *writer;
    struct as_sampled *sampled; /* how a long run in the model is measured; NULL: completely, or as asked for */
    bool empty;                 /* the last run measured nothing, and failed for that */
};

/* The results of one run besides its profile. */
struct as_record_run {
    struct as_store_run row;
    struct as_record_result result;
    struct as_modelled_start start;
    bool sampled; /* an estimate of the whole program from regions of it */
};

struct as_record_source {
    const char *name;
    /* Whether the source can work here with these options. On false, `err` has the reason. */
    bool (*possible)(const struct as_record_options *options, struct as_error *err);
    /* Runs the program once and writes the results to the record's writer. Returns false if there is nothing worth
     * keeping. */
    bool (*run)(struct as_record *record, struct as_record_run *run, struct as_error *err);
};

extern const struct as_record_source as_record_model, as_record_pmu, as_record_timer, as_record_unit;

/* Returns the requested source, or the best one that can work; sets `source_why` and `hint`. NULL and `err`: none
 * can. */
const struct as_record_source *as_record_choose(struct as_record *record, struct as_error *err) AS_MUST_CHECK;

/* ---- record.c ---- */

struct as_store_writer *as_record_open_writer(const struct as_record *record, struct as_error *err) AS_MUST_CHECK;
void as_record_end_meter(const struct as_record *record);
/* Runs the program once and writes all of it to the record's writer. `instructions` gets those that were measured. */
bool as_record_run_once(struct as_record *record, const struct as_record_source *source,
                        struct as_record_result *result, uint64_t *instructions, struct as_error *err) AS_MUST_CHECK;

/* Whether the user interrupted the run: there are to be no more. */
static inline bool as_record_is_cut(const struct as_record_result *result)
{
    return result->end.interrupted || result->end.asked;
}

/* ---- record_program.c ---- */

/* Adds what is the same for all sources: the program, its arguments, some variables, the machine that it ran on. */
void as_record_add_program(const struct as_record *record);
/* Adds the run and how it ended. */
void as_record_add_run(const struct as_record *record, const struct as_record_run *run);

/* A variable of the program's environment; NULL: not set. */
const char *as_record_variable(const struct as_record_options *options, const char *name);

#endif
