/* The two sides of the shared memory against each other: the plugin's lanes write on threads of their own, the reader
 * reads, and every thread's record must be what a stream makes of the same words in one piece. Rings turn many times,
 * events lie across their ends, writers wait for room, lanes are used again. */
#include "base/random.h"
#include "engine/reader_lanes.h"
#include "plugin/lane.h"
#include "stream_bed.h"
#include "unit.h"

#include <pthread.h>
#include <sys/mman.h>

enum { MOST_THREADS = 16, PROCESS = 1, IMAGE = 1 };

static struct bed bed; /* knows the code, as the reader shall */
static struct as_child child;
static struct as_engine_options options;
static struct as_reader reader;

/* One guest thread: what it writes. */
struct writer {
    pthread_t thread;
    unsigned vcpu;
    const uint64_t *words;
    size_t n;
    uint64_t seed;
    bool dies; /* without a word, its last words not published */
    struct as_wire_lane *lane;
};

static int set_up(void **state)
{
    bed_init(&bed);
    bed_add_code(&bed);
    memset(&child, 0, sizeof child);
    child.pid = getpid();
    child.wire = mmap(NULL, AS_WIRE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(child.wire != MAP_FAILED);
    as_plugin = (struct as_plugin){
        .wire = child.wire, .arch = AS_ARCH_X86_64, .process = PROCESS, .image = IMAGE, .pid = getpid()};
    as_lane_setup();
    options = (struct as_engine_options)AS_ENGINE_OPTIONS_DEFAULT;
    return 0;
}

static int tear_down(void **state)
{
    as_reader_free(&reader);
    munmap(child.wire, AS_WIRE_SIZE);
    bed_free(&bed);
    return 0;
}

/* ---- the writing side ---- */

static void send_message(enum as_wire_message kind, const uint64_t *words, size_t n)
{
    as_lane_push(as_plugin.code, (uint64_t)kind << AS_WIRE_EVENT_SHIFT | n);
    for (size_t i = 0; i < n; i++)
        as_lane_push(as_plugin.code, words[i]);
    as_lane_publish(as_plugin.code);
}

static void send_block(const struct as_block *block, uint32_t id)
{
    uint64_t message[4 + 2 * 512] = {IMAGE, id, block->n, block->address};
    for (uint32_t i = 0; i < block->n; i++) {
        uint8_t packed[16] = {0};
        memcpy(packed, block->insns[i]->bytes, 15);
        packed[15] = block->insns[i]->length;
        memcpy(&message[4 + 2 * i], packed, sizeof packed);
    }
    send_message(AS_WIRE_CODE, message, 4 + 2 * block->n);
}

static void start_process(void)
{
    as_plugin.code = as_lane_claim(true);
    send_message(AS_WIRE_PROCESS, (const uint64_t[]){PROCESS, 0, IMAGE, (uint64_t)getpid(), AS_ARCH_X86_64}, 5);
    for (size_t id = 0; id < bed.code.by_id.len; id++)
        if (as_code_table_block(&bed.code, (uint32_t)id))
            send_block(as_code_table_block(&bed.code, (uint32_t)id), (uint32_t)id);
}

static void *write_words(void *argument)
{
    struct writer *writer = argument;
    as_lane_start_thread(writer->vcpu, NULL);
    writer->lane = as_lane_of[writer->vcpu];
    for (size_t i = 0; i < writer->n; i++) {
        as_lane_push(writer->lane, writer->words[i]);
        if (as_random(&writer->seed) % 1000 == 0)
            as_lane_publish(writer->lane); /* as before a system call, here in the middle of anything */
    }
    if (!writer->dies) {
        as_lane_end(writer->lane);
        as_lane_of[writer->vcpu] = &as_lane_unclaimed;
    }
    return NULL;
}

/* Fills the bed's words with a random walk over its code. */
static void walk(size_t n, uint64_t seed)
{
    static const uint64_t registers[AS_WIRE_REGISTERS] = {1, 2, 3};
    as_vec_clear(&bed.words);
    while (bed.words.len < n) {
        switch (as_random(&seed) % 8) {
        case 0:
            bed_run_block(&bed, SYSCALL);
            bed_syscall(&bed, (uint32_t)(as_random(&seed) % 300));
            bed_event(&bed, AS_WIRE_SYSCALL_RETURN, 1, &seed);
            break;
        case 1:
            bed_rep_iteration(&bed, REP, 1);
            for (uint64_t i = as_random(&seed) % 9; i > 0; i--)
                bed_rep_iteration(&bed, REP_AGAIN, 0);
            bed_run_block(&bed, REP_AGAIN);
            bed_run_block(&bed, LEAVES);
            bed_load(&bed, 0, 0x7000, 8);
            break;
        case 2:
            bed_run_block(&bed, BACK);
            bed_event(&bed, AS_WIRE_REGISTERS_AT, 0, registers);
            break;
        case 3:
            bed_run_block(&bed, LOOP);
            bed_signal(&bed, 10, false, LOOP);
            break;
        default:
            bed_mix(&bed, as_random(&seed));
            bed_run_block(&bed, BACK);
        }
    }
}

/* ---- the reading side ---- */

/* What was reported of each thread, by number. */
struct told {
    struct bed_record records[20000];
    uint32_t starts, ends;
};
static struct told told;

static void on_start(void *context, struct as_thread *thread)
{
    assert_in_range(thread->number, 1, 19999);
    told.starts++;
    thread->user = &told.records[thread->number];
}

static void on_end(void *context, struct as_thread *thread)
{
    told.ends++;
    thread->user = NULL;
}

static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    bed_sink.block(thread->user, thread, exec);
}

