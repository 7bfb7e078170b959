/* Names for addresses: an address space is the set of modules (ELF files and anonymous code) that a process has mapped,
 * each at its load address, with their symbols and DWARF read lazily through elfutils.
 *
 * A space can gain mappings at any time (dlopen), and a later mapping replaces the ones that it covers (dlclose, then
 * dlopen of another file). Look-ups are not thread-safe; one thread owns a space. Files are untrusted: a damaged file
 * costs names, never the run.
 */
#ifndef AS_SYMBOL_SPACE_H
#define AS_SYMBOL_SPACE_H

#include "assay/insn.h"
#include "base/error.h"
#include "symbol/jitcode.h"
#include "symbol/member_split.h"

#include <stddef.h>
#include <stdint.h>

struct as_space;

struct as_space_options {
    const char *debug_path; /* colon-separated roots with separate debug files, before the default /usr/lib/debug */
    bool no_debug;          /* symbols only, no DWARF */
};

struct as_space *as_space_new(const struct as_space_options *options); /* NULL: defaults */
void as_space_free(struct as_space *space);

/* [start, end) is mapped from `path` at file offset `offset`. path NULL or "" is anonymous memory ("[anon]"); names in
 * brackets ("[vdso]") are kept as they are. Reading the file is left until it is needed. */
void as_space_map(struct as_space *space, uint64_t start, uint64_t end, uint64_t offset, const char *path);

/* Calls `found` for each mapping, by address. path: as as_space_map got it; "[anon]" for anonymous memory. */
typedef void as_space_found(void *context, uint64_t start, uint64_t end, uint64_t offset, const char *path);
void as_space_each(const struct as_space *space, as_space_found *found, void *context);

struct as_location {
    const char *module;       /* path, or "[anon]", or "[unknown]" where nothing is mapped */
    const char *module_name;  /* its last component */
    const char *function;     /* demangled, at most 4 KiB, without control characters; "puts@plt" for a stub, ".plt" for
                                 the rest of the table of stubs; NULL where no symbol covers the address */
    const char *raw_function; /* as in the symbol table; NULL likewise */
    uint64_t function_start;  /* run-time address; 0 where unknown. Known without a name where only the unwind tables
                                 tell the extent of a function: as_space_name(function_start) names it then */
    uint64_t function_size;   /* 0 where unknown */
    bool generated;         /* by a name that the program gave to code it had made: not for good (as_space_find_insn) */
    bool guessed;           /* … one of several that nothing tells apart */
    uint64_t module_offset; /* address minus the module's load bias: what objdump of the file shows */
};

/* Strings stay valid as long as the space. Always fills `location`. */
void as_space_find(struct as_space *space, uint64_t address, struct as_location *location);

/* Its function_start; the address itself where that is unknown. Quicker for addresses that come again. */
uint64_t as_space_entry(struct as_space *space, uint64_t address);

/* The same of an instruction, as far as somebody knows it: code that the program made may have been replaced by other code at
 * the same address. */
void as_space_find_insn(struct as_space *space, uint64_t address, const struct as_jit_insn *insn,
                        struct as_location *location);
/* Names for code in memory without a file, from the file that the program wrote for profilers. Ones that are there
 * already stay. */
void as_space_read_jit(struct as_space *space, const char *path, int64_t since);
bool as_space_has_anonymous(const struct as_space *space); /* whether there is such memory */
/* Whether an address is in memory that only the program can have filled with code. Reads no file. */
bool as_space_is_made(struct as_space *space, uint64_t address);

/* "main", or "libfoo.so+0x1234" (the module offset) where there is no symbol, "[anon]+0x7f…" and "[unknown]+0x7f…" (the
 * address) where there is no module: for people. */
const char *as_space_name(struct as_space *space, uint64_t address);

struct as_line {
    const char *file; /* NULL where unknown; as complete a path as the DWARF gives, "." and ".." left in */
    int line, column; /* line 0: code that the compiler made for no line; column 0: unknown */
};
bool as_space_line(struct as_space *space, uint64_t address, struct as_line *line); /* false: unknown */

/* The chain of inlined functions at an address, innermost first, ending with the real function (named as as_space_find
 * names it). `call` is where the frame was inlined (file and line in its caller; file NULL for the last). Returns how
 * many frames were written: without DWARF 1, without a symbol too 0. */
struct as_inline_frame {
    const char *function;
    struct as_line call;
};
size_t as_space_inline(struct as_space *space, uint64_t address, struct as_inline_frame *frames, size_t max);

/* The run-time address of a function by name: as in the symbol table (labels in assembly too), or demangled with or
 * without its parameters; "libm.so.6:sin" or "module:name" (name or path of the module) limits it to a module. Modules
 * are searched in the order of their first mapping. A function with several implementations (memcpy) resolves to what
 * chooses among them. The main of a stripped program is found by its entry (entry_main.h). 0 where no mapped module has
 * the name. */
uint64_t as_space_resolve(struct as_space *space, const char *name);
/* The run-time addresses of all C++ functions that a name without namespaces, classes and template arguments can mean
 * (base/cpp_name.h), in the modules of that name or path (NULL: all); "module:name" limits
 * it further. Returns how many were written. */
size_t as_space_resolve_short(struct as_space *space, const char *module, const char *name, uint64_t *addresses,
                              size_t max);

/* The variable that covers an address of data; of a section (".bss"), where no symbol does. Strings stay valid as long as
 * the space. False: no file's data lies there. */
struct as_variable {
    const char *name;                 /* demangled */
    const char *module, *module_name; /* path, and its last component */
    uint64_t start, size;             /* size 0: unknown */
    uint64_t module_offset;           /* of its start, as in as_location */
    bool is_object;                   /* false: a section */
};
bool as_space_variable(struct as_space *space, uint64_t address, struct as_variable *variable);
/* What of the variable lies there, by its type: "[3].hits", "" for the variable itself. The caller frees. NULL: unknown. */
char *as_space_member(struct as_space *space, uint64_t address);
/* Bytes of an element, where the variable is an array; 0: it is none, or has no type. */
uint64_t as_space_element(struct as_space *space, uint64_t address);
/* Whether the module of a variable has DWARF, about this one or about others. */
bool as_space_has_debug(struct as_space *space, uint64_t address);
/* Where the types of two places of one variable part (symbol/members.h). False: they are not of one, or it has no type. */
bool as_space_split(struct as_space *space, uint64_t one, uint64_t other, uint64_t line, struct as_member_split *split);

/* Hexadecimal build-id of the module mapped at an address, or NULL. */
const char *as_space_build_id(struct as_space *space, uint64_t address);

/* How the names were obtained, for honesty in reports: of the files in which an address was looked up (what is only
 * mapped does not count) how many there are, have named symbols, have DWARF (inside or in a separate file), could not
 * be read. `first_problem` is one line about the first thing that went wrong, or NULL. */
struct as_space_quality {
    size_t modules, with_symbols, with_debug, unreadable;
    const char *first_problem;
};
void as_space_quality(struct as_space *space, struct as_space_quality *quality);

#endif
