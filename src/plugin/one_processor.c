/* See one_processor.h. */
#include "plugin/one_processor.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

static _Atomic int processor = -1; /* of the process; -1: none yet */
static _Atomic bool forbidden;     /* the program chooses processors itself */
static __thread bool joined;
static __thread int where; /* … which */
static __thread cpu_set_t before;

static int choose_processor(void)
{
    int none = -1, here = sched_getcpu();
    atomic_compare_exchange_strong(&processor, &none, here);
    return atomic_load(&processor);
}

static void join(int own)
{
    if (joined || atomic_load(&forbidden) || sched_getaffinity(0, sizeof before, &before) != 0)
        return;
    if (own < 0 || own >= CPU_SETSIZE || !CPU_ISSET(own, &before) || CPU_COUNT(&before) < 2)
        return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(own, &one);
    joined = sched_setaffinity(0, sizeof one, &one) == 0;
    where = own;
}

void as_one_processor_join(void)
{
    join(choose_processor());
}

void as_one_processor_follow(uint32_t chosen)
{
    if (joined && chosen != (uint32_t)where + 1)
        as_one_processor_leave();
    if (chosen)
        join((int)chosen - 1);
}

void as_one_processor_leave(void)
{
    if (joined)
        sched_setaffinity(0, sizeof before, &before);
    joined = false;
}

void as_one_processor_call(enum as_arch arch, int64_t number)
{
    enum { CALLS = 8 };
    /* sched_setaffinity, sched_getaffinity, clone, clone3, execve, execveat, fork, vfork */
    static const int16_t calls[AS_ARCH_COUNT][CALLS] = {
        [AS_ARCH_X86_64] = {203, 204, 56, 435, 59, 322, 57, 58},
        [AS_ARCH_RISCV64] = {122, 123, 220, 435, 221, 281, -1, -1},
    };
    if (number == calls[arch][0])
        atomic_store(&forbidden, true);
    for (int i = 0; i < CALLS && joined; i++)
        if (number == calls[arch][i])
            as_one_processor_leave();
}
