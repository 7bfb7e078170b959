/* Counted stretches that go through a sieve, from executions made up by hand: which lines caches get, and how the training of the branch
 * predictor goes.
 *
 * usage: test_model_sieve MACHINE */
#include "model/model_inside.h"

#include "unit.h"

enum { BLOCKS = 40, INSNS = 10, CODE = 0x400000, SPACE = 0x1000 };

static char *machine_path;
static const struct as_image image = {.number = 1, .arch = AS_ARCH_X86_64};
static const struct as_stretch warms = {.mode = AS_MODE_WARM}, counts = {.mode = AS_MODE_COUNT};

/* Blocks of ten instructions, each on a page of its own; the last one may branch back to the beginning. */
struct bed {
    struct as_machine machine;
    struct as_model *model;
    struct as_thread thread;
    struct model_thread *own;
    struct as_insn insns[BLOCKS][INSNS];
    struct as_block *blocks[BLOCKS], *page[BLOCKS + 1], **pages[1];
};

static void add_block(struct bed *bed, uint32_t index)
{
    uint64_t address = CODE + (uint64_t)SPACE * index;
    struct as_block *block = as_alloc(sizeof *block + INSNS * sizeof *block->insns);
    *block = (struct as_block){.index = index,
                               .image = 1,
                               .n = INSNS,
                               .address = address,
                               .end = address + 4 * INSNS,
                               .target = address,
                               .outcome = AS_OUTCOME_EITHER,
                               .last_class = AS_CLASS_BRANCH,
                               .link_at = -1,
                               .stack_at = -1};
    for (uint32_t i = 0; i < INSNS; i++) {
        struct as_insn *insn = &bed->insns[index][i];
        *insn = (struct as_insn){.address = address + 4 * i, .length = 4, .id = index * INSNS + i};
        insn->class_ = i + 1 < INSNS ? AS_CLASS_INT : AS_CLASS_BRANCH;
        insn->target = i + 1 < INSNS ? 0 : address;
        block->insns[i] = insn;
    }
    bed->blocks[index] = bed->page[index + 1] = block;
}

static struct bed *set_up(void)
{
    struct as_error err = AS_ERROR_INIT;
    struct bed *bed = as_alloc(sizeof *bed);
    if (!as_machine_load(machine_path, &bed->machine, &err))
        fail_msg("%s", err.message);
    for (uint32_t i = 0; i < BLOCKS; i++)
        add_block(bed, i);
    bed->pages[0] = bed->page;
    bed->model = as_model_new(&bed->machine);
    as_model_set_sieve(bed->model);
    bed->thread = (struct as_thread){.number = 1, .process = 1, .image = &image};
    as_model_thread_start(bed->model, &bed->thread);
    bed->own = bed->thread.user;
    bed->own->followed = true; /* nobody asks for paths */
    return bed;
}

static void tear_down(struct bed *bed)
{
    as_model_free(bed->model);
    for (uint32_t i = 0; i < BLOCKS; i++)
        free(bed->blocks[i]);
    free(bed);
}

static uint64_t load(uint64_t address)
{
    return (uint64_t)AS_ACCESS_LOAD << 62 | UINT64_C(3) << 50 | address;
}

static void pass(struct bed *bed, uint32_t index, bool near, bool taken, const uint64_t *words, size_t n)
{
    const struct as_block *block = bed->blocks[index];
    struct as_block_exec exec = {.block = block,
                                 .end = INSNS,
                                 .near = near,
                                 .taken = taken,
                                 .next = taken ? block->target : block->end,
                                 .words = words,
                                 .n_words = n};
    as_model_passed(bed->model, &bed->thread, &exec);
}

/* Lines that DRAM was read for since it was asked last. */
static uint64_t reads_since(struct bed *bed, uint64_t *before)
{
    as_model_settle(bed->model);
    uint64_t now = as_model_reads(bed->model), since = now - *before;
    *before = now;
    return since;
}

/* Of data each line is read once; what the sieve holds is forgotten with the stretch, but the caches have it. */
static void test_data(void **state)
{
    struct bed *bed = set_up();
    uint64_t before = as_model_reads(bed->model);
    const uint64_t words[] = {load(0x10000000), load(0x10000008), load(0x20000040), load(0x10000030)};
    pass(bed, 0, false, false, words, 4);
    uint64_t first = reads_since(bed, &before);
    pass(bed, 0, false, false, words, 4);
    assert_int_equal(reads_since(bed, &before), 0);
    const uint64_t other[] = {load(0x10000080)};
    pass(bed, 0, false, false, other, 1);
    uint64_t second = reads_since(bed, &before);
    assert_true(first >= 2);
    assert_in_range(second, 1, 2); /* the next line may come with it */
    as_model_stretch(bed->model, &warms);
    as_model_stretch(bed->model, &counts);
    reads_since(bed, &before);
    pass(bed, 0, false, false, words, 4);
    assert_int_equal(reads_since(bed, &before), 0);
    tear_down(bed);
}

/* Code that was executed is fetched when the stretch ends, each block once; not again if its last part did. */
static void test_code(void **state)
{
    struct bed *bed = set_up();
    uint64_t before = as_model_reads(bed->model);
    for (uint32_t i = 0; i < 6; i++)
        as_model_skipped(bed->model, &bed->thread, bed->blocks[i % 3], 0, INSNS, 5);
    assert_int_equal(bed->model->calm, 0);
    assert_int_equal(reads_since(bed, &before), 0);
    as_model_stretch(bed->model, &warms);
    assert_true(reads_since(bed, &before) >= 3);
    as_model_stretch(bed->model, &counts);
    as_model_skipped(bed->model, &bed->thread, bed->blocks[4], 0, INSNS, 1);
    as_model_skipped(bed->model, &bed->thread, bed->blocks[1], 0, INSNS, 1); /* a second time */
    pass(bed, 5, true, false, NULL, 0); /* the last part begins: what was executed before it comes first */
    assert_true(reads_since(bed, &before) >= 2);
    as_model_skipped(bed->model, &bed->thread, bed->blocks[6], 0, INSNS, 1);
    as_model_stretch(bed->model, &warms);
    assert_int_equal(reads_since(bed, &before), 0); /* it would have fetched its code itself */
    tear_down(bed);
}

