/* What sampling costs: the storage of TIP and TEA as their papers have it, and the price of a run. */
#include "unit.h"

#include "pmu/pmu_cost.h"

/* The 4-wide BOOM of the papers (Tables A.1 and B.2). */
static const struct as_pmu_sizes boom = {
    .commit_width = 4, .dispatch_width = 4, .rob = 192, .fetch_buffer = 48, .load_queue = 64, .store_queue = 64};

static void storage_of_the_papers(void **state)
{
    struct as_pmu_hardware hardware = as_pmu_hardware(&boom, 3.2e9, 4000);
    assert_int_equal(hardware.tip_bytes, 57);
    assert_int_equal(hardware.tea_bytes, 249);
    assert_int_equal(hardware.tip_bytes + hardware.tea_bytes, 306);
    assert_int_equal(hardware.rob_bits, 9);
    assert_int_equal(hardware.fetch_bits, 2);
    assert_int_equal(hardware.plain_sample, 56);
    assert_int_equal(hardware.tip_sample, 88);
    assert_float_equal(hardware.plain_rate, 224e3, 1);
    assert_float_equal(hardware.tip_rate, 352e3, 1);
    assert_float_equal(hardware.oracle_rate / 1e9, 179, 0.5);
}

/* A wider core needs a register more for each instruction that it commits in a cycle. */
static void storage_grows_with_the_core(void **state)
{
    struct as_pmu_sizes wide = boom;
    wide.commit_width = 8;
    wide.rob = 512;
    struct as_pmu_hardware hardware = as_pmu_hardware(&wide, 1e9, 1);
    assert_int_equal(hardware.tip_bytes, 57 + 4 * 8);
    assert_int_equal(hardware.tea_bytes, 249 + (512 - 192) * 9 / 8);
    wide.dispatch_width = 8; /* two bits in each of as many entries of decode and of dispatch */
    assert_int_equal(as_pmu_hardware(&wide, 1e9, 1).tea_bytes, hardware.tea_bytes + 2);
}

static void price_of_a_run(void **state)
{
    struct as_pmu pmu = {.assist = 1,
                         .copy = 2,
                         .interrupt_cost = 100,
                         .signal = 1000,
                         .ioctl = 10000,
                         .buffer_records = 10,
                         .buffer_bytes = 4096};
    struct as_pmu_price none = as_pmu_price(&pmu, AS_HANDLER_NONE, 50, 10000, 3);
    assert_int_equal(none.cycles, 50 * 3 + 5 * 100);
    assert_float_equal(none.overhead, 0.065, 1e-12);
    assert_int_equal(none.bytes, 3 * 4096);
    /* A handler wants each sample when it is there. */
    assert_int_equal(as_pmu_price(&pmu, AS_HANDLER_SIGNAL, 50, 10000, 1).cycles, 50 * (3 + 100 + 1000));
    assert_int_equal(as_pmu_price(&pmu, AS_HANDLER_IOCTL, 50, 10000, 1).cycles, 50 * (3 + 100 + 1000 + 10000));
    assert_float_equal(as_pmu_price(&pmu, AS_HANDLER_NONE, 0, 0, 1).overhead, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(storage_of_the_papers),
                                       cmocka_unit_test(storage_grows_with_the_core), cmocka_unit_test(price_of_a_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
