/* Every function of a sink behind a tee: which sinks hear of it in which kind of stretch, and with what. Sinks write what they are told. */
#include "unit.h"

#include "base/str.h"
#include "engine/sink_tee.h"

struct witness {
    struct as_str text;
    void *own; /* what its threads' user must be */
    uint64_t time;
    bool shares;
    struct as_shared_ranges *ranges;
};

static struct as_str *heard(void *context, const struct as_thread *thread)
{
    struct witness *witness = context;
    if (thread)
        assert_ptr_equal(thread->user, witness->own);
    as_str_add(&witness->text, witness->text.len ? "; " : "");
    return &witness->text;
}

static void thread_start(void *context, struct as_thread *thread)
{
    as_str_add(heard(context, thread), "start");
    thread->user = ((struct witness *)context)->own = context;
}
static void thread_end(void *context, struct as_thread *thread)
{
    as_str_add(heard(context, thread), "end");
}
static void block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    as_str_addf(heard(context, thread), "block %u", exec->end);
}
static void tally(void *context, struct as_thread *thread, const struct as_block *of, const struct as_tally *sum)
{
    as_str_addf(heard(context, thread), "tally %u %u", of->n, (unsigned)sum->runs);
}
static void words(void *context, struct as_thread *thread, const struct as_exec_words *all)
{
    as_str_addf(heard(context, thread), "words %zu", all->n);
}
static void skipped(void *context, struct as_thread *thread, const struct as_block *of, uint32_t first, uint32_t end,
                    uint64_t times)
{
    as_str_addf(heard(context, thread), "skipped %u %u-%u %u", of->n, first, end, (unsigned)times);
}
static void iterated(void *context, struct as_thread *thread, const struct as_insn *insn)
{
    as_str_addf(heard(context, thread), "iterated %u", insn->id);
}
static void system_call(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    as_str_addf(heard(context, thread), "call %u %u", number, (unsigned)args[5]);
}
static void system_return(void *context, struct as_thread *thread, uint32_t number, int64_t result)
{
    as_str_addf(heard(context, thread), "return %u %d", number, (int)result);
}
static void signalled(void *context, struct as_thread *thread, uint32_t number, uint64_t interrupted)
{
    as_str_addf(heard(context, thread), "signal %u %u", number, (unsigned)interrupted);
}
static void signal_return(void *context, struct as_thread *thread)
{
    as_str_add(heard(context, thread), "back");
}
static void mapping(void *context, struct as_thread *thread, const struct as_mapping *map)
{
    as_str_addf(heard(context, thread), "mapping %s", map->name);
}
static void stretch(void *context, const struct as_stretch *of)
{
    as_str_addf(heard(context, NULL), "stretch %u", of->region);
}
static void cut(void *context, struct as_thread *thread, const struct as_block *from, uint64_t next)
{
    as_str_addf(heard(context, thread), "cut %u %u", from->n, (unsigned)next);
}
static void passed(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    as_str_addf(heard(context, thread), "passed %u", exec->end);
}
static void trail(void *context, struct as_thread *thread, const struct as_trail *near)
{
    as_str_addf(heard(context, thread), "trail %zu", near->n);
}
static void gap_end(void *context)
{
    as_str_add(heard(context, NULL), "gap");
}
static void round_begins(void *context, bool exactly)
{
    as_str_add(heard(context, NULL), exactly ? "exact round" : "round");
}
static void show(void *context, struct as_thread *thread, uint32_t mark)
{
    as_str_addf(heard(context, thread), "show %u", mark);
}
static void await(void *context, struct as_thread *thread, uint32_t mark, uint64_t word, bool atomic)
{
    as_str_addf(heard(context, thread), "await %u %u %d", mark, (unsigned)word, atomic);
}
static void foresee(void *context, struct as_thread *thread, const struct as_mapping *map)
{
    as_str_addf(heard(context, thread), "foresee %s", map->name);
}
static uint64_t time_of(void *context, const struct as_thread *thread)
{
    struct witness *witness = context;
    assert_ptr_equal(thread->user, witness->own);
    return witness->time;
}
static uint64_t turn_of(void *context, const struct as_thread *thread)
{
    return time_of(context, thread) + 100;
}
static bool shares(void *context)
{
    return ((struct witness *)context)->shares;
}
static const struct as_shared_ranges *ranges_of(void *context, const struct as_thread *thread)
{
    return ((struct witness *)context)->ranges;
}

