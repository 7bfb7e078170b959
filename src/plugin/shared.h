/* Reports to the reader what memory of this process others may share: events AS_WIRE_MAPPING. */
#ifndef AS_PLUGIN_SHARED_H
#define AS_PLUGIN_SHARED_H

#include "plugin/lane.h"

/* Behind a system call that returned `result`. */
void as_shared_note_syscall(struct as_wire_lane *lane, int64_t number, const uint64_t args[AS_WIRE_SYSCALL_ARGS],
                            int64_t result);
/* In a forked child that has its lanes: what it got from its parent. */
void as_shared_note_fork(struct as_wire_lane *lane);
/* Whether the process has, or had, such memory. */
bool as_shared_is_used(void);

#endif
