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
    AS_VEC(uint32_t) ended;
    uint64_t batches, executed[THREADS + 2], clocks[THREADS + 2];
    bool right, looks; /* looks: instructions in which threads only look may take no time */
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
                         (record->looks || batch->times[t].clock >= turn->executed) &&
                         batch->times[t].end >= batch->times[t].clock;
        record->clocks[turn->thread] = batch->times[t].end;
        for (at = turn->first; at < turn->end; at++)
            *as_vec_push(&record->all) =
                (struct seen){.thread = turn->thread, .process = turn->process, .access = batch->accesses[at]};
    }
    record->right &= at == batch->n;
    for (size_t i = 0; i < batch->n_ended; i++)
        *as_vec_push(&record->ended) = batch->ended[i];
}

static const struct as_observer seer = {.version = AS_OBSERVER_VERSION, .name = "seer", .accesses = see};

static const uint32_t blocks[BLOCKS] = {0x1000, 0x2000, 0x3000, 0x4000};

enum { STORES = 0x5000, DECIDES = 0x6000, REPEATS = 0x7000, FAILS = 0x7100 };

static void add_blocks(struct bed *bed)
{
    bed_init(bed);
    bed_block(bed, blocks[0], "48 8b 07, 48 01 06, 66 0f 6f 07, 75 10"); /* load, load and store, 16 bytes */
    bed_block(bed, blocks[1], "f0 48 01 06, 48 8b 07, c3");              /* atomic, load, ret */
    bed_block(bed, blocks[2], "0f 18 0f, 48 89 07, 0f ae 07, 50");       /* prefetch, store, fxsave, push */
    bed_block(bed, blocks[3], "c4 e2 f1 99 07, c5 fe 6f 07, f3 a4");     /* scalar fma, 32 bytes, rep movsb */
    bed_block(bed, STORES, "90, 48 89 07, c3");                          /* nop, store, ret */
    bed_block(bed, DECIDES, "48 8b 07, 48 85 c0, 75 f8");                /* load, test, jne */
    bed_block(bed, FAILS, "f0 48 0f b1 0f, 75 f9"); /* a compare-and-swap, jne: one that stores nothing */
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
    if (!sink->words || block->n_hints || exec->first > 0 || exec->end < block->n || block->flags & AS_BLOCK_REP_LAST)
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
        bool rep = block->flags & AS_BLOCK_REP_LAST && exec.end == block->n;
        assert_int_equal(sink->clock(stream, thread), clock + block->n - exec.first + rep);
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
            assert_int_equal(got[observer].ended.len, THREADS);
            as_vec_free(&got[observer].ended);
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

/* Threads keep step by what the plugin counts: it counts a rep instruction's iterations, QEMU's last look at its counter, and what was
 * translated at the end of a block but not executed. None of that is an executed instruction. */
static void clocks_are_those_of_the_plugin(void **state)
{
    const struct as_sink *sink = &as_access_stream_sink;
    struct as_fanout *fanout = as_fanout_new(&(struct as_fanout_options){.kind = &as_access_buffers, .batch = 64});
    struct as_access_stream *stream = as_access_stream_new(fanout, NULL, NULL);
    struct as_thread thread = {.number = 1, .process = 1};
    struct as_error err = AS_ERROR_INIT;
    struct bed bed;
    add_blocks(&bed);
    bed_block(&bed, REPEATS, "f3 a4");
    const struct as_block *block = as_code_table_block(&bed.code, blocks[3]),
                          *rep = as_code_table_block(&bed.code, REPEATS);
    assert_true(as_fanout_start(fanout, &err));
    sink->thread_start(stream, &thread);
    sink->block(stream, &thread,
                &(struct as_block_exec){.block = block, .end = 3}); /* the last one: the first iteration */
    assert_int_equal(sink->clock(stream, &thread), 4);
    for (int i = 0; i < 10; i++)
        sink->block(stream, &thread, &(struct as_block_exec){.block = rep, .end = 1, .continues = true});
    assert_int_equal(sink->clock(stream, &thread), 14);
    assert_int_equal(as_access_stream_executed(stream), 3);
    sink->block(stream, &thread, &(struct as_block_exec){.block = rep, .end = 1}); /* jumped to */
    assert_int_equal(sink->clock(stream, &thread), 16);
    sink->block(stream, &thread, &(struct as_block_exec){.block = block, .end = 2});
    assert_int_equal(sink->clock(stream, &thread), 19);
    assert_int_equal(as_access_stream_executed(stream), 6);
    sink->thread_end(stream, &thread);
    as_access_stream_free(stream);
    as_fanout_free(fanout);
    bed_free(&bed);
}

/* ---- sampled granules ---- */

enum { SHIFT = 6 };

static uint64_t granule_of(uint64_t address)
{
    return (address & ((UINT64_C(1) << AS_WIRE_ADDRESS_BITS) - 1)) >> SHIFT;
}

static bool is_sampled(const struct as_data_access *access, uint64_t threshold)
{
    for (uint64_t granule = granule_of(access->address); granule <= granule_of(access->address + access->size - 1);
         granule++)
        if (granule * AS_RANDOM_STEP <= threshold)
            return true;
    return false;
}

/* Of blocks whose accesses are one word each: 8 bytes somewhere, now and then in two granules. */
static void run_apart(struct bed *bed, struct as_access_stream *stream, struct record *want, struct as_thread *thread)
{
    const struct as_sink *sink = as_access_stream_choose_sink(stream);
    uint64_t seed = 7;
    for (int i = 0; i < EXECUTIONS; i++) {
        const struct as_block *block = as_code_table_block(&bed->code, i % 2 ? STORES : DECIDES);
        uint64_t registers[AS_LINEAR_REGISTERS] = {0}, clock = sink->clock(stream, thread);
        uint64_t word = (uint64_t)(i % 2 ? 2 : 1) << 62 | UINT64_C(3) << AS_WIRE_SIZE_SHIFT |
                        (uint64_t)(i % 2) << AS_WIRE_INDEX_SHIFT | (0x7f0000000000 + next_random(&seed) % 65536);
        struct as_block_exec exec = {
            .block = block, .end = block->n, .words = &word, .n_words = 1, .registers = registers};
        sink->block(stream, thread, &exec);
        assert_int_equal(sink->clock(stream, thread), clock + block->n); /* whether it is passed on or not */
        expect(want, thread, &exec);
    }
}

/* Iterations of a rep movsb, in pieces of the sizes that come: to `got` many at a time, to `want` one by one. */
static void run_iterations(struct bed *bed, struct as_access_stream *stream, struct record *want,
                           struct as_thread *thread)
{
    const struct as_sink *sink = as_access_stream_choose_sink(stream);
    const uint64_t from = 0x7f0000000fe8, to = 0x7f0000003000;
    for (uint64_t i = 0, piece = 1; i < EXECUTIONS; i += piece, piece = piece % 300 + 7) {
        uint64_t words[3 * 307], clock = sink->clock(stream, thread);
        struct as_exec_words all = {.words = words, .n = 3 * piece, .accesses = 2 * piece, .blocks = &bed->code.by_id};
        struct as_block_exec exec;
        for (uint64_t k = 0; k < piece; k++) {
            words[3 * k] = REPEATS;
            words[3 * k + 1] = AS_WIRE_LOAD | UINT64_C(1) << AS_WIRE_SIZE_SHIFT | (from + 2 * (i + k) + 1);
            words[3 * k + 2] = AS_WIRE_STORE | UINT64_C(1) << AS_WIRE_SIZE_SHIFT | (to + 2 * (i + k));
        }
        sink->iterations(stream, thread, &all);
        for (size_t at = as_access_words_iteration(&all, 0, &exec); at; at = as_access_words_iteration(&all, at, &exec))
            expect(want, thread, &exec);
        assert_int_equal(sink->clock(stream, thread), clock + piece);
    }
}

/* `threshold` 0: no sample. Returns how many accesses were passed on. */
static size_t check_iterations(const _Atomic uint64_t *threshold, size_t batch)
{
    struct record want = {0}, got = {.right = true};
    struct as_error err = AS_ERROR_INIT;
    struct bed bed;
    add_blocks(&bed);
    bed_block(&bed, REPEATS, "f3 66 a5");
    struct as_fanout *fanout =
        as_fanout_new(&(struct as_fanout_options){.kind = &as_access_buffers, .batch = batch, .inline_ = true});
    struct as_access_stream *stream = as_access_stream_new(fanout, NULL, NULL);
    struct as_thread thread = {.number = 1, .process = 1};
    if (threshold)
        as_access_stream_set_sample(stream, SHIFT, threshold);
    as_fanout_add(fanout, &seer, &got, false);
    assert_true(as_fanout_start(fanout, &err));
    as_access_stream_choose_sink(stream)->thread_start(stream, &thread);
    run_iterations(&bed, stream, &want, &thread);
    assert_int_equal(as_access_stream_executed(stream), 0); /* they belong to the first one */
    as_access_stream_finish(stream);
    size_t at = 0, touches = 0;
    for (size_t i = 0; i < want.all.len; i++) {
        const struct as_data_access *access = &want.all.data[i].access;
        touches += granule_of(access->address + access->size - 1) - granule_of(access->address) + 1;
        bool same = at < got.all.len && got.all.data[at].access.address == access->address &&
                    got.all.data[at].access.kind == access->kind && got.all.data[at].access.size == 2 &&
                    got.all.data[at].access.insn == access->insn;
        assert_true(same || (threshold && !is_sampled(access, *threshold)));
        at += same;
    }
    assert_true(got.right && at == got.all.len);
    assert_true(touches > want.all.len);
    if (threshold)
        assert_true(as_access_stream_seen(stream, 1).accesses == want.all.len &&
                    as_access_stream_seen(stream, 1).touches == touches);
    as_vec_free(&want.all);
    as_vec_free(&got.all);
    as_access_stream_free(stream);
    as_fanout_free(fanout);
    bed_free(&bed);
    return at;
}

static void iterations_together(void **state)
{
    static const _Atomic uint64_t threshold = UINT64_MAX / 16;
    static const size_t batches[] = {64, 1000, 100000}; /* small ones take them one by one */
    size_t all = check_iterations(NULL, 1000), sampled = check_iterations(&threshold, 1000);
    assert_true(sampled > 0 && sampled < all / 4);
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        assert_int_equal(check_iterations(NULL, batches[i]), all);
        assert_int_equal(check_iterations(&threshold, batches[i]), sampled);
    }
}

