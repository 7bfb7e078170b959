/* Compilation units by address, and look-ups in them. DWARF of split units (.dwo files) is not followed: lines work,
 * inlined frames do not. */
#include "symbol/debuginfo.h"

#include "symbol/debugfile.h"
#include "symbol/debugimage.h"
#include "symbol/demangle.h"
#include "symbol/linetable.h"
#include "symbol/members.h"
#include "symbol/scopes.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum {
    INDEX_SECONDS = 30, /* processor time for the index of all units … */
    UNIT_SECONDS = 5,   /* … and for the scopes of one; large real programs take a hundredth of it */
    MAX_RANGES = 1 << 24,
    AT_DISCRIMINATOR = 0x2136, /* DW_AT_GNU_discriminator, which elfutils has no name for */
};

struct unit {
    Dwarf_Die die;
    bool lines_read, scopes_read;
    struct as_line_table lines;
    struct as_scopes scopes;
};

struct as_debug {
    struct as_debug_image *image, *alt;
    const struct as_symtab *code;
    struct as_strings *strings;
    AS_VEC(struct unit) units;
    struct as_interval_index index;
    uint64_t line_bytes; /* of line tables that may still be read: units may share one, but not endlessly */
    const char *problem;
    struct as_members *members; /* once asked for */
};

