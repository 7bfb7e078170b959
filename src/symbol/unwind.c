/* Extents of functions from .eh_frame, and where calls lead if they throw. Compilers emit an entry for every function, and stripping keeps it, so even a
 * program without symbols can be counted by function. Entries in encodings that linked programs do not use
 * (relative to data or text, indirect) are skipped. */
#include "symbol/landing.h"
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

/* What the entries of a CIE have in common. */
struct common {
    uint8_t addresses; /* encoding of theirs; DW_EH_PE_omit where it cannot be told */
    uint8_t tables;    /* of where the table of landing pads is; DW_EH_PE_omit: there is none */
    bool sized;        /* the length of such data comes before them */
};

static struct common read_common(struct as_bytes cie)
{
    struct common common = {DW_EH_PE_absptr, DW_EH_PE_omit, false}, unknown = {DW_EH_PE_omit, DW_EH_PE_omit, false};
    uint8_t version = (uint8_t)as_bytes_number(&cie, 1);
    char augmentation[8] = "";
    size_t length = 0;
    while (length < sizeof augmentation - 1 && (augmentation[length] = (char)as_bytes_number(&cie, 1)) != '\0')
        length++;
    if (length == sizeof augmentation - 1 || (length > 0 && augmentation[0] != 'z'))
        return unknown;
    as_bytes_uleb(&cie); /* code alignment */
    as_bytes_uleb(&cie); /* data alignment */
    if (version == 1)
        as_bytes_number(&cie, 1);
    else
        as_bytes_uleb(&cie); /* return address register */
    if (length > 0)
        as_bytes_uleb(&cie); /* length of the augmentation */
    common.sized = length > 0;
    for (size_t i = 1; i < length; i++) {
        uint8_t byte = strchr("LPR", augmentation[i]) != NULL ? (uint8_t)as_bytes_number(&cie, 1) : 0;
        if (augmentation[i] == 'R')
            common.addresses = byte;
        else if (augmentation[i] == 'L')
            common.tables = byte;
        else if (augmentation[i] == 'P')
            as_bytes_number(&cie, encoded_size(byte));
    }
    return cie.bad ? unknown : common;
}

/* Whether a value is of a fixed size, and relative to nothing or to itself. */
static bool is_plain(uint8_t encoding)
{
    return encoding != DW_EH_PE_omit && (encoding & 0xe0) == 0 && (encoding & 0x07) != DW_EH_PE_uleb128;
}

/* A value that may be relative to its own place, `address`. */
static uint64_t take_address(struct as_bytes *cursor, uint8_t encoding, uint64_t address)
{
    return ((encoding & 0x70) == DW_EH_PE_pcrel ? address : 0) + take_encoded(cursor, encoding);
}

struct frame {
    uint64_t start, size; /* of its code */
    uint64_t table;       /* of landing pads; 0: none */
};

/* `address` is where the entry's first field is in the program. */
static bool read_frame(struct as_bytes fde, const struct common *common, uint64_t address, struct frame *frame)
{
    const uint8_t *begin = fde.at;
    *frame = (struct frame){0};
    if (!is_plain(common->addresses))
        return false;
    frame->start = take_address(&fde, common->addresses, address);
    frame->size = take_encoded(&fde, common->addresses & 0x07);
    if (frame->start == 0 || frame->size == 0 || fde.bad)
        return false;
    if (!common->sized || !is_plain(common->tables) || !as_bytes_uleb(&fde))
        return true;
    uint64_t place = address + (uint64_t)(fde.at - begin), table = take_encoded(&fde, common->tables);
    if (table && !fde.bad) /* 0: this one has none, whatever it would be relative to */
        frame->table = table + ((common->tables & 0x70) == DW_EH_PE_pcrel ? place : 0);
    return true;
}

typedef void frame_user(void *context, const struct frame *frame);

static void walk_frames(const struct as_elf *elf, frame_user *use, void *context)
{
    size_t size = 0;
    const struct as_elf_section *section = as_elf_section(elf, ".eh_frame");
    uint8_t *data = as_elf_read(elf, section, max_frames, &size);
    size_t last_cie = SIZE_MAX;
    struct common common = {DW_EH_PE_omit, DW_EH_PE_omit, false};
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
                common = as_inside(cie, 8, size) ? read_common(as_bytes(data + cie + 8, size - cie - 8, false))
                                                 : (struct common){DW_EH_PE_omit, DW_EH_PE_omit, false};
            last_cie = cie;
            struct frame frame;
            if (read_frame(entry, &common, section->address + (uint64_t)(entry.at - data), &frame))
                use(context, &frame);
        }
        at = (size_t)(entry.end - data);
    }
    free(data);
}

static void add_symbol(void *context, const struct frame *frame)
{
    struct as_symbol symbol = {.address = frame->start, .size = frame->size, .rank = AS_SYMBOL_UNWIND};
    as_symtab_add(context, &symbol);
}

void as_symtab_add_unwind(struct as_symtab *table, const struct as_elf *elf)
{
    walk_frames(elf, add_symbol, table);
}

/* ---- landing pads ---- */

struct tables {
    const uint8_t *data; /* of .gcc_except_table */
    size_t size;
    uint64_t address;
    as_landing_pads pads;
};

static uint64_t take_site(struct as_bytes *cursor, uint8_t encoding)
{
    return (encoding & 0x0f) == DW_EH_PE_uleb128 ? as_bytes_uleb(cursor) : take_encoded(cursor, encoding);
}

/* The table of one function: a head, then which calls lead where if they throw. */
static void read_table(void *context, const struct frame *frame)
{
    struct tables *tables = context;
    uint64_t offset = frame->table - tables->address;
    if (!frame->table || offset >= tables->size)
        return;
    struct as_bytes table = as_bytes(tables->data + offset, tables->size - offset, false);
    uint64_t start = frame->start;
    uint8_t encoding = as_bytes_u8(&table);
    if (encoding != DW_EH_PE_omit) {
        if (!is_plain(encoding))
            return;
        start = take_address(&table, encoding, frame->table + 1);
    }
    if (as_bytes_u8(&table) != DW_EH_PE_omit)
        as_bytes_uleb(&table); /* where the types are that are caught */
    encoding = as_bytes_u8(&table);
    uint64_t length = as_bytes_uleb(&table);
    if (table.bad || length > as_bytes_left(&table) || (encoding & 0x70) != 0)
        return;
    table.end = table.at + length;
    while (as_bytes_left(&table) && !table.bad) {
        uint64_t from = take_site(&table, encoding), size = take_site(&table, encoding),
                 pad = take_site(&table, encoding);
        as_bytes_uleb(&table); /* what is done there */
        if (pad && !table.bad)
            *as_vec_push(&tables->pads) =
                (struct as_landing_pad){frame->start + from, frame->start + from + size, start + pad};
    }
}

as_landing_pads as_landing_pads_of(const struct as_elf *elf)
{
    const struct as_elf_section *section = as_elf_section(elf, ".gcc_except_table");
    struct tables tables = {.address = section ? section->address : 0};
    uint8_t *data = section ? as_elf_read(elf, section, max_frames, &tables.size) : NULL;
    tables.data = data;
    if (data)
        walk_frames(elf, read_table, &tables);
    free(data);
    return tables.pads;
}
