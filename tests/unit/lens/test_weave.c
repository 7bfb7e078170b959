/* The weave: coarse turns go in, finely interleaved accesses come out, each once and in its thread's order. */
#include "unit.h"

#include "base/vec.h"
#include "lens/weave.h"

enum { THREADS = 3, EACH = 4000, TURN = 500 };

struct out {
    AS_VEC(uint32_t) threads; /* of each access */
    uint64_t next[THREADS + 1];
    uint32_t ended[THREADS + 1];
    uint64_t spans;
    bool right;
};

/* Accesses are numbered by their addresses. */
static void take(void *context, const struct as_weave_span *span)
{
    struct out *out = context;
    out->spans++;
    out->right &= span->n > 0 && span->process == 7 && span->image == span->thread && !out->ended[span->thread];
    for (size_t i = 0; i < span->n; i++) {
        out->right &= span->accesses[i].address == out->next[span->thread]++;
        *as_vec_push(&out->threads) = span->thread;
    }
}

static void take_end(void *context, uint32_t thread)
{
    ((struct out *)context)->ended[thread]++;
}

static const struct as_weave_ops ops = {.span = take, .thread_end = take_end};

/* One turn of a thread: n accesses from `first` on, between two clocks. */
static void give(struct as_weave *weave, uint32_t thread, uint64_t first, size_t n, uint64_t clock, uint64_t end)
{
    struct as_data_access accesses[TURN];
    struct as_access_turn turn = {.thread = thread, .process = 7, .end = (uint32_t)n};
    struct as_access_time time = {.clock = clock, .end = end, .image = thread};
    for (size_t i = 0; i < n; i++)
        accesses[i] = (struct as_data_access){.address = first + i, .size = 8, .kind = AS_ACCESS_STORE};
    struct as_access_batch batch = {
        .size = sizeof batch, .n = n, .n_turns = 1, .accesses = accesses, .turns = &turn, .times = &time};
    as_weave_batch(weave, &batch);
}

static void end(struct as_weave *weave, uint32_t thread)
{
    struct as_access_batch batch = {.size = sizeof batch, .n_ended = 1, .ended = &thread};
    as_weave_batch(weave, &batch);
}

static size_t count_switches(const struct out *out)
{
    size_t n = 0;
    for (size_t i = 1; i < out->threads.len; i++)
        n += out->threads.data[i] != out->threads.data[i - 1];
    return n;
}

/* Three threads that access memory with every fourth instruction, in turns of 500 accesses. With a quantum of 4 instructions
 * they take it in turns after each access. */
static void interleaves(void **state)
{
    struct out out = {.right = true};
    struct as_weave *weave = as_weave_new(4, &ops, &out);
    for (uint64_t at = 0; at < EACH; at += TURN)
        for (uint32_t thread = 1; thread <= THREADS; thread++)
            give(weave, thread, at, TURN, 4 * at, 4 * (at + TURN));
    as_weave_finish(weave);
    assert_true(out.right);
    assert_int_equal(out.threads.len, THREADS * EACH);
    for (uint32_t thread = 1; thread <= THREADS; thread++)
        assert_int_equal(out.next[thread], EACH);
    /* now and then in another order, in which the thread that was last can be the first */
    assert_in_range(count_switches(&out), THREADS * EACH - 1 - EACH / 32, THREADS * EACH - 1);
    as_weave_free(weave);
    as_vec_free(&out.threads);
}

/* Threads that work alike do not follow each other in one order for ever. */
static void follows_everybody(void **state)
{
    struct out out = {.right = true};
    struct as_weave *weave = as_weave_new(4, &ops, &out);
    size_t pairs[THREADS + 1][THREADS + 1] = {0};
    for (uint64_t at = 0; at < EACH; at += TURN)
        for (uint32_t thread = 1; thread <= THREADS; thread++)
            give(weave, thread, at, TURN, 4 * at, 4 * (at + TURN));
    as_weave_finish(weave);
    for (size_t i = 1; i < out.threads.len; i++)
        pairs[out.threads.data[i - 1]][out.threads.data[i]]++;
    for (uint32_t a = 1; a <= THREADS; a++)
        for (uint32_t b = 1; b <= THREADS; b++)
            assert_true(a == b || pairs[a][b] * THREADS * THREADS * 2 > out.threads.len);
    as_weave_free(weave);
    as_vec_free(&out.threads);
}

