/* The accesses of a run without the core model, in batches for observers (struct as_access_batch).
 *
 * The stream is a sink of the engine, which must record accesses (not blocks_only). Threads are interleaved by executed
 * instructions: the thread that has executed fewest runs next, in turns of a few hundred accesses. A thread that starts
 * or returns from a system call continues at the clock of the slowest running thread. See as_access_stream_keep_order for
 * threads that wait for each other.
 *
 * Calls: new, make the observers with as_access_stream_run_info and add them to `fanout`, start the fan-out, run the
 * engine with the sink (alone, or in an as_sink_tee), finish, report. The engine must outlive the reports.
 */
#ifndef AS_MODEL_ACCESS_STREAM_H
#define AS_MODEL_ACCESS_STREAM_H

#include "base/random.h"
#include "count/tracker.h"
#include "engine/engine.h"
#include "model/moved_memory.h"
#include "model/shared_memory.h"
#include "observe/fanout.h"

/* `fanout` (of as_access_buffers) must outlive it. `open` as in as_run_info; NULL: observers cannot write files. */
struct as_access_stream;
struct as_access_stream *as_access_stream_new(struct as_fanout *fanout, FILE *(*open)(void *context, const char *path),
                                              void *open_context);
const struct as_run_info *as_access_stream_run_info(const struct as_access_stream *stream);
/* Call this before the run: the engine answers observers' questions about instructions. */
void as_access_stream_set_engine(struct as_access_stream *stream, const struct as_engine *engine);
/* Call this before the run to follow calls. If a thread's call path has changed before an access, a record of kind
 * AS_ACCESS_PATH and size 0 comes first: `insn` is the tree, `address` the node that the thread is in from there on
 * (as_access_stream_calls). All observers of the stream must know this kind. */
enum { AS_ACCESS_PATH = 16 };
void as_access_stream_follow_calls(struct as_access_stream *stream);
/* Returns NULL if calls are not followed. */
const struct as_call_tracker *as_access_stream_calls(const struct as_access_stream *stream);
/* Call this before the run: accesses to memory that processes share have physical addresses (base/shared_lines.h). The sink has
 * to be told of mappings. */
void as_access_stream_set_shared(struct as_access_stream *stream, struct as_shared_memory *shared);
/* Call this before the run: accesses have the names of moved memory (moved_memory.h), whose sink comes before the stream's. Not
 * together with set_shared. */
void as_access_stream_set_moved(struct as_access_stream *stream, struct as_moved_memory *moved);
/* Call this before the run of an engine that is `causal`: a load that decides (engine/decisions.h) and sees what another
 * thread wrote gets a clock that is later by more than `quantum` than the store's, and so does all that the thread does afterwards. */
void as_access_stream_keep_order(struct as_access_stream *stream, uint32_t quantum);
/* The number of instructions; valid after the run. */
uint64_t as_access_stream_executed(const struct as_access_stream *stream);
/* Call this before the run to pass on only accesses that may touch sampled granules; observers check again. A granule
 * of 1 << shift bytes, 64 or more, is sampled if its number (of the address's 48 bits) times AS_RANDOM_STEP is at most
 * the threshold, which may fall while the program runs. */
void as_access_stream_set_sample(struct as_access_stream *stream, uint32_t shift, const _Atomic uint64_t *threshold);
/* All accesses of a thread (0: of all) where they are a sample, whether passed on or not, and the granules of them: an access may lie in
 * two. */
struct as_access_sum {
    uint64_t accesses, touches;
};
struct as_access_sum as_access_stream_seen(const struct as_access_stream *stream, uint32_t thread);
/* The sink takes the stream as context. as_access_stream_choose_sink returns a faster one where executions need not be
 * looked at one by one: calls are not followed, granules not sampled, and the order is that of clocks alone, all of which must be
 * known by then. */
extern const struct as_sink as_access_stream_sink;
const struct as_sink *as_access_stream_choose_sink(const struct as_access_stream *stream);
/* Call this after the run: publishes the last batch and waits until every observer has seen everything. */
void as_access_stream_finish(struct as_access_stream *stream);
void as_access_stream_free(struct as_access_stream *stream);

#endif
