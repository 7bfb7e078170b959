/* Words between separators. */
#include "base/split.h"

#include "unit.h"

static void expect(const char *text, const char *separators, const char *joined)
{
    size_t n;
    char **words = as_split(text, separators, &n), line[64] = "";
    for (size_t i = 0; i < n; i++) {
        strcat(line, words[i]);
        strcat(line, "|");
    }
    assert_string_equal(line, joined);
    assert_null(words[n]);
    as_split_free(words);
}

static void words_between_separators(void **state)
{
    expect("a,bc,d", ",", "a|bc|d|");
    expect("one", ",", "one|");
    expect("a+b,c", "+,", "a|b|c|");
    expect("a b,c", ",", "a b|c|");
}

static void empty_words_are_left_out(void **state)
{
    expect("", ",", "");
    expect(",", ",", "");
    expect(",,a,,b,,", ",", "a|b|");
    as_split_free(as_split("a", ",", NULL));
    as_split_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_between_separators),
        cmocka_unit_test(empty_words_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
