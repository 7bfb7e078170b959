/* The accesses of a run without the core model, in batches for observers (struct as_access_batch).
 *
 * It is a sink of the engine, which must record accesses (not blocks_only). Threads are interleaved by executed
 * instructions: the thread that has executed fewest goes first, in turns of a few hundred accesses. A thread that starts
 * or comes back from a system call goes on where the slowest running one is.
 *
 * Calls: new, make the observers with as_access_stream_run_info and add them to `fanout`, start the fan-out, run the
 * engine with the sink (alone, or in an as_sink_tee), finish, report. The engine must outlive the reports.
 */
#ifndef AS_MODEL_ACCESS_STREAM_H
#define AS_MODEL_ACCESS_STREAM_H

#include "base/random.h"
#include "count/tracker.h"
#include "engine/engine.h"
#include "observe/fanout.h"

/* `fanout` (of as_access_buffers) must outlive it. `open` as in as_run_info; NULL: observers cannot write files. */
struct as_access_stream;
struct as_access_stream *as_access_stream_new(struct as_fanout *fanout, FILE *(*open)(void *context, const char *path),
                                              void *open_context);
const struct as_run_info *as_access_stream_run_info(const struct as_access_stream *stream);
/* Before the run: where observers' questions about instructions go. */
void as_access_stream_set_engine(struct as_access_stream *stream, const struct as_engine *engine);
/* Before the run: follow calls. Where a thread's call path has changed before an access, a record of kind AS_ACCESS_PATH and
 * size 0 comes first: `insn` is the tree, `address` the node that the thread is in from there on (as_access_stream_calls).
 * Observers that do not know of it must not be on the same stream. */
enum { AS_ACCESS_PATH = 16 };
void as_access_stream_follow_calls(struct as_access_stream *stream);
const struct as_call_tracker *as_access_stream_calls(const struct as_access_stream *stream); /* NULL: not followed */
uint64_t as_access_stream_executed(const struct as_access_stream *stream); /* instructions, after the run */
/* Before the run: only accesses that touch sampled granules go to the observers (and few others: they look again).
 * Sampled are granules of 1 << shift bytes, 64 or more, whose number (of the address's 48 bits) times AS_RANDOM_STEP is at
 * most the threshold, which may fall while the program runs. */
void as_access_stream_set_sample(struct as_access_stream *stream, uint32_t shift, const _Atomic uint64_t *threshold);
uint64_t as_access_stream_seen(const struct as_access_stream *stream); /* accesses, whether passed on or not */
extern const struct as_sink as_access_stream_sink;                     /* its context is the stream */
/* After the run: publishes what is left and waits until every observer has seen everything. */
void as_access_stream_finish(struct as_access_stream *stream);
void as_access_stream_free(struct as_access_stream *stream);

#endif
