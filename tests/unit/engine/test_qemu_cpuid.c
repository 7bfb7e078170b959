/* The program by which QEMU is asked what CPUID says there, run by this processor: it must say what this one says. */
#include "unit.h"

#include "engine/qemu_cpuid.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Bits of leaf 1's EBX that are the number of the processor that executes it. */
enum { ITS_NUMBER = 0xff000000 };

static void as_this_processor_says(void **state)
{
    static const uint32_t leaves[AS_CPUID_LEAVES][2] = {{1, 0}, {7, 0}, {7, 1}, {0x80000001, 0}};
    struct as_cpuid cpuid;
    size_t descriptors = unit_count_descriptors();
    assert_true(as_qemu_cpuid("/usr/bin/env", &cpuid)); /* executes its argument */
    assert_int_equal(unit_count_descriptors(), descriptors);
    for (size_t i = 0; i < AS_CPUID_LEAVES; i++) {
        uint32_t want[AS_CPUID_REGISTERS] = {0};
        __cpuid_count(leaves[i][0], leaves[i][1], want[0], want[1], want[2], want[3]);
        uint32_t known = i == AS_CPUID_1 ? ~(uint32_t)ITS_NUMBER : UINT32_MAX;
        assert_int_equal(cpuid.words[i][AS_CPUID_EAX], want[0]);
        assert_int_equal(cpuid.words[i][AS_CPUID_EBX] & known, want[1] & known);
        assert_int_equal(cpuid.words[i][AS_CPUID_ECX], want[2]);
        assert_int_equal(cpuid.words[i][AS_CPUID_EDX], want[3]);
    }
}
#else
static void as_this_processor_says(void **state)
{
    unit_skip("this processor is no x86-64");
}
#endif

static void no_answer(void **state)
{
    struct as_cpuid cpuid;
    size_t descriptors = unit_count_descriptors();
    assert_false(as_qemu_cpuid("/nowhere/qemu", &cpuid));
    assert_false(as_qemu_cpuid("/bin/true", &cpuid)); /* prints nothing */
    assert_int_equal(unit_count_descriptors(), descriptors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_this_processor_says), cmocka_unit_test(no_answer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
