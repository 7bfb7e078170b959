/* Call chains from copies of the stack, with a walker that says what the test wants: which frames of the kernel's chain come
 * before what was unwound, and which go on behind it. */
#include "import/import_internal.h"
#include "unit.h"

#include <linux/perf_event.h>

/* ---- the walker ---- */

static uint64_t unwound[AS_WALK_MAX];
static size_t n_unwound;
static enum as_walk_end unwound_end;

size_t as_stack_walker_walk(struct as_stack_walker *walker, const struct as_perf_sample *sample, uint64_t *frames,
                            size_t max)
{
    size_t n = n_unwound < max ? n_unwound : max;
    memcpy(frames, unwound, n * sizeof *frames);
    return n;
}

enum as_walk_end as_stack_walker_end(const struct as_stack_walker *walker)
{
    return unwound_end;
}

struct as_stack_walker *as_stack_walker_new(const struct as_stack_walker_options *options)
{
    return (struct as_stack_walker *)unwound;
}

void as_stack_walker_free(struct as_stack_walker *walker)
{
}

bool as_stack_walker_process(void *walker, const struct as_perf_process *process, struct as_error *err)
{
    return true;
}

#define UNWIND(end, ...)                                                                                               \
    do {                                                                                                               \
        static const uint64_t frames_[] = {__VA_ARGS__};                                                               \
        n_unwound = sizeof frames_ / sizeof *frames_;                                                                  \
        memcpy(unwound, frames_, sizeof frames_);                                                                      \
        unwound_end = (end);                                                                                           \
    } while (0)

/* ---- the sample ---- */

enum { IP = 0x400010, RET1 = 0x400110, RET2 = 0x400210, RET3 = 0x400310, RET4 = 0x400410, KERNEL = 0x7fff0000 };
enum { SP = 0x1000, BP = 0x1010, SECOND = 0x1030, THIRD = 0x1100, COPY = 0x40 };

static struct as_import *import;
static struct as_perf_sample walked;
static uint64_t registers[2];
static uint8_t stack[COPY];

/* Frame pointers of two frames lie within the copy: that of the sampled function, and the second ends with it. */
static struct as_perf_sample sample_with(const uint64_t *chain, size_t n)
{
    const uint64_t first[] = {SECOND, RET1}, second[] = {THIRD, RET2};
    memcpy(stack + (BP - SP), first, sizeof first);
    memcpy(stack + (SECOND - SP), second, sizeof second);
    registers[0] = BP;
    registers[1] = SP;
    return (struct as_perf_sample){.has = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CALLCHAIN,
                                   .mode = AS_PERF_USER,
                                   .ip = IP,
                                   .user_regs = {.mask = 3 << 6, .values = registers, .count = 2},
                                   .stack = stack,
                                   .stack_size = COPY,
                                   .stack_valid = COPY,
                                   .chain = chain,
                                   .n_chain = n};
}

static const uint64_t pointers[] = {(uint64_t)PERF_CONTEXT_USER, IP, RET1, RET2, RET3, RET4};
static struct as_perf_sample plain_sample(void)
{
    return sample_with(pointers, 6);
}

