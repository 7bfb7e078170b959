/* See object_code.h.
 *
 * Who refers to changed code is found in the relocations of all sections, and in the instructions of changed sections. A distance
 * in a table of jumps is counted from the table's start, which is taken to be the last place before it that code refers
 * to. What would then point between two instructions is refused.
 */
#include "trust/object_code.h"

#include "base/search.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BASE (UINT64_C(1) << 32) /* where instructions are decoded, so that no target is 0 */

/* ---- functions ---- */

static bool is_function(const struct as_object *object, const struct as_object_symbol *symbol)
{
    return symbol->type == STT_FUNC && symbol->section && symbol->section < object->sections.len &&
           object->sections.data[symbol->section].wanted;
}

static bool is_asked_for(const struct as_remedy_options *options, const struct as_object_symbol *symbol)
{
    return !options->function || strcmp(options->function, symbol->name) == 0;
}

static bool choose(struct as_object_writer *writer, struct as_error *err)
{
    for (size_t i = 0; i < writer->object->symbols.len; i++) {
        const struct as_object_symbol *symbol = &writer->object->symbols.data[i];
        if (!is_function(writer->object, symbol) || !is_asked_for(writer->options, symbol))
            continue;
        if (symbol->size == 0)
            return as_error_set(err, "function '%s' has no size", symbol->name);
        if (symbol->tables)
            return as_error_set(err, "function '%s' has a table of exceptions; give the assembly (cc -S)",
                                symbol->name);
        writer->object->sections.data[symbol->section].changed = true;
        writer->result->functions++;
    }
    if (writer->result->functions == 0)
        return as_remedy_no_function(writer->options, err);
    return true;
}

static int by_begin(const void *a, const void *b)
{
    const struct as_object_range *one = a, *two = b;
    return one->begin < two->begin ? -1 : one->begin > two->begin;
}

/* Functions of a section as ranges that do not overlap; aliases are one. */
static bool find_ranges(struct as_object_writer *writer, uint32_t section, struct as_error *err)
{
    as_vec_clear(&writer->ranges);
    for (size_t i = 0; i < writer->object->symbols.len; i++) {
        const struct as_object_symbol *symbol = &writer->object->symbols.data[i];
        if (symbol->section == section && symbol->size && is_function(writer->object, symbol))
            *as_vec_push(&writer->ranges) = (struct as_object_range){symbol->value, symbol->value + symbol->size,
                                                                     is_asked_for(writer->options, symbol)};
    }
    if (writer->ranges.len)
        qsort(writer->ranges.data, writer->ranges.len, sizeof *writer->ranges.data, by_begin);
    size_t kept = 0;
    for (size_t i = 0; i < writer->ranges.len; i++) {
        struct as_object_range next = writer->ranges.data[i], *last = kept ? &writer->ranges.data[kept - 1] : NULL;
        if (last && next.begin == last->begin && next.end == last->end)
            last->changed |= next.changed;
        else if (last && next.begin < last->end)
            return as_error_set(err, "two of its functions overlap; give the assembly (cc -S)");
        else
            writer->ranges.data[kept++] = next;
    }
    writer->ranges.len = kept;
    return true;
}

/* ---- instructions ---- */

void as_object_decode(const struct as_object_section *section, const struct as_object_piece *piece,
                      struct as_insn *insn)
{
    as_insn_decode(AS_ARCH_X86_64, BASE + piece->offset, section->data + piece->offset, piece->length, insn);
}

static bool cut_section(struct as_object_writer *writer, const struct as_object_section *section, struct as_error *err)
{
    uint64_t at = 0;
    uint32_t range = 0;
    as_vec_clear(&writer->pieces);
    while (at < section->size) {
        while (range < writer->ranges.len && writer->ranges.data[range].end <= at)
            range++;
        const struct as_object_range *function = range < writer->ranges.len ? &writer->ranges.data[range] : NULL;
        if (!function || at < function->begin) {
            *as_vec_push(&writer->pieces) = (struct as_object_piece){at++, 1, UINT32_MAX};
            continue;
        }
        struct as_insn insn;
        bool known = as_insn_decode(AS_ARCH_X86_64, BASE + at, section->data + at, function->end - at, &insn);
        if (!known && function->changed)
            return as_error_set(err, "%s+0x%" PRIx64 " is not an instruction that is known here", section->name, at);
        *as_vec_push(&writer->pieces) = (struct as_object_piece){at, insn.length, range};
        at += insn.length;
    }
    return true;
}

static const struct as_object_piece *piece_at(const struct as_object_writer *writer, uint64_t offset)
{
    size_t at =
        as_search(0, writer->pieces.len, i, writer->pieces.data[i].offset + writer->pieces.data[i].length <= offset);
    return at < writer->pieces.len ? &writer->pieces.data[at] : NULL;
}

size_t as_object_reloc_from(const struct as_object_section *section, uint64_t offset)
{
    return as_search(0, section->relocs.len, i, section->relocs.data[i].offset < offset);
}

bool as_object_has_reloc(const struct as_object_section *section, const struct as_object_piece *piece)
{
    size_t i = as_object_reloc_from(section, piece->offset);
    return i < section->relocs.len && section->relocs.data[i].offset < piece->offset + piece->length;
}

