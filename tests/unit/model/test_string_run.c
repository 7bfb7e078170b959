/* Repeated string instructions in pieces: which elements take time of their own. */
#include "model/string_run.h"

#include "engine/wire.h"
#include "unit.h"

enum { BYTES = 32, LINE = 64, SIZE_SHIFT = AS_WIRE_SIZE_SHIFT };

static struct as_insn stosb = {.flags = AS_INSN_REP | AS_INSN_STORE | AS_INSN_MULTI_MEM},
                      movsb = {.flags = AS_INSN_REP | AS_INSN_STORE | AS_INSN_LOAD | AS_INSN_MULTI_MEM},
                      scasb = {.flags = AS_INSN_REP | AS_INSN_LOAD | AS_INSN_MULTI_MEM};

/* Whether an element of 2^log bytes belongs to a piece; an address of 0: nothing is accessed. */
static bool has(struct as_string_run *run, const struct as_insn *insn, uint64_t from, uint64_t to, unsigned log)
{
    struct as_block *block = calloc(1, sizeof *block + sizeof *block->insns);
    block->n = 1;
    block->insns[0] = insn;
    uint64_t words[2];
    size_t n = 0;
    if (from)
        words[n++] = AS_WIRE_LOAD | (uint64_t)log << SIZE_SHIFT | from;
    if (to)
        words[n++] = AS_WIRE_STORE | (uint64_t)log << SIZE_SHIFT | to;
    struct as_block_exec exec = {.block = block, .end = 1, .continues = true, .words = words, .n_words = n};
    bool goes_on = as_string_run_has(run, BYTES, LINE, &exec);
    free(block);
    return goes_on;
}

/* How many of n elements from an address on run through the core. */
static int count_fill(uint64_t to, int n, unsigned log)
{
    struct as_string_run run = {0};
    int count = 0;
    for (int i = 0; i < n; i++)
        count += !has(&run, &stosb, 0, to + ((uint64_t)i << log), log);
    return count;
}

static void test_fill(void **state)
{
    assert_int_equal(count_fill(0x1000, 256, 0), 256 / BYTES);
    assert_int_equal(count_fill(0x1001, 256, 0), 256 / BYTES + 1); /* not aligned: a piece more */
    assert_int_equal(count_fill(0x1000, 32, 3), 256 / BYTES);      /* of eight bytes each */
    assert_int_equal(count_fill(0x1000, 1, 0), 1);
}

static int count_copy(uint64_t from, uint64_t to, int n)
{
    struct as_string_run run = {0};
    int count = 0;
    for (uint64_t i = 0; i < (uint64_t)n; i++)
        count += !has(&run, &movsb, from + i, to + i, 0);
    return count;
}

/* What is read comes in lines of its own. */
static void test_copy(void **state)
{
    assert_int_equal(count_copy(0x8000, 0x1000, 256), 8);
    assert_int_equal(count_copy(0x8020, 0x1000, 256), 8);     /* lines end where pieces do */
    assert_int_equal(count_copy(0x8003, 0x1000, 256), 8 + 4); /* … and here within them, four times */
}

static void test_one_by_one(void **state)
{
    struct as_string_run run = {0};
    for (uint64_t i = 0; i < 40; i++) {
        assert_false(has(&run, &scasb, 0x8000 + i, 0, 0));
        assert_false(has(&run, &stosb, 0, 0x2000 - i, 0)); /* falling, and another instruction in between */
    }
    assert_false(has(&run, &stosb, 0, 0x3000, 0));
    assert_false(has(&run, &stosb, 0, 0x3002, 0)); /* a gap */
    assert_true(has(&run, &stosb, 0, 0x3003, 0));
    assert_false(has(&run, &movsb, 0x8000, 0x3004, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_one_by_one),
    };
    return cmocka_run_group_tests_name("string_run", tests, NULL, NULL);
}
