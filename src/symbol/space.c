/* The address space: mappings sorted by address, without overlaps, each with its module. A look-up finds the mapping
 * (usually the same as in the look-up before), then asks the module with the address of the file.
 *
 * Modules are never freed before the space, because names point into them. Several mappings of one file share a module.
 * A file that was replaced between two mappings becomes two modules if code of the first was looked up.
 */
#include "symbol/space.h"
#include "base/path.h"
#include "symbol/debugserver.h"

#include "base/cpp_name.h"
#include "base/map.h"
#include "base/random.h"
#include "base/search.h"
#include "symbol/demangle.h"
#include "symbol/module.h"
#include "symbol/scopes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESOLVE_SECONDS = 20 }; /* processor time for demangling everything in search of a name */

struct mapping {
    uint64_t start, end, offset, bias;
    bool bias_known;
    struct as_module *module;
};

/* The entry of the function at an address. */
struct known_entry {
    uint64_t address, entry;
};

enum { KNOWN_ENTRIES = 256 };

struct as_space {
    AS_VEC(struct mapping) maps;
    AS_VEC(struct as_module *) modules; /* in the order of their first mapping */
    struct as_map by_path;              /* id of the path in strings → index of its newest module */
    struct as_strings *strings;
    char *roots;
    struct as_module_options options;
    struct as_module unknown;
    struct as_jit *jit;                        /* NULL: none */
    size_t last;                               /* index of the mapping of the last look-up */
    struct known_entry entries[KNOWN_ENTRIES]; /* by a hash of the address, for as_space_entry */
};

struct as_space *as_space_new(const struct as_space_options *options)
{
    struct as_space *space = as_alloc(sizeof *space);
    space->strings = as_strings_new();
    space->roots = as_debug_roots(options != NULL ? options->debug_path : NULL);
    space->options = (struct as_module_options){
        .roots = space->roots, .no_debug = options != NULL && options->no_debug, .strings = space->strings};
    space->unknown = (struct as_module){.path = "[unknown]", .name = "[unknown]", .loaded = true};
    return space;
}

void as_space_free(struct as_space *space)
{
    if (space == NULL)
        return;
    for (size_t i = 0; i < space->modules.len; i++) {
        as_module_free(space->modules.data[i]);
        free(space->modules.data[i]);
    }
    as_vec_free(&space->modules);
    as_jit_free(space->jit);
    as_vec_free(&space->maps);
    as_map_free(&space->by_path);
    as_strings_free(space->strings);
    free(space->roots);
    free(space);
}

