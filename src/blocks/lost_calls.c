/* See lost_calls.h. */
#include "blocks/lost_calls.h"

#include <stdlib.h>
#include <string.h>

static bool moves_control(const char *name)
{
    static const char *const parts[] = {
        "longjmp", "_Unwind_RaiseException", "_Unwind_Resume", "_Unwind_ForcedUnwind", "setcontext", "swapcontext"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

bool as_flow_is_moved(const struct as_flow *flow)
{
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(flow->cfg, m);
        for (uint32_t i = 0; i < module->functions.len; i++)
            if (moves_control(module->functions.data[i].name) && as_flow_function_instructions(flow, m, i) > 0)
                return true;
    }
    return false;
}

/* The symbol that a direct call leads to, also of a function that nobody saw; NULL: none. "exit@plt" is also exit. */
static const char *name_of_call(const struct as_cfg_module *module, const struct as_cfg_block *block)
{
    if (block->last_class != AS_CLASS_CALL || !block->target || !module->has_code)
        return NULL;
    const struct as_symbol *symbol = as_symtab_find(&module->symbols.symbols, block->target);
    return symbol && symbol->address == block->target ? symbol->raw : NULL;
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
    size_t length = strcspn(name, "@");
    for (size_t i = 0; i < n; i++)
        if (strlen(names[i]) == length && strncmp(name, names[i], length) == 0)
            return true;
    return false;
}

bool as_call_exits(const struct as_cfg_module *module, const struct as_cfg_block *block)
{
    static const char *const names[] = {
        "exit",          "_exit",      "_Exit",          "quick_exit",       "abort",
        "__assert_fail", "__chk_fail", "__fortify_fail", "__stack_chk_fail", "_ZSt9terminatev"};
    const char *name = name_of_call(module, block);
    return name && is_one_of(name, names, sizeof names / sizeof *names);
}

bool as_call_ends(const struct as_cfg_module *module, const struct as_cfg_block *block)
{
    static const char *const names[] = {"pthread_exit",
                                        "longjmp",
                                        "_longjmp",
                                        "siglongjmp",
                                        "__longjmp",
                                        "__longjmp_chk",
                                        "__cxa_throw",
                                        "__cxa_rethrow",
                                        "_Unwind_Resume",
                                        "__cxa_bad_cast",
                                        "__cxa_throw_bad_array_new_length",
                                        "__libc_start_main"};
    const char *name = name_of_call(module, block);
    return as_call_exits(module, block) ||
           (name && (is_one_of(name, names, sizeof names / sizeof *names) ||
                     (strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw_")))); /* std::__throw_length_error */
}

bool as_call_comes_again(const struct as_cfg_module *module, const struct as_cfg_block *block)
{
    const char *name = name_of_call(module, block);
    return name && (strstr(name, "setjmp") || strstr(name, "getcontext") || strstr(name, "swapcontext"));
}

bool as_call_forks(const struct as_cfg_module *module, const struct as_cfg_block *block)
{
    static const char *const names[] = {"fork",        "vfork", "_Fork",   "__fork",
                                        "__libc_fork", "clone", "__clone", "forkpty"};
    const char *name = name_of_call(module, block);
    return name && is_one_of(name, names, sizeof names / sizeof *names);
}

/* ---- which functions can be left ---- */

enum { UNKNOWN = UINT32_MAX };

/* The function that control goes to at a block's end, if it leaves its own there; its own: it stays or returns. */
static uint32_t leads_to(const struct as_flow *flow, uint32_t module, uint32_t number)
{
    const struct as_cfg_block *block = &as_cfg_get(flow->cfg, module)->blocks.data[number];
    bool jumps = block->last_class == AS_CLASS_JUMP || block->last_class == AS_CLASS_BRANCH;
    if (block->last_class == AS_CLASS_CALL_INDIRECT || block->last_class == AS_CLASS_JUMP_INDIRECT)
        return UNKNOWN;
    if (!as_cfg_calls(block) && !jumps)
        return block->function;
    uint32_t to = block->target ? as_cfg_find(flow->cfg, module, block->target) : AS_CFG_NONE;
    return to == AS_CFG_NONE ? UNKNOWN : as_cfg_get(flow->cfg, module)->blocks.data[to].function;
}

/* A table of jumps stays within its function; what is not known to do so can go anywhere. */
static bool stays(const struct as_flow *flow, uint32_t module, uint32_t number)
{
    const struct as_cfg_block *blocks = as_cfg_get(flow->cfg, module)->blocks.data;
    size_t n, inside = 0;
    const struct as_flow_edge *edges = as_flow_out(flow, module, number, &n);
    for (size_t i = 0; i < n; i++)
        inside += edges[i].to != AS_CFG_NONE && edges[i].to_module == module &&
                  blocks[edges[i].to].function == blocks[number].function;
    return blocks[number].last_class == AS_CLASS_JUMP_INDIRECT && n > 0 && inside == n;
}

static bool spread(const struct as_flow *flow, uint32_t module, uint8_t *left)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    bool changed = false;
    for (uint32_t i = 0; i < m->blocks.len; i++) {
        uint32_t own = m->blocks.data[i].function, to = left[own] ? own : leads_to(flow, module, i);
        if (to == own || (to != UNKNOWN && !left[to]) || (to == UNKNOWN && stays(flow, module, i)))
            continue;
        left[own] = 1;
        changed = true;
    }
    return changed;
}

uint8_t *as_calls_lost(const struct as_flow *flow, uint32_t module)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    uint8_t *lost = as_alloc(m->blocks.len + 1), *left = as_alloc(m->functions.len + 1);
    for (size_t i = 0; i < m->functions.len; i++)
        left[i] = moves_control(m->functions.data[i].name);
    while (spread(flow, module, left))
        ;
    for (uint32_t i = 0; i < m->blocks.len; i++) {
        uint32_t to = as_cfg_calls(&m->blocks.data[i]) ? leads_to(flow, module, i) : UNKNOWN;
        lost[i] = as_cfg_calls(&m->blocks.data[i]) && (to == UNKNOWN || left[to]);
    }
    free(left);
    return lost;
}
