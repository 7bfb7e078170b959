/* What an event counts, as far as its name tells: recordings and the profiles that are made of them have that in common. */
#ifndef AS_BLOCKS_COUNTED_H
#define AS_BLOCKS_COUNTED_H

#include <stdbool.h>

enum as_counted { AS_COUNTED_OTHER, AS_COUNTED_INSTRUCTIONS, AS_COUNTED_UOPS, AS_COUNTED_TAKEN };

/* `name`: as perf shows it ("instructions:u", "r20c4", "cpu/event=0xc4,umask=0x20/"); `unit`: of its periods, as in a profile,
 * "operations" for tagging units that count those, "taken branches" or "instructions" where the name is the user's own; both may be
 * NULL. */
enum as_counted as_counted_of(const char *name, const char *unit);

#endif
