/* Words that a user may have meant. */
#include "base/similar.h"

#include "unit.h"

static void measures_typing_errors(void **state)
{
    assert_int_equal(as_word_distance("stat", "stat"), 0);
    assert_int_equal(as_word_distance("stta", "stat"), 1);
    assert_int_equal(as_word_distance("sat", "stat"), 1);
    assert_int_equal(as_word_distance("doctro", "doctor"), 1);
    assert_int_equal(as_word_distance("anotate", "annotate"), 1);
    assert_int_equal(as_word_distance("xstat", "stat"), 1);
    assert_int_equal(as_word_distance("tat", "stat"), 1);
    assert_int_equal(as_word_distance("statx", "stat"), 1);
    assert_int_equal(as_word_distance("xxstatistics", "statistics"), 2);
    assert_int_equal(as_word_distance("tsatistisc", "statistics"), 2);
    assert_true(as_word_distance("xxxstatistics", "statistics") == 3);
    assert_true(as_word_distance("xxxxstatistics", "statistics") == SIZE_MAX);
    assert_true(as_word_distance("sc", "script") < SIZE_MAX); /* a beginning */
    assert_true(as_word_distance("tree", "stat") == SIZE_MAX);
    assert_true(as_word_distance("", "stat") == SIZE_MAX);
    char longer[200];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    assert_true(as_word_distance(longer, "stat") == SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(measures_typing_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
