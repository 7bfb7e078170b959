/* Which accesses pass the plugin's sample of granules (src/plugin/sample_filter.h), held against the rules. The lane is an array here. */
#include "plugin/sample_filter.h"

#include "plugin/access_word.h"

#include "unit.h"

struct as_plugin as_plugin;
struct as_wire_lane *as_lane_of[AS_PLUGIN_VCPUS];

enum { ROOM = 1 << 16, LOAD = 1, BYTE = 0, EIGHT = 3, LINE = 64, PAGE = 4096, UNMAP = 11, ADVISE = 28, BREAK = 12 };
static struct as_wire_header header;
static struct as_wire_lane lane;
static uint64_t words[ROOM];
static const uint8_t load[] = {0x48, 0x8b, 0x00}, vector[] = {0x0f, 0x10, 0x00};

void as_lane_push_slowly(struct as_wire_lane *full, uint64_t word)
{
    fail_msg("more than %d words", ROOM);
}

static void sample(uint32_t shift, unsigned halvings)
{
    header.sample_shift = shift;
    atomic_store(&header.sample_threshold, UINT64_MAX >> halvings);
    lane.write = words;
    lane.chunk_end = words + ROOM;
    lane.before = 0;
}

/* Each test is a process of its own: what the filter has learned stays in it. */
static void in_child(void (*test)(void *), void *argument)
{
    char text[4096];
    as_plugin.wire = &header;
    as_plugin.arch = AS_ARCH_X86_64;
    as_lane_of[0] = &lane;
    if (unit_run_child(test, argument, text, sizeof text) != 0)
        fail_msg("%s", text);
}

static uint64_t word_of(uint64_t address, unsigned size)
{
    return as_access_word(size << AS_ACCESS_WORD_SIZE_AT | LOAD << 16, address, NULL);
}

/* Whether the access is passed on, by itself. */
static bool passes_as(const uint8_t *bytes, size_t length, uint64_t address, unsigned size)
{
    uint64_t *before = lane.write;
    as_sample_callback(bytes, length)(0, size << AS_ACCESS_WORD_SIZE_AT | LOAD << 16, address, NULL);
    __asm__ volatile("" ::: "memory");
    if (lane.write > before)
        assert_int_equal(lane.write[-1], word_of(address, size));
    return lane.write > before;
}

static bool passes(uint64_t address)
{
    return passes_as(load, sizeof load, address, EIGHT);
}

static bool is_sampled(uint64_t granule)
{
    return granule * AS_WIRE_SAMPLE_STEP <= atomic_load(&header.sample_threshold);
}

/* The n-th line from 1 << 20 on that is in the sample, or is not. */
static uint64_t nth_line(unsigned n, bool sampled)
{
    uint64_t line = 1 << 20;
    for (;; line++)
        if (is_sampled(line) == sampled && n-- == 0)
            return line * LINE;
}

/* The threshold only falls. */
static void by_hash(void *shift)
{
    for (unsigned halvings = 1; halvings <= 9; halvings++) {
        sample(*(uint32_t *)shift, halvings);
        for (uint64_t i = 0; i < 4000; i++) {
            uint64_t granule = (UINT64_C(1) << 20) + 7 * i;
            assert_int_equal(passes_as(load, sizeof load, granule << header.sample_shift, BYTE), is_sampled(granule));
        }
    }
}

static void test_a_granule_passes_by_its_hash(void **state)
{
    for (uint32_t shift = 0; shift <= 12; shift += 3)
        in_child(by_hash, &shift);
}

static void two_are_recent(void *unused)
{
    sample(6, 0);
    uint64_t a = nth_line(0, true);
    assert_true(passes(a) && passes(a)); /* of all lines nothing is left out */
    sample(6, 3);
    a = nth_line(0, true);
    uint64_t b = nth_line(1, true), c = nth_line(2, true), out = nth_line(0, false);
    assert_true(passes(a) && passes(b));
    assert_false(passes(a) || passes(b + 8) || passes(out) || passes(a));
    assert_true(passes(c) && passes(a) && passes(b)); /* c was between */
    assert_false(passes(a));
    as_sample_reported(0, EIGHT << AS_ACCESS_WORD_SIZE_AT | LOAD << 16, c, NULL);
    assert_true(passes(a) && passes(b)); /* what is reported in another way was between, too */
    assert_true(passes(out + LINE - 4)); /* … and so is what lies in two lines */
    assert_true(passes(a) && passes(b));
    as_sample_note_thread();
    assert_true(passes(a) && passes(a)); /* another thread may take it away in between */
}

