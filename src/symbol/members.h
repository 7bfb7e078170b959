/* Types of global variables: which element and member of a variable lies at an offset. From the DWARF of one module, in the
 * addresses of the file. Hostile types (of endless depth, say) cost an answer, never the run. */
#ifndef AS_SYMBOL_MEMBERS_H
#define AS_SYMBOL_MEMBERS_H

#include "symbol/member_split.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct as_members;
struct as_members *as_members_new(Dwarf *dwarf); /* looks at all units: once for a module */
void as_members_free(struct as_members *members);

/* What lies `offset` bytes into the variable at `address`: "[3].hits", ".lock.__data", ".pad+4", "" for the variable itself.
 * The caller frees. NULL: it has no type here, or the type does not reach so far. */
char *as_members_name(struct as_members *members, uint64_t address, uint64_t offset);
/* Bytes of an element, where the variable is an array; 0: it is none. */
uint64_t as_members_element(struct as_members *members, uint64_t address);

/* False: no type, no such two, members of a union, or bit-fields. The caller frees the name. */
bool as_members_split(struct as_members *members, uint64_t address, const uint64_t offsets[2], uint64_t line,
                      struct as_member_split *split);

#endif
