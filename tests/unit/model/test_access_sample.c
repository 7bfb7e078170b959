/* Which accesses a sample of granules keeps, and how many there were: words made up by hand. Granules have 64 bytes. */
#include "model/access_sample.h"

#include "base/random.h"

#include "unit.h"

enum { SHIFT = 6 };
static _Atomic uint64_t threshold;

/* The word of an access: address, log2 of its size, index of its instruction, kind. */
static uint64_t word(uint8_t kind, uint32_t index, uint32_t log_size, uint64_t address)
{
    return (uint64_t)kind << 62 | (uint64_t)index << 53 | (uint64_t)log_size << 50 | address;
}

static bool meets(const struct as_access_sample *sample, uint64_t address)
{
    static const struct as_shared_ranges none;
    uint64_t words[] = {word(1, 0, 3, 0x40), word(1, 1, 3, address)};
    return as_access_sample_meets(sample, &none, words, 2);
}

/* An access in a granule that is kept, or that may reach into one; 0x40 is in none. */
static void test_meets(void **state)
{
    struct as_access_sample sample = {.threshold = &threshold, .shift = SHIFT};
    uint64_t granule = 0, limit = AS_RANDOM_STEP / 2;
    atomic_store(&threshold, limit);
    for (uint64_t i = 2; !granule; i++) /* kept, with neighbours that are not */
        if (i * AS_RANDOM_STEP <= limit && (i + 1) * AS_RANDOM_STEP > limit && (i - 1) * AS_RANDOM_STEP > limit &&
            (i - 2) * AS_RANDOM_STEP > limit)
            granule = i;
    assert_false(meets(&sample, 0x40));
    assert_true(meets(&sample, granule << SHIFT));
    assert_true(meets(&sample, (granule << SHIFT) + 63));
    assert_true(meets(&sample, (granule << SHIFT) - 63)); /* its 64th byte is in it */
    assert_false(meets(&sample, (granule << SHIFT) - 64));
    assert_false(meets(&sample, (granule + 1) << SHIFT));
    atomic_store(&threshold, granule * AS_RANDOM_STEP); /* exactly */
    assert_true(meets(&sample, granule << SHIFT));
    const struct as_shared_range range = {.start = 0x10000, .end = 0x11000, .physical = granule << SHIFT};
    const struct as_shared_ranges shared = {.low = 0x10000, .span = 0x1000, .list = &range, .n = 1};
    uint64_t words[] = {word(2, 0, 0, 0x10000)};
    assert_true(as_access_sample_meets(&sample, &shared, words, 1));
    assert_false(as_access_sample_meets(&sample, &shared, words, 0));
}

static struct as_insn load = {.n_mem = 1, .mem[0] = {.size = 8, .access = AS_ACCESS_LOAD}};
static struct as_insn varies = {.flags = AS_INSN_VARIES, .n_mem = 1, .mem[0] = {.size = 8, .access = AS_ACCESS_STORE}};
static struct as_insn atomic = {
    .flags = AS_INSN_ATOMIC, .n_mem = 1, .mem[0] = {.size = 8, .access = AS_ACCESS_LOAD | AS_ACCESS_STORE}};
static struct as_insn plain = {.length = 1};

static struct as_block *block_of(uint32_t index)
{
    struct as_block *block = calloc(1, sizeof *block + 4 * sizeof *block->insns);
    block->index = index;
    block->n = 4;
    block->insns[0] = &load;
    block->insns[1] = &varies;
    block->insns[2] = &atomic;
    block->insns[3] = &plain;
    return block;
}

