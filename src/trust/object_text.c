/* An object as assembly, with nops. See remedy.h.
 *
 * Sections that hold a function to change are cut into instructions; everything else stays bytes. An instruction stays
 * bytes too, with its relocations as .reloc, unless it refers to code by its distance: direct jumps become mnemonics with a
 * label, distances from rip expressions of one. So only what moves is said in other words, and the assembler does the moving.
 */
#include "trust/object_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 16 }; /* bytes a line */

/* ---- instructions ---- */

static void add_label(struct as_object_writer *writer, const struct as_object_section *section, uint64_t at)
{
    as_str_addf(writer->out, ".Lassay_%zu_%" PRIx64, (size_t)(section - writer->object->sections.data), at);
}

static void add_reloc(struct as_object_writer *writer, uint32_t from, const struct as_object_reloc *reloc,
                      uint64_t start)
{
    const struct as_object_symbol *symbol = &writer->object->symbols.data[reloc->symbol];
    struct as_object_section *code;
    uint64_t at;
    int64_t rest;
    as_str_addf(writer->out, "\t.reloc .+%" PRIu64 ", %s, ", reloc->offset - start, as_object_reloc_name(reloc->type));
    if (as_object_code_of(writer, from, reloc, &code, &at, &rest)) {
        add_label(writer, code, at);
        as_str_addf(writer->out, " + %" PRId64 "\n", rest);
    } else if (reloc->symbol == 0) {
        as_str_addf(writer->out, "%" PRId64 "\n", reloc->addend);
    } else {
        bool named = symbol->type != STT_SECTION;
        const char *name = named ? symbol->name : writer->object->sections.data[symbol->section].name;
        as_str_addf(writer->out, "\"%s\" + %" PRId64 "\n", name, reloc->addend);
    }
}

static void add_relocs(struct as_object_writer *writer, uint32_t index, uint64_t start, uint64_t length)
{
    const struct as_object_section *section = &writer->object->sections.data[index];
    for (size_t i = as_object_reloc_from(section, start); i < section->relocs.len; i++) {
        if (section->relocs.data[i].offset >= start + length)
            break;
        add_reloc(writer, index, &section->relocs.data[i], start);
    }
}

static void add_bytes(struct as_object_writer *writer, const struct as_object_section *section, uint64_t at,
                      uint64_t length)
{
    if (!section->data) {
        as_str_addf(writer->out, "\t.zero %" PRIu64 "\n", length);
        return;
    }
    for (uint64_t i = 0; i < length; i++)
        as_str_addf(writer->out, "%s%u", i ? "," : "\t.byte ", section->data[at + i]);
    as_str_add(writer->out, "\n");
}

/* A distance of four bytes, wherever it is in the instruction: the only place with these bytes. */
static bool add_distance(struct as_object_writer *writer, const struct as_object_section *section,
                         const struct as_object_piece *piece, uint64_t target, struct as_error *err)
{
    const uint8_t *bytes = section->data + piece->offset;
    uint32_t distance = (uint32_t)(target - piece->offset - piece->length), place = 0, found = 0;
    for (uint32_t i = 1; i + 4 <= piece->length; i++) {
        uint32_t value;
        memcpy(&value, bytes + i, 4);
        if (value == distance) {
            place = i;
            found++;
        }
    }
    if (found != 1)
        return as_error_set(err, "%s+0x%" PRIx64 " refers to code in a way that is not known here", section->name,
                            piece->offset);
    add_bytes(writer, section, piece->offset, place);
    as_str_add(writer->out, "\t.long ");
    add_label(writer, section, target);
    as_str_addf(writer->out, " - . - %u\n", piece->length - place);
    if (place + 4 < piece->length)
        add_bytes(writer, section, piece->offset + place + 4, piece->length - place - 4);
    return true;
}

