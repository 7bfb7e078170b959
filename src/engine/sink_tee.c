/* See sink_tee.h. A thread's `user` is an array here, by sink; a sink sees its own element while it is called. */
#include "engine/sink_tee.h"

#include "base/vec.h"
#include "engine/access_words.h"

struct branch {
    const struct as_sink *sink;
    void (*block)(void *context, struct as_thread *thread, const struct as_block_exec *exec); /* the sink's */
    void *context;
    size_t user; /* its place among the branches */
};

struct as_sink_tee {
    AS_VEC(struct branch) branches;
    AS_VEC(struct branch) lookers; /* those that look at executions */
    struct as_sink sink;
    enum as_mode mode;     /* of what comes now: sinks that do not want it are not given it */
    AS_VEC(void **) users; /* of threads that run: freed at the end if the run broke off */
};

struct as_sink_tee *as_sink_tee_new(void)
{
    struct as_sink_tee *tee = as_alloc(sizeof *tee);
    tee->mode = AS_MODE_DETAIL;
    return tee;
}

void as_sink_tee_add(struct as_sink_tee *tee, const struct as_sink *sink, void *context)
{
    *as_vec_push(&tee->branches) =
        (struct branch){.sink = sink, .block = sink->block, .context = context, .user = tee->branches.len - 1};
    if (sink->block)
        *as_vec_push(&tee->lookers) = tee->branches.data[tee->branches.len - 1];
}

void as_sink_tee_free(struct as_sink_tee *tee)
{
    if (!tee)
        return;
    for (size_t i = 0; i < tee->users.len; i++)
        free(tee->users.data[i]);
    as_vec_free(&tee->users);
    as_vec_free(&tee->branches);
    as_vec_free(&tee->lookers);
    free(tee);
}

/* Whether a sink is given what is executed now. */
static inline bool wants(const struct as_sink_tee *tee, const struct as_sink *sink)
{
    return tee->mode == AS_MODE_DETAIL || (tee->mode != AS_MODE_COUNT && sink->unmeasured);
}

/* Calls one function of every sink that has it, and wants it now: `when` may ask about `branch`. A macro, since each has parameters of its own. */
#define TELL_ALL(tee, thread, when, function, ...)                                                                     \
    do {                                                                                                               \
        void **users = (thread)->user;                                                                                 \
        for (size_t i = 0; i < (tee)->branches.len; i++) {                                                             \
            const struct branch *branch = &(tee)->branches.data[i];                                                    \
            if (!branch->sink->function || !(when))                                                                    \
                continue;                                                                                              \
            (thread)->user = users[i];                                                                                 \
            branch->sink->function(branch->context, thread __VA_OPT__(, ) __VA_ARGS__);                                \
            users[i] = (thread)->user;                                                                                 \
        }                                                                                                              \
        (thread)->user = users;                                                                                        \
    } while (0)

static void on_thread_start(void *context, struct as_thread *thread)
{
    struct as_sink_tee *tee = context;
    thread->user = *as_vec_push(&tee->users) = as_alloc_array(tee->branches.len, sizeof(void *));
    TELL_ALL(tee, thread, true, thread_start);
}

static void on_thread_end(void *context, struct as_thread *thread)
{
    struct as_sink_tee *tee = context;
    TELL_ALL(tee, thread, true, thread_end);
    for (size_t i = 0; i < tee->users.len; i++)
        if (tee->users.data[i] == thread->user) {
            tee->users.data[i] = tee->users.data[--tee->users.len];
            break;
        }
    free(thread->user);
    thread->user = NULL;
}

static inline __attribute__((always_inline)) void tell_block(const struct branch *branch, void **users,
                                                             struct as_thread *thread, const struct as_block_exec *exec)
{
    thread->user = users[branch->user];
    branch->block(branch->context, thread, exec);
    users[branch->user] = thread->user;
}

/* Called for every block. The calls of the first few sinks stand one behind the other, not in a loop: a processor foresees
 * where an indirect call goes by where it stands. */
static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    const struct as_sink_tee *tee = context;
    if (__builtin_expect(tee->mode != AS_MODE_DETAIL, 0)) {
        TELL_ALL(tee, thread, wants(tee, branch->sink), block, exec);
        return;
    }
    const struct branch *lookers = tee->lookers.data;
    void **users = thread->user;
    size_t n = tee->lookers.len;
    if (n > 0)
        tell_block(&lookers[0], users, thread, exec);
    if (n > 1)
        tell_block(&lookers[1], users, thread, exec);
    if (n > 2)
        tell_block(&lookers[2], users, thread, exec);
    for (size_t i = 3; i < n; i++)
        tell_block(&lookers[i], users, thread, exec);
    thread->user = users;
}

