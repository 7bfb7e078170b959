/* What executions cost in the run for the elapsed time. */
#include "base/alloc.h"
#include "record/points_time.h"
#include "unit.h"

static const struct as_insn insns[] = {{.address = 0x1000}, {.address = 0x1004}, {.address = 0x1008}};

static struct as_block *make_block(uint32_t index, uint32_t image, uint32_t n)
{
    struct as_block *block = as_alloc(sizeof *block + n * sizeof *block->insns);
    block->index = index;
    block->image = image;
    block->n = n;
    for (uint32_t i = 0; i < n; i++)
        block->insns[i] = &insns[i];
    return block;
}

static void near(double is, double expected)
{
    assert_true(is > expected - 1e-9 && is < expected + 1e-9);
}

static void test_blocks(void **state)
{
    struct as_block *block = make_block(5, 1, 3);
    struct as_code_costs costs = {.otherwise = 7};
    as_code_costs_add(&costs, 1, 0x1000, 2);
    as_code_costs_add(&costs, 1, 0x1004, 0.5);
    as_code_costs_add(&costs, 2, 0x1008, 100);
    near(as_code_cost(&costs, block, 0, 3), 9.5); /* the last one is of another image: its cost is not known */
    near(as_code_cost(&costs, block, 0, 3), 9.5);
    near(as_code_cost(&costs, block, 1, 3), 7.5);
    near(as_code_cost(&costs, block, 0, 2), 2.5);
    near(as_code_cost(&costs, block, 1, 1), 0);
    as_code_costs_free(&costs);
    free(block);
}

/* Blocks are numbered as they come; each has its own cost. */
static void test_several(void **state)
{
    struct as_block *first = make_block(1, 1, 1), *second = make_block(0, 2, 1);
    struct as_code_costs costs = {.otherwise = 1};
    as_code_costs_add(&costs, 1, 0x1000, 3);
    as_code_costs_add(&costs, 2, 0x1000, 0);
    near(as_code_cost(&costs, first, 0, 1), 3);
    near(as_code_cost(&costs, second, 0, 1), 0);
    near(as_code_cost(&costs, first, 0, 1), 3);
    as_code_costs_free(&costs);
    free(first);
    free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks), cmocka_unit_test(test_several)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
