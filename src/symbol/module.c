/* Loading a module: symbols at once, DWARF only when lines or inlined frames are asked for. A file that has changed
 * since it was mapped is not read: no names are better than wrong ones. */
#include "symbol/module.h"

#include "base/bytes.h"
#include "symbol/debugfile.h"
#include "symbol/demangle.h"
#include "symbol/entry_main.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

static void set_problem(struct as_module *module, const char *text, struct as_strings *strings)
{
    if (module->problem == NULL)
        module->problem = as_strings_get(strings, as_strings_intern(strings, text));
}

static void keep_build_id(struct as_module *module, const struct as_elf *elf)
{
    struct as_build_id id;
    as_elf_build_id(elf, &id);
    as_bytes_hex(id.bytes, id.len, module->build_id);
}

static void remember_debug(struct as_module *module, const struct as_elf *elf, const char *path)
{
    module->has_debug = true;
    module->debug_path = as_strdup(path);
    module->debug_identity = elf->identity;
}

static void read_symbols(struct as_module *module, const struct as_elf *elf, const char *roots)
{
    char found[PATH_MAX];
    as_symtab_set_code(&module->symbols, elf);
    as_symtab_add_symbols(&module->symbols, elf);
    if (as_elf_has_debug(elf))
        remember_debug(module, elf, module->path);
    if (!module->has_debug || as_elf_section(elf, ".symtab") == NULL) {
        struct as_elf *debug = as_debug_file_open(elf, module->path, roots, found);
        if (debug != NULL)
            as_symtab_add_symbols(&module->symbols, debug);
        if (debug != NULL && !module->has_debug && as_elf_has_debug(debug))
            remember_debug(module, debug, found);
        as_elf_close(debug);
    }
    as_symtab_add_plt(&module->symbols, elf);
    as_symtab_add_unwind(&module->symbols, elf);
    as_symtab_finish(&module->symbols);
}

static void read_module(struct as_module *module, const struct as_elf *elf, const char *roots)
{
    module->readable = true;
    module->type = elf->type;
    for (size_t i = 0; i < elf->segments.len; i++)
        *as_vec_push(&module->segments) = elf->segments.data[i];
    keep_build_id(module, elf);
    module->start_main = as_elf_main(elf);
    read_symbols(module, elf, roots);
}

void as_module_load(struct as_module *module, const struct as_module_options *options)
{
    if (module->loaded)
        return;
    module->loaded = true;
    if (!module->has_file)
        return;
    struct as_error err = AS_ERROR_INIT;
    struct as_elf *elf = as_elf_open(module->path, &err);
    if (elf != NULL && !as_file_identity_same(&elf->identity, &module->identity)) {
        as_error_set(&err, "%s: changed since it was mapped", module->path);
    } else if (elf != NULL && elf->type != ET_EXEC && elf->type != ET_DYN) {
        as_error_set(&err, "%s: an ELF file that is neither a program nor a shared library", module->path);
    } else if (elf != NULL) {
        read_module(module, elf, options->roots);
    }
    as_elf_close(elf);
    if (!module->readable)
        set_problem(module, err.message, options->strings);
}

struct as_debug *as_module_debug(struct as_module *module, const struct as_module_options *options)
{
    as_module_load(module, options);
    if (module->debug_tried || !module->has_debug || options->no_debug)
        return module->debug;
    module->debug_tried = true;
    struct as_error err = AS_ERROR_INIT, whole = AS_ERROR_INIT;
    struct as_elf *elf = as_elf_open(module->debug_path, &err);
    if (elf != NULL && as_file_identity_same(&elf->identity, &module->debug_identity))
        module->debug = as_debug_new(elf, module->debug_path, options->roots, &module->symbols, options->strings, &err);
    else if (elf != NULL)
        as_error_set(&err, "it has changed");
    as_elf_close(elf);
    if (module->debug == NULL) {
        module->has_debug = false;
        as_error_set(&whole, "%s: its DWARF cannot be used: %.800s", module->debug_path, err.message);
        set_problem(module, whole.message, options->strings);
    }
    return module->debug;
}

void as_module_forget_debug(struct as_module *module)
{
    as_debug_free(module->debug);
    module->debug = NULL;
    module->debug_tried = false;
}

/* Like the symbols of code: from the file, and from its debug file where it has no whole table itself. */
static void read_variables(struct as_module *module, const struct as_elf *elf, const char *roots)
{
    char found[PATH_MAX];
    struct as_elf *debug = NULL;
    as_symtab_set_data(&module->variables, elf);
    as_symtab_add_symbols(&module->variables, elf);
    if (as_elf_section(elf, ".symtab") == NULL)
        debug = as_debug_file_open(elf, module->path, roots, found);
    if (debug != NULL)
        as_symtab_add_symbols(&module->variables, debug);
    as_elf_close(debug);
    as_symtab_finish(&module->variables);
}

struct as_symbol *as_module_variable(struct as_module *module, const struct as_module_options *options,
                                     uint64_t address)
{
    as_module_load(module, options);
    if (!module->variables_tried && module->readable) {
        struct as_error err = AS_ERROR_INIT;
        struct as_elf *elf = as_elf_open(module->path, &err);
        module->variables_tried = true;
        if (elf != NULL && as_file_identity_same(&elf->identity, &module->identity))
            read_variables(module, elf, options->roots);
        as_elf_close(elf);
    }
    return as_symtab_find(&module->variables, address);
}

void as_module_free(struct as_module *module)
{
    as_debug_free(module->debug);
    as_symtab_free(&module->symbols);
    as_symtab_free(&module->variables);
    as_vec_free(&module->segments);
    free(module->debug_path);
}

static uint64_t page_down(uint64_t value)
{
    return value & ~(uint64_t)(PAGE - 1);
}

/* How well a segment explains a mapping; 0: not at all. */
static unsigned fit(const struct as_module *module, const struct as_elf_segment *segment, uint64_t length,
                    uint64_t offset, uint64_t bias, const uint64_t *hint)
{
    uint64_t first = page_down(segment->offset), last = page_down(segment->offset + segment->file_size + PAGE - 1);
    if (offset < first || offset >= last)
        return 0;
    return 1 + (segment->executable ? 1 : 0) + (offset == first ? 2 : 0) + (length == last - first ? 4 : 0) +
           (module->type == ET_EXEC && bias == 0 ? 8 : 0) + (hint != NULL && bias == *hint ? 16 : 0);
}

uint64_t as_module_bias(const struct as_module *module, uint64_t start, uint64_t end, uint64_t offset,
                        const uint64_t *hint)
{
    uint64_t best = start - offset;
    unsigned best_fit = 0;
    for (size_t i = 0; i < module->segments.len; i++) {
        const struct as_elf_segment *segment = &module->segments.data[i];
        uint64_t bias = start - (offset - segment->offset + segment->address);
        unsigned this_fit = fit(module, segment, end - start, offset, bias, hint);
        if (this_fit > best_fit) {
            best = bias;
            best_fit = this_fit;
        }
    }
    return best;
}

const char *as_module_symbol_name(struct as_symbol *symbol, struct as_strings *strings)
{
    char text[AS_NAME_MAX];
    if (symbol->name == NULL) {
        as_demangle(symbol->raw, text, sizeof text);
        symbol->name = as_strings_get(strings, as_strings_intern(strings, text));
    }
    return symbol->name;
}
