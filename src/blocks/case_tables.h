/* Tables of jumps in a file: where the indirect jumps of a function can lead, from the code and the data that it refers to.
 *
 * A table lies at an address that the function takes (x86-64: lea, or an operand with an index and nothing else; RISC-V: auipc or lui
 * with addi). Its entries are 32 bits relative to it, 64 bits or 32 bits; it ends with the first one that does not lead to an
 * instruction of the function, and where another begins. Of entries that the dynamic linker fills in (labels as values in
 * position-independent programs) what the file has is read, which GNU ld writes and lld does not.
 */
#ifndef AS_BLOCKS_CASE_TABLES_H
#define AS_BLOCKS_CASE_TABLES_H

#include "assay/insn.h"
#include "base/vec.h"
#include "symbol/elffile.h"

typedef AS_VEC(uint64_t) as_case_targets;

/* The targets of all tables of the function with these instructions, which are sorted by address; some may be there more than once.
 * Nothing if it has no indirect jump. The caller frees the list. */
as_case_targets as_case_targets_find(const struct as_elf *elf, const struct as_insn *insns, size_t n);

#endif
