/* A relocatable ELF object of x86-64 as the remedy needs it: its sections, symbols and relocations, checked, pointing
 * into the bytes of the file, which must stay. */
#ifndef AS_TRUST_OBJECT_FILE_H
#define AS_TRUST_OBJECT_FILE_H

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

struct as_object_reloc {
    uint64_t offset;
    uint32_t type, symbol;
    int64_t addend;
};

/* Directives of frames that belong before the byte at `offset`. */
struct as_object_note {
    uint64_t offset;
    uint32_t order;
    bool ends; /* the frame; before all others of its place */
    char *text;
};

struct as_object_section {
    const char *name;
    const uint8_t *data; /* NULL where it has none in the file */
    uint64_t size, flags, align, entry_size;
    uint32_t type;
    const char *group;                     /* the signature of its COMDAT group; NULL: none */
    AS_VEC(struct as_object_reloc) relocs; /* by offset */
    AS_VEC(struct as_object_note) notes;   /* by offset */
    bool *wanted;                          /* size + 1, of code: something points there */
    bool kept;                             /* written out */
    bool changed;                          /* holds a function that gets nops */
};

struct as_object_symbol {
    const char *name;
    uint64_t value, size;
    uint32_t section; /* or SHN_UNDEF, SHN_ABS, SHN_COMMON */
    uint8_t type, binding, visibility;
    bool tables; /* a function with a table of exceptions */
};

struct as_object {
    AS_VEC(struct as_object_section) sections;
    AS_VEC(struct as_object_symbol) symbols;
    bool debug; /* has sections of debug information */
};

bool as_object_is_elf(const char *bytes, size_t size);
bool as_object_is_x86(const char *bytes, size_t size); /* x86-64, by its header */

/* `bytes` must stay until as_object_free. */
bool as_object_read(struct as_object *object, const uint8_t *bytes, size_t size, struct as_error *err) AS_MUST_CHECK;
void as_object_free(struct as_object *object);

/* The name of a relocation as assemblers know it; NULL: not known here. */
const char *as_object_reloc_name(uint32_t type);
/* Whether it is the distance from its own place. */
bool as_object_reloc_relative(uint32_t type);

/* The frames of .eh_frame become notes with the assembler's directives. */
bool as_object_read_frames(struct as_object *object, struct as_error *err) AS_MUST_CHECK;

#endif
