/* A run in the model: a program in the engine, a core for each guest thread, and observers of the cores' records.
 *
 * Calls: new, make the observers with as_model_run_info and add them to a fan-out, run, then read the observers. The
 * model and everything that it returns live until as_model_free.
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

enum { AS_MODEL_BATCH = 4096 }; /* in records: the batch size that the fan-out must have */

struct as_model;
struct as_model *as_model_new(const struct as_machine *machine); /* the machine must outlive the model */
const struct as_machine *as_model_machine(const struct as_model *model);
void as_model_free(struct as_model *model);

const struct as_run_info *as_model_run_info(const struct as_model *model);

/* Opens observers' files (as_run_info.open); without it observers cannot write any. Called on any thread. */
typedef FILE *as_open_file(void *context, const char *path);
void as_model_set_files(struct as_model *model, as_open_file *open, void *context);

/* Not an event: the instruction becomes a nop. An instruction that transfers control stays as it is. */
enum { AS_IDEAL_REMOVED = 1 << 30 };
/* Returns the events that must not happen to an instruction (AS_CORE_IDEAL), or AS_IDEAL_REMOVED. Called once for each
 * instruction, when it is first executed. */
typedef uint32_t as_ideal_of(void *context, const struct as_model *model, const struct as_insn *insn);
/* Call this before the run. Without it every instruction behaves as on the real machine. */
void as_model_set_ideal(struct as_model *model, as_ideal_of *ideal_of, void *context);

/* Call this before the run: data lies in the model where `move` says. What the program computes stays the same. */
void as_model_set_moves(struct as_model *model, uint64_t (*move)(void *context, uint64_t address), void *context);

/* Call this before the run: `on_transfer` is called on the thread that runs the cores, one at a time, for each line that moves from
 * core to core in a measured stretch (core/transfer.h), in simulated time. That may be another thread than the engine's, but never
 * before the run, at a border of a stretch or after the run. */
void as_model_set_transfers(struct as_model *model, as_on_transfer *on_transfer, void *context);
/* Call this before the run: `calls` is told of threads that start, of system calls and their returns, and of mappings (its other
 * members are not called), on the same thread. Unlike as_model_add_also, it costs nothing between them. */
void as_model_set_calls(struct as_model *model, const struct as_sink *calls, void *context);

#define AS_MODEL_MEMO_BYTES AS_MEMO_BYTES /* default size */
/* Call this before the run to remember what the pipeline did (core/memo.h). Without it every instruction is
 * simulated. */
void as_model_set_memo(struct as_model *model, const struct as_memo_options *options);

/* Call this before the run to add another sink, which gets the same calls from the engine. */
void as_model_add_also(struct as_model *model, const struct as_sink *also, void *context);
/* For a model without observers that takes part in the run of another model: a sink that was added there calls this
 * sink, with the model as context. Before its first thread the model joins that run's engine, with a fan-out of its own
 * that calls observers in line; before it is freed it leaves (NULL). */
extern const struct as_sink as_model_sink;
void as_model_join(struct as_model *model, const struct as_engine *engine, struct as_fanout *fanout);
/* The caches and TLBs of a model that takes part in a run are as `from` has them now. If more than one core has run there,
 * nothing is copied. */
void as_model_copy_contents(struct as_model *to, struct as_model *from);
/* Call this before the run: counted stretches are not left out completely. Caches behind the first ones, and pages, are kept
 * up to date by a sieve (engine/sieve.h), and calls are followed. For regions that are warmed for a short time. */
void as_model_set_sieve(struct as_model *model);
/* How the mispredictions of a core fall while the last part of a counted stretch trains it, which has so many instructions
 * (as_regions.near) from the next counted stretch on. */
void as_model_set_training(struct as_model *model, uint64_t near);
/* At the end of a measured stretch: the mispredictions of each instruction in the second quarter of the part before it, less those
 * in its second half. False: not known, because the stretch was shorter, or the machine has several cores. */
bool as_model_training(const struct as_model *model, double *excess);
/* The cycles of all threads that run, after all that was executed so far. Waits for a core that runs apart. */
uint64_t as_model_time(struct as_model *model);
/* After a run with a sieve (as_model_set_sieve): its elapsed time over the cycles of all threads, where instructions that were only
 * counted or warmed took as long as measured ones. */
double as_model_idle_factor(const struct as_model *model);
/* Call this before such a run: how many cycles an execution of a part of a block takes that is only counted or warmed. Without it, each
 * instruction takes as many as its thread's did where it was last measured. */
