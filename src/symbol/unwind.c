/* Extents of functions from .eh_frame. Compilers emit an entry for every function, and stripping keeps it, so even a
 * program without symbols can be counted by function. Only start and length are read; entries in encodings that linked
 * programs do not use (relative to data or text, indirect) are skipped. */
#include "symbol/symtab.h"

#include "base/bytes.h"

#include <dwarf.h>
#include <string.h>

static const uint64_t max_frames = (uint64_t)256 << 20;

static size_t encoded_size(uint8_t encoding)
{
    switch (encoding & 0x07) {
    case DW_EH_PE_udata2:
        return 2;
    case DW_EH_PE_udata4:
        return 4;
    default:
        return 8;
    }
}

/* A value in one of the fixed-size encodings; sign-extended where the encoding is signed. */
static uint64_t take_encoded(struct as_bytes *cursor, uint8_t encoding)
{
    size_t bytes = encoded_size(encoding);
    uint64_t value = as_bytes_number(cursor, bytes);
    if ((encoding & DW_EH_PE_signed) != 0 && bytes < 8) {
        uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
        value = (value ^ sign) - sign;
    }
    return value;
}

/* The encoding of addresses in the entries that use the CIE at `at`; DW_EH_PE_omit where it cannot be told. */
static uint8_t cie_encoding(struct as_bytes cie)
{
    uint8_t encoding = DW_EH_PE_absptr, version = (uint8_t)as_bytes_number(&cie, 1);
    char augmentation[8] = "";
    size_t length = 0;
    while (length < sizeof augmentation - 1 && (augmentation[length] = (char)as_bytes_number(&cie, 1)) != '\0')
        length++;
    if (length == sizeof augmentation - 1 || (length > 0 && augmentation[0] != 'z'))
        return DW_EH_PE_omit;
    as_bytes_uleb(&cie); /* code alignment */
    as_bytes_uleb(&cie); /* data alignment */
    if (version == 1)
        as_bytes_number(&cie, 1);
    else
        as_bytes_uleb(&cie); /* return address register */
    if (length > 0)
        as_bytes_uleb(&cie); /* length of the augmentation */
    for (size_t i = 1; i < length; i++) {
        uint8_t byte = strchr("LPR", augmentation[i]) != NULL ? (uint8_t)as_bytes_number(&cie, 1) : 0;
        if (augmentation[i] == 'R')
            encoding = byte;
        else if (augmentation[i] == 'P')
            as_bytes_number(&cie, encoded_size(byte));
    }
    return encoding;
}

/* `address` is where the entry's first field is in the program. */
static void add_entry(struct as_symtab *table, struct as_bytes fde, uint8_t encoding, uint64_t address)
{
    uint64_t base = (encoding & 0x70) == DW_EH_PE_pcrel ? address : 0;
    bool usable = encoding != DW_EH_PE_omit && (encoding & 0xe0) == 0 && (encoding & 0x07) != DW_EH_PE_uleb128;
    if (!usable)
        return;
    uint64_t start = base + take_encoded(&fde, encoding);
    uint64_t size = take_encoded(&fde, encoding & 0x07);
    struct as_symbol symbol = {.address = start, .size = size, .rank = AS_SYMBOL_UNWIND};
    if (start != 0 && size > 0)
        as_symtab_add(table, &symbol);
}

void as_symtab_add_unwind(struct as_symtab *table, const struct as_elf *elf)
{
    size_t size = 0;
    const struct as_elf_section *section = as_elf_section(elf, ".eh_frame");
    uint8_t *data = as_elf_read(elf, section, max_frames, &size);
    size_t last_cie = SIZE_MAX;
    uint8_t encoding = DW_EH_PE_omit;
    for (size_t at = 0; data != NULL && as_inside(at, 8, size);) {
        struct as_bytes entry = as_bytes(data + at, size - at, false);
        uint64_t length = as_bytes_u32(&entry);
        if (length == 0xffffffff)
            length = as_bytes_u64(&entry);
        if (length == 0 || entry.bad || length > as_bytes_left(&entry))
            break;
        entry.end = entry.at + length;
        size_t id_at = (size_t)(entry.at - data);
        uint64_t id = as_bytes_u32(&entry);
        if (id != 0 && id <= id_at) { /* an entry; the id leads back to its CIE */
            size_t cie = id_at - id;
            if (cie != last_cie)
                encoding = as_inside(cie, 8, size) ? cie_encoding(as_bytes(data + cie + 8, size - cie - 8, false))
                                                   : DW_EH_PE_omit;
            last_cie = cie;
            add_entry(table, entry, encoding, section->address + (uint64_t)(entry.at - data));
        }
        at = (size_t)(entry.end - data);
    }
    free(data);
}
