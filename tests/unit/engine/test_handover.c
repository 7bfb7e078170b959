/* Who comes behind whom (handover.h): lanes that are written by hand, and what the sink is told when they are read. */
#include "reader_fixture.h"

#include <linux/futex.h>

enum { LOOK = 0x5000, STORE = 0x5100, CLONE = 56, EXIT = 60, FUTEX = 202 };
#define SHARED_HERE UINT64_C(0x10000) /* of process 1, … */
#define SHARED_THERE UINT64_C(0x50000)
#define SHARED_BYTES UINT64_C(0x1000)

static struct as_str told;
static uint64_t awaited_word;
static struct as_shared_ranges shared[3]; /* by process */
static struct as_shared_range ranges[2];

static void on_show(void *context, struct as_thread *thread, uint32_t mark)
{
    as_str_addf(&told, "%u shows %u\n", thread->number, mark);
}

static void on_await(void *context, struct as_thread *thread, uint32_t mark, uint64_t word, bool atomic)
{
    as_str_addf(&told, "%u awaits %u\n", thread->number, mark);
    awaited_word = word;
}

static const struct as_shared_ranges *shared_of(void *context, const struct as_thread *thread)
{
    return &shared[thread->process];
}

static void on_foresee(void *context, struct as_thread *thread, const struct as_mapping *mapping)
{
    ranges[thread->process - 1] = (struct as_shared_range){
        .start = mapping->start, .end = mapping->start + mapping->bytes, .physical = AS_SHARED_BIT | mapping->object};
    shared[thread->process] = (struct as_shared_ranges){
        .low = mapping->start, .span = mapping->bytes, .list = &ranges[thread->process - 1], .n = 1};
}

static int set_up(void **state)
{
    set_up_reader(state);
    bed_block(&bed, LOOK, "48 39 07, 75 fb");  /* cmp [rdi], rax; jne */
    bed_block(&bed, STORE, "48 89 07, eb fb"); /* mov [rdi], rax; jmp */
    reader.code = bed.code;
    reader_sink.show = on_show;
    reader_sink.await = on_await;
    reader_sink.shared = shared_of;
    reader_sink.foresee = on_foresee;
    memset(shared, 0, sizeof shared);
    return 0;
}

static int tear_down(void **state)
{
    memset(&reader.code, 0, sizeof reader.code); /* the bed's */
    as_str_free(&told);
    return tear_down_reader(state);
}

/* Two processes that have the same page at different places. */
static void share_a_page(void)
{
    const uint64_t starts[2] = {SHARED_HERE, SHARED_THERE};
    for (int i = 0; i < 2; i++) {
        ranges[i] = (struct as_shared_range){
            .start = starts[i], .end = starts[i] + SHARED_BYTES, .physical = AS_SHARED_BIT | 0x7000};
        shared[i + 1] = (struct as_shared_ranges){.low = starts[i], .span = SHARED_BYTES, .list = &ranges[i], .n = 1};
    }
}

/* ---- what threads write ---- */

static void push(uint32_t thread, uint64_t word)
{
    struct as_wire_lane *lane = &child.wire->lanes[thread - 1];
    uint64_t position = atomic_load(&lane->published);
    as_wire_ring(child.wire, thread - 1)[position % as_wire_ring_words(thread - 1)] = word;
    atomic_store(&lane->published, position + 1);
}

static void push_block(uint32_t thread, uint32_t block, uint64_t time)
{
    push(thread, ((began + time) & AS_WIRE_STAMP_MASK) << AS_WIRE_STAMP_SHIFT | block);
}

static void push_access(uint32_t thread, uint32_t block, uint64_t kind, uint64_t address, uint64_t time)
{
    push_block(thread, block, time);
    push(thread, kind | UINT64_C(3) << AS_WIRE_SIZE_SHIFT | address);
}

static void push_event(uint32_t thread, enum as_wire_event event, uint32_t number, const uint64_t *operands)
{
    push(thread, (uint64_t)event << AS_WIRE_EVENT_SHIFT | number);
    for (size_t i = 0; i < as_wire_event_words[event]; i++)
        push(thread, operands[i]);
}

static void store(uint32_t thread, uint64_t address, uint64_t time)
{
    push_access(thread, STORE, AS_WIRE_STORE, address, time);
    push_block(thread, BACK, time + 1);
}

static void look(uint32_t thread, uint64_t address, uint64_t time)
{
    push_access(thread, LOOK, AS_WIRE_LOAD, address, time);
    push_block(thread, BACK, time + 1);
}

