/* Lanes from the writer's side: what a claimed one has, where words go, who waits for room, for slower threads or at a gate, and what a
 * thread says when it starts, calls the kernel and ends. Waits are ended by a second thread, or by themselves. */
#include "lane_bed.h"

#include <pthread.h>

enum { CHUNK = AS_WIRE_CHUNK, RING = AS_WIRE_RING, START_WORDS = 5 };

/* ---- claiming ---- */

static void check_claimed(const struct as_wire_lane *lane, size_t number, bool is_code)
{
    uint64_t *ring = as_wire_ring(wire, number);
    assert_ptr_equal(lane, &wire->lanes[number]);
    assert_true(lane->write == ring && lane->chunk == ring && lane->chunk_end == ring + CHUNK);
    assert_true(!lane->chunk_position && !lane->instructions && !lane->clock_offset && !lane->stamp);
    assert_true(!lane->close_until && !lane->line_at && !lane->throttle_at && !lane->reserves && !lane->cpu);
    assert_true(lane->check_at == UINT64_MAX);
    assert_true(!lane->questions && !lane->answers && !lane->asked && !lane->given && !lane->sleeps);
    assert_true(!lane->brief && !lane->quick && !lane->in_line && !lane->stands_at && !lane->slack);
    assert_true(!lane->published && !lane->consumed && !lane->writer_waits);
    assert_true(lane->state == AS_WIRE_LIVE && lane->activity == AS_WIRE_RUNNING);
    assert_true(lane->is_code == is_code && lane->process == 3 && lane->image == 5);
    assert_true(lane->pid == BED_PID && lane->tid == (int32_t)syscall(SYS_gettid));
}

static void leave_rubbish(size_t number)
{
    memset(&wire->lanes[number], 0x55, sizeof wire->lanes[number]);
    atomic_store(&wire->lanes[number].state, AS_WIRE_FREE);
}

static void claims(void *unused)
{
    static const struct {
        uint64_t quantum;
        uint32_t in_turn;
        uint64_t budget;
    } cases[] = {{0, 0, 0}, {100, 0, 100}, {600, 0, 600}, {5000, 0, 600}, {5000, 1, 0}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        atomic_store(&wire->quantum, cases[i].quantum);
        wire->in_turn = cases[i].in_turn;
        leave_rubbish(0);
        struct as_wire_lane *lane = as_lane_claim(false);
        check_claimed(lane, 0, false);
        assert_int_equal(lane->stop_at, cases[i].budget);
        assert_int_equal(lane->thread, i + 1);
    }
    leave_rubbish(1);
    check_claimed(as_lane_claim(true), 1, true);
    assert_int_equal(wire->lanes[1].thread, 0);
    assert_int_equal(wire->lanes_used, 2);
    leave_rubbish(0);
    check_claimed(as_lane_claim(false), 0, false);
    assert_int_equal(wire->lanes_used, 2); /* it was used before */
    check_claimed(as_lane_claim(false), 2, false);
    assert_int_equal(wire->lanes_used, 3);
    assert_int_equal(wire->next_thread, sizeof cases / sizeof *cases + 2);
}

static void test_claims(void **state)
{
    bed_run(claims, NULL);
}

/* ---- words ---- */

static struct as_wire_lane *claim_nth(size_t n)
{
    struct as_wire_lane *lane = as_lane_claim(false);
    while (lane != &wire->lanes[n])
        lane = as_lane_claim(false);
    return lane;
}

/* The first lanes have a ring of four times the length. */
static void writes(void *context)
{
    size_t number = *(size_t *)context, room = number < 2 ? 4 * RING : RING, n = room + CHUNK + 10;
    struct as_wire_lane *lane = claim_nth(number);
    const uint64_t *ring = as_wire_ring(wire, number);
    atomic_store(&lane->consumed, UINT64_MAX); /* the reader keeps up */
    for (size_t i = 0; i < n; i++) {
        if (i % 2)
            as_lane_push(lane, i);
        else
            as_lane_stream(lane, i);
        assert_int_equal(lane->published, i / CHUNK * CHUNK);
        assert_int_equal(lane->chunk_position + (uint64_t)(lane->write - lane->chunk), i + 1);
    }
    as_lane_publish(lane);
    assert_int_equal(lane->published, n);
    for (size_t i = 0; i < room; i++)
        assert_int_equal(ring[i], i < CHUNK + 10 ? room + i : i);
    assert_int_equal(lane->activity, AS_WIRE_RUNNING);
    assert_int_equal(lane->writer_waits, 0);
}

