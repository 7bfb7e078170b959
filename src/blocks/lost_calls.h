/* Calls that do not come back, and places where control comes back without one: longjmp, exceptions, the end of the program. */
#ifndef AS_BLOCKS_LOST_CALLS_H
#define AS_BLOCKS_LOST_CALLS_H

#include "blocks/flow.h"

/* Whether something that moves control past callers ran (longjmp, a thrown exception, setcontext): by the names of functions. */
bool as_flow_is_moved(const struct as_flow *flow);

/* Whether a block ends with a call of what ends the process, by its name: exit, abort. */
bool as_call_exits(const struct as_cfg_module *module, const struct as_cfg_block *block);
/* Whether one ends with a call of what never returns, by its name: those, longjmp, __cxa_throw. */
bool as_call_ends(const struct as_cfg_module *module, const struct as_cfg_block *block);
/* Whether one ends with a call that can return more than once: setjmp, getcontext. */
bool as_call_comes_again(const struct as_cfg_module *module, const struct as_cfg_block *block);

/* Whether one ends with a call that comes back in two processes: fork. */
bool as_call_forks(const struct as_cfg_module *module, const struct as_cfg_block *block);

/* By block of the module, if something moved control: 1 where a block ends with a call of a function that can have been left so,
 * because it or what it calls may have done that or is not known. The caller frees. */
uint8_t *as_calls_lost(const struct as_flow *flow, uint32_t module);

#endif