static bool add_jump(struct as_object_writer *writer, const struct as_object_section *section,
                     const struct as_object_piece *piece, const struct as_insn *insn, uint64_t target,
                     struct as_error *err)
{
    const struct as_object_range *range = &writer->ranges.data[piece->function];
    char text[160];
    if (!range->changed && target >= range->begin && target < range->end) {
        add_bytes(writer, section, piece->offset, piece->length);
        return true;
    }
    char *space = strrchr(as_insn_text(insn, text, sizeof text), ' ');
    if (space)
        *space = '\0';
    const char *name = strrchr(text, ' ');
    name = name ? name + 1 : text;
    if (strncmp(name, "loop", 4) == 0 || strstr(name, "cxz") || strncmp(name, "xbegin", 6) == 0)
        return as_error_set(err, "%s+0x%" PRIx64 ": %s reaches 128 bytes only; give the assembly (cc -S)",
                            section->name, piece->offset, name);
    as_str_addf(writer->out, "\t%s ", text);
    add_label(writer, section, target);
    as_str_add(writer->out, "\n");
    return true;
}

static bool add_insn(struct as_object_writer *writer, uint32_t index, const struct as_object_piece *piece,
                     const struct as_insn *insn, struct as_error *err)
{
    const struct as_object_section *section = &writer->object->sections.data[index];
    uint64_t target;
    add_relocs(writer, index, piece->offset, piece->length);
    if (as_object_has_reloc(section, piece) || !as_object_refers(insn, &target)) {
        add_bytes(writer, section, piece->offset, piece->length);
        return true;
    }
    return as_insn_is_control(insn) && insn->target ? add_jump(writer, section, piece, insn, target, err)
                                                    : add_distance(writer, section, piece, target, err);
}

static bool is_event(const struct as_remedy_options *options, const struct as_insn *insn, uint64_t offset)
{
    if (options->n_places > 0)
        return as_remedy_is_place(options, offset);
    return options->event == AS_REMEDY_LOADS    ? (insn->flags & AS_INSN_LOAD) != 0
           : options->event == AS_REMEDY_STORES ? (insn->flags & AS_INSN_STORE) != 0
                                                : as_insn_is_control(insn);
}

/* Places of the code are counted from the function's start. */
static void show_insn(const struct as_insn *insn, uint64_t offset, char *text, size_t size)
{
    struct as_insn copy = *insn;
    copy.address = offset;
    as_insn_text(&copy, text, size);
}

static bool add_piece(struct as_object_writer *writer, uint32_t index, const struct as_object_piece *piece,
                      struct as_error *err)
{
    const struct as_object_section *section = &writer->object->sections.data[index];
    struct as_insn insn;
    char text[160], place[24];
    if (piece->function == UINT32_MAX) {
        add_relocs(writer, index, piece->offset, piece->length);
        add_bytes(writer, section, piece->offset, piece->length);
        return true;
    }
    const struct as_object_range *range = &writer->ranges.data[piece->function];
    as_object_decode(section, piece, &insn);
    if (range->changed) {
        uint64_t offset = piece->offset - range->begin;
        bool event = is_event(writer->options, &insn, offset);
        show_insn(&insn, offset, text, sizeof text);
        snprintf(place, sizeof place, "+0x%" PRIx64, offset);
        as_remedy_count(writer->options, writer->result, event, place, text);
        if (event && writer->options->nops)
            as_str_addf(writer->out, "\t.rept %u\n\tnop\n\t.endr\n", writer->options->nops);
        as_str_addf(writer->out, "# %s\n", text);
    }
    return add_insn(writer, index, piece, &insn, err);
}

/* ---- symbols ---- */

static const char *type_name(uint8_t type)
{
    return type == STT_FUNC        ? "function"
           : type == STT_OBJECT    ? "object"
           : type == STT_TLS       ? "tls_object"
           : type == STT_COMMON    ? "common"
           : type == STT_GNU_IFUNC ? "gnu_indirect_function"
                                   : "notype";
}

