/* Frames of an object as directives of the assembler. Nops move the places at which .eh_frame says that the stack changed, so
 * the section is written anew: each frame is opened and closed by .cfi_startproc and .cfi_endproc, and what it says at a place
 * stands there byte by byte, in .cfi_escape. The assembler works out the distances. */
#include "base/bytes.h"
#include "trust/object_file.h"

#include <inttypes.h>

enum { RETURN_ADDRESS = 16, PC_RELATIVE = 0x1b };

/* What assemblers give every frame of x86-64: the CFA is rsp + 8, the return address lies at CFA - 8. */
static const uint8_t usual[] = {0x0c, 0x07, 0x08, 0x90, 0x01};

struct common {
    uint8_t personality_form, table_form;
    char *personality; /* NULL: none */
    bool augmented, signal;
};

struct frames {
    struct as_object *object;
    const struct as_object_section *section;
    uint32_t order;
};

static bool refuse(struct as_error *err)
{
    return as_error_set(err, "its .eh_frame has an unsupported format; give the assembly (cc -S)");
}

static const struct as_object_reloc *reloc_at(const struct frames *frames, const uint8_t *at)
{
    uint64_t offset = (uint64_t)(at - frames->section->data);
    for (size_t i = 0; i < frames->section->relocs.len; i++)
        if (frames->section->relocs.data[i].offset == offset)
            return &frames->section->relocs.data[i];
    return NULL;
}

/* What a pointer of four bytes refers to, as an expression. */
static char *pointer(const struct frames *frames, struct as_bytes *in)
{
    const struct as_object_reloc *reloc = reloc_at(frames, in->at);
    if (!as_bytes_take(in, 4) || !reloc || !as_object_reloc_relative(reloc->type))
        return NULL;
    const struct as_object_symbol *symbol = &frames->object->symbols.data[reloc->symbol];
    bool section = symbol->type == STT_SECTION;
    const char *name = section ? frames->object->sections.data[symbol->section].name : symbol->name;
    return as_format("\"%s\" + %" PRId64, name, reloc->addend);
}

static bool read_augmentation(const struct frames *frames, struct as_bytes *in, const char *letters,
                              struct common *common)
{
    uint64_t size = as_bytes_uleb(in);
    const uint8_t *start = in->at;
    for (letters++; *letters && !in->bad; letters++) {
        if (*letters == 'R') {
            in->bad |= as_bytes_u8(in) != PC_RELATIVE;
        } else if (*letters == 'S') {
            common->signal = true;
        } else if (*letters == 'L') {
            common->table_form = as_bytes_u8(in);
        } else if (*letters == 'P') {
            common->personality_form = as_bytes_u8(in);
            common->personality = pointer(frames, in);
            in->bad |= !common->personality;
        } else {
            in->bad = true;
        }
    }
    return !in->bad && (uint64_t)(in->at - start) == size;
}

/* Behind its identification. Only what assemblers write of themselves can be written again. */
static bool read_common(const struct frames *frames, struct as_bytes in, struct common *common)
{
    uint8_t version = as_bytes_u8(&in);
    const char *letters = (const char *)in.at;
    while (as_bytes_u8(&in))
        ;
    bool plain =
        version == 1 && as_bytes_uleb(&in) == 1 && as_bytes_sleb(&in) == -8 && as_bytes_u8(&in) == RETURN_ADDRESS;
    if (in.bad || !plain || letters[0] != 'z' || !read_augmentation(frames, &in, letters, common))
        return false;
    common->augmented = true;
    const uint8_t *first = as_bytes_take(&in, sizeof usual);
    if (!first || memcmp(first, usual, sizeof usual) != 0)
        return false;
    while (as_bytes_left(&in))
        if (as_bytes_u8(&in) != 0)
            return false;
    return true;
}

static void add_note(struct frames *frames, struct as_object_section *code, uint64_t offset, char *text)
{
    *as_vec_push(&code->notes) = (struct as_object_note){.offset = offset, .order = frames->order++, .text = text};
}

static void skip_block(struct as_bytes *in)
{
    as_bytes_take(in, as_bytes_uleb(in));
}

/* The operands of an operation that is not an advance. */
static void skip_operands(struct as_bytes *in, uint8_t op)
{
    static const uint8_t numbers[] = {
        [0x05] = 2, [0x06] = 1, [0x07] = 1, [0x08] = 1, [0x09] = 2, [0x0c] = 2, [0x0d] = 1,
        [0x0e] = 1, [0x11] = 2, [0x12] = 2, [0x13] = 1, [0x14] = 2, [0x15] = 2, [0x2e] = 1,
    };
    static const uint8_t blocks[] = {[0x0f] = 1, [0x10] = 2, [0x16] = 2};
    if ((op & 0xc0) == 0x80) {
        as_bytes_uleb(in);
    } else if ((op & 0xc0) == 0xc0 || op == 0 || op == 0x0a || op == 0x0b) {
        return;
    } else if (op < sizeof numbers && numbers[op]) {
        for (uint8_t i = 0; i < numbers[op]; i++)
            as_bytes_uleb(in); /* signed ones are as long */
    } else if (op < sizeof blocks && blocks[op]) {
        if (blocks[op] == 2)
            as_bytes_uleb(in);
        skip_block(in);
    } else {
        in->bad = true;
    }
}

static uint64_t advance(struct as_bytes *in, uint8_t op)
{
    return (op & 0xc0) == 0x40 ? op & 0x3f : as_bytes_number(in, op == 2 ? 1 : op == 3 ? 2 : 4);
}

