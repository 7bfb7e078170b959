/* QEMU with the plugin, on programs of workloads/known: the accesses to a sample of the memory are those of the whole that lie there, threads
 * in a fixed order do the same in every run, and regions begin and end where they should. argv: the plugin, the folder of the programs. */
#include "base/map.h"
#include "base/random.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "engine/find_qemu.h"
#include "region/regions.h"

#include "unit.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>

struct seen_access {
    uint64_t insn, address;
    uint32_t size;
    uint8_t kind;
};

/* What a run did. */
struct seen {
    AS_VEC(struct seen_access) accesses;
    uint64_t instructions, order; /* order: a hash of which thread executed what, in its order */
    uint64_t clocks[16];          /* instructions of each thread */
};

static char *plugin, *folder;
static struct as_engine_options options;
static struct as_engine_result result;

static void see_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct seen *seen = context;
    struct as_accesses walk = as_accesses_of(exec);
    struct as_access access;
    uint64_t words[] = {seen->order, thread->number, exec->block->address, exec->first, exec->end};
    seen->order = as_hash_bytes(words, sizeof words);
    seen->instructions += as_block_exec_count(exec);
    seen->clocks[thread->number % 16] += as_block_exec_count(exec);
    while (as_accesses_next(&walk, &access))
        if (access.kind &
            (AS_ACCESS_LOAD | AS_ACCESS_STORE)) /* not what is prefetched and flushed, of which samples have none */
            *as_vec_push(&seen->accesses) = (struct seen_access){exec->block->insns[access.index]->address,
                                                                 access.address, access.size, access.kind};
}

/* An instruction takes a cycle. */
static uint64_t clock_of(void *context, const struct as_thread *thread)
{
    return ((struct seen *)context)->clocks[thread->number % 16];
}

static struct seen run_words(char *const *argv)
{
    static const struct as_sink sink = {.block = see_block}, in_turn = {.block = see_block, .clock = clock_of};
    struct as_error err = AS_ERROR_INIT;
    struct seen seen = {0};
    options.argv = argv;
    options.plugin = plugin;
    struct as_engine *engine = as_engine_start(&options, &err);
    if (!engine || !as_engine_run(engine, options.deterministic ? &in_turn : &sink, &seen, &result, &err))
        fail_msg("%s: %s", argv[0], err.message);
    as_engine_free(engine);
    return seen;
}

