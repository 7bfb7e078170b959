/* Which files cost a profile names, and which package has them. Works on the rows that were written, whatever source they
 * are of. See import.h. */
#include "import/import_internal.h"
#include "symbol/package.h"

#include <stdio.h>
#include <string.h>

enum { MOST_HINTS = 3 };
static const double least = 0.05; /* part of the time */

/* Time in code without names, by module. */
struct hints {
    AS_VEC(char *) paths;
    AS_VEC(bool) named;       /* functions */
    AS_VEC(uint32_t) modules; /* by instruction: the module if it has no name; else NONE */
    uint64_t *units, all;
};

static bool take_module(void *context, uint32_t number, const void *row)
{
    const struct as_store_module *module = row;
    *as_vec_push(&((struct hints *)context)->paths) = as_strdup(module->path ? module->path : "");
    return true;
}

/* What has no symbol is named by its address. */
static bool take_function(void *context, uint32_t number, const void *row)
{
    *as_vec_push(&((struct hints *)context)->named) = ((const struct as_store_function *)row)->linkage_name != NULL;
    return true;
}

static bool take_instruction(void *context, uint32_t number, const void *row)
{
    struct hints *hints = context;
    const struct as_store_location *location = &((const struct as_store_insn *)row)->location;
    bool named = location->function != AS_STORE_NONE && hints->named.data[location->function];
    *as_vec_push(&hints->modules) = named ? AS_STORE_NONE : location->module;
    return true;
}

bool as_import_is_made(const char *path)
{
    return strcmp(path, "[anon]") == 0 || strcmp(path, "//anon") == 0 || strncmp(path, "[anon:", 6) == 0 ||
           strncmp(path, "/tmp/perf-", 10) == 0;
}

static bool take_time(void *context, uint32_t number, const void *row)
{
    struct hints *hints = context;
    const struct as_store_time *time = row;
    uint32_t module = hints->modules.data[time->instruction];
    hints->all += time->units;
    if (module != AS_STORE_NONE &&
        (hints->paths.data[module][0] == '/' || as_import_is_made(hints->paths.data[module])))
        hints->units[module] += time->units;
    return true;
}

static bool count(struct hints *hints, struct as_store_writer *writer, uint32_t series)
{
    struct as_error err = AS_ERROR_INIT; /* commit reports it */
    if (!as_store_writer_each(writer, AS_TABLE_MODULES, AS_STORE_NONE, take_module, hints, &err) ||
        !as_store_writer_each(writer, AS_TABLE_FUNCTIONS, AS_STORE_NONE, take_function, hints, &err) ||
        !as_store_writer_each(writer, AS_TABLE_INSTRUCTIONS, AS_STORE_NONE, take_instruction, hints, &err))
        return false;
    hints->units = as_alloc_array(hints->paths.len + 1, sizeof *hints->units);
    return as_store_writer_each(writer, AS_TABLE_TIMES, series, take_time, hints, &err);
}

/* `printed`: the names are those of perf script. */
static void add_hint(struct as_store_writer *writer, const char *path, double part, int number, bool printed)
{
    char *package = as_package_of(AS_PACKAGE_LISTS, path), *debug = package ? as_package_debug(package) : NULL;
    char *text, key[32];
    snprintf(key, sizeof key, "nameless_%d", number);
    if (as_import_is_made(path))
        text = as_strdup("part of the time is in code that the program made while it ran ([anon]), without names: "
                         "Assay reads them from /tmp/perf-PID.map or a jitdump, which runtimes write when asked (node "
                         "--perf-basic-prof; java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit; python3.12 -X "
                         "perf)");
    else if (printed)
        text =
            as_format("part of the time is in functions of %s whose names perf script did not print: run it where the "
                      "file's symbols are (its -dbgsym package, a build with symbols), or import perf.data itself, "
                      "with --symfs=DIR for a copy of that machine's files",
                      path);
    else if (debug)
        text = as_format("part of the time is in functions of %s that have no names: the package %s has them, or a "
                         "debuginfod server (DEBUGINFOD_URLS)",
                         path, debug);
    else
        text = as_format("part of the time is in functions of %s that have no names; the file is in no installed "
                         "Debian package: its separate debug file, a debuginfod server (DEBUGINFOD_URLS) or a build "
                         "with symbols has them",
                         path);
    as_store_add_quality(writer, key, part, text);
    free(text);
    free(debug);
    free(package);
}

void as_import_hint_names(struct as_store_writer *writer, uint32_t series, const struct as_import *import)
{
    struct hints hints = {0};
    bool ok = !as_store_writer_failed(writer) && count(&hints, writer, series);
    bool printed = import && !import->matched && !import->unmatched; /* no sample was looked up in a file */
    for (size_t i = 0; ok && import && !printed && i < import->code.modules.len && i < hints.paths.len; i++)
        if (!import->code.modules.data[i].matched && !as_import_is_made(hints.paths.data[i]))
            hints.units[i] = 0; /* another note is about them */
    for (int number = 1; ok && number <= MOST_HINTS && hints.paths.len; number++) {
        size_t most = 0;
        for (size_t i = 1; i < hints.paths.len; i++)
            most = hints.units[i] > hints.units[most] ? i : most;
        double part = hints.all ? (double)hints.units[most] / (double)hints.all : 0;
        if (part < least)
            break;
        add_hint(writer, hints.paths.data[most], part, number, printed);
        hints.units[most] = 0;
    }
    for (size_t i = 0; i < hints.paths.len; i++)
        free(hints.paths.data[i]);
    as_vec_free(&hints.paths);
    as_vec_free(&hints.named);
    as_vec_free(&hints.modules);
    free(hints.units);
}
