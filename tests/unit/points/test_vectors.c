/* Vectors as text, both ways, and what is refused. */
#include "points/vectors.h"

#include "unit.h"

static bool read_text(const char *text, size_t length, struct as_vectors *vectors, struct as_error *err)
{
    FILE *in = fmemopen((void *)text, length, "r");
    assert_non_null(in);
    bool ok = as_vectors_read(vectors, in, "x.bb", err);
    fclose(in);
    return ok;
}

static char *write_text(const struct as_vectors *vectors)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_true(as_vectors_write(vectors, out));
    fclose(out);
    return text;
}

static void test_intervals(void **state)
{
    struct as_vectors vectors = {0};
    as_vectors_add(&vectors, 7, 3);
    as_vectors_add(&vectors, 2, 10);
    as_vectors_add(&vectors, 7, 4);
    as_vectors_add(&vectors, 3, 0);
    as_vectors_end(&vectors);
    as_vectors_end(&vectors); /* an empty interval is none */
    as_vectors_add(&vectors, 9, 1);
    as_vectors_end(&vectors);
    assert_int_equal(vectors.list.len, 2);
    assert_int_equal(vectors.list.data[0].instructions, 17);
    assert_int_equal(vectors.blocks, 9);
    assert_int_equal(as_vectors_instructions(&vectors), 18);
    char *text = write_text(&vectors);
    assert_string_equal(text, "T:2:10 :7:7 \nT:9:1 \n");
    free(text);
    as_vectors_free(&vectors);
}

static void test_large_counts(void **state)
{
    struct as_vectors vectors = {0};
    as_vectors_add(&vectors, 1, UINT64_C(10000000000));
    as_vectors_end(&vectors);
    assert_int_equal(vectors.list.data[0].instructions, UINT64_C(10000000000));
    as_vectors_free(&vectors);
}

static void test_reading(void **state)
{
    static const char text[] = "# made by hand\nT:5:20   :1:30\t\r\n\nT:1:7.0 :2:1\n#  Total: 58\n";
    struct as_vectors vectors = {0};
    struct as_error err = AS_ERROR_INIT;
    assert_true(read_text(text, sizeof text - 1, &vectors, &err));
    char *again = write_text(&vectors);
    assert_string_equal(again, "T:1:30 :5:20 \nT:1:7 :2:1 \n");
    free(again);
    as_vectors_free(&vectors);
}

/* Blocks are counted; their numbers are names. */
static void test_blocks(void **state)
{
    static const char text[] = "T:268435456:5 :3:1\nT:1:5 :268435456:7\n";
    struct as_vectors vectors = {0};
    struct as_error err = AS_ERROR_INIT;
    assert_true(read_text(text, sizeof text - 1, &vectors, &err));
    assert_int_equal(as_vectors_blocks(&vectors), 3);
    as_vectors_free(&vectors);
}

/* Some editors put a mark in front of the text: the first interval counts all the same. */
static void test_byte_order_mark(void **state)
{
    static const char text[] = "\xef\xbb\xbfT:1:30\nT:2:7\n";
    struct as_vectors vectors = {0};
    struct as_error err = AS_ERROR_INIT;
    assert_true(read_text(text, sizeof text - 1, &vectors, &err));
    assert_int_equal(vectors.list.len, 2);
    as_vectors_free(&vectors);
}

static void test_foreign_files(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "no interval in it"},
        {"hello\nworld\n", "no interval in it"},
        {"T:1:2\nT1 2\n", "x.bb:2: not a frequency vector"},
        {"T:0:5\n", "x.bb:1: not a frequency vector"},
        {"T:1:\n", "x.bb:1: not a frequency vector"},
        {"T:1:-3\n", "x.bb:1: not a frequency vector"},
        {"T:4294967297:3\n", "x.bb:1: not a frequency vector"},
        {"T:1:99999999999999999999999\n", "x.bb:1: not a frequency vector"},
        {"T:1:9223372036854775807\n", "x.bb:1: not a frequency vector"},
        {"T:1:1099511627777\n", "x.bb:1: not a frequency vector"},
        {"T:1:1099511627776 :2:1\n", "x.bb:1: not a frequency vector"},
        {"T\n", "x.bb:1: an interval without any instruction"},
        {"T:1:0\n", "x.bb:1: an interval without any instruction"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_vectors vectors = {0};
        struct as_error err = AS_ERROR_INIT;
        assert_false(
            read_text(*cases[i].text ? cases[i].text : " ", strlen(cases[i].text) + !*cases[i].text, &vectors, &err));
        if (!strstr(err.message, cases[i].says))
            fail_msg("'%s': %s", cases[i].text, err.message);
        as_vectors_free(&vectors);
    }
}

static void test_binary(void **state)
{
    static const char bytes[] = "T:1:2\n\177ELF\0\0\0\n";
    struct as_vectors vectors = {0};
    struct as_error err = AS_ERROR_INIT;
    assert_false(read_text(bytes, sizeof bytes - 1, &vectors, &err));
    assert_string_equal(err.message, "x.bb:2: not text");
    as_vectors_free(&vectors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals),     cmocka_unit_test(test_large_counts),    cmocka_unit_test(test_reading),
        cmocka_unit_test(test_foreign_files), cmocka_unit_test(test_byte_order_mark), cmocka_unit_test(test_binary),
        cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
