/* Which files cost a profile names, and what has them. See import_internal.h. */
#include "import/import_internal.h"
#include "symbol/package.h"

#include <stdio.h>

enum { MOST_HINTS = 3 };
static const double least = 0.05; /* part of the samples */

/* Samples in code without names, by module. */
struct nameless {
    uint64_t *samples;
    uint64_t all;
};

static bool lacks_name(const struct as_import_insn *insn)
{
    enum as_perf_match match = insn->recorded.match;
    return insn->module != AS_STORE_NONE && !insn->recorded.function && insn->recorded.module &&
           insn->recorded.module[0] == '/' && (match == AS_PERF_MATCHED || match == AS_PERF_TRUSTED);
}

static struct nameless count_nameless(const struct as_import *import)
{
    struct nameless counts = {.samples = as_alloc_array(import->code.modules.len + 1, sizeof(uint64_t))};
    for (size_t i = 0; i < import->by_event.times.items.len; i++) {
        const struct as_import_sum *time = &import->by_event.times.items.data[i];
        const struct as_import_insn *insn =
            &import->code.instructions.data[import->cells.items.data[time->first].first];
        if (import->series.data[time->second].own)
            continue;
        counts.all += time->samples;
        if (lacks_name(insn))
            counts.samples[insn->module] += time->samples;
    }
    return counts;
}

static void add_hint(const struct as_import *import, const struct as_import_module *module, double part, int number)
{
    char *package = as_package_of(AS_PACKAGE_LISTS, module->path), *debug = package ? as_package_debug(package) : NULL;
    char *text, key[32];
    snprintf(key, sizeof key, "nameless_%d", number);
    if (debug)
        text = as_format("part of the samples are in %s, whose functions have no names: the package %s has them, or a "
                         "debuginfod server (DEBUGINFOD_URLS)",
                         module->path, debug);
    else
        text = as_format("part of the samples are in %s, whose functions have no names, and which is in no installed "
                         "Debian package: its separate debug file (--debug-path), a debuginfod server "
                         "(DEBUGINFOD_URLS) or a build with symbols has them",
                         module->path);
    as_store_add_quality(import->writer, key, part, text);
    free(text);
    free(debug);
    free(package);
}

void as_import_write_hints(const struct as_import *import)
{
    struct nameless counts = count_nameless(import);
    for (int number = 1; number <= MOST_HINTS; number++) {
        size_t most = 0;
        for (size_t i = 1; i < import->code.modules.len; i++)
            most = counts.samples[i] > counts.samples[most] ? i : most;
        double part = counts.all ? (double)counts.samples[most] / (double)counts.all : 0;
        if (part < least)
            break;
        add_hint(import, &import->code.modules.data[most], part, number);
        counts.samples[most] = 0;
    }
    free(counts.samples);
}
