/* The time of each function in each interval of a run, and which function makes a point differ from its phase. */
#ifndef AS_PREDICT_TIME_SPENT_H
#define AS_PREDICT_TIME_SPENT_H

#include "base/map.h"
#include "base/vec.h"
#include "points/simpoints.h"

struct as_spent {
    uint32_t function; /* its string */
    double cycles;
};

struct as_time_spent {
    struct as_strings *functions;
    AS_VEC(double) sums;         /* of the interval, by function */
    AS_VEC(struct as_spent) all; /* by interval */
    AS_VEC(size_t) ends;         /* by interval: where its entries end */
};

void as_time_spent_init(struct as_time_spent *spent);
void as_time_spent_free(struct as_time_spent *spent);
uint32_t as_time_spent_function(struct as_time_spent *spent, const char *name);
/* Adds to the interval that has not ended yet. */
void as_time_spent_add(struct as_time_spent *spent, uint32_t function, double cycles);
/* Intervals before it that did not end have nothing. */
void as_time_spent_end(struct as_time_spent *spent, uint32_t interval);

struct as_blamed {
    const char *function; /* NULL: there is none */
    double cpi;           /* how much more than on average the point spends there, per instruction of the program */
};
/* The function with the largest part in the difference of a phase, in its direction. */
struct as_blamed as_time_spent_blame(const struct as_time_spent *spent, const struct as_choice *choice, uint32_t phase,
                                     const struct as_vectors *vectors);

#endif
