/* Uses and reuses ahead of a stopped process, whose walks are known: distances, invalidations by another thread, places on the
 * way, and what is out of reach. */
#include "native/tracer.h"
#include "reuse/reuse_ahead.h"
#include "traced.h"

#include <sys/user.h>

#ifdef __x86_64__
enum { N = 1000 };

static volatile uint64_t array[16 * N];

/* Loads alone, in assembly so that every build makes the same accesses. */
__attribute__((noinline)) static void walk(uint64_t n, uint64_t turns)
{
    for (uint64_t turn = 0; turn < turns; turn++) {
        volatile uint64_t *at = array, *end = array + n;
        __asm__ volatile("1: mov (%0), %%rax\n add $8, %0\n cmp %1, %0\n jne 1b\n" : "+r"(at) : "r"(end) : "rax", "cc");
    }
}

static void walks_short(void)
{
    walk(N, 1000000);
}

static void walks_long(void)
{
    walk(16 * N, 1000000);
}

static void stores_alone(void)
{
    __asm__ volatile("1: movq $1, (%0)\n jmp 1b\n" : : "r"(array));
}

/* A child that is in the middle of it, which a busy machine may not let it reach at once: in its loop, not in raise(). */
static pid_t start_child(void (*work)(void))
{
    struct user_regs_struct registers = {0};
    int status;
    pid_t pid = traced_start(NULL, work);
    do {
        ptrace(PTRACE_CONT, pid, 0, 0);
        usleep(20000);
        kill(pid, SIGSTOP);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(ptrace(PTRACE_GETREGS, pid, 0, &registers), 0);
    } while (registers.rip - (uintptr_t)walk + 4096 > 8192);
    return pid;
}

struct bed {
    pid_t pid;
    struct as_lookahead *ahead;
    struct as_lookahead_thread *threads[2];
    struct as_ahead_order order;
    struct as_ahead_result result;
};

struct moments {
    unsigned uses, ends;
    uint64_t insn, ip;
};

static void take_moment(void *context, bool is_use, size_t thread, uint64_t insn, const struct as_machine_state *before)
{
    struct moments *moments = context;
    moments->uses += is_use;
    moments->ends += !is_use;
    moments->insn = insn;
    moments->ip = before->ip;
}

static struct bed open_bed(void (*work)(void))
{
    struct bed bed = {.pid = start_child(work), .ahead = as_lookahead_new()};
    for (int i = 0; i < 2; i++)
        bed.threads[i] = aligned_alloc(64, sizeof **bed.threads);
    assert_true(as_tracer_registers(NULL, bed.pid, bed.threads[0]));
    bed.order = (struct as_ahead_order){.n = 1, .length = 8, .skip = 10, .bound = 32768};
    return bed;
}

static void look(struct bed *bed)
{
    bed->order.threads = bed->threads;
    as_lookahead_begin(bed->ahead, bed->pid);
    as_ahead_look(bed->ahead, &bed->order, &bed->result);
    as_lookahead_end(bed->ahead);
}

static void close_bed(struct bed *bed)
{
    traced_end(bed->pid);
    free(bed->threads[0]);
    free(bed->threads[1]);
    as_lookahead_free(bed->ahead);
}

static void counts_what_is_in_between(void **state)
{
    struct bed bed = open_bed(walks_short);
    struct moments moments = {0};
    bed.order.moment = take_moment;
    bed.order.context = &moments;
    look(&bed);
    assert_true(bed.result.has_use);
    assert_int_equal(moments.uses, 1);
    assert_int_equal(moments.ends, 1);
    assert_int_equal(moments.insn, bed.result.end_insn);
    assert_int_equal(moments.ip, bed.result.end_insn); /* the state is the one before it */
    assert_int_equal(bed.result.outcome, AS_REUSE_REUSE);
    assert_in_range(bed.result.distance, N - 1, N + 8); /* the loop around it may keep its variables in memory */
    assert_in_range(bed.result.use_address, (uintptr_t)array, (uintptr_t)(array + N));
    assert_int_equal(bed.result.use_insn, bed.result.end_insn);
    close_bed(&bed);
}

/* Several turns over the first part of the array, then on to the rest. */
static void walks_on(void)
{
    for (;;) {
        walk(N, 40);
        walk(16 * N, 1);
    }
}

static bool is_further_on(const struct as_ahead_result *result)
{
    return result->outcome == AS_REUSE_REUSE && result->distance < 2 * N &&
           result->last.index > result->use_index + 4 * N && result->last.address >= (uintptr_t)(array + N) &&
           result->last.address < (uintptr_t)(array + 16 * N);
}

/* Once it is decided, new places that lie many turns ahead. The walk may be anywhere at first, so it is looked at in a new process until
 * it is in the short turns, with some of them left: that is every second time. */
static void finds_places_further_on(void **state)
{
    bool found = false;
    for (int i = 0; i < 100 && !found; i++) {
        struct bed bed = open_bed(walks_on);
        bed.order.further = 64 * N;
        look(&bed);
        found = is_further_on(&bed.result);
        close_bed(&bed);
    }
    assert_true(found);
}

