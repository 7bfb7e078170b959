/* Debug registers within a budget: what an arming reserves, what comes back, how much can be saved up, and what the kernel
 * refuses. The registers are real ones of this thread; times that the kernel measures are bounded by the clock. */
#include "lens/lens_registers.h"

#include "base/clock.h"
#include "perf_here.h"
#include "unit.h"

#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__
enum { REGISTERS = 4, PATIENCE = 8 };
/* As lens_registers.c and the manual have them: seconds. */
#define ARM 15e-6
#define TRAP 16e-6
#define FIRST 0.003 /* a tenth of 30 ms */
#define EXACT 1e-9
#define CLOCKS 1e-5 /* the kernel's clock and ours, over a short time */

static _Alignas(64) volatile uint32_t words[16];
static struct as_native_lens_cost cost;
static struct as_lens_registers registers;

static enum as_lens_result arm_for(uint32_t tid, uint32_t thread, uint32_t slot, uint8_t kind, uint64_t *generation)
{
    struct as_lens_ref ref = {.thread = thread, .slot = slot};
    struct as_lens_watch watch = {.address = (uintptr_t)&words[slot], .length = 4, .kind = kind, .data = 100 + slot};
    return as_lens_registers_arm(&registers, tid, &ref, &watch, generation);
}

static enum as_lens_result arm(uint32_t thread, uint32_t slot)
{
    uint64_t generation;
    return arm_for((uint32_t)gettid(), thread, slot, AS_ACCESS_STORE, &generation);
}

static struct as_lens_register *the(uint32_t thread, uint32_t slot, uint64_t generation)
{
    return as_lens_registers_find(&registers, &(struct as_lens_ref){thread, slot, generation});
}

static int set_up(void **state)
{
    cost = (struct as_native_lens_cost){0};
    as_lens_registers_start(&registers, 1, &cost);
    return 0;
}

static int tear_down(void **state)
{
    as_lens_registers_end(&registers);
    return 0;
}

/* Asked once: a test that leaves registers armed must not excuse the next one. */
static const char *refusal;

static void need_registers(void)
{
    if (refusal)
        unit_skip("no watchpoints: %s", refusal);
}

/* An arming costs the time of arming and of one trap; the first of a thread that of watching as well. */
static void test_reserves(void **state)
{
    need_registers();
    assert_float_equal(registers.left, 0.1, EXACT); /* a tenth of a second's budget to begin with */
    assert_int_equal(arm(7, 0), AS_LENS_OK);
    assert_float_equal(cost.watching, ARM + TRAP + FIRST, EXACT);
    assert_int_equal(arm(7, 2), AS_LENS_OK);
    assert_float_equal(cost.watching, 2 * (ARM + TRAP) + FIRST, EXACT);
    assert_int_equal(arm(9, 1), AS_LENS_OK);
    assert_float_equal(cost.watching, 3 * (ARM + TRAP) + 2 * FIRST, EXACT);
    assert_int_equal(cost.armings, 3);
    assert_int_equal(cost.traps, 0);
    assert_int_equal(as_lens_registers_used(&registers, 7), 5);
    assert_int_equal(as_lens_registers_used(&registers, 9), 2);
    assert_int_equal(as_lens_registers_used(&registers, 8), 0);
}

/* A register is found by the arming that it is in, and no longer when that is over. */
static void test_armings(void **state)
{
    uint64_t first, second, third;
    need_registers();
    assert_int_equal(arm_for((uint32_t)gettid(), 7, 0, AS_ACCESS_STORE, &first), AS_LENS_OK);
    assert_int_equal(arm_for((uint32_t)gettid(), 7, 1, AS_ACCESS_STORE, &second), AS_LENS_OK);
    assert_int_not_equal(first, second);
    assert_int_equal(the(7, 0, first)->watch.data, 100);
    assert_int_equal(the(7, 1, second)->watch.data, 101);
    assert_null(the(8, 0, first));
    assert_null(the(7, 1, first));
    assert_null(the(7, 0, second));
    as_lens_registers_disarm(&registers, the(7, 0, first));
    assert_null(the(7, 0, first));
    assert_int_equal(as_lens_registers_used(&registers, 7), 2);
    assert_int_equal(arm_for((uint32_t)gettid(), 7, 0, AS_ACCESS_STORE, &third), AS_LENS_OK);
    assert_int_not_equal(third, first);
    assert_null(the(7, 0, first));
    assert_non_null(the(7, 0, third));
    assert_int_equal(registers.list.len, 2); /* the place of the first */
}