static bool is_named(const struct as_object_symbol *symbol)
{
    return symbol->type != STT_SECTION && symbol->type != STT_FILE && symbol->name[0];
}

static bool add_symbol(struct as_object_writer *writer, const struct as_object_symbol *symbol, struct as_error *err)
{
    static const char *const visibilities[] = {"", "internal", "hidden", "protected"};
    const char *name = symbol->name;
    if (symbol->type == STT_FILE)
        as_str_addf(writer->out, "\t.file \"%s\"\n", name);
    if (!is_named(symbol))
        return true;
    if (symbol->binding == STB_GLOBAL || symbol->binding == STB_WEAK)
        as_str_addf(writer->out, "\t.%s \"%s\"\n", symbol->binding == STB_WEAK ? "weak" : "globl", name);
    else if (symbol->binding != STB_LOCAL)
        return as_error_set(err, "symbol %s is of a kind that is not known here", name);
    if (symbol->section != SHN_UNDEF)
        as_str_addf(writer->out, "\t.type \"%s\", @%s\n", name, type_name(symbol->type));
    if (symbol->visibility)
        as_str_addf(writer->out, "\t.%s \"%s\"\n", visibilities[symbol->visibility & 3], name);
    if (symbol->section == SHN_ABS)
        as_str_addf(writer->out, "\t.set \"%s\", %" PRIu64 "\n", name, symbol->value);
    if (symbol->section == SHN_COMMON)
        as_str_addf(writer->out, "\t.comm \"%s\",%" PRIu64 ",%" PRIu64 "\n", name, symbol->size, symbol->value);
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Static functions of two files may have one name in an object of both. */
static bool check_names(const struct as_object *object, struct as_error *err)
{
    AS_VEC(const char *) names = {0};
    bool ok = true;
    for (size_t i = 0; i < object->symbols.len; i++)
        if (is_named(&object->symbols.data[i]))
            *as_vec_push(&names) = object->symbols.data[i].name;
    if (names.len)
        qsort(names.data, names.len, sizeof *names.data, by_text);
    for (size_t i = 1; ok && i < names.len; i++)
        if (strcmp(names.data[i - 1], names.data[i]) == 0)
            ok = as_error_set(err, "it has two symbols '%s'; give the assembly (cc -S)", names.data[i]);
    as_vec_free(&names);
    return ok;
}

static int by_value(const void *a, const void *b, void *symbols)
{
    const struct as_object_symbol *compared = symbols, *one = &compared[*(const uint32_t *)a],
                                  *two = &compared[*(const uint32_t *)b];
    return one->value < two->value ? -1 : one->value > two->value;
}

static int by_end(const void *a, const void *b, void *symbols)
{
    const struct as_object_symbol *compared = symbols, *one = &compared[*(const uint32_t *)a],
                                  *two = &compared[*(const uint32_t *)b];
    return one->value + one->size < two->value + two->size ? -1 : one->value + one->size > two->value + two->size;
}

static void sort_symbols(struct as_object_writer *writer, uint32_t section)
{
    as_vec_clear(&writer->starts);
    as_vec_clear(&writer->ends);
    for (uint32_t i = 0; i < writer->object->symbols.len; i++) {
        const struct as_object_symbol *symbol = &writer->object->symbols.data[i];
        if (symbol->section != section || !is_named(symbol))
            continue;
        *as_vec_push(&writer->starts) = i;
        if (symbol->size)
            *as_vec_push(&writer->ends) = i;
    }
    if (writer->starts.len)
        qsort_r(writer->starts.data, writer->starts.len, sizeof *writer->starts.data, by_value,
                writer->object->symbols.data);
    if (writer->ends.len)
        qsort_r(writer->ends.data, writer->ends.len, sizeof *writer->ends.data, by_end, writer->object->symbols.data);
}

/* ---- sections ---- */

static void add_header(struct as_object_writer *writer, const struct as_object_section *section)
{
    static const struct {
        uint64_t flag;
        char letter;
    } letters[] = {{SHF_ALLOC, 'a'},   {SHF_WRITE, 'w'}, {SHF_EXECINSTR, 'x'}, {SHF_MERGE, 'M'},
                   {SHF_STRINGS, 'S'}, {SHF_TLS, 'T'},   {SHF_EXCLUDE, 'e'}};
    const char *type = section->type == SHT_NOBITS          ? "nobits"
                       : section->type == SHT_NOTE          ? "note"
                       : section->type == SHT_INIT_ARRAY    ? "init_array"
                       : section->type == SHT_FINI_ARRAY    ? "fini_array"
                       : section->type == SHT_PREINIT_ARRAY ? "preinit_array"
                                                            : "progbits";
    as_str_addf(writer->out, "\t.section \"%s\",\"", section->name);
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (section->flags & letters[i].flag)
            as_str_add_bytes(writer->out, &letters[i].letter, 1);
    as_str_addf(writer->out, "%s\",@%s", section->group ? "G" : "", type);
    if (section->flags & SHF_MERGE)
        as_str_addf(writer->out, ",%" PRIu64, section->entry_size);
    if (section->group)
        as_str_addf(writer->out, ",\"%s\",comdat", section->group);
    as_str_add(writer->out, "\n");
}

/* What has been written of the section at hand. */
struct cursor {
    const struct as_object_section *section;
    size_t start, end, note;
};

static void add_notes(struct as_object_writer *writer, struct cursor *cursor, uint64_t at, bool ends)
{
    const struct as_object_section *section = cursor->section;
    for (; cursor->note < section->notes.len && section->notes.data[cursor->note].offset == at; cursor->note++) {
        if (ends && !section->notes.data[cursor->note].ends)
            return;
        as_str_add(writer->out, section->notes.data[cursor->note].text);
    }
}

/* Where functions began at multiples, they do again. */
static void add_alignment(struct as_object_writer *writer, const struct cursor *cursor, uint64_t at)
{
    const struct as_object_symbol *symbols = writer->object->symbols.data;
    const struct as_object_section *section = cursor->section;
    bool function = cursor->start < writer->starts.len && symbols[writer->starts.data[cursor->start]].value == at &&
                    symbols[writer->starts.data[cursor->start]].type == STT_FUNC;
    uint64_t align = at ? at & -at : section->align;
    if (section->changed && function && section->align > 1)
        as_str_addf(writer->out, "\t.balign %" PRIu64 "\n", align < section->align ? align : section->align);
}

/* Everything that stands before the byte at an offset. */
static void add_place(struct as_object_writer *writer, struct cursor *cursor, uint64_t at)
{
    const struct as_object_symbol *symbols = writer->object->symbols.data;
    const struct as_object_section *section = cursor->section;
    add_notes(writer, cursor, at, true);
    for (; cursor->end < writer->ends.len; cursor->end++) {
        const struct as_object_symbol *symbol = &symbols[writer->ends.data[cursor->end]];
        if (symbol->value + symbol->size != at)
            break;
        if (section->changed)
            as_str_addf(writer->out, "\t.size \"%s\", . - \"%s\"\n", symbol->name, symbol->name);
        else
            as_str_addf(writer->out, "\t.size \"%s\", %" PRIu64 "\n", symbol->name, symbol->size);
    }
    add_alignment(writer, cursor, at);
    for (; cursor->start < writer->starts.len; cursor->start++) {
        if (symbols[writer->starts.data[cursor->start]].value != at)
            break;
        as_str_addf(writer->out, "\"%s\":\n", symbols[writer->starts.data[cursor->start]].name);
    }
    if (section->changed && section->wanted[at]) {
        add_label(writer, section, at);
        as_str_add(writer->out, ":\n");
    }
    add_notes(writer, cursor, at, false);
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Up to where nothing stands between the bytes. */
static uint64_t plain_until(const struct as_object_writer *writer, const struct cursor *cursor, uint64_t at)
{
    const struct as_object_symbol *symbols = writer->object->symbols.data;
    const struct as_object_section *section = cursor->section;
    uint64_t end = section->data && section->size - at > CHUNK ? at + CHUNK : section->size;
    if (cursor->start < writer->starts.len)
        end = less(end, symbols[writer->starts.data[cursor->start]].value);
    if (cursor->end < writer->ends.len) {
        const struct as_object_symbol *symbol = &symbols[writer->ends.data[cursor->end]];
        end = less(end, symbol->value + symbol->size);
    }
    return cursor->note < section->notes.len ? less(end, section->notes.data[cursor->note].offset) : end;
}

static void add_plain(struct as_object_writer *writer, uint32_t index, struct cursor *cursor)
{
    const struct as_object_section *section = cursor->section;
    for (uint64_t at = 0; at < section->size;) {
        add_place(writer, cursor, at);
        uint64_t end = plain_until(writer, cursor, at);
        add_relocs(writer, index, at, end - at);
        add_bytes(writer, section, at, end - at);
        at = end;
    }
}

/* A symbol or a frame in the middle of an instruction would never be written. */
static bool check_written(const struct as_object_writer *writer, const struct cursor *cursor, struct as_error *err)
{
    if (cursor->start < writer->starts.len || cursor->end < writer->ends.len ||
        cursor->note < cursor->section->notes.len)
        return as_error_set(err, "a symbol or frame of %s points into the middle of an instruction",
                            cursor->section->name);
    return true;
}

static bool add_section(struct as_object_writer *writer, uint32_t index, struct as_error *err)
{
    const struct as_object_section *section = &writer->object->sections.data[index];
    struct cursor cursor = {.section = section};
    if (!as_object_cut(writer, index, err))
        return false;
    sort_symbols(writer, index);
    add_header(writer, section);
    if (section->align > 1)
        as_str_addf(writer->out, "\t.balign %" PRIu64 "\n", section->align);
    for (size_t i = 0; section->changed && i < writer->pieces.len; i++) {
        add_place(writer, &cursor, writer->pieces.data[i].offset);
        if (!add_piece(writer, index, &writer->pieces.data[i], err))
            return false;
    }
    if (!section->changed)
        add_plain(writer, index, &cursor);
    add_place(writer, &cursor, section->size);
    return check_written(writer, &cursor, err);
}

/* All sections are named first, so that their names mean sections wherever they are used. */
static bool write_object(struct as_object_writer *writer, struct as_error *err)
{
    const struct as_object *object = writer->object;
    for (size_t i = 0; i < object->sections.len; i++)
        if (object->sections.data[i].kept)
            add_header(writer, &object->sections.data[i]);
    for (size_t i = 0; i < object->symbols.len; i++)
        if (!add_symbol(writer, &object->symbols.data[i], err))
            return false;
    for (uint32_t i = 0; i < object->sections.len; i++)
        if (object->sections.data[i].kept && !add_section(writer, i, err))
            return false;
    return true;
}

bool as_remedy_apply_object(const struct as_remedy_options *options, const uint8_t *bytes, size_t size,
                            struct as_str *out, struct as_remedy_result *result, struct as_error *err)
{
    struct as_object object;
    struct as_object_writer writer = {.options = options, .object = &object, .out = out, .result = result};
    if (!as_object_read(&object, bytes, size, err))
        return false;
    bool ok = check_names(&object, err) && as_object_find_code(&writer, err) && write_object(&writer, err);
    result->debug_dropped = object.debug;
    as_object_free(&object);
    as_vec_free(&writer.pieces);
    as_vec_free(&writer.ranges);
    as_vec_free(&writer.starts);
    as_vec_free(&writer.ends);
    return ok;
}
