/* The elapsed time of a program with threads, from its simulation points.
 *
 * The elapsed time of a point is not that of the intervals that it stands for: in one interval threads are rarely as balanced as they
 * are in the long run, and what one of them waits for may lie in another interval. So the program runs once more, to its end, in a process
 * of its own, in which every instruction takes the time that the estimate gives to its mean execution. Threads wait for each
 * other there, and that run's elapsed time over the cycles of all its threads is the estimate's.
 *
 * That process is a copy of one in which the model is set up and nothing has run. It waits for the costs, which are known when the run that
 * counts is over.
 */
#ifndef AS_RECORD_POINTS_TIME_H
#define AS_RECORD_POINTS_TIME_H

#include "base/map.h"
#include "base/vec.h"
#include "engine/engine.h"

#include <sys/types.h>

struct as_point_again;

struct as_place_cost {
    uint64_t place;
    double cycles;
};

/* Cycles of an execution of each instruction, by its place: numbers may differ between runs. */
struct as_code_costs {
    AS_VEC(struct as_place_cost) list;
    struct as_map places;  /* to indices of the list, each + 1 */
    double otherwise;      /* for code that is not there */
    AS_VEC(double) blocks; /* by index: of a whole execution; below 0: not known yet */
};
void as_code_costs_add(struct as_code_costs *costs, uint32_t image, uint64_t address, double cycles);
void as_code_costs_free(struct as_code_costs *costs);
/* An execution of a block, or of a part of it: an as_model_pace_of. */
double as_code_cost(void *costs, const struct as_block *block, uint32_t first, uint32_t end);

/* The process. All zero: there is none. */
struct as_points_time {
    pid_t pid;
    int begin;  /* what is sent there lets it begin */
    int costs;  /* a file for the costs … */
    int result; /* … and one for what it found out */
};
/* Makes the process; `again`: its run, without files and instructions. */
bool as_points_time_start(struct as_points_time *time, struct as_point_again *again,
                          struct as_error *err) AS_MUST_CHECK;
/* Gives it the costs, waits for it, and sets the elapsed time over the cycles of all threads. */
bool as_points_time_finish(struct as_points_time *time, const struct as_code_costs *costs, double *elapsed_each,
                           struct as_error *err) AS_MUST_CHECK;
void as_points_time_end(struct as_points_time *time);

#endif
