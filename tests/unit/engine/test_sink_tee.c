/* The tee: every sink gets every call, with a `user` of its own; what all of them must be able to do, and what one is
 * enough for. */
#include "unit.h"

#include "engine/sink_tee.h"

#include <stdio.h>

/* Writes a letter for each call, and checks that `user` is what it left there. */
struct listener {
    char text[256];
    char name;
    void *own; /* what its thread's user must be */
};

static void note(struct listener *listener, struct as_thread *thread, char what)
{
    size_t n = strlen(listener->text);
    assert_ptr_equal(thread->user, listener->own);
    assert_true(n + 1 < sizeof listener->text);
    listener->text[n] = what;
}

static void hear_start(void *context, struct as_thread *thread)
{
    struct listener *listener = context;
    assert_null(thread->user);
    note(listener, thread, 'S');
    thread->user = listener->own = listener;
}

static void hear_end(void *context, struct as_thread *thread)
{
    note(context, thread, 'E');
}

static void hear_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    note(context, thread, (char)('0' + exec->end));
}

static void hear_tally(void *context, struct as_thread *thread, const struct as_block *block,
                       const struct as_tally *tally)
{
    note(context, thread, (char)('a' + tally->runs));
}

static void hear_syscall(void *context, struct as_thread *thread, uint32_t number, const uint64_t args[6])
{
    note(context, thread, (char)('A' + number + args[5]));
}

static void hear_return(void *context, struct as_thread *thread, uint32_t number, int64_t result)
{
    note(context, thread, (char)('A' + number - result));
}

static void hear_signal(void *context, struct as_thread *thread, uint32_t number, uint64_t interrupted)
{
    note(context, thread, '!');
}

static void hear_signal_return(void *context, struct as_thread *thread)
{
    note(context, thread, '.');
}

static void hear_cut(void *context, struct as_thread *thread, const struct as_block *from, uint64_t next)
{
    note(context, thread, (char)next);
}

static uint64_t time_of(void *context, const struct as_thread *thread)
{
    struct listener *listener = context;
    assert_ptr_equal(thread->user, listener->own);
    return (uint64_t)listener->name;
}

static uint64_t turn_of(void *context, const struct as_thread *thread)
{
    return time_of(context, thread) + 1;
}

static const struct as_sink everything = {.thread_start = hear_start,
                                          .thread_end = hear_end,
                                          .block = hear_block,
                                          .tally = hear_tally,
                                          .syscall = hear_syscall,
                                          .syscall_return = hear_return,
                                          .signal = hear_signal,
                                          .signal_return = hear_signal_return,
                                          .cut = hear_cut,
                                          .clock = time_of,
                                          .turn = turn_of};
static const struct as_sink blocks_alone = {.block = hear_block};
static const struct as_sink counts = {.block = hear_block, .tally = hear_tally};

static void tell(const struct as_sink *sink, void *context, struct as_thread *thread)
{
    const uint64_t args[6] = {0, 0, 0, 0, 0, 1};
    sink->thread_start(context, thread);
    sink->block(context, thread, &(struct as_block_exec){.end = 3});
    if (sink->tally)
        sink->tally(context, thread, NULL, &(struct as_tally){.runs = 2});
    sink->syscall(context, thread, 5, args);
    sink->syscall_return(context, thread, 7, -4);
    sink->signal(context, thread, 11, 0);
    sink->signal_return(context, thread);
    sink->block(context, thread, &(struct as_block_exec){.end = 4});
}

static void everyone_is_told(void **state)
{
    struct listener a = {.name = 'a'}, b = {.name = 'b'}, c = {.name = 'c'};
    struct as_sink_tee *tee = as_sink_tee_new();
    void *context;
    as_sink_tee_add(tee, &counts, &a);
    as_sink_tee_add(tee, &everything, &b);
    as_sink_tee_add(tee, &everything, &c);
    const struct as_sink *sink = as_sink_tee_sink(tee, &context);
    struct as_thread first = {.number = 1}, second = {.number = 2};
    tell(sink, context, &first);
    assert_non_null(first.user);
    assert_string_equal(a.text, "3c4");
    assert_string_equal(b.text, "S3cGL!.4");
    assert_string_equal(c.text, b.text);
    assert_int_equal(sink->clock(context, &first), 'b');
    assert_int_equal(sink->turn(context, &first), 'b' + 1);
    sink->cut(context, &first, NULL, '|');
    sink->thread_end(context, &first);
    assert_null(first.user);
    b.own = c.own = NULL;
    tell(sink, context, &second); /* its end is never reported: nothing may leak */
    assert_string_equal(b.text, "S3cGL!.4|ES3cGL!.4");
    as_sink_tee_free(tee);
}