static void on_tally(void *context, struct as_thread *thread, const struct as_block *block,
                     const struct as_tally *tally)
{
    struct as_sink_tee *tee = context;
    TELL_ALL(tee, thread, true, tally, block, tally);
}

static void on_words(void *context, struct as_thread *thread, const struct as_exec_words *words)
{
    struct as_sink_tee *tee = context;
    TELL_ALL(tee, thread, wants(tee, branch->sink), words, words);
}

static void tell_singly(const struct branch *branch, struct as_thread *thread, const struct as_exec_words *words)
{
    struct as_block_exec exec;
    for (size_t at = as_access_words_iteration(words, 0, &exec); at; at = as_access_words_iteration(words, at, &exec))
        branch->block(branch->context, thread, &exec);
}

/* Sinks that want iterations one by one get them so. */
static void on_iterations(void *context, struct as_thread *thread, const struct as_exec_words *words)
{
    struct as_sink_tee *tee = context;
    void **users = thread->user;
    for (size_t i = 0; i < tee->lookers.len; i++) {
        const struct branch *branch = &tee->lookers.data[i];
        if (!wants(tee, branch->sink))
            continue;
        thread->user = users[branch->user];
        if (branch->sink->iterations)
            branch->sink->iterations(branch->context, thread, words);
        else
            tell_singly(branch, thread, words);
        users[branch->user] = thread->user;
    }
    thread->user = users;
}

static void on_skipped(void *context, struct as_thread *thread, const struct as_block *block, uint32_t first,
                       uint32_t end, uint64_t times)
{
    struct as_sink_tee *tee = context;
    TELL_ALL(tee, thread, true, skipped, block, first, end, times);
}

static void on_iterated(void *context, struct as_thread *thread, const struct as_insn *insn)
{
    struct as_sink_tee *tee = context;
    TELL_ALL(tee, thread, true, iterated, insn);
}

static void on_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    struct as_sink_tee *tee = context;
    TELL_ALL(tee, thread, wants(tee, branch->sink) || branch->sink->all_calls, syscall, number, args);
}

static void on_syscall_return(void *context, struct as_thread *thread, uint32_t number, int64_t result)
{
    struct as_sink_tee *tee = context;
    TELL_ALL(tee, thread, wants(tee, branch->sink) || branch->sink->all_calls, syscall_return, number, result);
}

static void on_signal(void *context, struct as_thread *thread, uint32_t number, uint64_t interrupted)
{
    struct as_sink_tee *tee = context;
    TELL_ALL(tee, thread, wants(tee, branch->sink) || branch->sink->passed, signal, number, interrupted);
}

static void on_signal_return(void *context, struct as_thread *thread)
{
    struct as_sink_tee *tee = context;
    TELL_ALL(tee, thread, wants(tee, branch->sink) || branch->sink->passed, signal_return);
}

static void on_mapping(void *context, struct as_thread *thread, const struct as_mapping *mapping)
{
    struct as_sink_tee *tee = context;
    TELL_ALL(tee, thread, true, mapping, mapping);
}

static void on_stretch(void *context, const struct as_stretch *stretch)
{
    struct as_sink_tee *tee = context;
    tee->mode = stretch->mode;
    for (size_t i = 0; i < tee->branches.len; i++)
        if (tee->branches.data[i].sink->stretch)
            tee->branches.data[i].sink->stretch(tee->branches.data[i].context, stretch);
}

static void on_cut(void *context, struct as_thread *thread, const struct as_block *from, uint64_t next)
{
    struct as_sink_tee *tee = context;
    TELL_ALL(tee, thread, true, cut, from, next);
}

static void on_passed(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct as_sink_tee *tee = context;
    TELL_ALL(tee, thread, true, passed, exec);
}

static void on_trail(void *context, struct as_thread *thread, const struct as_trail *trail)
{
    struct as_sink_tee *tee = context;
    TELL_ALL(tee, thread, true, trail, trail);
}

static void on_gap_end(void *context)
{
    struct as_sink_tee *tee = context;
    for (size_t i = 0; i < tee->branches.len; i++)
        if (tee->branches.data[i].sink->gap_end)
            tee->branches.data[i].sink->gap_end(tee->branches.data[i].context);
}

/* The first sink that has clocks, of which there is at least one where this is asked. `own` becomes the thread as that sink knows it. */
static size_t find_timed(const struct as_sink_tee *tee, const struct as_thread *thread, struct as_thread *own)
{
    size_t i = 0;
    while (!tee->branches.data[i].sink->clock)
        i++;
    *own = *thread;
    own->user = ((void **)thread->user)[i];
    return i;
}

static uint64_t clock_of(void *context, const struct as_thread *thread)
{
    const struct as_sink_tee *tee = context;
    struct as_thread own;
    size_t i = find_timed(tee, thread, &own);
    return tee->branches.data[i].sink->clock(tee->branches.data[i].context, &own);
}

