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

/* A piece that was passed on is not passed on once more with the one behind the border. */
static void behind_a_sampled_one(void *unused)
{
    sample(6, 7);
    uint64_t a = nth_line(0, true);
    assert_true(passes_as(vector, sizeof vector, a + LINE - 8, EIGHT));
    assert_true(passes_as(vector, sizeof vector, a + LINE, EIGHT));
    assert_int_equal(lane.write - words, 2);
    assert_int_equal(words[0], word_of(a + LINE - 8, EIGHT));
}

static void test_what_lies_in_two_lines_passes(void **state)
{
    in_child(by_border, NULL);
    in_child(behind_a_sampled_one, NULL);
}

/* QEMU makes accesses of vectors and of the x87 unit in pieces, and those of integers in one. */
static bool is_split(const uint8_t *bytes, size_t size)
{
    qemu_mem_cb callback = as_sample_callback(bytes, size);
    assert_true(callback == as_sample_callback(load, sizeof load) ||
                callback == as_sample_callback(vector, sizeof vector));
    return callback == as_sample_callback(vector, sizeof vector);
}

/* By the map of opcodes: the escape 0f has a list of those of integers, 38 and 3a lead to further vectors. */
static void test_which_instructions_are_split(void **state)
{
    static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3, 0xf0, 0x2e, 0x36, 0x3e,
                                       0x26, 0x64, 0x65, 0x67, 0x40, 0x48, 0x4f};
    as_plugin.wire = &header;
    for (unsigned shift = 6; shift <= 12; shift += 6) {
        header.sample_shift = shift;
        for (unsigned arch = 0; arch < AS_ARCH_COUNT; arch++)
            for (unsigned opcode = 0; opcode < 256; opcode++) {
                bool x86 = arch == AS_ARCH_X86_64;
                as_plugin.arch = AS_ARCH_X86_64;
                assert_true(is_split(vector, sizeof vector) && !is_split(load, sizeof load));
                bool is_prefix = memchr(prefixes, (int)opcode, sizeof prefixes) || (opcode >= 0x40 && opcode <= 0x4f);
                bool unit = (opcode >= 0xd8 && opcode <= 0xdf) || opcode == 0xc4 || opcode == 0xc5 || opcode == 0x62;
                bool integers =
                    (opcode >= 0x40 && opcode <= 0x4f) || (opcode >= 0x80 && opcode <= 0xc1 && opcode != 0xae);
                const uint8_t one[] = {(uint8_t)opcode, 0x10, 0x00}, two[] = {0x0f, (uint8_t)opcode, 0x10};
                const uint8_t before[] = {(uint8_t)opcode, 0x0f, 0x10, 0x00},
                              behind[] = {0x66, 0x48, (uint8_t)opcode, 0x10};
                as_plugin.arch = (enum as_arch)arch;
                qemu_mem_cb plain = as_sample_callback(load, 1);
                assert_int_equal(as_sample_callback(one, sizeof one) != plain,
                                 x86 && (unit || opcode == 0x0f) && !is_prefix);
                assert_int_equal(as_sample_callback(two, sizeof two) != plain, x86 && !integers);
                assert_int_equal(as_sample_callback(before, sizeof before) != plain,
                                 x86 && (is_prefix || unit || opcode == 0x0f));
                assert_int_equal(as_sample_callback(behind, sizeof behind) != plain,
                                 x86 && (unit || opcode == 0x0f) && !is_prefix);
                assert_true(as_sample_callback(one, 1) == plain && as_sample_callback(behind, 3) == plain);
            }
    }
    as_plugin.arch = AS_ARCH_X86_64;
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

/* A page that is in no sample, and so are the two behind it. */
static uint64_t quiet_pages(void)
{
    uint64_t a = nth_line(0, false) & -(uint64_t)PAGE;
    while (is_sampled(a / LINE) || is_sampled(a / LINE + PAGE / LINE) || is_sampled(a / LINE + 2 * PAGE / LINE))
        a += PAGE;
    return a;
}

/* What the calls that map, move and drop memory do to it, on both architectures. */
static void by_call(void *number)
{
    static const struct {
        enum as_arch arch;
        int64_t unmap, map, remap, advise;
    } calls[] = {{AS_ARCH_X86_64, 11, 9, 25, 28}, {AS_ARCH_RISCV64, 215, 222, 216, 233}};
    enum { FIXED = 0x10, PRIVATE = 2, NOT_NEEDED = 4, FAILED = -4095, NEARLY = -4096 };
    const size_t i = *(size_t *)number / 8;
    as_plugin.arch = calls[i].arch;
    sample(6, 7);
    uint64_t a = quiet_pages();
    assert_true(!passes(a) && !passes(a + PAGE) && !passes(a + 2 * PAGE));
    uint64_t args[AS_WIRE_SYSCALL_ARGS] = {a, PAGE, 0, 0};
    bool first = false, second = false, third = false;
    switch (*(size_t *)number % 8) {
    case 0:
        as_sample_note_syscall(calls[i].unmap, args, FAILED);
        break;
    case 1:
        as_sample_note_syscall(calls[i].unmap, args, NEARLY); /* no error: an address, as it were */
        first = true;
        break;
    case 2:
        args[3] = PRIVATE;
        as_sample_note_syscall(calls[i].map, args, (int64_t)a);
        break;
    case 3: /* where it lies is what it returns */
        args[3] = PRIVATE | FIXED;
        as_sample_note_syscall(calls[i].map, args, (int64_t)(a + PAGE));
        second = true;
        break;
    case 4: /* moved to where it has another size */
        args[2] = 2 * PAGE;
        as_sample_note_syscall(calls[i].remap, args, (int64_t)(a + PAGE));
        first = second = third = true;
        break;
    case 5:
        args[2] = NOT_NEEDED;
        as_sample_note_syscall(calls[i].advise, args, 0);
        first = true;
        break;
    case 6:
        args[2] = NOT_NEEDED - 1;
        as_sample_note_syscall(calls[i].advise, args, 0);
        break;
    default: /* the other architecture's numbers */
        as_sample_note_syscall(calls[1 - i].unmap, args, 0);
        break;
    }
    assert_int_equal(passes(a), first);
    assert_int_equal(passes(a + PAGE), second);
    assert_int_equal(passes(a + 2 * PAGE), third);
}

static void test_calls_of_both_architectures(void **state)
{
    for (size_t number = 0; number < 16; number++)
        in_child(by_call, &number);
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
        cmocka_unit_test(test_which_instructions_are_split),
        cmocka_unit_test(test_calls_of_both_architectures),
        cmocka_unit_test(test_pages_that_may_have_other_names_pass),
        cmocka_unit_test(test_memory_above_a_break_that_shrank_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
