/* Where the types of two places in one variable part: in different members of one structure, or in different elements of one array. And
 * what it takes to put them on lines of their own: the later member aligned to a line, each element padded to lines. */
#ifndef AS_SYMBOL_MEMBER_SPLIT_H
#define AS_SYMBOL_MEMBER_SPLIT_H

#include <stdint.h>

enum as_member_part { AS_PART_MEMBERS = 1, AS_PART_ELEMENTS };
struct as_member_split {
    enum as_member_part part;
    char *name; /* of the later member, "" if it has none; of the array without the variable: "", ".rows[2]" */
    uint64_t bytes, padded;       /* of the structure or of an element: now, and on lines of its own */
    uint64_t whole, whole_padded; /* of the variable; whole_padded 0: unknown */
};

#endif
