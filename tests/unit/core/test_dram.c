/* Main memory to the cycle. One cycle is one nanosecond; the figures are memory_bed.h's: CAS 30, RCD 20, RP 15, a line
 * takes 8 cycles of the bus, 5 overhead; rows of 64 lines, 8 banks. */
#include "unit.h"

#include "core/dram.h"
#include "memory_bed.h"

enum { ROW_LINES = BED_ROW / BED_LINE };

static struct as_dram open_dram(void)
{
    struct as_machine machine = bed_machine();
    struct as_dram dram;
    as_dram_init(&dram, &machine);
    return dram;
}

/* Rows 0 to 7 lie in banks 0 to 7. Row 8 + 1 folds to bank 1 ^ 1 = 0. */
static uint64_t line_in(uint64_t row, uint64_t column)
{
    return row * ROW_LINES + column;
}

enum { SAME_BANK = 9 };

static void takes_what_the_row_takes(void **state)
{
    struct as_dram dram = open_dram();
    assert_int_equal(as_dram_read(&dram, 1000, line_in(0, 0)), 1000 + BED_ROW_CLOSED);
    assert_int_equal(as_dram_read(&dram, 2000, line_in(0, 1)), 2000 + BED_ROW_HIT);
    assert_int_equal(as_dram_read(&dram, 3000, line_in(SAME_BANK, 0)), 3000 + BED_ROW_CONFLICT);
    assert_int_equal(as_dram_read(&dram, 4000, line_in(SAME_BANK, 63)), 4000 + BED_ROW_HIT);
    assert_int_equal(as_dram_read(&dram, 5000, line_in(0, 0)), 5000 + BED_ROW_CONFLICT);
    assert_int_equal(as_dram_read(&dram, 6000, line_in(1, 0)), 6000 + BED_ROW_CLOSED);
    assert_int_equal(dram.reads, 6);
    assert_int_equal(dram.row_hits, 2);
    as_dram_free(&dram);
}

/* What was read without time has its row open, as what was read. */
static void test_warm_rows(void **state)
{
    struct as_dram dram = open_dram(), other = open_dram();
    as_dram_warm(&dram, line_in(0, 0));
    assert_int_equal(as_dram_read(&dram, 2000, line_in(0, 1)), 2000 + BED_ROW_HIT);
    as_dram_warm(&dram, line_in(SAME_BANK, 0));
    assert_int_equal(as_dram_read(&dram, 3000, line_in(SAME_BANK, 5)), 3000 + BED_ROW_HIT);
    assert_int_equal(as_dram_read(&dram, 4000, line_in(0, 1)), 4000 + BED_ROW_CONFLICT);
    as_dram_copy_rows(&other, &dram);
    assert_int_equal(as_dram_read(&other, 1000, line_in(0, 2)), 1000 + BED_ROW_HIT);
    assert_int_equal(as_dram_read(&other, 2000, line_in(SAME_BANK, 0)), 2000 + BED_ROW_CONFLICT);
    assert_int_equal(as_dram_read(&other, 3000, line_in(1, 0)), 3000 + BED_ROW_CLOSED);
    as_dram_free(&dram);
    as_dram_free(&other);
}

/* Eight closed banks at once: their activations overlap, only the bus is shared. */
static void works_on_banks_in_parallel(void **state)
{
    struct as_dram dram = open_dram();
    for (uint64_t row = 0; row < 8; row++)
        assert_int_equal(as_dram_read(&dram, 1000, line_in(row, 0)), 1000 + BED_ROW_CLOSED + row * BED_BURST);
    as_dram_free(&dram);
}

/* One bank, another row each time: the next may precharge when the line before it has been sent. */
static void works_on_one_bank_in_turn(void **state)
{
    struct as_dram dram = open_dram();
    uint64_t rows[] = {0, SAME_BANK, 18, 27}, done = 1000 + BED_ROW_CLOSED;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(as_dram_read(&dram, 1000, line_in(rows[i], 0)), done);
        done += BED_ROW_CONFLICT - BED_OVERHEAD;
    }
    as_dram_free(&dram);
}

static void sends_one_line_after_the_other(void **state)
{
    struct as_dram dram = open_dram();
    as_dram_read(&dram, 100, line_in(3, 0));
    for (uint64_t i = 0; i < 20; i++)
        assert_int_equal(as_dram_read(&dram, 1000, line_in(3, i)), 1000 + BED_ROW_HIT + i * BED_BURST);
    as_dram_free(&dram);
}

/* 16 GB/s at 3.2 GHz are 12.8 cycles a line: no rounding adds up. */
static void keeps_fractions_of_cycles(void **state)
{
    struct as_machine machine = bed_machine();
    machine.frequency = 3.2e9;
    machine.dram.bandwidth = 16e9;
    machine.dram.queue = 4096;
    struct as_dram dram;
    as_dram_init(&dram, &machine);
    uint64_t first = as_dram_read(&dram, 1000, 0), last = 0;
    for (uint64_t i = 1; i <= 1000; i++)
        last = as_dram_read(&dram, 1000, i % 64);
    assert_in_range(last - first, 12799, 12801);
    as_dram_free(&dram);
}

