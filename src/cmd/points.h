/* assay points in its parts: the session that cmd_points.c runs, points_predict.c completes with the model, and
 * points_report.c shows. */
#ifndef AS_CMD_POINTS_H
#define AS_CMD_POINTS_H

#include "cmd/cli.h"
#include "cmd/run_options.h"
#include "points/collect.h"
#include "points/simpoints.h"
#include "record/input.h"

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

/* What the model says of a point. */
struct as_point_result {
    uint64_t instructions, cycles; /* measured */
    double differs; /* the part of its instructions that the first run did not execute there; NAN: unknown */
};

struct as_points_session {
    const struct as_points_options *options;
    char **argv; /* NULL: no program is run */
    struct as_input input;
    struct as_collect *collect; /* of the program; NULL: the vectors were read */
    struct as_engine *engine;
    struct as_engine_result run;
    struct as_vectors read;           /* the vectors of a file */
    const struct as_vectors *vectors; /* NULL: only points were read */
    struct as_choice choice;
    AS_VEC(struct as_point_result) results; /* by point; empty: not asked for */
    struct as_engine_result predicted;
    double seconds; /* of choosing */
};

/* Runs the program again, in the model, in the chosen intervals. */
bool as_points_predict(struct as_points_session *session, struct as_error *err) AS_MUST_CHECK;
/* The weighted mean of the points' cycles per instruction; NAN: not known. */
double as_points_cpi(const struct as_points_session *session);
/* The function that a point's interval executes most; NULL: the code is not known. */
const char *as_points_function(const struct as_points_session *session, const struct as_chosen_point *point);
/* The number of the instruction at which a point's interval starts. */
uint64_t as_points_start(const struct as_points_session *session, const struct as_chosen_point *point);

void as_points_text(const struct as_points_session *session, FILE *out);
void as_points_csv(const struct as_points_session *session, FILE *out);
bool as_points_json(const struct as_points_session *session, FILE *out) AS_MUST_CHECK;

#endif
