/* Children: what happens at fork and execve. */
#ifndef AS_PLUGIN_FOLLOW_H
#define AS_PLUGIN_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void as_follow_setup(void);
void as_follow_watch_reader(void);          /* ends this process when the reader dies */
void as_follow_note_syscall(unsigned vcpu); /* the vcpu that this host thread runs, in case it forks */
void as_follow_execve(uint64_t path, uint64_t argv, uint64_t envp); /* returns if QEMU is to perform the call */

/* Reads the program's memory without trusting the address. */
bool as_guest_read(uint64_t address, void *to, size_t size);

#endif