typedef double as_model_pace_of(void *context, const struct as_block *block, uint32_t first, uint32_t end);
void as_model_set_pace(struct as_model *model, as_model_pace_of *pace, void *context);
/* Called at the end of each measured stretch, after every observer has seen all of it, on the thread that runs the
 * engine. Set this before the run. */
typedef void as_region_measured(void *context, uint32_t region);
void as_model_set_measured(struct as_model *model, as_region_measured *measured, void *context);

/* In such a call, or after the run: the lines that DRAM was read for so far, in all stretches; between regions as far as a sieve shows
 * them. */
uint64_t as_model_reads(const struct as_model *model);
uint64_t as_model_read_latency(const struct as_model *model); /* in cycles, if nothing delays it */

/* Makes a copy of the run (as_engine_twin) in which the stretch that has just begun has another mode, and which has the
 * observers of `fanout`, which nobody has started. Call this at a border. Returns 0 in the copy: `measured` is called there
 * at the end of the first measured stretch and must end the process; if the program ends before that stretch, the copy ends
 * with AS_EXIT_OK and without a call. Returns the copy's process number in the original, -1 and `err` on failure. */
pid_t as_model_twin(struct as_model *model, enum as_mode mode, struct as_fanout *fanout, as_region_measured *measured,
                    void *context, struct as_error *err) AS_MUST_CHECK;
/* In the original: the copy that was made last needs nothing more. */
void as_model_twin_end(struct as_model *model);
/* Makes known here what a copy has met: a call (returns its node in the tree; `node.parent` is one of this model), a path
 * (returns its number), a target of an indirect jump. */
uint32_t as_model_adopt_call(struct as_model *model, uint32_t tree, const struct as_call_node *node);
uint32_t as_model_adopt_path(struct as_model *model, const struct as_path_key *key);
void as_model_adopt_leader(struct as_model *model, uint64_t leader);

struct as_model_result {
    struct as_engine_result engine;
    uint64_t instructions;       /* iterations of rep instructions are not counted */
    uint64_t cycles;             /* sum over all cores */
    uint64_t elapsed;            /* simulated time from the start to the last commit */
    uint64_t kernel_cycles;      /* modelled cost of system calls and page faults, not included in `cycles` */
    struct as_counters counters; /* these counters and all others */
    double measuring;            /* seconds on the host's clock, without start-up and what was skipped or warmed */
};

/* Starts the fan-out, runs the program to its end or the region's, and waits for the observers. */
bool as_model_run(struct as_model *model, const struct as_engine_options *options, struct as_fanout *fanout,
                  struct as_model_result *result, struct as_error *err) AS_MUST_CHECK;

uint64_t as_model_progress(const struct as_model *model); /* measured instructions so far */

/* After the run. */
bool as_model_count_memo(const struct as_model *model,
                         struct as_memo_counters *counters); /* false: the model has no memo */
/* Returns what was counted in a region, given by its index in the list; all 0 if the region was not reached. */
const struct as_counters *as_model_region(const struct as_model *model, uint32_t region);
const struct as_engine *as_model_engine(const struct as_model *model);
const struct as_call_tracker *as_model_calls(const struct as_model *model);
/* Memory that processes share: what lines of transfers are. */
struct as_shared_memory;
const struct as_shared_memory *as_model_shared(const struct as_model *model);
/* The number of a thread's process, from 1; 0: unknown thread. */
uint32_t as_model_process(const struct as_model *model, uint32_t thread);
/* What a thread had named itself last while it ran an image; NULL: nothing. */
const char *as_model_thread_name(const struct as_model *model, uint32_t thread, uint32_t image);
/* The call paths by number - 1, as in as_pipe.path and everything that is summed by path. */
const struct as_path_key *as_model_paths(const struct as_model *model, size_t *n);
/* While it runs: empties the list of paths that threads came to in pipelines, and keeps it from then on; and that list, which may
 * have a path more than once. */
void as_model_note_paths(struct as_model *model);
const uint32_t *as_model_noted_paths(const struct as_model *model, size_t *n);
/* Whether a block with this instruction was executed, in whole or in part. The same in every run. */
bool as_model_executed(const struct as_model *model, uint32_t id);
/* Targets of indirect jumps and calls: image << 48 | address, each once. */
const uint64_t *as_model_leaders(const struct as_model *model, size_t *n);
/* Finds the location of instruction `id`: module, function and so on. Returns false if the id is unknown. */
bool as_model_locate(const struct as_model *model, uint32_t id, struct as_location *location);

#endif
