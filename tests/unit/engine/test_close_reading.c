/* Reading threads in small steps, by hand: the one that is behind first, none further ahead than a few cycles. An instruction takes a
 * cycle. What is read is written down: the thread, and the time at which its block began. */
#include "engine/close_reading.h"

#include "base/str.h"
#include "engine/reader_lanes.h"
#include "reader_fixture.h"

static uint64_t clocks[4]; /* by thread */
static struct as_str text;

static void read_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    as_str_addf(&text, "%s%u@%u", text.len ? " " : "", thread->number, (unsigned)clocks[thread->number]);
    clocks[thread->number] += exec->end - exec->first;
}

static uint64_t clock_of(void *context, const struct as_thread *thread)
{
    return clocks[thread->number];
}

static int set_up(void **state)
{
    set_up_reader(state);
    bed_block(&bed, 0x4000, "90, 90, 90, 90, 90, 90, 90, eb f7"); /* eight instructions, again and again */
    bed_block(&bed, 0x4100, "90, 90, 48 8b 07, eb f9");           /* four, with a load */
    reader_sink.block = read_block;
    reader_sink.clock = clock_of;
    memset(clocks, 0, sizeof clocks);
    return 0;
}

static int tear_down(void **state)
{
    for (uint32_t i = 0; i < 4; i++)
        if (reader.streams[i])
            as_stream_free(reader.streams[i]);
    as_str_free(&text);
    return tear_down_reader(state);
}

static struct as_wire_lane *add(uint32_t number)
{
    struct as_wire_lane *lane = add_thread(number, 1);
    reader.streams[number - 1]->sink = &reader_sink;
    atomic_store(&lane->activity, AS_WIRE_RUNNING);
    return lane;
}

static void write_word(uint32_t number, uint64_t word)
{
    struct as_wire_lane *lane = &child.wire->lanes[number - 1];
    uint64_t at = atomic_load(&lane->published);
    as_wire_ring(child.wire, number - 1)[at % as_wire_ring_words(number - 1)] = word;
    atomic_store(&lane->published, at + 1);
}

static void write_blocks(uint32_t number, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        write_word(number, 0x4000);
}

static void write_loads(uint32_t number, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        write_word(number, 0x4100);
        write_word(number,
                   AS_WIRE_LOAD | UINT64_C(2) << AS_WIRE_INDEX_SHIFT | UINT64_C(3) << AS_WIRE_SIZE_SHIFT | 0x5000);
    }
}

static uint64_t consumed(uint32_t number)
{
    return atomic_load(&child.wire->lanes[number - 1].consumed);
}

/* Reads once; returns whether anything was. */
static bool read_once(const char *want)
{
    bool progress = false;
    as_str_clear(&text);
    assert_true(as_read_closely(&reader, &progress));
    assert_string_equal(as_str_get(&text), want);
    return progress;
}

/* The one behind goes up to ten cycles beyond the other; a block that begins there is read whole. A block is known to have ended when the
 * next one begins. */
static void the_one_behind_goes_first(void **state)
{
    add(1);
    add(2);
    write_blocks(1, 6);
    write_blocks(2, 6);
    assert_true(read_once("1@0 1@8 2@0 2@8 1@16 1@24 2@16 2@24 1@32"));
    assert_int_equal(consumed(1), 6);
    assert_int_equal(consumed(2), 5); /* the first has no more words, which ends it */
    assert_false(read_once(""));
}

/* Far ahead, it waits until the other has come close. */
static void one_that_is_ahead_waits(void **state)
{
    add(1);
    add(2);
    clocks[2] = 25;
    write_blocks(1, 6);
    write_blocks(2, 3);
    assert_true(read_once("1@0 1@8 1@16 1@24 2@25 1@32"));
    assert_int_equal(consumed(1), 6);
    assert_int_equal(consumed(2), 2);
}

/* A thread that runs and has no words yet: the other one is read no further than a little beyond its time. */
static void one_that_has_no_words(void **state)
{
    add(1);
    struct as_wire_lane *other = add(2);
    clocks[2] = 5;
    write_blocks(1, 6);
    assert_true(read_once("1@0 1@8"));
    assert_int_equal(consumed(1), 3);
    atomic_store(&other->activity, AS_WIRE_IN_SYSCALL); /* alone: this is not the way to read it */
    assert_false(read_once(""));
    assert_int_equal(consumed(1), 3);
}

/* With accesses, over the end of the ring; what is cut there goes on. */
static void around_the_end_of_the_ring(void **state)
{
    uint64_t begin = as_wire_ring_words(0) - 3;
    struct as_wire_lane *one = add(1), *other = add(2);
    atomic_store(&one->published, begin);
    atomic_store(&one->consumed, begin);
    atomic_store(&other->published, begin - 1);
    atomic_store(&other->consumed, begin - 1);
    write_loads(1, 4);
    write_loads(2, 4);
    for (int i = 0; i < 6; i++) {
        bool progress = false;
        assert_true(as_read_closely(&reader, &progress));
    }
    assert_int_equal(consumed(1), begin + 8);
    assert_int_equal(consumed(2), begin - 1 + 7); /* the first one's words end first */
    assert_string_equal(as_str_get(&text), "1@0 1@4 1@8 2@0 2@4 2@8");
}