/* Nothing that touches a sampled granule is missing, little else is there, and all are counted. */
static void sampled_granules(void **state)
{
    static const _Atomic uint64_t threshold = UINT64_MAX / 16;
    struct record want = {0}, got = {.right = true};
    struct as_error err = AS_ERROR_INIT;
    struct bed bed;
    add_blocks(&bed);
    struct as_fanout *fanout =
        as_fanout_new(&(struct as_fanout_options){.kind = &as_access_buffers, .batch = 64, .inline_ = true});
    struct as_access_stream *stream = as_access_stream_new(fanout, NULL, NULL);
    struct as_thread thread = {.number = 1, .process = 1};
    as_access_stream_set_sample(stream, SHIFT, &threshold);
    as_fanout_add(fanout, &seer, &got, false);
    assert_true(as_fanout_start(fanout, &err));
    as_access_stream_choose_sink(stream)->thread_start(stream, &thread);
    run_apart(&bed, stream, &want, &thread);
    assert_int_equal(as_access_stream_executed(stream), EXECUTIONS * 3);
    as_access_stream_finish(stream);
    size_t at = 0, n_sampled = 0, touches = 0;
    for (size_t i = 0; i < want.all.len; i++) {
        const struct as_data_access *access = &want.all.data[i].access;
        touches += granule_of(access->address + access->size - 1) - granule_of(access->address) + 1;
        bool same = at < got.all.len && got.all.data[at].access.address == access->address;
        if (is_sampled(access, threshold)) {
            assert_true(same);
            n_sampled++;
        }
        at += same;
    }
    assert_true(got.right && at == got.all.len && n_sampled > EXECUTIONS / 32 && got.all.len < EXECUTIONS / 4);
    enum { RETURNS = EXECUTIONS / 2 }; /* of every second block: the code says that they load, whatever was passed on */
    assert_int_equal(as_access_stream_seen(stream, 0).accesses, EXECUTIONS + RETURNS);
    assert_int_equal(as_access_stream_seen(stream, 1).touches, touches + RETURNS);
    as_access_stream_choose_sink(stream)->thread_end(stream, &thread); /* what it did stays */
    assert_int_equal(as_access_stream_seen(stream, 0).accesses, EXECUTIONS + RETURNS);
    assert_int_equal(as_access_stream_seen(stream, 1).touches, touches + RETURNS);
    assert_int_equal(as_access_stream_seen(stream, 2).touches, 0);
    as_vec_free(&want.all);
    as_vec_free(&got.all);
    as_access_stream_free(stream);
    as_fanout_free(fanout);
    bed_free(&bed);
}

