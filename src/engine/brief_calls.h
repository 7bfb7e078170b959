/* System calls that come back at once, whatever other threads do: time stands still in them. A thread in any other call may wait there
 * for another one, so nobody waits for it, and it goes on at the time of those that run.
 */
#ifndef AS_ENGINE_BRIEF_CALLS_H
#define AS_ENGINE_BRIEF_CALLS_H

#include "assay/insn.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>

enum { AS_BRIEF_CALLS = 28 };

/* mmap, mprotect, munmap, brk, mremap, madvise, rt_sigaction, rt_sigprocmask, sigaltstack, sched_yield, getpid, gettid, getppid, getuid,
 * clone, clone3, prctl, set_tid_address, set_robust_list, rseq, getrandom, clock_gettime, gettimeofday, sched_getaffinity, getcpu, tgkill,
 * prlimit64, getrusage. */
static const struct {
    uint16_t futex, clone, brief[AS_BRIEF_CALLS];
} as_brief_calls_of[AS_ARCH_COUNT] = {
    [AS_ARCH_X86_64] = {.futex = 202, .clone = 56, .brief = {9,   10,  11,  12,  25,  28,  13,  14,  131, 24,
                                                             39,  186, 110, 102, 56,  435, 157, 218, 273, 334,
                                                             318, 228, 96,  204, 309, 234, 302, 98}},
    [AS_ARCH_RISCV64] = {.futex = 98, .clone = 220, .brief = {222, 226, 215, 214, 216, 233, 134, 135, 132, 124,
                                                              172, 178, 173, 174, 220, 435, 167, 96,  99,  293,
                                                              278, 113, 169, 123, 168, 131, 261, 165}},
};

/* Whether a call that is not brief came back at once after all: a futex had another value. */
static inline bool as_call_did_not_wait(enum as_arch arch, uint32_t number, int64_t result)
{
    return number == as_brief_calls_of[arch].futex && result == -EAGAIN;
}

static inline bool as_call_makes_thread(enum as_arch arch, uint32_t number)
{
    return number == as_brief_calls_of[arch].clone;
}

static inline bool as_call_is_brief(enum as_arch arch, uint32_t number, const uint64_t args[6])
{
    if (number == as_brief_calls_of[arch].futex) {
        uint64_t call = args[1] & (uint64_t)FUTEX_CMD_MASK;
        return call == FUTEX_WAKE || call == FUTEX_WAKE_BITSET || call == FUTEX_WAKE_OP;
    }
    for (uint32_t i = 0; i < AS_BRIEF_CALLS; i++)
        if (number == as_brief_calls_of[arch].brief[i])
            return true;
    return false;
}

#endif
