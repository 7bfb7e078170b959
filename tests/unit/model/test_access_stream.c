/* The access stream: the same accesses as as_accesses makes of the same words, whatever the size of the batches; turns
 * that say whose they are; the clock by which threads take turns. Words are random, and blocks have instructions of every
 * kind. */
#include "stream_bed.h"
#include "unit.h"

#include "model/access_buffer.h"
#include "model/access_stream.h"

enum { EXECUTIONS = 3000, BLOCKS = 4, THREADS = 3 };

/* An access with what its turn says of it. */
struct seen {
    uint32_t thread, process;
    struct as_data_access access;
};

struct record {
    AS_VEC(struct seen) all;
    uint64_t batches, executed[THREADS + 1], clocks[THREADS + 1];
    bool right;
};

static void see(void *self, const struct as_access_batch *batch)
{
    struct record *record = self;
    size_t at = 0;
    record->right &= batch->size == sizeof *batch && batch->number == record->batches++ && batch->n > 0;
    for (size_t t = 0; t < batch->n_turns; t++) {
        const struct as_access_turn *turn = &batch->turns[t];
        record->right &=
            turn->first == at && turn->end > turn->first && turn->executed >= record->executed[turn->thread];
        record->executed[turn->thread] = turn->executed;
        record->right &= batch->times[t].clock >= record->clocks[turn->thread] &&
                         batch->times[t].clock >= turn->executed && batch->times[t].end >= batch->times[t].clock;
        record->clocks[turn->thread] = batch->times[t].end;
        for (at = turn->first; at < turn->end; at++)
            *as_vec_push(&record->all) =
                (struct seen){.thread = turn->thread, .process = turn->process, .access = batch->accesses[at]};
    }
    record->right &= at == batch->n;
}

static const struct as_observer seer = {.version = AS_OBSERVER_VERSION, .name = "seer", .accesses = see};

static const uint32_t blocks[BLOCKS] = {0x1000, 0x2000, 0x3000, 0x4000};

