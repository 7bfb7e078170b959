/* Reads threads in an order that respects what they saw: a load comes after the store whose value it read.
 *
 * Blocks have stamps: the time at which each began (stamp.h). A block that decides (decisions.h) ended, at the latest, when
 * the thread's next block began. A store that its load saw is in a block that began before that. So such a block is reported
 * only after every block of another thread that began before its end. All other blocks are reported as they come, except those
 * that began after the end of a block that is held back: when that one is reported, the last store before it is then known.
 *
 * The reader waits for a thread while that thread runs. A thread in a system call, at its gate, or asleep inside QEMU for a
 * while does nothing that another could see.
 *
 * If two blocks were executed at the same time, their stamps do not say which came first. If one of them decides
 * but stores nothing, it comes behind the other; otherwise the one that ended first comes first. So only two blocks that both
 * decide and store (two compare-and-swaps at the same time) can be reported in the wrong order.
 */
#ifndef AS_ENGINE_CAUSAL_READING_H
#define AS_ENGINE_CAUSAL_READING_H

#include "engine/reader.h"

enum { AS_CAUSAL_THREADS = 64 };

/* Whether threads are to be read in this order: if blocks have stamps, as long as at most AS_CAUSAL_THREADS threads run. */
bool as_causal_applies(const struct as_reader *reader);
/* One round over the lanes. Returns false if a trace is corrupt. */
bool as_read_causally(struct as_reader *reader, bool *progress) AS_MUST_CHECK;

#endif
