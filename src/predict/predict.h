/* Simulation points of a program, and the cycles per instruction (CPI) that they predict on a modelled core.
 *
 * The program runs once for its vectors, or points and vectors were read from files. Then it runs again, in the model, in the
 * chosen intervals only.
 */
#ifndef AS_PREDICT_PREDICT_H
#define AS_PREDICT_PREDICT_H

#include "base/notice.h"
#include "points/collect.h"
#include "points/simpoints.h"
#include "record/input.h"
#include "record/modelled.h"

struct as_predict_request {
    struct as_engine_options engine; /* of each run */
    uint64_t interval;
    const char *loop; /* intervals end where this place is executed; NULL: after `interval` instructions */
    bool by_thread;
    struct as_choose_options choose;
    const char *core;
    struct as_strlist set;
    struct as_memo_options memo;
    uint64_t warm;                /* instructions before each point; AS_REGION_ALL: all */
    const struct as_meter *meter; /* NULL: none */
    void *meter_context;
    struct as_notices notices;
};

/* What the model says of a point. */
struct as_point_result {
    uint64_t instructions, cycles; /* measured */
    double differs; /* the part of its instructions that the first run did not execute there; NAN: unknown */
};

struct as_predict {
    const struct as_predict_request *request;
    struct as_input input;
    struct as_collect *collect; /* of the program; NULL: the vectors were read */
    struct as_engine *engine;
    struct as_engine_result run;
    struct as_vectors read;           /* the vectors of a file */
    const struct as_vectors *vectors; /* NULL: only points were read */
    struct as_choice choice;
    AS_VEC(struct as_point_result) results; /* by point; empty: not asked for, or interrupted */
    struct as_engine_result predicted;
    double seconds; /* of choosing */
};

/* Runs the program for its vectors. */
bool as_predict_vectors(struct as_predict *predict, struct as_error *err) AS_MUST_CHECK;
/* Chooses points by the vectors. */
void as_predict_choose(struct as_predict *predict);
/* Runs the program again, in the model, in the chosen intervals. */
bool as_predict_run(struct as_predict *predict, struct as_error *err) AS_MUST_CHECK;
void as_predict_free(struct as_predict *predict);

/* The weighted mean of the points' cycles per instruction; NAN: not known. */
double as_predict_cpi(const struct as_predict *predict);
/* The function that a point's interval executes most; NULL: the code is not known. */
const char *as_predict_function(const struct as_predict *predict, const struct as_chosen_point *point);
/* The number of the instruction at which a point's interval starts. */
uint64_t as_predict_start(const struct as_predict *predict, const struct as_chosen_point *point);
/* The point whose second run differs most from its first; NULL: none does. *part: of its instructions. */
const struct as_chosen_point *as_predict_worst(const struct as_predict *predict, double *part);

#endif
