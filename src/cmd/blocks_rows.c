/* See blocks_rows.h. */
#include "cmd/blocks_rows.h"

#include "base/log.h"
#include "base/show.h"
#include "cmd/blocks_options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool as_blocks_wants_module(const struct as_blocks_shown *shown, uint32_t module)
{
    const struct as_cfg_module *m = as_cfg_get(shown->flow->cfg, module);
    return !shown->module || strcmp(shown->module, m->name) == 0 || strcmp(shown->module, m->path) == 0;
}

bool as_blocks_wants_function(const struct as_blocks_shown *shown, uint32_t module, uint32_t function)
{
    const struct as_cfg_function *f = &as_cfg_get(shown->flow->cfg, module)->functions.data[function];
    if (!as_blocks_wants_module(shown, module))
        return false;
    return !shown->function || as_cfg_is_called(f->name, shown->function) ||
           (f->linkage && strcmp(shown->function, f->linkage) == 0);
}

const struct as_cfg_function *as_blocks_function(const struct as_flow *flow, uint32_t module, uint32_t block)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    return &m->functions.data[m->blocks.data[block].function];
}

bool as_blocks_has_function(const struct as_blocks_shown *shown)
{
    for (uint32_t m = 0; m < as_cfg_count_modules(shown->flow->cfg); m++)
        for (uint32_t i = 0; i < as_cfg_get(shown->flow->cfg, m)->functions.len; i++)
            if (as_blocks_wants_function(shown, m, i) &&
                (!shown->flow->samples || as_flow_function_instructions(shown->flow, m, i) > 0))
                return true;
    return false;
}

