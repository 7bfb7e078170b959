/* Bytes of code by address: which differ, within a run and from the file. */
#include "blocks/executed_bytes.h"

#include "unit.h"

#include <fcntl.h>
#include <unistd.h>

static void test_same(void **state)
{
    struct as_executed_bytes code = {0};
    assert_true(as_executed_bytes_add(&code, 0x103e, (const uint8_t[]){1, 2, 3, 4}, 4)); /* across two pieces */
    assert_true(as_executed_bytes_add(&code, 0x103e, (const uint8_t[]){1, 2, 3, 4}, 4));
    assert_true(as_executed_bytes_add(&code, 0x1040, (const uint8_t[]){3, 4}, 2)); /* an instruction within it */
    assert_true(as_executed_bytes_add(&code, 0x1042, (const uint8_t[]){9}, 1));
    assert_true(as_executed_bytes_add(&code, 0, (const uint8_t[]){0}, 1));
    as_executed_bytes_free(&code);
}

static void test_different(void **state)
{
    struct as_executed_bytes code = {0};
    assert_true(as_executed_bytes_add(&code, 0x103e, (const uint8_t[]){1, 2, 3, 4}, 4));
    assert_false(as_executed_bytes_add(&code, 0x103e, (const uint8_t[]){0xc3}, 1)); /* a shorter one in its place */
    assert_false(as_executed_bytes_add(&code, 0x1041, (const uint8_t[]){5, 6}, 2)); /* one that begins within it */
    assert_true(as_executed_bytes_add(&code, 0x1042, (const uint8_t[]){6}, 1));
    assert_true(
        as_executed_bytes_add(&code, 0x103e, (const uint8_t[]){1, 2, 3, 4}, 4)); /* what was there first stays */
    as_executed_bytes_free(&code);
}

static void test_file(void **state)
{
    char path[] = "/tmp/test_executed_bytes.XXXXXX";
    int fd = mkstemp(path);
    uint8_t bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
    struct as_elf elf = {.fd = fd, .size = sizeof bytes};
    *as_vec_push(&elf.segments) =
        (struct as_elf_segment){.offset = 10, .address = 0x100a, .file_size = 150, .executable = true};
    *as_vec_push(&elf.segments) = (struct as_elf_segment){.offset = 0, .address = 0x2000, .file_size = 100};
    struct as_executed_bytes code = {0};
    uint64_t address = 0;
    as_executed_bytes_add(&code, 0x1000, (const uint8_t[]){99, 99}, 2); /* before the segment */
    as_executed_bytes_add(&code, 0x103f, (const uint8_t[]){63, 64}, 2);
    as_executed_bytes_add(&code, 0x109f, (const uint8_t[]){159, 99}, 2); /* its last byte, and behind it */
    as_executed_bytes_add(&code, 0x2000, (const uint8_t[]){99}, 1);      /* no code */
    assert_true(as_executed_bytes_are_in(&code, &elf, &address));
    as_executed_bytes_add(&code, 0x1081, (const uint8_t[]){1}, 1);
    as_executed_bytes_add(&code, 0x1052, (const uint8_t[]){0x52, 1}, 2);
    assert_false(as_executed_bytes_are_in(&code, &elf, &address));
    assert_int_equal(address, 0x1053);
    as_executed_bytes_free(&code);
    as_vec_free(&elf.segments);
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_different),
        cmocka_unit_test(test_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