static struct seen run(const char *program)
{
    static char path[PATH_MAX], *argv[2] = {path};
    snprintf(path, sizeof path, "%s/%s", folder, program);
    return run_words(argv);
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

/* ---- a sample of the memory ---- */

static bool is_sampled(uint64_t address, uint64_t threshold, uint32_t shift)
{
    return (address >> shift) * AS_RANDOM_STEP <= threshold;
}

static bool crosses(const struct seen_access *access, uint32_t shift)
{
    return access->address >> shift != (access->address + access->size - 1) >> shift;
}

static uint64_t key_of(const struct seen_access *access)
{
    uint64_t words[] = {access->insn, access->address, access->size, access->kind};
    return as_hash_bytes(words, sizeof words);
}

static uint64_t byte_of(const struct seen_access *access, uint32_t k)
{
    uint64_t words[] = {access->insn, access->address + k, access->kind};
    return as_hash_bytes(words, sizeof words);
}

/* Two pieces that meet at a granule's end may be one access that crosses it. */
static bool is_at_border(const struct seen_access *access, uint32_t shift)
{
    uint64_t granule = UINT64_C(1) << shift;
    return access->address % granule == 0 || (access->address + access->size) % granule == 0;
}

/* Every byte that is reported was accessed by that instruction (an operand may be reported in pieces), and lies in the sample or in an
 * access that crosses a granule's end; every granule of the sample is reported. Returns how many accesses of the whole run lie in it. */
static size_t check_sample(const struct seen *whole, const struct seen *part, uint64_t threshold, uint32_t shift)
{
    struct as_map left = {0}, granules = {0};
    size_t sampled = 0;
    for (size_t i = 0; i < whole->accesses.len; i++)
        for (uint32_t k = 0; k < whole->accesses.data[i].size; k++)
            *as_map_put(&left, byte_of(&whole->accesses.data[i], k)) |= 1u + crosses(&whole->accesses.data[i], shift);
    for (size_t i = 0; i < part->accesses.len; i++) {
        const struct seen_access *access = &part->accesses.data[i];
        for (uint32_t k = 0; k < access->size; k++) {
            const uint64_t *known = as_map_get(&left, byte_of(access, k));
            assert_non_null(known);
            assert_true(is_sampled(access->address, threshold, shift) || *known & 2 || is_at_border(access, shift));
        }
        *as_map_put(&granules, access->address >> shift) = 1;
    }
    for (size_t i = 0; i < whole->accesses.len; i++) {
        const struct seen_access *access = &whole->accesses.data[i];
        if (!is_sampled(access->address, threshold, shift))
            continue;
        sampled++;
        assert_non_null(as_map_get(&granules, access->address >> shift));
    }
    as_map_free(&left);
    as_map_free(&granules);
    return sampled;
}

/* Of instructions whose accesses the code determines; of others all accesses are reported. */
static void a_sample(void **state)
{
    static const char *const programs[] = {"x86-cold-reads-small", "x86-update-8-page", "x86-fxsave",
                                           "x86-load-10-page"};
    size_t sampled = 0, made = 0;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (uint32_t shift = 6; shift <= 8; shift += 2) {
            _Atomic uint64_t threshold = UINT64_MAX;
            options.blocks_only = false;
            options.sample = NULL;
            struct seen whole = run(programs[i]);
            options.blocks_only = true;
            options.sample = &threshold;
            options.sample_shift = shift;
            struct seen all = run(programs[i]);
            assert_int_equal(all.instructions, whole.instructions);
            assert_int_equal(all.accesses.len, whole.accesses.len);
            for (size_t k = 0; k < all.accesses.len; k++)
                assert_int_equal(key_of(&all.accesses.data[k]), key_of(&whole.accesses.data[k]));
            threshold = UINT64_MAX / 2;
            struct seen half = run(programs[i]);
            assert_int_equal(half.instructions, whole.instructions);
            size_t in = check_sample(&whole, &half, threshold, shift);
            assert_true(i != 0 || in == 0 || half.accesses.len < in); /* it comes back to its granules at once */
            sampled += in;
            made += whole.accesses.len;
            as_vec_free(&whole.accesses);
            as_vec_free(&all.accesses);
            as_vec_free(&half.accesses);
        }
    assert_true(sampled > 0 && sampled < made);
}

/* ---- threads ---- */

/* One thread at a time, in a fixed order: every run is the same, whatever the machine does meanwhile. */
static void a_fixed_order(void **state)
{
    uint64_t order = 0, instructions = 0;
    for (int turn = 0; turn < 3; turn++) {
        options.deterministic = true;
        options.quantum = 100;
        struct seen seen = run("x86-threads-3");
        assert_int_equal(result.threads, 4); /* with the first */
        assert_true(turn == 0 || seen.order == order);
        assert_true(turn == 0 || seen.instructions == instructions);
        order = seen.order;
        instructions = seen.instructions;
        as_vec_free(&seen.accesses);
    }
}

/* ---- ends ---- */

static void how_it_ends(void **state)
{
    static const char *const scripts[] = {"exit 0", "exit 7", "kill -USR1 $$", "kill -SEGV $$"};
    static const int signals[] = {0, 0, SIGUSR1, SIGSEGV}, statuses[] = {0, 7, 128 + SIGUSR1, 128 + SIGSEGV};
    for (size_t i = 0; i < 4; i++) {
        char *argv[] = {"/bin/sh", "-c", (char *)scripts[i], NULL};
        struct seen seen = run_words(argv);
        assert_int_equal(result.end.signal, signals[i]);
        assert_int_equal(result.end.exit_status, statuses[i]);
        assert_true(seen.instructions > 1000);
        as_vec_free(&seen.accesses);
    }
}

/* ---- regions ---- */

static uint64_t instructions_in(const char *program, const char *region)
{
    struct as_regions regions = {0};
    struct as_error err = AS_ERROR_INIT;
    if (!as_regions_parse(&regions, region, &err) || !as_regions_check(&regions, &err))
        fail_msg("%s: %s", region, err.message);
    options.regions = &regions;
    struct seen seen = run(program);
    as_vec_free(&seen.accesses);
    as_regions_free(&regions);
    return seen.instructions;
}

/* 20 turns of a marker, a call of `function` and another marker; 3 instructions are behind them. */
static void places(const char *program, uint64_t before, uint64_t function)
{
    uint64_t turn = function + 5, all = before + 20 * turn + 3;
    const struct {
        const char *region;
        uint64_t instructions;
    } cases[] = {{"..", all},
                 {"100..", all - 100},
                 {"100+20..1k", 880},
                 {"function..", all - before - 2},
                 {"function+10..+5", 5},
                 {"function..marker", function},
                 {"function#3..function#7", 4 * turn},
                 {"marker:1..marker:2", function + 2},
                 {"marker:1#5..marker:2#9", function + 2 + 4 * turn},
                 {"marker:1..marker:2,repeat", 20 * (function + 2)},
                 {"marker:1..,max=77", 77}};
    for (int bare = 0; bare < 2; bare++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            options.blocks_only = bare;
            uint64_t found = instructions_in(program, cases[i].region);
            if (found != cases[i].instructions)
                fail_msg("%s, %s: %llu, not %llu", program, cases[i].region, (unsigned long long)found,
                         (unsigned long long)cases[i].instructions);
        }
}

static void regions_of_x86(void **state)
{
    places("x86-regions", 2, 3002);
}

static void regions_of_riscv(void **state)
{
    struct as_qemu qemu;
    struct as_error err = AS_ERROR_INIT;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/rv-regions", folder);
    if (access(path, X_OK) != 0)
        unit_skip("there is no compiler for RISC-V");
    if (!as_qemu_find(AS_ARCH_RISCV64, NULL, &qemu, &err))
        unit_skip("%s", err.message);
    places("rv-regions", 4, 3003);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_sample, set_up), cmocka_unit_test_setup(a_fixed_order, set_up),
        cmocka_unit_test_setup(how_it_ends, set_up), cmocka_unit_test_setup(regions_of_x86, set_up),
        cmocka_unit_test_setup(regions_of_riscv, set_up)};
    if (argc != 3)
        return 1;
    plugin = realpath(argv[1], NULL);
    folder = realpath(argv[2], NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(plugin);
    free(folder);
    return failed;
}
