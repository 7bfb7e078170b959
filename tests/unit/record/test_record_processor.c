/* What a profile says of the processor that a modelled program saw: each feature that this machine has and QEMU's processor has not, but
 * for parts of one that is named. Machine, QEMU and profile are this file's. */
#include "engine/qemu_cpuid.h"
#include "native/probe_parts.h"
#include "record/record_model.h"

#include "unit.h"
#include "unit_golden.h"

#include <math.h>

/* Everything that is looked for, in the words of /proc/cpuinfo, and words that only contain such ones. */
static const char all_flags[] =
    "xpni pnix lahf_lm cmp_legacy pni pclmulqdq ssse3 fma sse4_1 sse4_2 movbe popcnt aes avx f16c rdrand bmi1 avx2 "
    "bmi2 erms rtm "
    "avx512f avx512dq rdseed adx avx512ifma clflushopt clwb avx512cd sha_ni avx512bw avx512vl avx512vbmi waitpkg "
    "avx512_vbmi2 gfni "
    "vaes vpclmulqdq avx512_vnni avx512_bitalg avx512_vpopcntdq rdpid movdiri movdir64b fsrm avx512_vp2intersect "
    "amx_bf16 "
    "avx512_fp16 amx_tile amx_int8 sha512 sm3 sm4 avx_vnni avx512_bf16 fzrm fsrs fsrc avx_ifma abm sse4a xop fma4 tbm";

static const char *cpuinfo; /* NULL: cannot be read */
static struct as_cpuid cpuid;
static bool answers;
static struct as_image image;
static char *said;

bool as_probe_read(const char *root, const char *path, char *text, size_t size)
{
    assert_string_equal(root, "");
    assert_string_equal(path, "/proc/cpuinfo");
    if (!cpuinfo)
        return false;
    assert_true(strlen(cpuinfo) < size);
    strcpy(text, cpuinfo);
    return true;
}

bool as_qemu_cpuid(const char *qemu, struct as_cpuid *out)
{
    assert_string_equal(qemu, "the qemu");
    *out = cpuid;
    return answers;
}

const struct as_image *as_engine_image(const struct as_engine *engine, uint32_t number)
{
    return number == 1 && image.number ? &image : NULL;
}

const char *as_engine_qemu(const struct as_engine *engine, enum as_arch arch)
{
    return arch == AS_ARCH_X86_64 ? "the qemu" : NULL;
}

static const char *clock_note;

const char *as_engine_clock_note(const struct as_engine_result *result)
{
    return clock_note;
}

static void say(const char *key, const char *text)
{
    char *more = as_format("%s%s: %s\n", said, key, text);
    free(said);
    said = more;
}

void as_store_add_meta(struct as_store_writer *writer, const char *key, const char *value)
{
    say(key, value);
}

void as_store_add_quality(struct as_store_writer *writer, const char *key, double value, const char *text)
{
    assert_true(isnan(value));
    say(key, text);
}

/* What is said with such a machine. The result is the caller's. */
static char *say_all(const char *why)
{
    struct as_record_options options = {.core_why = why};
    said = as_strdup("");
    as_record_add_processor(NULL, &options, NULL);
    return said;
}

static void set_up(const char *info)
{
    cpuinfo = info;
    cpuid = (struct as_cpuid){0};
    answers = true;
    image = (struct as_image){.number = 1, .arch = AS_ARCH_X86_64};
}

static char *info_of(const char *flags)
{
    return as_format("processor\t: 0\nmodel name\t: own\nflags\t\t: %s\nbugs\t\t: adx tbm\n\nprocessor\t: 1\n", flags);
}

/* With all features here and none there; then with each bit of CPUID set there alone, which only those lack that have it. */
static void test_features(void **state)
{
    char *info = info_of(all_flags);
    FILE *out = unit_golden_begin();
    set_up(info);
    char *none = say_all(NULL);
    unit_golden_section(out, "QEMU has nothing");
    fputs(none, out);
    for (unsigned bit = 0; bit < AS_CPUID_LEAVES * AS_CPUID_REGISTERS * 32; bit++) {
        cpuid = (struct as_cpuid){0};
        cpuid.words[bit / 32 / AS_CPUID_REGISTERS][bit / 32 % AS_CPUID_REGISTERS] = 1u << bit % 32;
        char *own = say_all(NULL);
        if (strcmp(own, none) != 0) {
            unit_golden_section(out, "leaf %u, register %u, bit %u", bit / 32 / AS_CPUID_REGISTERS,
                                bit / 32 % AS_CPUID_REGISTERS, bit % 32);
            fputs(own, out);
        }
        free(own);
    }
    memset(&cpuid, 0xff, sizeof cpuid);
    char *all = say_all(NULL);
    unit_golden_section(out, "QEMU has all");
    fputs(all, out);
    unit_golden_check(out, "record_processor.txt");
    free(all);
    free(none);
    free(info);
}

#define SAW "cpuid: the program saw the processor of QEMU by CPUID, not this one"
#define VARIANTS "; code that is chosen by CPUID (memcpy, BLAS, OpenSSL) may be another variant than on this machine\n"

static void check(const char *why, const char *want)
{
    char *own = say_all(why);
    assert_string_equal(own, want);
    free(own);
}

/* A flag is a word of the first processor's flags, the last one too. */
static void test_words(void **state)
{
    static const char *const flags[] = {"adx", "pni adx", "adx pni"};
    static const char *const want[] = {SAW ": without ADX" VARIANTS, SAW ": without SSE3, ADX" VARIANTS,
                                       SAW ": without SSE3, ADX" VARIANTS};
    for (size_t i = 0; i < 3; i++) {
        char *info = info_of(flags[i]);
        set_up(info);
        check(NULL, want[i]);
        free(info);
    }
    set_up("processor\t: 0\nflags\t\t: adx");
    check(NULL, SAW ": without ADX" VARIANTS);
    set_up("processor\t: 0\nflags\t\t: xadx adxx bmi12 abmi1\nbugs\t\t: adx\n");
    check(NULL, SAW VARIANTS);
    set_up("processor\t: 0\nbugs\t\t: adx\n");
    check(NULL, SAW VARIANTS);
}

/* What is not known is left out; programs of other machines have no CPUID. */
static void test_unknown(void **state)
{
    set_up(NULL);
    check("", SAW VARIANTS);
    set_up("\nflags\t\t: adx\n");
    answers = false;
    check("it is like this one", "core_why: it is like this one\n" SAW VARIANTS);
    image.arch = AS_ARCH_RISCV64;
    check("so", "core_why: so\n");
    image.number = 0;
    check(NULL, "");
}

static void test_clock(void **state)
{
    said = as_strdup("");
    as_record_add_clock(NULL, NULL);
    assert_string_equal(said, "");
    clock_note = "a note";
    as_record_add_clock(NULL, NULL);
    assert_string_equal(said, "clock: a note\n");
    free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_features), cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_unknown), cmocka_unit_test(test_clock)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
