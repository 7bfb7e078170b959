/* Numbers as digits are what printf writes, from one digit to twenty. */
#include "unit.h"

#include "observe/digits.h"

#include <inttypes.h>
#include <stdio.h>

static void check(uint64_t number)
{
    char got[32], want[32];
    *as_digits_put(got, number) = 0;
    snprintf(want, sizeof want, "%" PRIu64, number);
    assert_string_equal(got, want);
}

static void numbers(void **state)
{
    for (uint64_t power = 1;; power *= 10) {
        for (uint64_t number = power - 1; number <= power + 1; number++)
            check(number);
        check(power * 7 / 3);
        if (power > UINT64_MAX / 10)
            break;
    }
    check(UINT64_MAX);
    for (uint64_t number = 0; number < 30000; number += 7)
        check(number);
}

static void four_digits(void **state)
{
    for (int i = 0; i < AS_FOUR_DIGITS; i++) {
        char want[5];
        snprintf(want, sizeof want, "%04d", i);
        assert_memory_equal(as_four_digits[i], want, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(four_digits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