static void index_units(struct as_debug *debug)
{
    struct as_budget budget;
    as_budget_start(&budget, INDEX_SECONDS, MAX_RANGES);
    as_intervals ranges = {0};
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    uint8_t type;
    while (as_budget_tick(&budget) && dwarf_get_units(debug->image->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
        if (type != DW_UT_compile && type != DW_UT_skeleton && type != DW_UT_partial)
            continue;
        uint32_t id = (uint32_t)debug->units.len;
        if (as_scope_ranges(&die, 0, id, &ranges, &budget) > 0)
            *as_vec_push(&debug->units) = (struct unit){.die = die};
    }
    size_t kept = 0;
    for (size_t i = 0; i < ranges.len; i++) /* ranges of what the linker dropped begin at 0 or thereabouts */
        if (as_symtab_is_code(debug->code, ranges.data[i].start))
            ranges.data[kept++] = ranges.data[i];
    as_interval_build(&debug->index, ranges.data, kept);
    as_vec_free(&ranges);
    if (budget.spent)
        debug->problem = "reading its DWARF took too long; part of it is left out";
}

struct as_debug *as_debug_new(const struct as_elf *elf, const char *path, const char *roots,
                              const struct as_symtab *code, struct as_strings *strings, struct as_error *err)
{
    struct as_debug_image *image = as_debug_image_new(elf, err);
    if (image == NULL)
        return NULL;
    struct as_debug *debug = as_alloc(sizeof *debug);
    debug->image = image;
    debug->code = code;
    debug->strings = strings;
    debug->line_bytes = 2 * image->sections[AS_DEBUG_LINE].size;
    struct as_elf *alt = as_debug_file_open_alt(elf, path, roots);
    struct as_error ignored = AS_ERROR_INIT;
    debug->alt = alt != NULL ? as_debug_image_new(alt, &ignored) : NULL;
    as_elf_close(alt);
    if (debug->alt != NULL)
        dwarf_setalt(image->dwarf, debug->alt->dwarf);
    index_units(debug);
    return debug;
}

void as_debug_free(struct as_debug *debug)
{
    if (debug == NULL)
        return;
    for (size_t i = 0; i < debug->units.len; i++) {
        as_line_table_free(&debug->units.data[i].lines);
        as_scopes_free(&debug->units.data[i].scopes);
    }
    as_members_free(debug->members);
    as_vec_free(&debug->units);
    as_interval_free(&debug->index);
    as_debug_image_free(debug->image);
    as_debug_image_free(debug->alt);
    free(debug);
}

const char *as_debug_problem(const struct as_debug *debug)
{
    return debug->problem;
}

static struct unit *find_unit(struct as_debug *debug, uint64_t address)
{
    uint32_t id = as_interval_find(&debug->index, address);
    return id == AS_INTERVAL_NONE ? NULL : &debug->units.data[id];
}

static struct as_line_table *lines_of(struct as_debug *debug, struct unit *unit)
{
    if (unit->lines_read)
        return &unit->lines;
    unit->lines_read = true;
    Dwarf_Attribute attr;
    Dwarf_Word offset;
    if (dwarf_attr(&unit->die, DW_AT_stmt_list, &attr) == NULL || dwarf_formudata(&attr, &offset) != 0)
        return &unit->lines;
    uint64_t size = as_line_table_size(debug->image, offset);
    if (size > debug->line_bytes) {
        debug->problem = "its units claim more line tables than there are; some are left out";
        return &unit->lines;
    }
    debug->line_bytes -= size;
    const char *dir = dwarf_attr(&unit->die, DW_AT_comp_dir, &attr) != NULL ? dwarf_formstring(&attr) : NULL;
    if (!as_line_table_read(&unit->lines, debug->image, offset, dir, debug->code) && debug->problem == NULL)
        debug->problem = "a line table of it is corrupt";
    return &unit->lines;
}

bool as_debug_line(struct as_debug *debug, uint64_t address, struct as_line *line)
{
    struct unit *unit = find_unit(debug, address);
    if (unit == NULL)
        return false;
    struct as_line_table *table = lines_of(debug, unit);
    const struct as_line_run *run = as_line_table_find(table, address);
    const char *file = run != NULL ? as_line_table_file(table, run->file, debug->strings) : NULL;
    if (file == NULL)
        return false;
    *line = (struct as_line){.file = file, .line = (int)run->line, .column = run->column};
    return true;
}

static struct as_scopes *scopes_of(struct as_debug *debug, struct unit *unit)
{
    if (unit->scopes_read)
        return &unit->scopes;
    unit->scopes_read = true;
    struct as_budget budget;
    as_budget_start(&budget, UNIT_SECONDS, MAX_RANGES);
    as_scopes_read(&unit->scopes, &unit->die, &budget);
    if (budget.spent && debug->problem == NULL)
        debug->problem = "reading its DWARF took too long; part of it is left out";
    return &unit->scopes;
}

/* As in the symbol table; NULL where it has no name. */
static const char *linkage_name(const struct as_scope *scope)
{
    Dwarf_Attribute attr;
    if (as_scope_attr(&scope->die, DW_AT_linkage_name, &attr) ||
        as_scope_attr(&scope->die, DW_AT_MIPS_linkage_name, &attr) || as_scope_attr(&scope->die, DW_AT_name, &attr))
        return dwarf_formstring(&attr);
    return NULL;
}

static const char *scope_name(struct as_debug *debug, struct as_scope *scope)
{
    if (scope->name != NULL)
        return scope->name;
    const char *raw = linkage_name(scope);
    char text[AS_NAME_MAX];
    as_demangle(raw != NULL && raw[0] != '\0' ? raw : "??", text, sizeof text);
    scope->name = as_strings_get(debug->strings, as_strings_intern(debug->strings, text));
    return scope->name;
}

size_t as_debug_inline(struct as_debug *debug, uint64_t address, struct as_inline_frame *frames, size_t max)
{
    struct unit *unit = find_unit(debug, address);
    if (unit == NULL)
        return 0;
    struct as_scopes *scopes = scopes_of(debug, unit);
    uint32_t at = as_interval_find(&scopes->index, address);
    size_t count = 0;
    while (at != AS_SCOPE_NONE && count < max) {
        struct as_scope *scope = &scopes->scopes.data[at];
        struct as_inline_frame *frame = &frames[count++];
        *frame = (struct as_inline_frame){.function = scope_name(debug, scope)};
        if (!scope->inlined)
            break;
        frame->call.file = as_line_table_file(lines_of(debug, unit), scope->call_file, debug->strings);
        frame->call.line = (int)scope->call_line;
        frame->call.column = (int)scope->call_column;
        at = scope->parent;
    }
    return count;
}

static struct as_members *members_of(struct as_debug *debug)
{
    if (debug->members == NULL)
        debug->members = as_members_new(debug->image->dwarf);
    return debug->members;
}

char *as_debug_member(struct as_debug *debug, uint64_t variable, uint64_t offset)
{
    return as_members_name(members_of(debug), variable, offset);
}

uint64_t as_debug_element(struct as_debug *debug, uint64_t variable)
{
    return as_members_element(members_of(debug), variable);
}

bool as_debug_split(struct as_debug *debug, uint64_t variable, const uint64_t offsets[2], uint64_t line,
                    struct as_member_split *split)
{
    return as_members_split(members_of(debug), variable, offsets, line, split);
}

static uint32_t number_of(const struct as_scope *scope, unsigned attribute)
{
    Dwarf_Attribute attr;
    Dwarf_Word value;
    bool known = as_scope_attr(&scope->die, attribute, &attr) && dwarf_formudata(&attr, &value) == 0;
    return known && value <= INT32_MAX ? (uint32_t)value : 0;
}

size_t as_debug_frames(struct as_debug *debug, uint64_t address, struct as_source_frame *frames, size_t max)
{
    struct unit *unit = find_unit(debug, address);
    if (unit == NULL)
        return 0;
    struct as_scopes *scopes = scopes_of(debug, unit);
    const struct as_line_run *run = as_line_table_find(lines_of(debug, unit), address);
    uint32_t line = run != NULL ? run->line : 0, discriminator = run != NULL ? run->discriminator : 0;
    size_t count = 0;
    for (uint32_t at = as_interval_find(&scopes->index, address); at != AS_SCOPE_NONE && count < max;) {
        const struct as_scope *scope = &scopes->scopes.data[at];
        frames[count++] = (struct as_source_frame){.linkage = linkage_name(scope),
                                                   .declared = number_of(scope, DW_AT_decl_line),
                                                   .line = line,
                                                   .discriminator = discriminator,
                                                   .inlined = scope->inlined};
        line = scope->call_line;
        discriminator = number_of(scope, AT_DISCRIMINATOR);
        at = scope->inlined ? scope->parent : AS_SCOPE_NONE;
    }
    return count;
}
