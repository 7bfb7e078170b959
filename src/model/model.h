/* A run in the model: a program in the engine, a core for each guest thread, and observers of what the cores make of
 * it.
 *
 * Calls: new, then make the observers with as_model_run_info and add them to a fan-out, run, then read the observers.
 * The model and everything it gives out lives until as_model_free.
 */
#ifndef AS_MODEL_MODEL_H
#define AS_MODEL_MODEL_H

#include "assay/observer.h"
#include "core/core.h"
#include "core/memo.h"
#include "core/transfer.h"
#include "count/tracker.h"
#include "engine/engine.h"
#include "model/paths.h"
#include "observe/pipe_buffer.h"

enum { AS_MODEL_BATCH = 4096 }; /* records: the batch size that the fan-out must have */

struct as_model;
struct as_model *as_model_new(const struct as_machine *machine); /* the machine must outlive it */
void as_model_free(struct as_model *model);

const struct as_run_info *as_model_run_info(const struct as_model *model);

/* Where observers' files come from (as_run_info.open); without it they cannot open any. Called on any thread. */
typedef FILE *as_open_file(void *context, const char *path);
void as_model_set_files(struct as_model *model, as_open_file *open, void *context);

/* Not an event: the instruction is a nop. One that transfers control stays what it is. */
enum { AS_IDEAL_REMOVED = 1 << 30 };
/* Events that do not happen to an instruction (AS_CORE_IDEAL), or AS_IDEAL_REMOVED; asked once for each, when it is
 * first executed. */
typedef uint32_t as_ideal_of(void *context, const struct as_model *model, const struct as_insn *insn);
/* Before the run. Without it all is as on the real machine. */
void as_model_set_ideal(struct as_model *model, as_ideal_of *ideal_of, void *context);

/* Before the run: calls `on_transfer`, on the thread that runs the engine, for each line that goes from core to core in
 * a measured stretch (core/transfer.h), in simulated time. */
void as_model_set_transfers(struct as_model *model, as_on_transfer *on_transfer, void *context);

#define AS_MODEL_MEMO_BYTES AS_MEMO_BYTES /* unless told otherwise */
/* Before the run: what the pipeline did is remembered (core/memo.h). Without it every instruction is run. */
void as_model_set_memo(struct as_model *model, const struct as_memo_options *options);

/* Before the run: another sink of the same run, told whatever the engine tells it. */
void as_model_add_also(struct as_model *model, const struct as_sink *also, void *context);
/* A model that takes part in the run of another one, without observers: its sink, with the model as context, is called by
 * a sink that was added there. Before its first thread it joins that run's engine, with a fan-out of its own that calls
 * observers in line; before it is freed it leaves (NULL). */
extern const struct as_sink as_model_sink;
void as_model_join(struct as_model *model, const struct as_engine *engine, struct as_fanout *fanout);
/* Before the run: called at the end of each measured stretch, when every observer has seen all of it, on the thread that
 * runs the engine. */
typedef void as_region_measured(void *context, uint32_t region);
void as_model_set_measured(struct as_model *model, as_region_measured *measured, void *context);

struct as_model_result {
    struct as_engine_result engine;
    uint64_t instructions;       /* iterations of rep instructions are none */
    uint64_t cycles;             /* of all cores together */
    uint64_t elapsed;            /* simulated time from the start to the last commit */
    uint64_t kernel_cycles;      /* modelled cost of system calls and page faults, not among the cycles */
    struct as_counters counters; /* the same, and all others */
};

/* Starts the fan-out, runs the program to its end or the region's, and waits for the observers. */
bool as_model_run(struct as_model *model, const struct as_engine_options *options, struct as_fanout *fanout,
                  struct as_model_result *result, struct as_error *err) AS_MUST_CHECK;

uint64_t as_model_progress(const struct as_model *model); /* instructions so far */

/* After the run. */
bool as_model_count_memo(const struct as_model *model, struct as_memo_counters *counters); /* false: it has none */
/* What was counted in a region, by its place in the list; all 0 where it was not reached. */
const struct as_counters *as_model_region(const struct as_model *model, uint32_t region);
const struct as_engine *as_model_engine(const struct as_model *model);
const struct as_call_tracker *as_model_calls(const struct as_model *model);
/* The number of a thread's process, from 1; 0: no such thread. */
uint32_t as_model_process(const struct as_model *model, uint32_t thread);
/* The call paths by number - 1: what as_pipe.path, and whatever is added up by it, means. */
const struct as_path_key *as_model_paths(const struct as_model *model, size_t *n);
/* Whether a block that holds the instruction was executed, the whole block or a part of it. The same in every run. */
bool as_model_executed(const struct as_model *model, uint32_t id);
/* Where indirect jumps and calls went: image << 48 | address, each once. */
const uint64_t *as_model_leaders(const struct as_model *model, size_t *n);
/* Where instruction `id` is: module, function and so on. False where the id is unknown. */
bool as_model_locate(const struct as_model *model, uint32_t id, struct as_location *location);

#endif
