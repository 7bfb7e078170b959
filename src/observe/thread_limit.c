/* See thread_limit.h. */
#include "observe/thread_limit.h"

static struct as_ended_thread *find(struct as_thread_limit *limit, uint32_t number)
{
    for (size_t i = 0; i < limit->n; i++)
        if (limit->kept[i].number == number)
            return &limit->kept[i];
    return NULL;
}

uint32_t as_thread_limit_end(struct as_thread_limit *limit, uint32_t number, uint64_t cycles)
{
    struct as_ended_thread *again = find(limit, number);
    if (again) {
        again->cycles += cycles;
        return AS_NO_THREAD;
    }
    if (limit->n < AS_THREADS_KEPT) {
        limit->kept[limit->n++] = (struct as_ended_thread){number, cycles};
        return AS_NO_THREAD;
    }
    struct as_ended_thread *shortest = &limit->kept[0];
    for (size_t i = 1; i < limit->n; i++)
        if (limit->kept[i].cycles < shortest->cycles)
            shortest = &limit->kept[i];
    if (shortest->cycles >= cycles)
        return number;
    uint32_t given_up = shortest->number;
    *shortest = (struct as_ended_thread){number, cycles};
    return given_up;
}
