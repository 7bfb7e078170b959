/* See access_stream.h. This runs on the engine's thread for every block, so it does only what cannot be done
 * elsewhere. */
#include "model/access_stream.h"

#include "engine/brief_calls.h"
#include "engine/word_clocks.h"
#include "model/access_buffer.h"
#include "model/access_clocks.h"
#include "model/access_sample.h"
#include "model/spin_look.h"

struct access_thread {
    struct as_access_clock time;
    uint32_t tree;
    struct as_access_sum seen;             /* of a sample: all accesses */
    uint64_t called;                       /* clock at its last system call */
    uint64_t node;                         /* node of the call path last reported to observers; UINT64_MAX: none yet */
    const struct as_shared_ranges *shared; /* of its process */
    struct as_thread self;                 /* as it began, for what is given out behind the run */
    struct as_spin_look look;              /* its last one */
    bool looks;                            /* it has looked again, and that look has not been given out: */
    uint64_t look_behind;                  /* … what it comes behind, if it is the last of many: see `earliest` */
    uint64_t look_clock, look_node;        /* … the clock before it, and its call path */
};

struct as_access_stream {
    struct as_fanout *fanout;
    const struct as_engine *engine;
    FILE *(*open)(void *context, const char *path);
    void *open_context;
    struct as_run_info info;
    AS_VEC(struct as_access_codes *) codes; /* by block index; NULL: not executed yet */
    struct as_access_clocks clocks;         /* of access_thread.time */
    struct as_call_tracker *calls;          /* NULL: calls are not followed */
    struct as_shared_memory *shared;        /* NULL: addresses stay as they are … */
    struct as_moved_memory *moved;          /* … unless this is not */
    uint64_t executed;                      /* instructions of threads that have ended */
    AS_VEC(uint32_t) ended;                 /* threads that ended since the last batch */
    struct as_map births;                   /* by process and tid: the clock at which the thread was made */

    struct as_access_sample sample;
    AS_VEC(struct as_access_sum) seen; /* by thread number: of threads that have ended */

    struct as_access_buffer *buffer;
    size_t batch;                    /* its capacity in words */
    const struct as_thread *current; /* the thread whose turn it is; NULL: none */
    const struct access_thread *own; /* of that thread: its `user` is another sink's while a tee tells that one */
    uint64_t turn_clock;             /* when its turn began */
    struct as_word_clocks *words;    /* NULL: the order of threads is by their clocks alone */
    uint64_t apart;                  /* clocks that what is seen comes behind what was written */
};

static const struct as_insn *insn_of(void *context, uint32_t id)
{
    const struct as_access_stream *stream = context;
    return stream->engine ? as_engine_insn(stream->engine, id) : NULL;
}

static const char *function_of(void *context, uint32_t id)
{
    const struct as_access_stream *stream = context;
    struct as_location location;
    if (!insn_of(context, id))
        return "";
    as_engine_locate(stream->engine, id, &location);
    return location.function ? location.function : "";
}

static size_t frames_of(void *context, uint32_t path, const char **names, size_t n)
{
    return 0; /* paths are known only in the core model */
}

static FILE *open_file(void *context, const char *path)
{
    const struct as_access_stream *stream = context;
    return stream->open ? stream->open(stream->open_context, path) : NULL;
}

struct as_access_stream *as_access_stream_new(struct as_fanout *fanout, FILE *(*open)(void *context, const char *path),
                                              void *open_context)
{
    struct as_access_stream *stream = as_alloc(sizeof *stream);
    stream->fanout = fanout;
    stream->batch = as_fanout_batch(fanout);
    stream->open = open;
    stream->open_context = open_context;
    stream->info = (struct as_run_info){.size = sizeof stream->info,
                                        .machine = "",
                                        .context = stream,
                                        .insn = insn_of,
                                        .function = function_of,
                                        .frames = frames_of,
                                        .open = open_file};
    return stream;
}

const struct as_run_info *as_access_stream_run_info(const struct as_access_stream *stream)
{
    return &stream->info;
}

void as_access_stream_set_engine(struct as_access_stream *stream, const struct as_engine *engine)
{
    stream->engine = engine;
}

/* ---- turns and batches ---- */

static void end_turn(struct as_access_stream *stream)
{
    if (stream->current)
        as_access_buffer_end_turn(stream->buffer, as_clock_now(&stream->own->time));
    stream->current = NULL;
}