static void tallies_need_all_of_them(void **state)
{
    struct listener a = {.name = 'a'}, b = {.name = 'b'};
    struct as_sink_tee *tee = as_sink_tee_new();
    void *context;
    as_sink_tee_add(tee, &counts, &a);
    as_sink_tee_add(tee, &counts, &b);
    assert_non_null(as_sink_tee_sink(tee, &context)->tally);
    assert_null(as_sink_tee_sink(tee, &context)->clock);
    as_sink_tee_add(tee, &blocks_alone, &b);
    assert_null(as_sink_tee_sink(tee, &context)->tally);
    as_sink_tee_free(tee);
}

static void hear_words(void *context, struct as_thread *thread, const struct as_exec_words *words)
{
    note(context, thread, (char)('0' + words->n));
}

/* Words and tallies of recorded executions: each sink must take one of the two, and is given what it takes. */
static void words_need_all_of_them(void **state)
{
    static const struct as_sink recorded = {.block = hear_block, .tally = hear_tally, .recorded_tallies = true};
    static const struct as_sink worded = {.block = hear_block, .words = hear_words};
    struct listener a = {.name = 'a'}, b = {.name = 'b'};
    struct as_sink_tee *tee = as_sink_tee_new();
    struct as_thread thread = {.number = 1};
    void *context;
    as_sink_tee_add(tee, &recorded, &a);
    as_sink_tee_add(tee, &worded, &b);
    const struct as_sink *sink = as_sink_tee_sink(tee, &context);
    assert_true(sink->recorded_tallies);
    sink->thread_start(context, &thread);
    sink->words(context, &thread, &(struct as_exec_words){.n = 5});
    sink->tally(context, &thread, NULL, &(struct as_tally){.runs = 2});
    sink->thread_end(context, &thread);
    assert_string_equal(a.text, "c");
    assert_string_equal(b.text, "5");
    as_sink_tee_add(tee, &counts, &a); /* takes tallies, but not of recorded executions */
    sink = as_sink_tee_sink(tee, &context);
    assert_non_null(sink->tally);
    assert_false(sink->recorded_tallies);
    assert_null(sink->words);
    as_sink_tee_free(tee);
}

/* Iterations come together to a sink that takes them so, and one by one to others. */
static void iterations_come_to_all(void **state)
{
    static const struct as_sink together = {.block = hear_block, .iterations = hear_words};
    static const struct as_sink deaf = {.syscall = hear_syscall};
    const uint64_t access = UINT64_C(1) << 62, words[] = {0, access, 0, access, access, 0, access};
    struct as_block block = {.address = 0x1000, .n = 1};
    struct as_block *page[] = {&block}, **pages[] = {page};
    struct as_block_pages blocks = {.pages = pages, .len = 1};
    struct listener a = {.name = 'a'}, b = {.name = 'b'}, c = {.name = 'c'};
    struct as_sink_tee *tee = as_sink_tee_new();
    struct as_thread thread = {.number = 1};
    void *context;
    as_sink_tee_add(tee, &blocks_alone, &a);
    as_sink_tee_add(tee, &deaf, &c);
    assert_null(as_sink_tee_sink(tee, &context)->iterations);
    as_sink_tee_add(tee, &together, &b);
    const struct as_sink *sink = as_sink_tee_sink(tee, &context);
    sink->thread_start(context, &thread);
    sink->iterations(context, &thread,
                     &(struct as_exec_words){.words = words, .n = 7, .accesses = 4, .blocks = &blocks});
    sink->stretch(context, &(struct as_stretch){.mode = AS_MODE_COUNT});
    sink->iterations(context, &thread,
                     &(struct as_exec_words){.words = words, .n = 2, .accesses = 1, .blocks = &blocks});
    sink->thread_end(context, &thread);
    assert_string_equal(a.text, "111");
    assert_string_equal(b.text, "7");
    assert_string_equal(c.text, "");
    as_sink_tee_free(tee);
}

static void alone_it_is_passed_on(void **state)
{
    struct listener a = {.name = 'a'};
    struct as_sink_tee *tee = as_sink_tee_new();
    void *context;
    as_sink_tee_add(tee, &everything, &a);
    assert_ptr_equal(as_sink_tee_sink(tee, &context), &everything);
    assert_ptr_equal(context, &a);
    as_sink_tee_free(tee);
    as_sink_tee_free(NULL);
}