static void check_chain(enum as_chain_way way, const uint64_t *wanted, size_t n)
{
    assert_int_equal(import->way, way);
    assert_true(walked.has & PERF_SAMPLE_CALLCHAIN);
    assert_int_equal(walked.n_chain, n);
    for (size_t i = 0; i < n; i++)
        assert_true(walked.chain[i] == wanted[i]);
}
#define CHAIN(way, ...)                                                                                                \
    check_chain(way, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
#define USER ((uint64_t)PERF_CONTEXT_USER)

static int set_up(void **state)
{
    import = as_alloc(sizeof *import);
    as_import_walk_stacks(import);
    return 0;
}

static int tear_down(void **state)
{
    free(import);
    return 0;
}

/* ---- tests ---- */

static void without_a_copy(void **state)
{
    struct as_perf_sample sample = plain_sample();
    UNWIND(AS_WALK_ENDED, IP, RET1);
    sample.has = PERF_SAMPLE_CALLCHAIN;
    assert_false(as_import_walk(import, &sample, &walked));
    assert_int_equal(import->way, AS_CHAIN_POINTERS);
    sample.has |= PERF_SAMPLE_STACK_USER;
    import->walker = NULL;
    assert_false(as_import_walk(import, &sample, &walked));
    assert_true(import->walked == 0 && import->unwalked == 0);
}

static void unwound_to_the_end(void **state)
{
    struct as_perf_sample sample = plain_sample();
    UNWIND(AS_WALK_ENDED, IP, RET1 + 1);
    assert_true(as_import_walk(import, &sample, &walked));
    CHAIN(AS_CHAIN_UNWOUND, USER, IP, RET1 + 1);
    UNWIND(AS_WALK_ENDED, IP); /* a thread begins there: that is whole */
    assert_true(as_import_walk(import, &sample, &walked));
    CHAIN(AS_CHAIN_UNWOUND, USER, IP);
    assert_true(import->walked == 2 && import->unwalked == 0);
}

/* Its own frames first: the sampled address, and what the chain has behind it. */
static void in_the_kernel(void **state)
{
    const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 1, KERNEL + 2, USER, IP, RET1};
    struct as_perf_sample sample = sample_with(chain, 7);
    sample.mode = AS_PERF_KERNEL;
    sample.ip = KERNEL;
    UNWIND(AS_WALK_ENDED, IP, RET1, RET2);
    assert_true(as_import_walk(import, &sample, &walked));
    CHAIN(AS_CHAIN_UNWOUND, (uint64_t)PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 1, KERNEL + 2, USER, IP, RET1, RET2);
    n_unwound = 0; /* no registers */
    unwound_end = AS_WALK_LOST;
    sample.n_chain = 4;
    assert_true(as_import_walk(import, &sample, &walked));
    CHAIN(AS_CHAIN_UNWOUND, (uint64_t)PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 1, KERNEL + 2);
}

/* Frame pointers beyond the copy are those of the callers of all that was unwound. */
static void goes_on_beyond_the_copy(void **state)
{
    struct as_perf_sample sample = plain_sample();
    UNWIND(AS_WALK_BEYOND_COPY, IP, RET1, RET2);
    assert_true(as_import_walk(import, &sample, &walked));
    CHAIN(AS_CHAIN_JOINED, USER, IP, RET1, RET2, RET3, RET4);
    sample.stack_valid = COPY - 1; /* the second does not lie within */
    UNWIND(AS_WALK_BEYOND_COPY, IP, RET1);
    assert_true(as_import_walk(import, &sample, &walked));
    CHAIN(AS_CHAIN_JOINED, USER, IP, RET1, RET2, RET3, RET4);
    sample.stack_valid = BP - SP; /* nor the first */
    assert_true(as_import_walk(import, &sample, &walked));
    CHAIN(AS_CHAIN_JOINED, USER, IP, RET1, RET1, RET2, RET3, RET4);
}

/* What is not a chain of frame pointers says nothing of the copy. */
static void other_values_in_the_frame_pointer(void **state)
{
    struct as_perf_sample sample = plain_sample();
    UNWIND(AS_WALK_BEYOND_COPY, IP, RET1, RET2);
    registers[0] = SP - 8; /* below the stack */
    assert_true(as_import_walk(import, &sample, &walked));
    CHAIN(AS_CHAIN_UNWOUND, USER, IP, RET1, RET2);
    sample = plain_sample();
    memcpy(stack + (BP - SP) + 8, &(uint64_t){RET1 + 1}, 8); /* another address than the kernel's */
    assert_true(as_import_walk(import, &sample, &walked));
    CHAIN(AS_CHAIN_UNWOUND, USER, IP, RET1, RET2);
    sample = plain_sample();
    memcpy(stack + (BP - SP), &(uint64_t){BP}, 8); /* in a circle */
    assert_true(as_import_walk(import, &sample, &walked));
    CHAIN(AS_CHAIN_UNWOUND, USER, IP, RET1, RET2);
    sample = plain_sample();
    sample.user_regs.mask = 1 << 7; /* no frame pointer: 0 */
    assert_true(as_import_walk(import, &sample, &walked));
    CHAIN(AS_CHAIN_UNWOUND, USER, IP, RET1, RET2);
}

/* Where the tables end, the kernel's chain goes on from the same address, if it has more behind it. */
static void goes_on_where_tables_end(void **state)
{
    struct as_perf_sample sample = plain_sample();
    UNWIND(AS_WALK_LOST, IP, 0x500000, RET2);
    assert_true(as_import_walk(import, &sample, &walked));
    CHAIN(AS_CHAIN_JOINED, USER, IP, 0x500000, RET2, RET3, RET4);
    UNWIND(AS_WALK_LOST, 0x500000, IP); /* the sampled address is where it begins */
    assert_true(as_import_walk(import, &sample, &walked));
    CHAIN(AS_CHAIN_UNWOUND, USER, 0x500000, IP);
    UNWIND(AS_WALK_LOST, IP, RET4);
    assert_true(as_import_walk(import, &sample, &walked));
    CHAIN(AS_CHAIN_UNWOUND, USER, IP, RET4);
    UNWIND(AS_WALK_ENDED, IP, RET2); /* it did not lose its way */
    assert_true(as_import_walk(import, &sample, &walked));
    CHAIN(AS_CHAIN_UNWOUND, USER, IP, RET2);
    assert_true(import->walked == 4 && import->unwalked == 0);
}