static void publish(struct as_access_stream *stream)
{
    end_turn(stream);
    if (stream->buffer && stream->buffer->n_words) {
        for (size_t i = 0; i < stream->ended.len; i++)
            *as_vec_push(&stream->buffer->ended) = stream->ended.data[i];
        as_vec_clear(&stream->ended);
    }
    if (stream->buffer)
        as_access_buffer_publish(stream->fanout, stream->buffer);
    stream->buffer = NULL;
}

static void begin_turn(struct as_access_stream *stream, const struct as_thread *thread)
{
    const struct access_thread *own = thread->user;
    if (!stream->buffer)
        stream->buffer = as_access_buffer_take(stream->fanout);
    end_turn(stream);
    as_access_buffer_begin_turn(stream->buffer, thread, own->time.executed, as_clock_now(&own->time));
    stream->current = thread;
    stream->own = own;
    stream->turn_clock = as_clock_now(&own->time);
}

/* Makes sure that it is the thread's turn and that the buffer has room for n words. */
static inline void prepare(struct as_access_stream *stream, const struct as_thread *thread, size_t n)
{
    if (__builtin_expect(stream->buffer && stream->batch - stream->buffer->n_words < n, 0))
        publish(stream);
    if (__builtin_expect(stream->current != thread, 0))
        begin_turn(stream, thread);
}

/* ---- a block's accesses ---- */

static __attribute__((noinline)) const struct as_access_codes *make_codes(struct as_access_stream *stream,
                                                                          const struct as_block *block)
{
    while (stream->codes.len <= block->index)
        *as_vec_push(&stream->codes) = NULL;
    return stream->codes.data[block->index] = as_access_codes_new(block, NULL, 0);
}

/* For executions of a part of a block, blocks with prefetches, and more words than a batch holds. */
static __attribute__((noinline)) void add_slowly(struct as_access_stream *stream, const struct as_thread *thread,
                                                 const struct as_block_exec *exec)
{
    const struct access_thread *own = thread->user;
    struct as_access access;
    for (struct as_accesses all = as_accesses_of(exec); as_accesses_next(&all, &access);) {
        struct as_data_access made = as_access_convert(exec->block, &access);
        made.address = as_shared_physical(own->shared, made.address);
        prepare(stream, thread, 2);
        as_access_buffer_add_made(stream->buffer, &made);
    }
}

void as_access_stream_set_shared(struct as_access_stream *stream, struct as_shared_memory *shared)
{
    stream->shared = shared;
}

void as_access_stream_set_moved(struct as_access_stream *stream, struct as_moved_memory *moved)
{
    stream->moved = moved;
}

void as_access_stream_set_sample(struct as_access_stream *stream, uint32_t shift, const _Atomic uint64_t *threshold)
{
    stream->sample = (struct as_access_sample){.threshold = threshold, .shift = shift};
}

static void add_seen(struct as_access_sum *sum, const struct as_access_sum *seen)
{
    sum->accesses += seen->accesses;
    sum->touches += seen->touches;
}

struct as_access_sum as_access_stream_seen(const struct as_access_stream *stream, uint32_t thread)
{
    struct as_access_sum sum = {0};
    for (size_t i = 0; i < stream->seen.len; i++)
        if (!thread || i == thread)
            add_seen(&sum, &stream->seen.data[i]);
    for (size_t i = 0; i < stream->clocks.all.len; i++)
        if (!thread || stream->clocks.all.data[i]->number == thread)
            add_seen(&sum, &((const struct access_thread *)stream->clocks.all.data[i])->seen);
    return sum;
}

static void keep_seen(struct as_access_stream *stream, const struct as_thread *thread)
{
    const struct access_thread *own = thread->user;
    while (stream->seen.len <= thread->number)
        *as_vec_push(&stream->seen) = (struct as_access_sum){0};
    add_seen(&stream->seen.data[thread->number], &own->seen);
}

static __attribute__((noinline)) void tell_path(struct as_access_stream *stream, const struct as_thread *thread,
                                                uint64_t node)
{
    struct access_thread *own = thread->user;
    struct as_data_access record = {.address = node, .insn = own->tree, .kind = AS_ACCESS_PATH};
    own->node = node;
    prepare(stream, thread, 2);
    as_access_buffer_add_made(stream->buffer, &record);
}