/* ---- threads that end, and causal order ---- */

struct ordered {
    struct bed bed;
    struct as_fanout *fanout;
    struct as_access_stream *stream;
    struct record got;
};

static void begin_ordered(struct ordered *ordered, uint32_t quantum)
{
    struct as_error err = AS_ERROR_INIT;
    *ordered = (struct ordered){.got.right = true};
    add_blocks(&ordered->bed);
    ordered->fanout =
        as_fanout_new(&(struct as_fanout_options){.kind = &as_access_buffers, .batch = 64, .inline_ = true});
    ordered->stream = as_access_stream_new(ordered->fanout, NULL, NULL);
    if (quantum)
        as_access_stream_keep_order(ordered->stream, quantum);
    as_fanout_add(ordered->fanout, &seer, &ordered->got, false);
    assert_true(as_fanout_start(ordered->fanout, &err));
}

static void end_ordered(struct ordered *ordered)
{
    as_vec_free(&ordered->got.all);
    as_vec_free(&ordered->got.ended);
    as_access_stream_free(ordered->stream);
    as_fanout_free(ordered->fanout);
    bed_free(&ordered->bed);
}

static void touch(struct ordered *ordered, struct as_thread *thread, uint32_t id, uint64_t address)
{
    const struct as_block *block = as_code_table_block(&ordered->bed.code, id);
    uint64_t registers[AS_LINEAR_REGISTERS] = {0}, word = (uint64_t)(id == STORES ? 2 : 1) << 62 |
                                                          UINT64_C(3) << AS_WIRE_SIZE_SHIFT |
                                                          (uint64_t)(id == STORES) << AS_WIRE_INDEX_SHIFT | address;
    struct as_block_exec exec = {.block = block, .end = block->n, .words = &word, .n_words = 1, .registers = registers};
    as_access_stream_choose_sink(ordered->stream)->block(ordered->stream, thread, &exec);
}

