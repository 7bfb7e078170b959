/* Who wrote a word last, and when: words that are kept, words that are only remembered for a while. */
#include "engine/word_clocks.h"
#include "unit.h"

static void test_another_thread_wrote_it(void **state)
{
    struct as_word_clocks *clocks = as_word_clocks_new();
    struct as_word_writer writer;
    assert_false(as_word_clocks_see(clocks, 7, 1, &writer));
    assert_false(as_word_clocks_write(clocks, 7, 1, 100));
    assert_false(as_word_clocks_see(clocks, 7, 1, &writer)); /* its own */
    assert_true(as_word_clocks_see(clocks, 7, 2, &writer));
    assert_int_equal(writer.thread, 1);
    assert_int_equal(writer.clock, 100);
    assert_false(writer.was_awaited);
    as_word_clocks_free(clocks);
}

static void test_seen_words_are_kept(void **state)
{
    enum { OTHERS = 1000000 };
    struct as_word_clocks *clocks = as_word_clocks_new();
    struct as_word_writer writer;
    as_word_clocks_write(clocks, 7, 1, 100);
    assert_true(as_word_clocks_see(clocks, 7, 2, &writer));
    assert_true(as_word_clocks_write(clocks, 7, 2, 200));
    for (uint64_t i = 0; i < OTHERS; i++)
        assert_false(as_word_clocks_write(clocks, 1000 + i, 3, i));
    assert_true(as_word_clocks_see(clocks, 7, 1, &writer));
    assert_int_equal(writer.thread, 2);
    assert_int_equal(writer.clock, 200);
    assert_true(writer.was_awaited);
    assert_false(as_word_clocks_see(clocks, 1000, 1, &writer)); /* forgotten */
    assert_true(as_word_clocks_see(clocks, 1000 + OTHERS - 1, 1, &writer));
    as_word_clocks_free(clocks);
}

/* A word that a thread got from another is kept, whether it is written again or not. */
static void test_read_words_are_kept(void **state)
{
    enum { OTHERS = 1000000 };
    struct as_word_clocks *clocks = as_word_clocks_new();
    struct as_word_writer writer;
    as_word_clocks_write(clocks, 7, 1, 100);
    assert_true(as_word_clocks_see(clocks, 7, 2, &writer));
    for (uint64_t i = 0; i < OTHERS; i++)
        as_word_clocks_write(clocks, 1000 + i, 3, i);
    assert_true(as_word_clocks_see(clocks, 7, 3, &writer));
    assert_true(writer.thread == 1 && writer.clock == 100 && writer.was_awaited);
    as_word_clocks_free(clocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_thread_wrote_it),
        cmocka_unit_test(test_seen_words_are_kept),
        cmocka_unit_test(test_read_words_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
