/* A copy of a file's DWARF in memory that is safe to hand to libdw.
 *
 * libdw trusts its input in places: strings without an end, tables that end in the middle of an entry. So it never sees
 * the file. It gets an ELF image of our own that holds only the sections we use, unpacked, each followed by zeros: a
 * read past the end of a section meets zeros. Sections that make libdw open other files (.gnu_debugaltlink) are left
 * out. The image also makes us independent of the file, which may change or disappear.
 */
#ifndef AS_SYMBOL_DEBUGIMAGE_H
#define AS_SYMBOL_DEBUGIMAGE_H

#include "symbol/elffile.h"

#include <elfutils/libdw.h>

enum as_debug_section {
    AS_DEBUG_INFO,
    AS_DEBUG_ABBREV,
    AS_DEBUG_LINE,
    AS_DEBUG_LINE_STR,
    AS_DEBUG_STR,
    AS_DEBUG_STR_OFFSETS,
    AS_DEBUG_ADDR,
    AS_DEBUG_RANGES,
    AS_DEBUG_RNGLISTS,
    AS_DEBUG_TYPES,
    AS_DEBUG_SECTIONS
};

struct as_debug_image {
    uint8_t *bytes;
    struct {
        const uint8_t *data; /* NULL: none */
        size_t size;
    } sections[AS_DEBUG_SECTIONS];
    Elf *elf;
    Dwarf *dwarf;
};

/* NULL with a reason in err: too large, unreadable, not DWARF. */
struct as_debug_image *as_debug_image_new(const struct as_elf *elf, struct as_error *err) AS_MUST_CHECK;
void as_debug_image_free(struct as_debug_image *image);

#endif