/* Of executions that are recorded as words. */
static const struct as_sink of_words = {.thread_start = thread_start,
                                        .thread_end = thread_end,
                                        .block = block,
                                        .tally = tally,
                                        .words = words,
                                        .syscall = system_call,
                                        .syscall_return = system_return,
                                        .signal = signalled,
                                        .signal_return = signal_return,
                                        .mapping = mapping,
                                        .stretch = stretch,
                                        .cut = cut,
                                        .gap_end = gap_end,
                                        .recorded_tallies = true,
                                        .clock = time_of,
                                        .turn = turn_of,
                                        .shares = shares,
                                        .round = round_begins,
                                        .show = show,
                                        .await = await,
                                        .shared = ranges_of,
                                        .foresee = foresee};

static void tell_all(const struct as_sink *sink, void *context, struct as_thread *thread)
{
    const struct as_block some = {.n = 4};
    const uint64_t args[6] = {0, 0, 0, 0, 0, 9};
    const struct as_mapping map = {.name = "file"};
    const struct as_insn insn = {.id = 77};
    sink->block(context, thread, &(struct as_block_exec){.end = 3});
    if (sink->tally)
        sink->tally(context, thread, &some, &(struct as_tally){.runs = 2});
    if (sink->words)
        sink->words(context, thread, &(struct as_exec_words){.n = 6});
    if (sink->skipped) {
        sink->skipped(context, thread, &some, 1, 2, 30);
        sink->iterated(context, thread, &insn);
    }
    sink->syscall(context, thread, 5, args);
    sink->syscall_return(context, thread, 7, -4);
    sink->signal(context, thread, 11, 12);
    sink->signal_return(context, thread);
    sink->mapping(context, thread, &map);
    if (sink->cut)
        sink->cut(context, thread, &some, 13);
    if (sink->passed)
        sink->passed(context, thread, &(struct as_block_exec){.end = 8});
    if (sink->trail)
        sink->trail(context, thread, &(struct as_trail){.n = 14});
    sink->gap_end(context);
    if (sink->show) {
        sink->show(context, thread, 15);
        sink->await(context, thread, 16, 17, true);
    }
    if (sink->foresee)
        sink->foresee(context, thread, &map);
}

/* The witnesses' texts, which are empty again afterwards. */
static void expect(struct witness *witnesses, size_t n, const char *const *want)
{
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(as_str_get(&witnesses[i].text), want[i]);
        as_str_clear(&witnesses[i].text);
    }
}

static struct as_sink_tee *tee_of(const struct as_sink *sinks, struct witness *witnesses, size_t n)
{
    struct as_sink_tee *tee = as_sink_tee_new();
    for (size_t i = 0; i < n; i++)
        as_sink_tee_add(tee, &sinks[i], &witnesses[i]);
    return tee;
}

static void clear(struct witness *witnesses, size_t n)
{
    for (size_t i = 0; i < n; i++)
        as_str_free(&witnesses[i].text);
}

#define CALLS "call 5 9; return 7 -4"
#define SIGNALS "signal 11 12; back"
#define ALWAYS "mapping file; cut 4 13; gap; show 15; await 16 17 1; foresee file"