bool as_object_refers(const struct as_insn *insn, uint64_t *target)
{
    char text[160];
    if (insn->class_ == AS_CLASS_BRANCH || insn->class_ == AS_CLASS_JUMP || insn->class_ == AS_CLASS_CALL) {
        *target = insn->target - BASE;
        return true;
    }
    const char *memory = strstr(as_insn_text(insn, text, sizeof text), "[0x");
    if (!memory || strchr(text, ':')) /* fs:[0x28] is a place of no section */
        return false;
    *target = strtoull(memory + 1, NULL, 16) - BASE;
    return *target <= UINT32_MAX;
}

/* ---- who refers to changed code ---- */

/* Where a table begins: the last place before `offset` that code refers to. */
static uint64_t table_start(const struct as_object *object, uint32_t section, uint64_t offset)
{
    uint64_t start = offset;
    bool found = false;
    for (size_t s = 0; s < object->sections.len; s++) {
        const struct as_object_section *code = &object->sections.data[s];
        for (size_t r = 0; code->wanted && r < code->relocs.len; r++) {
            const struct as_object_reloc *reloc = &code->relocs.data[r];
            const struct as_object_symbol *symbol = &object->symbols.data[reloc->symbol];
            uint64_t at = symbol->value + (uint64_t)reloc->addend + (as_object_reloc_relative(reloc->type) ? 4 : 0);
            if (symbol->section == section && at <= offset && (!found || at > start)) {
                start = at;
                found = true;
            }
        }
    }
    return start;
}

/* How far behind a distance's own place that place lies from which it counts. */
static int64_t distance_base(const struct as_object_writer *writer, uint32_t from, const struct as_object_reloc *reloc)
{
    const struct as_object_section *section = &writer->object->sections.data[from];
    if (!as_object_reloc_relative(reloc->type))
        return 0;
    if (!section->wanted)
        return (int64_t)(table_start(writer->object, from, reloc->offset) - reloc->offset);
    const struct as_object_piece *piece = section->changed ? piece_at(writer, reloc->offset) : NULL;
    return piece && piece->function != UINT32_MAX ? (int64_t)(piece->offset + piece->length - reloc->offset) : 4;
}

bool as_object_code_of(const struct as_object_writer *writer, uint32_t from, const struct as_object_reloc *reloc,
                       struct as_object_section **code, uint64_t *at, int64_t *rest)
{
    const struct as_object_symbol *symbol = &writer->object->symbols.data[reloc->symbol];
    if (symbol->section == 0 || symbol->section >= writer->object->sections.len ||
        !writer->object->sections.data[symbol->section].changed)
        return false;
    int64_t base = distance_base(writer, from, reloc);
    *code = &writer->object->sections.data[symbol->section];
    *at = symbol->value + (uint64_t)(reloc->addend + base);
    *rest = -base;
    return symbol->type == STT_SECTION || *at != symbol->value;
}

static bool want(struct as_object_section *code, uint64_t at, struct as_error *err)
{
    if (at > code->size)
        return as_error_set(err, "something refers to a place outside of %s; give the assembly (cc -S)", code->name);
    code->wanted[at] = true;
    return true;
}

bool as_object_cut(struct as_object_writer *writer, uint32_t section, struct as_error *err)
{
    as_vec_clear(&writer->pieces);
    if (!writer->object->sections.data[section].changed)
        return true;
    return find_ranges(writer, section, err) && cut_section(writer, &writer->object->sections.data[section], err);
}

static bool collect_jumps(struct as_object_writer *writer, struct as_object_section *section, struct as_error *err)
{
    for (size_t i = 0; i < writer->pieces.len; i++) {
        struct as_insn insn;
        uint64_t target;
        const struct as_object_piece *piece = &writer->pieces.data[i];
        if (piece->function == UINT32_MAX || as_object_has_reloc(section, piece))
            continue;
        as_object_decode(section, piece, &insn);
        if (as_object_refers(&insn, &target) && !want(section, target, err))
            return false;
    }
    return true;
}

static bool collect(struct as_object_writer *writer, uint32_t index, struct as_error *err)
{
    struct as_object_section *section = &writer->object->sections.data[index], *code;
    uint64_t at;
    int64_t rest;
    if (!as_object_cut(writer, index, err))
        return false;
    for (size_t i = 0; i < section->relocs.len; i++)
        if (as_object_code_of(writer, index, &section->relocs.data[i], &code, &at, &rest) && !want(code, at, err))
            return false;
    return !section->changed || collect_jumps(writer, section, err);
}

/* Labels stand before instructions only. */
static bool check_wanted(struct as_object_writer *writer, uint32_t index, struct as_error *err)
{
    const struct as_object_section *section = &writer->object->sections.data[index];
    for (uint64_t at = 0; at < section->size; at++) {
        const struct as_object_piece *piece = section->wanted[at] ? piece_at(writer, at) : NULL;
        if (piece && piece->offset != at)
            return as_error_set(err,
                                "something refers to %s+0x%" PRIx64
                                ", which is in the middle of an instruction; give the assembly (cc -S)",
                                section->name, at);
    }
    return true;
}

bool as_object_find_code(struct as_object_writer *writer, struct as_error *err)
{
    if (!choose(writer, err))
        return false;
    for (uint32_t i = 0; i < writer->object->sections.len; i++)
        if (writer->object->sections.data[i].kept && !collect(writer, i, err))
            return false;
    for (uint32_t i = 0; i < writer->object->sections.len; i++)
        if (writer->object->sections.data[i].changed &&
            (!as_object_cut(writer, i, err) || !check_wanted(writer, i, err)))
            return false;
    return true;
}
