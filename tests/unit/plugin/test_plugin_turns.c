/* Threads that keep step, without QEMU: which atomics take turns, who waits for whom, who is woken, and who keeps close to the others. All
 * lanes are driven by one thread; whom it waits for never comes, so that each wait ends after some milliseconds. Where somebody has to be
 * in line, a thread of another process is. */
#include "lane_bed.h"

#include <pthread.h>

enum { FAR = 1 << 30, UNTOUCHED = 7, FIRST_TIMES = 16, TIMES = 64, HEATS = 256, CLOSE_FOR = 1000, MEET_FOR = 2000 };
static struct as_wire_lane *one, *two, *three;

static void start_three(void)
{
    one = bed_start(0);
    two = bed_start(1);
    three = bed_start(2);
    one->instructions = 10000;
    two->instructions = three->instructions = FAR;
}

/* ---- which atomics take turns ---- */

static bool takes(struct as_wire_lane *lane, uint32_t block)
{
    atomic_store(&lane->stands_at, UNTOUCHED);
    (void)as_turns_take(lane, block, false); /* it may wait, too */
    return atomic_load(&lane->stands_at) != UNTOUCHED;
}

/* How often a block takes its turn while it touches a word that is its own. */
static unsigned count_turns(uint32_t block, uint64_t word)
{
    unsigned n = 0;
    while (n < 2 * TIMES && takes(one, block)) {
        as_turns_touch(one, word);
        n++;
    }
    return n;
}

static void untouched_by_others(void *unused)
{
    uint64_t word = 0x1000;
    as_turns_setup();
    start_three();
    as_turns_touch(one, word); /* of no block */
    assert_int_equal(count_turns(5, word), FIRST_TIMES);
    assert_false(takes(one, 5));
    assert_int_equal(count_turns(6, word), FIRST_TIMES);
    assert_int_equal(count_turns(5 + HEATS, word), FIRST_TIMES); /* in the place of the first */
    assert_int_equal(count_turns(5, word), FIRST_TIMES);
    one->instructions = MEET_FOR; /* too early to say */
    assert_int_equal(count_turns(8, word), 2 * TIMES);
    one->instructions = MEET_FOR + 1;
    assert_int_equal(count_turns(8, word), FIRST_TIMES);
}

/* The same word in turns, or another one. */
static void handed_over(void *unused)
{
    uint64_t word = 0x1000, own = 0x2000;
    start_three();
    assert_true(takes(one, 5));
    as_turns_touch(one, word);
    assert_int_equal(one->close_until, 0);
    assert_true(takes(two, 6));
    as_turns_touch(two, word + 4); /* the same eight bytes */
    assert_int_equal(two->close_until, FAR + CLOSE_FOR);
    assert_true(takes(one, 5));
    as_turns_touch(one, word);
    assert_int_equal(one->close_until, 10000 + CLOSE_FOR);
    assert_int_equal(count_turns(5, own), TIMES);
    assert_true(takes(one, 9));
    two->instructions = 5000; /* when it touches the word for the last time */
    assert_true(as_turns_take(one, 9, false) || true);
    as_turns_touch(two, word);
    two->instructions = FAR;
    assert_true(takes(one, 10));
    as_turns_touch(one, word); /* handed over again */
    one->instructions = 5000 + MEET_FOR;
    assert_int_equal(count_turns(10, word), 2 * TIMES); /* others come there */
    one->instructions++;
    assert_int_equal(count_turns(10, word), TIMES); /* … but not any more */
    assert_true(takes(three, 6));
    as_turns_touch(three, word + 8); /* its neighbour is nobody's */
    assert_int_equal(three->close_until, 0);
}

static void only_so_many(void *unused)
{
    one = bed_start(0);
    one->instructions = 10000;
    assert_false(takes(one, 5)); /* it is alone */
    for (unsigned vcpu = 1; vcpu < AS_TURNS_THREADS; vcpu++)
        bed_start(vcpu)->instructions = FAR;
    assert_true(takes(one, 5));
    bed_start(AS_TURNS_THREADS)->instructions = FAR;
    assert_false(takes(one, 5));
}