static void test_the_last_two_lines_are_left_out(void **state)
{
    in_child(two_are_recent, NULL);
}

static void by_border(void *unused)
{
    sample(6, 7);
    uint64_t a = 0;
    for (unsigned i = 0; !a; i++) /* nor is its neighbour sampled */
        a = is_sampled(nth_line(i, false) / LINE + 1) ? 0 : nth_line(i, false);
    for (unsigned size = 0; size <= 3; size++)
        for (uint64_t at = 0; at < LINE; at++)
            assert_int_equal(passes_as(load, sizeof load, a + at, size), at + (1u << size) > LINE);
    /* A vector is two pieces of eight bytes: only where the border is between them both are passed on. */
    for (uint64_t at = 0; at + 16 <= LINE + 8; at += 8) {
        uint64_t *before = lane.write;
        passes_as(vector, sizeof vector, a + at, EIGHT);
        passes_as(vector, sizeof vector, a + at + 8, EIGHT);
        assert_int_equal(lane.write - before, at + 16 > LINE ? 2 : 0);
        if (at + 16 > LINE)
            assert_int_equal(before[0], word_of(a + at, EIGHT));
    }
}

static void test_what_lies_in_two_lines_passes(void **state)
{
    in_child(by_border, NULL);
}

static void note(int64_t number, uint64_t start, uint64_t bytes, uint64_t third, int64_t result)
{
    const uint64_t args[AS_WIRE_SYSCALL_ARGS] = {start, bytes, third};
    as_sample_note_syscall(number, args, result);
}

static void by_page(void *unused)
{
    enum { DONTNEED = 4, WILLNEED = 3 };
    sample(6, 7);
    uint64_t a = nth_line(0, false) & -(uint64_t)PAGE;
    while (is_sampled(a / LINE) || is_sampled(a / LINE + PAGE / LINE) || is_sampled(a / LINE + 2 * PAGE / LINE))
        a += PAGE;
    assert_false(passes(a));
    note(UNMAP, a, PAGE, 0, -22); /* it failed */
    note(ADVISE, a, PAGE, WILLNEED, 0);
    assert_false(passes(a));
    note(UNMAP, a, 2 * PAGE, 0, 0);
    assert_true(passes(a) && passes(a + PAGE));
    assert_false(passes(a + 2 * PAGE));
    sample(6, 8); /* a lower threshold later changes nothing of that */
    assert_false(passes(a + 2 * PAGE));
    assert_true(passes(a + LINE) && passes(a + PAGE + LINE));
    note(ADVISE, a + 2 * PAGE, 1, DONTNEED, 0);
    assert_true(passes(a + 2 * PAGE));
}

static void test_pages_that_may_have_other_names_pass(void **state)
{
    in_child(by_page, NULL);
}

static void by_break(void *unused)
{
    sample(6, 7);
    uint64_t a = nth_line(0, false) & -(uint64_t)PAGE;
    while (is_sampled(a / LINE) || is_sampled(a / LINE + PAGE / LINE))
        a += PAGE;
    note(BREAK, 0, 0, 0, (int64_t)(a + 2 * PAGE));
    assert_false(passes(a + PAGE));
    note(BREAK, a + PAGE, 0, 0, (int64_t)(a + PAGE)); /* it shrinks by a page */
    assert_true(passes(a + PAGE));
    assert_false(passes(a));
}

static void test_memory_above_a_break_that_shrank_passes(void **state)
{
    in_child(by_break, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_granule_passes_by_its_hash),
        cmocka_unit_test(test_the_last_two_lines_are_left_out),
        cmocka_unit_test(test_what_lies_in_two_lines_passes),
        cmocka_unit_test(test_pages_that_may_have_other_names_pass),
        cmocka_unit_test(test_memory_above_a_break_that_shrank_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