static void words_in_each_stretch(void **state)
{
    enum { SINKS = 4 };
    static const enum as_mode modes[] = {AS_MODE_DETAIL, AS_MODE_SETTLE, AS_MODE_WARM, AS_MODE_COUNT};
    static const char *const all = "block 3; tally 4 2; words 6; " CALLS "; " SIGNALS "; " ALWAYS;
    struct as_sink sinks[SINKS] = {of_words, of_words, of_words, of_words};
    struct witness witnesses[SINKS] = {0};
    struct as_thread thread = {.number = 1};
    void *context;
    sinks[1].unmeasured = true;
    sinks[2].all_calls = true;
    sinks[3].unmeasured = sinks[3].all_calls = true;
    struct as_sink_tee *tee = tee_of(sinks, witnesses, SINKS);
    const struct as_sink *sink = as_sink_tee_sink(tee, &context);
    assert_true(sink->unmeasured && sink->all_calls && sink->recorded_tallies && !sink->jumps);
    sink->thread_start(context, &thread);
    expect(witnesses, SINKS, (const char *const[]){"start", "start", "start", "start"});
    tell_all(sink, context, &thread);
    expect(witnesses, SINKS, (const char *const[]){all, all, all, all});
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        bool unmeasured = modes[i] == AS_MODE_SETTLE || modes[i] == AS_MODE_WARM, counts = modes[i] == AS_MODE_COUNT;
        static const char *const none = "tally 4 2; " ALWAYS, *const calls = "tally 4 2; " CALLS "; " ALWAYS;
        sink->stretch(context, &(struct as_stretch){.mode = modes[i], .region = 40});
        expect(witnesses, SINKS, (const char *const[]){"stretch 40", "stretch 40", "stretch 40", "stretch 40"});
        tell_all(sink, context, &thread);
        expect(witnesses, SINKS,
               (const char *const[]){unmeasured || counts ? none : all, counts ? none : all,
                                     unmeasured || counts ? calls : all, counts ? calls : all});
    }
    sink->thread_end(context, &thread);
    expect(witnesses, SINKS, (const char *const[]){"end", "end", "end", "end"});
    clear(witnesses, SINKS);
    as_sink_tee_free(tee);
}

/* Of sinks that look at what passes a sieve, in stretches that are only counted. */
static void what_passes_in_each_stretch(void **state)
{
    enum { SINKS = 3 };
    struct as_sink sinks[SINKS] = {of_words, of_words, of_words};
    struct witness witnesses[SINKS] = {0};
    struct as_thread thread = {.number = 1};
    void *context;
    for (size_t i = 0; i < SINKS; i++) {
        sinks[i].tally = NULL;
        sinks[i].words = NULL;
        sinks[i].skipped = i < 2 ? skipped : NULL;
        sinks[i].iterated = i < 2 ? iterated : NULL;
        sinks[i].passed = i != 1 ? passed : NULL;
        sinks[i].trail = i != 1 ? trail : NULL;
    }
    struct as_sink_tee *tee = tee_of(sinks, witnesses, SINKS);
    const struct as_sink *sink = as_sink_tee_sink(tee, &context);
    assert_true(!sink->tally && !sink->recorded_tallies && !sink->words && sink->trail);
    sink->thread_start(context, &thread);
    expect(witnesses, SINKS, (const char *const[]){"start", "start", "start"});
    sink->stretch(context, &(struct as_stretch){.mode = AS_MODE_COUNT, .region = 1});
    expect(witnesses, SINKS, (const char *const[]){"stretch 1", "stretch 1", "stretch 1"});
    tell_all(sink, context, &thread);
    expect(witnesses, SINKS,
           (const char *const[]){
               "skipped 4 1-2 30; iterated 77; " SIGNALS "; mapping file; cut 4 13; passed 8; trail 14; gap; "
               "show 15; await 16 17 1; foresee file",
               "skipped 4 1-2 30; iterated 77; " ALWAYS,
               SIGNALS "; mapping file; cut 4 13; passed 8; trail 14; gap; show 15; await 16 17 1; foresee file"});
    sink->thread_end(context, &thread);
    clear(witnesses, SINKS);
    as_sink_tee_free(tee);
    sinks[2].trail = NULL; /* wants all that is near one by one */
    tee = tee_of(sinks, witnesses, SINKS);
    sink = as_sink_tee_sink(tee, &context);
    assert_true(sink->passed && !sink->trail);
    as_sink_tee_free(tee);
}

