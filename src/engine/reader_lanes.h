/* What reader.c and code_lanes.c share: lanes and the processes that write them. */
#ifndef AS_ENGINE_READER_LANES_H
#define AS_ENGINE_READER_LANES_H

#include "engine/reader.h"

/* Releases the words before `consumed` to has_room (lane.c) and wakes a writer that waits. */
void as_lane_give_room(struct as_reader *reader, uint32_t lane, uint64_t consumed);
/* Reads what a thread's lane holds, at most reader->at_once words; `state` was loaded before. Returns false if it is corrupt. */
bool as_reader_read_lane(struct as_reader *reader, uint32_t lane, uint32_t state, bool *progress) AS_MUST_CHECK;
/* Returns NULL if there is no process of that number. */
struct as_process *as_reader_find_process(struct as_reader *reader, uint32_t number);
/* The thread that forked a process, by the words of AS_WIRE_THREAD_START; NULL: there was none, or another thread has its lane. */
const struct as_stream *as_reader_parent(const struct as_reader *reader, uint32_t parent, uint64_t origin);
/* Marks the lanes of a process, of programs before an image, as written to their end. Their writers must be gone. */
void as_reader_seal_lanes(struct as_reader *reader, uint32_t process, uint32_t before_image);
/* Reads all code lanes. Returns false if a message is malformed. `*progress` is set if there was any. */
bool as_reader_read_code(struct as_reader *reader, bool *progress) AS_MUST_CHECK;

#endif