/* A load-reserved stands where it was until the block behind it, with the store-conditional, has come. */
static void reserved(void *unused)
{
    start_three();
    one->clock_offset = 11;
    one->check_at = 70000;
    assert_false(as_turns_take(one, 3, false));
    assert_true(!one->stands_at && !one->reserves && one->check_at == 70000);
    assert_false(as_turns_take(one, 3, true));
    assert_true(one->stands_at == 10011 && one->reserves && one->check_at == 0);
    one->instructions += 50;
    one->check_at = 70000;
    assert_false(as_turns_pass(one));
    assert_true(one->stands_at == 10011 && !one->reserves && one->check_at == 0);
    one->check_at = one->throttle_at = 70000;
    assert_false(as_turns_pass(one));
    assert_true(!one->stands_at && one->check_at == 70000);
}

static void test_which_take_turns(void **state)
{
    bed_run(untouched_by_others, NULL);
    bed_run(handed_over, NULL);
    bed_run(only_so_many, NULL);
    bed_run(reserved, NULL);
}

/* ---- who waits ---- */

static bool waits(struct as_wire_lane *lane)
{
    static uint32_t block;
    uint64_t published = lane->published;
    as_lane_push(lane, 1);
    lane->check_at = UNTOUCHED;
    bool waited = as_turns_take(lane, ++block, false);
    assert_int_equal(lane->check_at, waited ? 0 : UNTOUCHED); /* to pass on the turn */
    assert_int_equal(lane->published > published, waited);
    assert_true(lane->activity == AS_WIRE_RUNNING && !lane->in_line);
    return waited;
}

static void for_those_before(void *unused)
{
    start_three();
    two->instructions = one->instructions - 1;
    two->check_at = three->check_at = UNTOUCHED;
    assert_true(waits(one));
    assert_true(two->check_at == 0 && three->check_at == UNTOUCHED); /* it is to look who waits */
    assert_false(waits(two));
    two->instructions = one->instructions; /* the first thread comes first */
    assert_false(waits(one));
    assert_true(waits(two));
    two->instructions = 5000;
    atomic_store(&two->activity, AS_WIRE_GATED); /* until the reader lets it go on */
    assert_false(waits(one));
    atomic_store(&two->activity, AS_WIRE_IN_SYSCALL);
    assert_false(waits(one));
    atomic_store(&two->activity, AS_WIRE_RUNNING);
    atomic_store(&two->stands_at, 20000);
    assert_false(waits(one));
    atomic_store(&two->stands_at, 0);
    two->clock_offset = 5001;
    assert_false(waits(one));
    atomic_store(&wire->detached, 1);
    two->clock_offset = 0;
    assert_true(waits(one)); /* for no time */
}

/* Whoever waits all the time does so on the processor of the others, until it has not waited for long. */
static void in_one_place(void *unused)
{
    enum { OFTEN = 20000, OFTEN_TIMES = 8, SELDOM = 100000 };
    start_three();
    atomic_store(&wire->detached, 1); /* no wait takes any time */
    one->instructions = 1 << 20;
    two->instructions = 0;
    assert_true(waits(one)); /* the first after long */
    for (int i = 1; i < OFTEN_TIMES; i++) {
        one->instructions += OFTEN - 1;
        assert_true(waits(one));
    }
    assert_int_equal(bed_joined, 0);
    one->instructions += OFTEN;
    assert_true(waits(one)); /* it counts anew */
    for (int i = 0; i < OFTEN_TIMES + 1; i++) {
        assert_int_equal(bed_joined, i == OFTEN_TIMES);
        one->instructions += OFTEN - 1;
        assert_true(waits(one));
    }
    assert_int_equal(bed_joined, 1); /* once */
    one->instructions += SELDOM - 1;
    (void)as_turns_pass(one);
    assert_int_equal(bed_left, 0);
    one->instructions++;
    (void)as_turns_pass(one);
    (void)as_turns_pass(one);
    assert_int_equal(bed_left, 1);
}

static void for_those_expected(void *unused)
{
    start_three();
    as_turns_expect(1);
    assert_true(waits(one)); /* nobody could be that thread */
    assert_false(as_turns_awaits());
    as_turns_expect(1);
    as_turns_stay_patient(49);
    assert_true(as_turns_awaits());
    as_turns_stay_patient(50);
    assert_false(as_turns_awaits());
    as_turns_expect(-1); /* the thread was there before its maker said so */
    assert_false(as_turns_awaits());
    assert_false(waits(one));
}

static void test_who_waits(void **state)
{
    bed_run(for_those_before, NULL);
    bed_run(in_one_place, NULL);
    bed_run(for_those_expected, NULL);
}

