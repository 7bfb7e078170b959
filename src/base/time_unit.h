/* Whether a unit or an event's name is one of time: where samples of it fall, time went. */
#ifndef AS_BASE_TIME_UNIT_H
#define AS_BASE_TIME_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool as_unit_is_time(const char *unit)
{
    static const char *const words[] = {"seconds", "cycles", "clock", "clk"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(unit, words[i]))
            return true;
    return false;
}

#endif