static __attribute__((noinline)) void make_physical(const struct as_shared_ranges *shared, uint64_t *words, size_t n)
{
    const uint64_t mask = (UINT64_C(1) << AS_ACCESS_ADDRESS_BITS) - 1;
    for (size_t i = 0; i < n; i++)
        if (as_access_kind(words[i])) /* not the number of a block */
            words[i] = (words[i] & ~mask) | as_shared_physical(shared, words[i] & mask);
}

/* ---- what is seen comes behind what was written ---- */

void as_access_stream_keep_order(struct as_access_stream *stream, uint32_t quantum)
{
    /* Threads that are let go together should not be apart by just a quantum from the one that let them go: of two threads in
     * step, now one and now the other would come first. */
    stream->words = as_word_clocks_new();
    stream->apart = quantum + (quantum + 1) / 2;
}

/* The number of the 8-byte word that is accessed, among those of all processes. */
static uint64_t word_number(const struct as_thread *thread, uint64_t word)
{
    enum { PROCESS_SHIFT = 45 };
    const struct access_thread *own = thread->user;
    uint64_t address = word & ((UINT64_C(1) << AS_ACCESS_ADDRESS_BITS) - 1);
    uint64_t physical = as_shared_physical(own->shared, address);
    return as_shared_is(physical) ? physical >> 3 : physical >> 3 ^ (uint64_t)thread->process << PROCESS_SHIFT;
}

/* The clock behind which a store lies. The accesses of a turn are spread over it evenly, so a store is only known to lie before the
 * turn's end; for words that threads wait for, the turn ends with it. */
static uint64_t end_of_store(const struct as_access_stream *stream, const struct as_word_writer *writer)
{
    const struct as_access_clock *other = NULL;
    if (!writer->was_awaited)
        other = as_clocks_find(&stream->clocks, writer->thread);
    return other ? as_clock_now(other) : writer->clock;
}

/* The clock that the execution may not come before, because of what decided in it; 0: none. */
static uint64_t earliest(const struct as_access_stream *stream, const struct as_thread *thread,
                         const struct as_block_exec *exec)
{
    const int16_t *deciders = exec->block->deciders;
    uint64_t clock = 0;
    for (size_t i = 0; i < exec->n_words; i++) {
        int16_t index = (int16_t)as_access_index(exec->words[i]);
        struct as_word_writer writer;
        if ((index != deciders[0] && index != deciders[1]) ||
            !as_word_clocks_see(stream->words, word_number(thread, exec->words[i]), thread->number, &writer))
            continue;
        uint64_t end = end_of_store(stream, &writer) + stream->apart;
        clock = end > clock ? end : clock;
    }
    return clock;
}

/* Puts the execution behind what it saw: its turn begins no earlier. */
static void put_behind(struct as_access_stream *stream, const struct as_thread *thread, uint64_t clock)
{
    struct access_thread *own = thread->user;
    if (stream->current == thread && stream->turn_clock < clock)
        end_turn(stream);
    as_clock_put(&own->time, clock);
}

/* Returns whether a word was written that threads wait for. */
static bool note_stores(const struct as_access_stream *stream, const struct as_thread *thread,
                        const struct as_block_exec *exec)
{
    const struct access_thread *own = thread->user;
    uint64_t clock = as_clock_now(&own->time) + as_block_exec_count(exec);
    bool kept = false;
    for (size_t i = 0; i < exec->n_words; i++) {
        if (as_access_kind(exec->words[i]) & AS_ACCESS_STORE)
            kept |= as_word_clocks_write(stream->words, word_number(thread, exec->words[i]), thread->number, clock);
    }
    return kept;
}

/* Threads keep step by what the plugin counts (plugin/thread_step.h), so clocks have that too, otherwise they drift apart: each iteration of a
 * rep instruction, QEMU's last look at its counter, and instructions at the end of a block that were translated and not executed, as
 * the one that crosses into the next page. */
static void advance(struct access_thread *own, const struct as_block_exec *exec)
{
    const struct as_block *block = exec->block;
    bool iterates = exec->continues && exec->end == 1;
    bool begins = block->flags & AS_BLOCK_REP_LAST && exec->end == block->n && !iterates;
    own->time.executed += as_block_exec_count(exec);
    own->time.offset += exec->continues + begins + (block->n - exec->end);
}

