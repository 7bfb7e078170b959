/* Numbers and texts from bytes, in both orders, and what happens at their end. */
#include "base/bytes.h"

#include "unit.h"

static const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static void numbers(void **state)
{
    struct as_bytes bytes = as_bytes(data, sizeof data, false);
    assert_int_equal(as_bytes_u8(&bytes), 1);
    assert_int_equal(as_bytes_u16(&bytes), 0x0302);
    assert_int_equal(as_bytes_u32(&bytes), 0x07060504);
    assert_true(as_bytes_u64(&bytes) == 0x0f0e0d0c0b0a0908);
    assert_true(as_bytes_left(&bytes) == 0 && !bytes.bad);
}

static void in_the_other_order(void **state)
{
    struct as_bytes bytes = as_bytes(data, sizeof data, true);
    assert_int_equal(as_bytes_number(&bytes, 1), 1);
    assert_int_equal(as_bytes_number(&bytes, 2), 0x0203);
    assert_int_equal(as_bytes_number(&bytes, 4), 0x04050607);
    assert_true(as_bytes_number(&bytes, 8) == 0x08090a0b0c0d0e0f);
    assert_false(bytes.bad);
    assert_int_equal(as_bytes_number(&bytes, 3), 0);
    assert_true(bytes.bad);
}

/* Nothing is taken beyond the end, nor ever again. */
static void the_end(void **state)
{
    struct as_bytes bytes = as_bytes(data, 3, false);
    assert_int_equal(as_bytes_u32(&bytes), 0);
    assert_true(bytes.bad);
    assert_int_equal(as_bytes_u8(&bytes), 0);
    assert_null(as_bytes_take(&bytes, 0));
    assert_null(as_bytes_string(&bytes));
    struct as_bytes huge = as_bytes(data, 3, false);
    assert_null(as_bytes_take(&huge, UINT64_MAX));
}

static void texts(void **state)
{
    struct as_bytes bytes = as_bytes("one\0\0open", 9, false);
    assert_string_equal(as_bytes_string(&bytes), "one");
    assert_string_equal(as_bytes_string(&bytes), "");
    assert_false(bytes.bad);
    assert_null(as_bytes_string(&bytes)); /* "open" does not end within its 4 bytes */
    assert_true(bytes.bad);
}

/* The examples of the DWARF standard. */
static void leb128(void **state)
{
    static const uint8_t unsigned_ones[] = {2, 0x7f, 0x80, 1, 0x81, 1, 0xb9, 0x64};
    static const uint8_t signed_ones[] = {2, 0x7e, 0xff, 0x00, 0x81, 0x7f, 0x80, 0x01, 0x80, 0x7f};
    struct as_bytes bytes = as_bytes(unsigned_ones, sizeof unsigned_ones, false);
    static const uint64_t want[] = {2, 127, 128, 129, 12857};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(as_bytes_uleb(&bytes), want[i]);
    bytes = as_bytes(signed_ones, sizeof signed_ones, false);
    static const int64_t want_signed[] = {2, -2, 127, -127, 128, -128};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(as_bytes_sleb(&bytes), want_signed[i]);
    assert_false(bytes.bad);
}

static void leb128_without_end(void **state)
{
    uint8_t endless[20];
    memset(endless, 0xff, sizeof endless);
    struct as_bytes bytes = as_bytes(endless, sizeof endless, false);
    as_bytes_uleb(&bytes);
    assert_true(bytes.bad);
    endless[19] = 0x7f;
    bytes = as_bytes(endless, sizeof endless, false);
    assert_true(as_bytes_uleb(&bytes) == UINT64_MAX);
    assert_false(bytes.bad);
}

static void hexadecimal(void **state)
{
    char text[8] = "-------";
    as_bytes_hex((const uint8_t[]){0x0a, 0xf1, 0x90}, 3, text);
    assert_string_equal(text, "0af190");
    assert_int_equal(text[7], '\0');
    as_bytes_hex(text, 0, text);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),     cmocka_unit_test(in_the_other_order),
        cmocka_unit_test(the_end),     cmocka_unit_test(texts),
        cmocka_unit_test(leb128),      cmocka_unit_test(leb128_without_end),
        cmocka_unit_test(hexadecimal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
