/* Which regions a native run can have, and where their places are in a process: this one. */
#include "record/record_native.h"
#include "region/regions.h"

#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static __attribute__((noinline, used)) void native_regions_victim(void)
{
    __asm__ volatile("");
}

static uint64_t resolve(enum as_landmark_kind kind, const char *symbol, uint64_t address)
{
    return as_native_resolve(NULL, getpid(),
                             &(struct as_landmark){.kind = kind, .symbol = (char *)symbol, .address = address});
}

static void places(void **state)
{
    uint64_t victim = (uintptr_t)native_regions_victim, start = (uintptr_t)__ehdr_start;
    char path[PATH_MAX], qualified[PATH_MAX + 32];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = '\0';
    snprintf(qualified, sizeof qualified, "%s:native_regions_victim", program_invocation_short_name);
    assert_int_equal(resolve(AS_LANDMARK_SYMBOL, "native_regions_victim", 0), victim);
    assert_int_equal(resolve(AS_LANDMARK_SYMBOL, qualified, 0), victim);
    assert_int_equal(resolve(AS_LANDMARK_SYMBOL, "libc.so.6:native_regions_victim", 0), 0);
    assert_int_equal(resolve(AS_LANDMARK_SYMBOL, "no_such_function", 0), 0);
    assert_true(resolve(AS_LANDMARK_SYMBOL, "libc.so.6:write", 0) != 0);
    assert_int_equal(resolve(AS_LANDMARK_ADDRESS, NULL, 0x1234), 0x1234); /* as it is mapped */
    assert_int_equal(resolve(AS_LANDMARK_ADDRESS, program_invocation_short_name, victim - start), victim);
    assert_int_equal(resolve(AS_LANDMARK_ADDRESS, path, victim - start), victim);
    assert_int_equal(resolve(AS_LANDMARK_ADDRESS, "no-such-module", 0x1234), 0);
}

static bool is_possible(const char *text, const struct as_record_options *given, struct as_error *err)
{
    struct as_record_options options = *given;
    struct as_regions regions = {0};
    *err = (struct as_error)AS_ERROR_INIT;
    if (!as_regions_parse(&regions, text, err) || !as_regions_check(&regions, err))
        fail_msg("%s", err->message);
    options.engine.regions = &regions;
    bool ok = as_native_regions_check(&options, err);
    as_regions_free(&regions);
    return ok;
}

static void possible_regions(void **state)
{
    static const char *const good[] = {"main..", "main#3..exit",       "marker:1..marker:2,repeat", "0x401000..",
                                       "..main", "delay:0.5..delay:1", "signal..signal,repeat",     "main..delay:2"};
    static const char *const counts[] = {"1000..",       "main..+500",  "main+5..",
                                         "main..,max=7", "cycle:100..", "main..cycle:100"};
    static const char *const modelled[] = {"main..,weight=2", "main..,warm=all", "main..,mode=warm"};
    struct as_record_options options = as_record_defaults;
    struct as_error err;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!is_possible(good[i], &options, &err))
            fail_msg("%s: %s", good[i], err.message);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        assert_false(is_possible(counts[i], &options, &err));
        assert_non_null(strstr(err.message, "counts of instructions or cycles need --source=model"));
        assert_int_equal(err.status, AS_EXIT_USAGE);
    }
    for (size_t i = 0; i < sizeof modelled / sizeof *modelled; i++) {
        assert_false(is_possible(modelled[i], &options, &err));
        assert_non_null(strstr(err.message, "weight, warm, settle and mode need --source=model"));
        assert_int_equal(err.status, AS_EXIT_USAGE);
    }
    options.processors = true;
    assert_true(is_possible("main..", &options, &err));
    options.pid = 1;
    assert_false(is_possible("main..", &options, &err));
    assert_true(is_possible("delay:1..", &options, &err));
    options.processors = false;
    assert_true(is_possible("main..", &options, &err));
}

/* A delay or a signal starts to measure by itself: no landmark is looked for. */
static void regions_of_signals(void **state)
{
    struct as_record_options options = as_record_defaults;
    struct as_regions regions = {0};
    struct as_error err = AS_ERROR_INIT;
    static const _Atomic uint32_t switches;
    assert_false(as_native_regions_wanted(&options));
    options.engine.regions = &regions;
    assert_false(as_native_regions_wanted(&options));
    assert_true(as_regions_parse(&regions, "1000..", &err));
    assert_true(as_native_regions_wanted(&options));
    options.delay = 0.5;
    assert_false(as_native_regions_wanted(&options));
    assert_true(as_native_regions_check(&options, &err));
    options.delay = NAN;
    assert_true(as_native_regions_wanted(&options));
    options.switches = &switches;
    assert_false(as_native_regions_wanted(&options));
    as_regions_free(&regions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places), cmocka_unit_test(possible_regions),
                                       cmocka_unit_test(regions_of_signals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