static uint64_t clock_of(const struct ordered *ordered, const struct as_thread *thread)
{
    return as_access_stream_choose_sink(ordered->stream)->clock(ordered->stream, thread);
}

/* Observers are told with the next batch; a thread that begins again with another program has not ended. */
static void ended_threads(void **state)
{
    struct ordered ordered;
    struct as_thread threads[4];
    const struct as_sink *sink = &as_access_stream_sink;
    begin_ordered(&ordered, 0);
    for (uint32_t i = 0; i < 4; i++) {
        threads[i] = (struct as_thread){.number = i + 1, .process = 1};
        sink->thread_start(ordered.stream, &threads[i]);
    }
    for (uint32_t i = 0; i < 3; i++)
        sink->thread_end(ordered.stream, &threads[i]);
    sink->thread_start(ordered.stream, &threads[1]);
    touch(&ordered, &threads[3], STORES, 0x1000);
    touch(&ordered, &threads[3], STORES, 0x2000);
    assert_int_equal(as_access_stream_executed(ordered.stream), 6);
    sink->thread_end(ordered.stream, &threads[3]);
    assert_int_equal(as_access_stream_executed(ordered.stream), 6);
    as_access_stream_finish(ordered.stream);
    assert_true(ordered.got.right);
    assert_int_equal(ordered.got.ended.len, 3);
    assert_true(ordered.got.ended.data[0] == 1 && ordered.got.ended.data[1] == 3 && ordered.got.ended.data[2] == 4);
    end_ordered(&ordered);
}