/* What was reserved for a trap that did not come is given back; registers of one thread slow it down together. */
static void test_gives_back(void **state)
{
    uint64_t generations[2];
    need_registers();
    double begun = as_clock_seconds();
    for (uint32_t slot = 0; slot < 2; slot++)
        assert_int_equal(arm_for((uint32_t)gettid(), 7, slot, AS_ACCESS_STORE, &generations[slot]), AS_LENS_OK);
    while (as_clock_seconds() < begun + 0.002)
        ;
    double before = cost.watching;
    as_lens_registers_disarm(&registers, the(7, 0, generations[0]));
    assert_float_equal(cost.watching, before - TRAP, EXACT); /* the other one still watches */
    double longest = registers.list.data[1].longest, last = as_clock_seconds();
    assert_true(longest > 0 && longest <= last - begun + CLOCKS);
    as_lens_registers_disarm(&registers, the(7, 1, generations[1]));
    double watched = (cost.watching - 2 * ARM) / 0.1, passed = as_clock_seconds() - begun;
    assert_true(watched >= longest - EXACT && watched <= passed + CLOCKS);
    assert_int_equal(cost.traps, 0);
}

/* A store traps once, and is paid for. The next look finds nothing. */
static void test_traps(void **state)
{
    static struct as_breakpoint_hit hit;
    uint64_t generation;
    size_t at = 0;
    need_registers();
    assert_int_equal(arm(7, 0), AS_LENS_OK);
    assert_int_equal(arm_for((uint32_t)gettid(), 7, 1, AS_ACCESS_STORE, &generation), AS_LENS_OK);
    (void)words[1]; /* a load: not watched */
    assert_null(as_lens_registers_next(&registers, &at, &hit));
    double before = cost.watching;
    words[1] = 5;
    words[1] = 6;
    at = 0;
    struct as_lens_register *reg = as_lens_registers_next(&registers, &at, &hit);
    assert_ptr_equal(reg, the(7, 1, generation));
    assert_int_equal(at, 2);
    assert_int_equal(hit.sample.tid, gettid());
    assert_int_equal(cost.traps, hit.hits);
    assert_float_equal(cost.watching, before + (double)hit.hits * TRAP, EXACT);
    assert_null(as_lens_registers_next(&registers, &at, &hit));
    at = 0;
    assert_null(as_lens_registers_next(&registers, &at, &hit));
}

/* A load traps where loads are wanted. */
static void test_traps_at_loads(void **state)
{
    static struct as_breakpoint_hit hit;
    uint64_t generation;
    size_t at = 0;
    need_registers();
    assert_int_equal(arm_for((uint32_t)gettid(), 7, 0, AS_ACCESS_LOAD | AS_ACCESS_STORE, &generation), AS_LENS_OK);
    (void)words[0];
    assert_ptr_equal(as_lens_registers_next(&registers, &at, &hit), the(7, 0, generation));
}

/* A trap that nobody asked for before the register was taken back counts, and its time is not given back. */
static void test_trap_is_lost(void **state)
{
    uint64_t generations[2];
    need_registers();
    for (uint32_t slot = 0; slot < 2; slot++)
        assert_int_equal(arm_for((uint32_t)gettid(), 7, slot, AS_ACCESS_STORE, &generations[slot]), AS_LENS_OK);
    words[0] = 1;
    double before = cost.watching;
    as_lens_registers_disarm(&registers, the(7, 0, generations[0]));
    assert_int_equal(cost.traps, 1);
    assert_float_equal(cost.watching, before, EXACT);
}

/* What can be saved up is a fifth of a second's budget, or the price of one register where that is more. */
static void test_saves(void **state)
{
    need_registers();
    registers.at = as_clock_seconds() - 1000;
    assert_int_equal(arm(7, 0), AS_LENS_OK);
    assert_float_equal(registers.left, 0.2 - (ARM + TRAP + FIRST), EXACT);
    registers.budget = 0.001;
    registers.at = as_clock_seconds() - 1000;
    registers.left = 0;
    assert_int_equal(arm(9, 1), AS_LENS_OK);
    assert_float_equal(registers.left, 0, EXACT);
    assert_int_equal(cost.postponed, 0);
}

