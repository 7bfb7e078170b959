/* An ELF file as the symbol reader sees it: segments and sections with every length checked against the file, and a way
 * to read a section into our own memory.
 *
 * Only 64-bit little-endian files (both architectures that we run). The file is never mapped: it may be truncated or
 * replaced at any time, and a mapping would then kill the process. libelf walks the section headers after our checks of
 * its input; it also unpacks compressed sections.
 */
#ifndef AS_SYMBOL_ELFFILE_H
#define AS_SYMBOL_ELFFILE_H

#include "base/error.h"
#include "base/vec.h"

#include <gelf.h>
#include <stdint.h>
#include <sys/stat.h>

enum { AS_ELF_PAD = 64 }; /* zero bytes behind whatever as_elf_read returns */

/* Identifies the bytes of a file: shows whether a path still leads to the same ones. */
struct as_file_identity {
    bool known;
    uint64_t device, inode, size;
    int64_t seconds, nanoseconds; /* of the last modification */
};
struct as_file_identity as_file_identity_of(const char *path); /* .known false where it cannot be looked at */
bool as_file_identity_same(const struct as_file_identity *a, const struct as_file_identity *b);

struct as_elf_segment {
    uint64_t offset, address, file_size, memory_size;
    bool executable;
};

struct as_elf_section {
    const char *name;
    uint32_t index, type, link;
    uint64_t flags, address, offset, size, entry_size;
};

struct as_elf {
    int fd;
    Elf *elf;
    uint64_t size;
    uint16_t machine, type;
    struct as_file_identity identity;
    AS_VEC(struct as_elf_segment) segments; /* PT_LOAD, in file order */
    AS_VEC(struct as_elf_section) sections;
};

/* NULL with one line in err: not there, not readable, not a regular file, not ELF, of another kind, corrupt. */
struct as_elf *as_elf_open(const char *path, struct as_error *err) AS_MUST_CHECK;
void as_elf_close(struct as_elf *elf);

const struct as_elf_section *as_elf_section(const struct as_elf *elf, const char *name); /* the first, or NULL */
bool as_elf_has_debug(const struct as_elf *elf);                                         /* carries DWARF itself */

/* The section's bytes, unpacked where it is compressed, with AS_ELF_PAD zeros behind them; the caller frees. NULL where
 * it has none in the file, is larger than `limit` or cannot be read. */
uint8_t *as_elf_read(const struct as_elf *elf, const struct as_elf_section *section, uint64_t limit, size_t *size);

enum { AS_BUILD_ID_MAX = 64 };
struct as_build_id {
    size_t len; /* 0: none */
    uint8_t bytes[AS_BUILD_ID_MAX];
};
void as_elf_build_id(const struct as_elf *elf, struct as_build_id *id);

/* Whether [offset, offset + length) lies inside a whole of `size`. */
static inline bool as_inside(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}

#endif