/* A load that decides and sees another thread's store comes behind it by one and a half quanta; what decides nothing, or
 * sees a store of its own, stays where it is. */
static void what_is_seen_comes_behind(void **state)
{
    enum { QUANTUM = 10, APART = 15 };
    struct ordered ordered;
    struct as_image image = {.arch = AS_ARCH_X86_64};
    struct as_thread a = {.number = 1, .process = 1, .image = &image}, b = {.number = 2, .process = 1, .image = &image};
    const struct as_sink *sink = &as_access_stream_sink;
    begin_ordered(&ordered, QUANTUM);
    sink->thread_start(ordered.stream, &a);
    sink->thread_start(ordered.stream, &b);
    touch(&ordered, &b, DECIDES, 0x9000);
    for (int i = 0; i < 100; i++)
        touch(&ordered, &a, STORES, 0x1000 + 8 * (uint64_t)i);
    assert_true(clock_of(&ordered, &a) == 303 && clock_of(&ordered, &b) == 3); /* a began where b was */
    touch(&ordered, &b, DECIDES, 0x9000);                                      /* nobody wrote it */
    touch(&ordered, &b, STORES, 0x1000);                                       /* it writes */
    touch(&ordered, &b, DECIDES, 0x1000);                                      /* its own */
    assert_int_equal(clock_of(&ordered, &b), 12);
    touch(&ordered, &b, DECIDES, 0x1008);
    assert_int_equal(clock_of(&ordered, &b), 303 + APART + 3);
    touch(&ordered, &b, DECIDES, 0x1010); /* which is behind it already */
    assert_int_equal(clock_of(&ordered, &b), 303 + APART + 6);
    touch(&ordered, &a, STORES, 0x1008); /* a thread waits for this one: it is known when it was written */
    touch(&ordered, &a, STORES, 0x1100);
    for (int i = 0; i < 100; i++)
        touch(&ordered, &a, STORES, 0x2000);
    assert_int_equal(clock_of(&ordered, &a), 609);
    touch(&ordered, &b, DECIDES, 0x1008);
    assert_int_equal(clock_of(&ordered, &b), 303 + APART + 9);
    touch(&ordered, &b, DECIDES, 0x2000);
    assert_int_equal(clock_of(&ordered, &b), 609 + APART + 3);
    as_access_stream_finish(ordered.stream);
    assert_true(ordered.got.right);
    end_ordered(&ordered);
}

static uint64_t clock_of_last(const struct ordered *ordered, const struct as_thread *thread)
{
    return ordered->got.clocks[thread->number]; /* the end of its last turn that was seen */
}

/* Looks of a thread that looks again and again stay before the store that it waits for, also those that are told behind it; the last one comes behind
 * it. What it looked more than the others executed is no time. */