static void add_block(struct as_access_stream *stream, struct as_thread *thread, const struct as_block_exec *exec)
{
    const struct as_block *block = exec->block;
    struct access_thread *own = thread->user;
    bool whole = exec->end - exec->first == block->n && !block->n_hints && exec->n_words <= stream->batch;
    if (__builtin_expect(!whole, 0)) {
        add_slowly(stream, thread, exec);
    } else if (exec->n_words) {
        const struct as_access_codes *codes =
            block->index < stream->codes.len ? stream->codes.data[block->index] : NULL;
        if (__builtin_expect(!codes, 0))
            codes = make_codes(stream, block);
        prepare(stream, thread, exec->n_words);
        as_access_buffer_add(stream->buffer, codes, exec->words, exec->n_words);
        if (__builtin_expect(own->shared->n, 0))
            make_physical(own->shared, stream->buffer->words + stream->buffer->n_words - exec->n_words, exec->n_words);
    }
    advance(own, exec);
}

/* The look was before the store that the thread waits for, and before all that others do from now on: one of them makes it. */
static void hold_back(const struct as_access_stream *stream, struct access_thread *own)
{
    uint64_t most = own->look_clock;
    if (own->look_behind <= most) {
        uint64_t others = as_clocks_of_others(&stream->clocks, &own->time);
        most = others > most + stream->apart ? others - stream->apart : most;
    }
    as_clock_put_back(&own->time, most);
}

static void give_block(struct as_access_stream *stream, struct as_thread *thread, const struct as_block_exec *exec,
                       uint64_t node)
{
    struct access_thread *own = thread->user;
    if (exec->n_words && node != own->node)
        tell_path(stream, thread, node);
    add_block(stream, thread, exec);
    if (own->looks) /* the look, or what the thread does between two looks without an access */
        hold_back(stream, own);
}

/* ---- threads that look until another one has written ---- */

/* A thread looks once more at what it looked at: whether it then goes on is known with its next access. */
static void keep_look(const struct as_access_stream *stream, const struct as_thread *thread, uint64_t node)
{
    struct access_thread *own = thread->user;
    struct as_block_exec exec = as_spin_look_exec(&own->look);
    own->looks = true;
    own->look_behind = earliest(stream, thread, &exec);
    own->look_clock = as_clock_now(&own->time);
    own->look_node = node;
}

/* The look that ends it comes behind the store that it saw; the time that has passed for all threads has passed for this one, too. If nobody
 * wrote, the thread was counting, and its looks took the time that they took. */
static uint64_t end_of_looks(const struct as_access_stream *stream, const struct access_thread *own)
{
    if (own->look_behind <= own->look_clock)
        return as_clock_now(&own->time) + own->time.debt;
    uint64_t passed = as_clocks_passed(&stream->clocks);
    return own->look_behind > passed ? own->look_behind : passed;
}

/* Gives out the look that was kept. `again`: the thread looks again, so it has seen nothing new. */
static void give_look(struct as_access_stream *stream, struct as_thread *thread, bool again)
{
    struct access_thread *own = thread->user;
    struct as_block_exec exec = as_spin_look_exec(&own->look);
    if (!again) {
        own->looks = false;
        put_behind(stream, thread, end_of_looks(stream, own));
    }
    give_block(stream, thread, &exec, own->look_node);
}

static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct as_access_stream *stream = context;
    struct access_thread *own = thread->user;
    if (!own->time.runs)
        as_clocks_go_on(&stream->clocks, &own->time);
    bool ordered = stream->words && stream->clocks.all.len > 1 && exec->n_words, waited_for = false;
    bool again = ordered && as_spin_look_is(&own->look, exec);
    if (own->looks && exec->n_words)
        give_look(stream, thread, again);
    if (ordered && !again)
        as_spin_look_note(&own->look, exec);
    if (ordered && !again && exec->block->deciders[0] >= 0)
        put_behind(stream, thread, earliest(stream, thread, exec));
    if (ordered && !again)
        waited_for = note_stores(stream, thread, exec);
    bool tracks = stream->calls && !(exec->continues && exec->end == 1); /* a rep instruction stays where it is */
    uint64_t node = tracks ? as_call_tracker_begin(stream->calls, thread, exec) : own->node;
    if (again)
        keep_look(stream, thread, node);
    else
        give_block(stream, thread, exec, node);
    if (tracks)
        as_call_tracker_end(stream->calls, thread, exec);
    if (waited_for && stream->current == thread)
        end_turn(stream);
}

