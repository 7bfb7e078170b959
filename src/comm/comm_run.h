/* Communication of a program in the model, without the core model: the estimate of Algorithm 1 on the modelled machine, the
 * exact transfers, or both from one run.
 *
 * Calls: new, start with the engine, run the engine with its sink, finish, ask, free. The engine must outlive it.
 */
#ifndef AS_COMM_COMM_RUN_H
#define AS_COMM_COMM_RUN_H

#include "comm/coherent.h"
#include "comm/detect.h"
#include "count/tracker.h"
#include "lens/modelled_lens.h"

struct as_comm_options {
    struct as_modelled_options machine;
    struct as_detect_options detect;
    uint32_t quantum; /* instructions; 0: the weave's */
    bool no_estimate, no_exact, no_paths;
};

struct as_comm_thread {
    uint32_t number, process, core;
    uint32_t image; /* that it executed last */
    int32_t pid, tid;
    uint64_t stack_start, stack_end; /* of its stack, as far as it is known; 0 */
    uint32_t path;                   /* one that it was in: its outermost frames are the thread's */
};

/* A mapping without a file, or the break: memory that the program asked the kernel for. */
struct as_comm_region {
    uint32_t process;
    uint64_t start, end;
    bool is_heap, is_stack;
};

struct as_comm_run;
struct as_comm_run *as_comm_run_new(const struct as_comm_options *options);
const struct as_sink *as_comm_run_sink(const struct as_comm_run *run); /* its context is the run */
bool as_comm_run_start(struct as_comm_run *run, const struct as_engine *engine, struct as_error *err) AS_MUST_CHECK;
void as_comm_run_finish(struct as_comm_run *run);
void as_comm_run_free(struct as_comm_run *run);

/* Behind finish. Threads in the order of the matrices' rows. */
const struct as_comm_thread *as_comm_run_threads(const struct as_comm_run *run, size_t *n);
const struct as_pair_matrix *as_comm_run_estimate(const struct as_comm_run *run);
const struct as_pair_matrix *as_comm_run_exact(const struct as_comm_run *run);
const struct as_contacts *as_comm_run_contacts(const struct as_comm_run *run); /* the exact ones where there are any */
struct as_coherent_counts as_comm_run_coherent(const struct as_comm_run *run);
struct as_detect_counts as_comm_run_detect(const struct as_comm_run *run);
struct as_modelled_cost as_comm_run_cost(const struct as_comm_run *run);
const struct as_comm_region *as_comm_run_regions(const struct as_comm_run *run, size_t *n);
uint64_t
as_comm_run_late(const struct as_comm_run *run); /* accesses that could not be interleaved in time: as_weave_late */
size_t as_comm_run_memory(const struct as_comm_run *run); /* bytes that the exact count takes; 0: there is none */
uint64_t as_comm_run_instructions(const struct as_comm_run *run);
/* The frames of a path, the innermost first: entry addresses of functions. Fills at most `n` and returns how many it has;
 * *image: whose addresses they are. */
size_t as_comm_run_frames(const struct as_comm_run *run, uint32_t path, uint64_t *functions, size_t n,
                          const struct as_image **image);

#endif
