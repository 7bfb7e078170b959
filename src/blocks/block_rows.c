/* See block_rows.h. */
#include "blocks/block_rows.h"

#include <stdlib.h>
#include <string.h>

bool as_block_scope_has_module(struct as_block_scope scope, uint32_t module)
{
    const struct as_cfg_module *m = as_cfg_get(scope.flow->cfg, module);
    return !scope.module || strcmp(scope.module, m->name) == 0 || strcmp(scope.module, m->path) == 0;
}

bool as_block_scope_has_function(struct as_block_scope scope, uint32_t module, uint32_t function)
{
    const struct as_cfg_function *f = &as_cfg_get(scope.flow->cfg, module)->functions.data[function];
    if (!as_block_scope_has_module(scope, module))
        return false;
    return !scope.function || as_cfg_is_called(f->name, scope.function) ||
           (f->linkage && strcmp(scope.function, f->linkage) == 0);
}

const struct as_cfg_function *as_block_function(const struct as_flow *flow, uint32_t module, uint32_t block)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    return &m->functions.data[m->blocks.data[block].function];
}

bool as_block_scope_is_there(struct as_block_scope scope)
{
    for (uint32_t m = 0; m < as_cfg_count_modules(scope.flow->cfg); m++)
        for (uint32_t i = 0; i < as_cfg_get(scope.flow->cfg, m)->functions.len; i++)
            if (as_block_scope_has_function(scope, m, i) &&
                (!scope.flow->samples || as_flow_function_instructions(scope.flow, m, i) > 0))
                return true;
    return false;
}

/* Functions of which nothing ran have no blocks, but a symbol. */
const char *as_block_scope_module(struct as_block_scope scope)
{
    for (uint32_t m = 0; m < as_cfg_count_modules(scope.flow->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(scope.flow->cfg, m);
        if (as_block_scope_has_module(scope, m) && as_cfg_has_symbol(module, scope.function))
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

as_block_rows as_block_rows_blocks(struct as_block_scope scope)
{
    as_block_rows rows = {0};
    for (uint32_t m = 0; m < as_cfg_count_modules(scope.flow->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(scope.flow->cfg, m);
        for (uint32_t i = 0; i < module->blocks.len; i++) {
            bool ran = scope.flow->counts[m][i] > 0;
            bool all = scope.function && !(module->blocks.data[i].flags & AS_CFG_PADDING);
            if ((ran || all) && as_block_scope_has_function(scope, m, module->blocks.data[i].function))
                *as_vec_push(&rows) = (struct as_block_row){m, i, as_flow_instructions(scope.flow, m, i)};
        }
    }
    if (!scope.function)
        sort_rows(&rows);
    return rows;
}

as_block_rows as_block_rows_functions(struct as_block_scope scope)
{
    as_block_rows rows = {0};
    for (uint32_t m = 0; m < as_cfg_count_modules(scope.flow->cfg); m++)
        for (uint32_t i = 0; i < as_cfg_get(scope.flow->cfg, m)->functions.len; i++) {
            double instructions = as_flow_function_instructions(scope.flow, m, i);
            if ((instructions > 0 || scope.function) && as_block_scope_has_function(scope, m, i))
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

static void add_block_gaps(struct as_block_scope scope, uint32_t module, uint32_t function, as_block_gaps *gaps)
{
    const struct as_cfg_module *m = as_cfg_get(scope.flow->cfg, module);
    const struct as_cfg_function *f = &m->functions.data[function];
    bool open = false;
    for (uint32_t i = f->first; i < f->first + f->n; i++) {
        bool dead = scope.flow->counts[module][i] <= 0 && !(m->blocks.data[i].flags & AS_CFG_PADDING);
        if (dead && open)
            gaps->data[gaps->len - 1].n++;
        else if (dead)
            *as_vec_push(gaps) = (struct as_block_gap){.module = module, .first = i, .n = 1};
        open = dead;
    }
}

as_block_gaps as_block_gaps_of(struct as_block_scope scope)
{
    as_block_gaps gaps = {0};
    for (uint32_t m = 0; m < as_cfg_count_modules(scope.flow->cfg); m++) {
        struct as_cfg_module *module = as_cfg_get(scope.flow->cfg, m);
        if (!as_block_scope_has_module(scope, m))
            continue;
        for (uint32_t i = 0; i < module->functions.len; i++)
            if (as_block_scope_has_function(scope, m, i))
                add_block_gaps(scope, m, i, &gaps);
        for (size_t i = 0; !scope.function && i < module->symbols.symbols.symbols.len; i++) {
            const struct as_symbol *symbol = &module->symbols.symbols.symbols.data[i];
            if (is_function(symbol) && !is_alias(&module->symbols, i) &&
                as_cfg_find_function(scope.flow->cfg, m, symbol->address) == AS_CFG_NONE)
                *as_vec_push(&gaps) = (struct as_block_gap){.module = m, .function = symbol};
        }
    }
    return gaps;
}