/* More words than a batch holds. */
static __attribute__((noinline)) void add_words_slowly(struct as_access_stream *stream, struct as_thread *thread,
                                                       const struct as_exec_words *words)
{
    for (size_t at = 0; at < words->n;) {
        const struct as_block *block = as_block_pages_get(words->blocks, (uint32_t)words->words[at]);
        struct as_block_exec exec = {.block = block, .end = block->n, .words = words->words + at + 1};
        exec.n_words = as_access_words_count(words->words + at, words->n - at);
        add_block(stream, thread, &exec);
        at += 1 + exec.n_words;
    }
}

static void on_words(void *context, struct as_thread *thread, const struct as_exec_words *words)
{
    struct as_access_stream *stream = context;
    if (__builtin_expect(words->n > stream->batch, 0)) {
        add_words_slowly(stream, thread, words);
        return;
    }
    if (words->accesses) {
        prepare(stream, thread, words->n);
        as_access_buffer_add_words(stream->buffer, words);
    }
    ((struct access_thread *)thread->user)->time.executed += words->instructions;
}

/* ---- iterations of rep instructions ---- */

/* Of the block that the iterations are executions of. */
static const struct as_access_codes *codes_of(const struct as_exec_words *words)
{
    struct as_block *block = as_block_pages_get(words->blocks, (uint32_t)words->words[0]);
    if (!block->codes)
        block->codes = as_access_codes_new(block, words->words + 1, as_access_words_count(words->words, words->n));
    return block->codes;
}

static void add_iterations(struct as_access_stream *stream, const struct as_thread *thread,
                           const struct as_exec_words *words)
{
    const struct access_thread *own = thread->user;
    prepare(stream, thread, words->n);
    as_access_buffer_add_words(stream->buffer, words);
    if (__builtin_expect(own->shared->n, 0))
        make_physical(own->shared, stream->buffer->words + stream->buffer->n_words - words->n, words->n);
}

/* As on_block does with each of them. */
static void on_iterations(void *context, struct as_thread *thread, const struct as_exec_words *words)
{
    struct as_access_stream *stream = context;
    struct access_thread *own = thread->user;
    struct as_block_exec exec;
    bool ordered = stream->words && stream->clocks.all.len > 1;
    if (!ordered && !own->looks && own->time.runs && words->n <= stream->batch) {
        codes_of(words);
        add_iterations(stream, thread, words);
        own->time.offset += words->n - words->accesses; /* see `advance` */
        return;
    }
    for (size_t at = as_access_words_iteration(words, 0, &exec); at; at = as_access_words_iteration(words, at, &exec))
        on_block(stream, thread, &exec);
}

/* ---- a sample of the granules ---- */

/* An execution that is reported by itself. Its accesses are those that the engine passed on. */
static void on_sampled_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct as_access_stream *stream = context;
    struct access_thread *own = thread->user;
    if (!own->time.runs)
        as_clocks_go_on(&stream->clocks, &own->time);
    as_access_sample_count(&stream->sample, &own->seen, exec);
    if (as_access_sample_meets(&stream->sample, own->shared, exec->words, exec->n_words))
        add_block(stream, thread, exec);
    else
        advance(own, exec);
}

static void on_sampled_iterations(void *context, struct as_thread *thread, const struct as_exec_words *words)
{
    struct as_access_stream *stream = context;
    struct access_thread *own = thread->user;
    uint64_t kept[AS_WORDS_MOST];
    struct as_block_exec exec;
    bool plain = codes_of(words)->n_plain == as_access_words_count(words->words, words->n);
    if (plain && own->time.runs && words->n <= stream->batch) {
        struct as_exec_words sifted = *words;
        sifted.words = kept;
        sifted.n = as_access_sample_sift_iterations(&stream->sample, &own->seen, own->shared, words, kept);
        if (sifted.n)
            add_iterations(stream, thread, &sifted);
        own->time.offset += words->n - words->accesses;
        return;
    }
    for (size_t at = as_access_words_iteration(words, 0, &exec); at; at = as_access_words_iteration(words, at, &exec))
        on_sampled_block(stream, thread, &exec);
}