/* A block that calls the kernel, and the call. */
static void call(uint32_t thread, uint32_t number, const uint64_t args[6], uint64_t time)
{
    push_block(thread, SYSCALL, time);
    push_event(thread, AS_WIRE_SYSCALL, number, args);
}

static void come_back(uint32_t thread, uint32_t number, uint64_t result, uint64_t time)
{
    push_event(thread, AS_WIRE_TIME, 0, (const uint64_t[]){began + time});
    push_event(thread, AS_WIRE_SYSCALL_RETURN, number, &result);
    push_block(thread, BACK, time + 1);
}

static void wait_on(uint32_t thread, uint64_t futex, uint64_t time, uint64_t until)
{
    call(thread, FUTEX, (const uint64_t[6]){futex, FUTEX_WAIT, 1}, time);
    come_back(thread, FUTEX, 0, until);
}

static void wake(uint32_t thread, uint64_t futex, uint64_t time)
{
    call(thread, FUTEX, (const uint64_t[6]){futex, FUTEX_WAKE, 1}, time);
    come_back(thread, FUTEX, 1, time + 2);
}

/* ---- what the reader does ---- */

static void look_on_all(void)
{
    bool progress = false;
    assert_true(as_handover_look(&reader, true, &progress));
}

/* Reads a thread as far as it may be; returns whether it waits for another one. */
static bool read_thread(uint32_t thread)
{
    struct as_wire_lane *lane = &child.wire->lanes[thread - 1];
    uint64_t end = atomic_load(&lane->published), limit, before;
    do {
        before = atomic_load(&lane->consumed);
        as_handover_arrive(&reader, thread - 1);
        limit = as_handover_limit(&reader, thread - 1);
        atomic_store(&lane->consumed, limit < end ? limit : end);
    } while (atomic_load(&lane->consumed) != before);
    return as_handover_blocks(&reader, thread - 1);
}

static void expect_told(const char *want)
{
    assert_string_equal(as_str_get(&told), want);
}

/* ---- tests ---- */

static void test_store_is_seen(void **state)
{
    add_thread(1, 1);
    add_thread(2, 1);
    store(1, 0x9000, 10);
    look(2, 0x9000, 20);
    look_on_all();
    assert_true(read_thread(2));
    expect_told("");
    read_thread(1);
    assert_false(read_thread(2));
    expect_told("1 shows 1\n2 awaits 1\n");
    assert_int_equal(awaited_word, 0x9000);
}

/* … also by a block that ends in a call, behind others: it ends where the call is told. */
static void test_store_before_a_call(void **state)
{
    static const uint64_t args[6] = {0};
    add_thread(1, 1);
    add_thread(2, 1);
    push_block(1, BACK, 5);
    push_block(1, BACK, 8);
    push_access(1, STORE, AS_WIRE_STORE, 0x9000, 10);
    push_event(1, AS_WIRE_SYSCALL, 1, args);
    look(2, 0x9000, 20);
    push_block(2, BACK, 60);
    look_on_all();
    assert_true(read_thread(2));
    read_thread(1);
    assert_false(read_thread(2));
    expect_told("1 shows 1\n2 awaits 1\n");
}

/* Looks that follow each other, for as long as they are at the same word and nothing is stored between. */
static void test_spinning_is_known(void **state)
{
    uint64_t words = 0;
    add_thread(1, 1);
    add_thread(2, 1);
    push_access(2, LOOK, AS_WIRE_LOAD, 0x9000, 10);
    push_access(2, LOOK, AS_WIRE_LOAD, 0x9100, 11);
    push_access(2, LOOK, AS_WIRE_LOAD, 0x9200, 12);
    store(1, 0x9400, 13);
    push_block(2, BACK, 14);
    push_block(1, BACK, 60);
    look_on_all();
    assert_false(as_handover_spins(&reader, 1, &words));
    for (uint64_t i = 0; i < 10; i++)
        push_access(2, LOOK, AS_WIRE_LOAD, 0x9300, 20 + i);
    push_block(2, BACK, 40);
    look_on_all();
    assert_true(as_handover_spins(&reader, 1, &words));
    assert_true(words >= 2 * 8 && words <= 2 * 10);
    assert_false(as_handover_spins(&reader, 0, &words));
    for (uint64_t i = 0; i < 60; i++)
        push_access(2, LOOK, AS_WIRE_LOAD, 0x9000 + 8 * i, 41 + i);
    push_block(1, BACK, 200);
    push_block(2, BACK, 201);
    look_on_all();
    assert_false(as_handover_spins(&reader, 1, &words));
}

