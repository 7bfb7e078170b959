/* The processor and the clock that a modelled program saw. See record_model.h.
 *
 * QEMU answers CPUID with what it can execute (-cpu max of user mode): without AVX-512 and AMX, whatever this machine
 * has. Libraries choose their code by it, so what was modelled may be another variant than the one that runs here.
 */
#include "native/probe_parts.h"
#include "record/record_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUINFO_BYTES = 16384 };

#define SAW "the program saw the processor of QEMU by CPUID, not this one"
#define VARIANTS "code that is chosen by CPUID (memcpy, BLAS) may be another variant than on this machine"

static bool has_flag(const char *cpuinfo, const char *flag)
{
    const char *flags = strstr(cpuinfo, "\nflags"), *end = flags ? strchr(flags + 1, '\n') : NULL;
    size_t length = strlen(flag);
    for (const char *at = flags; at && (at = strstr(at, flag)) && (!end || at < end); at += length)
        if (at[-1] == ' ' && strchr(" \n", at[length]))
            return true;
    return false;
}

static void add_cpuid(struct as_store_writer *writer)
{
    char *cpuinfo = calloc(1, CPUINFO_BYTES);
    bool known = cpuinfo && as_probe_read("", "/proc/cpuinfo", cpuinfo, CPUINFO_BYTES);
    bool avx512 = known && has_flag(cpuinfo, "avx512f"), amx = known && has_flag(cpuinfo, "amx_tile");
    as_store_add_quality(writer, "cpuid", NAN,
                         avx512 && amx ? SAW ": AVX2 instead of AVX-512, no AMX; " VARIANTS
                         : avx512      ? SAW ": AVX2 instead of AVX-512; " VARIANTS
                                       : SAW "; " VARIANTS);
    free(cpuinfo);
}

void as_record_add_processor(struct as_store_writer *writer, const struct as_record_options *options, bool x86)
{
    if (options->core_why && options->core_why[0])
        as_store_add_meta(writer, AS_META_CORE_WHY, options->core_why);
    if (x86)
        add_cpuid(writer);
}

void as_record_add_clock(struct as_store_writer *writer, const struct as_engine_result *engine)
{
    const char *note = as_engine_clock_note(engine);
    if (note)
        as_store_add_quality(writer, "clock", NAN, note);
}
