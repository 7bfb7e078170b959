/* Vectors of a run, of executions and tallies as the engine reports them: where intervals end, whose a block is. */
#include "points/collect.h"

#include "unit.h"

static struct as_block *new_block(uint32_t index, uint32_t instructions)
{
    struct as_block *block = as_alloc(sizeof *block);
    block->index = index;
    block->n = instructions;
    return block;
}

static void run_part(struct as_collect *collect, struct as_thread *thread, const struct as_block *block, uint32_t first,
                     uint32_t end, bool continues)
{
    as_collect_sink.block(collect, thread,
                          &(struct as_block_exec){.block = block, .first = first, .end = end, .continues = continues});
}

static void run_whole(struct as_collect *collect, struct as_thread *thread, const struct as_block *block, uint64_t runs)
{
    as_collect_sink.tally(collect, thread, block, &(struct as_tally){.runs = runs});
}

static void new_stretch(struct as_collect *collect)
{
    as_collect_sink.stretch(collect, &(struct as_stretch){0});
}

static void check_vectors(struct as_collect *collect, const char *want)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_true(as_vectors_write(as_collect_finish(collect), out));
    fclose(out);
    assert_string_equal(text, want);
    free(text);
}

/* Blocks are numbered in the order of their first execution; what was executed of them is in instructions. */
static void test_stretches_are_intervals(void **state)
{
    struct as_collect *collect = as_collect_new(false);
    struct as_block *three = new_block(5, 3), *seven = new_block(0, 7);
    struct as_thread thread = {.number = 1};
    new_stretch(collect);
    run_part(collect, &thread, three, 1, 3, false);
    run_part(collect, &thread, three, 0, 3, true); /* its first instruction was counted before */
    run_whole(collect, &thread, seven, 10);
    new_stretch(collect);
    run_whole(collect, &thread, three, 2);
    new_stretch(collect);
    new_stretch(collect); /* nothing was executed: not an interval */
    run_whole(collect, &thread, seven, 1);
    check_vectors(collect, "T:1:4 :2:70 \nT:1:6 \nT:2:7 \n");
    size_t n;
    const struct as_collect_block *blocks = as_collect_blocks(collect, &n);
    assert_int_equal(n, 2);
    assert_ptr_equal(blocks[0].block, three);
    assert_ptr_equal(blocks[1].block, seven);
    assert_int_equal(blocks[0].thread, 0);
    as_collect_free(collect);
    free(three);
    free(seven);
}

/* Two threads, the second one first: one block for both, or one for each. */
static void check_threads(bool by_thread, const char *want, size_t blocks, const uint32_t *threads)
{
    struct as_collect *collect = as_collect_new(by_thread);
    struct as_block *block = new_block(2, 4);
    struct as_thread one = {.number = 1}, two = {.number = 2};
    new_stretch(collect);
    run_whole(collect, &two, block, 5);
    run_whole(collect, &one, block, 1);
    new_stretch(collect);
    run_whole(collect, &one, block, 2);
    check_vectors(collect, want);
    size_t n;
    const struct as_collect_block *known = as_collect_blocks(collect, &n);
    assert_int_equal(n, blocks);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(known[i].thread, threads[i]);
    as_collect_free(collect);
    free(block);
}

static void test_threads(void **state)
{
    check_threads(false, "T:1:24 \nT:1:8 \n", 1, (const uint32_t[]){0});
    check_threads(true, "T:1:20 :2:4 \nT:2:8 \n", 2, (const uint32_t[]){2, 1});
}

/* With a loop, an interval goes on until it has enough instructions, and its start is known by the loop's execution. */
static void test_intervals_by_loop(void **state)
{
    struct as_collect *collect = as_collect_new(false);
    struct as_regions regions = {0};
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_collect_by_loop(collect, &regions, "head", 20, &err));
    assert_int_equal(regions.list.len, 1);
    const struct as_region *region = &regions.list.data[0];
    assert_int_equal(region->start.kind, AS_POINT_NONE);
    assert_int_equal(region->stop.kind, AS_POINT_LANDMARK);
    assert_string_equal(regions.landmarks.data[region->stop.landmark].symbol, "head");
    assert_true(region->repeat);
    struct as_block *ten = new_block(0, 10);
    struct as_thread thread = {.number = 1};
    new_stretch(collect);
    for (int pass = 1; pass <= 5; pass++) {
        run_whole(collect, &thread, ten, 1);
        new_stretch(collect);
    }
    check_vectors(collect, "T:1:20 \nT:1:20 \nT:1:10 \n");
    assert_int_equal(as_collect_pass(collect, 0), 0);
    assert_int_equal(as_collect_pass(collect, 1), 2);
    assert_int_equal(as_collect_pass(collect, 2), 4);
    assert_int_equal(as_collect_pass(collect, 3), 0);
    as_collect_free(collect);
    as_regions_free(&regions);
    free(ten);
}

static void check_not_a_loop(const char *place)
{
    struct as_collect *collect = as_collect_new(false);
    struct as_regions regions = {0};
    struct as_error err = AS_ERROR_INIT;
    assert_false(as_collect_by_loop(collect, &regions, place, 20, &err));
    assert_int_equal(err.status, AS_EXIT_USAGE);
    assert_true(err.message[0] != 0);
    as_regions_free(&regions);
    as_collect_free(collect);
}

static void test_places_that_are_no_loops(void **state)
{
    check_not_a_loop("1000");   /* a number of instructions */
    check_not_a_loop("main#3"); /* one execution of it */
    check_not_a_loop("");
    check_not_a_loop("marker:99999"); /* nothing at all */
}

static void test_region(void **state)
{
    struct as_regions regions = {0};
    struct as_error err = AS_ERROR_INIT;
    as_collect_region(&regions, 1000);
    assert_true(as_regions_check(&regions, &err));
    assert_int_equal(regions.list.data[0].max, 1000);
    assert_true(regions.list.data[0].repeat);
    assert_string_equal(regions.list.data[0].text, "intervals of 1000 instructions");
    as_regions_free(&regions);
    as_collect_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stretches_are_intervals),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_intervals_by_loop),
        cmocka_unit_test(test_places_that_are_no_loops),
        cmocka_unit_test(test_region),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