/* A loop of two blocks looks at a word in each. One that looks at its bound and stores does work. */
static void test_spinning_in_two_blocks(void **state)
{
    uint64_t words = 0;
    add_thread(1, 1);
    add_thread(2, 1);
    add_thread(3, 1);
    for (uint64_t i = 0; i < 10; i++) {
        push_access(2, LOOK, AS_WIRE_LOAD, i % 2 ? 0x9300 : 0x9200, 20 + i);
        push_access(3, i % 2 ? STORE : LOOK, i % 2 ? AS_WIRE_STORE : AS_WIRE_LOAD, i % 2 ? 0x9500 : 0x9400, 20 + i);
    }
    for (uint32_t thread = 1; thread <= 3; thread++)
        push_block(thread, BACK, 40);
    look_on_all();
    assert_true(as_handover_spins(&reader, 1, &words));
    assert_true(words >= 2 * 6 && words <= 2 * 10);
    assert_false(as_handover_spins(&reader, 2, &words));
}

/* A store whose block was announced at 10: where its thread waited first, it comes when the block begins. A time that is not late is of what
 * follows. */
static void store_with_time(bool late, const char *want)
{
    add_thread(1, 1);
    add_thread(2, 1);
    push_block(1, STORE, 10);
    push_event(1, AS_WIRE_TIME, late, (const uint64_t[]){began + 40});
    push(1, AS_WIRE_STORE | UINT64_C(3) << AS_WIRE_SIZE_SHIFT | 0x9000);
    push_block(1, BACK, 41);
    look(2, 0x9000, 20);
    push_block(2, BACK, 60);
    look_on_all();
    read_thread(1);
    read_thread(2);
    expect_told(want);
}

static void test_block_begins_late(void **state)
{
    store_with_time(true, "");
}

static void test_time_of_what_follows(void **state)
{
    store_with_time(false, "1 shows 1\n2 awaits 1\n");
}

static void test_other_words_are_not_waited_for(void **state)
{
    add_thread(1, 1);
    add_thread(2, 1);
    store(1, 0x9000, 10);
    look(2, 0x9008, 20);
    store(1, 0x9010, 40);
    look(2, 0x9010, 30); /* before it was stored */
    look_on_all();
    assert_false(read_thread(2));
    expect_told("");
}

static void test_processes_have_memory_of_their_own(void **state)
{
    add_thread(1, 1);
    add_thread(2, 2);
    store(1, 0x9000, 10);
    look(2, 0x9000, 20);
    look_on_all();
    assert_false(read_thread(2));
    expect_told("");
}

static void test_processes_share_memory(void **state)
{
    share_a_page();
    add_thread(1, 1);
    add_thread(2, 2);
    store(1, SHARED_HERE + 8, 10);
    look(2, SHARED_THERE + 8, 20);
    look(2, SHARED_HERE + 8, 30); /* which is its own there */
    look_on_all();
    assert_true(read_thread(2));
    read_thread(1);
    assert_false(read_thread(2));
    expect_told("1 shows 1\n2 awaits 1\n");
}

/* The mappings are looked at together with what follows them, before anything is read. */
static void test_processes_begin_to_share(void **state)
{
    add_thread(1, 1);
    add_thread(2, 2);
    push_event(1, AS_WIRE_MAPPING, 0, (const uint64_t[12]){SHARED_HERE, SHARED_BYTES, 0x7000});
    push_event(2, AS_WIRE_MAPPING, 0, (const uint64_t[12]){SHARED_THERE, SHARED_BYTES, 0x7000});
    store(1, SHARED_HERE + 8, 10);
    look(2, SHARED_THERE + 8, 20);
    push_event(2, AS_WIRE_MAPPING, 0, (const uint64_t[12]){SHARED_THERE, SHARED_BYTES, 0}); /* not shared any more */
    look_on_all();
    assert_true(read_thread(2));
    read_thread(1);
    assert_false(read_thread(2));
    expect_told("1 shows 1\n2 awaits 1\n");
}

/* The first words of process 2, which thread 1 has forked at the words that it has published. The writer numbers its threads by
 * itself. */
