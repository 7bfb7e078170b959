/* Several sinks as one: each gets every call, in the order in which they were added. Each has a `user` of its own in
 * every thread, as if it were alone.
 *
 * A sink that does not look at executions has no `block`, if another one has: it costs nothing for a block.
 * Executions are only counted (as_sink.tally) or passed on as words (as_sink.words) if each sink that looks at them takes one of the two.
 * The clock is that of the first sink that has one.
 */
#ifndef AS_ENGINE_SINK_TEE_H
#define AS_ENGINE_SINK_TEE_H

#include "engine/engine.h"

struct as_sink_tee;
struct as_sink_tee *as_sink_tee_new(void);
/* Before the run. `sink` and `context` stay the caller's. */
void as_sink_tee_add(struct as_sink_tee *tee, const struct as_sink *sink, void *context);
/* What to give to as_engine_run. A sink that is alone is given as it is, and costs nothing more. */
const struct as_sink *as_sink_tee_sink(struct as_sink_tee *tee, void **context);
void as_sink_tee_free(struct as_sink_tee *tee);

#endif