static void rings_a_bell(void *unused)
{
    struct as_wire_lane *lane = as_lane_claim(false);
    for (uint32_t waits = 0; waits < 2; waits++) {
        uint32_t before = wire->doorbell;
        atomic_store(&wire->reader_waits, waits);
        as_lane_publish(lane);
        assert_int_equal(wire->doorbell, before + waits);
        atomic_store(&lane->consumed, lane->published - CHUNK);
        as_lane_publish_quietly(lane);
        assert_int_equal(wire->doorbell, before + waits); /* that is not much */
        as_lane_push(lane, 1);
        as_lane_publish_quietly(lane);
        assert_int_equal(wire->doorbell, before + 2 * waits);
    }
    assert_int_equal(lane->published, 2);
}

static void test_words(void **state)
{
    for (size_t number = 0; number < 3; number += 2)
        bed_run(writes, &number);
    bed_run(rings_a_bell, NULL);
}

/* ---- room ---- */

/* The lane is full with `room` words; the reader then gives room for one chunk. */
struct room {
    size_t number;
    bool gated, alone, only; /* only: the program has had one thread */
    uint64_t room, wake_at;
    struct as_wire_lane *lane;
    uint32_t activity;
    uint64_t asked, published;
};

static void *give_room(void *context)
{
    struct room *room = context;
    bed_wait_until(&room->lane->writer_waits, 1);
    room->activity = room->lane->activity;
    room->asked = room->lane->wake_at;
    room->published = room->lane->published;
    atomic_store(&room->lane->consumed, CHUNK);
    bed_wake(&room->lane->room);
    return NULL;
}

static void waits_for_room(void *context)
{
    struct room *room = context;
    pthread_t reader;
    struct as_wire_lane *lane = room->lane = claim_nth(room->number);
    wire->gated = room->gated;
    atomic_store(&wire->cheap_switch, room->alone);
    atomic_store(&wire->next_thread, room->only ? 1 : 2);
    for (size_t i = 0; i < room->room; i++)
        as_lane_push(lane, i);
    assert_int_equal(lane->writer_waits, 0);
    assert_int_equal(pthread_create(&reader, NULL, give_room, room), 0);
    as_lane_push(lane, room->room);
    pthread_join(reader, NULL);
    assert_int_equal(room->activity, AS_WIRE_FULL);
    assert_int_equal(room->asked, room->wake_at);
    assert_int_equal(room->published, room->room);
    assert_int_equal(lane->activity, AS_WIRE_RUNNING);
    assert_int_equal(as_wire_ring(wire, room->number)[room->room % as_wire_ring_words(room->number)], room->room);
}