/* An execution has one load, one atomic, and what its words say of the instruction that varies. */
static void test_counts(void **state)
{
    struct as_access_sample sample = {.threshold = &threshold, .shift = SHIFT};
    struct as_access_sum seen = {0};
    struct as_block *block = block_of(3);
    as_access_sample_count_runs(&sample, &seen, block, 10);
    assert_true(seen.accesses == 20 && seen.touches == 20);
    as_access_sample_count_runs(&sample, &seen, block, 1); /* the number is known now */
    assert_true(seen.accesses == 22 && seen.touches == 22);
    uint64_t words[] = {word(AS_ACCESS_STORE, 1, 3, 0x1000)};
    struct as_block_exec exec = {.block = block, .end = 4, .words = words, .n_words = 1};
    seen = (struct as_access_sum){0};
    as_access_sample_count(&sample, &seen, &exec);
    assert_true(seen.accesses == 3 && seen.touches == 3);
    words[0] = word(AS_ACCESS_STORE, 1, 3, 0x103c); /* in two granules */
    seen = (struct as_access_sum){0};
    as_access_sample_count(&sample, &seen, &exec);
    assert_true(seen.accesses == 3 && seen.touches == 4);
    words[0] = word(AS_ACCESS_LOAD, 0, 3, 0x103c); /* of an instruction that was counted already */
    seen = (struct as_access_sum){0};
    as_access_sample_count(&sample, &seen, &exec);
    assert_true(seen.accesses == 2 && seen.touches == 3);
    seen = (struct as_access_sum){0};
    exec = (struct as_block_exec){.block = block, .first = 2, .end = 4};
    as_access_sample_count(&sample, &seen, &exec); /* a part of it */
    assert_true(seen.accesses == 1 && seen.touches == 1);
    as_vec_free(&sample.counts);
    free(block);
}

/* Of whole executions that were counted already, what lies in a second granule: by itself, or because its pieces are one access. */
static void test_borders(void **state)
{
    static struct as_insn wide = {.n_mem = 1, .mem[0] = {.size = 16, .access = AS_ACCESS_LOAD}};
    struct as_access_sample sample = {.threshold = &threshold, .shift = SHIFT};
    struct as_access_sum seen = {0};
    struct as_block *block = block_of(0), *page[1] = {block}, **pages[1] = {page};
    block->insns[0] = block->insns[3] = &wide;
    const uint64_t words[] = {0, word(1, 0, 3, 0x1030), word(1, 0, 3, 0x1038), /* up to the border */
                              0, word(1, 0, 3, 0x103c), word(1, 3, 3, 0x1000), /* over it */
                              0, word(1, 0, 3, 0x1038), word(1, 0, 3, 0x1040), /* two pieces, one on each side */
                              0, word(1, 0, 3, 0x1038), word(1, 3, 3, 0x1040), /* of two instructions */
                              0};
    const struct as_block_pages blocks = {.pages = pages, .len = 1};
    const struct as_exec_words all = {.words = words, .n = 13, .accesses = 8, .blocks = &blocks};
    as_access_sample_count_borders(&sample, &seen, &all);
    assert_true(seen.accesses == 0 && seen.touches == 2);
    free(block);
}

/* Iterations of a rep instruction: all are counted, and those near a kept granule are passed on as they are. */
static void test_iterations(void **state)
{
    struct as_access_sample sample = {.threshold = &threshold, .shift = SHIFT};
    static const struct as_shared_ranges none;
    struct as_access_sum seen = {0};
    uint64_t granule = 5, kept[9] = {0};
    atomic_store(&threshold, granule * AS_RANDOM_STEP);
    uint64_t far = 1;
    while (far * AS_RANDOM_STEP <= threshold || (far + 1) * AS_RANDOM_STEP <= threshold ||
           (far + 2) * AS_RANDOM_STEP <= threshold)
        far++;
    uint64_t outside = far << SHIFT, inside = granule << SHIFT;
    const uint64_t words[] = {7, word(1, 0, 3, outside),      word(2, 0, 3, outside + 8),
                              7, word(1, 0, 3, outside),      word(2, 0, 3, inside),
                              7, word(1, 0, 3, outside + 60), word(2, 0, 3, outside + 16)};
    struct as_exec_words all = {.words = words, .n = 9, .accesses = 6};
    size_t n = as_access_sample_sift_iterations(&sample, &seen, &none, &all, kept);
    assert_int_equal(n, 3);
    assert_memory_equal(kept, words + 3, 3 * sizeof *words);
    assert_true(seen.accesses == 6 && seen.touches == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_meets), cmocka_unit_test(test_counts),
                                       cmocka_unit_test(test_borders), cmocka_unit_test(test_iterations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