static void on_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    bed_sink.syscall(thread->user, thread, number, args);
}

static void on_return(void *context, struct as_thread *thread, uint32_t number, int64_t result)
{
    bed_sink.syscall_return(thread->user, thread, number, result);
}

static void on_signal(void *context, struct as_thread *thread, uint32_t number, uint64_t interrupted)
{
    bed_sink.signal(thread->user, thread, number, interrupted);
}

static void on_signal_return(void *context, struct as_thread *thread)
{
    bed_sink.signal_return(thread->user, thread);
}

static const struct as_sink sink = {
    .thread_start = on_start,
    .thread_end = on_end,
    .block = on_block,
    .syscall = on_syscall,
    .syscall_return = on_return,
    .signal = on_signal,
    .signal_return = on_signal_return,
};

static bool read_all(struct as_error *err)
{
    as_reader_init(&reader, &child, &options);
    reader.sink = &sink;
    bool ok = as_reader_run(&reader, err);
    atomic_store(&child.wire->detached, 1);
    as_reader_end_threads(&reader);
    return ok;
}

static void forget_told(void)
{
    for (uint32_t i = 0; i <= told.starts; i++)
        as_str_free(&told.records[i].text);
    told.starts = told.ends = 0;
}

static char *expected(const struct writer *writer)
{
    as_vec_clear(&bed.words);
    for (size_t i = 0; i < writer->n; i++)
        *as_vec_push(&bed.words) = writer->words[i];
    return bed_tell(&bed, &(struct bed_run){.split = writer->n, .finish = true});
}

/* Each of the writers' records is there once. */
static void check_told(const struct writer *writers, unsigned n)
{
    assert_int_equal(told.starts, n);
    assert_int_equal(told.ends, n);
    for (unsigned i = 0; i < n; i++) {
        char *want = expected(&writers[i]);
        unsigned found = 0;
        for (uint32_t number = 1; number <= n; number++)
            found += strcmp(as_str_get(&told.records[number].text), want) == 0;
        assert_int_equal(found, 1);
        free(want);
    }
    forget_told();
}

static uint64_t *walk_of_its_own(size_t n, uint64_t seed, size_t *got)
{
    walk(n, seed);
    uint64_t *words = malloc(bed.words.len * sizeof *words);
    assert_non_null(words);
    memcpy(words, bed.words.data, bed.words.len * sizeof *words);
    *got = bed.words.len;
    return words;
}