static void does_not_look_beyond_the_bound(void **state)
{
    struct bed bed = open_bed(walks_short);
    bed.order.bound = N / 2;
    look(&bed);
    assert_true(bed.result.has_use);
    assert_int_equal(bed.result.outcome, AS_REUSE_NONE);
    assert_int_equal(bed.result.accesses, 10 + N / 2 + 1);
    assert_int_equal(bed.result.use_index, 10);
    close_bed(&bed);
}

static void finds_nothing_between_caches_alone(void **state)
{
    struct bed bed = open_bed(walks_short);
    bed.order.in_cache = true; /* pairs of one core are the thread's */
    look(&bed);
    assert_int_equal(bed.result.outcome, AS_REUSE_NONE);
    close_bed(&bed);
}

/* Places that are new, in order, and one that is further on: on a walk, as far in bytes as in accesses. */
static void names_places_on_the_way(void **state)
{
    struct bed bed = open_bed(walks_long);
    bed.order.bound = 4 * N;
    for (int tries = 0; tries < 20; tries++) { /* unless the walk begins anew within it */
        look(&bed);
        if (bed.result.beyond.address && bed.result.last.address > bed.result.first.address)
            break;
        traced_end(bed.pid);
        bed.pid = start_child(walks_long);
        assert_true(as_tracer_registers(NULL, bed.pid, bed.threads[0]));
    }
    const struct as_ahead_result *result = &bed.result;
    assert_true(result->first.address && result->next.address && result->last.address && result->beyond.address);
    assert_int_equal(result->next.index, result->first.index + 1);
    assert_int_equal(result->last.address - result->first.address, 8 * (result->last.index - result->first.index));
    assert_int_equal(result->beyond.address - result->last.address, 8 * (result->beyond.index - result->last.index));
    assert_in_range(result->beyond.index - result->last.index, 8 * N, 17 * N);
    close_bed(&bed);
}

static uint64_t place_of(uint64_t address)
{
    return (address - (uintptr_t)array) / 8;
}

/* Turns of 16,000: two places that are come to once in each, found within the bound, or by looking further than that. */
static void finds_turns(void **state)
{
    struct bed bed = open_bed(walks_long);
    const struct as_ahead_turn *turn = &bed.result.turn;
    bed.order.further = 16 * N;
    for (int i = 0; i < 2; i++) {
        look(&bed);
        assert_in_range(turn->accesses, 16 * N - 1, 16 * N + 64); /* the one that decides is not counted */
        assert_in_range(place_of(turn->addresses[0]), 0, 16 * N - 1);
        assert_in_range(place_of(turn->addresses[1]), 0, 16 * N - 1);
        uint64_t apart = llabs((int64_t)(turn->addresses[0] - turn->addresses[1]));
        assert_true(apart > 8 * 32);
        assert_true(i == 0 ? bed.result.decided : !bed.result.decided);
        bed.order.bound = N;
        bed.order.least = 100 * N;
        assert_true(as_tracer_registers(NULL, bed.pid, bed.threads[0]));
    }
    assert_in_range(bed.result.accesses, 17 * N, 20 * N); /* it ends soon behind the turn */
    bed.order.least = 8 * N;
    assert_true(as_tracer_registers(NULL, bed.pid, bed.threads[0]));
    look(&bed);
    assert_int_equal(turn->addresses[0], 0); /* the turn is longer than the look */
    close_bed(&bed);
    bed = open_bed(walks_short);
    bed.order.further = 16 * N;
    look(&bed);
    assert_int_equal(bed.result.turn.addresses[0], 0); /* turns of 1,000: too short to be counted */
    close_bed(&bed);
}

/* The second thread stores to the array's first element all the time: whatever use is there is invalidated. */
static void sees_the_others_stores(void **state)
{
    struct bed bed = open_bed(walks_short);
    pid_t other = start_child(stores_alone); /* the same code at the same addresses, with registers of its own */
    assert_true(as_tracer_registers(NULL, other, bed.threads[1]));
    bed.order.n = 2;
    bool invalidated = false;
    for (uint64_t skip = 0; skip < N + 10 && !invalidated; skip++) {
        assert_true(as_tracer_registers(NULL, bed.pid, bed.threads[0]));
        assert_true(as_tracer_registers(NULL, other, bed.threads[1]));
        bed.order.skip = skip;
        bed.order.bound = 50;
        look(&bed);
        invalidated = bed.result.outcome == AS_REUSE_INVALIDATION;
    }
    assert_true(invalidated);
    assert_int_equal(bed.result.use_address, (uintptr_t)array);
    assert_int_equal(bed.result.end_thread, 1);
    bed.order.in_cache = true; /* the same pair is a reuse in the cache that both share */
    assert_true(as_tracer_registers(NULL, bed.pid, bed.threads[0]));
    assert_true(as_tracer_registers(NULL, other, bed.threads[1]));
    look(&bed);
    assert_int_equal(bed.result.outcome, AS_REUSE_REUSE);
    traced_end(other);
    close_bed(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_what_is_in_between), cmocka_unit_test(does_not_look_beyond_the_bound),
        cmocka_unit_test(finds_places_further_on),   cmocka_unit_test(finds_nothing_between_caches_alone),
        cmocka_unit_test(names_places_on_the_way),   cmocka_unit_test(finds_turns),
        cmocka_unit_test(sees_the_others_stores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void is_for_x86(void **state)
{
    unit_skip("it runs x86-64 code alone");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_for_x86)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
