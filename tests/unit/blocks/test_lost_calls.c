/* Calls that never come back or come back again, in the code of this test; and, by its counts, what can have been left. */
#include "blocks/lost_calls.h"

#include "unit.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static jmp_buf place;
static int (*volatile anything)(int);

/* Not static, so that they have symbols whatever the compiler makes of them; never called. */
int lost_leaf(int x);
int lost_plain(int x);
int lost_ends(int x);
int lost_again(int x);
int lost_open(int x);
int lost_saved(int x);
int lost_swapped(int x);

__attribute__((noinline)) int lost_leaf(int x)
{
    return (x & 0xff) * 3 ^ 1;
}

__attribute__((noinline)) int lost_plain(int x)
{
    return lost_leaf(x) + lost_leaf(x + 1);
}

__attribute__((noinline)) int lost_ends(int x)
{
    if (x == 3)
        longjmp(place, 1);
    return lost_leaf(x);
}

__attribute__((noinline)) int lost_again(int x)
{
    return setjmp(place) ? 1 : lost_ends(x) + 1;
}

__attribute__((noinline)) int lost_open(int x)
{
    return anything(x) + 1;
}

static ucontext_t here, there;

__attribute__((noinline)) int lost_saved(int x)
{
    return getcontext(&here) + lost_leaf(x);
}

__attribute__((noinline)) int lost_swapped(int x)
{
    return swapcontext(&here, &there) + lost_leaf(x);
}

static struct as_cfg *cfg;
static uint32_t module;

static int make(void **state)
{
    static const char *const names[] = {"lost_leaf", "lost_plain", "lost_ends",   "lost_again",
                                        "lost_open", "lost_saved", "lost_swapped"};
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = '\0';
    anything = lost_plain;
    cfg = as_cfg_new(NULL);
    module = as_cfg_module_of(cfg, path, AS_ARCH_X86_64);
    const struct as_symtab *table = &as_cfg_get(cfg, module)->symbols.symbols;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (size_t i = 0; i < table->symbols.len; i++)
            if (table->symbols.data[i].raw && strcmp(table->symbols.data[i].raw, names[k]) == 0)
                as_cfg_see(cfg, module, table->symbols.data[i].address);
    as_cfg_build(cfg);
    assert_int_equal(as_cfg_get(cfg, module)->functions.len, 7);
    return 0;
}

static int end(void **state)
{
    as_cfg_free(cfg);
    return 0;
}

/* How many blocks of a function are such. */
static int count(const char *function, bool (*is)(const struct as_cfg_module *, const struct as_cfg_block *))
{
    const struct as_cfg_module *m = as_cfg_get(cfg, module);
    int n = 0;
    for (size_t i = 0; i < m->blocks.len; i++)
        n += strcmp(m->functions.data[m->blocks.data[i].function].name, function) == 0 && is(m, &m->blocks.data[i]);
    return n;
}

static void test_names(void **state)
{
    assert_int_equal(count("lost_ends", as_call_ends), 1);
    assert_int_equal(count("lost_ends", as_call_comes_again), 0);
    assert_int_equal(count("lost_again", as_call_comes_again), 1);
    assert_int_equal(count("lost_again", as_call_ends), 0);
    assert_int_equal(count("lost_saved", as_call_comes_again), 1);
    assert_int_equal(count("lost_swapped", as_call_comes_again), 1);
    assert_int_equal(count("lost_plain", as_call_ends) + count("lost_plain", as_call_comes_again), 0);
}

static int count_lost(const uint8_t *lost, const char *function)
{
    const struct as_cfg_module *m = as_cfg_get(cfg, module);
    int n = 0;
    for (size_t i = 0; i < m->blocks.len; i++)
        n += strcmp(m->functions.data[m->blocks.data[i].function].name, function) == 0 && lost[i];
    return n;
}

/* Those of lost_leaf come back, whoever makes them; those of lost_ends, of pointers and of other files may not. */
static void test_lost(void **state)
{
    struct as_flow *flow = as_flow_new(cfg);
    as_flow_finish(flow);
    uint8_t *lost = as_calls_lost(flow, module);
    assert_int_equal(count_lost(lost, "lost_leaf"), 0);
    assert_int_equal(count_lost(lost, "lost_plain"), 0);
    assert_true(count_lost(lost, "lost_again") >= 2);
    assert_true(count_lost(lost, "lost_open") >= 1);
    assert_false(as_flow_is_moved(flow)); /* nothing ran */
    free(lost);
    as_flow_free(flow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests(tests, make, end);
}