/* All writers at once; then the program ends. */
struct crew {
    struct writer writers[MOST_THREADS];
    unsigned n;
};

static void *run_crew(void *argument)
{
    struct crew *crew = argument;
    start_process();
    for (unsigned i = 0; i < crew->n; i++)
        assert_int_equal(pthread_create(&crew->writers[i].thread, NULL, write_words, &crew->writers[i]), 0);
    for (unsigned i = 0; i < crew->n; i++)
        pthread_join(crew->writers[i].thread, NULL);
    atomic_store(&child.ended, 1);
    return NULL;
}

static void run_threads(unsigned n, size_t words, bool dies)
{
    struct crew crew = {.n = n};
    struct as_error err = AS_ERROR_INIT;
    pthread_t thread;
    for (unsigned i = 0; i < n; i++) {
        crew.writers[i] = (struct writer){.vcpu = i, .seed = i + 1, .dies = dies};
        crew.writers[i].words = walk_of_its_own(words, 100 + i, &crew.writers[i].n);
    }
    assert_int_equal(pthread_create(&thread, NULL, run_crew, &crew), 0);
    assert_true(read_all(&err));
    pthread_join(thread, NULL);
    check_told(crew.writers, n);
    for (unsigned i = 0; i < n; i++)
        free((void *)crew.writers[i].words);
}

static void test_ring_turns(void **state)
{
    run_threads(1, 5 * AS_WIRE_RING + 77, false);
}

static void test_many_threads(void **state)
{
    run_threads(MOST_THREADS, AS_WIRE_RING + AS_WIRE_RING / 2, false);
}

/* What a dead process wrote last is read too, though it was never published. */
static void test_writers_die(void **state)
{
    run_threads(3, 300, true);
    assert_int_equal(as_reader_count_alive(&reader), 0);
}

static void test_writers_die_later(void **state)
{
    run_threads(3, AS_WIRE_RING + 5000, true);
}

/* Killed between the words of a record: what is whole is reported. */
static void test_writer_dies_within_a_record(void **state)
{
    start_process();
    as_lane_start_thread(0, NULL);
    as_lane_push(as_lane_of[0], LOOP);
    as_lane_push(as_lane_of[0], LOOP);
    as_lane_push(as_lane_of[0], (uint64_t)AS_WIRE_SYSCALL << AS_WIRE_EVENT_SHIFT | 1);
    as_lane_push(as_lane_of[0], 1);
    as_lane_start_thread(1, NULL); /* and another, behind a block that nobody announced */
    as_lane_push(as_lane_of[1], BACK);
    as_lane_push(as_lane_of[1], 0x77777);
    as_lane_push(as_lane_of[1], BACK);
    as_lane_claim(false)->write += 3; /* and one that had not even said its name */
    atomic_store(&child.ended, 1);
    struct as_error err = AS_ERROR_INIT;
    alarm(300); /* instead of waiting for ever */
    assert_true(read_all(&err));
    alarm(0);
    assert_int_equal(told.ends, 2);
    assert_string_equal(as_str_get(&told.records[1].text), "1200[0,2) t >1200\n1200[0,2) >0\n");
    assert_string_equal(as_str_get(&told.records[2].text), "1018[0,2) t >0\n");
    forget_told();
}

/* Nothing at all is executed. */
static void test_no_thread(void **state)
{
    run_threads(0, 0, false);
    assert_int_equal(reader.threads, 0);
}

/* More threads one after the other than there are lanes. */
static void *run_one_by_one(void *argument)
{
    struct writer *writer = argument;
    start_process();
    for (int i = 0; i < 3 * AS_WIRE_LANES; i++)
        write_words(writer);
    atomic_store(&child.ended, 1);
    return NULL;
}

