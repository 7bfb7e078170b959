/* The processor and the clock that a modelled program saw. See record_model.h.
 *
 * QEMU answers CPUID with what it can execute, whatever this machine has: QEMU 7.2 without AVX-512, SHA and more. Libraries
 * choose their code by it, so what was modelled may be another variant than the one that runs here. The features are
 * those that the dispatchers of glibc, OpenSSL, BLAS and video libraries look at.
 */
#include "base/str.h"
#include "engine/qemu_cpuid.h"
#include "native/probe_parts.h"
#include "record/record_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUINFO_BYTES = 16384 };

#define SAW "the program saw the processor of QEMU by CPUID, not this one"
#define VARIANTS "code that is chosen by CPUID (memcpy, BLAS, OpenSSL) may be another variant than on this machine"

struct feature {
    const char *name; /* for people */
    const char *flag; /* in /proc/cpuinfo, which also knows whether the kernel allows it */
    enum as_cpuid_leaf leaf;
    enum as_cpuid_register where;
    uint8_t bit;
    const char *part_of; /* the flag of a feature without which this one is not there either; NULL: none */
};

/* clang-format off: a table */
static const struct feature features[] = {
    {"SSE3", "pni", AS_CPUID_1, AS_CPUID_ECX, 0, NULL},
    {"PCLMULQDQ", "pclmulqdq", AS_CPUID_1, AS_CPUID_ECX, 1, NULL},
    {"SSSE3", "ssse3", AS_CPUID_1, AS_CPUID_ECX, 9, NULL},
    {"FMA", "fma", AS_CPUID_1, AS_CPUID_ECX, 12, "avx"},
    {"SSE4.1", "sse4_1", AS_CPUID_1, AS_CPUID_ECX, 19, NULL},
    {"SSE4.2", "sse4_2", AS_CPUID_1, AS_CPUID_ECX, 20, NULL},
    {"MOVBE", "movbe", AS_CPUID_1, AS_CPUID_ECX, 22, NULL},
    {"POPCNT", "popcnt", AS_CPUID_1, AS_CPUID_ECX, 23, NULL},
    {"AES", "aes", AS_CPUID_1, AS_CPUID_ECX, 25, NULL},
    {"AVX", "avx", AS_CPUID_1, AS_CPUID_ECX, 28, NULL},
    {"F16C", "f16c", AS_CPUID_1, AS_CPUID_ECX, 29, "avx"},
    {"RDRAND", "rdrand", AS_CPUID_1, AS_CPUID_ECX, 30, NULL},
    {"BMI1", "bmi1", AS_CPUID_7, AS_CPUID_EBX, 3, NULL},
    {"AVX2", "avx2", AS_CPUID_7, AS_CPUID_EBX, 5, "avx"},
    {"BMI2", "bmi2", AS_CPUID_7, AS_CPUID_EBX, 8, NULL},
    {"ERMS", "erms", AS_CPUID_7, AS_CPUID_EBX, 9, NULL},
    {"RTM", "rtm", AS_CPUID_7, AS_CPUID_EBX, 11, NULL},
    {"AVX-512", "avx512f", AS_CPUID_7, AS_CPUID_EBX, 16, NULL},
    {"AVX-512 DQ", "avx512dq", AS_CPUID_7, AS_CPUID_EBX, 17, "avx512f"},
    {"RDSEED", "rdseed", AS_CPUID_7, AS_CPUID_EBX, 18, NULL},
    {"ADX", "adx", AS_CPUID_7, AS_CPUID_EBX, 19, NULL},
    {"AVX-512 IFMA", "avx512ifma", AS_CPUID_7, AS_CPUID_EBX, 21, "avx512f"},
    {"CLFLUSHOPT", "clflushopt", AS_CPUID_7, AS_CPUID_EBX, 23, NULL},
    {"CLWB", "clwb", AS_CPUID_7, AS_CPUID_EBX, 24, NULL},
    {"AVX-512 CD", "avx512cd", AS_CPUID_7, AS_CPUID_EBX, 28, "avx512f"},
    {"SHA", "sha_ni", AS_CPUID_7, AS_CPUID_EBX, 29, NULL},
    {"AVX-512 BW", "avx512bw", AS_CPUID_7, AS_CPUID_EBX, 30, "avx512f"},
    {"AVX-512 VL", "avx512vl", AS_CPUID_7, AS_CPUID_EBX, 31, "avx512f"},
    {"AVX-512 VBMI", "avx512vbmi", AS_CPUID_7, AS_CPUID_ECX, 1, "avx512f"},
    {"WAITPKG", "waitpkg", AS_CPUID_7, AS_CPUID_ECX, 5, NULL},
    {"AVX-512 VBMI2", "avx512_vbmi2", AS_CPUID_7, AS_CPUID_ECX, 6, "avx512f"},
    {"GFNI", "gfni", AS_CPUID_7, AS_CPUID_ECX, 8, NULL},
    {"VAES", "vaes", AS_CPUID_7, AS_CPUID_ECX, 9, NULL},
    {"VPCLMULQDQ", "vpclmulqdq", AS_CPUID_7, AS_CPUID_ECX, 10, NULL},
    {"AVX-512 VNNI", "avx512_vnni", AS_CPUID_7, AS_CPUID_ECX, 11, "avx512f"},
    {"AVX-512 BITALG", "avx512_bitalg", AS_CPUID_7, AS_CPUID_ECX, 12, "avx512f"},
    {"AVX-512 VPOPCNTDQ", "avx512_vpopcntdq", AS_CPUID_7, AS_CPUID_ECX, 14, "avx512f"},
    {"RDPID", "rdpid", AS_CPUID_7, AS_CPUID_ECX, 22, NULL},
    {"MOVDIRI", "movdiri", AS_CPUID_7, AS_CPUID_ECX, 27, NULL},
    {"MOVDIR64B", "movdir64b", AS_CPUID_7, AS_CPUID_ECX, 28, NULL},
    {"FSRM", "fsrm", AS_CPUID_7, AS_CPUID_EDX, 4, NULL},
    {"AVX-512 VP2INTERSECT", "avx512_vp2intersect", AS_CPUID_7, AS_CPUID_EDX, 8, "avx512f"},
    {"AMX BF16", "amx_bf16", AS_CPUID_7, AS_CPUID_EDX, 22, "amx_tile"},
    {"AVX-512 FP16", "avx512_fp16", AS_CPUID_7, AS_CPUID_EDX, 23, "avx512f"},
    {"AMX", "amx_tile", AS_CPUID_7, AS_CPUID_EDX, 24, NULL},
    {"AMX INT8", "amx_int8", AS_CPUID_7, AS_CPUID_EDX, 25, "amx_tile"},
    {"SHA512", "sha512", AS_CPUID_7_1, AS_CPUID_EAX, 0, NULL},
    {"SM3", "sm3", AS_CPUID_7_1, AS_CPUID_EAX, 1, NULL},
    {"SM4", "sm4", AS_CPUID_7_1, AS_CPUID_EAX, 2, NULL},
    {"AVX VNNI", "avx_vnni", AS_CPUID_7_1, AS_CPUID_EAX, 4, "avx"},
    {"AVX-512 BF16", "avx512_bf16", AS_CPUID_7_1, AS_CPUID_EAX, 5, "avx512f"},
    {"FZRM", "fzrm", AS_CPUID_7_1, AS_CPUID_EAX, 10, NULL},
    {"FSRS", "fsrs", AS_CPUID_7_1, AS_CPUID_EAX, 11, NULL},
    {"FSRC", "fsrc", AS_CPUID_7_1, AS_CPUID_EAX, 12, NULL},
    {"AVX IFMA", "avx_ifma", AS_CPUID_7_1, AS_CPUID_EAX, 23, "avx"},
    {"LZCNT", "abm", AS_CPUID_80000001, AS_CPUID_ECX, 5, NULL},
    {"SSE4A", "sse4a", AS_CPUID_80000001, AS_CPUID_ECX, 6, NULL},
    {"XOP", "xop", AS_CPUID_80000001, AS_CPUID_ECX, 11, "avx"},
    {"FMA4", "fma4", AS_CPUID_80000001, AS_CPUID_ECX, 16, "avx"},
    {"TBM", "tbm", AS_CPUID_80000001, AS_CPUID_ECX, 21, NULL},
};
/* clang-format on */

