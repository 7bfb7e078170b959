/* See counted.h. */
#include "blocks/counted.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool has_any(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcasestr(text, *words))
            return true;
    return false;
}

/* Event and mask of an event of Intel's processors, in the spellings of perf ("r20c4:u", "cpu/event=0xc4,umask=0x20/") and of ours
 * for events without a name ("raw 0x20c4"); 0: it is none. */
static unsigned raw_code(const char *name)
{
    enum { MASK_SHIFT = 8, BITS = 0xffff };
    const char *digits = strncmp(name, "raw 0x", 6) == 0 ? name + 6 : name[0] == 'r' ? name + 1 : "";
    const char *event = strstr(name, "event=0x"), *mask = strstr(name, "umask=0x");
    char *end;
    unsigned long long config = strtoull(digits, &end, 16);
    if (end > digits && (!*end || *end == ':'))
        return config & BITS;
    if (!event)
        return 0;
    return (unsigned)(strtoul(event + 6, NULL, 16) | (mask ? strtoul(mask + 6, NULL, 16) << MASK_SHIFT : 0)) & BITS;
}

enum as_counted as_counted_of(const char *name, const char *unit)
{
    enum { EVENT = 0xff, RETIRED = 0xc0, NEAR_TAKEN = 0x20c4 };
    static const char *const not_all[] = {"not_taken", "not-taken", "misp", NULL};
    static const char *const parts[] = {"br_", "branch", "mem_", "cache", "tlb", NULL};
    if (unit && strcmp(unit, "operations") == 0)
        return AS_COUNTED_UOPS;
    if (!name)
        return AS_COUNTED_OTHER;
    if (strncmp(name, "ibs_", 4) == 0) /* cycles, unless it says otherwise */
        return strstr(name, "cnt_ctl=1") ? AS_COUNTED_UOPS : AS_COUNTED_OTHER;
    if (strcasestr(name, "uops"))
        return AS_COUNTED_UOPS;
    if ((strcasestr(name, "taken") && !has_any(name, not_all)) || raw_code(name) == NEAR_TAKEN)
        return AS_COUNTED_TAKEN;
    if ((strcasestr(name, "inst") && !has_any(name, parts)) || (raw_code(name) & EVENT) == RETIRED)
        return AS_COUNTED_INSTRUCTIONS;
    return !unit                                 ? AS_COUNTED_OTHER
           : strcmp(unit, "taken branches") == 0 ? AS_COUNTED_TAKEN
           : strcmp(unit, "instructions") == 0   ? AS_COUNTED_INSTRUCTIONS
                                                 : AS_COUNTED_OTHER;
}
