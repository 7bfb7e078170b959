/* See blocks_for.h. */
#include "cmd/blocks_for.h"

#include "base/log.h"
#include "base/str.h"
#include "blocks/autofdo.h"
#include "blocks/bolt.h"
#include "blocks/propeller.h"
#include "engine/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const as_blocks_for_choices[] = {
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

static bool has_run(const struct as_flow *flow, uint32_t module)
{
    for (uint32_t i = 0; i < as_cfg_get(flow->cfg, module)->blocks.len; i++)
        if (flow->counts[module][i] > 0)
            return true;
    return false;
}

/* "demo, libc.so.6 …" */
static void name_modules(const struct as_flow *flow, struct as_str *text)
{
    enum { MOST = 8 };
    size_t n = 0;
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++) {
        if (!has_run(flow, m))
            continue;
        if (n < MOST)
            as_str_addf(text, "%s%s", n ? ", " : "", as_cfg_get(flow->cfg, m)->name);
        n++;
    }
    if (n > MOST)
        as_str_addf(text, " and %zu more", n - MOST);
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

/* The file of a program as the user names it; the caller frees; NULL: there is none. */
static char *file_of(const char *program)
{
    struct as_program *found = as_alloc(sizeof *found);
    char *path = NULL;
    if (as_program_find(program, getenv("PATH"), found, NULL)) {
        path = realpath(found->path, NULL);
        path = path ? path : as_strdup(found->path);
    }
    free(found);
    return path;
}

uint32_t as_blocks_module(const struct as_flow *flow, const char *name, const char *program, struct as_error *err)
{
    char *file = !name && program ? file_of(program) : NULL;
    uint32_t module = name ? find_module(flow->cfg, name) : file ? find_module(flow->cfg, file) : AS_CFG_NONE;
    free(file);
    if (module != AS_CFG_NONE && has_run(flow, module))
        return module;
    struct as_str names = {0};
    name_modules(flow, &names);
    as_error_set(err, "nothing of %s ran; --module takes the name or path of a file that did: %s",
                 name      ? name
                 : program ? program
                           : "the program",
                 names.len ? as_str_get(&names) : "there is none");
    as_str_free(&names);
    return AS_CFG_NONE;
}

bool as_blocks_check_for(enum as_blocks_for what, const char *program, const char *debug_path, struct as_error *err)
{
    bool lines = what == AS_BLOCKS_FOR_AUTOFDO || what == AS_BLOCKS_FOR_AUTOFDO_BINARY || what == AS_BLOCKS_FOR_GCC;
    bool checked = lines || what == AS_BLOCKS_FOR_PROPELLER || what == AS_BLOCKS_FOR_BOLT;
    char *file = program && checked ? file_of(program) : NULL;
    enum as_arch arch;
    bool ok = true;
    if (file && as_cfg_arch(file, &arch)) {
        struct as_cfg *cfg = as_cfg_new(&(struct as_cfg_options){debug_path});
        uint32_t module = as_cfg_module_of(cfg, file, arch);
        ok = lines                        ? as_autofdo_check(cfg, module, err)
             : what == AS_BLOCKS_FOR_BOLT ? as_bolt_check(cfg, module, err)
                                          : as_propeller_check(cfg, module, err);
        as_cfg_free(cfg);
    }
    free(file);
    return ok;
}

void as_blocks_settle_addresses(struct as_flow *flow, bool asked)
{
    double factor = as_flow_scale(flow);
    if (!asked)
        as_log_note(
            "samples of addresses do not say which way control went: counts are balanced as with --balance, and "
            "branches are what they leave");
    if (factor > 1)
        as_log_note("counts are multiplied by %.0f, as the format has whole numbers: they are relative", factor);
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
    const struct as_cfg_module *code = as_cfg_get(flow->cfg, module);
    if (code->code == AS_CFG_CODE_GONE)
        return as_error_set(err, "no profile of %s: %s", code->name, as_cfg_code_problem(code));
    if (as_cfg_code_problem(code))
        return as_error_set(err, "no profile of %s: %s (first at 0x%" PRIx64 ")", code->name, as_cfg_code_problem(code),
                            code->code_differs);
    switch (what) {
    case AS_BLOCKS_FOR_AUTOFDO:
    case AS_BLOCKS_FOR_AUTOFDO_BINARY:
    case AS_BLOCKS_FOR_GCC:
        return write_autofdo(what, flow, module, out, err);
    case AS_BLOCKS_FOR_BOLT:
        if (!as_bolt_check(flow->cfg, module, err))
            return false;
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
