/* Extents of functions from .eh_frame. Compilers emit an entry for every function, and stripping keeps it, so even a
 * program without symbols can be counted by function. Only start and length are read; entries in encodings that linked
 * programs do not use (relative to data or text, indirect) are skipped. */
#include "symbol/symtab.h"

#include <dwarf.h>
#include <string.h>

static const uint64_t max_frames = (uint64_t)256 << 20;

/* A place in the section; past the end it stays at the end and gives zeros. */
struct cursor {
    const uint8_t *data;
    size_t at, end;
};

static uint64_t take(struct cursor *cursor, size_t bytes)
{
    uint64_t value = 0;
    if (!as_inside(cursor->at, bytes, cursor->end)) {
        cursor->at = cursor->end;
        return 0;
    }
    memcpy(&value, cursor->data + cursor->at, bytes);
    cursor->at += bytes;
    return value;
}

static void skip_leb(struct cursor *cursor)
{
    for (int i = 0; i < 10 && (take(cursor, 1) & 0x80) != 0; i++)
        continue;
}

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

/* A value in one of the fixed-size encodings; sign-extended where the encoding says so. */
static uint64_t take_encoded(struct cursor *cursor, uint8_t encoding)
{
    size_t bytes = encoded_size(encoding);
    uint64_t value = take(cursor, bytes);
    if ((encoding & DW_EH_PE_signed) != 0 && bytes < 8) {
        uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
        value = (value ^ sign) - sign;
    }
    return value;
}

/* The encoding of addresses in the entries that use the CIE at `at`; DW_EH_PE_omit where it cannot be told. */
static uint8_t cie_encoding(struct cursor cie)
{
    uint8_t encoding = DW_EH_PE_absptr, version = (uint8_t)take(&cie, 1);
    char augmentation[8] = "";
    size_t length = 0;
    while (length < sizeof augmentation - 1 && (augmentation[length] = (char)take(&cie, 1)) != '\0')
        length++;
    if (length == sizeof augmentation - 1 || (length > 0 && augmentation[0] != 'z'))
        return DW_EH_PE_omit;
    skip_leb(&cie); /* code alignment */
    skip_leb(&cie); /* data alignment */
    if (version == 1)
        take(&cie, 1);
    else
        skip_leb(&cie); /* return address register */
    if (length > 0)
        skip_leb(&cie); /* length of the augmentation */
    for (size_t i = 1; i < length; i++) {
        uint8_t byte = strchr("LPR", augmentation[i]) != NULL ? (uint8_t)take(&cie, 1) : 0;
        if (augmentation[i] == 'R')
            encoding = byte;
        else if (augmentation[i] == 'P')
            take(&cie, encoded_size(byte));
    }
    return encoding;
}

static void add_entry(struct as_symtab *table, struct cursor fde, uint8_t encoding, uint64_t section_address)
{
    uint64_t base = (encoding & 0x70) == DW_EH_PE_pcrel ? section_address + fde.at : 0;
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
        struct cursor cursor = {.data = data, .at = at, .end = size};
        uint64_t length = take(&cursor, 4);
        if (length == 0xffffffff)
            length = take(&cursor, 8);
        if (length == 0 || !as_inside(cursor.at, length, size))
            break;
        cursor.end = cursor.at + length;
        size_t id_at = cursor.at;
        uint64_t id = take(&cursor, 4);
        if (id != 0 && id <= id_at) { /* an entry; the id leads back to its CIE */
            size_t cie = id_at - id;
            if (cie != last_cie)
                encoding = cie_encoding((struct cursor){.data = data, .at = cie + 8, .end = size});
            last_cie = cie;
            add_entry(table, cursor, encoding, section->address);
        }
        at = cursor.end;
    }
    free(data);
}
