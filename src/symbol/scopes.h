/* The functions of one compilation unit and the functions inlined into them: a tree of scopes, each with its address
 * ranges, and an index that finds the innermost scope of an address. */
#ifndef AS_SYMBOL_SCOPES_H
#define AS_SYMBOL_SCOPES_H

#include "base/vec.h"
#include "symbol/interval.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

enum { AS_SCOPE_NONE = UINT32_MAX };

struct as_scope {
    Dwarf_Die die;
    const char *name; /* once somebody asked */
    uint32_t parent;  /* UINT32_MAX: none */
    bool inlined;     /* into its parent, at: */
    uint32_t call_file, call_line, call_column;
};

struct as_scopes {
    AS_VEC(struct as_scope) scopes;
    struct as_interval_index index;
};

/* Work that may still be done: hostile DWARF can make little data take forever. Counted in processor time. */
struct as_budget {
    uint64_t deadline; /* nanoseconds of this thread's processor time */
    size_t ranges;     /* address ranges that may still be read */
    bool spent;
    unsigned ticks;
};
void as_budget_start(struct as_budget *budget, unsigned seconds, size_t ranges);
bool as_budget_tick(struct as_budget *budget); /* false: spent */

/* Reads the ranges of a DIE. Returns how many were added. */
typedef AS_VEC(struct as_address_range) as_intervals;
size_t as_scope_ranges(Dwarf_Die *die, uint32_t rank, uint32_t id, as_intervals *items, struct as_budget *budget);

/* Reads the unit with the DIE `unit`; what comes after the budget is spent is left out. */
void as_scopes_read(struct as_scopes *scopes, Dwarf_Die *unit, struct as_budget *budget);
void as_scopes_free(struct as_scopes *scopes);

/* An attribute of a DIE or of what it is an instance of; false where there is none. Never opens other files, unlike
 * dwarf_attr_integrate. */
bool as_scope_attr(const Dwarf_Die *die, unsigned attribute, Dwarf_Attribute *result);

#endif
