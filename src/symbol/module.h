/* One file that is mapped into a process. It is read when it is first needed and kept as long as the space. Addresses
 * here are those of the file; the space adds the load bias. */
#ifndef AS_SYMBOL_MODULE_H
#define AS_SYMBOL_MODULE_H

#include "symbol/debuginfo.h"
#include "symbol/symtab.h"

struct as_module {
    const char *path, *name;          /* name: its last component, or "[anon]" … */
    bool has_file;                    /* path can be opened */
    struct as_file_identity identity; /* when it was mapped */

    bool asked;          /* an address in it was looked up */
    uint32_t missing[2]; /* the last name that was sought in vain, as in the symbol table and demangled; 0: none */
    bool loaded, readable;
    uint16_t type; /* ET_* */
    AS_VEC(struct as_elf_segment) segments;
    struct as_symtab symbols;
    uint64_t start_main;        /* what `_start` calls as main, for programs without that symbol; 0: unknown */
    struct as_symtab variables; /* once asked for */
    bool variables_tried;
    char build_id[2 * AS_BUILD_ID_MAX + 1];
    const char *problem; /* one line, or NULL */

    bool has_debug, debug_tried;
    char *debug_path; /* the file with the DWARF: path itself or a separate one */
    struct as_file_identity debug_identity;
    struct as_debug *debug;
};

struct as_module_options {
    const char *roots; /* of separate debug files */
    bool no_debug;
    struct as_strings *strings; /* names go here */
};

void as_module_load(struct as_module *module, const struct as_module_options *options); /* once; later calls are free */
struct as_debug *as_module_debug(struct as_module *module, const struct as_module_options *options); /* NULL: none */
void as_module_forget_debug(struct as_module *module); /* as if it had never been asked for */
/* The variable that covers an address of the file, or the section where none does; NULL: neither. */
struct as_symbol *as_module_variable(struct as_module *module, const struct as_module_options *options,
                                     uint64_t address);
void as_module_free(struct as_module *module); /* what it holds, not itself */

/* The load bias of a mapping [start, end) of this file from `offset`: run-time address minus address in the file. Where
 * segments share a page of the file, several fit: `hint` (NULL: none) is the bias of a neighbour, preferred then. */
uint64_t as_module_bias(const struct as_module *module, uint64_t start, uint64_t end, uint64_t offset,
                        const uint64_t *hint);

/* The demangled name of one of its symbols, kept in `strings`. */
const char *as_module_symbol_name(struct as_symbol *symbol, struct as_strings *strings);

#endif