/* A trail of blocks: each fetches its code, and its accesses are those behind its number. */
static void test_trail(void **state)
{
    struct bed *bed = set_up();
    const uint64_t words[] = {load(0x10000000), 2, load(0x10000040), load(0x10000080), 1, load(0x100000c0), 3};
    const struct as_block_pages blocks = {.pages = bed->pages, .len = BLOCKS + 1};
    const struct as_trail trail = {.first = 1, .words = words, .n = 7, .blocks = &blocks};
    uint64_t before = as_model_reads(bed->model);
    as_model_trail(bed->model, &bed->thread, &trail);
    uint64_t first = reads_since(bed, &before);
    assert_true(first >= 4 + 2); /* lines of data, and of the code of two blocks */
    as_model_trail(bed->model, &bed->thread, &trail);
    assert_int_equal(reads_since(bed, &before), 0);
    uint64_t again[] = {load(0x10000040), load(0x10000080), load(0x100000c0)};
    as_model_stretch(bed->model, &warms);
    as_model_stretch(bed->model, &counts);
    pass(bed, 0, false, false, again, 3);
    assert_int_equal(reads_since(bed, &before), 0); /* all of them are there */
    tear_down(bed);
}

/* A part of ten blocks is a quarter of what trains: old branches, new ones, and old ones again for two quarters. Returns what the core
 * mispredicted by then. */
static uint64_t train(struct bed *bed, uint32_t first_new, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        pass(bed, first_new ? first_new + i : 0, true, first_new > 0, NULL, 0);
    as_model_settle(bed->model);
    return as_core_warm_mispredictions(bed->own->seat.core);
}

/* What is said of training is what the core mispredicted: in the second quarter of the last part, less that in its second half. */
static void test_training(void **state)
{
    struct bed *bed = set_up();
    double excess = -1;
    as_model_set_training(bed->model, 400);
    for (uint32_t times = 0; times < 2; times++) {
        uint64_t quarter = train(bed, 0, 10), half = train(bed, 1 + 10 * times, 10), end = train(bed, 0, 20);
        assert_true(half > quarter && half - quarter > end - half);
        as_model_stretch(bed->model, &warms);
        as_model_settle(bed->model);
        assert_true(as_model_training(bed->model, &excess));
        assert_float_equal(excess, (double)(half - quarter) / 100 - (double)(end - half) / 200, 1e-9);
        as_model_stretch(bed->model, &counts);
    }
    pass(bed, 0, true, false, NULL, 0);
    as_model_stretch(bed->model, &warms);
    assert_false(as_model_training(bed->model, &excess)); /* too short */
    tear_down(bed);
}

/* Whether an access would pass the thread's sieve, which has so many slots now. */
static bool passes(const struct as_thread *thread, uint64_t n, uint64_t address, bool writes)
{
    uint64_t slots[AS_SIEVE_COARSE_SLOTS];
    memcpy(slots, ((const struct model_thread *)thread->user)->slots, sizeof slots);
    return as_sieve_pass(slots, n, address, writes);
}

static void start(struct bed *bed, struct as_thread *thread, uint32_t number, uint32_t process)
{
    *thread = (struct as_thread){.number = number, .process = process, .image = &image};
    as_model_thread_start(bed->model, thread);
    ((struct model_thread *)thread->user)->followed = true;
}

static void touch(struct bed *bed, struct as_thread *thread, uint64_t address, bool writes, bool near)
{
    struct as_thread own = bed->thread;
    const uint64_t word = load(address) ^ (writes ? UINT64_C(3) << 62 : 0); /* a store instead of a load */
    bed->thread = *thread;
    pass(bed, 0, near, false, &word, 1);
    bed->thread = own;
}

/* Each of several threads has a sieve, a coarse one far from regions, which knows what the others of its process access. */
static void test_threads(void **state)
{
    enum { DATA = 0x10000000, LINE = 64, COARSE = AS_SIEVE_COARSE_SLOTS };
    struct bed *bed = set_up();
    struct as_thread *one = &bed->thread, two, other;
    start(bed, &two, 2, 1);
    start(bed, &other, 3, 2);
    for (uint64_t i = 0; i < 2 * AS_SIEVE_SLOTS; i++)
        touch(bed, one, DATA + LINE * i, false, false);
    touch(bed, &two, DATA, true, false);
    touch(bed, &other, DATA + LINE, true, false);
    assert_true(passes(one, COARSE, DATA, false));
    assert_false(passes(one, COARSE, DATA + LINE, false));
    assert_false(passes(&two, COARSE, DATA, true));
    touch(bed, one, DATA, false, false);
    assert_false(passes(&two, COARSE, DATA, false));
    assert_true(passes(&two, COARSE, DATA, true));
    touch(bed, one, DATA, false, true); /* the last part of the stretch begins */
    assert_false(passes(one, AS_SIEVE_SLOTS, DATA, false));
    assert_true(passes(one, AS_SIEVE_SLOTS, DATA + LINE, false));
    touch(bed, &two, DATA + LINE * 3, false, true);
    assert_true(passes(&two, AS_SIEVE_SLOTS, DATA, false));
    tear_down(bed);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    machine_path = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data),     cmocka_unit_test(test_code),    cmocka_unit_test(test_trail),
        cmocka_unit_test(test_training), cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
