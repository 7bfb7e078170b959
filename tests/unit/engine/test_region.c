/* Streams: the part of the run that the sink sees (--skip, --max, --from, --to), and words that are not what they
 * should be. */
#include "base/random.h"
#include "engine/block_word.h"
#include "stream_fixture.h"
#include "unit.h"

#include <stdio.h>

/* Three blocks of two, three and two instructions with a system call: 7 in all. */
static void seven(void)
{
    bed_run_block(&bed, BACK);
    bed_mix(&bed, 0x5000);
    bed_run_block(&bed, SYSCALL);
    bed_syscall(&bed, 1);
}

static void expect_region(uint64_t skip, uint64_t max, const char *want)
{
    bed.regions.list.data[0].offset = skip;
    bed.regions.list.data[0].max = max ? max : UINT64_MAX;
    expect(want);
}

static void test_skip_and_max(void **state)
{
    seven();
    expect_region(1, 0, "1018[1,2) t >1000\n1000[0,3) t >3200\n3200[0,2) >0\nsyscall 1\n");
    expect_region(2, 0, "1000[0,3) t >3200\n3200[0,2) >0\nsyscall 1\n");
    expect_region(3, 0, "1000[1,3) t >3200\n3200[0,2) >0\nsyscall 1\n");
    expect_region(6, 0, "3200[1,2) >0\nsyscall 1\n");
    expect_region(7, 0, "");
    expect_region(8, 0, "");
    expect_region(0, 1, "1018[0,1) >1019\n");
    expect_region(0, 2, "1018[0,2) t >1000\n");
    expect_region(0, 4, "1018[0,2) t >1000\n1000[0,2) >1006\n");
    expect_region(0, 6, "1018[0,2) t >1000\n1000[0,3) t >3200\n3200[0,1) >3201\n");
    expect_region(0, 7, "1018[0,2) t >1000\n1000[0,3) t >3200\n3200[0,2) >0\nsyscall 1\n");
    expect_region(3, 1, "1000[1,2) >1006\n");
    expect_region(1, 3, "1018[1,2) t >1000\n1000[0,2) >1006\n");
    expect_region(4, 2, "1000[2,3) t >3200\n3200[0,1) >3201\n");
}

/* Among several threads a region begins and ends where its loop goes round again. */
static void test_heads_of_loops(void **state)
{
    for (int i = 0; i < 6; i++)
        bed_run_block(&bed, LOOP);
    bed_run_block(&bed, BEHIND);
    bed.regions.list.data[0].heads = true;
    expect_region(1, 6, "1200[1,2) t >1200\n1200[0,2) t >1200\n1200[0,2) t >1200\n1200[0,1) >1203\n");
    bed.threads = 2; /* a region is twice as long then */
    expect_region(1, 3, "1200[0,2) t >1200\n1200[0,2) t >1200\n1200[0,2) t >1200\n");
}

static uint64_t count_told(const char *record)
{
    uint64_t sum = 0;
    unsigned first, end;
    for (const char *line = record; *line; line = strchr(line, '\n') + 1)
        if (sscanf(line, "%*x[%u,%u)", &first, &end) == 2)
            sum += end - first - (strstr(line, " c ") && strstr(line, " c ") < strchr(line, '\n'));
    return sum;
}

/* Any two neighbouring regions have together what the whole has: instructions, words, system calls. */
static void test_regions_add_up(void **state)
{
    enum { ALL = 7 + 2 + 1 + 7 };
    seven();
    bed_rep_iteration(&bed, REP, 1);
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    bed_run_block(&bed, REP_AGAIN);
    bed_run_block(&bed, LEAVES);
    bed_load(&bed, 0, 0x7000, 8);
    seven();
    for (uint64_t cut = 1; cut < ALL; cut++) {
        uint64_t told = 0, iterations = 0, calls_told = 0;
        for (int part = 0; part < 2; part++) {
            bed.regions.list.data[0].offset = part ? cut : 0;
            bed.regions.list.data[0].max = part ? UINT64_MAX : cut;
            char *record = bed_tell(&bed, &(struct bed_run){.split = SIZE_MAX, .finish = true});
            told += count_told(record);
            for (const char *at = record; (at = strstr(at, " c ")); at++)
                iterations++;
            for (const char *at = record; (at = strstr(at, "syscall")); at++)
                calls_told++;
            free(record);
        }
        assert_int_equal(told, ALL);
        assert_int_equal(iterations, 2);
        assert_int_equal(calls_told, 2);
    }
}