/* A thread that is far behind does not hold the others up; what it did late comes when it is there. */
static void waits_only_so_long(void **state)
{
    struct out out = {.right = true};
    struct as_weave *weave = as_weave_new(8, &ops, &out);
    give(weave, 1, 0, TURN, 0, 2000);
    give(weave, 1, TURN, TURN, 100000, 102000);
    assert_int_equal(out.next[1], TURN);
    assert_int_equal(as_weave_late(weave), 0);
    give(weave, 2, 0, TURN, 50, 2050);
    assert_int_equal(out.next[2], TURN);
    assert_int_equal(as_weave_late(weave), TURN);
    give(weave, 1, 2 * TURN, 1, 200000, 200001);
    assert_int_equal(out.next[1], 2 * TURN);
    as_weave_finish(weave);
    assert_int_equal(out.next[1], 2 * TURN + 1);
    assert_true(out.right);
    as_weave_free(weave);
    as_vec_free(&out.threads);
}

/* The end of a thread comes behind its last access, once. */
static void ends(void **state)
{
    struct out out = {.right = true};
    struct as_weave *weave = as_weave_new(0, &ops, &out);
    give(weave, 1, 0, 10, 0, 40);
    end(weave, 1);
    assert_int_equal(out.ended[1], 0);
    give(weave, 2, 0, 10, 200000, 200040);
    assert_int_equal(out.ended[1], 1);
    assert_int_equal(out.next[1], 10);
    as_weave_finish(weave);
    end(weave, 2);
    assert_true(out.ended[1] == 1 && out.ended[2] == 1 && out.right);
    as_weave_free(weave);
    as_vec_free(&out.threads);
}

/* One instruction that makes a million accesses: its clock stands still, and most come out nevertheless, in their order, before
 * anything is known of what comes behind. */
static void bounds_what_waits(void **state)
{
    enum { MANY = 2000 * TURN, WAITING = 1 << 18 };
    struct out out = {.right = true};
    struct as_weave *weave = as_weave_new(0, &ops, &out);
    give(weave, 2, 0, 10, 70000, 70010);
    for (uint64_t at = 0; at < MANY; at += TURN) {
        give(weave, 1, at, TURN, 70000, 70000);
        assert_true(out.next[1] + WAITING >= at + TURN);
    }
    assert_int_equal(out.next[1], MANY - WAITING / TURN * TURN);
    assert_int_equal(out.next[2], 0); /* its time has not come */
    as_weave_finish(weave);
    assert_true(out.right && out.next[1] == MANY && out.next[2] == 10);
    as_weave_free(weave);
    as_vec_free(&out.threads);
}

struct delayed {
    struct out out;
    struct as_weave *weave;
};

static void take_and_delay(void *context, const struct as_weave_span *span)
{
    struct delayed *delayed = context;
    if (span->thread == 1 && delayed->out.next[1] == 0)
        as_weave_delay(delayed->weave, 1, 1000);
    take(&delayed->out, span);
}

static const struct as_weave_ops delaying = {.span = take_and_delay};

/* Thread 1 stands still for 1,000 instructions at its first access: thread 2 then makes 250 accesses alone. */
static void delays(void **state)
{
    struct delayed delayed = {.out.right = true};
    delayed.weave = as_weave_new(8, &delaying, &delayed);
    give(delayed.weave, 1, 0, TURN, 0, 2000);
    give(delayed.weave, 2, 0, TURN, 0, 2000);
    as_weave_finish(delayed.weave);
    size_t alone = 0;
    for (size_t i = 2; i < delayed.out.threads.len && delayed.out.threads.data[i] == 2; i++)
        alone++;
    assert_in_range(alone, 245, 255);
    assert_int_equal(delayed.out.threads.len, 2 * TURN);
    as_weave_free(delayed.weave);
    as_vec_free(&delayed.out.threads);
}

/* Seven accesses, one each two and a half instructions from clock 1000 on, with borders at their places 0, 3 and 4. */
static void parts_between_borders(void **state)
{
    enum { BORDER = 77 };
    static const struct {
        size_t first, n;
        uint64_t clock;
    } parts[] = {{0, 0, 1000}, {1, 2, 1002}, {4, 0, 1010}, {5, 2, 1012}};
    struct as_data_access accesses[7] = {{0}};
    accesses[0].kind = accesses[3].kind = accesses[4].kind = BORDER;
    struct as_weave_span span = {.thread = 3, .n = 7, .accesses = accesses, .clock = 1000, .step = 5 << 15}, part;
    size_t at = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++, at++) {
        assert_true(as_weave_next_part(&span, BORDER, &at, &part));
        assert_true(part.thread == 3 && part.accesses == accesses + parts[i].first && part.n == parts[i].n);
        assert_int_equal(part.clock, parts[i].clock);
        assert_int_equal(at, parts[i].first + parts[i].n);
    }
    assert_false(as_weave_next_part(&span, BORDER, &at, &part));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interleaves),
        cmocka_unit_test(follows_everybody),
        cmocka_unit_test(waits_only_so_long),
        cmocka_unit_test(ends),
        cmocka_unit_test(delays),
        cmocka_unit_test(bounds_what_waits),
        cmocka_unit_test(parts_between_borders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