static void looks_in_vain_come_before(void **state)
{
    enum { QUANTUM = 10, APART = 15, FLAG = 0x1000, ELSEWHERE = 0x2000 };
    struct ordered ordered;
    struct as_image image = {.arch = AS_ARCH_X86_64};
    struct as_thread a = {.number = 1, .process = 1, .image = &image}, b = {.number = 2, .process = 1, .image = &image};
    const struct as_sink *sink = &as_access_stream_sink;
    begin_ordered(&ordered, QUANTUM);
    ordered.got.looks = true;
    sink->thread_start(ordered.stream, &a);
    sink->thread_start(ordered.stream, &b);
    touch(&ordered, &b, STORES, ELSEWHERE);
    touch(&ordered, &a, STORES, FLAG); /* its own: it has given the turn to b */
    for (int i = 0; i < 1000; i++)
        touch(&ordered, &a, DECIDES, FLAG);
    assert_true(clock_of(&ordered, &b) == 3 && clock_of(&ordered, &a) == 6 + 3);
    for (int i = 0; i < 9; i++)
        touch(&ordered, &b, STORES, ELSEWHERE);
    touch(&ordered, &a, DECIDES, FLAG);
    touch(&ordered, &a, DECIDES, FLAG);
    assert_int_equal(clock_of(&ordered, &a), 9 + 3 + 3); /* up to where b is the looks take their time */
    touch(&ordered, &b, STORES, FLAG);
    assert_int_equal(clock_of(&ordered, &b), 33);
    for (int i = 0; i < 1000; i++) /* as the host executed them while the store was in its block */
        touch(&ordered, &a, DECIDES, FLAG);
    assert_true(clock_of(&ordered, &a) <= 33 - 1);
    touch(&ordered, &a, STORES, ELSEWHERE); /* the look before was the last one */
    assert_int_equal(clock_of(&ordered, &a), 33 + APART + 3 + 3);
    assert_int_equal(as_access_stream_executed(ordered.stream), 33 + 3 + 3 * 2002 + 3);
    as_access_stream_finish(ordered.stream);
    assert_true(ordered.got.right);
    assert_int_equal(ordered.got.all.len, 11 + 1 + 2002 + 1);
    assert_int_equal(clock_of_last(&ordered, &a), 33 + APART + 3 + 3);
    end_ordered(&ordered);
}

/* A compare-and-swap that fails again and again does not look in vain, although it stores nothing: the word was another one each time. */
static void failing_changes_take_their_time(void **state)
{
    enum { QUANTUM = 10, APART = 15, WORD = 0x1000, TIMES = 20 };
    struct ordered ordered;
    struct as_image image = {.arch = AS_ARCH_X86_64};
    struct as_thread a = {.number = 1, .process = 1, .image = &image}, b = {.number = 2, .process = 1, .image = &image};
    const struct as_sink *sink = &as_access_stream_sink;
    begin_ordered(&ordered, QUANTUM);
    sink->thread_start(ordered.stream, &a);
    sink->thread_start(ordered.stream, &b);
    touch(&ordered, &b, STORES, WORD);
    for (uint64_t i = 1; i <= TIMES; i++) {
        touch(&ordered, &a, FAILS, WORD);
        assert_int_equal(clock_of(&ordered, &a), 3 + APART + 2 * i); /* behind the store, and on */
    }
    as_access_stream_finish(ordered.stream);
    assert_true(ordered.got.right);
    assert_int_equal(ordered.got.all.len, 1 + TIMES);
    end_ordered(&ordered);
}

/* A loop that ends by itself took the time that it took, though it looks at a word again and again; the end of a thread, a system call and that of the run
 * end it, too. */