static bool has_flag(const char *cpuinfo, const char *flag)
{
    const char *flags = strstr(cpuinfo, "\nflags"), *end = flags ? strchr(flags + 1, '\n') : NULL;
    size_t length = strlen(flag);
    for (const char *at = flags; at && (at = strstr(at, flag)) && (!end || at < end); at += length)
        if (at[-1] == ' ' && strchr(" \n", at[length]))
            return true;
    return false;
}

static bool sees(const struct as_cpuid *cpuid, const struct feature *feature)
{
    return cpuid->words[feature->leaf][feature->where] >> feature->bit & 1;
}

/* Whether what the feature is a part of is missing itself, so that one name says both. */
static bool is_named(const struct as_cpuid *cpuid, const struct feature *feature)
{
    for (size_t i = 0; feature->part_of && i < sizeof features / sizeof *features; i++)
        if (strcmp(features[i].flag, feature->part_of) == 0)
            return !sees(cpuid, &features[i]);
    return false;
}

/* ": without AVX-512, SHA": what this machine has and QEMU's processor has not. */
static void add_missing(struct as_str *text, const char *cpuinfo, const struct as_cpuid *cpuid)
{
    const char *between = ": without ";
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        const struct feature *feature = &features[i];
        if (sees(cpuid, feature) || is_named(cpuid, feature) || !has_flag(cpuinfo, feature->flag))
            continue;
        as_str_addf(text, "%s%s", between, feature->name);
        between = ", ";
    }
}

static void add_cpuid(struct as_store_writer *writer, const char *qemu)
{
    struct as_str text = {0};
    struct as_cpuid cpuid;
    char *cpuinfo = calloc(1, CPUINFO_BYTES);
    as_str_add(&text, SAW);
    if (cpuinfo && as_probe_read("", "/proc/cpuinfo", cpuinfo, CPUINFO_BYTES) && as_qemu_cpuid(qemu, &cpuid))
        add_missing(&text, cpuinfo, &cpuid);
    as_str_add(&text, "; " VARIANTS);
    as_store_add_quality(writer, "cpuid", NAN, as_str_get(&text));
    as_str_free(&text);
    free(cpuinfo);
}

void as_record_add_processor(struct as_store_writer *writer, const struct as_record_options *options,
                             const struct as_engine *engine)
{
    const struct as_image *image = as_engine_image(engine, 1);
    if (options->core_why && options->core_why[0])
        as_store_add_meta(writer, AS_META_CORE_WHY, options->core_why);
    if (image && image->arch == AS_ARCH_X86_64)
        add_cpuid(writer, as_engine_qemu(engine, AS_ARCH_X86_64));
}

void as_record_add_clock(struct as_store_writer *writer, const struct as_engine_result *engine)
{
    const char *note = as_engine_clock_note(engine);
    if (note)
        as_store_add_quality(writer, "clock", NAN, note);
}
