/* What `assay points` and `assay points sweep` print. */
#ifndef AS_CMD_POINTS_SHOWN_H
#define AS_CMD_POINTS_SHOWN_H

#include "cmd/cli.h"
#include "cmd/run_options.h"
#include "predict/sweep.h"

struct as_points_options {
    struct as_run_options run;
    uint64_t interval, dims, max_k, tries, seed, jobs;
    double threshold;
    int rule;        /* enum as_bic_rule */
    const char *cpi; /* on or off */
    bool by_thread, json, csv;
    bool sweep; /* assay points sweep */
    const char *output, *bb, *simpoints, *weights, *from_bb, *from_simpoints, *from_weights, *warm, *core, *loop;
    const char *phases; /* of a sweep: where the CPI of each interval goes */
    struct as_strlist set;
};

struct as_points_shown {
    const struct as_points_options *options;
    char **argv; /* NULL: no program was run */
    const struct as_predict *predict;
};

void as_points_text(const struct as_points_shown *shown, FILE *out);
void as_points_csv(const struct as_points_shown *shown, FILE *out);
bool as_points_json(const struct as_points_shown *shown, FILE *out) AS_MUST_CHECK;

void as_sweep_text(const struct as_sweep *sweep, FILE *out);
void as_sweep_csv(const struct as_sweep *sweep, FILE *out);
bool as_sweep_json(const struct as_sweep *sweep, FILE *out) AS_MUST_CHECK;
void as_sweep_intervals(const struct as_sweep *sweep, FILE *out); /* for --phases */

#endif