static void looks_without_a_store(void **state)
{
    enum { ROUNDS = 50, READ = 0 };
    static const uint64_t args[6];
    struct ordered ordered;
    struct as_image image = {.arch = AS_ARCH_X86_64};
    struct as_thread threads[4];
    const struct as_sink *sink = &as_access_stream_sink;
    begin_ordered(&ordered, 10);
    ordered.got.looks = true;
    for (uint32_t t = 0; t < 4; t++) {
        threads[t] = (struct as_thread){.number = t + 1, .process = 1, .image = &image};
        sink->thread_start(ordered.stream, &threads[t]);
        touch(&ordered, &threads[t], STORES, 0x8000);
    }
    for (uint32_t t = 1; t < 4; t++)
        for (int i = 0; i < ROUNDS; i++)
            touch(&ordered, &threads[t], DECIDES, 0x1000 * t);
    for (uint32_t t = 1; t < 4; t++)
        assert_int_equal(clock_of(&ordered, &threads[t]), 3 + 3 + 3); /* behind the first, which may have been all */
    touch(&ordered, &threads[1], STORES, 0x8000);
    assert_int_equal(clock_of(&ordered, &threads[1]), 6 + 3 * ROUNDS + 3);
    sink->syscall(ordered.stream, &threads[2], READ, args);
    assert_int_equal(clock_of(&ordered, &threads[2]), 6 + 3 * ROUNDS);
    as_access_stream_finish(ordered.stream);
    assert_int_equal(ordered.got.all.len, 5 + 3 * ROUNDS);
    assert_true(ordered.got.right);
    end_ordered(&ordered);
}

/* A thread begins when it was made, whether its maker has returned by then or not. */
static void threads_begin_with_their_maker(void **state)
{
    enum { CLONE = 56, READ = 0 };
    static const uint64_t args[6];
    struct ordered ordered;
    struct as_image image = {.arch = AS_ARCH_X86_64};
    struct as_thread a = {.number = 1, .process = 1, .tid = 70, .image = &image},
                     early = {.number = 2, .process = 1, .tid = 71, .creator = 1, .image = &image},
                     late = {.number = 3, .process = 1, .tid = 72, .creator = 1, .image = &image},
                     other = {.number = 4, .process = 2, .tid = 72, .image = &image};
    const struct as_sink *sink = &as_access_stream_sink;
    begin_ordered(&ordered, 10);
    sink->thread_start(ordered.stream, &a);
    touch(&ordered, &a, STORES, 0x1000);
    sink->syscall(ordered.stream, &a, CLONE, args);
    sink->thread_start(ordered.stream, &early);
    assert_int_equal(clock_of(&ordered, &early), 3);
    sink->syscall_return(ordered.stream, &a, CLONE, 71);
    touch(&ordered, &a, STORES, 0x1000);
    sink->syscall(ordered.stream, &a, CLONE, args);
    sink->syscall_return(ordered.stream, &a, CLONE, 72);
    for (int i = 0; i < 5; i++)
        touch(&ordered, &a, STORES, 0x1000);
    sink->syscall(ordered.stream, &a, READ, args);
    sink->syscall_return(ordered.stream, &a, READ, 72); /* makes none */
    sink->thread_start(ordered.stream, &late);
    assert_int_equal(clock_of(&ordered, &late), 6);
    sink->thread_start(ordered.stream, &other); /* by whom is not known: where the slowest running one is */
    assert_int_equal(clock_of(&ordered, &other), 3);
    as_access_stream_finish(ordered.stream);
    end_ordered(&ordered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_accesses),
        cmocka_unit_test(clocks_of_threads),
        cmocka_unit_test(clocks_are_those_of_the_plugin),
        cmocka_unit_test(sampled_granules),
        cmocka_unit_test(iterations_together),
        cmocka_unit_test(ended_threads),
        cmocka_unit_test(what_is_seen_comes_behind),
        cmocka_unit_test(looks_in_vain_come_before),
        cmocka_unit_test(failing_changes_take_their_time),
        cmocka_unit_test(looks_without_a_store),
        cmocka_unit_test(threads_begin_with_their_maker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
