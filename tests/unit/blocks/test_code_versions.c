/* Files that were at one path in turn, by the bytes that ran of them. */
#include "blocks/code_versions.h"

#include "unit.h"

#include <unistd.h>

static const char path[] = "/nowhere/prog";

static void run(struct as_code_versions *versions, uint32_t image, const char *of, uint64_t address, uint8_t byte)
{
    as_code_versions_add(versions, image, of, address, &byte, 1);
}

static void test_versions(void **state)
{
    struct as_code_versions versions;
    as_code_versions_open(&versions);
    run(&versions, 1, path, 0x1000, 1);
    run(&versions, 1, "/nowhere/lib", 0x1000, 7);
    run(&versions, 2, path, 0x1000, 1);
    run(&versions, 2, path, 0x1100, 2); /* as far as it ran, image 1 is the same */
    run(&versions, 3, path, 0x1000, 1);
    run(&versions, 3, path, 0x1100, 3); /* other than image 2, not than 1 alone */
    run(&versions, 3, "/nowhere/lib", 0x1000, 7);
    run(&versions, 4, path, 0x1000, 4);
    run(&versions, 5, path, 0x1100, 3);
    run(&versions, 6, path, 0x1200, 6); /* of any of them: the first */
    as_code_versions_settle(&versions);
    static const uint32_t wanted[] = {[1] = 0, 0, 2, 3, 2, 0};
    for (uint32_t image = 1; image <= 6; image++)
        assert_int_equal(as_code_versions_number(&versions, image, path), wanted[image]);
    assert_int_equal(as_code_versions_number(&versions, 3, "/nowhere/lib"), 0);
    assert_int_equal(as_code_versions_number(&versions, 9, path), 0);
    assert_int_equal(as_code_versions_number(&versions, 1, "/nowhere/else"), 0);
    as_code_versions_close(&versions);
}

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/* Of two that ran at the path of this program, the one that the file still has is the unnumbered one, though it came second. */
static void test_own_file(void **state)
{
    char own[4096];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    assert_true(n > 0);
    own[n] = '\0';
    const uint8_t *code = (const uint8_t *)test_versions;
    uint64_t address = (uint64_t)((const char *)code - __ehdr_start);
    for (int same = 0; same < 2; same++) {
        struct as_code_versions versions;
        as_code_versions_open(&versions);
        run(&versions, 1, own, address, (uint8_t)(code[0] + 1));
        run(&versions, 2, own, address, (uint8_t)(code[0] + 2));
        run(&versions, 3, own, address, (uint8_t)(code[0] + (same ? 0 : 3)));
        run(&versions, 3, "/nowhere/lib", 0x1000, 7);
        as_code_versions_settle(&versions);
        assert_int_equal(as_code_versions_number(&versions, 1, own), same ? 2 : 0);
        assert_int_equal(as_code_versions_number(&versions, 2, own), same ? 3 : 2);
        assert_int_equal(as_code_versions_number(&versions, 3, own), same ? 0 : 3);
        as_code_versions_close(&versions);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_versions), cmocka_unit_test(test_own_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
