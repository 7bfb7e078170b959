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

static void expect_near(const char *typed, const char *const *names, const char *expected)
{
    struct as_similar similar = {.typed = typed};
    for (size_t i = 0; names[i]; i++)
        as_similar_add(&similar, names[i]);
    char *text = as_similar_take(&similar);
    assert_string_equal(text, expected);
    free(text);
}

static void lists_the_nearest_names(void **state)
{
    char longer[201];
    memset(longer, 'x', sizeof longer);
    memcpy(longer, "work", 4);
    longer[sizeof longer - 1] = '\0';
    expect_near("wrok", (const char *const[]){"brk", "work", "sleep", NULL}, "; did you mean work?");
    expect_near("wrok", (const char *const[]){"brk", NULL}, "");
    expect_near("work", (const char *const[]){"word", "works", "worker", "fork", "work2", NULL},
                "; did you mean word or works or fork?");
    expect_near("work", (const char *const[]){"works", "works", "word", NULL}, "; did you mean works or word?");
    expect_near("work", (const char *const[]){"a_long_workshop", "my_homework", "works", NULL},
                "; did you mean works or my_homework or a_long_workshop?");
    expect_near("abc", (const char *const[]){"my_abc", NULL}, "; did you mean my_abc?");
    expect_near("rk", (const char *const[]){"homework", NULL}, ""); /* too short for a part */
    expect_near("work", (const char *const[]){longer, NULL}, "");
    longer[199] = '\0';
    struct as_similar similar = {.typed = "work"};
    as_similar_add(&similar, longer);
    assert_int_equal(similar.n, 1);
    free(as_similar_take(&similar));
    expect_near("workx", (const char *const[]){"wo\nrkx", NULL}, "; did you mean wo?rkx?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_typing_errors),
        cmocka_unit_test(lists_the_nearest_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
