/* See cfg.h. Building a module: the addresses that were seen are sorted and each is given to the symbol that covers it;
 * the functions so found are decoded one by one (cfg_decode.c). What no symbol covers is cut into functions where there
 * is a gap. */
#include "blocks/cfg.h"

#include "base/cpp_name.h"
#include "base/map.h"
#include "base/path.h"
#include "base/search.h"
#include "blocks/cfg_internal.h"

#include "symbol/debugserver.h"
#include "symbol/demangle.h"
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct as_cfg {
    AS_VEC(struct as_cfg_module *) modules;
    struct as_strings *paths, *names;
    char *roots;
    struct as_module_options options;
};

struct as_cfg *as_cfg_new(const struct as_cfg_options *options)
{
    struct as_cfg *cfg = as_alloc(sizeof *cfg);
    cfg->paths = as_strings_new();
    cfg->names = as_strings_new();
    cfg->roots = as_debug_roots(options ? options->debug_path : NULL);
    cfg->options = (struct as_module_options){.roots = cfg->roots, .strings = cfg->names};
    return cfg;
}

static void free_seen(struct as_cfg_module *module)
{
    if (!module->seen)
        return;
    as_vec_free(&module->seen->addresses);
    as_vec_free(&module->seen->leaders);
    as_vec_free(&module->seen->cuts);
    as_vec_free(&module->seen->insns);
    as_map_free(&module->seen->known);
    free(module->seen);
    module->seen = NULL;
}

static void free_functions(struct as_cfg_module *module)
{
    for (size_t i = 0; i < module->functions.len; i++)
        free(module->functions.data[i].name);
    as_vec_free(&module->functions);
    as_vec_free(&module->blocks);
    as_vec_free(&module->insns);
}

static void free_module(struct as_cfg_module *module)
{
    free_seen(module);
    free_functions(module);
    as_vec_free(&module->pads);
    as_module_free(&module->symbols);
    free(module->path);
    free(module->file);
    free(module);
}

void as_cfg_free(struct as_cfg *cfg)
{
    if (!cfg)
        return;
    for (size_t i = 0; i < cfg->modules.len; i++)
        free_module(cfg->modules.data[i]);
    as_vec_free(&cfg->modules);
    as_strings_free(cfg->paths);
    as_strings_free(cfg->names);
    free(cfg->roots);
    free(cfg);
}

bool as_cfg_arch(const char *path, enum as_arch *arch)
{
    Elf64_Ehdr header;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool read_it = fd >= 0 && pread(fd, &header, sizeof header, 0) == sizeof header;
    if (fd >= 0)
        close(fd);
    *arch = read_it && header.e_machine == EM_RISCV ? AS_ARCH_RISCV64 : AS_ARCH_X86_64;
    return read_it && (header.e_machine == EM_RISCV || header.e_machine == EM_X86_64);
}

uint32_t as_cfg_module_at(struct as_cfg *cfg, const char *file, const char *path, enum as_arch arch)
{
    uint32_t number = as_strings_intern(cfg->paths, file);
    if (number < cfg->modules.len)
        return number;
    struct as_cfg_module *module = as_alloc(sizeof *module);
    *as_vec_push(&cfg->modules) = module;
    module->path = as_strdup(path);
    module->file = as_strdup(file);
    module->name = as_path_shown(module->path);
    module->arch = arch;
    module->seen = as_alloc(sizeof *module->seen);
    module->symbols = (struct as_module){.path = module->file, .name = module->name, .has_file = file[0] == '/'};
    if (module->symbols.has_file) {
        module->symbols.identity = as_file_identity_of(file);
        as_module_load(&module->symbols, &cfg->options);
    }
    module->has_code = module->symbols.readable;
    return number;
}

uint32_t as_cfg_module_of(struct as_cfg *cfg, const char *path, enum as_arch arch)
{
    return as_cfg_module_at(cfg, path, path, arch);
}

void as_cfg_see(struct as_cfg *cfg, uint32_t module, uint64_t address)
{
    struct as_cfg_seen *seen = cfg->modules.data[module]->seen;
    uint64_t *known = as_map_put(&seen->known, address);
    if (!*known)
        *as_vec_push(&seen->addresses) = address;
    *known = 1;
}