enum { WRITERS_NUMBER = 7 };
static void begin_fork(struct as_process *process)
{
    struct as_wire_lane *lane = &child.wire->lanes[1];
    uint64_t fork = atomic_load(&child.wire->lanes[0].published);
    *process = (struct as_process){.number = 2, .pidfd = -1};
    reader.threads = 1;
    lane->process = 2;
    lane->image = 1;
    atomic_store(&child.wire->lanes_used, 2);
    child.wire->lanes[0].thread = WRITERS_NUMBER;
    push_event(2, AS_WIRE_THREAD_START, 2, (const uint64_t[]){WRITERS_NUMBER + 1, 1002, WRITERS_NUMBER, fork});
    atomic_store(&lane->activity, AS_WIRE_GATED);
    atomic_store(&lane->state, AS_WIRE_LIVE);
}

/* Thread 1 has stored to shared memory before. Returns the words that it has published. */
static uint64_t store_and_fork(struct as_process *process)
{
    share_a_page();
    add_thread(1, 1);
    store(1, SHARED_HERE, 10);
    begin_fork(process);
    return atomic_load(&child.wire->lanes[0].published);
}

/* Both have gone on before the reader knew of the new process. */
static void test_parent_is_read_up_to_the_fork(void **state)
{
    struct as_process *process = as_alloc(sizeof *process);
    uint64_t fork = store_and_fork(process);
    push_event(2, AS_WIRE_TIME, 0, (const uint64_t[]){began + 15});
    store(2, SHARED_THERE + 8, 20);
    look(1, SHARED_HERE + 8, 30);
    look_on_all();
    assert_int_equal(as_handover_limit(&reader, 0), fork);
    assert_false(read_thread(1));
    *as_vec_push(&reader.processes) = process;
    look_on_all(); /* starts it, */
    look_on_all();
    assert_true(read_thread(1));
    expect_told("");
    read_thread(2);
    assert_false(read_thread(1));
    expect_told("2 shows 1\n1 awaits 1\n");
}

/* A parent that goes on while its child begins may have published half a record by then. */
static void test_fork_in_the_middle_of_a_record(void **state)
{
    struct as_process *process = as_alloc(sizeof *process);
    uint64_t fork = store_and_fork(process);
    store(1, SHARED_HERE, 20);
    atomic_store(&child.wire->lanes[0].consumed, fork - 1); /* the reader stops before what is cut */
    look_on_all();
    assert_int_equal(as_handover_limit(&reader, 0), fork);
    reader.useless_rounds = 1;
    look_on_all();
    assert_in_range(as_handover_limit(&reader, 0), fork + 1, UINT64_MAX);
    atomic_store(&child.wire->lanes[0].consumed, fork);
    look_on_all();
    assert_int_equal(as_handover_limit(&reader, 0), fork);
    free(process);
}

/* The lane is that of another thread by now. */
static void test_parent_is_gone(void **state)
{
    struct as_process *process = as_alloc(sizeof *process);
    uint64_t fork = store_and_fork(process);
    store(1, SHARED_HERE, 20);
    child.wire->lanes[0].thread = WRITERS_NUMBER + 2;
    look_on_all();
    assert_in_range(as_handover_limit(&reader, 0), fork + 1, UINT64_MAX);
    free(process);
}

/* What is published later may have been executed beside a thread that is not known. */
static void test_thread_alone_is_read_as_far_as_it_was(void **state)
{
    add_thread(1, 1);
    store(1, 0x9000, 10);
    uint64_t before = atomic_load(&child.wire->lanes[0].published);
    look_on_all();
    store(1, 0x9000, 20);
    assert_int_equal(as_handover_limit(&reader, 0), before);
    look_on_all();
    assert_int_equal(as_handover_limit(&reader, 0), atomic_load(&child.wire->lanes[0].published));
}

static void test_processes_share_a_futex(void **state)
{
    share_a_page();
    add_thread(1, 1);
    add_thread(2, 2);
    wait_on(2, SHARED_THERE + 16, 10, 40);
    wake(1, SHARED_HERE + 16, 20);
    look_on_all();
    assert_true(read_thread(2));
    read_thread(1);
    assert_false(read_thread(2));
    expect_told("1 shows 1\n2 awaits 1\n");
}

enum { READ = 0 }; /* a system call that has nothing to do with futexes */

/* A wait in the kernel is over when the thread comes back; what other calls return, and wakes that come later, do not concern it. */
static void test_futex_is_waited_for_once(void **state)
{
    add_thread(1, 1);
    add_thread(2, 1);
    wait_on(2, 0x9100, 10, 40);
    wake(1, 0x9100, 20);
    wake(1, 0x9100, 50);
    call(2, READ, (const uint64_t[6]){0}, 55);
    come_back(2, READ, 0, 70);
    push_block(1, BACK, 90);
    look_on_all();
    read_thread(1);
    read_thread(2);
    expect_told("1 shows 1\n1 shows 2\n2 awaits 1\n");
}

