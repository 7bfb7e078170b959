/* QEMU with the plugin, on programs whose counts are known to the unit (workloads/known): what the plugin writes and the engine reads of it comes
 * to these counts, whichever way accesses and threads are reported. tests/cli/known_answers.sh has all programs; these are one of each
 * kind. argv: the plugin, the folder of the programs. */
#include "count/counts.h"
#include "engine/find_qemu.h"

#include "unit.h"

#include <limits.h>
#include <stdio.h>

struct known {
    const char *program;
    uint64_t instructions, loads, stores, load_accesses, store_accesses, branches, conditional, taken, calls, returns,
        syscalls;
    uint32_t threads, processes;
};

static const struct known known[] = {
#include "known_runs.inc"
};

static char *plugin, *folder;
static struct as_engine_options options;
static struct as_engine_result result;
static struct as_counter *counter;

static void run(const char *program)
{
    static char path[PATH_MAX], *argv[2] = {path};
    struct as_error err = AS_ERROR_INIT;
    snprintf(path, sizeof path, "%s/%s", folder, program);
    options.argv = argv;
    options.plugin = plugin;
    struct as_engine *engine = as_engine_start(&options, &err);
    counter = as_counter_new(!options.blocks_only);
    if (!engine || !as_engine_run(engine, &as_counter_sink, counter, &result, &err))
        fail_msg("%s: %s", program, err.message);
    as_engine_free(engine);
}

static int set_up(void **state)
{
    struct as_qemu qemu;
    struct as_error err = AS_ERROR_INIT;
    if (!as_qemu_find(AS_ARCH_X86_64, NULL, &qemu, &err))
        unit_skip("%s", err.message);
    options = (struct as_engine_options)AS_ENGINE_OPTIONS_DEFAULT;
    return 0;
}

static void expect_same(const struct known *one, const char *what, uint64_t found, uint64_t want)
{
    if (found != want)
        fail_msg("%s: %llu %s, not %llu", one->program, (unsigned long long)found, what, (unsigned long long)want);
}

static void expect_known(const struct known *one)
{
    struct as_counts total = as_counter_total(counter);
    expect_same(one, "instructions", total.instructions, one->instructions);
    expect_same(one, "loads", total.loads, one->loads);
    expect_same(one, "stores", total.stores, one->stores);
    expect_same(one, "load accesses", total.load_accesses, one->load_accesses);
    expect_same(one, "store accesses", total.store_accesses, one->store_accesses);
    expect_same(one, "branches", total.branches, one->branches);
    expect_same(one, "conditional branches", total.conditional, one->conditional);
    expect_same(one, "taken branches", total.taken, one->taken);
    expect_same(one, "calls", total.calls, one->calls);
    expect_same(one, "returns", total.returns, one->returns);
    expect_same(one, "system calls", total.syscalls, one->syscalls);
    expect_same(one, "threads", as_counter_count_threads(counter), one->threads);
    expect_same(one, "processes", result.processes, one->processes);
    expect_same(one, "instructions in all", result.executed, one->instructions);
    assert_true(result.started && result.disagreements == 0 && result.blind == 0 && result.untraced == 0);
    as_counter_free(counter);
}

static void run_all(bool only_threads)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (only_threads && known[i].threads == 1)
            continue;
        run(known[i].program);
        expect_known(&known[i]);
    }
}

/* Accesses that the code determines are left out. */
static void only_blocks(void **state)
{
    options.blocks_only = true;
    run_all(false);
}

static void every_access(void **state)
{
    run_all(false);
}

/* Blocks have stamps, and wait for those that they depend on. */
static void in_causal_order(void **state)
{
    options.causal = options.observed = true;
    run_all(true);
}

/* Accesses outside of a region are not recorded, and not waited for. */
static void a_region(void **state)
{
    struct as_regions regions = {0};
    struct as_region *region = as_regions_add(&regions);
    region->offset = 1000;
    region->max = 300;
    options.regions = &regions;
    for (int bare = 0; bare < 2; bare++) {
        options.blocks_only = bare;
        run("x86-load-16-page"); /* a loop of load, subtraction and branch */
        struct as_counts total = as_counter_total(counter);
        assert_int_equal(total.instructions, 300);
        assert_int_equal(total.loads, 100);
        assert_int_equal(total.branches, 100);
        assert_int_equal(total.taken, 100);
        assert_true(result.region_reached && result.end.stopped && !result.from_start);
        as_counter_free(counter);
    }
    as_regions_free(&regions);
}

/* A program that is executed is followed, or it runs by itself. */
static void not_followed(void **state)
{
    options.no_follow = true;
    run("x86-exec");
    assert_int_equal(result.untraced, 1);
    assert_int_equal(result.processes, 1);
    assert_non_null(strstr(result.first_untraced, "/"));
    as_counter_free(counter);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(only_blocks, set_up),     cmocka_unit_test_setup(every_access, set_up),
        cmocka_unit_test_setup(in_causal_order, set_up), cmocka_unit_test_setup(a_region, set_up),
        cmocka_unit_test_setup(not_followed, set_up),
    };
    if (argc != 3)
        return 1;
    plugin = realpath(argv[1], NULL);
    folder = realpath(argv[2], NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(plugin);
    free(folder);
    return failed;
}