static void test_skip_ends_inside_a_rep(void **state)
{
    bed_rep_iteration(&bed, REP, 1);
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    bed_run_block(&bed, REP_AGAIN);
    bed_run_block(&bed, LEAVES);
    bed_load(&bed, 0, 0x7000, 8);
    bed_run_block(&bed, BACK);
    expect_region(1, 0, "1030[1,2) >1031\n1031[0,1) c >1031\n1033[0,1) t >1018\n1018[0,2) t >0\n");
    expect_region(2, 0, "1033[0,1) t >1018\n1018[0,2) t >0\n");
    expect_region(2, 1, "1033[0,1) t >1018\n");
    expect_region(0, 2, "1030[0,2) >1031\n1031[0,1) c >1031\n");
    expect_region(0, 1, "1030[0,1) >1031\n");
    expect_region(0, 3, "1030[0,2) >1031\n1031[0,1) c >1031\n1033[0,1) t >1018\n");
}

static void behind(void)
{
    bed_run_block(&bed, BEHIND);
    bed_load(&bed, 3, 0x7000, 8);
}

/* --from and --to at a block's start, in its middle, both in one block. */
static void test_landmarks(void **state)
{
    bed_set_landmarks(&bed, BEHIND, 0);
    bed_run_block(&bed, SYSCALL);
    bed_syscall(&bed, 1);
    bed_run_block(&bed, LOOP);
    behind();
    bed_run_block(&bed, LOOP);
    behind();
    expect("1205[0,4) t >1200\n1200[0,2) >1205\n1205[0,4) t >0\n");

    bed_set_landmarks(&bed, BEHIND + 2, 0);
    bed_run_block(&bed, LOOP);
    behind();
    bed_run_block(&bed, SYSCALL);
    bed_syscall(&bed, 1);
    expect("1205[2,4) t >3200\n3200[0,2) >0\nsyscall 1\n");

    bed_set_landmarks(&bed, 0, BEHIND);
    bed_run_block(&bed, LOOP);
    behind();
    bed_run_block(&bed, LOOP);
    expect("1200[0,2) >1205\n");

    bed_set_landmarks(&bed, BEHIND + 1, BEHIND + 3);
    bed_run_block(&bed, LOOP);
    behind();
    bed_run_block(&bed, LOOP);
    expect("1205[1,3) >1208\n");
}

/* From and to the same function: one turn of it. */
static void test_same_landmark(void **state)
{
    bed_set_landmarks(&bed, BEHIND, BEHIND);
    for (int i = 0; i < 3; i++) {
        bed_run_block(&bed, LOOP);
        behind();
    }
    expect("1205[0,4) t >1200\n1200[0,2) >1205\n");
}

static void test_landmarks_and_counts(void **state)
{
    bed_set_landmarks(&bed, BEHIND + 1, 0);
    bed_run_block(&bed, LOOP);
    behind();
    bed_run_block(&bed, LOOP);
    behind();
    expect_region(1, 0, "1205[2,4) t >1200\n1200[0,2) >1205\n1205[0,4) t >0\n");
    expect_region(1, 1, "1205[2,3) >1208\n");
    expect_region(4, 2, "1200[1,2) >1205\n1205[0,1) >1206\n");

    /* What --skip leaves out cannot end the region; what is behind it can, in the same block too. */
    bed_set_landmarks(&bed, 0, BEHIND + 1);
    bed_run_block(&bed, LOOP);
    behind();
    bed_run_block(&bed, LOOP);
    behind();
    expect_region(2, 0, "1205[0,1) >1206\n");
    expect_region(4, 0, "1205[2,4) t >1200\n1200[0,2) >1205\n1205[0,1) >1206\n");
}

/* Words behind the end of the region are left where they are. */
static void test_nothing_is_read_behind_the_region(void **state)
{
    struct bed_record record = {0};
    struct as_region_run regions;
    uint32_t disagreements = 0;
    struct as_stream stream = {.code = &bed.code,
                               .regions = &regions,
                               .sink = &bed_sink,
                               .context = &record,
                               .disagreements = &disagreements,
                               .thread.image = bed.code.images.data[0]};
    size_t done;
    bed.regions.list.data[0].max = 2;
    as_region_run_init(&regions, &bed.regions);
    bed_run_block(&bed, BACK);
    bed_mix(&bed, 0x5000);
    bed_run_block(&bed, BACK);
    assert_int_equal(as_stream_consume(&stream, bed.words.data, bed.words.len, &done), AS_STREAM_OK);
    assert_true(regions.over);
    assert_true(done <= 2);
    as_stream_finish(&stream);
    assert_string_equal(as_str_get(&record.text), "1018[0,2) t >1000\n");
    as_stream_free(&stream);
    as_region_run_free(&regions);
    as_str_free(&record.text);
}

