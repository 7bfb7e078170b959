/* Landing pads: where control goes on in a function if one of its calls throws. From the tables that compilers of C++ and
 * languages like it write for the unwinder (.gcc_except_table). */
#ifndef AS_SYMBOL_LANDING_H
#define AS_SYMBOL_LANDING_H

#include "symbol/elffile.h"

struct as_landing_pad {
    uint64_t start, end; /* calls in [start, end) … */
    uint64_t pad;        /* … go on here */
};
typedef AS_VEC(struct as_landing_pad) as_landing_pads;

as_landing_pads as_landing_pads_of(const struct as_elf *elf); /* by function, its calls by address; the caller frees */

#endif
