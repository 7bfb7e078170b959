/* A place in a program, as users name it: a function, an instruction of it, or an address.
 *
 *   NAME       all instructions of a function, named as in the symbol table, or demangled with or without parameters
 *   NAME+0x1c  one instruction of it; MODULE+0x1c likewise, for code without names, as Assay itself prints it
 *   0x10430    the instruction at that address of the run, or at that address of its file, as objdump shows it
 *   MODULE:…   one of these in one module (its file's name, or its path)
 *
 * Matching looks at instructions one by one, so a place can be named before the code is loaded.
 */
#ifndef AS_MODEL_PLACE_H
#define AS_MODEL_PLACE_H

#include "model/model.h"

struct as_place {
    char *text;              /* as given */
    char *module, *function; /* NULL: any */
    uint64_t offset, address;
    bool has_offset, has_address;
};

bool as_place_parse(const char *text, struct as_place *place, struct as_error *err) AS_MUST_CHECK;
void as_place_free(struct as_place *place);
bool as_place_holds(const struct as_place *place, const struct as_insn *insn, const struct as_location *location);
/* Whether it names a single instruction. */
bool as_place_is_one(const struct as_place *place);

#endif