/* Where nothing is measured, only who asked for all system calls hears of one, and of nothing else. */
static void calls_outside_of_regions(void **state)
{
    const struct as_sink calls = {.thread_start = hear_start,
                                  .block = hear_block,
                                  .syscall = hear_syscall,
                                  .syscall_return = hear_return,
                                  .signal = hear_signal,
                                  .all_calls = true};
    struct listener a = {.name = 'a'}, b = {.name = 'b'};
    struct as_sink_tee *tee = as_sink_tee_new();
    void *context;
    as_sink_tee_add(tee, &everything, &a);
    as_sink_tee_add(tee, &calls, &b);
    const struct as_sink *sink = as_sink_tee_sink(tee, &context);
    struct as_thread thread = {.number = 1};
    assert_true(sink->all_calls);
    sink->stretch(context, &(struct as_stretch){.mode = AS_MODE_COUNT});
    tell(sink, context, &thread);
    assert_string_equal(a.text, "S");
    assert_string_equal(b.text, "SGL");
    as_sink_tee_free(tee);
}

/* … and of signals who follows calls there, by what passes a sieve. */
static void signals_outside_of_regions(void **state)
{
    struct as_sink follows = everything;
    follows.passed = hear_block;
    follows.tally = NULL;
    struct listener a = {.name = 'a'}, b = {.name = 'b'};
    struct as_sink_tee *tee = as_sink_tee_new();
    void *context;
    as_sink_tee_add(tee, &everything, &a);
    as_sink_tee_add(tee, &follows, &b);
    const struct as_sink *sink = as_sink_tee_sink(tee, &context);
    struct as_thread thread = {.number = 1};
    sink->stretch(context, &(struct as_stretch){.mode = AS_MODE_COUNT});
    tell(sink, context, &thread);
    assert_string_equal(a.text, "S");
    assert_string_equal(b.text, "S!.");
    as_sink_tee_free(tee);
}

/* A sink may look at calls alone: it is left out where executions are told, in each kind of stretch, and the others are not. */
static void without_blocks(void **state)
{
    const struct as_sink calls = {.thread_start = hear_start, .syscall = hear_syscall, .unmeasured = true};
    const struct as_sink all = {.thread_start = hear_start, .block = hear_block, .unmeasured = true};
    struct listener a = {.name = 'a'}, b = {.name = 'b'}, c = {.name = 'c'};
    struct as_sink_tee *tee = as_sink_tee_new();
    void *context;
    as_sink_tee_add(tee, &calls, &a);
    as_sink_tee_add(tee, &all, &b);
    as_sink_tee_add(tee, &calls, &c);
    const struct as_sink *sink = as_sink_tee_sink(tee, &context);
    struct as_thread thread = {.number = 1};
    tell(sink, context, &thread);
    sink->stretch(context, &(struct as_stretch){.mode = AS_MODE_WARM});
    sink->block(context, &thread, &(struct as_block_exec){.end = 5});
    assert_string_equal(a.text, "SG");
    assert_string_equal(b.text, "S345");
    assert_string_equal(c.text, "SG");
    as_sink_tee_free(tee);
}

/* What no sink asks for is not asked for, and what one sink needs, the tee has; what one lacks that all must have, it lacks. */
static void asks_for_what_its_sinks_do(void **state)
{
    const struct as_sink bare = {.block = hear_block};
    struct as_sink asking = bare;
    asking.jumps = asking.unmeasured = asking.all_calls = true;
    for (int asks = 0; asks < 2; asks++)
        for (int place = 0; place < 2; place++) {
            struct listener a = {.name = 'a'}, b = {.name = 'b'};
            struct as_sink_tee *tee = as_sink_tee_new();
            void *context;
            as_sink_tee_add(tee, asks && place == 0 ? &asking : &bare, &a);
            as_sink_tee_add(tee, asks && place == 1 ? &asking : &bare, &b);
            const struct as_sink *sink = as_sink_tee_sink(tee, &context);
            assert_ptr_equal(context, tee);
            assert_int_equal(sink->jumps, asks);
            assert_int_equal(sink->unmeasured, asks);
            assert_int_equal(sink->all_calls, asks);
            assert_true(sink->block && sink->stretch && sink->gap_end && sink->mapping);
            assert_false(sink->recorded_tallies);
            assert_true(!sink->tally && !sink->words && !sink->iterations && !sink->skipped && !sink->iterated);
            assert_true(!sink->cut && !sink->passed && !sink->trail && !sink->take);
            assert_true(!sink->clock && !sink->turn && !sink->shares && !sink->round);
            assert_true(!sink->show && !sink->await && !sink->shared && !sink->foresee);
            as_sink_tee_free(tee);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyone_is_told),           cmocka_unit_test(tallies_need_all_of_them),
        cmocka_unit_test(words_need_all_of_them),     cmocka_unit_test(iterations_come_to_all),
        cmocka_unit_test(alone_it_is_passed_on),      cmocka_unit_test(calls_outside_of_regions),
        cmocka_unit_test(asks_for_what_its_sinks_do), cmocka_unit_test(without_blocks),
        cmocka_unit_test(signals_outside_of_regions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
