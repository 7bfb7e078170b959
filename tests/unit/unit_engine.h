/* Runs of a test's own program in QEMU. */
#ifndef UNIT_ENGINE_H
#define UNIT_ENGINE_H

#include "engine/engine.h"
#include "engine/find_qemu.h"

#include "unit.h"

/* Skips the test where there is no QEMU. `program`: not freed before the run is over. */
static inline struct as_engine_options unit_engine_options(char *program, const char *plugin)
{
    static char *argv[2];
    struct as_qemu qemu;
    struct as_error err = AS_ERROR_INIT;
    if (!as_qemu_find(AS_ARCH_X86_64, NULL, &qemu, &err))
        unit_skip("%s", err.message);
    struct as_engine_options options = AS_ENGINE_OPTIONS_DEFAULT;
    argv[0] = program;
    options.argv = argv;
    options.plugin = plugin;
    return options;
}

#endif