/* What is no block is read by others; all before it is read. A time is part of the words of a block. */
static void events_end_it(void **state)
{
    add(1);
    add(2);
    write_blocks(1, 2);
    write_word(1, (uint64_t)AS_WIRE_TIME << AS_WIRE_EVENT_SHIFT);
    write_word(1, 777);
    write_blocks(1, 1);
    write_word(1, (uint64_t)AS_WIRE_THREAD_END << AS_WIRE_EVENT_SHIFT);
    write_blocks(2, 5);
    assert_true(read_once("1@0 1@8 2@0 2@8"));
    assert_int_equal(consumed(1), 5);
    assert_int_equal(reader.streams[0]->causal.time, 777);
    assert_int_equal(consumed(2), 3);
    assert_false(read_once(""));
}

/* Threads that cannot be read like this: nothing is. */
static void lanes_of_another_kind(void **state)
{
    struct as_wire_lane *one = add(1);
    write_blocks(1, 5);
    assert_false(read_once("")); /* alone */
    add(2);
    write_blocks(2, 5);
    atomic_store(&one->activity, AS_WIRE_FULL);
    assert_false(read_once(""));
    assert_true(consumed(1) == 0 && consumed(2) == 0);
    atomic_store(&one->activity, AS_WIRE_RUNNING);
    assert_true(read_once("1@0 1@8 2@0 2@8 1@16 1@24 2@16 2@24"));
}

/* At most a thousand cycles at once, so that the other things that a reader looks at have their turn. */
static void not_for_ever(void **state)
{
    add(1);
    add(2);
    write_blocks(1, 400);
    write_blocks(2, 400);
    bool progress = false;
    assert_true(as_read_closely(&reader, &progress));
    uint64_t behind = clocks[1] < clocks[2] ? clocks[1] : clocks[2];
    uint64_t ahead = clocks[1] + clocks[2] - behind;
    assert_in_range(behind, 1000, 1000 + AS_CLOSE_SLACK + 8);
    assert_in_range(ahead, behind, behind + AS_CLOSE_SLACK + 8);
    assert_int_equal(consumed(1), clocks[1] / 8 + 1);
    assert_int_equal(consumed(2), clocks[2] / 8 + 1);
}

/* … which is said where all kinds of words are read. */
static void a_word_that_is_none(void **state)
{
    add(1);
    add(2);
    write_blocks(1, 1);
    write_word(1, (uint64_t)AS_WIRE_EVENTS << AS_WIRE_EVENT_SHIFT);
    write_blocks(2, 1);
    assert_true(read_once(""));
    assert_false(read_once(""));
    assert_int_equal(consumed(1), 1);
}

/* The region ends in a thread: nothing more is read of any. */
static void the_region_ends(void **state)
{
    static struct as_regions regions;
    struct as_error err = {0};
    assert_true(as_regions_parse(&regions, "..+20", &err));
    as_region_run_free(&reader.regions);
    as_region_run_init(&reader.regions, &regions);
    add(1);
    add(2);
    write_blocks(1, 6);
    write_blocks(2, 6);
    assert_true(read_once("1@0 1@8 2@0"));
    assert_true(reader.regions.over);
    assert_int_equal(consumed(2), 2);
    as_regions_free(&regions);
}

/* A thread that fills its ring in its turn stands still until all of it is read, in however many pieces. */
static void a_full_ring_in_turn(void **state)
{
    struct as_wire_lane *lane = add(1);
    bool moved = false;
    add(2);
    options.deterministic = true;
    as_pace_prepare(child.wire, &options);
    as_pace_init(&reader);
    reader.pace.reads = false;
    reader.at_once = 8;
    write_blocks(1, 20);
    assert_false(as_pace_reads(&reader, 0)); /* it is its turn */
    atomic_store(&lane->activity, AS_WIRE_FULL);
    assert_true(as_pace_reads(&reader, 0));
    for (uint64_t pieces = 1; pieces <= 3; pieces++) {
        moved = false;
        assert_true(as_reader_read_lane(&reader, 0, AS_WIRE_LIVE, &moved));
        assert_true(moved);
        assert_int_equal(clocks[1], 8 * (8 * pieces < 20 ? 8 * pieces - 1 : 19)); /* the last block has not ended */
        assert_int_equal(consumed(1), pieces < 3 ? 0 : 20);
    }
    atomic_store(&lane->activity, AS_WIRE_RUNNING);
    reader.pace.reads = true; /* all have had their turn */
    write_blocks(1, 20);
    assert_true(as_reader_read_lane(&reader, 0, AS_WIRE_LIVE, &moved));
    assert_int_equal(consumed(1), 28);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_one_behind_goes_first),
        TEST(one_that_is_ahead_waits),
        TEST(one_that_has_no_words),
        TEST(around_the_end_of_the_ring),
        TEST(events_end_it),
        TEST(lanes_of_another_kind),
        TEST(not_for_ever),
        TEST(a_word_that_is_none),
        TEST(the_region_ends),
        TEST(a_full_ring_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
