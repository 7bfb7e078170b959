/* The line table of one compilation unit: the source line of each address. We read it ourselves, because libdw joins
 * every directory with every file name up front, without a bound, and ends the process when memory runs out; a few
 * hundred bytes of a corrupt table are enough. DWARF 2 to 5. */
#ifndef AS_SYMBOL_LINETABLE_H
#define AS_SYMBOL_LINETABLE_H

#include "base/map.h"
#include "symbol/debugimage.h"

/* One run of addresses with the same place. */
struct as_line_run {
    uint64_t start;
    uint32_t length;
    uint32_t file; /* as in the table; see as_line_table_file */
    uint32_t line;
    uint16_t column;        /* 0 where unknown or too large */
    uint32_t discriminator; /* which of several blocks of the line; 0 where there is none */
};

struct as_line_file {
    const char *name, *path; /* path: the whole one, once somebody asked */
    uint32_t dir;
};

struct as_line_table {
    AS_VEC(struct as_line_run) runs; /* by ascending start */
    AS_VEC(struct as_line_file) files;
    AS_VEC(const char *) dirs;
    const char *compilation_dir;
    unsigned version;
};

/* Reads the table at `offset` of .debug_line. `is_code` filters sequences of functions that the linker dropped. False:
 * there is none or it is corrupt; what was read before the damage is kept. The strings point into the image. */
struct as_symtab;
bool as_line_table_read(struct as_line_table *table, const struct as_debug_image *image, uint64_t offset,
                        const char *compilation_dir, const struct as_symtab *code);
void as_line_table_free(struct as_line_table *table);

const struct as_line_run *as_line_table_find(const struct as_line_table *table, uint64_t address); /* or NULL */

/* The path of a file by its number in the table (as in DW_AT_call_file), kept in `strings`; NULL where there is none.
 */
const char *as_line_table_file(struct as_line_table *table, uint64_t file, struct as_strings *strings);

/* How many bytes the unit at `offset` takes, for budgets; 0 where it is corrupt. */
uint64_t as_line_table_size(const struct as_debug_image *image, uint64_t offset);

#endif