static void test_room(void **state)
{
    struct room cases[] = {
        {.number = 2, .room = RING, .wake_at = CHUNK},
        {.number = 0, .room = RING, .wake_at = CHUNK},
        {.number = 0, .gated = true, .room = RING, .wake_at = CHUNK},
        {.number = 0, .alone = true, .room = RING, .wake_at = CHUNK}, /* nothing is switched */
        {.number = 1, .gated = true, .alone = true, .room = 4 * RING, .wake_at = CHUNK},
        {.number = 0, .gated = true, .alone = true, .only = true, .room = 4 * RING, .wake_at = CHUNK + RING},
        {.number = 2, .gated = true, .alone = true, .only = true, .room = RING, .wake_at = CHUNK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        bed_run(waits_for_room, &cases[i]);
}

/* Nobody reads any more: what is written does not matter. */
static void goes_on_without_a_reader(void *unused)
{
    struct as_wire_lane *lane = claim_nth(2);
    atomic_store(&wire->detached, 1);
    for (size_t i = 0; i < 3 * RING; i++)
        as_lane_push(lane, i);
    assert_int_equal(lane->published, 3 * RING - CHUNK);
}

static void test_no_reader(void **state)
{
    bed_run(goes_on_without_a_reader, NULL);
}

/* ---- other threads ---- */

static void fellows(void *unused)
{
    struct as_wire_lane *lane = bed_start(0), *other = bed_start(1);
    assert_true(as_lane_is_fellow(other, lane));
    assert_false(as_lane_is_fellow(lane, lane));
    atomic_store(&other->activity, AS_WIRE_FULL);
    assert_true(as_lane_is_fellow(other, lane));
    atomic_store(&other->activity, AS_WIRE_IN_SYSCALL);
    assert_false(as_lane_is_fellow(other, lane));
    atomic_store(&other->brief, 1);
    assert_false(as_lane_is_fellow(other, lane));
    wire->in_step = 1; /* it comes back */
    assert_true(as_lane_is_fellow(other, lane));
    other->process++;
    assert_false(as_lane_is_fellow(other, lane));
    other->process--;
    other->image++;
    assert_false(as_lane_is_fellow(other, lane));
    other->image--;
    other->is_code = 1;
    assert_false(as_lane_is_fellow(other, lane));
    other->is_code = 0;
    atomic_store(&other->state, AS_WIRE_ENDED);
    assert_false(as_lane_is_fellow(other, lane));
    other->instructions = 4;
    other->clock_offset = 30;
    assert_int_equal(as_lane_clock(other), 34);
}

/* How far a thread goes before it looks around again; 0: it has waited for the other one in vain. */
static void keeps_together(void *unused)
{
    static const struct {
        uint64_t window, quantum;
        uint32_t gated;
        uint64_t clock, other, step;
        bool publishes;
    } cases[] = {{0, 0, 0, 5000, 0, UINT64_MAX / 2, false}, {1000, 0, 0, 5000, 4000, 251, true},
                 {1000, 0, 0, 5000, 3999, 0, true},         {1000, 0, 0, 5000, 9000, 251, true},
                 {0, 400, 0, 5000, 0, 250, true},           {0, 1004, 0, 5000, 0, 251, true},
                 {0, 4000, 0, 5000, 0, 1000, true},         {1000, 0, 1, 5000, 4500, 251, true},
                 {1000000, 0, 1, 5000, 4500, 25000, true},  {0, 0, 1, 5000, 0, 25000, false},
                 {4000, 8000, 0, 5000, 2000, 2000, true}};
    struct as_wire_lane *lane = bed_start(0);
    wire->window = 1000;
    uint64_t published = lane->published;
    as_lane_push(lane, 1);
    lane->instructions = 700;
    assert_false(as_lane_check(0));
    assert_true(lane->check_at == 951 && lane->published == published); /* it is alone */
    struct as_wire_lane *other = bed_start(1);
    assert_int_equal(lane->check_at, 951);
    assert_int_equal(as_lane_clock(other), 700); /* it owes nothing */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wire->window = cases[i].window;
        atomic_store(&wire->quantum, cases[i].quantum);
        wire->gated = cases[i].gated;
        lane->instructions = cases[i].clock;
        other->instructions = cases[i].other;
        other->clock_offset = 0;
        as_lane_push(lane, 1);
        published = lane->published;
        assert_false(as_lane_check(0));
        assert_true(lane->check_at == cases[i].clock + cases[i].step);
        assert_true(lane->throttle_at == lane->check_at);
        assert_int_equal(lane->published > published, cases[i].publishes);
        assert_int_equal(lane->activity, AS_WIRE_RUNNING);
    }
}

static void test_other_threads(void **state)
{
    bed_run(fellows, NULL);
    bed_run(keeps_together, NULL);
}

/* A thread that was made or woken and does not run yet is waited for, unless nothing comes of it. */
static void expects_others(void *unused)
{
    struct as_wire_lane *lane = bed_start(0);
    bed_start(1)->instructions = 5000;
    wire->window = 1000;
    lane->instructions = 5000;
    as_turns_expect(1);
    assert_true(as_turns_awaits());
    as_lane_check(0);
    assert_false(as_turns_awaits());
    assert_int_equal(lane->activity, AS_WIRE_RUNNING);
    assert_int_equal(lane->check_at, 5251);
    as_turns_expect(1);
    atomic_store(&wire->detached, 1);
    as_lane_check(0);
    assert_true(as_turns_awaits());
}

static void test_expected(void **state)
{
    bed_run(expects_others, NULL);
}

/* ---- gates ---- */

static unsigned switched = 77;

static void switch_recording(unsigned vcpu)
{
    switched = vcpu;
    as_plugin.recording = atomic_load(&wire->record_accesses);
}

enum passing { STOP_MOVES, GATES_OPEN, ANSWERED, TURN_GIVEN, ORDERS_END, LEAKS, DETACHED };

struct gate {
    enum passing passing;
    struct as_wire_lane *lane;
    uint32_t activity, questions, asked;
    uint64_t published;
};

/* The reader, once the thread sleeps at its gate. */
static void *open_gate(void *context)
{
    struct gate *gate = context;
    struct as_wire_lane *lane = gate->lane;
    bed_wait_until(&lane->sleeps, 1);
    gate->activity = lane->activity;
    gate->questions = lane->questions;
    gate->asked = lane->asked;
    gate->published = lane->published;
    atomic_store(&wire->record_accesses, AS_WIRE_ALL);
    if (gate->passing == STOP_MOVES)
        atomic_store(&lane->stop_at, 1000);
    else if (gate->passing == GATES_OPEN)
        atomic_store(&wire->gates_closed, 0);
    else if (gate->passing == ANSWERED)
        atomic_store(&lane->answers, gate->questions);
    else if (gate->passing == TURN_GIVEN)
        atomic_store(&lane->given, gate->asked);
    else if (gate->passing == ORDERS_END)
        atomic_store(&wire->orders, 0);
    else if (gate->passing == LEAKS)
        atomic_fetch_add(&wire->leaks, 1);
    else
        atomic_store(&wire->detached, 1);
    bed_wake(&lane->ring);
    return NULL;
}

static bool pass(const struct gate *gate)
{
    if (gate->passing == ANSWERED)
        as_lane_ask(0);
    else if (gate->passing == TURN_GIVEN || gate->passing == ORDERS_END)
        return as_lane_take_turn(0);
    else
        return as_lane_check(0);
    return false;
}

static void passes_a_gate(void *context)
{
    struct gate gate = {.passing = *(enum passing *)context};
    struct as_wire_lane *lane = gate.lane = bed_start(0);
    bool turns = gate.passing == TURN_GIVEN || gate.passing == ORDERS_END;
    pthread_t reader;
    as_plugin.switch_recording = switch_recording;
    if (turns)
        bed_start(1);
    wire->gated = 1;
    atomic_store(&wire->quantum, gate.passing == LEAKS || turns ? 1 << 20 : 0);
    atomic_store(&wire->orders, turns);
    atomic_store(&wire->gates_closed, !turns);
    atomic_store(&wire->leaks, 9);
    atomic_store(&wire->processor, 6);
    atomic_store(&lane->questions, 4);
    atomic_store(&lane->answers, 4);
    atomic_store(&lane->stop_at, 499);
    lane->instructions = 500;
    as_lane_push(lane, 1);
    assert_int_equal(as_lane_count_settled(), 0);
    assert_int_equal(pthread_create(&reader, NULL, open_gate, &gate), 0);
    assert_int_equal(pass(&gate), turns);
    pthread_join(reader, NULL);
    assert_int_equal(gate.activity, AS_WIRE_GATED);
    assert_int_equal(gate.questions, gate.passing == ANSWERED ? 5 : 4);
    assert_int_equal(gate.asked, turns);
    assert_int_equal(gate.published, START_WORDS + 1);
    assert_int_equal(lane->activity, AS_WIRE_RUNNING);
    assert_int_equal(lane->sleeps, 0);
    assert_int_equal(lane->leaks, 9);
    assert_true(bed_followed == (wire->quantum ? 6 : UINT32_MAX));
    assert_int_equal(lane->given, lane->asked);
    assert_int_equal(as_lane_count_settled(), 1);
    assert_int_equal(switched, turns ? 77 : 0);
    if (gate.passing == STOP_MOVES)
        assert_int_equal(lane->check_at, 1001); /* at the first block behind it */
}

static void passes_open_gates(void *unused)
{
    struct as_wire_lane *lane = bed_start(0);
    as_plugin.switch_recording = switch_recording;
    wire->gated = 1;
    atomic_store(&wire->gates_closed, 1);
    atomic_store(&lane->stop_at, 500);
    lane->instructions = 500;
    as_lane_check(0);
    assert_int_equal(lane->check_at, 501);
    atomic_store(&lane->stop_at, 500 + 25000); /* its next look around is earlier */
    as_lane_check(0);
    assert_int_equal(lane->check_at, 500 + 25000);
    atomic_store(&lane->stop_at, 0);
    atomic_store(&wire->gates_closed, 0);
    as_lane_check(0);
    assert_int_equal(lane->check_at, 500 + 25000);
    assert_int_equal(as_lane_count_settled(), 0);
    assert_int_equal(switched, 77);
    atomic_store(&wire->record_accesses, AS_WIRE_ALL);
    as_lane_check(0);
    assert_int_equal(switched, 0);
    wire->gated = 0;
    switched = 77;
    atomic_store(&wire->record_accesses, 0);
    as_lane_check(0);
    assert_int_equal(switched, 77); /* it does not look */
    assert_false(as_lane_take_turn(0));
    atomic_store(&wire->orders, 1);
    assert_false(as_lane_take_turn(0)); /* it is alone */
    assert_int_equal(lane->asked, 0);
}

static void test_gates(void **state)
{
    for (enum passing passing = 0; passing <= DETACHED; passing++)
        bed_run(passes_a_gate, &passing);
    bed_run(passes_open_gates, NULL);
}

/* ---- starts, calls and ends ---- */

static void check_start(const struct as_wire_lane *lane, size_t number, uint64_t parent, uint64_t origin)
{
    const uint64_t *words = as_wire_ring(wire, number);
    assert_int_equal(words[0], (uint64_t)AS_WIRE_THREAD_START << AS_WIRE_EVENT_SHIFT | 3);
    assert_int_equal(words[1], lane->thread);
    assert_int_equal(words[2], (uint64_t)syscall(SYS_gettid));
    assert_int_equal(words[3], parent);
    assert_int_equal(words[4], origin);
    assert_int_equal(lane->published, START_WORDS);
    assert_int_equal(lane->check_at, 0);
}

static void starts(void *unused)
{
    assert_null(as_lane_mine());
    assert_false(as_lane_check(0)); /* a vcpu that has no lane yet */
    struct as_wire_lane *first = as_lane_of[0];
    check_start(first, 0, 0, 0);
    assert_ptr_equal(as_lane_mine(), first);
    assert_int_equal(as_lane_count_live(), 1);
    assert_int_equal(wire->woken, 0);
    first->instructions = 300;
    as_lane_note_birth(1); /* nobody keeps step: it does not matter */
    struct as_wire_lane *second = bed_start(1);
    check_start(second, 1, 0, 0);
    assert_int_equal(wire->woken, 0); /* it is there */
    assert_false(as_turns_awaits());
    assert_int_equal(as_lane_clock(second), 300);
    assert_int_equal(as_lane_count_live(), 2);
    wire->in_step = 1;
    second->instructions = 500;
    as_lane_note_birth(AS_PLUGIN_VCPUS);
    as_lane_note_birth(2);
    second->instructions = 900;
    struct as_wire_lane *third = bed_start(2); /* at the clock that its maker had */
    check_start(third, 2, second->thread | AS_WIRE_CREATED, as_wire_origin(1, START_WORDS));
    assert_int_equal(as_lane_clock(third), 800);
    bed_start(2); /* the vcpu again, of which nothing is known any more */
    check_start(&wire->lanes[3], 3, 0, 0);
}

static void starts_a_forked_process(void *unused)
{
    struct as_wire_lane *parent = bed_start(0), *other = bed_start(1);
    static int cpu;
    other->cpu = &cpu;
    as_lane_push(other, 1);
    as_lane_publish(other);
    as_lane_setup();
    assert_ptr_equal(as_lane_of[0], &as_lane_unclaimed);
    assert_int_equal(as_lane_count_live(), 0);
    parent->process = other->process = 2;
    as_lane_start_thread(4, other);
    check_start(as_lane_of[4], 2, other->thread, as_wire_origin(1, START_WORDS + 1));
    assert_ptr_equal(as_lane_of[4]->cpu, &cpu);
    assert_int_equal(as_lane_count_live(), 1);
}

static void calls(void *unused)
{
    struct as_wire_lane *first = bed_start(0), *second = bed_start(1);
    as_lane_push(second, 1);
    as_lane_enter_syscall(second);
    assert_int_equal(second->activity, AS_WIRE_IN_SYSCALL);
    assert_int_equal(second->published, START_WORDS + 1);
    assert_int_equal(as_lane_count_settled(), 1);
    first->instructions = 4000;
    static const struct {
        uint32_t in_step, brief;
        bool waited;
        uint64_t clock;
    } cases[] = {{0, 0, true, 4000}, {0, 0, false, 4000}, {0, 1, true, 4000},
                 {1, 0, true, 4000}, {1, 0, false, 0},    {1, 1, true, 0}};
    for (uint32_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        wire->in_turn = i % 2;
        wire->in_step = cases[i / 2].in_step;
        atomic_store(&second->brief, cases[i / 2].brief);
        as_lane_enter_syscall(second);
        second->clock_offset = 0;
        second->check_at = 55;
        as_lane_leave_syscall(second, cases[i / 2].waited);
        assert_int_equal(as_lane_clock(second), cases[i / 2].clock);
        assert_int_equal(second->check_at, wire->in_turn ? 0 : 55);
        assert_int_equal(second->activity, AS_WIRE_RUNNING);
    }
    assert_int_equal(as_lane_count_settled(), 1); /* once */
    wire->in_step = 0;
    second->instructions = 6000;
    second->clock_offset = 0;
    as_lane_leave_syscall(second, true);
    assert_int_equal(as_lane_clock(second), 6000); /* it is ahead */
    as_lane_enter_syscall(bed_start(2));           /* another thread, whose first call it is */
    assert_int_equal(as_lane_count_settled(), 2);
}

static void ends(void *unused)
{
    struct as_wire_lane *first = bed_start(0), *second = bed_start(1);
    as_lane_end(second);
    assert_int_equal(as_wire_ring(wire, 1)[START_WORDS], (uint64_t)AS_WIRE_THREAD_END << AS_WIRE_EVENT_SHIFT);
    assert_int_equal(second->published, START_WORDS + 1);
    assert_int_equal(second->state, AS_WIRE_ENDED);
    assert_null(as_lane_mine());
    assert_int_equal(as_lane_count_live(), 1);
    second->instructions = 5000;
    first->instructions = 100;
    as_lane_enter_syscall(first);
    as_lane_leave_syscall(first, true);
    assert_int_equal(as_lane_clock(first), 100); /* nobody is left to catch up with */
}

static void test_starts_and_ends(void **state)
{
    bed_run(starts, NULL);
    bed_run(starts_a_forked_process, NULL);
    bed_run(calls, NULL);
    bed_run(ends, NULL);
}

static void dies(void *unused)
{
    as_lane_check(AS_PLUGIN_VCPUS);
}

static void test_dies(void **state)
{
    char text[256];
    assert_int_equal(unit_run_child(dies, NULL, text, sizeof text), 125 << 8);
    assert_string_equal(text, "assay: the program has more threads than Assay can follow\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claims),    cmocka_unit_test(test_words),           cmocka_unit_test(test_room),
        cmocka_unit_test(test_no_reader), cmocka_unit_test(test_other_threads),   cmocka_unit_test(test_expected),
        cmocka_unit_test(test_gates),     cmocka_unit_test(test_starts_and_ends), cmocka_unit_test(test_dies),
    };
    bed_open();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