struct fed {
    struct as_stream stream;
    struct as_regions list;
    struct as_region_run regions;
    struct bed_record record;
    uint32_t disagreements;
};

static void feed_init(struct fed *fed, uint64_t skip, uint64_t max)
{
    memset(fed, 0, sizeof *fed);
    struct as_region *region = as_regions_add(&fed->list);
    region->offset = skip;
    region->max = max;
    as_region_run_init(&fed->regions, &fed->list);
    fed->regions.threads = bed.threads;
    fed->stream = (struct as_stream){.code = &bed.code,
                                     .regions = &fed->regions,
                                     .sink = &bed_sink,
                                     .context = &fed->record,
                                     .disagreements = &fed->disagreements,
                                     .thread.image = bed.code.images.data[0]};
}

static void feed_free(struct fed *fed)
{
    as_stream_free(&fed->stream);
    as_region_run_free(&fed->regions);
    as_regions_free(&fed->list);
    as_str_free(&fed->record.text);
}

/* ---- rep instructions in counted stretches ---- */

struct iterated {
    uint64_t id, iterations, executions, words;
};

static void count_iteration(void *context, struct as_thread *thread, const struct as_insn *insn)
{
    struct iterated *seen = context;
    seen->id = insn->id;
    seen->iterations++;
}

static void count_skipped(void *context, struct as_thread *thread, const struct as_block *block, uint32_t first,
                          uint32_t end, uint64_t times)
{
    struct iterated *seen = context;
    for (uint32_t i = first; i < end; i++)
        seen->executions += block->insns[i]->flags & AS_INSN_REP ? times : 0;
}

static void count_passed(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    ((struct iterated *)context)->words += exec->n_words;
}

/* Three iterations, QEMU's look at the counter, and one iteration more of the same instruction executed anew. */
static void test_iterations_of_counted_stretches(void **state)
{
    struct as_sink sink = bed_sink;
    struct iterated seen = {0};
    struct fed fed;
    size_t done;
    feed_init(&fed, 1000, 0);
    sink.skipped = count_skipped;
    sink.iterated = count_iteration;
    sink.passed = count_passed;
    sink.tally = NULL;
    fed.stream.sink = &sink;
    fed.stream.context = &seen;
    bed_rep_iteration(&bed, REP, 1);
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    bed_rep_iteration(&bed, REP_AGAIN, 0);
    bed_run_block(&bed, REP_AGAIN);
    bed_run_block(&bed, BACK);
    bed_rep_iteration(&bed, REP, 1);
    bed_run_block(&bed, REP_AGAIN);
    bed_run_block(&bed, BACK);
    bed_run_block(&bed, BACK);
    assert_int_equal(as_stream_consume(&fed.stream, bed.words.data, bed.words.len, &done), AS_STREAM_OK);
    assert_int_equal(seen.executions, 2);
    assert_int_equal(seen.iterations, 2);
    assert_int_equal(seen.id, as_code_table_block(&bed.code, REP_AGAIN)->insns[0]->id);
    assert_int_equal(seen.words, 4 * 2); /* a load and a store each */
    feed_free(&fed);
}

/* ---- the last part of a sieved stretch ---- */

/* What the sink was told of it: executions, and a sum over them in their order; of what was only counted, how often and of how many
 * instructions. */
struct trailed {
    uint64_t executions, trails, sum, counts, counted, time;
};

static void add(struct trailed *seen, uint64_t value)
{
    seen->sum = (seen->sum ^ value) * UINT64_C(0x100000001b3);
}

static void add_execution(struct trailed *seen, const struct as_block *block, bool taken, uint64_t next,
                          const uint64_t *words, size_t n)
{
    seen->executions++;
    add(seen, block->address << 1 | taken);
    add(seen, next);
    for (size_t i = 0; i < n; i++)
        add(seen, words[i]);
}

static void note_passed(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    if (exec->near || exec->n_words)
        add_execution(context, exec->block, exec->near && exec->taken, exec->near ? exec->next : 0, exec->words,
                      exec->n_words);
}

