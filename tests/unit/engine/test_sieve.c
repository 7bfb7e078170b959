/* The sieve: what passes, and that a second sieve behind one that was emptied lets through what it would alone. */
#include "engine/sieve.h"

#include "base/random.h"
#include "unit.h"

#include <stdbool.h>
#include <string.h>

enum { LINE = 1 << AS_SIEVE_LINE_SHIFT, REACH = LINE * AS_SIEVE_SLOTS };

static void leaves_out_what_a_cache_would_have(void **state)
{
    uint64_t slots[AS_SIEVE_SLOTS] = {0};
    assert_true(as_sieve_pass(slots, AS_SIEVE_SLOTS, 0, 0)); /* also line 0, though slots are 0 at first */
    assert_false(as_sieve_pass(slots, AS_SIEVE_SLOTS, LINE - 1, 0));
    assert_true(as_sieve_pass(slots, AS_SIEVE_SLOTS, LINE, 0));
    assert_true(as_sieve_pass(slots, AS_SIEVE_SLOTS, 8, 1)); /* the first write of a line that was read */
    assert_false(as_sieve_pass(slots, AS_SIEVE_SLOTS, 16, 1));
    assert_false(as_sieve_pass(slots, AS_SIEVE_SLOTS, 16, 0));
    assert_true(as_sieve_pass(slots, AS_SIEVE_SLOTS, REACH, 0)); /* the same slot */
    assert_true(as_sieve_pass(slots, AS_SIEVE_SLOTS, 0, 0));
    assert_true(as_sieve_pass(slots, AS_SIEVE_SLOTS, 0, 1)); /* it is not known any more that it was written */
    assert_false(as_sieve_pass(slots, AS_SIEVE_SLOTS, LINE, 0));
}

/* In QEMU the sieve is emptied whenever recording is switched, which depends on the time. */
static void passes_the_same_whenever_another_was_emptied(void **state)
{
    enum { ACCESSES = 20000, LINES = 3 * AS_SIEVE_SLOTS };
    for (uint64_t empty_at = 0; empty_at < ACCESSES; empty_at += 1777) {
        uint64_t alone[AS_SIEVE_SLOTS] = {0}, behind[AS_SIEVE_SLOTS] = {0}, first[AS_SIEVE_SLOTS] = {0}, random = 5;
        for (uint64_t i = 0; i < ACCESSES; i++) {
            uint64_t address = as_random_below(&random, LINES) * as_random_below(&random, 3) * LINE;
            uint64_t stores = as_random_below(&random, 4) == 0;
            if (i == empty_at)
                memset(first, 0, sizeof first);
            bool recorded = i < empty_at || as_sieve_pass(first, AS_SIEVE_SLOTS, address, stores);
            bool expected = as_sieve_pass(alone, AS_SIEVE_SLOTS, address, stores);
            assert_int_equal(recorded && as_sieve_pass(behind, AS_SIEVE_SLOTS, address, stores), expected);
        }
    }
}

/* QEMU's sieve is a coarse one far from regions; the reader's behind it is not. */
static void passes_a_fine_one_behind_a_coarse_one(void **state)
{
    enum { ACCESSES = 20000, LINES = 3 * AS_SIEVE_COARSE_SLOTS };
    uint64_t coarse[AS_SIEVE_COARSE_SLOTS] = {0}, fine[AS_SIEVE_SLOTS] = {0}, random = 7, passed = 0;
    for (uint64_t i = 0; i < ACCESSES; i++) {
        uint64_t address = as_random_below(&random, LINES) * as_random_below(&random, 3) * LINE;
        uint64_t stores = as_random_below(&random, 4) == 0;
        if (!as_sieve_pass(coarse, AS_SIEVE_COARSE_SLOTS, address, stores))
            continue;
        assert_true(as_sieve_pass(fine, AS_SIEVE_SLOTS, address, stores));
        passed++;
    }
    assert_in_range(passed, ACCESSES / 10, ACCESSES - 1);
}

/* Sieves of several threads: a line that another one wrote passes again, and the first write behind another one's read. */
static void loses_what_others_access(void **state)
{
    uint64_t slots[AS_SIEVE_SLOTS] = {0};
    assert_true(as_sieve_pass(slots, AS_SIEVE_SLOTS, 0, 1));
    as_sieve_lose(slots, AS_SIEVE_SLOTS, REACH, 1); /* the same slot, another line */
    as_sieve_lose(slots, AS_SIEVE_SLOTS, LINE, 1);
    assert_false(as_sieve_pass(slots, AS_SIEVE_SLOTS, 0, 1));
    as_sieve_lose(slots, AS_SIEVE_SLOTS, 8, 0);
    assert_false(as_sieve_pass(slots, AS_SIEVE_SLOTS, 0, 0));
    assert_true(as_sieve_pass(slots, AS_SIEVE_SLOTS, 0, 1));
    as_sieve_lose(slots, AS_SIEVE_SLOTS, 8, 1);
    assert_true(as_sieve_pass(slots, AS_SIEVE_SLOTS, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_out_what_a_cache_would_have),
        cmocka_unit_test(passes_the_same_whenever_another_was_emptied),
        cmocka_unit_test(passes_a_fine_one_behind_a_coarse_one),
        cmocka_unit_test(loses_what_others_access),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