/* The kernel's chain is better than one frame, if it has callers. */
static void one_frame_alone(void **state)
{
    struct as_perf_sample sample = plain_sample();
    UNWIND(AS_WALK_LOST, IP);
    assert_false(as_import_walk(import, &sample, &walked));
    assert_int_equal(import->way, AS_CHAIN_POINTERS);
    assert_true(import->walked == 0 && import->unwalked == 1);
    sample.n_chain = 2;
    assert_true(as_import_walk(import, &sample, &walked));
    CHAIN(AS_CHAIN_UNWOUND, USER, IP);
    assert_int_equal(import->unwalked, 2);
}

static void check_cuts(enum as_walk_end end, uint64_t copy, uint64_t frames)
{
    static struct as_perf_event event;
    struct as_perf_sample sample = plain_sample();
    sample.event = &event;
    import->whole = (struct as_import_chains){0};
    UNWIND(AS_WALK_ENDED, IP, 0x500000);
    unwound_end = end;
    assert_true(as_import_walk(import, &sample, &walked));
    as_import_count_cut(import, &sample);
    assert_int_equal(import->whole.all, 1);
    assert_int_equal(import->whole.cut[AS_CUT_COPY], copy);
    assert_int_equal(import->whole.cut[AS_CUT_FRAMES], frames);
    assert_int_equal(import->whole.cut[AS_CUT_KERNEL], 0);
    assert_int_equal(import->whole.copy, copy ? COPY : 0);
}

static void chains_that_are_cut(void **state)
{
    check_cuts(AS_WALK_ENDED, 0, 0);
    check_cuts(AS_WALK_LOST, 0, 0);
    check_cuts(AS_WALK_AT_MAX, 0, 1);
    registers[0] = 0;
    struct as_perf_sample sample = plain_sample();
    sample.n_chain = 0; /* no frame pointers to go on by */
    static struct as_perf_event event;
    sample.event = &event;
    import->whole = (struct as_import_chains){0};
    unwound_end = AS_WALK_BEYOND_COPY;
    assert_true(as_import_walk(import, &sample, &walked));
    as_import_count_cut(import, &sample);
    assert_true(import->whole.cut[AS_CUT_COPY] == 1 && import->whole.copy == COPY);
}

/* Chains of perf's text: as many frames as the limit are cut there; inlined ones are perf's, and do not count. */
static void check_limit(uint32_t of_event, uint32_t of_options, size_t n, uint32_t limit)
{
    static struct as_perf_frame frames[130];
    struct as_perf_event event = {.max_stack = of_event};
    struct as_perf_sample sample = {
        .has = PERF_SAMPLE_CALLCHAIN, .event = &event, .frames = frames, .n_frames = n, .mode = AS_PERF_USER};
    frames[1].inlined = true;
    import->options.max_stack = of_options;
    import->way = AS_CHAIN_POINTERS;
    import->whole = (struct as_import_chains){0};
    as_import_count_cut(import, &sample);
    assert_int_equal(import->whole.all, 1);
    assert_int_equal(import->whole.cut[AS_CUT_KERNEL], limit > 0);
    assert_int_equal(import->whole.limit, limit);
}

static void chains_as_long_as_the_limit(void **state)
{
    check_limit(4, 0, 4, 0);
    check_limit(4, 0, 5, 4);
    check_limit(4, 9, 5, 4);
    check_limit(0, 6, 6, 0);
    check_limit(0, 6, 7, 6);
    check_limit(0, 0, 127, 0);
    check_limit(0, 0, 128, 127);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_a_copy),
        TEST(unwound_to_the_end),
        TEST(in_the_kernel),
        TEST(goes_on_beyond_the_copy),
        TEST(other_values_in_the_frame_pointer),
        TEST(goes_on_where_tables_end),
        TEST(one_frame_alone),
        TEST(chains_that_are_cut),
        TEST(chains_as_long_as_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
