/* What assay comm was asked for, and what its two ways of running a program have in common: cmd_comm.c reads the options and
 * settles their defaults, comm_modelled.c runs the program in the model, comm_machine.c on this machine. */
#ifndef AS_CMD_COMM_GIVEN_H
#define AS_CMD_COMM_GIVEN_H

#include "cmd/comm_show.h"
#include "cmd/output.h"
#include "cmd/run_options.h"
#include "comm/comm_native.h"

enum as_comm_method { AS_COMM_ALGORITHM_1, AS_COMM_LAST_STORES };

struct as_comm_given {
    struct as_run_options run;
    bool json, csv, svg, html, fixed, disturb, no_estimate, no_exact, no_paths, allocations, mpi;
    int sampling; /* enum as_lens_sampling */
    int method;   /* enum as_comm_method */
    uint64_t period, load_period, store_period, registers, buckets, entry_life, watch_life, follow_life;
    uint64_t cores, sockets, quantum, sample_cost, trap_cost, seed, top;
    const char *output, *pin, *pmu;
    int source; /* enum as_comm_source */
    double rate, budget, duration;
    uint64_t pid;
};

struct as_detect_options as_comm_given_detect(const struct as_comm_given *options);
/* Whether the result goes to standard output, so that the program's own has to go elsewhere. */
bool as_comm_given_takes_stdout(const struct as_comm_given *options);
/* Prints in the format that was asked for: `known` has all but its rows. Returns an exit status. */
int as_comm_given_show(const struct as_comm_given *options, const struct as_comm_shown *known,
                       struct as_output *output);

/* With defaults settled. They return the exit status. */
int as_comm_run_modelled(struct as_comm_given *options, char **argv);
int as_comm_run_machine(const struct as_comm_given *options, char **argv);

#endif
