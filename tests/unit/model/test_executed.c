/* Which code was executed, as wrong paths ask for it: blocks made up by hand. */
#include "model/executed.h"

#include "unit.h"

enum { MOST = 4 };
static struct as_insn insns[16];

/* A block of instructions first … first + n - 1, which have 4 bytes each from `address` on. */
static struct as_block *block_of(uint32_t index, uint32_t image, uint64_t address, uint32_t first, uint32_t n)
{
    struct as_block *block = calloc(1, sizeof *block + MOST * sizeof *block->insns);
    *block = (struct as_block){.index = index, .image = image, .n = n, .address = address, .end = address + 4 * n};
    for (uint32_t i = 0; i < n; i++) {
        insns[first + i].id = first + i;
        insns[first + i].address = address + 4 * i;
        insns[first + i].length = 4;
        block->insns[i] = &insns[first + i];
    }
    block->last_class = insns[first + n - 1].class_;
    return block;
}

static void check(struct as_executed *executed, uint32_t image, uint64_t address, uint32_t n, uint64_t end,
                  const struct as_insn *control)
{
    struct as_code_run run = {0};
    assert_true(as_executed_at(executed, image, address, &run));
    assert_int_equal(run.n, n);
    assert_int_equal(run.end, end);
    assert_ptr_equal(run.control, control);
}

static void test_blocks(void **state)
{
    struct as_executed executed = {0};
    struct as_code_run run;
    memset(insns, 0, sizeof insns);
    insns[3].class_ = AS_CLASS_BRANCH;
    struct as_block *first = block_of(2, 1, 0x1000, 1, 3), *second = block_of(0, 1, 0x2000, 4, 2);
    assert_false(as_executed_at(&executed, 1, 0x1000, &run));
    as_executed_add(&executed, first);
    assert_true(as_executed_has_block(&executed, first));
    assert_false(as_executed_has_block(&executed, second));
    as_executed_add(&executed, second);
    assert_true(executed.n_blocks == 2 && executed.n_changes == 0);
    for (uint32_t id = 0; id < 8; id++)
        assert_int_equal(as_executed_has(&executed, id), id >= 1 && id <= 5);
    check(&executed, 1, 0x1000, 3, 0x100c, &insns[3]);
    check(&executed, 1, 0x1004, 2, 0x100c, &insns[3]);
    check(&executed, 1, 0x1008, 1, 0x100c, &insns[3]);
    check(&executed, 1, 0x2000, 2, 0x2008, NULL);
    assert_false(as_executed_at(&executed, 1, 0x1002, &run)); /* within one */
    assert_false(as_executed_at(&executed, 1, 0x100c, &run)); /* behind them */
    assert_false(as_executed_at(&executed, 2, 0x1000, &run)); /* another program */
    as_executed_free(&executed);
    free(first);
    free(second);
}

/* Code that is replaced: its first instruction leads no further than itself, and the new one has the address. */
static void test_changes(void **state)
{
    struct as_executed executed = {0};
    memset(insns, 0, sizeof insns);
    struct as_block *old = block_of(0, 1, 0x1000, 0, 3);
    struct as_block *other = block_of(1, 1, 0x3000, 3, 2);
    as_executed_add(&executed, old);
    as_executed_add(&executed, other);
    check(&executed, 1, 0x1000, 3, 0x100c, NULL);
    struct as_block *new = block_of(2, 1, 0x1004, 5, 1);
    insns[5].class_ = AS_CLASS_JUMP;
    new->last_class = AS_CLASS_JUMP;
    as_executed_add(&executed, new);
    assert_true(executed.n_blocks == 3 && executed.n_changes == 1);
    check(&executed, 1, 0x1000, 1, 0x1004, NULL); /* the old block is not whole any more */
    check(&executed, 1, 0x1004, 1, 0x1008, &insns[5]);
    check(&executed, 1, 0x1008, 1, 0x100c, NULL);
    check(&executed, 1, 0x3000, 2, 0x3008, NULL);
    assert_true(as_executed_has(&executed, 1)); /* it was executed once */
    as_executed_free(&executed);
    free(old);
    free(other);
    free(new);
}

/* A block with a control transfer before its end (a string instruction that repeats, for one) is read one by one. */
static void test_control_within(void **state)
{
    struct as_executed executed = {0};
    memset(insns, 0, sizeof insns);
    insns[1].class_ = AS_CLASS_BRANCH;
    struct as_block *block = block_of(0, 3, 0x1000, 0, 3);
    as_executed_add(&executed, block);
    check(&executed, 3, 0x1000, 1, 0x1004, NULL);
    check(&executed, 3, 0x1004, 1, 0x1008, &insns[1]);
    check(&executed, 3, 0x1008, 1, 0x100c, NULL);
    as_executed_free(&executed);
    free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks), cmocka_unit_test(test_changes),
                                       cmocka_unit_test(test_control_within)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