static void note_trail(void *context, struct as_thread *thread, const struct as_trail *trail)
{
    struct trailed *seen = context;
    const struct as_block *block = as_block_pages_get(trail->blocks, trail->first);
    size_t from = 0;
    seen->trails++;
    for (size_t i = 0; i < trail->n; i++) {
        if (as_access_kind(trail->words[i]))
            continue;
        const struct as_block *next = as_block_pages_get(trail->blocks, (uint32_t)trail->words[i]);
        add_execution(seen, block, block->outcome == AS_OUTCOME_LEAVES || next->address != block->end, next->address,
                      trail->words + from, i - from);
        block = next;
        from = i + 1;
    }
    assert_int_equal(from, trail->n); /* it ends with the number of a block */
}

static void note_skipped(void *context, struct as_thread *thread, const struct as_block *block, uint32_t first,
                         uint32_t end, uint64_t times)
{
    struct trailed *seen = context;
    seen->counts++;
    seen->counted += times * (end - first);
}

enum { START = 1 << 20 }; /* the thread's time, where blocks have stamps */

static struct trailed follow_stretch(uint64_t length, uint64_t near, bool trails, size_t piece)
{
    struct as_sink sink = bed_sink;
    struct trailed seen = {0};
    struct fed fed;
    size_t done;
    feed_init(&fed, length, 0);
    fed.list.near = near;
    sink.skipped = note_skipped;
    sink.passed = note_passed;
    sink.trail = trails ? note_trail : NULL;
    sink.tally = NULL;
    fed.stream.sink = &sink;
    fed.stream.context = &seen;
    fed.stream.causal.time = START;
    for (size_t at = 0; at < bed.words.len; at += done) {
        size_t n = bed.words.len - at < piece ? bed.words.len - at : piece;
        assert_int_equal(as_stream_consume(&fed.stream, bed.words.data + at, n, &done), AS_STREAM_OK);
        assert_int_equal(done, n);
    }
    seen.time = fed.stream.causal.time;
    as_ways_report(&fed.stream);
    feed_free(&fed);
    return seen;
}

/* Told at once or one by one, in whatever pieces it comes: it is the same. */
static void test_trail(void **state)
{
    const uint32_t blocks[] = {LOOP, BEHIND};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bed.code.gists.data[blocks[i]].bare = true;
    for (uint64_t i = 0; i < 36000; i++) {
        for (uint64_t k = 0; k <= i % 3; k++)
            bed_run_block(&bed, LOOP);
        bed_run_block(&bed, BEHIND);
        if (i % 5 == 0)
            bed_load(&bed, 3, 0x7000 + 64 * (i % 1000), 8);
    }
    bed_run_block(&bed, LOOP);
    const uint64_t length = AS_NEAR + 100000;
    struct trailed singly = follow_stretch(length, 0, false, SIZE_MAX),
                   once = follow_stretch(length, 0, true, SIZE_MAX), pieces = follow_stretch(length, 0, true, 7),
                   half = follow_stretch(length, AS_NEAR / 2, true, 7);
    assert_true(singly.executions > AS_NEAR / 4);
    assert_int_equal(singly.trails, 0);
    assert_true(once.trails > 0);
    assert_true(pieces.trails > 1000);
    assert_int_equal(once.executions, singly.executions);
    assert_int_equal(once.sum, singly.sum);
    assert_int_equal(pieces.executions, singly.executions);
    assert_int_equal(pieces.sum, singly.sum);
    assert_in_range(half.executions, singly.executions * 2 / 5, singly.executions * 3 / 5);
}

/* The block's word at the end has a stamp. */
static void stamp(uint64_t time)
{
    bed.words.data[bed.words.len - 1] |= (time & AS_WIRE_STAMP_MASK) << AS_WIRE_STAMP_SHIFT;
}

/* Of several threads all accesses are recorded, and blocks have stamps: many executions at once are counted as one by one, and the thread's
 * time is that of the last stamp. */
static void test_several_threads(void **state)
{
    const uint64_t length = AS_NEAR + 100000;
    uint64_t time = START;
    for (uint64_t i = 0; i < 36000; i++) {
        for (uint64_t k = 0; k <= i % 3; k++) {
            bed_run_block(&bed, LOOP);
            stamp(time += 1000 * (i % 7));
        }
        bed_run_block(&bed, BEHIND);
        stamp(time += 30);
        bed_load(&bed, 3, 0x7000 + 64 * (i % 1000), 8);
    }
    bed_run_block(&bed, LOOP);
    stamp(time);
    struct trailed singly = follow_stretch(length, 0, true, SIZE_MAX);
    bed.threads = 2;
    struct trailed once = follow_stretch(length, 0, true, SIZE_MAX), pieces = follow_stretch(length, 0, true, 50);
    assert_int_equal(singly.time, time);
    assert_int_equal(singly.trails, 0);
    assert_true(once.trails > 0 && once.counts < singly.counts / 10 && pieces.counts < singly.counts / 5);
    const struct trailed *all[] = {&once, &pieces};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(all[i]->executions, singly.executions);
        assert_int_equal(all[i]->sum, singly.sum);
        assert_int_equal(all[i]->counted, singly.counted);
        assert_int_equal(all[i]->time, time);
    }
}