/* ---- who is woken ---- */

static void *stand_in_line(void *lane)
{
    (void)as_turns_take(lane, 1, false);
    return NULL;
}

/* In another process a thread waits for one that is in line itself, and so for good. */
static void park(pthread_t *parked)
{
    as_plugin.process = 7;
    struct as_wire_lane *first = bed_start(10), *waiting = bed_start(11);
    atomic_store(&first->in_line, 1);
    waiting->instructions = 10;
    first->instructions = 5;
    assert_int_equal(pthread_create(parked, NULL, stand_in_line, waiting), 0);
    bed_wait_until(&waiting->in_line, 1);
    as_plugin.process = 3;
}

static void unpark(pthread_t parked)
{
    atomic_store(&wire->detached, 1);
    pthread_join(parked, NULL);
}

static void put_in_line(struct as_wire_lane *lane, uint64_t clock, uint32_t slack)
{
    lane->instructions = clock;
    atomic_store(&lane->slack, slack);
    atomic_store(&lane->in_line, 1);
    atomic_store(&lane->call, 0);
}

static bool is_woken(const struct as_wire_lane *lane)
{
    assert_int_equal(lane->call, lane->in_line == 2);
    return lane->in_line == 2;
}

static void next_in_line(void *unused)
{
    pthread_t parked;
    park(&parked);
    start_three();
    put_in_line(one, 100, 0);
    three->check_at = UNTOUCHED;
    as_turns_leave(two);
    assert_true(is_woken(one) && three->check_at == UNTOUCHED);
    as_turns_leave(two);
    assert_int_equal(one->call, 1); /* once is enough */
    put_in_line(one, 100, 0);
    three->instructions = 99; /* this one comes first, and passes it on */
    as_turns_leave(two);
    assert_true(!is_woken(one) && three->check_at == 0);
    atomic_store(&three->activity, AS_WIRE_GATED);
    as_turns_leave(two);
    assert_true(is_woken(one));
    atomic_store(&three->activity, AS_WIRE_RUNNING);
    put_in_line(one, 100, 8);
    three->instructions = 92;
    as_turns_leave(two);
    assert_false(is_woken(one));
    three->instructions = 93;
    as_turns_leave(two);
    assert_true(is_woken(one));
    put_in_line(one, 100, 0);
    put_in_line(three, 90, 0); /* of two in line the earlier */
    as_turns_leave(two);
    assert_true(!is_woken(one) && is_woken(three));
    put_in_line(three, 100, 0); /* … or the first of equal ones, whichever lane it has */
    one->thread = 60;
    as_turns_leave(two);
    assert_true(!is_woken(one) && is_woken(three));
    three->instructions = FAR;
    atomic_store(&three->in_line, 0);
    as_turns_expect(1);
    as_turns_leave(two);
    assert_false(is_woken(one));
    two->instructions = 200;
    as_turns_expect(-1); /* it is there */
    assert_true(is_woken(one));
    unpark(parked);
}

/* A thread that passes by and comes first looks again where the waiting one may go on; others have that one look. */
static void passing_by(void *unused)
{
    pthread_t parked;
    park(&parked);
    start_three();
    put_in_line(one, 100, 8);
    two->clock_offset = 20;
    two->instructions = 40;
    two->check_at = two->throttle_at = 1000;
    assert_false(as_turns_pass(two));
    assert_true(two->check_at == 72 && two->line_at == 72 && !is_woken(one));
    assert_false(as_turns_pass(two)); /* it has been hailed since it set that: its own is not the last word */
    assert_int_equal(two->check_at, 72);
    two->check_at = two->throttle_at = 50; /* it looks around before that anyway */
    assert_false(as_turns_pass(two));
    assert_true(two->check_at == 50 && two->line_at == 50);
    three->instructions = 30;
    three->check_at = UNTOUCHED;
    two->check_at = two->throttle_at = 1000;
    assert_false(as_turns_pass(two));
    assert_true(two->check_at == 1000 && two->line_at == 1000 && three->check_at == 0);
    two->instructions = FAR;
    three->instructions = 93;
    assert_false(as_turns_pass(two));
    assert_true(is_woken(one) && two->line_at == 1000);
    atomic_store(&one->in_line, 0);
    /* While others wait, a word that is only its own does not count, and whoever takes a turn is to pass it on. */
    one->instructions = 10000;
    three->instructions = two->instructions = FAR;
    one->check_at = UNTOUCHED;
    assert_true(takes(one, 5));
    assert_int_equal(one->check_at, 0);
    assert_int_equal(count_turns(5, 0x1000), 2 * TIMES);
    unpark(parked);
}

