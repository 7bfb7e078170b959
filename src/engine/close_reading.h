/* Reading threads whose cores hand cache lines to each other: a step of a block or so at a time, the thread that is behind
 * in simulated time first, none further ahead than a few cycles.
 *
 * This is what the reader's own round over the lanes does, too (reader.c), for all that can happen in a lane. Here are
 * only the steps between: lanes that have words, of threads that are known, as long as nothing but blocks and accesses comes.
 * What a round looks at besides (new code, gates, the wall clock) is then looked at once in many steps.
 */
#ifndef AS_ENGINE_CLOSE_READING_H
#define AS_ENGINE_CLOSE_READING_H

#include "engine/reader.h"

enum { AS_CLOSE_SLACK = 10, AS_CLOSE_WORDS = 2, AS_CLOSE_STEPS = 20 };

/* A thread whose words may be read, or that runs and will have some: no other is read far beyond its time. */
bool as_reader_has_clock(const struct as_reader *reader, uint32_t lane);
/* Reads on until a lane needs a closer look, or for a while. Returns false if a trace is corrupt. */
bool as_read_closely(struct as_reader *reader, bool *progress) AS_MUST_CHECK;

#endif
