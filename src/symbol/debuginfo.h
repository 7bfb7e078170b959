/* The DWARF of one module: lines and inlined functions by address (the addresses of the file). One index over all units
 * finds the unit of an address; a unit's lines and scopes are read at the first look-up in it. */
#ifndef AS_SYMBOL_DEBUGINFO_H
#define AS_SYMBOL_DEBUGINFO_H

#include "base/map.h"
#include "symbol/elffile.h"
#include "symbol/space.h"
#include "symbol/symtab.h"

struct as_debug;

/* `elf` holds the DWARF and was opened from `path`; it can be closed afterwards. `code` and `strings` must outlive the
 * result; names go into `strings`. NULL with a reason in err. */
struct as_debug *as_debug_new(const struct as_elf *elf, const char *path, const char *roots,
                              const struct as_symtab *code, struct as_strings *strings,
                              struct as_error *err) AS_MUST_CHECK;
void as_debug_free(struct as_debug *debug);

bool as_debug_line(struct as_debug *debug, uint64_t address, struct as_line *line);

/* Like as_space_inline; the last frame's name is DWARF's. */
size_t as_debug_inline(struct as_debug *debug, uint64_t address, struct as_inline_frame *frames, size_t max);

/* The element and member of a variable, and the size of an element: symbol/members.h. */
char *as_debug_member(struct as_debug *debug, uint64_t variable, uint64_t offset);
uint64_t as_debug_element(struct as_debug *debug, uint64_t variable);
bool as_debug_split(struct as_debug *debug, uint64_t variable, const uint64_t offsets[2], uint64_t line,
                    struct as_member_split *split);

/* The same as compilers' sample profiles want it, innermost first: where in its function the instruction is, or the call
 * of the frame before it. Strings live as long as the debug information. Returns how many were written; 0: unknown. */
struct as_source_frame {
    const char *linkage; /* as in the symbol table; NULL: it has no name */
    uint32_t declared;   /* the line of the function's declaration */
    uint32_t line;       /* 0: unknown */
    uint32_t discriminator;
    bool inlined; /* into the frame behind it */
};
size_t as_debug_frames(struct as_debug *debug, uint64_t address, struct as_source_frame *frames, size_t max);

/* One line about what had to be left out, or NULL. */
const char *as_debug_problem(const struct as_debug *debug);

#endif
