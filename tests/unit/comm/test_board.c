/* The bulletin board: what is put is found by its line, old entries give way, and no reader sees half an entry. */
#include "unit.h"

#include "base/random.h"
#include "comm/board.h"

#include <pthread.h>
#include <stdatomic.h>

static struct as_board_entry entry_of(uint64_t address, uint32_t thread, uint64_t time)
{
    return (struct as_board_entry){.address = address,
                                   .size = 8,
                                   .process = 1,
                                   .thread = thread,
                                   .path = (uint32_t)(address ^ time),
                                   .time = time,
                                   .insn = address * 3 + time,
                                   .number = time + thread,
                                   .period = address + time + thread};
}

static bool is_whole(const struct as_board_entry *entry)
{
    struct as_board_entry made = entry_of(entry->address, entry->thread, entry->time);
    return memcmp(&made, entry, sizeof made) == 0;
}

static void by_line(void **state)
{
    struct as_board *board = as_board_new(127);
    struct as_board_entry entry = entry_of(0x1008, 3, 10), found;
    assert_false(as_board_get(board, 1, 0x1008, &found));
    assert_true(as_board_put(board, &entry));
    assert_true(as_board_get(board, 1, 0x103f, &found) && is_whole(&found) && found.thread == 3);
    assert_false(as_board_get(board, 1, 0x1040, &found));
    assert_false(as_board_get(board, 2, 0x1008, &found));
    entry = entry_of(0x1030, 4, 11);
    assert_true(as_board_put(board, &entry));
    assert_true(as_board_get(board, 1, 0x1000, &found) && found.thread == 4 && found.address == 0x1030);
    as_board_free(board);
}

/* A mark belongs to one entry of a line: neither an older nor a newer one gets it. */
static void marks(void **state)
{
    struct as_board *board = as_board_new(127);
    struct as_board_entry old = entry_of(0x1008, 3, 10), entry = entry_of(0x1008, 3, 11), found;
    assert_true(as_board_put(board, &old) && as_board_put(board, &entry));
    as_board_mark(board, &old, 5);
    as_board_mark(board, &entry, 0);
    as_board_mark(board, &entry, 63);
    as_board_mark(board, &entry, 64); /* has no bit */
    assert_true(as_board_get(board, 1, 0x1008, &found) && found.marks == (UINT64_C(1) << 63 | 1));
    assert_true(as_board_put(board, &old) && as_board_get(board, 1, 0x1008, &found) && !found.marks);
    as_board_free(board);
}

/* One bucket has room for eight lines; the ninth takes the oldest one's place. */
static void oldest_goes(void **state)
{
    struct as_board *board = as_board_new(1);
    struct as_board_entry found;
    for (uint64_t i = 0; i < 9; i++) {
        struct as_board_entry entry = entry_of(0x1000 + 64 * i, 1, i == 3 ? 1 : i + 10);
        assert_true(as_board_put(board, &entry));
    }
    for (uint64_t i = 0; i < 9; i++)
        assert_int_equal(as_board_get(board, 1, 0x1000 + 64 * i, &found), i != 3);
    as_board_free(board);
}

static bool is_odd(void *context, const struct as_board_entry *entry)
{
    return entry->thread % 2;
}

static bool is_none(void *context, const struct as_board_entry *entry)
{
    return false;
}

/* 4,000 picks among eight: 500 each, with a standard deviation of 21. */
static void picks_evenly(void **state)
{
    enum { PICKS = 4000 };
    struct as_board *board = as_board_new(127);
    struct as_board_entry found;
    uint64_t counts[16] = {0}, seed = 5;
    for (uint32_t i = 0; i < 16; i++) {
        struct as_board_entry entry = entry_of(0x1000 + 64 * i, i, 10 + i);
        assert_true(as_board_put(board, &entry));
    }
    assert_false(as_board_pick(board, is_none, NULL, 1, &found));
    for (int i = 0; i < PICKS; i++) {
        assert_true(as_board_pick(board, is_odd, NULL, as_random(&seed), &found));
        counts[found.thread]++;
    }
    for (uint32_t i = 0; i < 16; i++)
        assert_in_range(counts[i], i % 2 ? 500 - 105 : 0, i % 2 ? 500 + 105 : 0);
    as_board_free(board);
}

struct storm {
    struct as_board *board;
    uint32_t thread;
    _Atomic uint64_t *broken;
};

static void *put_and_get(void *context)
{
    const struct storm *storm = context;
    uint64_t seed = storm->thread;
    for (uint64_t time = 1; time < 50000; time++) {
        struct as_board_entry entry = entry_of(0x1000 + 8 * as_random_below(&seed, 64), storm->thread, time), found;
        (void)as_board_put(storm->board, &entry);
        if (as_board_get(storm->board, 1, 0x1000 + 8 * as_random_below(&seed, 64), &found) && !is_whole(&found))
            atomic_fetch_add(storm->broken, 1);
    }
    return NULL;
}

/* Four threads write and read eight lines in one bucket: no entry is a mixture of two. */
static void whole_under_storm(void **state)
{
    enum { THREADS = 4 };
    _Atomic uint64_t broken = 0;
    struct as_board *board = as_board_new(1);
    struct storm storms[THREADS];
    pthread_t threads[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        storms[i] = (struct storm){.board = board, .thread = i + 1, .broken = &broken};
        assert_int_equal(pthread_create(&threads[i], NULL, put_and_get, &storms[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&broken), 0);
    as_board_free(board);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_line),           cmocka_unit_test(marks),
        cmocka_unit_test(oldest_goes),       cmocka_unit_test(picks_evenly),
        cmocka_unit_test(whole_under_storm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
