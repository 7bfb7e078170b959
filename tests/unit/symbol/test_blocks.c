/* Basic blocks: small pieces of code, and random code against the definition. */
#include "symbol/blocks.h"

#include "unit.h"

static struct as_insn pool[4096];
static size_t used;

/* An instruction of `length` bytes; target 0 where it has none. */
static const struct as_insn *make(uint64_t address, uint8_t length, enum as_class class_, uint64_t target)
{
    struct as_insn *insn = &pool[used++];
    *insn = (struct as_insn){.address = address, .length = length, .class_ = (uint8_t)class_, .target = target};
    if (class_ == AS_CLASS_SYSTEM)
        insn->flags = AS_INSN_ENDS_BLOCK;
    return insn;
}

static int set_up(void **state)
{
    used = 0;
    *state = as_blocks_new();
    return 0;
}

static int clean_up(void **state)
{
    as_blocks_free(*state);
    return 0;
}

static void expect_block(const struct as_blocks *blocks, size_t index, uint64_t start, uint64_t end, uint32_t n)
{
    assert_true(index < as_blocks_count(blocks));
    const struct as_basic_block *block = as_blocks_get(blocks, index);
    assert_int_equal(block->start, start);
    assert_int_equal(block->end, end);
    assert_int_equal(block->n_insns, n);
}

/* A loop: 100 add; 104 add; 108 branch to 104; 10c add; 110 return. Added out of order, twice. */
static void test_loop(void **state)
{
    struct as_blocks *blocks = *state;
    for (int i = 0; i < 2; i++) {
        as_blocks_add_insn(blocks, make(0x110, 1, AS_CLASS_RETURN, 0));
        as_blocks_add_insn(blocks, make(0x108, 4, AS_CLASS_BRANCH, 0x104));
        as_blocks_add_insn(blocks, make(0x100, 4, AS_CLASS_INT, 0));
        as_blocks_add_insn(blocks, make(0x104, 4, AS_CLASS_INT, 0));
        as_blocks_add_insn(blocks, make(0x10c, 4, AS_CLASS_INT, 0));
    }
    as_blocks_add_function(blocks, 0x100, 0x11);
    as_blocks_finish(blocks);
    assert_int_equal(as_blocks_count(blocks), 3);
    expect_block(blocks, 0, 0x100, 0x104, 1);
    expect_block(blocks, 1, 0x104, 0x10c, 2);
    expect_block(blocks, 2, 0x10c, 0x111, 2);
    assert_int_equal(as_blocks_get(blocks, 2)->function, 0x100);
    assert_ptr_equal(as_blocks_find(blocks, 0x10b), as_blocks_get(blocks, 1)); /* inside an instruction */
    assert_null(as_blocks_find(blocks, 0x111));
    assert_null(as_blocks_find(blocks, 0xff));
}

static void test_leaders_and_gaps(void **state)
{
    struct as_blocks *blocks = *state;
    for (uint64_t at = 0x10; at < 0x20; at += 2)
        as_blocks_add_insn(blocks, make(at, 2, AS_CLASS_INT, 0));
    as_blocks_add_insn(blocks, make(0x20, 2, AS_CLASS_SYSTEM, 0)); /* a system call ends a block */
    as_blocks_add_insn(blocks, make(0x22, 2, AS_CLASS_INT, 0));
    as_blocks_add_insn(blocks, make(0x30, 2, AS_CLASS_INT, 0));      /* behind a gap */
    as_blocks_add_insn(blocks, make(0x32, 2, AS_CLASS_JUMP, 0x999)); /* to what never executed */
    as_blocks_add_leader(blocks, 0x18);
    as_blocks_add_leader(blocks, 0x19); /* no instruction there */
    as_blocks_add_function(blocks, 0x1c, 0);
    as_blocks_finish(blocks);
    assert_int_equal(as_blocks_count(blocks), 5);
    expect_block(blocks, 0, 0x10, 0x18, 4);
    expect_block(blocks, 1, 0x18, 0x1c, 2);
    expect_block(blocks, 2, 0x1c, 0x22, 3);
    expect_block(blocks, 3, 0x22, 0x24, 1);
    expect_block(blocks, 4, 0x30, 0x34, 2);
    assert_int_equal(as_blocks_get(blocks, 0)->function, 0);
    assert_int_equal(as_blocks_get(blocks, 4)->function, 0x1c); /* without a size: up to the next */
}

