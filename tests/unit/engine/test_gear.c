/* Fast-forward by hand: a thread is stopped when a long counted stretch begins, goes on without accesses up to a margin before
 * the region, is recorded from there on, and asks before a landmark. Threads are where the test says. */
#include "engine/gear.h"

#include "base/clock.h"
#include "reader_fixture.h"

enum { MILLION = 1000000, HOUR = 3600 };

static struct as_regions regions;

/* A run that has not begun: these regions, and what the sink wants of counted stretches. */
static void begin(const char *text, bool sieved)
{
    struct as_error err = {0};
    assert_true(as_regions_parse(&regions, text, &err));
    assert_true(as_regions_check(&regions, &err));
    options.regions = &regions;
    as_gear_prepare(child.wire, &options);
    as_region_run_free(&reader.regions);
    as_region_run_init(&reader.regions, &regions);
    reader.code.regions = &regions;
    reader_sink.passed = sieved ? bed_sink.block : NULL;
    as_gear_init(&reader);
    reader.gear.stopping += HOUR; /* however busy the machine is, no thread is late unless a test says so */
}

static int set_up(void **state)
{
    set_up_reader(state);
    options.handovers = false;
    options.quantum = 0;
    reader.pace.lanes = NULL;
    regions = (struct as_regions){0};
    return 0;
}

static int tear_down(void **state)
{
    int failed = tear_down_reader(state);
    as_regions_free(&regions);
    return failed;
}

static uint32_t recorded(void)
{
    return atomic_load(&child.wire->record_accesses);
}

/* The thread has executed, and the reader has read, so many instructions in all, and it waits for more. */
static void executes(uint32_t number, uint64_t instructions)
{
    struct as_stream *stream = reader.streams[number - 1];
    as_region_run_cross(&reader.regions);
    as_region_run_count(&reader.regions, instructions - stream->executed);
    stream->executed = instructions;
    child.wire->lanes[number - 1].instructions = instructions;
}

static uint64_t stop_of(uint32_t number)
{
    return atomic_load(&child.wire->lanes[number - 1].stop_at);
}