static void on_sampled_tally(void *context, struct as_thread *thread, const struct as_block *block,
                             const struct as_tally *tally)
{
    struct as_access_stream *stream = context;
    struct access_thread *own = thread->user;
    as_access_sample_count_runs(&stream->sample, &own->seen, block, tally->runs);
}

/* Of these executions the tallies tell, too. */
static void on_sampled_words(void *context, struct as_thread *thread, const struct as_exec_words *words)
{
    struct as_access_stream *stream = context;
    struct access_thread *own = thread->user;
    if (words->accesses) {
        as_access_sample_count_borders(&stream->sample, &own->seen, words);
        prepare(stream, thread, words->n);
        as_access_buffer_add_words(stream->buffer, words);
        if (__builtin_expect(own->shared->n, 0))
            make_physical(own->shared, stream->buffer->words + stream->buffer->n_words - words->n, words->n);
    }
    own->time.executed += words->instructions;
}

/* ---- threads and their clocks ---- */

static uint64_t clock_of(void *context, const struct as_thread *thread)
{
    const struct access_thread *own = thread->user;
    return as_clock_now(&own->time);
}

/* A thread that executes another program ends and starts again under the same number, so its end is taken back. */
static void forget_end(struct as_access_stream *stream, uint32_t number)
{
    size_t kept = 0;
    for (size_t i = 0; i < stream->ended.len; i++)
        if (stream->ended.data[i] != number)
            stream->ended.data[kept++] = stream->ended.data[i];
    stream->ended.len = kept;
}

static uint64_t birth_key(uint32_t process, int32_t tid)
{
    return (uint64_t)process << 32 | (uint32_t)tid;
}

/* A thread begins at the clock at which it was made, wherever the host let both run meanwhile. Returns false if that is not known. */
static bool begin_with_creator(struct as_access_stream *stream, struct access_thread *own,
                               const struct as_thread *thread)
{
    const uint64_t *birth = as_map_get(&stream->births, birth_key(thread->process, thread->tid));
    const struct access_thread *creator =
        thread->creator && !birth ? (const void *)as_clocks_find(&stream->clocks, thread->creator) : NULL;
    if (creator)
        birth = &creator->called; /* it has not returned yet */
    if (!thread->creator || !birth)
        return false;
    own->time.offset = *birth;
    own->time.runs = true;
    as_map_remove(&stream->births, birth_key(thread->process, thread->tid));
    return true;
}

static void on_thread_start(void *context, struct as_thread *thread)
{
    struct as_access_stream *stream = context;
    if (stream->shared)
        as_shared_memory_sink.thread_start(stream->shared, thread);
    forget_end(stream, thread->number);
    struct access_thread *own = as_alloc(sizeof *own);
    *as_vec_push(&stream->clocks.all) = &own->time;
    thread->user = own;
    own->time.number = thread->number;
    own->self = *thread;
    static const struct as_shared_ranges none;
    own->node = UINT64_MAX;
    own->shared = stream->shared  ? as_shared_memory_of(stream->shared, thread->process)
                  : stream->moved ? as_moved_memory_of(stream->moved, thread->process)
                                  : &none;
    if (stream->calls) {
        as_call_tracker_thread_start(stream->calls, thread);
        own->tree = (uint32_t)as_call_tracker_image_of(stream->calls, thread);
    }
    if (begin_with_creator(stream, own, thread))
        return;
    as_clocks_go_on(&stream->clocks, &own->time);
    own->time.runs = !stream->words; /* in causal order it is announced before it begins */
}

/* A look that was kept until the thread does something else: it does. */
static void end_looks(struct as_access_stream *stream, struct as_thread *thread)
{
    const struct access_thread *own = thread->user;
    if (own->looks)
        give_look(stream, thread, false);
}

static void on_thread_end(void *context, struct as_thread *thread)
{
    struct as_access_stream *stream = context;
    struct access_thread *own = thread->user;
    end_looks(stream, thread);
    if (stream->current == thread)
        end_turn(stream);
    *as_vec_push(&stream->ended) = thread->number;
    stream->executed += own->time.executed;
    keep_seen(stream, thread);
    if (stream->calls)
        as_call_tracker_thread_end(stream->calls, thread);
    as_clocks_stop(&stream->clocks, &own->time);
    as_clocks_remove(&stream->clocks, &own->time);
    free(own);
    thread->user = NULL;
}

