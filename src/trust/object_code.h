/* The code of an object that gets nops: which functions, their instructions, and who refers to them. Shared by the two files
 * that write an object as assembly; see object_text.c. */
#ifndef AS_TRUST_OBJECT_CODE_H
#define AS_TRUST_OBJECT_CODE_H

#include "trust/object_file.h"
#include "trust/remedy.h"

struct as_object_piece {
    uint64_t offset;
    uint32_t length;
    uint32_t function; /* its range; UINT32_MAX: between functions */
};

struct as_object_range {
    uint64_t begin, end;
    bool changed;
};

struct as_object_writer {
    const struct as_remedy_options *options;
    struct as_object *object;
    struct as_str *out;
    struct as_remedy_result *result;
    AS_VEC(struct as_object_piece) pieces; /* of the section at hand */
    AS_VEC(struct as_object_range) ranges; /* its functions */
    AS_VEC(uint32_t) starts, ends;         /* its symbols, by value and by end */
};

/* Marks the functions that were asked for, and in all sections what refers to changed code. */
bool as_object_find_code(struct as_object_writer *writer, struct as_error *err) AS_MUST_CHECK;
/* Cuts a section into pieces; one without changed code has none. */
bool as_object_cut(struct as_object_writer *writer, uint32_t section, struct as_error *err) AS_MUST_CHECK;

void as_object_decode(const struct as_object_section *section, const struct as_object_piece *piece,
                      struct as_insn *insn);
/* The first relocation at or behind an offset. */
size_t as_object_reloc_from(const struct as_object_section *section, uint64_t offset);
bool as_object_has_reloc(const struct as_object_section *section, const struct as_object_piece *piece);

/* What an instruction without relocations refers to by a distance: a place of its section. */
bool as_object_refers(const struct as_insn *insn, uint64_t *target);
/* The place of changed code that a relocation refers to; false: something else, or the start of a symbol, which its
 * name says as well. `rest` comes on top. */
bool as_object_code_of(const struct as_object_writer *writer, uint32_t from, const struct as_object_reloc *reloc,
                       struct as_object_section **code, uint64_t *at, int64_t *rest);

#endif
