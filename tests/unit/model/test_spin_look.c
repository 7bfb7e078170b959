/* Which executions are looks at a word until another thread has written it. */
#include "model/spin_look.h"

#include "unit.h"

static const struct as_insn plain, reserves = {.flags = AS_INSN_ATOMIC};
static struct as_block looping = {.n = 3, .deciders = {1, -1}, .insns = {&plain, &plain, &plain}};
static struct as_block odd = {.n = 3, .deciders = {1, -1}, .insns = {&plain, &plain, &plain}}; /* for what differs */

static uint64_t load(uint64_t address)
{
    return (uint64_t)AS_ACCESS_LOAD << 62 | UINT64_C(3) << 50 | address;
}

static struct as_block_exec exec_of(const struct as_block *block, const uint64_t *words, size_t n)
{
    return (struct as_block_exec){.block = block, .end = block->n, .words = words, .n_words = n};
}

static void same_look(void **state)
{
    struct as_spin_look look = {0};
    const uint64_t words[] = {load(0x1000), load(0x2000)}, others[] = {load(0x1000), load(0x2008)};
    uint64_t kept[2];
    memcpy(kept, words, sizeof kept);
    struct as_block_exec exec = exec_of(&looping, words, 2);
    assert_false(as_spin_look_is(&look, &exec));
    as_spin_look_note(&look, &exec);
    assert_memory_equal(words, kept, sizeof kept);
    assert_true(as_spin_look_is(&look, &exec));
    struct as_block_exec other = exec_of(&looping, others, 2);
    assert_false(as_spin_look_is(&look, &other)); /* at another word */
    other = exec_of(&looping, words, 1);
    assert_false(as_spin_look_is(&look, &other)); /* at fewer */
    other = exec_of(&odd, words, 2);
    assert_false(as_spin_look_is(&look, &other)); /* other code */
    other = exec_of(&looping, words, 2);
    other.first = 1;
    assert_false(as_spin_look_is(&look, &other)); /* a part of it */
    struct as_block_exec again = as_spin_look_exec(&look);
    assert_true(again.block == &looping && again.first == 0 && again.end == 3 && again.n_words == 2);
    assert_memory_equal(again.words, words, sizeof words);
}

static bool is_first_look(struct as_block_exec exec)
{
    struct as_spin_look look = {.block = &looping, .n_words = 1};
    as_spin_look_note(&look, &exec);
    assert_true(look.block || look.n_words == 0);
    return look.block != NULL;
}

static void no_looks(void **state)
{
    uint64_t words[AS_SPIN_WORDS + 1];
    for (size_t i = 0; i <= AS_SPIN_WORDS; i++)
        words[i] = load(0x1000 + 8 * i);
    assert_true(is_first_look(exec_of(&looping, words, AS_SPIN_WORDS)));
    assert_false(is_first_look(exec_of(&looping, words, AS_SPIN_WORDS + 1)));
    odd.deciders[0] = -1; /* nothing that it loads decides */
    assert_false(is_first_look(exec_of(&odd, words, 1)));
    odd.deciders[0] = 0;
    assert_true(is_first_look(exec_of(&odd, words, 1)));
    odd.n_hints = 1; /* prefetches */
    assert_false(is_first_look(exec_of(&odd, words, 1)));
    struct as_block_exec exec = exec_of(&looping, words, 1);
    exec.end = 2;
    assert_false(is_first_look(exec));
    exec = exec_of(&looping, words, 1);
    exec.continues = true;
    assert_false(is_first_look(exec));
    words[2] |= (uint64_t)AS_ACCESS_STORE << 62;
    assert_true(is_first_look(exec_of(&looping, words, 2)));
    assert_false(is_first_look(exec_of(&looping, words, 3)));
}

/* A load-reserved begins a change, wherever it stands in the block. */
static void reserving_is_no_look(void **state)
{
    const uint64_t words[] = {load(0x1000), load(0x2000) | UINT64_C(2) << 53};
    struct as_block_exec exec = exec_of(&odd, words, 2);
    odd.n_hints = 0;
    odd.insns[1] = &reserves; /* accesses nothing this time */
    assert_true(is_first_look(exec));
    odd.insns[2] = &reserves;
    assert_false(is_first_look(exec));
    const uint64_t beyond[] = {load(0x1000) | UINT64_C(3) << 53};
    assert_false(is_first_look(exec_of(&looping, beyond, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_look), cmocka_unit_test(no_looks),
                                       cmocka_unit_test(reserving_is_no_look)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
