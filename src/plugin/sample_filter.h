/* Accesses to a sample of the granules (AS_WIRE_SAMPLED), chosen where they are made: what is not reported costs the reader nothing.
 *
 * Reported is an access
 *  - to a sampled granule, unless the process has one thread and the granule is one of the last two that were reported: then at most one
 *    sampled granule lies in between, which is as near as a sample can say. Only once the sample is not all granules any more.
 *  - to memory whose name may not be its address: the reader knows names (model/moved_memory.h) and chooses by them. Such are
 *    pages that were unmapped, moved, dropped or mapped over.
 *  - that lies in two granules, with both of its pieces where QEMU makes it in pieces, so that granules can be counted.
 */
#ifndef AS_PLUGIN_SAMPLE_FILTER_H
#define AS_PLUGIN_SAMPLE_FILTER_H

#include "plugin/lane.h"
#include "plugin/qemu_plugin_api.h"

/* The callback for the accesses of an instruction. It relies on how QEMU lays out `info`, as access_word.h does. */
qemu_mem_cb as_sample_callback(const uint8_t *bytes, size_t size);
/* … of one whose accesses are all reported. */
void as_sample_reported(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata);
/* The process has a second thread, from now on: others may take granules away from it. */
void as_sample_note_thread(void);
/* Behind a system call that returned `result`. */
void as_sample_note_syscall(int64_t number, const uint64_t args[AS_WIRE_SYSCALL_ARGS], int64_t result);

#endif