/* Time that has gone by is worth its share. */
static void test_saves_by_the_second(void **state)
{
    need_registers();
    registers.budget = 0.0001;
    registers.left = 0;
    double at = as_clock_seconds() - 0.1;
    registers.at = at;
    assert_int_equal(arm(7, 0), AS_LENS_BUSY); /* 10 us; 3 ms are wanted, those of half a minute */
    assert_int_equal(cost.postponed, 1);
    assert_int_equal(cost.armings, 0);
    assert_true(registers.left >= 0.00001 - EXACT && registers.at > at);
    assert_float_equal(registers.left, (registers.at - at) * 0.0001, EXACT);
    assert_float_equal(cost.watching, 0, EXACT);
}

static void test_no_budget(void **state)
{
    registers.budget = 0;
    registers.left = 1;
    assert_int_equal(arm(7, 0), AS_LENS_BUSY);
    assert_int_equal(cost.postponed, 1);
}

/* The thread has four: a fifth is refused, which costs nothing, and the first refusal is told. */
static void test_refusals(void **state)
{
    need_registers();
    for (uint32_t slot = 0; slot < REGISTERS; slot++)
        assert_int_equal(arm(7, slot), AS_LENS_OK);
    double before = cost.watching;
    for (int i = 0; i < PATIENCE; i++)
        assert_int_equal(arm(7, 4), AS_LENS_REFUSED);
    assert_int_equal(cost.refused, PATIENCE);
    assert_float_equal(cost.watching, before, EXACT);
    assert_int_equal(cost.armings, REGISTERS);
    assert_string_equal(cost.note, as_breakpoint_refusal(ENOSPC));
    assert_int_equal(as_lens_registers_used(&registers, 7), 15);
    assert_int_equal(arm(7, 4), AS_LENS_REFUSED); /* the kernel is not asked again */
    assert_int_equal(cost.refused, PATIENCE);
}

/* A register that the kernel gives ends the row of refusals. */
static void test_refusals_in_a_row(void **state)
{
    need_registers();
    for (uint32_t slot = 0; slot < REGISTERS; slot++)
        assert_int_equal(arm(7, slot), AS_LENS_OK);
    for (int i = 0; i < PATIENCE - 1; i++)
        assert_int_equal(arm(7, 4), AS_LENS_REFUSED);
    as_lens_registers_disarm(&registers, &registers.list.data[0]);
    assert_int_equal(arm(7, 0), AS_LENS_OK);
    for (int i = 0; i < PATIENCE; i++)
        assert_int_equal(arm(7, 4), AS_LENS_REFUSED);
    assert_int_equal(cost.refused, PATIENCE - 1 + PATIENCE); /* it was asked each time */
}

/* All that are armed are given back at the end. */
static void test_end(void **state)
{
    need_registers();
    size_t before = unit_count_descriptors();
    for (uint32_t slot = 0; slot < 3; slot++)
        assert_int_equal(arm(7, slot), AS_LENS_OK);
    as_lens_registers_disarm(&registers, &registers.list.data[1]);
    assert_int_equal(unit_count_descriptors(), before + 2);
    as_lens_registers_end(&registers);
    assert_int_equal(unit_count_descriptors(), before);
    as_lens_registers_start(&registers, 1, &cost);
}

/* A thread that has ended is no refusal. */
static void test_gone(void **state)
{
    uint64_t generation;
    need_registers();
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(arm_for((uint32_t)child, 7, 0, AS_ACCESS_STORE, &generation), AS_LENS_GONE);
    assert_int_equal(cost.refused, 0);
    assert_int_equal(registers.refusals, 0);
    assert_string_equal(cost.note, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_reserves),
        TEST(test_armings),
        TEST(test_gives_back),
        TEST(test_traps),
        TEST(test_traps_at_loads),
        TEST(test_trap_is_lost),
        TEST(test_saves),
        TEST(test_saves_by_the_second),
        TEST(test_no_budget),
        TEST(test_refusals),
        TEST(test_refusals_in_a_row),
        TEST(test_gone),
        TEST(test_end),
    };
    refusal = unit_no_watchpoints();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