/* Formats a string that lives as long as the space. */
AS_PRINTF(2, 3) static const char *keep(struct as_space *space, const char *format, ...)
{
    char text[AS_NAME_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return as_strings_get(space->strings, as_strings_intern(space->strings, text));
}

/* ---- mapping ---- */

static struct as_module *module_for(struct as_space *space, const char *path)
{
    if (path == NULL || path[0] == '\0')
        path = "[anon]";
    uint32_t id = as_strings_intern(space->strings, path);
    struct as_file_identity identity = {0};
    if (path[0] != '[')
        identity = as_file_identity_of(path);
    const uint64_t *known = as_map_get(&space->by_path, id);
    struct as_module *module = known != NULL ? space->modules.data[*known] : NULL;
    if (module != NULL && module->loaded && !as_file_identity_same(&module->identity, &identity))
        module = NULL;
    if (module == NULL) {
        const char *kept = as_strings_get(space->strings, id);
        module = as_alloc(sizeof *module);
        module->path = kept;
        module->name = as_path_shown(kept);
        module->has_file = path[0] != '[';
        *as_map_put(&space->by_path, id) = space->modules.len;
        *as_vec_push(&space->modules) = module;
    }
    module->identity = identity;
    return module;
}

/* The index of the first mapping that ends behind `address`. */
static size_t first_behind(const struct as_space *space, uint64_t address)
{
    return as_search(0, space->maps.len, i, space->maps.data[i].end <= address);
}

/* Addresses may belong to other functions now. */
static void forget_entries(struct as_space *space)
{
    memset(space->entries, 0, sizeof space->entries);
}

/* Replaces maps [from, to) by `count` others. */
static void splice(struct as_space *space, size_t from, size_t to, const struct mapping *with, size_t count)
{
    size_t old_len = space->maps.len, tail = old_len - to;
    while (space->maps.len < from + count + tail)
        as_vec_push(&space->maps);
    memmove(&space->maps.data[from + count], &space->maps.data[to], tail * sizeof *with);
    memcpy(&space->maps.data[from], with, count * sizeof *with);
    space->maps.len = from + count + tail;
    space->last = 0;
    forget_entries(space);
}

/* What remains of a mapping from `start` on. */
static struct mapping cut_front(struct mapping map, uint64_t start)
{
    map.offset += start - map.start;
    map.start = start;
    return map;
}

static bool is_anonymous(const struct as_module *module)
{
    return strcmp(module->path, "[anon]") == 0;
}

static bool joins(const struct mapping *a, const struct mapping *b)
{
    return a->end == b->start && a->module == b->module && is_anonymous(a->module);
}

void as_space_map(struct as_space *space, uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
    if (start >= end)
        return;
    struct mapping pieces[3], fresh = {.start = start, .end = end, .offset = offset};
    fresh.module = module_for(space, path);
    size_t from = first_behind(space, start), to = from, count = 0;
    while (to < space->maps.len && space->maps.data[to].start < end)
        to++;
    if (from < to && space->maps.data[from].start < start) {
        pieces[count] = space->maps.data[from];
        pieces[count++].end = start;
    }
    size_t middle = count;
    pieces[count++] = fresh;
    if (from < to && space->maps.data[to - 1].end > end)
        pieces[count++] = cut_front(space->maps.data[to - 1], end);
    /* Anonymous neighbours become one: a program may map memory in thousands of small steps. */
    if (middle == 0 && from > 0 && joins(&space->maps.data[from - 1], &pieces[0]))
        pieces[0].start = space->maps.data[--from].start;
    if (middle == count - 1 && to < space->maps.len && joins(&pieces[middle], &space->maps.data[to]))
        pieces[middle].end = space->maps.data[to++].end;
    splice(space, from, to, pieces, count);
}

void as_space_each(const struct as_space *space, as_space_found *found, void *context)
{
    for (size_t i = 0; i < space->maps.len; i++) {
        const struct mapping *map = &space->maps.data[i];
        found(context, map->start, map->end, map->offset, map->module->path);
    }
}

/* ---- look-up ---- */

static struct mapping *find_map(struct as_space *space, uint64_t address)
{
    if (space->last < space->maps.len) {
        struct mapping *last = &space->maps.data[space->last];
        if (address >= last->start && address < last->end)
            return last;
    }
    size_t at = first_behind(space, address);
    if (at == space->maps.len || space->maps.data[at].start > address)
        return NULL;
    space->last = at;
    return &space->maps.data[at];
}

static void find_bias(struct as_space *space, struct mapping *map)
{
    const struct mapping *before = map > space->maps.data ? map - 1 : NULL;
    bool near = before != NULL && before->module == map->module && before->bias_known;
    map->bias = as_module_bias(map->module, map->start, map->end, map->offset, near ? &before->bias : NULL);
    map->bias_known = true;
}

/* Makes sure that the mapping's module is loaded and its bias known. */
static void prepare(struct as_space *space, struct mapping *map)
{
    as_module_load(map->module, &space->options);
    if (!map->bias_known && map->module->has_file)
        find_bias(space, map);
}

/* The mapping of an address that somebody asks for, ready; NULL where nothing is mapped. */
static struct mapping *touch(struct as_space *space, uint64_t address)
{
    struct mapping *map = find_map(space, address);
    if (map == NULL)
        return NULL;
    prepare(space, map);
    map->module->asked = true;
    return map;
}

/* The address as the file counts it; where there is no file, what names it best. */
static uint64_t file_address(const struct mapping *map, uint64_t address)
{
    if (map->module->has_file)
        return address - map->bias;
    return is_anonymous(map->module) ? address : address - map->start + map->offset;
}

void as_space_read_jit(struct as_space *space, const char *path, int64_t since)
{
    if (!space->jit)
        space->jit = as_jit_new();
    forget_entries(space);
    (void)as_jit_read(space->jit, path, since);
}

bool as_space_has_anonymous(const struct as_space *space)
{
    for (size_t i = 0; i < space->modules.len; i++)
        if (!space->modules.data[i]->has_file || !space->modules.data[i]->readable)
            return true;
    return false;
}

bool as_space_is_made(struct as_space *space, uint64_t address)
{
    const struct mapping *map = find_map(space, address);
    const char *path = map ? map->module->path : "";
    return strncmp(path, "[anon", 5) == 0 || strncmp(path, "/memfd:", 7) == 0;
}

static void find_generated(struct as_space *space, uint64_t address, const struct as_jit_insn *insn,
                           struct as_location *location)
{
    const struct as_jit_piece *piece = space->jit ? as_jit_find(space->jit, address, insn) : NULL;
    if (!piece)
        return;
    location->function_start = piece->start;
    location->function_size = piece->size;
    location->function = location->raw_function = piece->name;
    location->generated = true;
    location->guessed = as_jit_is_guess(space->jit);
}

static void find(struct as_space *space, uint64_t address, const struct as_jit_insn *insn, struct as_location *location)
{
    const struct mapping *map = touch(space, address);
    const struct as_module *module = map != NULL ? map->module : &space->unknown;
    *location = (struct as_location){.module = module->path, .module_name = module->name, .module_offset = address};
    if (map == NULL)
        return;
    location->module_offset = file_address(map, address);
    struct as_symbol *symbol = as_symtab_find(&module->symbols, location->module_offset);
    if (symbol == NULL && !module->readable)
        find_generated(space, address, insn, location);
    if (symbol == NULL)
        return;
    location->function_start = symbol->address + map->bias;
    location->function_size = symbol->size;
    if (symbol->raw == NULL)
        return;
    location->raw_function = symbol->raw;
    location->function = as_module_symbol_name(symbol, space->strings);
}

void as_space_find(struct as_space *space, uint64_t address, struct as_location *location)
{
    find(space, address, NULL, location);
}

uint64_t as_space_entry(struct as_space *space, uint64_t address)
{
    struct known_entry *place = &space->entries[address * AS_RANDOM_STEP >> 56];
    if (place->address == address && address)
        return place->entry;
    struct as_location location;
    find(space, address, NULL, &location);
    uint64_t entry = location.function_start ? location.function_start : address;
    if (!location.generated)
        *place = (struct known_entry){.address = address, .entry = entry};
    return entry;
}

void as_space_find_insn(struct as_space *space, uint64_t address, const struct as_jit_insn *insn,
                        struct as_location *location)
{
    find(space, address, insn, location);
}

const char *as_space_name(struct as_space *space, uint64_t address)
{
    struct as_location location;
    as_space_find(space, address, &location);
    if (location.function != NULL)
        return location.function;
    return keep(space, "%.3000s+0x%llx", location.module_name, (unsigned long long)location.module_offset);
}

bool as_space_line(struct as_space *space, uint64_t address, struct as_line *line)
{
    const struct mapping *map = touch(space, address);
    *line = (struct as_line){0};
    struct as_debug *debug = map != NULL ? as_module_debug(map->module, &space->options) : NULL;
    return debug != NULL && as_debug_line(debug, address - map->bias, line);
}

size_t as_space_inline(struct as_space *space, uint64_t address, struct as_inline_frame *frames, size_t max)
{
    const struct mapping *map = touch(space, address);
    if (map == NULL || max == 0)
        return 0;
    struct as_debug *debug = as_module_debug(map->module, &space->options);
    size_t count = debug != NULL ? as_debug_inline(debug, address - map->bias, frames, max) : 0;
    struct as_location location;
    as_space_find(space, address, &location);
    if (location.function == NULL)
        return count;
    /* The symbol table knows the real function better than DWARF: "f.constprop.0", "f.cold". */
    bool whole = count > 0 && frames[count - 1].call.file == NULL && frames[count - 1].call.line == 0;
    if (count > 0 && !whole)
        return count;
    frames[count > 0 ? count - 1 : 0] = (struct as_inline_frame){.function = location.function};
    return count > 0 ? count : 1;
}

/* ---- names to addresses ---- */

/* How a symbol answers to a name: exactly, in source form, in source form without parameters. */
enum match { MATCH_NONE, MATCH_BASE, MATCH_SOURCE, MATCH_RAW };

static enum match match_source(const struct as_symbol *symbol, const char *name, size_t length)
{
    char text[AS_NAME_MAX];
    if (symbol->raw[0] != '_' || !as_demangle(symbol->raw, text, sizeof text))
        return MATCH_NONE;
    if (strcmp(text, name) == 0)
        return MATCH_SOURCE;
    return strncmp(text, name, length) == 0 && text[length] == '(' ? MATCH_BASE : MATCH_NONE;
}

/* The symbol of a module that answers best: by match, then by class, then not local, then by address. */
static const struct as_symbol *best_symbol(const struct as_module *module, const char *name, bool source,
                                           struct as_budget *budget)
{
    const struct as_symbol *best = NULL;
    enum match best_match = MATCH_NONE;
    size_t length = strlen(name);
    for (size_t i = 0; i < module->symbols.symbols.len && as_budget_tick(budget); i++) {
        const struct as_symbol *symbol = &module->symbols.symbols.data[i];
        enum match match = MATCH_NONE;
        if (symbol->raw == NULL)
            continue;
        if (source)
            match = match_source(symbol, name, length);
        else if (strncmp(symbol->raw, name, length) == 0 && (symbol->raw[length] == '\0' || symbol->raw[length] == '@'))
            match = strcmp(symbol->raw + length, "@plt") == 0 ? MATCH_NONE : MATCH_RAW;
        if (match == MATCH_NONE || match < best_match)
            continue;
        bool local = symbol->binding == STB_LOCAL;
        if (match > best_match || symbol->rank < best->rank ||
            (symbol->rank == best->rank && !local && best->binding == STB_LOCAL)) {
            best = symbol;
            best_match = match;
        }
    }
    return best;
}

/* The first mapping of a module; NULL where all were replaced. */
static struct mapping *first_map(struct as_space *space, const struct as_module *module)
{
    for (size_t i = 0; i < space->maps.len; i++)
        if (space->maps.data[i].module == module)
            return &space->maps.data[i];
    return NULL;
}

static bool is_module(const struct as_module *module, const char *name, size_t length)
{
    return (strlen(module->name) == length && strncmp(module->name, name, length) == 0) ||
           (strlen(module->path) == length && strncmp(module->path, name, length) == 0);
}

/* Looks in the modules whose name or path is `module` (NULL: all), in the order of their mapping. Modules remember the
 * last name that they do not have: callers ask again for the same one whenever something is mapped. */
static uint64_t resolve_in(struct as_space *space, const char *module, const char *name, bool source)
{
    struct as_budget budget;
    as_budget_start(&budget, RESOLVE_SECONDS, 0);
    uint32_t id = as_strings_intern(space->strings, name) + 1;
    for (size_t i = 0; i < space->modules.len; i++) {
        struct as_module *m = space->modules.data[i];
        bool wanted = module == NULL || is_module(m, module, strlen(module));
        struct mapping *map = m->has_file && wanted && m->missing[source] != id ? first_map(space, m) : NULL;
        if (map == NULL)
            continue;
        prepare(space, map);
        const struct as_symbol *symbol = best_symbol(m, name, source, &budget);
        if (symbol != NULL)
            return symbol->address + map->bias;
        m->missing[source] = budget.spent ? 0 : id;
    }
    return 0;
}

static uint64_t resolve_both(struct as_space *space, const char *module, const char *name)
{
    uint64_t address = resolve_in(space, module, name, false);
    return address != 0 ? address : resolve_in(space, module, name, true);
}

/* The main of a program that was stripped. */
static uint64_t resolve_main(struct as_space *space, const char *module, const char *name)
{
    for (size_t i = 0; i < space->modules.len && strcmp(name, "main") == 0; i++) {
        struct as_module *m = space->modules.data[i];
        bool wanted = m->has_file && (module == NULL || is_module(m, module, strlen(module)));
        struct mapping *map = wanted ? first_map(space, m) : NULL;
        if (map == NULL)
            continue;
        prepare(space, map);
        if (m->start_main != 0)
            return m->start_main + map->bias;
    }
    return 0;
}

static uint64_t resolve(struct as_space *space, const char *module, const char *name)
{
    uint64_t address = resolve_both(space, module, name);
    return address != 0 ? address : resolve_main(space, module, name);
}

/* A single colon separates a module; "::" belongs to a name. */
static const char *module_end(const char *name)
{
    const char *colon = strchr(name, ':');
    while (colon != NULL && colon[1] == ':')
        colon = strchr(colon + 2, ':');
    return colon;
}

uint64_t as_space_resolve(struct as_space *space, const char *name)
{
    if (name[0] == '\0')
        return 0;
    const char *colon = module_end(name);
    if (colon != NULL && colon != name && colon[1] != '\0') {
        char *module = as_strndup(name, (size_t)(colon - name));
        uint64_t address = resolve(space, module, colon + 1);
        free(module);
        if (address != 0)
            return address;
    }
    return resolve(space, NULL, name);
}

static bool is_short(const struct as_symbol *symbol, const char *name)
{
    char text[AS_NAME_MAX];
    size_t length = strlen(symbol->raw ? symbol->raw : "");
    return length && as_clone_length(symbol->raw) == length && as_demangle(symbol->raw, text, sizeof text) &&
           as_cpp_name_is(text, name);
}

size_t as_space_resolve_short(struct as_space *space, const char *module, const char *name, uint64_t *addresses,
                              size_t max)
{
    size_t n = 0;
    struct as_budget budget;
    const char *colon = module_end(name), *function = colon ? colon + 1 : name;
    as_budget_start(&budget, RESOLVE_SECONDS, 0);
    for (size_t i = 0; i < space->modules.len && function[0]; i++) {
        struct as_module *m = space->modules.data[i];
        bool wanted = m->has_file && (!module || is_module(m, module, strlen(module))) &&
                      (!colon || is_module(m, name, (size_t)(colon - name)));
        struct mapping *map = wanted ? first_map(space, m) : NULL;
        if (map == NULL)
            continue;
        prepare(space, map);
        const struct as_symtab *symbols = &m->symbols;
        for (size_t k = 0; k < symbols->symbols.len && n < max && as_budget_tick(&budget); k++)
            if (is_short(&symbols->symbols.data[k], function))
                addresses[n++] = symbols->symbols.data[k].address + map->bias;
    }
    return n;
}

/* ---- variables ---- */

static bool holds_data(const struct as_module *module, uint64_t address)
{
    for (size_t i = 0; i < module->segments.len; i++) {
        const struct as_elf_segment *segment = &module->segments.data[i];
        if (!segment->executable && address >= segment->address && address - segment->address < segment->memory_size)
            return true;
    }
    return false;
}

/* A mapping of the file whose data lies at an address: any has the bias, and behind the file's bytes (.bss) or where data
 * is not told about (mappings without code) there is none at the address itself. */
static struct mapping *map_of_data(struct as_space *space, uint64_t address)
{
    for (size_t i = 0; i < space->maps.len; i++) {
        struct mapping *map = &space->maps.data[i];
        if (!map->module->has_file)
            continue;
        prepare(space, map);
        if (map->bias_known && holds_data(map->module, address - map->bias))
            return map;
    }
    return NULL;
}

bool as_space_variable(struct as_space *space, uint64_t address, struct as_variable *variable)
{
    const struct mapping *map = map_of_data(space, address);
    struct as_symbol *symbol =
        map != NULL ? as_module_variable(map->module, &space->options, address - map->bias) : NULL;
    if (symbol == NULL || symbol->raw == NULL)
        return false;
    *variable = (struct as_variable){.name = as_module_symbol_name(symbol, space->strings),
                                     .module = map->module->path,
                                     .module_name = map->module->name,
                                     .start = symbol->address + map->bias,
                                     .size = symbol->size,
                                     .module_offset = symbol->address,
                                     .is_object = symbol->raw[0] != '.'};
    return true;
}

/* The DWARF of the module that holds an address of data, and where the variable begins in it; NULL: neither. */
static struct as_debug *debug_of_data(struct as_space *space, uint64_t address, uint64_t *start, uint64_t *offset)
{
    const struct mapping *map = map_of_data(space, address);
    const struct as_symbol *symbol =
        map != NULL ? as_module_variable(map->module, &space->options, address - map->bias) : NULL;
    if (symbol == NULL)
        return NULL;
    *start = symbol->address;
    *offset = address - map->bias - symbol->address;
    return as_module_debug(map->module, &space->options);
}

char *as_space_member(struct as_space *space, uint64_t address)
{
    uint64_t start, offset;
    struct as_debug *debug = debug_of_data(space, address, &start, &offset);
    return debug != NULL ? as_debug_member(debug, start, offset) : NULL;
}

uint64_t as_space_element(struct as_space *space, uint64_t address)
{
    uint64_t start, offset;
    struct as_debug *debug = debug_of_data(space, address, &start, &offset);
    return debug != NULL ? as_debug_element(debug, start) : 0;
}

bool as_space_has_debug(struct as_space *space, uint64_t address)
{
    uint64_t start, offset;
    return debug_of_data(space, address, &start, &offset) != NULL;
}

bool as_space_split(struct as_space *space, uint64_t one, uint64_t other, uint64_t line, struct as_member_split *split)
{
    uint64_t start, second, offsets[2];
    struct as_debug *debug = debug_of_data(space, one, &start, &offsets[0]);
    bool same = debug != NULL && debug_of_data(space, other, &second, &offsets[1]) == debug && start == second;
    return same && as_debug_split(debug, start, offsets, line, split);
}

const char *as_space_build_id(struct as_space *space, uint64_t address)
{
    const struct mapping *map = touch(space, address);
    return map != NULL && map->module->build_id[0] != '\0' ? map->module->build_id : NULL;
}

void as_space_quality(struct as_space *space, struct as_space_quality *quality)
{
    *quality = (struct as_space_quality){0};
    for (size_t i = 0; i < space->modules.len; i++) {
        const struct as_module *module = space->modules.data[i];
        if (!module->asked || !module->has_file)
            continue;
        const char *problem = module->problem;
        if (problem == NULL && module->debug != NULL && as_debug_problem(module->debug) != NULL)
            problem = keep(space, "%.3000s: %s", module->debug_path, as_debug_problem(module->debug));
        quality->modules++;
        quality->with_symbols += module->symbols.named > 0;
        quality->with_debug += module->has_debug;
        quality->unreadable += !module->readable;
        if (quality->first_problem == NULL)
            quality->first_problem = problem;
    }
}
