/* False sharing by pairs of lines, and how much of it misses allow, of short streams whose numbers can be told. */
#include "reuse/adjacent.h"
#include "unit.h"

enum { LINE = 64, BASE = 0x10000 };

static const struct as_cache_shape eight_lines = {.lines = 8, .ways = 8};

static void access_line(struct as_adjacent *adjacent, uint32_t thread, uint64_t line, uint8_t kind)
{
    struct as_data_access access = {.address = BASE + line * LINE, .size = 8, .kind = kind};
    as_adjacent_take(adjacent, thread, 1, &access, 1);
}

/* Two threads write one line each of a pair, in turn: all but the first is false sharing by the pair, and there is one miss of each. */
static void lines_that_stay_miss_once(void **state)
{
    struct as_adjacent *adjacent = as_adjacent_new(6, &eight_lines);
    for (int i = 0; i < 10; i++)
        for (uint32_t thread = 0; thread < 2; thread++)
            access_line(adjacent, thread, thread, AS_ACCESS_STORE);
    struct as_adjacent_sum sum = as_adjacent_sum(adjacent);
    assert_int_equal(sum.lines_pairs, 1);
    assert_int_equal(sum.counts.false_sharing, 19);
    assert_int_equal(sum.counts.near, 19);
    assert_int_equal(sum.counts.misses, 2);
    assert_int_equal(sum.counts.transfers, 0);
    assert_int_equal(sum.possible, 2);
    as_adjacent_free(adjacent);
}

/* The same with so many lines that each is gone from its cache before it comes again. */
static void lines_that_go_miss_each_time(void **state)
{
    struct as_adjacent *adjacent = as_adjacent_new(6, &eight_lines);
    for (int i = 0; i < 10; i++)
        for (uint64_t pair = 0; pair < 16; pair++)
            for (uint32_t thread = 0; thread < 2; thread++)
                access_line(adjacent, thread, 2 * pair + thread, AS_ACCESS_STORE);
    struct as_adjacent_sum sum = as_adjacent_sum(adjacent);
    assert_int_equal(sum.lines_pairs, 16);
    assert_int_equal(sum.counts.false_sharing, 16 * 19);
    assert_int_equal(sum.counts.near, 16 * 10); /* thread 1 comes right behind thread 0, and thread 0 a round later */
    assert_int_equal(sum.counts.misses, 16 * 20);
    assert_int_equal(sum.possible, 16 * 10);
    as_adjacent_free(adjacent);
}

/* Thread 0 writes all of its lines, and then thread 1 all of its own: only the last eight of thread 0's are still in its cache. */
static void what_its_writer_has_lost_is_far(void **state)
{
    struct as_adjacent *adjacent = as_adjacent_new(6, &eight_lines);
    for (uint32_t thread = 0; thread < 2; thread++)
        for (uint64_t pair = 0; pair < 32; pair++)
            access_line(adjacent, thread, 2 * pair + thread, AS_ACCESS_STORE);
    struct as_adjacent_sum sum = as_adjacent_sum(adjacent);
    assert_int_equal(sum.counts.false_sharing, 32);
    assert_int_equal(sum.counts.near, 8);
    assert_int_equal(sum.possible, 8);
    as_adjacent_free(adjacent);
}

/* A thread whose line another one took has nothing to move any more; and what moves by the line is not the pair's. */
static void near_by_the_line_is_not_by_the_pair(void **state)
{
    struct as_adjacent *adjacent = as_adjacent_new(6, &eight_lines);
    struct as_data_access beside = {.address = BASE + 8, .size = 8, .kind = AS_ACCESS_STORE};
    access_line(adjacent, 0, 0, AS_ACCESS_STORE);
    as_adjacent_take(adjacent, 1, 1, &beside, 1); /* false sharing of the line, and of the pair */
    assert_int_equal(as_adjacent_sum(adjacent).counts.near, 0);
    access_line(adjacent, 0, 1, AS_ACCESS_STORE); /* beside thread 1's */
    assert_int_equal(as_adjacent_sum(adjacent).counts.near, 1);
    as_adjacent_free(adjacent);
}

/* What is shared by the line already is no false sharing of the pair, and makes the line move. */
static void lines_that_are_shared_move(void **state)
{
    struct as_adjacent *adjacent = as_adjacent_new(6, &eight_lines);
    struct as_adjacent_pair pairs[4];
    for (int i = 0; i < 10; i++)
        for (uint32_t thread = 0; thread < 2; thread++)
            access_line(adjacent, thread, 0, AS_ACCESS_STORE);
    access_line(adjacent, 0, 5, AS_ACCESS_LOAD);
    access_line(adjacent, 1, 4, AS_ACCESS_LOAD); /* loads disturb nobody */
    struct as_adjacent_sum sum = as_adjacent_sum(adjacent);
    assert_int_equal(sum.counts.false_sharing, 0);
    assert_int_equal(sum.counts.transfers, 19);
    assert_int_equal(sum.counts.misses, 20 + 2);
    assert_int_equal(as_adjacent_most(adjacent, pairs, 4), 0);
    as_adjacent_free(adjacent);
}

static void the_most_come_first(void **state)
{
    struct as_adjacent *adjacent = as_adjacent_new(6, &eight_lines);
    struct as_adjacent_pair pairs[2];
    for (uint64_t pair = 0; pair < 20; pair++)
        for (uint64_t i = 0; i <= pair; i++)
            for (uint32_t thread = 0; thread < 2; thread++) {
                for (uint64_t other = 0; other < 8; other++) /* pushes its own line out */
                    access_line(adjacent, thread, 1000 + 16 * thread + 2 * other, AS_ACCESS_LOAD);
                access_line(adjacent, thread, 2 * pair + thread, AS_ACCESS_STORE);
            }
    assert_int_equal(as_adjacent_most(adjacent, pairs, 2), 2);
    assert_int_equal(pairs[0].address, BASE + 2 * 19 * LINE);
    assert_int_equal(pairs[0].counts.false_sharing, 2 * 20 - 1);
    assert_int_equal(pairs[1].address, BASE + 2 * 18 * LINE);
    assert_int_equal(pairs[0].process, 1);
    as_adjacent_free(adjacent);
}

/* An access over the border of two lines touches both; a thread's number in another process is another thread, elsewhere. */
static void borders_and_processes(void **state)
{
    struct as_adjacent *adjacent = as_adjacent_new(6, &eight_lines);
    struct as_data_access access = {.address = BASE + LINE - 4, .size = 8, .kind = AS_ACCESS_STORE};
    as_adjacent_take(adjacent, 1, 1, &access, 1);
    assert_int_equal(as_adjacent_sum(adjacent).counts.misses, 2);
    as_adjacent_take(adjacent, 1, 2, &access, 1);
    struct as_adjacent_sum sum = as_adjacent_sum(adjacent);
    assert_int_equal(sum.lines_pairs, 2);
    assert_int_equal(sum.counts.misses, 4);
    assert_int_equal(sum.counts.false_sharing, 0);
    as_adjacent_free(adjacent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_stay_miss_once),
        cmocka_unit_test(lines_that_go_miss_each_time),
        cmocka_unit_test(lines_that_are_shared_move),
        cmocka_unit_test(the_most_come_first),
        cmocka_unit_test(borders_and_processes),
        cmocka_unit_test(what_its_writer_has_lost_is_far),
        cmocka_unit_test(near_by_the_line_is_not_by_the_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
