/* See access_clocks.h. */
#include "model/access_clocks.h"

void as_clock_put(struct as_access_clock *clock, uint64_t time)
{
    uint64_t now = as_clock_now(clock), ahead = time > now ? time - now : 0;
    clock->offset += ahead;
    clock->debt -= clock->debt < ahead ? clock->debt : ahead;
}

void as_clock_put_back(struct as_access_clock *clock, uint64_t time)
{
    uint64_t now = as_clock_now(clock), back = now > time ? now - time : 0;
    clock->offset -= back;
    clock->debt += back;
}

const struct as_access_clock *as_clocks_find(const struct as_access_clocks *clocks, uint32_t number)
{
    for (size_t i = 0; i < clocks->all.len; i++)
        if (clocks->all.data[i]->number == number)
            return clocks->all.data[i];
    return NULL;
}

void as_clocks_remove(struct as_access_clocks *clocks, const struct as_access_clock *clock)
{
    for (size_t i = 0; i < clocks->all.len; i++)
        if (clocks->all.data[i] == clock)
            clocks->all.data[i] = clocks->all.data[--clocks->all.len];
}

uint64_t as_clocks_of_others(const struct as_access_clocks *clocks, const struct as_access_clock *own)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < clocks->all.len; i++) {
        const struct as_access_clock *clock = clocks->all.data[i];
        if (clock != own && clock->runs && as_clock_now(clock) < least)
            least = as_clock_now(clock);
    }
    return least;
}

void as_clocks_go_on(const struct as_access_clocks *clocks, struct as_access_clock *clock)
{
    uint64_t others = as_clocks_of_others(clocks, clock->runs ? NULL : clock);
    as_clock_put(clock, others == UINT64_MAX ? clocks->stopped : others);
    clock->runs = true;
}

void as_clocks_stop(struct as_access_clocks *clocks, struct as_access_clock *clock)
{
    uint64_t now = as_clock_now(clock);
    clocks->stopped = now > clocks->stopped ? now : clocks->stopped;
    clock->runs = false;
}

uint64_t as_clocks_passed(const struct as_access_clocks *clocks)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < clocks->all.len; i++) {
        const struct as_access_clock *clock = clocks->all.data[i];
        uint64_t counted = as_clock_now(clock) + clock->debt;
        if (clock->runs && counted < least)
            least = counted;
    }
    return least;
}
