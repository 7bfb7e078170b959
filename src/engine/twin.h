/* Copies of a run: Assay forks at the start of a stretch, and the copy goes on with what the original reads from then on.
 *
 * The copy has everything that was known at that moment: code, streams, and what the sinks had made of them, copy on write. The
 * program itself is not copied and runs once: its files, pipes and clocks would not stand a second execution. Instead the
 * original writes each word that it reads into a log, and the copy reads that. So the copy sees the same instructions
 * and accesses as the original, may do something else with them, and may be slower: the log grows meanwhile, up to a limit.
 *
 * Only for programs with one thread: what a copy would do with the words of several depends on how they are interleaved.
 * All functions run on the reader's thread, called while a stretch is announced (as_engine_options.border).
 */
#ifndef AS_ENGINE_TWIN_H
#define AS_ENGINE_TWIN_H

#include "engine/reader.h"

/* The side of the original: `consumed` words of a lane are done with, and may be overwritten after this. */
void as_twin_send(struct as_reader *reader, uint32_t lane, uint64_t consumed);
/* The side of the copy: whether this is one, … */
bool as_twin_is_copy(const struct as_reader *reader);
/* … and more words for it. With `wait`, there are some when this returns; at the end of the log the process ends. */
bool as_twin_pull(struct as_reader *reader, bool wait);
/* The original writes nothing more to the copy that was made last; nothing happens if there is none. */
void as_twin_free(struct as_reader *reader);

/* See as_engine_twin and as_engine_treat_as. */
pid_t as_reader_twin(struct as_reader *reader, void (*at_end)(void *context), void *context, struct as_error *err);
void as_reader_treat_as(struct as_reader *reader, enum as_mode mode);

#endif