/* ---- what is not known, or wrong ---- */

static void test_unknown_block(void **state)
{
    enum { LATER = 0x2100 };
    struct fed fed;
    size_t done;
    feed_init(&fed, 0, UINT64_MAX);
    bed_run_block(&bed, BACK);
    bed_mix(&bed, 0x5000);
    size_t before = bed.words.len;
    bed_run_block(&bed, LATER);
    bed_run_block(&bed, BACK);
    assert_int_equal(as_stream_consume(&fed.stream, bed.words.data, bed.words.len, &done), AS_STREAM_NEEDS_CODE);
    assert_int_equal(done, before);
    assert_string_equal(as_str_get(&fed.record.text), "1018[0,2) t >1000\n");
    /* Again without the code: nothing moves. */
    assert_int_equal(as_stream_consume(&fed.stream, bed.words.data + before, 2, &done), AS_STREAM_NEEDS_CODE);
    assert_int_equal(done, 0);
    bed_block(&bed, LATER, "90, c3");
    assert_int_equal(as_stream_consume(&fed.stream, bed.words.data + before, 2, &done), AS_STREAM_OK);
    assert_int_equal(done, 2);
    assert_string_equal(as_str_get(&fed.record.text), "1018[0,2) t >1000\n1000[0,3) t >2100\n2100[0,2) t >1018\n");
    feed_free(&fed);
}

static void test_unknown_block_of_huge_number(void **state)
{
    struct fed fed;
    size_t done;
    feed_init(&fed, 0, UINT64_MAX);
    assert_int_equal(as_stream_consume(&fed.stream, (const uint64_t[]){UINT32_MAX}, 1, &done), AS_STREAM_NEEDS_CODE);
    assert_int_equal(done, 0);
    feed_free(&fed);
}

static void test_corrupt_event(void **state)
{
    for (uint64_t event = AS_WIRE_EVENTS; event < 64; event++) {
        struct fed fed;
        size_t done;
        feed_init(&fed, 0, UINT64_MAX);
        uint64_t words[] = {BACK, BACK, event << AS_WIRE_EVENT_SHIFT, BACK};
        assert_int_equal(as_stream_consume(&fed.stream, words, 4, &done), AS_STREAM_CORRUPT);
        feed_free(&fed);
    }
}

/* Access words before any block, of instructions that the block has not, in any order: refused or told, never read
 * beyond the block. The sanitizer build is the judge. */
static void test_nonsense(void **state)
{
    static const uint64_t pool[] = {BACK, MIX, CALLS, REP, REP_AGAIN, SELF, SELF_STORE, LEAVES, LOOP, 0, 77};
    uint64_t seed = 1;
    for (int round = 0; round < 3000; round++) {
        struct fed fed;
        uint64_t words[40];
        feed_init(&fed, round & 2 ? seed % 7 : 0, round & 4 ? 1 + seed % 9 : UINT64_MAX);
        fed.stream.blocks_only = round & 1;
        for (size_t i = 0; i < 40; i++) {
            uint64_t bits = as_random(&seed), random = bits >> 33, event = 1 + random % (AS_WIRE_EVENTS - 1);
            words[i] = random % 3 == 0   ? bits | AS_WIRE_LOAD
                       : random % 3 == 1 ? pool[bits >> 40 & 7]
                                         : event << AS_WIRE_EVENT_SHIFT | (bits >> 50 & 511);
        }
        for (size_t at = 0, done = 1; at < 40 && done; at += done)
            if (as_stream_consume(&fed.stream, words + at, 40 - at, &done) != AS_STREAM_OK)
                break;
        as_stream_finish(&fed.stream);
        feed_free(&fed);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_skip_and_max),
        TEST(test_heads_of_loops),
        TEST(test_regions_add_up),
        TEST(test_skip_ends_inside_a_rep),
        TEST(test_landmarks),
        TEST(test_same_landmark),
        TEST(test_landmarks_and_counts),
        TEST(test_nothing_is_read_behind_the_region),
        TEST(test_iterations_of_counted_stretches),
        TEST(test_trail),
        TEST(test_several_threads),
        TEST(test_unknown_block),
        TEST(test_unknown_block_of_huge_number),
        TEST(test_corrupt_event),
        TEST(test_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
