/* Communication of a program in the model, without the core model: the estimate of Algorithm 1 on the modelled machine, the
 * exact transfers, or both from one run.
 *
 * Calls: new, start with the engine, run the engine with its sink, finish, ask, free. The engine must outlive it.
 */
#ifndef AS_COMM_COMM_RUN_H
#define AS_COMM_COMM_RUN_H

#include "comm/coherent.h"
#include "comm/comm_result.h"
#include "count/tracker.h"
#include "lens/modelled_lens.h"

struct as_comm_options {
    struct as_modelled_options machine;
    struct as_detect_options detect;
    uint32_t quantum; /* instructions; 0: the weave's */
    bool no_estimate, no_exact, no_paths;
};

/* The node (socket) of a core; 0 where there is one. */
uint32_t as_comm_node(const struct as_comm_options *options, uint32_t core);

struct as_comm_run;
struct as_comm_run *as_comm_run_new(const struct as_comm_options *options);
/* What to give to as_engine_run. */
const struct as_sink *as_comm_run_sink(struct as_comm_run *run, void **context);
bool as_comm_run_start(struct as_comm_run *run, const struct as_engine *engine, struct as_error *err) AS_MUST_CHECK;
void as_comm_run_finish(struct as_comm_run *run);
void as_comm_run_free(struct as_comm_run *run);

/* Behind finish; valid as long as the run. */
struct as_comm_result as_comm_run_result(const struct as_comm_run *run);
struct as_coherent_counts as_comm_run_coherent(const struct as_comm_run *run);
struct as_modelled_cost as_comm_run_cost(const struct as_comm_run *run);
/* Accesses that could not be interleaved in time: as_weave_late. */
uint64_t as_comm_run_late(const struct as_comm_run *run);
size_t as_comm_run_memory(const struct as_comm_run *run); /* bytes that the exact count takes; 0: there is none */
uint64_t as_comm_run_instructions(const struct as_comm_run *run);

#endif