static void test_lanes_are_used_again(void **state)
{
    struct writer writer = {.vcpu = 3, .seed = 9};
    struct as_error err = AS_ERROR_INIT;
    pthread_t thread;
    writer.words = walk_of_its_own(40, 5, &writer.n);
    assert_int_equal(pthread_create(&thread, NULL, run_one_by_one, &writer), 0);
    assert_true(read_all(&err));
    pthread_join(thread, NULL);
    assert_int_equal(told.starts, 3 * AS_WIRE_LANES);
    assert_int_equal(told.ends, 3 * AS_WIRE_LANES);
    char *want = expected(&writer);
    for (uint32_t number = 1; number <= told.starts; number++)
        assert_string_equal(as_str_get(&told.records[number].text), want);
    free(want);
    forget_told();
    free((void *)writer.words);
}

/* Code messages that wrap around the end of their ring, blocks that are used as soon as they are announced. */
static void *run_code(void *argument)
{
    enum { BLOCKS = 1000, FIRST = 0x10000, INSNS = 100 };
    uint64_t message[4 + 2 * INSNS] = {IMAGE, 0, INSNS, 0};
    start_process();
    as_lane_start_thread(0, NULL);
    for (int i = 0; i < INSNS; i++)
        ((uint8_t *)&message[4 + 2 * i])[0] = 0x90, ((uint8_t *)&message[4 + 2 * i])[15] = 1;
    for (uint64_t i = 0; i < BLOCKS; i++) {
        message[1] = FIRST + i;
        message[3] = FIRST + i * INSNS;
        send_message(AS_WIRE_CODE, message, 4 + 2 * INSNS);
        as_lane_push(as_lane_of[0], FIRST + i);
        as_lane_publish(as_lane_of[0]);
    }
    as_lane_end(as_lane_of[0]);
    atomic_store(&child.ended, 1);
    return NULL;
}

static void test_code_ring_turns(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_code, NULL), 0);
    assert_true(read_all(&err));
    pthread_join(thread, NULL);
    unsigned lines = 0;
    for (const char *at = as_str_get(&told.records[1].text); (at = strstr(at, "[0,100)")); at++)
        lines++;
    assert_int_equal(lines, 1000);
    forget_told();
}

/* The region ends while the writer waits for room: it must come free. */
static void test_region_ends(void **state)
{
    struct crew crew = {.n = 1};
    struct as_error err = AS_ERROR_INIT;
    pthread_t thread;
    struct as_regions regions = {0};
    as_regions_add(&regions)->max = 1000;
    options.regions = &regions;
    crew.writers[0] = (struct writer){.seed = 1};
    crew.writers[0].words = walk_of_its_own(3 * AS_WIRE_RING, 1, &crew.writers[0].n);
    assert_int_equal(pthread_create(&thread, NULL, run_crew, &crew), 0);
    assert_true(read_all(&err));
    assert_true(reader.regions.over);
    pthread_join(thread, NULL);
    bed.regions.list.data[0].max = 1000;
    check_told(crew.writers, 1);
    free((void *)crew.writers[0].words);
    as_regions_free(&regions);
}

/* ---- two programs of one process ---- */

enum { FORKED = 2 };

/* A lane of code in which the process says which program it runs now. */
static struct as_wire_lane *say_program(uint32_t image)
{
    as_plugin.process = FORKED;
    as_plugin.image = image;
    as_plugin.code = as_lane_claim(true);
    send_message(AS_WIRE_PROCESS, (const uint64_t[]){FORKED, PROCESS, image, (uint64_t)getpid(), AS_ARCH_X86_64}, 5);
    return as_plugin.code;
}

static void read_code(void)
{
    bool progress = false;
    assert_true(as_reader_read_code(&reader, &progress));
    assert_true(progress);
}

/* A process forks and executes another program at once: the reader may come to the lane of the second program first. What the
 * first one wrote has its end, and the second goes on. */