static void test_who_is_woken(void **state)
{
    bed_run(next_in_line, NULL);
    bed_run(passing_by, NULL);
}

/* ---- who keeps close ---- */

#define BLOCK(id) ((uint64_t)(id))
#define LOAD(address) (AS_WIRE_LOAD | (address))
#define STORE(address) (AS_WIRE_STORE | (address))

/* The accesses of the last block, and the next block. Returns whether the thread has waited. */
static bool goes_on(uint64_t access, uint32_t next)
{
    if (access)
        as_lane_push(one, access);
    as_lane_push(one, BLOCK(next));
    return as_turns_pass(one);
}

/* The second thread is nine instructions behind; the first one looks at words, each time with the same block. */
static void spins(void *unused)
{
    start_three();
    atomic_store(&wire->detached, 1); /* no wait takes any time */
    two->instructions = one->instructions - 9;
    one->close_until = one->instructions + 1;
    as_lane_push(one, BLOCK(4));
    assert_false(goes_on(LOAD(0x1000), 4));
    assert_true(goes_on(LOAD(0x1000), 4));
    assert_false(goes_on(LOAD(0x1008), 4));
    assert_true(goes_on(LOAD(0x1000), 4)); /* the one before the last */
    assert_false(goes_on(LOAD(0x1010), 4));
    assert_false(goes_on(LOAD(0x1008), 4)); /* that is longer ago */
    assert_false(goes_on(LOAD(0x1000), 5));
    assert_false(goes_on(LOAD(0x1000), 5)); /* of another block */
    assert_true(goes_on(LOAD(0x1000), 5));
    assert_false(goes_on(STORE(0x1000), 5)); /* it does something */
    assert_false(goes_on(LOAD(0x1000), 5));
    assert_true(goes_on(LOAD(0x1000), 5));
    assert_false(goes_on(0, 5)); /* nothing to wait for in there */
    assert_false(goes_on(0, 5));
    assert_false(goes_on(LOAD(0x1000), 5));
    assert_true(goes_on(LOAD(0x1000), 5));
    two->instructions++; /* that is close */
    assert_true(goes_on(LOAD(0x1000), 5));
    two->instructions++;
    assert_false(goes_on(LOAD(0x1000), 5));
    two->instructions -= 9;
    assert_true(goes_on(LOAD(0x1000), 5));
    one->close_until = one->instructions;
    assert_false(goes_on(LOAD(0x1000), 5)); /* it need not be close any longer */
}

static void only_looks(void *unused)
{
    bool waited = true;
    start_three();
    atomic_store(&wire->detached, 1);
    two->instructions = 10;
    one->close_until = one->instructions + 1;
    one->check_at = one->throttle_at = one->instructions + 1;
    as_lane_push(one, BLOCK(4));
    assert_false(goes_on(LOAD(0x1000), 4));
    assert_int_equal(one->check_at, 1); /* at each block from now on */
    as_lane_push(one, LOAD(0x1008));
    as_lane_push(one, BLOCK(4));
    assert_true(as_turns_only_look(one, &waited));
    assert_false(waited);
    as_lane_push(one, LOAD(0x1008));
    as_lane_push(one, BLOCK(4));
    assert_true(as_turns_only_look(one, &waited));
    assert_true(waited);
    assert_false(as_turns_only_look(one, &waited)); /* it has been hailed */
    one->check_at = 1;
    assert_true(as_turns_only_look(one, &waited));
    one->check_at = 1;
    one->line_at = one->instructions;
    assert_false(as_turns_only_look(one, &waited)); /* somebody waits for it */
    one->line_at++;
    assert_true(as_turns_only_look(one, &waited));
    one->check_at = 1;
    one->close_until = one->instructions;
    assert_false(as_turns_only_look(one, &waited));
}

static void test_who_keeps_close(void **state)
{
    bed_run(spins, NULL);
    bed_run(only_looks, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_which_take_turns), cmocka_unit_test(test_who_waits),
                                       cmocka_unit_test(test_who_is_woken), cmocka_unit_test(test_who_keeps_close)};
    bed_open();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
