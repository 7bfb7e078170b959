/* Sets of translated code, one for each way of reporting accesses, so that recording can be switched without translating anything anew.
 *
 * QEMU looks translated code up by address and by flags of the CPU, among them a number of a cluster, which user mode does
 * not use. Two bits of that number say which set the code is of: where they change, QEMU goes on with another set and
 * translates only what that does not have yet.
 *
 * Where these flags are kept differs from version to version. They are found by trying: a word of the CPU's state has the
 * value of the flags that QEMU computes from them, and flipping a bit there flips it in what QEMU computes.
 */
#ifndef AS_PLUGIN_CODE_SETS_H
#define AS_PLUGIN_CODE_SETS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether that can be done. Only where the vcpu's own thread is the process's only one. */
bool as_code_sets_find(unsigned vcpu);

enum { AS_CODE_SETS = 4 };

/* Has the vcpu go on with another set (the first is number 0) behind the block that it executes. Under the same condition, after as_code_sets_find
 * returned true. */
void as_code_sets_switch(unsigned vcpu, uint32_t set);

#endif