/* Clocks are the first sink's that has them, sharing is any sink's, and rounds are told to all. */
static void clocks_and_sharing(void **state)
{
    enum { SINKS = 3 };
    struct as_sink sinks[SINKS] = {{.thread_start = thread_start, .block = block}, of_words, of_words};
    struct witness witnesses[SINKS] = {{.time = 1}, {.time = 22}, {.time = 333}};
    struct as_thread thread = {.number = 1};
    void *context;
    for (size_t without_turn = 0; without_turn < 2; without_turn++) {
        sinks[1].turn = without_turn ? NULL : turn_of;
        struct as_sink_tee *tee = tee_of(sinks, witnesses, SINKS);
        const struct as_sink *sink = as_sink_tee_sink(tee, &context);
        for (size_t i = 0; i < SINKS; i++)
            witnesses[i].own = NULL;
        sink->thread_start(context, &thread);
        expect(witnesses, SINKS, (const char *const[]){"start", "start", "start"});
        assert_int_equal(sink->clock(context, &thread), 22);
        assert_int_equal(sink->turn(context, &thread), without_turn ? 22 : 122);
        sink->round(context, false);
        sink->round(context, true);
        expect(witnesses, SINKS, (const char *const[]){"", "round; exact round", "round; exact round"});
        for (unsigned set = 0; set < 8; set++) {
            for (size_t i = 0; i < SINKS; i++)
                witnesses[i].shares = set >> i & 1;
            assert_int_equal(sink->shares(context), set >> 1 != 0); /* the first sink has no such function */
        }
        witnesses[1].ranges = (struct as_shared_ranges *)&witnesses[1];
        assert_ptr_equal(sink->shared(context, &thread), &witnesses[1]);
        sink->thread_end(context, &thread);
        as_sink_tee_free(tee);
        for (size_t i = 0; i < SINKS; i++)
            as_str_clear(&witnesses[i].text);
    }
    clear(witnesses, SINKS);
}

/* One sink that can or wants something, the other does not: what the tee can do, for each function and flag by itself. */
static void what_one_of_two_can(void **state)
{
    const struct as_sink bare = {.block = block};
    struct as_sink sinks[2] = {bare, bare};
    struct witness witnesses[2] = {0};
    void *context;
    for (size_t i = 0; i < 2; i++)
        for (size_t what = 0; what < 8; what++) {
            sinks[0] = sinks[1] = bare;
            sinks[i].cut = what == 0 ? cut : NULL;
            sinks[i].await = what == 1 ? await : NULL;
            sinks[i].shared = what == 2 ? ranges_of : NULL;
            sinks[i].passed = what == 3 ? passed : NULL;
            sinks[i].skipped = what == 4 ? skipped : NULL;
            sinks[i].clock = what == 5 ? time_of : NULL;
            sinks[i].tally = what == 6 ? tally : NULL;
            sinks[i].words = what == 7 ? words : NULL;
            struct as_sink_tee *tee = tee_of(sinks, witnesses, 2);
            const struct as_sink *sink = as_sink_tee_sink(tee, &context);
            assert_int_equal(sink->cut != NULL, what == 0);
            assert_int_equal(sink->show != NULL, what == 1);
            assert_int_equal(sink->await != NULL, what == 1);
            assert_int_equal(sink->shared != NULL, what == 2);
            assert_int_equal(sink->foresee != NULL, what == 2);
            assert_int_equal(sink->passed != NULL, what == 3);
            assert_int_equal(sink->skipped != NULL, what == 4);
            assert_int_equal(sink->iterated != NULL, what == 4);
            assert_int_equal(sink->clock != NULL, what == 5);
            assert_int_equal(sink->turn != NULL, what == 5);
            assert_int_equal(sink->shares != NULL, what == 5);
            assert_int_equal(sink->round != NULL, what == 5);
            assert_true(!sink->tally && !sink->words && !sink->trail && !sink->recorded_tallies);
            as_sink_tee_free(tee);
        }
}

/* Threads that end in another order than they began: each has its own elements to the end. */
static void threads_that_end_in_any_order(void **state)
{
    struct as_sink sinks[2] = {of_words, of_words};
    struct witness witnesses[2] = {0};
    struct as_thread threads[3] = {{.number = 1}, {.number = 2}, {.number = 3}};
    static const size_t ends[] = {1, 0};
    void *context;
    struct as_sink_tee *tee = tee_of(sinks, witnesses, 2);
    const struct as_sink *sink = as_sink_tee_sink(tee, &context);
    for (size_t i = 0; i < 3; i++) {
        witnesses[0].own = witnesses[1].own = NULL;
        sink->thread_start(context, &threads[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        sink->thread_end(context, &threads[ends[i]]);
        assert_null(threads[ends[i]].user);
    }
    sink->cut(context, &threads[2], &(struct as_block){.n = 4}, 13); /* its end is not told */
    assert_string_equal(as_str_get(&witnesses[0].text), "start; start; start; end; end; cut 4 13");
    clear(witnesses, 2);
    as_sink_tee_free(tee);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_in_each_stretch),
        cmocka_unit_test(what_passes_in_each_stretch),
        cmocka_unit_test(clocks_and_sharing),
        cmocka_unit_test(what_one_of_two_can),
        cmocka_unit_test(threads_that_end_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
