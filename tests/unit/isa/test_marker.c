/* Markers by their bytes: what the header emits is recognised, with its number, and nothing else is. */
#include "isa/marker_code.h"

#include "assay/marker.h"
#include "unit.h"

/* Code that is looked at, never called. Each marker follows a pattern that no compiler has between functions. */
extern const uint8_t marker_bytes[], marker_bytes_end[];
#if defined(__x86_64__) || defined(__riscv)
static __attribute__((used, noinline)) void hold_markers(void)
{
    __asm__ volatile("marker_bytes:");
    ASSAY_MARKER(0);
    ASSAY_ROI_BEGIN();
    ASSAY_ROI_END();
    ASSAY_MARKER(2047);
    __asm__ volatile("marker_bytes_end:");
}
#endif

static void test_header(void **state)
{
#if defined(__x86_64__)
    enum { LENGTH = 8, ARCH = AS_ARCH_X86_64 };
#elif defined(__riscv)
    enum { LENGTH = 4, ARCH = AS_ARCH_RISCV64 };
#else
    unit_skip("there are no markers on this architecture");
#endif
#if defined(__x86_64__) || defined(__riscv)
    static const int numbers[] = {0, ASSAY_MARKER_BEGIN, ASSAY_MARKER_END, 2047};
    hold_markers();
    assert_int_equal(marker_bytes_end - marker_bytes, 4 * LENGTH);
    for (int i = 0; i < 4; i++)
        assert_int_equal(as_marker_code_number((enum as_arch)ARCH, marker_bytes + i * LENGTH, LENGTH), numbers[i]);
#endif
}

static void test_bytes(void **state)
{
    static const struct {
        enum as_arch arch;
        size_t length;
        uint8_t bytes[8];
        int number;
    } cases[] = {
        {AS_ARCH_X86_64, 8, {0x0f, 0x1f, 0x84, 0x00, 0x05, 0x00, 0x53, 0x41}, 5},
        {AS_ARCH_X86_64, 8, {0x0f, 0x1f, 0x84, 0x00, 0xff, 0x07, 0x53, 0x41}, 2047},
        {AS_ARCH_X86_64, 8, {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x08, 0x53, 0x41}, -1},
        {AS_ARCH_X86_64, 8, {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}, -1}, /* a compiler's */
        {AS_ARCH_X86_64, 7, {0x0f, 0x1f, 0x84, 0x00, 0x05, 0x00, 0x53, 0x41}, -1},
        {AS_ARCH_RISCV64, 4, {0x13, 0xa0, 0x5d, 0x00}, 5},
        {AS_ARCH_RISCV64, 4, {0x13, 0xa0, 0xfd, 0x7f}, 2047},
        {AS_ARCH_RISCV64, 4, {0x13, 0xa0, 0xfd, 0xff}, -1}, /* a negative number */
        {AS_ARCH_RISCV64, 4, {0x93, 0xa0, 0x5d, 0x00}, -1}, /* it writes a register */
        {AS_ARCH_RISCV64, 4, {0x13, 0x20, 0x5d, 0x00}, -1}, /* of another register */
        {AS_ARCH_RISCV64, 2, {0x13, 0xa0}, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(as_marker_code_number(cases[i].arch, cases[i].bytes, cases[i].length), cases[i].number);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_header), cmocka_unit_test(test_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
