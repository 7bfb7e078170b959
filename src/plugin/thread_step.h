/* Threads of a process keep step: a thread executes an atomic whose result it looks at when no other thread that runs has executed fewer
 * instructions.
 *
 * For analyses without simulated time (comm, reuse) the machine is one on which all threads run at the same time and execute one
 * instruction a unit of time. Who gets a lock, or whose compare-and-swap fails, must follow from that and not from which thread the host
 * let run. A thread's clock is its executed instructions and an offset: it begins at the clock of the thread that made it, and one that
 * waited in the kernel goes on at that of the slowest. Atomics come by the clock at their block's end, equal ones by the threads' numbers,
 * and no two at a time. A load-reserved and the block behind it, with the store-conditional, are one.
 *
 * Who waits does so in the kernel, and is woken by the last thread that it waits for. That takes as long as some hundred instructions, so only
 * what may matter waits: a thread's block of an atomic is one of those for the first times, and as long as the word that it finds is also
 * touched by atomics of other threads. Such a thread also keeps close to the others for a while: it does not start a block when
 * one that runs is more than a few instructions behind, so that a spinning thread looks at the lock as often as it would, and sees it free
 * before the thread that had it takes it again. Everything else is interleaved by clocks afterwards (model/access_stream.h), which does not
 * change what it executed; threads are kept together by the window (lane.c).
 *
 * A thread that was woken or made, and does not run yet, is waited for. One that sleeps inside QEMU is not: it may wait for this one.
 */
#ifndef AS_PLUGIN_THREAD_STEP_H
#define AS_PLUGIN_THREAD_STEP_H

#include "plugin/lane.h"

enum { AS_TURNS_THREADS = 64 }; /* more do not keep step: each would have to look at all others */

/* Waits for the thread's turn before a block with an atomic. `reserves`: the next block belongs to it. Returns whether it waited. */
bool as_turns_take(struct as_wire_lane *lane, uint32_t block, bool reserves);
/* An atomic of that block has touched memory. */
void as_turns_touch(struct as_wire_lane *lane, uint64_t address);
/* At the start of a block, behind its count: wakes the thread that waits for this one, and lowers check_at where one will. Returns whether
 * the thread waited, because it is to keep close to the others. */
bool as_turns_pass(struct as_wire_lane *lane);
/* The same, at a block in which a thread that keeps close to the others has nothing else to do than to look whether it spins. Returns false
 * if there is more to do. */
bool as_turns_only_look(struct as_wire_lane *lane, bool *waited);
/* Threads that are about to run are more by so many; below 0: they run. */
void as_turns_expect(int32_t more);
/* The thread is in a system call or has ended: others need not wait for it. */
void as_turns_leave(const struct as_wire_lane *lane);
/* Whether a thread is awaited that does not run yet. */
bool as_turns_awaits(void);
/* A thread has been awaited for so long. It may have been killed: if no thread could run, it is not awaited any longer. */
void as_turns_stay_patient(int milliseconds);
void as_turns_setup(void); /* in a new process */

#endif