static bool read_operations(struct frames *frames, struct as_bytes *in, struct as_object_section *code, uint64_t at,
                            uint64_t end)
{
    while (as_bytes_left(in) && !in->bad) {
        const uint8_t *start = in->at;
        uint8_t op = as_bytes_u8(in);
        if ((op & 0xc0) == 0x40 || (op >= 2 && op <= 4)) {
            at += advance(in, op);
            continue;
        }
        skip_operands(in, op);
        if (in->bad || at > end)
            return false;
        struct as_str text = {0};
        for (const uint8_t *byte = start; byte < in->at; byte++)
            as_str_addf(&text, "%s%u", byte == start ? "\t.cfi_escape " : ",", *byte);
        as_str_add(&text, "\n");
        if (op)
            add_note(frames, code, at, as_str_take(&text));
        as_str_free(&text);
    }
    return !in->bad;
}

static void open_frame(struct frames *frames, struct as_object_section *code, uint64_t begin,
                       const struct common *common, const char *table)
{
    struct as_str text = {0};
    as_str_add(&text, "\t.cfi_startproc\n");
    if (common->personality)
        as_str_addf(&text, "\t.cfi_personality %u, %s\n", common->personality_form, common->personality);
    if (table)
        as_str_addf(&text, "\t.cfi_lsda %u, %s\n", common->table_form, table);
    if (common->signal)
        as_str_add(&text, "\t.cfi_signal_frame\n");
    add_note(frames, code, begin, as_str_take(&text));
}

/* Functions with tables of exceptions cannot change: the tables hold distances. */
static void mark_functions(struct as_object *object, uint32_t section, uint64_t begin, uint64_t end)
{
    for (size_t i = 0; i < object->symbols.len; i++) {
        struct as_object_symbol *symbol = &object->symbols.data[i];
        if (symbol->section == section && symbol->value < end && begin < symbol->value + symbol->size)
            symbol->tables = true;
    }
}

static bool read_frame(struct frames *frames, struct as_bytes in, const struct common *common)
{
    const struct as_object_reloc *reloc = reloc_at(frames, in.at);
    char *table = NULL;
    as_bytes_u32(&in);
    uint64_t range = as_bytes_u32(&in), more = as_bytes_uleb(&in);
    if (!reloc || reloc->type != R_X86_64_PC32)
        return false;
    const struct as_object_symbol *symbol = &frames->object->symbols.data[reloc->symbol];
    uint64_t begin = symbol->value + (uint64_t)reloc->addend;
    if (symbol->section == 0 || symbol->section >= frames->object->sections.len)
        return false;
    struct as_object_section *code = &frames->object->sections.data[symbol->section];
    struct as_bytes extra = as_bytes(in.at, more <= as_bytes_left(&in) ? more : 0, false);
    as_bytes_take(&in, more);
    if (in.bad || !code->wanted || begin > code->size || range > code->size - begin)
        return false;
    if (more && reloc_at(frames, extra.at) && !(table = pointer(frames, &extra)))
        return false;
    if (table)
        mark_functions(frames->object, symbol->section, begin, begin + range);
    open_frame(frames, code, begin, common, table);
    free(table);
    bool ok = read_operations(frames, &in, code, begin, begin + range);
    add_note(frames, code, begin + range, as_strdup("\t.cfi_endproc\n"));
    code->notes.data[code->notes.len - 1].ends = true;
    return ok;
}

static int by_place(const void *a, const void *b)
{
    const struct as_object_note *one = a, *two = b;
    if (one->offset != two->offset)
        return one->offset < two->offset ? -1 : 1;
    if (one->ends != two->ends)
        return one->ends ? -1 : 1;
    return one->order < two->order ? -1 : one->order > two->order;
}

/* The common part lies `back` bytes before the place that says so. */
static bool read_entry(struct frames *frames, struct as_bytes entry)
{
    const uint8_t *place = entry.at;
    uint32_t back = as_bytes_u32(&entry);
    struct common common = {0};
    if (back == 0)
        return true;
    if (entry.bad || back > (uint64_t)(place - frames->section->data))
        return false;
    struct as_bytes at = as_bytes(place - back, back, false);
    struct as_bytes body = as_bytes(at.at, 0, false);
    uint32_t size = as_bytes_u32(&at);
    bool whole = as_bytes_u32(&at) == 0 && !at.bad && size >= 4 && size - 4 <= as_bytes_left(&at);
    if (whole)
        body = as_bytes(at.at, size - 4, false);
    bool ok = whole && read_common(frames, body, &common) && read_frame(frames, entry, &common);
    free(common.personality);
    return ok;
}

bool as_object_read_frames(struct as_object *object, struct as_error *err)
{
    struct frames frames = {.object = object};
    for (size_t i = 0; i < object->sections.len; i++)
        if (object->sections.data[i].data && strcmp(object->sections.data[i].name, ".eh_frame") == 0)
            frames.section = &object->sections.data[i];
    if (!frames.section)
        return true;
    struct as_bytes in = as_bytes(frames.section->data, frames.section->size, false);
    while (as_bytes_left(&in)) {
        uint32_t size = as_bytes_u32(&in);
        const uint8_t *entry = as_bytes_take(&in, size);
        if (size == 0 && !in.bad)
            continue;
        if (!entry || !read_entry(&frames, as_bytes(entry, size, false)))
            return refuse(err);
    }
    for (size_t i = 0; i < object->sections.len; i++)
        if (object->sections.data[i].notes.len)
            qsort(object->sections.data[i].notes.data, object->sections.data[i].notes.len,
                  sizeof *object->sections.data[i].notes.data, by_place);
    return true;
}