/* The word had changed before the thread slept: nobody woke it. */
static void test_futex_in_vain(void **state)
{
    add_thread(1, 1);
    add_thread(2, 1);
    call(2, FUTEX, (const uint64_t[6]){0x9100, FUTEX_WAIT, 1}, 10);
    come_back(2, FUTEX, (uint64_t)-11, 12);
    wake(1, 0x9100, 20);
    call(2, READ, (const uint64_t[6]){0}, 30);
    come_back(2, READ, 0, 40);
    push_block(1, BACK, 90);
    look_on_all();
    read_thread(1);
    read_thread(2);
    expect_told("");
}

/* Thread 1 makes thread 2, whose end is stored to a word of thread 1's choice. */
static void make_thread(uint64_t word)
{
    enum { FLAGS = 0x3d0f00 }; /* as the C library's: CLONE_VM, …, CLONE_CHILD_CLEARTID */
    call(1, CLONE, (const uint64_t[6]){FLAGS, 0x7000, 0, word}, 10);
    come_back(1, CLONE, 1002, 12);
}

static void end_thread(uint64_t time)
{
    call(2, EXIT, (const uint64_t[6]){0}, time);
    atomic_store(&child.wire->lanes[1].state, AS_WIRE_ENDED);
}

static void test_join_asleep(void **state)
{
    add_thread(1, 1);
    add_thread(2, 1);
    make_thread(0x9100);
    end_thread(50);
    wait_on(1, 0x9100, 20, 60);
    look_on_all();
    assert_true(read_thread(1));
    read_thread(2);
    assert_false(read_thread(1));
    expect_told("2 shows 1\n1 awaits 1\n");
}

/* The lane is gone when the thread that joins is looked at, or between its look and its being read. */
static void test_join_later(void **state)
{
    add_thread(1, 1);
    add_thread(2, 1);
    add_thread(3, 1);
    make_thread(0x9100);
    end_thread(50);
    look_on_all();
    read_thread(2);
    remove_thread(2);
    look(1, 0x9100, 70);
    look_on_all();
    assert_false(read_thread(1));
    expect_told("2 shows 1\n1 awaits 1\n");
}

static void test_join_of_a_gone_lane(void **state)
{
    add_thread(1, 1);
    add_thread(2, 1);
    add_thread(3, 1);
    make_thread(0x9100);
    end_thread(50);
    look(1, 0x9100, 70);
    look_on_all();
    read_thread(2);
    remove_thread(2);
    look_on_all();
    assert_false(read_thread(1));
    expect_told("2 shows 1\n1 awaits 1\n");
}

static void test_many_threads(void **state)
{
    enum { THREADS = 300 };
    for (uint32_t i = 1; i <= THREADS; i++)
        add_thread(i, 1);
    for (uint32_t i = 1; i <= THREADS; i++) { /* each sees what the one before it stored, in an order of their own */
        uint32_t thread = i * 7 % THREADS + 1, before = (i - 1) * 7 % THREADS + 1;
        if (i > 1)
            look(thread, 0x9000 + before * UINT64_C(8), 10 * i);
        store(thread, 0x9000 + thread * UINT64_C(8), 10 * i + 5);
    }
    look_on_all();
    uint32_t waiting = 0;
    for (uint32_t i = 1; i <= THREADS; i++)
        waiting += read_thread(i);
    assert_true(waiting > 0);
    for (uint32_t i = 1; i <= THREADS; i++)
        assert_false(read_thread(i * 7 % THREADS + 1));
    uint32_t awaits = 0;
    for (const char *at = as_str_get(&told); (at = strstr(at, "awaits")); at++)
        awaits++;
    assert_int_equal(awaits, THREADS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_store_is_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_store_before_a_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_spinning_is_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_spinning_in_two_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_block_begins_late, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_time_of_what_follows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_words_are_not_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_processes_have_memory_of_their_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_processes_share_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_processes_begin_to_share, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parent_is_read_up_to_the_fork, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fork_in_the_middle_of_a_record, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parent_is_gone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_thread_alone_is_read_as_far_as_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_processes_share_a_futex, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_futex_is_waited_for_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_futex_in_vain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_join_asleep, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_join_later, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_join_of_a_gone_lane, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_threads, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
