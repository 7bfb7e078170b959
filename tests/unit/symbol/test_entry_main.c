/* What `_start` gives to the C library as main, from its bytes. */
#include "unit.h"

#include "symbol/entry_main.h"

#include <elf.h>

static const uint64_t entry = 0x1000;

static uint64_t main_of(const char *code, size_t n)
{
    return as_main_of_start((const uint8_t *)code, n, entry);
}
#define MAIN_OF(code) main_of(code, sizeof code - 1)

/* xor ebp, ebp first, as in all of them; offsets count from the end of the instruction that loads. */
static void test_known(void **state)
{
    assert_int_equal(MAIN_OF("\x31\xed\x48\x8d\x3d\x10\x00\x00\x00\xff\x15\x01\x02\x03\x04\xf4"), entry + 9 + 0x10);
    assert_int_equal(MAIN_OF("\x31\xed\x48\x8d\x3d\xf0\xff\xff\xff\x67\xe8\x01\x02\x03\x04\xf4"), entry + 9 - 0x10);
    assert_int_equal(MAIN_OF("\x31\xed\x48\xc7\xc7\x30\x12\x40\x00\xe8\x01\x02\x03\x04\xf4"), 0x401230);
}

static void test_others(void **state)
{
    assert_int_equal(MAIN_OF(""), 0);
    /* no hlt, no call, a hlt where the call should be, not rdi, and one that breaks off */
    assert_int_equal(MAIN_OF("\x31\xed\x48\x8d\x3d\x10\x00\x00\x00\xff\x15\x01\x02\x03\x04\x90"), 0);
    assert_int_equal(MAIN_OF("\x31\xed\x48\x8d\x3d\x10\x00\x00\x00\x90\x90\x90\x90\x90\x90\xf4"), 0);
    assert_int_equal(MAIN_OF("\x31\xed\x48\x8d\x3d\x10\x00\x00\x00\xf4\xf4\xf4\xf4\xf4\xf4\xf4"), 0);
    assert_int_equal(MAIN_OF("\x31\xed\x48\x8d\x35\x10\x00\x00\x00\xff\x15\x01\x02\x03\x04\xf4"), 0);
    for (size_t n = 0; n < 16; n++)
        assert_int_equal(main_of("\x31\xed\x48\x8d\x3d\x10\x00\x00\x00\xff\x15\x01\x02\x03\x04\xf4", n), 0);
}

#ifdef __x86_64__
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
int main(void);

/* Its own, by the address in its file. */
static void test_of_this_program(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_elf *elf = as_elf_open("/proc/self/exe", &err);
    assert_non_null(elf);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)__ehdr_start;
    uint64_t loaded = header->e_type == ET_DYN ? (uint64_t)(uintptr_t)__ehdr_start : 0;
    assert_true(as_elf_main(elf) == (uint64_t)(uintptr_t)main - loaded);
    elf->machine = EM_RISCV; /* whose _start is another */
    assert_int_equal(as_elf_main(elf), 0);
    as_elf_close(elf);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_others),
#ifdef __x86_64__
        cmocka_unit_test(test_of_this_program),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
