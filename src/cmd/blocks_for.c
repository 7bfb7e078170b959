/* See blocks_for.h. */
#include "cmd/blocks_for.h"

#include "base/log.h"
#include "blocks/autofdo.h"
#include "blocks/bolt.h"
#include "blocks/propeller.h"
#include "engine/program.h"

#include <stdlib.h>
#include <string.h>

const char *const as_blocks_for_choices[] = {
    [AS_BLOCKS_FOR_NOTHING] = "people",
    [AS_BLOCKS_FOR_AUTOFDO] = "autofdo",
    [AS_BLOCKS_FOR_AUTOFDO_BINARY] = "autofdo-binary",
    [AS_BLOCKS_FOR_GCC] = "gcc",
    [AS_BLOCKS_FOR_BOLT] = "bolt",
    [AS_BLOCKS_FOR_AGGREGATED] = "pre-aggregated",
    [AS_BLOCKS_FOR_PROFGEN] = "profgen",
    [AS_BLOCKS_FOR_PROPELLER] = "propeller",
    [AS_BLOCKS_FOR_PROPELLER_ORDER] = "propeller-order",
    NULL,
};

static uint32_t find_module(const struct as_cfg *cfg, const char *name)
{
    for (uint32_t i = 0; i < as_cfg_count_modules(cfg); i++)
        if (strcmp(as_cfg_get(cfg, i)->path, name) == 0 || strcmp(as_cfg_get(cfg, i)->name, name) == 0)
            return i;
    return AS_CFG_NONE;
}

uint32_t as_blocks_main_module(const struct as_flow *flow, struct as_error *err)
{
    uint32_t best = AS_CFG_NONE;
    double most = 0;
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(flow->cfg, m);
        double instructions = 0;
        for (uint32_t i = 0; i < module->functions.len; i++)
            instructions += as_flow_function_instructions(flow, m, i);
        if (instructions > most && !strstr(module->name, ".so")) {
            most = instructions;
            best = m;
        }
    }
    if (best == AS_CFG_NONE)
        as_error_set(err, "nothing ran of a program whose file is the recorded one; --module takes a library that did");
    return best;
}

uint32_t as_blocks_module(const struct as_cfg *cfg, const char *name, const char *program, struct as_error *err)
{
    uint32_t module = name ? find_module(cfg, name) : AS_CFG_NONE;
    struct as_program *found = as_alloc(sizeof *found);
    if (!name && program && as_program_find(program, getenv("PATH"), found, NULL)) {
        char *real = realpath(found->path, NULL);
        module = find_module(cfg, real ? real : found->path);
        free(real);
    }
    free(found);
    if (module == AS_CFG_NONE)
        as_error_set(err, "nothing of %s ran; --module takes the name or path of a file that did",
                     name      ? name
                     : program ? program
                               : "the program");
    return module;
}

static bool write_autofdo(enum as_blocks_for what, const struct as_flow *flow, uint32_t module, FILE *out,
                          struct as_error *err)
{
    struct as_autofdo *profile = as_autofdo_new(flow, module, err);
    if (!profile)
        return false;
    if (!as_autofdo_has_discriminators(profile) && what != AS_BLOCKS_FOR_GCC) /* which makes no use of them */
        as_log_note("%s has no discriminators: blocks on one line cannot be told apart; -fdebug-info-for-profiling "
                    "makes some",
                    as_cfg_get(flow->cfg, module)->name);
    (what == AS_BLOCKS_FOR_GCC              ? as_autofdo_write_gcov
     : what == AS_BLOCKS_FOR_AUTOFDO_BINARY ? as_autofdo_write_binary
                                            : as_autofdo_write_text)(profile, out);
    as_autofdo_free(profile);
    return true;
}

bool as_blocks_write_for(enum as_blocks_for what, const struct as_flow *flow, uint32_t module, FILE *out,
                         struct as_error *err)
{
    switch (what) {
    case AS_BLOCKS_FOR_AUTOFDO:
    case AS_BLOCKS_FOR_AUTOFDO_BINARY:
    case AS_BLOCKS_FOR_GCC:
        return write_autofdo(what, flow, module, out, err);
    case AS_BLOCKS_FOR_BOLT:
        as_bolt_write_fdata(flow, module, out);
        return true;
    case AS_BLOCKS_FOR_AGGREGATED:
        as_bolt_write_aggregated(flow, module, out);
        return true;
    case AS_BLOCKS_FOR_PROFGEN:
        as_bolt_write_profgen(flow, module, out);
        return true;
    case AS_BLOCKS_FOR_PROPELLER:
        return as_propeller_write_clusters(flow, module, out, err);
    case AS_BLOCKS_FOR_PROPELLER_ORDER:
        as_propeller_write_order(flow, module, out);
        return true;
    case AS_BLOCKS_FOR_NOTHING:
        break;
    }
    return as_error_set(err, "nothing to write");
}