/* Which runs can be switched at all: those in which something is only counted. */
static void only_with_gaps(void **state)
{
    static const struct {
        const char *text;
        bool gated, marks;
    } cases[] = {{"..+1M", false, false},        {"5M..", true, false},          {"5M..+1M,warm=all", false, false},
                 {"marker:3..", true, true},     {"main..", true, false},        {"..+1M,mode=count", true, false},
                 {"cycle:5000..", false, false}, {"main..marker:3", true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_error err = {0};
        struct as_regions list = {0};
        assert_true(as_regions_parse(&list, cases[i].text, &err));
        options.regions = &list;
        options.blocks_only = false;
        as_gear_prepare(child.wire, &options);
        assert_int_equal(child.wire->gated, cases[i].gated);
        assert_int_equal(child.wire->watches_markers, cases[i].marks);
        assert_int_equal(recorded(), AS_WIRE_ALL);
        assert_int_equal(atomic_load(&child.wire->asks), cases[i].gated);
        options.blocks_only = true;
        as_gear_prepare(child.wire, &options);
        assert_false(child.wire->gated);
        assert_int_equal(recorded(), AS_WIRE_VARYING);
        options.blocks_only = false;
        options.quantum = 10000;
        options.deterministic = true;
        as_gear_prepare(child.wire, &options);
        assert_false(child.wire->gated);
        options.quantum = 0;
        options.deterministic = false;
        as_regions_free(&list);
    }
}

/* From the start to a region 10 M instructions away: the thread gets all but a margin of 90,000 instructions, and is recorded near
 * the border. */
static void up_to_a_region(void **state)
{
    enum { AT = 10 * MILLION, MARGIN = 60000 + 30000 };
    begin("10M..", false);
    assert_true(atomic_load(&child.wire->gates_closed));
    struct as_wire_lane *lane = add_thread(1, 1);
    atomic_store(&lane->activity, AS_WIRE_RUNNING);
    assert_false(as_gear_turn(&reader)); /* it has not come to its gate */
    assert_int_equal(recorded(), AS_WIRE_ALL);
    atomic_store(&lane->activity, AS_WIRE_GATED);
    executes(1, 100);
    assert_true(as_gear_turn(&reader));
    assert_int_equal(recorded(), AS_WIRE_VARYING);
    assert_int_equal(stop_of(1), AT - MARGIN);
    assert_false(as_gear_turn(&reader)); /* it has what it may execute */
    executes(1, AT - MARGIN - 50000);
    lane->instructions = stop_of(1) + 1;
    assert_true(as_gear_turn(&reader)); /* more has been read by now: it gets the rest of that */
    assert_int_equal(stop_of(1), AT - MARGIN);
    executes(1, AT - MARGIN - 4097);
    lane->instructions = stop_of(1) + 1;
    assert_true(as_gear_turn(&reader));
    assert_int_equal(recorded(), AS_WIRE_VARYING);
    executes(1, AT - MARGIN - 4096);
    lane->instructions = stop_of(1) + 1;
    assert_true(as_gear_turn(&reader)); /* what is left is worth no more than a few blocks */
    assert_int_equal(recorded(), AS_WIRE_ALL);
    assert_false(atomic_load(&child.wire->gates_closed));
    assert_false(as_gear_turn(&reader));
}

/* Several threads share what is left, with a margin for each. */
static void several_threads(void **state)
{
    begin("10M..", false);
    for (uint32_t i = 1; i <= 2; i++)
        add_thread(i, 1);
    executes(1, 1000);
    executes(2, 501);
    assert_true(as_gear_turn(&reader));
    uint64_t each = (10 * MILLION - 1501 - (60000 + 2 * 30000)) / 2;
    assert_int_equal(stop_of(1), 1000 + each);
    assert_int_equal(stop_of(2), 501 + each);
}

/* A stretch that is too short for it is recorded to its end. */
static void not_worth_it(void **state)
{
    begin("2999999..", false);
    add_thread(1, 1);
    executes(1, 0);
    assert_true(as_gear_turn(&reader));
    assert_int_equal(recorded(), AS_WIRE_ALL);
    assert_false(atomic_load(&child.wire->gates_closed));
    atomic_store(&child.wire->cheap_switch, 1); /* one thread: 400,000 are enough */
    assert_true(as_gear_turn(&reader));
    assert_true(atomic_load(&child.wire->gates_closed));
    reader.gear.stopping += HOUR;
    as_gear_turn(&reader);
    assert_int_equal(recorded(), AS_WIRE_VARYING);
}

/* A thread that does not come to its gate in time is let go, and tried again later. */
static void does_not_stop(void **state)
{
    begin("10M..", false);
    struct as_wire_lane *lane = add_thread(1, 1);
    atomic_store(&lane->activity, AS_WIRE_RUNNING);
    executes(1, 100);
    reader.gear.stopping = as_clock_seconds() - 0.3;
    assert_true(as_gear_turn(&reader));
    assert_int_equal(recorded(), AS_WIRE_ALL);
    assert_false(atomic_load(&child.wire->gates_closed));
    assert_true(reader.gear.not_before > reader.gear.stopping + 0.3);
    reader.gear.not_before += HOUR;
    assert_false(as_gear_turn(&reader));
    reader.gear.not_before = as_clock_seconds() - 0.01;
    assert_true(as_gear_turn(&reader));
    assert_true(atomic_load(&child.wire->gates_closed));
}

/* What has not been read yet, and a thread that is starting or ending, are waited for; one in a system call is at rest. */
static void waits_for_rest(void **state)
{
    begin("10M..", false);
    struct as_wire_lane *lane = add_thread(1, 1);
    executes(1, 100);
    atomic_store(&lane->published, 5);
    assert_false(as_gear_turn(&reader));
    atomic_store(&lane->consumed, 5);
    atomic_store(&lane->state, AS_WIRE_ENDED);
    assert_false(as_gear_turn(&reader));
    atomic_store(&lane->state, AS_WIRE_LIVE);
    atomic_store(&lane->activity, AS_WIRE_IN_SYSCALL);
    as_gear_turn(&reader);
    assert_int_equal(recorded(), AS_WIRE_VARYING);
}

/* Where accesses are sieved, one thread has the coarse sieve up to 120,000 instructions before the border and the fine one from
 * there on, and stops 2,048 before it. */
static void sieves(void **state)
{
    enum { AT = 10 * MILLION };
    atomic_store(&child.wire->cheap_switch, 1);
    begin("10M..+1M", true);
    struct as_wire_lane *lane = add_thread(1, 1);
    reader.gear.held = true;
    executes(1, 100);
    assert_true(as_gear_turn(&reader));
    assert_int_equal(recorded(), AS_WIRE_COARSE);
    assert_int_equal(stop_of(1), AT - 120000);
    executes(1, AT - 120000);
    lane->instructions = stop_of(1) + 1;
    assert_true(as_gear_turn(&reader));
    assert_int_equal(recorded(), AS_WIRE_SIEVED);
    assert_int_equal(stop_of(1), AT - 2048);
    executes(1, AT - 2048);
    lane->instructions = stop_of(1) + 1;
    assert_true(as_gear_turn(&reader));
    assert_int_equal(recorded(), AS_WIRE_ALL);
    assert_true(reader.gear.held); /* it may execute its region, and less than a block more */
    assert_int_equal(stop_of(1), AT + MILLION + 512);
}

/* Words of a loop of two blocks, of three and of two instructions, which the thread has written and nobody has read. */
static void writes_rounds(struct as_wire_lane *lane, uint32_t rounds)
{
    uint64_t *ring = as_wire_ring(child.wire, 0);
    uint64_t at = atomic_load(&lane->published);
    for (uint32_t i = 0; i < 2 * rounds; i++, at++)
        ring[at % as_wire_ring_words(0)] = i % 2 ? BACK : MIX;
    atomic_store(&lane->published, at);
}

static void begin_by_count(uint64_t start, uint64_t length)
{
    begin("10M..+1M", true);
    struct as_region *first = &regions.list.data[0], *second = as_regions_add(&regions);
    *second = *first;
    second->text = NULL;
    first->max = second->max = length;
    first->start.number = 0;
    second->start.number = start;
    first->heads = second->heads = true;
    as_region_run_free(&reader.regions);
    as_region_run_init(&reader.regions, &regions);
}

/* A thread that was held at the end of its region goes on to the next one though nothing of it has been read. */
static void ahead_of_the_reader(void **state)
{
    enum { ROUNDS = 100, REGION = 400, NEXT = 10 * MILLION };
    atomic_store(&child.wire->cheap_switch, 1);
    begin_by_count(NEXT, REGION);
    struct as_wire_lane *lane = add_thread(1, 1);
    lane->instructions = 0;
    assert_true(as_gear_turn(&reader)); /* nothing is counted yet: recorded, and held */
    assert_true(reader.gear.held);
    assert_int_equal(recorded(), AS_WIRE_ALL);
    writes_rounds(lane, ROUNDS);
    lane->instructions = stop_of(1) + 1;
    atomic_store(&lane->activity, AS_WIRE_RUNNING);
    assert_false(as_gear_turn(&reader)); /* it is not at its gate */
    atomic_store(&lane->activity, AS_WIRE_GATED);
    uint64_t clock = lane->instructions, count = ROUNDS * 5 - 2; /* the last block has not ended */
    assert_true(as_gear_turn(&reader));
    assert_int_equal(reader.regions.count, 0);
    assert_int_equal(recorded(), AS_WIRE_COARSE);
    assert_int_equal(stop_of(1), clock + NEXT - count - 120000);
    assert_false(as_gear_turn(&reader));
}

/* A block whose code is not known yet says nothing: the thread is read first. */
static void ahead_of_the_code(void **state)
{
    atomic_store(&child.wire->cheap_switch, 1);
    begin_by_count(10 * MILLION, 400);
    struct as_wire_lane *lane = add_thread(1, 1);
    assert_true(as_gear_turn(&reader));
    writes_rounds(lane, 100);
    as_wire_ring(child.wire, 0)[100] = 12345;
    lane->instructions = stop_of(1) + 1;
    assert_false(as_gear_turn(&reader));
    assert_int_equal(recorded(), AS_WIRE_ALL);
}

/* Something outside wants a region now: what has begun is ended first. */
static void admits(void **state)
{
    begin("10M..", false);
    add_thread(1, 1);
    executes(1, 100);
    assert_false(as_gear_admits(&reader));
    as_gear_turn(&reader);
    assert_int_equal(recorded(), AS_WIRE_ALL);
    assert_true(as_gear_admits(&reader));
}

/* Nothing is switched where nothing is only counted. */
static void never(void **state)
{
    begin("..+1M", false);
    add_thread(1, 1);
    assert_false(as_gear_turn(&reader));
    assert_false(atomic_load(&child.wire->gates_closed));
    assert_true(as_gear_admits(&reader));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_with_gaps),    TEST(up_to_a_region), TEST(several_threads), TEST(not_worth_it),
        TEST(does_not_stop),     TEST(waits_for_rest), TEST(sieves),          TEST(ahead_of_the_reader),
        TEST(ahead_of_the_code), TEST(admits),         TEST(never),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