/* Functions of which nothing ran have no blocks, but a symbol. */
const char *as_blocks_module_with(const struct as_blocks_shown *shown)
{
    for (uint32_t m = 0; m < as_cfg_count_modules(shown->flow->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(shown->flow->cfg, m);
        if (as_blocks_wants_module(shown, m) && as_cfg_has_symbol(module, shown->function))
            return module->path;
    }
    return NULL;
}

static int by_instructions(const void *a, const void *b)
{
    const struct as_block_row *x = a, *y = b;
    if (x->instructions != y->instructions)
        return x->instructions < y->instructions ? 1 : -1;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void sort_rows(as_block_rows *rows)
{
    if (rows->len)
        qsort(rows->data, rows->len, sizeof *rows->data, by_instructions);
}

as_block_rows as_block_rows_blocks(const struct as_blocks_shown *shown)
{
    as_block_rows rows = {0};
    for (uint32_t m = 0; m < as_cfg_count_modules(shown->flow->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(shown->flow->cfg, m);
        for (uint32_t i = 0; i < module->blocks.len; i++) {
            bool ran = shown->flow->counts[m][i] > 0;
            bool all = shown->function && !(module->blocks.data[i].flags & AS_CFG_PADDING);
            if ((ran || all) && as_blocks_wants_function(shown, m, module->blocks.data[i].function))
                *as_vec_push(&rows) = (struct as_block_row){m, i, as_flow_instructions(shown->flow, m, i)};
        }
    }
    if (!shown->function)
        sort_rows(&rows);
    return rows;
}

as_block_rows as_block_rows_functions(const struct as_blocks_shown *shown)
{
    as_block_rows rows = {0};
    for (uint32_t m = 0; m < as_cfg_count_modules(shown->flow->cfg); m++)
        for (uint32_t i = 0; i < as_cfg_get(shown->flow->cfg, m)->functions.len; i++) {
            double instructions = as_flow_function_instructions(shown->flow, m, i);
            if ((instructions > 0 || shown->function) && as_blocks_wants_function(shown, m, i))
                *as_vec_push(&rows) = (struct as_block_row){m, i, instructions};
        }
    sort_rows(&rows);
    return rows;
}

static bool is_function(const struct as_symbol *symbol)
{
    return symbol->raw && symbol->rank == AS_SYMBOL_SIZED && symbol->size && !strstr(symbol->raw, "@plt");
}

/* Symbols are sorted; several names of one function count once. */
static bool is_alias(const struct as_module *module, size_t i)
{
    return i && module->symbols.symbols.data[i - 1].address == module->symbols.symbols.data[i].address;
}

static bool has_run(const struct as_flow *flow, uint32_t module, const struct as_symbol *symbol)
{
    uint32_t function = as_cfg_find_function(flow->cfg, module, symbol->address);
    return function != AS_CFG_NONE && as_flow_function_instructions(flow, module, function) > 0;
}

struct as_block_cover as_block_cover_of(const struct as_flow *flow, uint32_t module)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    struct as_block_cover cover = {0};
    for (size_t i = 0; i < m->symbols.symbols.symbols.len; i++) {
        const struct as_symbol *symbol = &m->symbols.symbols.symbols.data[i];
        if (!is_function(symbol) || is_alias(&m->symbols, i))
            continue;
        cover.symbols = true;
        cover.functions += !has_run(flow, module, symbol);
    }
    for (uint32_t i = 0; i < m->functions.len; i++)
        cover.functions_run += as_flow_function_instructions(flow, module, i) > 0;
    cover.functions += cover.functions_run;
    for (uint32_t i = 0; i < m->blocks.len; i++) {
        const struct as_cfg_block *block = &m->blocks.data[i];
        bool ran = flow->counts[module][i] > 0;
        if (block->flags & AS_CFG_PADDING && !ran)
            continue;
        cover.blocks++;
        cover.bytes += block->end - block->start;
        cover.blocks_run += ran;
        cover.bytes_run += ran ? block->end - block->start : 0;
    }
    return cover;
}

static void add_block_gaps(const struct as_blocks_shown *shown, uint32_t module, uint32_t function, as_block_gaps *gaps)
{
    const struct as_cfg_module *m = as_cfg_get(shown->flow->cfg, module);
    const struct as_cfg_function *f = &m->functions.data[function];
    bool open = false;
    for (uint32_t i = f->first; i < f->first + f->n; i++) {
        bool dead = shown->flow->counts[module][i] <= 0 && !(m->blocks.data[i].flags & AS_CFG_PADDING);
        if (dead && open)
            gaps->data[gaps->len - 1].n++;
        else if (dead)
            *as_vec_push(gaps) = (struct as_block_gap){.module = module, .first = i, .n = 1};
        open = dead;
    }
}

as_block_gaps as_block_gaps_of(const struct as_blocks_shown *shown)
{
    as_block_gaps gaps = {0};
    for (uint32_t m = 0; m < as_cfg_count_modules(shown->flow->cfg); m++) {
        struct as_cfg_module *module = as_cfg_get(shown->flow->cfg, m);
        if (!as_blocks_wants_module(shown, m))
            continue;
        for (uint32_t i = 0; i < module->functions.len; i++)
            if (as_blocks_wants_function(shown, m, i))
                add_block_gaps(shown, m, i, &gaps);
        for (size_t i = 0; !shown->function && i < module->symbols.symbols.symbols.len; i++) {
            const struct as_symbol *symbol = &module->symbols.symbols.symbols.data[i];
            if (is_function(symbol) && !is_alias(&module->symbols, i) &&
                as_cfg_find_function(shown->flow->cfg, m, symbol->address) == AS_CFG_NONE)
                *as_vec_push(&gaps) = (struct as_block_gap){.module = m, .function = symbol};
        }
    }
    return gaps;
}

/* Whether a module is the wanted one, or one of the files that were at its path before. */
static bool is_of(const struct as_cfg_module *module, const char *wanted)
{
    if (!wanted || strcmp(module->name, wanted) == 0 || strcmp(module->path, wanted) == 0)
        return true;
    static const char number[] = " (";
    size_t length = strlen(wanted);
    const char *rest = strncmp(module->name, wanted, length) == 0   ? module->name + length
                       : strncmp(module->path, wanted, length) == 0 ? module->path + length
                                                                    : "";
    return module->code == AS_CFG_CODE_GONE && strncmp(rest, number, sizeof number - 1) == 0;
}

void as_blocks_warn_of_code(const struct as_flow *flow, const char *wanted)
{
    size_t n = 0;
    const char *gone = NULL;
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(flow->cfg, m);
        if (!is_of(module, wanted))
            continue;
        if (module->code == AS_CFG_CODE_GONE) {
            gone = gone ? gone : module->path;
            n++;
        } else if (as_cfg_code_problem(module)) {
            as_log_warn("%s: %s (first at 0x%" PRIx64 ")", AS_SHOW(module->path), as_cfg_code_problem(module),
                        module->code_differs);
        }
    }
    if (gone)
        as_log_note(
            "several files were at one path in turn: what ran of %zu that %s gone is counted apart, without names "
            "or lines, the first as '%s'",
            n, n == 1 ? "is" : "are", AS_SHOW(gone));
}