static void add_blocks(struct bed *bed)
{
    bed_init(bed);
    bed_block(bed, blocks[0], "48 8b 07, 48 01 06, 66 0f 6f 07, 75 10"); /* load, load and store, 16 bytes */
    bed_block(bed, blocks[1], "f0 48 01 06, 48 8b 07, c3");              /* atomic, load, ret */
    bed_block(bed, blocks[2], "0f 18 0f, 48 89 07, 0f ae 07, 50");       /* prefetch, store, fxsave, push */
    bed_block(bed, blocks[3], "c4 e2 f1 99 07, c5 fe 6f 07, f3 a4");     /* scalar fma, 32 bytes, rep movsb */
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* Words in the order of the instructions, often adjacent; now and then more instructions than the block has. */
static size_t make_words(uint64_t *seed, const struct as_block *block, uint64_t *words)
{
    size_t n = 0;
    uint64_t address = 0x7f0000000000 + next_random(seed) % 64 * 8;
    for (uint64_t index = 0; index < block->n + (next_random(seed) % 50 == 0) && n < 60; index++)
        for (uint64_t pieces = next_random(seed) % 4; pieces > 0; pieces--) {
            uint64_t size = next_random(seed) % 4, kind = 1 + next_random(seed) % 3;
            words[n++] = kind << 62 | size << AS_WIRE_SIZE_SHIFT | index << AS_WIRE_INDEX_SHIFT |
                         (address & ((UINT64_C(1) << AS_WIRE_ADDRESS_BITS) - 1));
            address += next_random(seed) % 3 ? 1u << size : next_random(seed) % 4096;
        }
    return n;
}

/* What the stream has to say of an execution. */
static void expect(struct record *want, const struct as_thread *thread, const struct as_block_exec *exec)
{
    struct as_access access;
    for (struct as_accesses all = as_accesses_of(exec); as_accesses_next(&all, &access);)
        *as_vec_push(&want->all) = (struct seen){.thread = thread->number,
                                                 .process = thread->process,
                                                 .access = {.address = access.address,
                                                            .insn = exec->block->insns[access.index]->id,
                                                            .size = access.size & 0xffffff,
                                                            .kind = access.kind}};
}

static void compare(const struct record *want, const struct record *got)
{
    assert_true(got->right);
    assert_int_equal(got->all.len, want->all.len);
    for (size_t i = 0; i < got->all.len; i++) {
        const struct seen *a = &want->all.data[i], *b = &got->all.data[i];
        assert_true(a->thread == b->thread && a->process == b->process && a->access.address == b->access.address &&
                    a->access.insn == b->access.insn && a->access.size == b->access.size &&
                    a->access.kind == b->access.kind);
    }
}

/* Passes the execution on as words, as the engine does where that is possible. */
static bool tell_words(struct bed *bed, struct as_access_stream *stream, struct as_thread *thread,
                       const struct as_block_exec *exec, uint32_t id)
{
    uint64_t words[1 + 64 * 4] = {id};
    struct as_block *block = as_code_table_block(&bed->code, id);
    const struct as_sink *sink = as_access_stream_choose_sink(stream);
    if (!sink->words || block->n_hints || exec->first > 0 || exec->end < block->n)
        return false;
    if (!block->codes)
        block->codes = as_access_codes_new(block, exec->words, exec->n_words);
    memcpy(words + 1, exec->words, exec->n_words * sizeof *words);
    sink->words(stream, thread,
                &(struct as_exec_words){.words = words,
                                        .n = 1 + exec->n_words,
                                        .accesses = exec->n_words,
                                        .instructions = block->n,
                                        .blocks = &bed->code.by_id});
    return true;
}

/* Random executions of random threads; whole ones and parts. */
static void run(struct bed *bed, struct as_access_stream *stream, struct record *want, uint64_t seed)
{
    const struct as_sink *sink = &as_access_stream_sink;
    struct as_thread threads[THREADS];
    for (uint32_t t = 0; t < THREADS; t++) {
        threads[t] = (struct as_thread){.number = t + 1, .process = 1 + t / 2};
        sink->thread_start(stream, &threads[t]);
    }
    for (int i = 0; i < EXECUTIONS; i++) {
        uint64_t words[64 * 4], registers[AS_LINEAR_REGISTERS] = {0};
        uint32_t id = blocks[next_random(&seed) % BLOCKS];
        const struct as_block *block = as_code_table_block(&bed->code, id);
        struct as_thread *thread = &threads[next_random(&seed) % THREADS];
        struct as_block_exec exec = {.block = block, .end = block->n, .words = words, .registers = registers};
        exec.n_words = make_words(&seed, block, words);
        if (next_random(&seed) % 8 == 0)
            exec.first = (uint32_t)next_random(&seed) % block->n;
        if (next_random(&seed) % 8 == 0)
            exec.end = exec.first + 1;
        uint64_t clock = sink->clock(stream, thread);
        if (next_random(&seed) % 2 || !tell_words(bed, stream, thread, &exec, id))
            sink->block(stream, thread, &exec);
        assert_int_equal(sink->clock(stream, thread), clock + as_block_exec_count(&exec));
        expect(want, thread, &exec);
    }
    for (uint32_t t = 0; t < THREADS; t++)
        sink->thread_end(stream, &threads[t]);
}

static void same_accesses(void **state)
{
    static const size_t sizes[] = {2, 5, 61, 300, 100000};
    struct bed bed;
    add_blocks(&bed);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct record want = {0}, got[2] = {{.right = true}, {.right = true}};
        struct as_error err = AS_ERROR_INIT;
        struct as_fanout *fanout = as_fanout_new(&(struct as_fanout_options){
            .kind = &as_access_buffers, .batch = sizes[i], .in_flight = 3, .inline_ = i % 2});
        struct as_access_stream *stream = as_access_stream_new(fanout, NULL, NULL);
        as_fanout_add(fanout, &seer, &got[0], false); /* two: one makes the accesses, the other finds them made */
        as_fanout_add(fanout, &seer, &got[1], false);
        assert_true(as_fanout_start(fanout, &err));
        run(&bed, stream, &want, i + 1);
        as_access_stream_finish(stream);
        for (int observer = 0; observer < 2; observer++) {
            compare(&want, &got[observer]);
            as_vec_free(&got[observer].all);
        }
        as_vec_free(&want.all);
        as_access_stream_free(stream);
        as_fanout_free(fanout);
    }
    bed_free(&bed);
}

/* A thread that starts, or was in a system call, goes on where the slowest running one is. */
static void clocks_of_threads(void **state)
{
    const struct as_sink *sink = &as_access_stream_sink;
    struct as_fanout *fanout = as_fanout_new(&(struct as_fanout_options){.kind = &as_access_buffers, .batch = 64});
    struct as_access_stream *stream = as_access_stream_new(fanout, NULL, NULL);
    struct as_thread a = {.number = 1, .process = 1}, b = {.number = 2, .process = 1}, c = {.number = 3, .process = 1};
    struct as_error err = AS_ERROR_INIT;
    struct bed bed;
    add_blocks(&bed);
    const struct as_block *block = as_code_table_block(&bed.code, blocks[0]);
    struct as_block_exec exec = {.block = block, .end = block->n};
    assert_true(as_fanout_start(fanout, &err));
    sink->thread_start(stream, &a);
    for (int i = 0; i < 10; i++)
        sink->block(stream, &a, &exec);
    sink->thread_start(stream, &b);
    assert_int_equal(sink->clock(stream, &b), 40);
    for (int i = 0; i < 5; i++)
        sink->block(stream, &b, &exec);
    sink->syscall(stream, &a, 1, NULL);
    for (int i = 0; i < 5; i++)
        sink->block(stream, &b, &exec);
    sink->syscall_return(stream, &a, 1, 0);
    assert_int_equal(sink->clock(stream, &a), 80);
    sink->syscall(stream, &a, 1, NULL);
    sink->thread_end(stream, &b); /* nobody runs: the last that stopped says what time it is */
    sink->thread_start(stream, &c);
    assert_int_equal(sink->clock(stream, &c), 80);
    as_access_stream_free(stream);
    as_fanout_free(fanout);
    bed_free(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_accesses),
        cmocka_unit_test(clocks_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