void as_cfg_touch(struct as_cfg *cfg, uint32_t module, uint64_t address)
{
    struct as_cfg_seen *seen = cfg->modules.data[module]->seen;
    if (*as_map_put(&seen->known, address))
        return;
    seen->loose = true;
    as_cfg_see(cfg, module, address);
}

void as_cfg_see_insn(struct as_cfg *cfg, uint32_t module, const struct as_insn *insn)
{
    struct as_cfg_seen *seen = cfg->modules.data[module]->seen;
    as_cfg_see(cfg, module, insn->address);
    *as_vec_push(&seen->insns) = *insn;
}

void as_cfg_lead(struct as_cfg *cfg, uint32_t module, uint64_t address)
{
    *as_vec_push(&cfg->modules.data[module]->seen->leaders) = address;
}

void as_cfg_cut(struct as_cfg *cfg, uint32_t module, uint64_t address)
{
    *as_vec_push(&cfg->modules.data[module]->seen->cuts) = address;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int by_insn(const void *a, const void *b)
{
    const struct as_insn *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static void sort_seen(struct as_cfg_seen *seen)
{
    if (seen->addresses.len)
        qsort(seen->addresses.data, seen->addresses.len, sizeof(uint64_t), by_number);
    if (seen->leaders.len)
        qsort(seen->leaders.data, seen->leaders.len, sizeof(uint64_t), by_number);
    if (seen->cuts.len)
        qsort(seen->cuts.data, seen->cuts.len, sizeof(uint64_t), by_number);
    if (seen->insns.len)
        qsort(seen->insns.data, seen->insns.len, sizeof(struct as_insn), by_insn);
}

/* ---- functions ---- */

static uint32_t find_function(const struct as_cfg_module *m, uint64_t address)
{
    size_t at = as_search(0, m->functions.len, i, m->functions.data[i].start <= address);
    return at > 0 && address < m->functions.data[at - 1].end ? (uint32_t)at - 1 : AS_CFG_NONE;
}

static void add_function(struct as_cfg *cfg, struct as_cfg_module *module, uint64_t start, uint64_t end,
                         struct as_symbol *symbol)
{
    struct as_cfg_function function = {.start = start, .end = end};
    if (symbol && symbol->raw) {
        function.name = as_strdup(as_module_symbol_name(symbol, cfg->names));
        function.linkage = symbol->raw;
        function.local = symbol->binding == STB_LOCAL;
    } else {
        function.name = as_format("%s+0x%" PRIx64, module->name, start);
    }
    *as_vec_push(&module->functions) = function;
}

/* Symbols can lie inside others; a function begins behind those that are there already. */
static uint64_t behind_others(const struct as_cfg_module *module, uint64_t start)
{
    uint64_t end = module->functions.len ? module->functions.data[module->functions.len - 1].end : 0;
    return start > end ? start : end;
}

/* The function of the address seen at place `at`; returns the place behind it. */
static size_t take_function(struct as_cfg *cfg, struct as_cfg_module *module, size_t at)
{
    enum { GAP = 64 }; /* code that no symbol covers and that lies further apart is of different functions */
    const struct as_cfg_seen *seen = module->seen;
    uint64_t start = seen->addresses.data[at], end;
    struct as_symbol *symbol = module->has_code ? as_symtab_find(&module->symbols.symbols, start) : NULL;
    size_t next = at + 1;
    if (symbol && symbol->size) {
        end = symbol->address + symbol->size;
        add_function(cfg, module, behind_others(module, symbol->address), end, symbol);
        while (next < seen->addresses.len && seen->addresses.data[next] < end)
            next++;
        return next;
    }
    while (next < seen->addresses.len && seen->addresses.data[next] - seen->addresses.data[next - 1] < GAP) {
        struct as_symbol *other =
            module->has_code ? as_symtab_find(&module->symbols.symbols, seen->addresses.data[next]) : NULL;
        if (other != symbol)
            break;
        next++;
    }
    end = seen->addresses.data[next - 1] + 1;
    add_function(cfg, module, behind_others(module, symbol ? symbol->address : start), end, symbol);
    return next;
}

static void build_functions(struct as_cfg *cfg, struct as_cfg_module *module, const struct as_elf *elf)
{
    const struct as_cfg_seen *seen = module->seen;
    free_functions(module);
    for (size_t at = 0; at < seen->addresses.len;) {
        size_t next = take_function(cfg, module, at);
        as_cfg_decode(module, elf, (uint32_t)module->functions.len - 1, at, next);
        at = next;
    }
}

/* ---- parts that were moved away ---- */

bool as_cfg_is_part(const char *name, const char *whole)
{
    static const char cold[] = ".cold", part[] = ".part.";
    size_t length = strlen(whole);
    const char *rest = name + length;
    if (strncmp(name, whole, length) != 0)
        return false;
    return strncmp(rest, part, sizeof part - 1) == 0 ||
           (strncmp(rest, cold, sizeof cold - 1) == 0 && (!rest[sizeof cold - 1] || rest[sizeof cold - 1] == '.'));
}

/* The symbol that a block jumps to, if it is a part of the block's function or the other way round. */
static const struct as_symbol *leads_to_part(const struct as_cfg_module *module, const struct as_cfg_block *block)
{
    const struct as_cfg_function *function = &module->functions.data[block->function];
    bool jumps = block->last_class == AS_CLASS_BRANCH || block->last_class == AS_CLASS_JUMP;
    if (!jumps || !block->target || !function->linkage ||
        (block->target >= function->start && block->target < function->end))
        return NULL;
    const struct as_symbol *symbol = as_symtab_find(&module->symbols.symbols, block->target);
    bool related = symbol && symbol->raw && symbol->size &&
                   (as_cfg_is_part(symbol->raw, function->linkage) || as_cfg_is_part(function->linkage, symbol->raw));
    return related ? symbol : NULL;
}

/* Of samples: such parts may have run though none fell into them, and blocks begin where jumps between them lead. False: all
 * that there are were seen. */
static bool see_parts(struct as_cfg_module *module)
{
    struct as_cfg_seen *seen = module->seen;
    size_t before = seen->leaders.len;
    for (size_t i = 0; i < module->blocks.len; i++) {
        const struct as_cfg_block *block = &module->blocks.data[i];
        const struct as_symbol *symbol = leads_to_part(module, block);
        size_t at = symbol ? as_search(0, module->blocks.len, b, module->blocks.data[b].start < block->target) : 0;
        size_t leader = symbol ? as_search(0, before, l, seen->leaders.data[l] < block->target) : 0;
        if (!symbol || (at < module->blocks.len && module->blocks.data[at].start == block->target) ||
            (leader < before && seen->leaders.data[leader] == block->target))
            continue;
        *as_vec_push(&seen->leaders) = block->target;
        if (find_function(module, symbol->address) == AS_CFG_NONE)
            *as_vec_push(&seen->addresses) = symbol->address; /* perhaps twice */
    }
    bool more = seen->leaders.len > before;
    sort_seen(seen);
    return more;
}

static void build_module(struct as_cfg *cfg, struct as_cfg_module *module)
{
    struct as_cfg_seen *seen = module->seen;
    struct as_elf *elf = module->has_code ? as_elf_open(module->file, NULL) : NULL;
    if (elf && seen->addresses.len)
        module->pads = as_landing_pads_of(elf);
    for (size_t i = 0; i < module->pads.len; i++)
        *as_vec_push(&seen->leaders) = module->pads.data[i].pad;
    sort_seen(seen);
    do
        build_functions(cfg, module, elf);
    while (module->has_code && seen->loose && see_parts(module));
    as_elf_close(elf);
    free_seen(module);
}

void as_cfg_build(struct as_cfg *cfg)
{
    for (size_t i = 0; i < cfg->modules.len; i++)
        build_module(cfg, cfg->modules.data[i]);
}

/* ---- look-up ---- */

size_t as_cfg_count_modules(const struct as_cfg *cfg)
{
    return cfg->modules.len;
}

struct as_cfg_module *as_cfg_get(const struct as_cfg *cfg, uint32_t module)
{
    return cfg->modules.data[module];
}

const char *as_cfg_code_problem(const struct as_cfg_module *module)
{
    switch (module->code) {
    case AS_CFG_CODE_MIXED:
        return "different code ran at one address, because several files were at this path in turn or the program "
               "changed its code, and the counts mix it";
    case AS_CFG_CODE_GONE:
        return "several files were at this path in turn, and this one is gone, so its code is counted apart and has no "
               "names or lines";
    case AS_CFG_CODE_OTHER:
        return "the code that ran is not that of the file, which was replaced during the run or which the program "
               "changed in memory, and the counts are shown on the file's code";
    case AS_CFG_CODE_ONE:
        break;
    }
    return NULL;
}

uint32_t as_cfg_find(const struct as_cfg *cfg, uint32_t module, uint64_t address)
{
    const struct as_cfg_module *m = cfg->modules.data[module];
    size_t at = as_search(0, m->blocks.len, i, m->blocks.data[i].start <= address);
    return at > 0 && address < m->blocks.data[at - 1].end ? (uint32_t)at - 1 : AS_CFG_NONE;
}

uint32_t as_cfg_find_start(const struct as_cfg *cfg, uint32_t module, uint64_t address)
{
    uint32_t block = as_cfg_find(cfg, module, address);
    return block != AS_CFG_NONE && cfg->modules.data[module]->blocks.data[block].start == address ? block : AS_CFG_NONE;
}

uint32_t as_cfg_find_behind(const struct as_cfg_module *module, uint32_t block)
{
    uint64_t end = module->blocks.data[block].end;
    uint32_t next = block + 1;
    while (next < module->blocks.len && module->blocks.data[next].start < end)
        next++;
    return next < module->blocks.len && module->blocks.data[next].start == end ? next : AS_CFG_NONE;
}

bool as_cfg_is_insn(const struct as_cfg *cfg, uint32_t module, uint64_t address)
{
    uint32_t found = as_cfg_find(cfg, module, address);
    if (found == AS_CFG_NONE)
        return false;
    const struct as_cfg_module *m = cfg->modules.data[module];
    const struct as_cfg_block *block = &m->blocks.data[found];
    const uint64_t *insns = m->insns.data + block->first_insn;
    size_t at = as_search((size_t)0, (size_t)block->n_insns, i, insns[i] < address);
    return at < block->n_insns && insns[at] == address;
}

uint32_t as_cfg_find_function(const struct as_cfg *cfg, uint32_t module, uint64_t address)
{
    return find_function(cfg->modules.data[module], address);
}

/* What compilers append to the name of a function for parts and variants of it. */
static bool is_suffix(const char *rest)
{
    static const char *const suffixes[] = {".cold", ".part.", ".isra.", ".constprop.", ".lto_priv.", ".llvm."};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strncmp(rest, suffixes[i], strlen(suffixes[i])) == 0)
            return true;
    return false;
}

bool as_cfg_is_called(const char *name, const char *wanted)
{
    size_t length = strlen(wanted);
    if (strncmp(wanted, name, length) == 0 && is_suffix(name + length))
        return true;
    return strcmp(wanted, name) == 0 || (strncmp(wanted, name, length) == 0 && name[length] == '(') ||
           as_cpp_name_is(name, wanted);
}

bool as_cfg_has_symbol(const struct as_cfg_module *module, const char *wanted)
{
    char name[4096];
    for (size_t i = 0; i < module->symbols.symbols.symbols.len; i++) {
        const char *raw = module->symbols.symbols.symbols.data[i].raw;
        if (raw && (strcmp(raw, wanted) == 0 ||
                    (raw[0] == '_' && as_demangle(raw, name, sizeof name) && as_cfg_is_called(name, wanted))))
            return true;
    }
    return false;
}

struct as_debug *as_cfg_debug(struct as_cfg *cfg, uint32_t module)
{
    struct as_cfg_module *m = cfg->modules.data[module];
    return m->symbols.has_file ? as_module_debug(&m->symbols, &cfg->options) : NULL;
}

bool as_cfg_lines_of(struct as_cfg *cfg, uint32_t module, uint32_t block, struct as_cfg_lines *lines)
{
    const struct as_cfg_module *m = cfg->modules.data[module];
    const struct as_cfg_block *b = &m->blocks.data[block];
    struct as_debug *debug = as_cfg_debug(cfg, module);
    struct as_line line;
    *lines = (struct as_cfg_lines){0};
    for (uint32_t i = 0; debug && i < b->n_insns; i++) {
        if (!as_debug_line(debug, m->insns.data[b->first_insn + i], &line) || !line.line)
            continue;
        if (!lines->file)
            *lines = (struct as_cfg_lines){line.file, line.line, line.line};
        if (strcmp(lines->file, line.file) != 0)
            continue;
        lines->first = line.line < lines->first ? line.line : lines->first;
        lines->last = line.line > lines->last ? line.line : lines->last;
    }
    return lines->file != NULL;
}
