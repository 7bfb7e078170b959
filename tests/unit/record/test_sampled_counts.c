/* What threads of a sampled run executed, and which row of a profile a thread has. */
#include "record/record_threads.h"
#include "record/sampled_counts.h"
#include "store/store.h"

#include "unit.h"

enum { N = 4 };
static struct as_insn insns[N];
static struct as_block *block;

static int make_block(void **state)
{
    block = calloc(1, sizeof *block + N * sizeof *block->insns);
    block->n = N;
    for (uint32_t i = 0; i < N; i++) {
        insns[i].id = 10 - i; /* not in the order of the block */
        block->insns[i] = &insns[i];
    }
    return 0;
}

static int free_block(void **state)
{
    free(block);
    return 0;
}

static void check(const struct as_thread_counts *counts, size_t at, uint32_t id, uint64_t executions, uint64_t again)
{
    assert_true(at < counts->list.len);
    assert_int_equal(counts->list.data[at].id, id);
    assert_int_equal(counts->list.data[at].executions, executions);
    assert_int_equal(counts->list.data[at].again, again);
}

static void parts_of_blocks(void **state)
{
    struct as_sampled_counts counts = {0};
    as_sampled_counts_add(&counts, 1, block, 0, 2, 100); /* the first thread's are those of the program */
    as_sampled_counts_add(&counts, 2, block, 0, 2, 3);
    as_sampled_counts_add(&counts, 2, block, 1, 4, 5);
    as_sampled_counts_again(&counts, 1, 9);
    as_sampled_counts_again(&counts, 2, 9);
    as_sampled_counts_again(&counts, 2, 9);
    as_sampled_counts_again(&counts, 2, 3);
    as_sampled_counts_add(&counts, 3, block, 2, 3, 1);
    assert_int_equal(counts.threads.data[2]->executed, 3 * 2 + 5 * 3);
    as_sampled_counts_end(&counts, NULL, 2);
    as_sampled_counts_end(&counts, NULL, 1);
    as_sampled_counts_end(&counts, NULL, 99);
    as_sampled_counts_finish(&counts, NULL);
    assert_null(counts.threads.data[1]);
    const struct as_thread_counts *second = counts.threads.data[2], *third = counts.threads.data[3];
    assert_int_equal(second->list.len, 5);
    check(second, 0, 3, 0, 1);
    check(second, 1, 7, 5, 0);
    check(second, 2, 8, 5, 0);
    check(second, 3, 9, 8, 2);
    check(second, 4, 10, 3, 0);
    assert_int_equal(third->list.len, 1);
    check(third, 0, 8, 1, 0);
    assert_int_equal(counts.others.number, AS_NO_THREAD);
    as_sampled_counts_free(&counts);
}

/* Beyond the most threads, what those with the fewest executed is added up. */
static void threads_beyond_the_most(void **state)
{
    struct as_sampled_counts counts = {0};
    enum { THREADS = AS_THREADS_KEPT + 2 };
    for (uint32_t thread = 2; thread < THREADS + 2; thread++) {
        as_sampled_counts_add(&counts, thread, block, 1, 2, thread);
        as_sampled_counts_again(&counts, thread, 9);
        as_sampled_counts_end(&counts, NULL, thread);
    }
    as_sampled_counts_finish(&counts, NULL);
    assert_null(counts.threads.data[2]);
    assert_null(counts.threads.data[3]);
    assert_non_null(counts.threads.data[4]);
    assert_int_equal(counts.others.list.len, 10);
    check(&counts.others, 9, 9, 2 + 3, 2);
    check(&counts.others, 4, 4, 0, 0);
    as_sampled_counts_free(&counts);
}

static void rows(void **state)
{
    struct as_record_threads threads = {0};
    static const struct as_record_thread list[] = {{AS_NO_THREAD, 0, 9}, {2, 1, 3}, {1, 2, 2}, {1, 1, 1}};
    assert_int_equal(as_record_thread_of(&threads, 1, 1), AS_STORE_NONE);
    for (size_t i = 0; i < 4; i++)
        *as_vec_push(&threads.list) = list[i];
    as_record_threads_sort(&threads);
    assert_int_equal(threads.list.data[0].row, 1);
    assert_int_equal(threads.list.data[1].row, 2);
    assert_int_equal(threads.list.data[3].row, 9);
    assert_int_equal(as_record_thread_of(&threads, 1, 1), 1);
    assert_int_equal(as_record_thread_of(&threads, 1, 2), 2);
    assert_int_equal(as_record_thread_of(&threads, 2, 7), 3); /* another one of the thread */
    assert_int_equal(as_record_thread_of(&threads, 5, 1), 9);
    as_vec_free(&threads.list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_of_blocks), cmocka_unit_test(threads_beyond_the_most),
                                       cmocka_unit_test(rows)};
    return cmocka_run_group_tests(tests, make_block, free_block);
}
