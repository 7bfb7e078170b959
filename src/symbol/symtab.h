/* The functions of one module by address, in the addresses of the file: from .symtab and .dynsym (of the file and of
 * its debug file), PLT stubs, and, for code without a symbol, the extents in the unwind tables.
 *
 * Priority at an address: a symbol of type "function" with a size; one without a size (it extends to the next function,
 * global label, unwind entry or the end of the section); a global label; a local label; an unwind entry without a name.
 * Inside one class the innermost wins. Of several names for the same range: not local, fewest leading underscores,
 * global before weak, shorter, first in the alphabet.
 */
#ifndef AS_SYMBOL_SYMTAB_H
#define AS_SYMBOL_SYMTAB_H

#include "symbol/elffile.h"
#include "symbol/interval.h"

enum as_symbol_rank {
    AS_SYMBOL_SIZED,
    AS_SYMBOL_UNSIZED,
    AS_SYMBOL_GLOBAL_LABEL,
    AS_SYMBOL_LOCAL_LABEL,
    AS_SYMBOL_UNWIND, /* no name */
    AS_SYMBOL_RANKS
};

struct as_symbol {
    uint64_t address, size;
    const char *raw;  /* as in the table; NULL for AS_SYMBOL_UNWIND */
    const char *name; /* demangled, once somebody asked; kept by the owner of the table */
    uint8_t rank;     /* enum as_symbol_rank */
    uint8_t binding;  /* STB_* */
};

struct as_symtab {
    bool data;                        /* of variables: as_symtab_set_data */
    AS_VEC(struct as_symbol) symbols; /* sorted by address once finished */
    AS_VEC(void *) buffers;           /* string tables that `raw` points into */
    AS_VEC(struct as_address_range)
    code; /* executable sections and segments (data: the others): where symbols can be; id
             indexes it */
    struct as_interval_index code_index, index;
    size_t named;
};

/* Where code is in the module: call once, before anything is added. */
void as_symtab_set_code(struct as_symtab *table, const struct as_elf *elf);
bool as_symtab_is_code(const struct as_symtab *table, uint64_t address);

/* Instead: the table is of variables. What as_symtab_add_symbols adds are data objects then, and what none of them
 * covers has the name of its section (".rodata"). Thread-local variables have no address of their own. */
void as_symtab_set_data(struct as_symtab *table, const struct as_elf *elf);

/* Adds what a file holds. A separate debug file counts addresses like the file that it belongs to. */
void as_symtab_add_symbols(struct as_symtab *table, const struct as_elf *elf);
void as_symtab_add_plt(struct as_symtab *table, const struct as_elf *elf);
void as_symtab_add_unwind(struct as_symtab *table, const struct as_elf *elf);

void as_symtab_add(struct as_symtab *table, const struct as_symbol *symbol); /* one by one: for the three above */
void as_symtab_keep(struct as_symtab *table, void *buffer);                  /* freed with the table */

int as_symbol_compare_names(const struct as_symbol *a, const struct as_symbol *b); /* negative: a's is better */

void as_symtab_finish(struct as_symtab *table); /* sorts and indexes; add nothing afterwards */
struct as_symbol *as_symtab_find(const struct as_symtab *table, uint64_t address); /* NULL: nothing covers it */
void as_symtab_free(struct as_symtab *table);

#endif