/* The thread's clock may jump during a system call, so its next accesses are in another turn. */
static void on_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    struct as_access_stream *stream = context;
    end_looks(stream, thread);
    if (stream->current == thread)
        end_turn(stream);
    if (stream->calls)
        as_call_tracker_syscall(stream->calls, thread, number);
    struct access_thread *own = thread->user;
    own->called = as_clock_now(&own->time);
    if (!stream->words || !as_call_is_brief(thread->image->arch, number, args))
        as_clocks_stop(&stream->clocks, &own->time);
}

static void on_signal(void *context, struct as_thread *thread, uint32_t number, uint64_t interrupted)
{
    struct as_access_stream *stream = context;
    if (stream->calls)
        as_call_tracker_signal(stream->calls, thread, interrupted);
}

static void on_signal_return(void *context, struct as_thread *thread)
{
    struct as_access_stream *stream = context;
    if (stream->calls)
        as_call_tracker_signal_return(stream->calls, thread);
}

static void on_syscall_return(void *context, struct as_thread *thread, uint32_t number, int64_t result)
{
    struct as_access_stream *stream = context;
    struct access_thread *own = thread->user;
    if (stream->words && result > 0 && as_call_makes_thread(thread->image->arch, number))
        *as_map_put(&stream->births, birth_key(thread->process, (int32_t)result)) = own->called;
    if (!own->time.runs && stream->words && as_call_did_not_wait(thread->image->arch, number, result))
        own->time.runs = true;
    else if (!own->time.runs || !stream->words)
        as_clocks_go_on(&stream->clocks, &own->time);
}

static void on_mapping(void *context, struct as_thread *thread, const struct as_mapping *mapping)
{
    struct as_access_stream *stream = context;
    if (stream->shared)
        as_shared_memory_sink.mapping(stream->shared, thread, mapping);
}

#define FUNCTIONS                                                                                                      \
    .thread_start = on_thread_start, .thread_end = on_thread_end, .syscall = on_syscall,                               \
    .syscall_return = on_syscall_return, .signal = on_signal, .signal_return = on_signal_return, .clock = clock_of,    \
    .mapping = on_mapping

const struct as_sink as_access_stream_sink = {FUNCTIONS, .block = on_block, .iterations = on_iterations};
static const struct as_sink words_sink = {FUNCTIONS, .block = on_block, .words = on_words, .iterations = on_iterations};
static const struct as_sink sampled_sink = {FUNCTIONS, .block = on_sampled_block, .tally = on_sampled_tally,
                                            .words = on_sampled_words, .iterations = on_sampled_iterations};

const struct as_sink *as_access_stream_choose_sink(const struct as_access_stream *stream)
{
    if (stream->sample.threshold)
        return &sampled_sink;
    return stream->calls || stream->shared || stream->moved || stream->words ? &as_access_stream_sink : &words_sink;
}

void as_access_stream_follow_calls(struct as_access_stream *stream)
{
    stream->calls = as_call_tracker_new();
}

const struct as_call_tracker *as_access_stream_calls(const struct as_access_stream *stream)
{
    return stream->calls;
}

uint64_t as_access_stream_executed(const struct as_access_stream *stream)
{
    uint64_t sum = stream->executed;
    for (size_t i = 0; i < stream->clocks.all.len; i++)
        sum += stream->clocks.all.data[i]->executed;
    return sum;
}

void as_access_stream_finish(struct as_access_stream *stream)
{
    for (size_t i = 0; i < stream->clocks.all.len; i++)
        end_looks(stream, &((struct access_thread *)stream->clocks.all.data[i])->self);
    publish(stream);
    as_fanout_finish(stream->fanout);
}

void as_access_stream_free(struct as_access_stream *stream)
{
    if (!stream)
        return;
    if (stream->buffer)
        as_fanout_give_back(stream->fanout, (struct as_buffer *)stream->buffer);
    as_vec_free(&stream->sample.counts);
    as_vec_free(&stream->seen);
    for (size_t i = 0; i < stream->codes.len; i++)
        free(stream->codes.data[i]);
    for (size_t i = 0; i < stream->clocks.all.len; i++)
        free(stream->clocks.all.data[i]);
    as_vec_free(&stream->codes);
    as_vec_free(&stream->ended);
    as_map_free(&stream->births);
    as_call_tracker_free(stream->calls);
    as_word_clocks_free(stream->words);
    as_vec_free(&stream->clocks.all);
    free(stream);
}