static uint64_t turn_of(void *context, const struct as_thread *thread)
{
    const struct as_sink_tee *tee = context;
    struct as_thread own;
    size_t i = find_timed(tee, thread, &own);
    const struct as_sink *sink = tee->branches.data[i].sink;
    return (sink->turn ? sink->turn : sink->clock)(tee->branches.data[i].context, &own);
}

static bool shares(void *context)
{
    const struct as_sink_tee *tee = context;
    for (size_t i = 0; i < tee->branches.len; i++)
        if (tee->branches.data[i].sink->shares && tee->branches.data[i].sink->shares(tee->branches.data[i].context))
            return true;
    return false;
}

static void on_round(void *context, bool exactly)
{
    const struct as_sink_tee *tee = context;
    for (size_t i = 0; i < tee->branches.len; i++)
        if (tee->branches.data[i].sink->round)
            tee->branches.data[i].sink->round(tee->branches.data[i].context, exactly);
}

static void on_show(void *context, struct as_thread *thread, uint32_t mark)
{
    struct as_sink_tee *tee = context;
    TELL_ALL(tee, thread, true, show, mark);
}

static void on_await(void *context, struct as_thread *thread, uint32_t mark, uint64_t word, bool atomic)
{
    struct as_sink_tee *tee = context;
    TELL_ALL(tee, thread, true, await, mark, word, atomic);
}

static void on_foresee(void *context, struct as_thread *thread, const struct as_mapping *mapping)
{
    struct as_sink_tee *tee = context;
    TELL_ALL(tee, thread, true, foresee, mapping);
}

static const struct as_shared_ranges *shared_of(void *context, const struct as_thread *thread)
{
    const struct as_sink_tee *tee = context;
    size_t i = 0;
    while (!tee->branches.data[i].sink->shared)
        i++;
    return tee->branches.data[i].sink->shared(tee->branches.data[i].context, thread);
}

const struct as_sink *as_sink_tee_sink(struct as_sink_tee *tee, void **context)
{
    if (tee->branches.len == 1) {
        *context = tee->branches.data[0].context;
        return tee->branches.data[0].sink;
    }
    *context = tee;
    bool tallies = true, clock = false, unmeasured = false, jumps = false, skipped = false, calls = false;
    bool recorded = true, words = false, passed = false, trails = true, awaits = false, cut = false, shared = false;
    bool iterations = false;
    for (size_t i = 0; i < tee->branches.len; i++) {
        const struct as_sink *sink = tee->branches.data[i].sink;
        tallies &= sink->tally || sink->words || !sink->block;
        recorded &= (sink->tally && sink->recorded_tallies) || sink->words || !sink->block;
        words |= sink->words != NULL;
        iterations |= sink->iterations != NULL;
        clock |= tee->branches.data[i].sink->clock != NULL;
        unmeasured |= tee->branches.data[i].sink->unmeasured;
        jumps |= tee->branches.data[i].sink->jumps;
        skipped |= tee->branches.data[i].sink->skipped != NULL;
        passed |= sink->passed != NULL;
        trails &= !sink->passed || sink->trail;
        calls |= tee->branches.data[i].sink->all_calls;
        awaits |= sink->await != NULL;
        cut |= sink->cut != NULL;
        shared |= sink->shared != NULL;
    }
    tee->sink = (struct as_sink){
        .thread_start = on_thread_start,
        .thread_end = on_thread_end,
        .block = on_block,
        .tally = tallies && !skipped ? on_tally : NULL,
        .recorded_tallies = recorded && !skipped,
        .words = recorded && words && !skipped ? on_words : NULL,
        .iterations = iterations ? on_iterations : NULL,
        .skipped = skipped ? on_skipped : NULL,
        .iterated = skipped ? on_iterated : NULL,
        .syscall = on_syscall,
        .syscall_return = on_syscall_return,
        .signal = on_signal,
        .signal_return = on_signal_return,
        .mapping = on_mapping,
        .stretch = on_stretch,
        .cut = cut ? on_cut : NULL,
        .passed = passed ? on_passed : NULL,
        .trail = passed && trails ? on_trail : NULL,
        .gap_end = on_gap_end,
        .jumps = jumps,
        .unmeasured = unmeasured,
        .all_calls = calls,
        .clock = clock ? clock_of : NULL,
        .turn = clock ? turn_of : NULL,
        .shares = clock ? shares : NULL,
        .round = clock ? on_round : NULL,
        .show = awaits ? on_show : NULL,
        .await = awaits ? on_await : NULL,
        .shared = shared ? shared_of : NULL,
        .foresee = shared ? on_foresee : NULL,
    };
    return &tee->sink;
}
