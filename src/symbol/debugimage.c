/* Builds the image: ELF header, the sections with zeros between, names, section headers. */
#include "symbol/debugimage.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

static const uint64_t max_debug = (uint64_t)4 << 30; /* bytes of all sections together */

static const char *const names[AS_DEBUG_SECTIONS] = {
    [AS_DEBUG_INFO] = ".debug_info",         [AS_DEBUG_ABBREV] = ".debug_abbrev",
    [AS_DEBUG_LINE] = ".debug_line",         [AS_DEBUG_LINE_STR] = ".debug_line_str",
    [AS_DEBUG_STR] = ".debug_str",           [AS_DEBUG_STR_OFFSETS] = ".debug_str_offsets",
    [AS_DEBUG_ADDR] = ".debug_addr",         [AS_DEBUG_RANGES] = ".debug_ranges",
    [AS_DEBUG_RNGLISTS] = ".debug_rnglists", [AS_DEBUG_TYPES] = ".debug_types",
};

/* Room for each section: behind it at least AS_ELF_PAD zeros, and the next one aligned. */
static size_t padded(size_t size)
{
    return (size + AS_ELF_PAD + 15) & ~(size_t)15;
}

struct piece {
    uint8_t *data;
    size_t size;
};

static const struct as_elf_section *find_section(const struct as_elf *elf, const char *name)
{
    char packed[32];
    const struct as_elf_section *section = as_elf_section(elf, name);
    if (section != NULL)
        return section;
    snprintf(packed, sizeof packed, ".z%s", name + 1);
    return as_elf_section(elf, packed);
}

static bool read_pieces(const struct as_elf *elf, struct piece *pieces, struct as_error *err)
{
    uint64_t left = max_debug;
    for (size_t i = 0; i < AS_DEBUG_SECTIONS; i++) {
        const struct as_elf_section *section = find_section(elf, names[i]);
        pieces[i].data = as_elf_read(elf, section, left, &pieces[i].size);
        if (pieces[i].data == NULL && section != NULL && section->type != SHT_NOBITS && section->size > 0)
            return as_error_set(err, "%s is unreadable or too large", names[i]);
        left -= pieces[i].size;
    }
    if (pieces[AS_DEBUG_INFO].data == NULL || pieces[AS_DEBUG_ABBREV].data == NULL)
        return as_error_set(err, "no DWARF inside");
    return true;
}

/* Lays out the image and moves the pieces into it. */
static bool assemble(struct as_debug_image *image, struct piece *pieces, size_t *total, struct as_error *err)
{
    enum { COUNT = AS_DEBUG_SECTIONS + 2 }; /* the null section first, the names last */
    char text[512] = "";
    size_t text_size = 1, at = padded(sizeof(Elf64_Ehdr));
    Elf64_Shdr headers[COUNT] = {0};
    for (size_t i = 0; i < AS_DEBUG_SECTIONS; i++) {
        headers[i + 1] = (Elf64_Shdr){.sh_name = (uint32_t)text_size,
                                      .sh_type = pieces[i].data != NULL ? SHT_PROGBITS : SHT_NOBITS,
                                      .sh_offset = at,
                                      .sh_size = pieces[i].size,
                                      .sh_addralign = 1};
        text_size += (size_t)snprintf(text + text_size, sizeof text - text_size, "%s", names[i]) + 1;
        at += padded(pieces[i].size);
    }
    headers[COUNT - 1] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = at, .sh_size = text_size, .sh_addralign = 1};
    size_t table = at + padded(text_size);
    *total = table + sizeof headers + AS_ELF_PAD;
    image->bytes = calloc(*total, 1);
    if (image->bytes == NULL)
        return as_error_set(err, "not enough memory for its DWARF (%zu MiB)", *total >> 20);
    Elf64_Ehdr ehdr = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                       .e_type = ET_EXEC, /* nothing to relocate */
                       .e_machine = EM_X86_64,
                       .e_version = EV_CURRENT,
                       .e_shoff = table,
                       .e_ehsize = sizeof(Elf64_Ehdr),
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = COUNT,
                       .e_shstrndx = COUNT - 1};
    memcpy(image->bytes, &ehdr, sizeof ehdr);
    memcpy(image->bytes + at, text, text_size);
    memcpy(image->bytes + table, headers, sizeof headers);
    for (size_t i = 0; i < AS_DEBUG_SECTIONS; i++) {
        if (pieces[i].data == NULL)
            continue;
        image->sections[i].data = memcpy(image->bytes + headers[i + 1].sh_offset, pieces[i].data, pieces[i].size);
        image->sections[i].size = pieces[i].size;
        free(pieces[i].data); /* at once: the image's pages come into being as they are filled */
        pieces[i].data = NULL;
    }
    return true;
}

struct as_debug_image *as_debug_image_new(const struct as_elf *elf, struct as_error *err)
{
    struct piece pieces[AS_DEBUG_SECTIONS] = {0};
    struct as_debug_image *image = as_alloc(sizeof *image);
    size_t total;
    bool ok = read_pieces(elf, pieces, err) && assemble(image, pieces, &total, err);
    if (ok) {
        image->elf = elf_memory((char *)image->bytes, total);
        image->dwarf = image->elf != NULL ? dwarf_begin_elf(image->elf, DWARF_C_READ, NULL) : NULL;
        ok = image->dwarf != NULL || as_error_set(err, "%s", dwarf_errmsg(-1));
    }
    for (size_t i = 0; i < AS_DEBUG_SECTIONS; i++)
        free(pieces[i].data);
    if (ok)
        return image;
    as_debug_image_free(image);
    return NULL;
}

void as_debug_image_free(struct as_debug_image *image)
{
    if (image == NULL)
        return;
    dwarf_end(image->dwarf);
    elf_end(image->elf);
    free(image->bytes);
    free(image);
}
