/* Files that were at one path in turn, by the bytes that ran of them. */
#include "blocks/code_versions.h"

#include "unit.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_versions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