static void test_second_program_is_heard_of_first(void **state)
{
    struct as_wire_lane *second = say_program(3), *first = say_program(2);
    as_lane_start_thread(0, NULL);
    struct as_wire_lane *thread = as_lane_of[0];
    assert_true(second < first && first < thread); /* the order of reading */
    uint64_t said = atomic_load(&thread->published);
    as_lane_push(thread, BACK); /* and then it executed the other program: nobody publishes this */
    as_reader_init(&reader, &child, &options);
    reader.sink = &sink;
    read_code();
    assert_int_equal(as_reader_find_process(&reader, FORKED)->image, 3);
    assert_int_equal(reader.processes.len, 1);
    assert_int_equal(atomic_load(&thread->state), AS_WIRE_ENDED);
    assert_int_equal(atomic_load(&thread->published), said + 1);
    assert_int_equal(atomic_load(&first->state), AS_WIRE_FREE); /* ended, and read to its end */
    assert_non_null(as_code_table_find_image(&reader.code, 2));
    assert_non_null(as_code_table_find_image(&reader.code, 3));
    assert_int_equal(atomic_load(&second->state), AS_WIRE_LIVE);
}

/* In the order in which they ran: only lanes of programs before the one that is told of end. */
static void test_programs_in_turn(void **state)
{
    struct as_wire_lane *first = say_program(2), *second = say_program(3);
    as_reader_init(&reader, &child, &options);
    reader.sink = &sink;
    read_code();
    assert_int_equal(as_reader_find_process(&reader, FORKED)->image, 3);
    assert_int_equal(atomic_load(&second->state), AS_WIRE_LIVE);
    assert_int_equal(atomic_load(&first->state), AS_WIRE_ENDED); /* it is free when it is looked at again */
    bool progress = false;
    assert_true(as_reader_read_code(&reader, &progress));
    assert_false(progress);
    assert_int_equal(atomic_load(&first->state), AS_WIRE_FREE);
}

/* ---- in causal order ---- */

struct stamped {
    uint32_t block;
    uint64_t begun;
};
enum { LOOKS = 0x1300 }; /* cmp [rdi], rax; jne 1300: decides and stores nothing. MIX decides and stores */

static void write_stamped(unsigned vcpu, const struct stamped *blocks, size_t n)
{
    as_lane_start_thread(vcpu, NULL);
    as_vec_clear(&bed.words);
    bed_event(&bed, AS_WIRE_TIME, 0, &blocks[0].begun);
    for (size_t i = 0; i < n; i++) {
        size_t at = bed.words.len;
        if (blocks[i].block == MIX)
            bed_mix(&bed, 0x7000);
        else
            bed_run_block(&bed, blocks[i].block);
        if (blocks[i].block == LOOKS)
            bed_load(&bed, 0, 0x7000, 8);
        bed.words.data[at] |= blocks[i].begun << AS_WIRE_STAMP_SHIFT;
    }
    for (size_t i = 0; i < bed.words.len; i++)
        as_lane_push(as_lane_of[vcpu], bed.words.data[i]);
    as_lane_end(as_lane_of[vcpu]);
}

static void tell_order(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    as_str_addf(context, "%u:%llx ", thread->number, (unsigned long long)exec->block->address);
}

/* A block begins just when one that is held ends, while the latter comes behind a long block and a third thread behind it: the reader does not
 * wait until it gives up, after which LOOKS would come before the fourth thread's second block. */
static void test_a_block_begins_as_another_ends(void **state)
{
    static const struct as_sink ordered = {.block = tell_order};
    struct as_str order = {0};
    struct as_error err = AS_ERROR_INIT;
    bed_block(&bed, LOOKS, "48 39 07, 75 fb");
    options.causal = true;
    start_process();
    write_stamped(0, (const struct stamped[]){{MIX, 100}, {BACK, 1000}}, 2);
    write_stamped(1, (const struct stamped[]){{LOOKS, 500}, {LOOKS, 510}}, 2);
    write_stamped(2, (const struct stamped[]){{LOOP, 50}, {LOOP, 600}, {LOOP, 700}, {LOOP, 2000}}, 4);
    write_stamped(3, (const struct stamped[]){{LOOP, 60}, {LOOP, 510}, {LOOP, 520}, {LOOP, 2000}}, 4);
    atomic_store(&child.ended, 1);
    as_reader_init(&reader, &child, &options);
    reader.sink = &ordered;
    reader.context = &order;
    assert_true(as_reader_run(&reader, &err));
    assert_string_equal(as_str_get(&order),
                        "3:1200 4:1200 4:1200 2:1300 2:1300 4:1200 4:1200 3:1200 3:1200 3:1200 1:1000 1:1018 ");
    as_str_free(&order);
}