/* A conflict waits in the bank behind a row hit that is being served. A hit of the open row that comes after it, before
 * the row is closed, goes first; one that comes later does not. */
static void serves_the_open_row_first(void **state)
{
    struct as_dram dram = open_dram();
    as_dram_read(&dram, 100, line_in(0, 0));
    for (uint64_t i = 0; i < 4; i++)
        as_dram_read(&dram, 1000, line_in(0, i)); /* the last is sent from 1054 to 1062 */
    uint64_t conflict = as_dram_read(&dram, 1001, line_in(SAME_BANK, 0));
    assert_int_equal(conflict, 1062 + BED_ROW_CONFLICT);
    assert_int_equal(as_dram_read(&dram, 1002, line_in(0, 9)), 1062 + BED_BURST + BED_OVERHEAD);
    assert_int_equal(as_dram_read(&dram, 1003, line_in(SAME_BANK, 1)), conflict + BED_BURST); /* the row's own hit */
    assert_true(as_dram_read(&dram, 1070, line_in(0, 9)) > conflict + BED_ROW_HIT);
    as_dram_free(&dram);
}

/* The queue holds two: a third request waits outside until the column access of the first. */
static void holds_as_many_as_the_queue(void **state)
{
    struct as_machine machine = bed_machine();
    machine.dram.queue = 2;
    struct as_dram dram;
    as_dram_init(&dram, &machine);
    assert_int_equal(as_dram_read(&dram, 1000, line_in(0, 0)), 1000 + BED_ROW_CLOSED);
    assert_int_equal(as_dram_read(&dram, 1000, line_in(1, 0)), 1000 + BED_ROW_CLOSED + BED_BURST);
    assert_int_equal(as_dram_read(&dram, 1000, line_in(2, 0)), 1000 + BED_RCD + BED_ROW_CLOSED);
    as_dram_free(&dram);
}

static void writes_take_the_bus(void **state)
{
    struct as_dram dram = open_dram();
    as_dram_read(&dram, 100, line_in(0, 0));
    for (int i = 0; i < 5; i++)
        as_dram_write(&dram, 1000 + BED_CAS);
    assert_int_equal(as_dram_read(&dram, 1000, line_in(0, 1)), 1000 + BED_ROW_HIT + 5 * BED_BURST);
    assert_int_equal(dram.writes, 5);
    as_dram_free(&dram);
}

/* Program order is not time: what was asked for cycle 5000 leaves cycle 1000 as it was. */
static void finds_the_row_that_was_open_then(void **state)
{
    struct as_dram dram = open_dram();
    as_dram_read(&dram, 100, line_in(0, 0));
    as_dram_read(&dram, 5000, line_in(SAME_BANK, 0));
    assert_int_equal(as_dram_read(&dram, 1000, line_in(0, 1)), 1000 + BED_ROW_HIT);
    assert_int_equal(as_dram_read(&dram, 1000, line_in(18, 0)), 1000 + BED_CAS + BED_BURST + BED_ROW_CONFLICT);
    assert_int_equal(as_dram_read(&dram, 6000, line_in(SAME_BANK, 1)), 6000 + BED_ROW_HIT);
    as_dram_free(&dram);
}

/* Not before its own best time, not after everything before it one by one. */
static void stays_within_bounds(void **state)
{
    struct as_dram dram = open_dram();
    uint64_t seed = 11, base = 1000, latest = 0;
    for (int i = 0; i < 50000; i++) {
        base += bed_random(&seed) % 40;
        uint64_t cycle = base - bed_random(&seed) % 400;
        uint64_t done = as_dram_read(&dram, cycle, line_in(bed_random(&seed) % 64, bed_random(&seed) % 64));
        assert_true(done >= cycle + BED_ROW_HIT);
        uint64_t begin = latest > cycle ? latest : cycle;
        assert_true(done <= begin + BED_ROW_CONFLICT + BED_BURST);
        latest = done > latest ? done : latest;
        if (i % 7 == 0)
            as_dram_write(&dram, cycle);
    }
    assert_int_equal(dram.reads, 50000);
    assert_true(dram.row_hits < dram.reads);
    as_dram_free(&dram);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warm_rows),
        cmocka_unit_test(takes_what_the_row_takes),
        cmocka_unit_test(works_on_banks_in_parallel),
        cmocka_unit_test(works_on_one_bank_in_turn),
        cmocka_unit_test(sends_one_line_after_the_other),
        cmocka_unit_test(keeps_fractions_of_cycles),
        cmocka_unit_test(serves_the_open_row_first),
        cmocka_unit_test(holds_as_many_as_the_queue),
        cmocka_unit_test(writes_take_the_bus),
        cmocka_unit_test(finds_the_row_that_was_open_then),
        cmocka_unit_test(stays_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