/* A jump behind a lock prefix: 10 and 11 both end at 15. */
static void test_overlap(void **state)
{
    struct as_blocks *blocks = *state;
    as_blocks_add_insn(blocks, make(0x0e, 2, AS_CLASS_BRANCH, 0x11));
    as_blocks_add_insn(blocks, make(0x10, 5, AS_CLASS_ATOMIC, 0));
    as_blocks_add_insn(blocks, make(0x11, 4, AS_CLASS_INT, 0));
    as_blocks_add_insn(blocks, make(0x15, 2, AS_CLASS_INT, 0));
    as_blocks_finish(blocks);
    assert_int_equal(as_blocks_count(blocks), 4);
    expect_block(blocks, 1, 0x10, 0x15, 1);
    expect_block(blocks, 2, 0x11, 0x15, 1);
    expect_block(blocks, 3, 0x15, 0x17, 1);
    assert_int_equal(as_blocks_find(blocks, 0x10)->start, 0x10);
    assert_int_equal(as_blocks_find(blocks, 0x11)->start, 0x11);
    assert_int_equal(as_blocks_find(blocks, 0x16)->start, 0x15);
}

/* Code that was rewritten: the last one counts. */
static void test_rewritten(void **state)
{
    struct as_blocks *blocks = *state;
    as_blocks_add_insn(blocks, make(0x10, 5, AS_CLASS_JUMP, 0x40));
    as_blocks_add_insn(blocks, make(0x15, 1, AS_CLASS_INT, 0));
    as_blocks_add_insn(blocks, make(0x10, 5, AS_CLASS_INT, 0));
    as_blocks_finish(blocks);
    assert_int_equal(as_blocks_count(blocks), 1);
    expect_block(blocks, 0, 0x10, 0x16, 2);
}

static void test_functions(void **state)
{
    struct as_blocks *blocks = *state;
    for (uint64_t at = 0x100; at < 0x200; at += 0x10)
        as_blocks_add_insn(blocks, make(at, 0x10, AS_CLASS_RETURN, 0));
    as_blocks_add_function(blocks, 0x100, 0x80);
    as_blocks_add_function(blocks, 0x120, 0x20); /* nested: the inner one counts */
    as_blocks_add_function(blocks, 0x140, 0);    /* seen as a call's target: a sized one wins */
    as_blocks_add_function(blocks, 0x190, 0);
    as_blocks_finish(blocks);
    assert_int_equal(as_blocks_find(blocks, 0x110)->function, 0x100);
    assert_int_equal(as_blocks_find(blocks, 0x130)->function, 0x120);
    assert_int_equal(as_blocks_find(blocks, 0x150)->function, 0x100);
    assert_int_equal(as_blocks_find(blocks, 0x180)->function, 0x140);
    assert_int_equal(as_blocks_find(blocks, 0x1f0)->function, 0x190);
}

static void test_empty(void **state)
{
    struct as_blocks *blocks = *state;
    as_blocks_add_leader(blocks, 5);
    as_blocks_finish(blocks);
    assert_int_equal(as_blocks_count(blocks), 0);
    assert_null(as_blocks_find(blocks, 5));
}

/* Random code without overlaps: every instruction in exactly one block; a block has a transfer only at its end, a
 * target only at its start, and cannot be made longer. */
static void test_random(void **state)
{
    static bool target_at[8192];
    uint32_t seed = 7;
    for (int round = 0; round < 50; round++) {
        struct as_blocks *blocks = as_blocks_new();
        uint64_t at = 0;
        used = 0;
        memset(target_at, 0, sizeof target_at);
        while (used < 1000) {
            seed = seed * 1664525 + 1013904223;
            uint32_t r = seed >> 8;
            at += r % 20 == 0 ? 7 : 0;
            bool control = r / 20 % 5 == 0;
            uint64_t target = control ? r / 100 % 5000 : 0;
            as_blocks_add_insn(blocks,
                               make(at, (uint8_t)(1 + r % 7), control ? AS_CLASS_BRANCH : AS_CLASS_INT, target));
            target_at[target] |= control;
            at += 1 + r % 7;
        }
        as_blocks_finish(blocks);
        size_t total = 0;
        for (size_t i = 0; i < as_blocks_count(blocks); i++)
            total += as_blocks_get(blocks, i)->n_insns;
        assert_int_equal(total, used);
        for (size_t i = 0; i < used; i++) {
            const struct as_insn *insn = &pool[i];
            const struct as_basic_block *block = as_blocks_find(blocks, insn->address);
            bool first = block->start == insn->address, last = block->end == insn->address + insn->length;
            bool next_adjacent = i + 1 < used && pool[i + 1].address == insn->address + insn->length;
            assert_true(!as_insn_is_control(insn) || last);
            assert_true(first || !(insn->address != 0 && target_at[insn->address]));
            bool may_end = as_insn_is_control(insn) || !next_adjacent || target_at[pool[i + 1].address];
            assert_true(!last || may_end);
        }
        as_blocks_free(blocks);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, clean_up)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_loop),      TEST(test_leaders_and_gaps), TEST(test_overlap),
                                       TEST(test_rewritten), TEST(test_functions),        TEST(test_empty),
                                       TEST(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
