/* Finds the DWARF of a module: in the file itself, or in a separate debug file named by build-id (ROOT/.build-
 * id/ab/cdef….debug) or by .gnu_debuglink (beside the file, in .debug beside it, in ROOT/its directory), or, if the roots
 * contain AS_DEBUG_SERVERS, from debuginfod servers. */
#ifndef AS_SYMBOL_DEBUGFILE_H
#define AS_SYMBOL_DEBUGFILE_H

#include "symbol/elffile.h"

/* Opens the separate debug file of `elf`, which was opened from `path`; NULL where there is none that belongs to it.
 * `roots` is a colon-separated list. The caller closes it. `found` gets its path (PATH_MAX bytes). */
struct as_elf *as_debug_file_open(const struct as_elf *elf, const char *path, const char *roots, char *found);

/* The file that holds what dwz moved out of `debug` (.gnu_debugaltlink), likewise. `path` is where `debug` was. */
struct as_elf *as_debug_file_open_alt(const struct as_elf *debug, const char *path, const char *roots);

#endif