/* ---- what no plugin writes ---- */

static void expect_corrupt(void)
{
    struct as_error err = AS_ERROR_INIT;
    atomic_store(&child.ended, 1);
    assert_false(read_all(&err));
    assert_non_null(strstr(err.message, "corrupt"));
    forget_told();
}

static void test_lane_without_a_start(void **state)
{
    start_process();
    struct as_wire_lane *lane = as_lane_claim(false);
    for (int i = 0; i < 5; i++)
        as_lane_push(lane, BACK);
    as_lane_publish(lane);
    expect_corrupt();
}

static void test_unknown_event(void **state)
{
    start_process();
    as_lane_start_thread(0, NULL);
    as_lane_push(as_lane_of[0], BACK);
    as_lane_push(as_lane_of[0], UINT64_C(63) << AS_WIRE_EVENT_SHIFT);
    as_lane_publish(as_lane_of[0]);
    expect_corrupt();
}

static void test_message_too_long(void **state)
{
    start_process();
    as_lane_push(as_plugin.code, (uint64_t)AS_WIRE_NOTE << AS_WIRE_EVENT_SHIFT | (AS_WIRE_MESSAGE_MAX + 1));
    as_lane_publish(as_plugin.code);
    expect_corrupt();
}

static void test_wrong_messages(void **state)
{
    static const struct {
        uint64_t kind, n, words[6];
    } wrong[] = {
        {0, 1, {0}},
        {7, 1, {0}},
        {255, 1, {0}},
        {AS_WIRE_PROCESS, 4, {1, 0, 1, 1}},
        {AS_WIRE_PROCESS, 6, {1, 0, 1, 1, 0, 0}},
        {AS_WIRE_PROCESS, 5, {1, 0, 1, 1, AS_ARCH_COUNT}},
        {AS_WIRE_MODULE, 4, {1, 2, 3, 4}},
        {AS_WIRE_CODE, 0, {0}},
        {AS_WIRE_NOTE, 0, {0}},
        {AS_WIRE_NOTE, 1, {UINT64_MAX}},
        {AS_WIRE_EXECUTE, 1, {0}},
        {AS_WIRE_EXECUTE, 2, {0, UINT64_MAX}},
        {AS_WIRE_PROGRAM, 1, {1}},
        {AS_WIRE_PROGRAM, 2, {1, UINT64_MAX}},
        {AS_WIRE_PROGRAM, 2, {99, 0}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        start_process();
        send_message((enum as_wire_message)wrong[i].kind, wrong[i].words, wrong[i].n);
        expect_corrupt();
        tear_down(NULL);
        set_up(NULL);
    }
    start_process();
    atomic_store(&child.ended, 1);
    struct as_error err = AS_ERROR_INIT;
    assert_true(read_all(&err)); /* without a wrong one all is well */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_ring_turns),
        TEST(test_many_threads),
        TEST(test_writers_die),
        TEST(test_writers_die_later),
        TEST(test_writer_dies_within_a_record),
        TEST(test_no_thread),
        TEST(test_lanes_are_used_again),
        TEST(test_code_ring_turns),
        TEST(test_region_ends),
        TEST(test_second_program_is_heard_of_first),
        TEST(test_programs_in_turn),
        TEST(test_a_block_begins_as_another_ends),
        TEST(test_lane_without_a_start),
        TEST(test_unknown_event),
        TEST(test_message_too_long),
        TEST(test_wrong_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
