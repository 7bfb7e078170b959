/* Where `main` is in a program whose symbols were stripped: what `_start` of the C library gives to __libc_start_main. */
#ifndef AS_SYMBOL_ENTRY_MAIN_H
#define AS_SYMBOL_ENTRY_MAIN_H

#include "symbol/elffile.h"

/* Its address in the file; 0: unknown, as of all but x86-64 programs. */
uint64_t as_elf_main(const struct as_elf *elf);
/* The same for the code at `entry`. */
uint64_t as_main_of_start(const uint8_t *code, size_t n, uint64_t entry);

#endif
