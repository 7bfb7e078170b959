/* Sets of translated code, one for each way of reporting accesses: recording can be switched without translating code
 * again.
 *
 * QEMU finds translated code by its address and by flags of the CPU. The flags contain a cluster number, which user mode
 * does not use. Two bits of that number select the set. When they change, QEMU continues with another set and translates
 * only what that set does not have yet.
 *
 * The place of these flags depends on the version of QEMU. It is found by trial: a word of the CPU's state has the value of
 * the flags that QEMU computes, and flipping a bit of the word flips the same bit in what QEMU computes.
 */
#ifndef AS_PLUGIN_CODE_SETS_H
#define AS_PLUGIN_CODE_SETS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether sets can be used. Call this on the vcpu's thread, which must be the only one of the process. */
bool as_code_sets_find(unsigned vcpu);

enum { AS_CODE_SETS = 4 };

/* The vcpu continues with another set (the first one is 0) after the block that it executes. Call this only after
 * as_code_sets_find returned true, and under the same condition. */
void as_code_sets_switch(unsigned vcpu, uint32_t set);

#endif
