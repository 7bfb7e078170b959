/* A program in the engine, from its start to its end: what is called when, and what of it fails. The engine is the test's. */
#include "unit.h"

#include "base/str.h"
#include "record/meter.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct as_engine {
    const struct as_engine_options *options;
};

static struct as_engine engine;
static struct as_str happened;
static const char *failing; /* what fails; NULL: nothing */

static void note(const char *format, ...)
{
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    as_str_addf(&happened, "%s%s", happened.len ? ", " : "", text);
}

static bool does(const char *what, struct as_error *err)
{
    note("%s", what);
    return !failing || strcmp(failing, what) != 0 || as_error_set(err, "no %s", what);
}

struct as_engine *as_engine_start(const struct as_engine_options *options, struct as_error *err)
{
    engine.options = options;
    return does("engine", err) ? &engine : NULL;
}

bool as_engine_run(struct as_engine *one, const struct as_sink *sink, void *context, struct as_engine_result *result,
                   struct as_error *err)
{
    assert_ptr_equal(one, &engine);
    assert_string_equal(context, "context");
    if (engine.options->tick)
        engine.options->tick(engine.options->tick_context);
    result->threads = 7;
    return does("run", err);
}

uint64_t as_engine_progress(const struct as_engine *one)
{
    assert_ptr_equal(one, &engine);
    return 42;
}

/* ---- the caller's ---- */

static bool start(void *run, const struct as_engine *one, struct as_error *err)
{
    assert_ptr_equal(one, &engine);
    assert_string_equal(run, "it");
    return does("start", err);
}

static bool finish(void *run, struct as_error *err)
{
    assert_string_equal(run, "it");
    return does("finish", err);
}

static void meter_start(void *context, uint64_t goal)
{
    note("%s of %d", (const char *)context, (int)goal);
}

static void meter_update(void *context, uint64_t executed, uint64_t measured)
{
    note("%s %d %d", (const char *)context, (int)executed, (int)measured);
}

static void meter_end(void *context)
{
    note("%s ends", (const char *)context);
}

static const struct as_meter meter = {.start = meter_start, .update = meter_update, .end = meter_end};
static const struct as_metered program = {
    .context = "context", .goal = 99, .start = start, .finish = finish, .run = "it"};

static void check(const struct as_meter *by, const struct as_metered *what, const char *fails, const char *expected)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_engine_options options = AS_ENGINE_OPTIONS_DEFAULT;
    struct as_engine_result result = {0};
    struct as_engine *made = NULL;
    failing = fails;
    as_str_clear(&happened);
    assert_int_equal(as_meter_run(by, "meter", options, what, &made, &result, &err), !fails);
    assert_string_equal(as_str_get(&happened), expected);
    bool started = !fails || strcmp(fails, "engine") != 0;
    assert_ptr_equal(made, started ? &engine : NULL);
    if (!fails)
        assert_int_equal(result.threads, 7);
}

static void in_order(void **state)
{
    check(&meter, &program, NULL, "engine, meter of 99, start, meter 42 42, run, finish, meter ends");
    check(NULL, &program, NULL, "engine, start, run, finish");
    check(&meter, &(struct as_metered){.context = "context"}, NULL, "engine, meter of 0, meter 42 42, run, meter ends");
}

static void failures(void **state)
{
    check(&meter, &program, "engine", "engine");
    check(&meter, &program, "start", "engine, meter of 99, start, meter ends");
    check(&meter, &program, "run", "engine, meter of 99, start, meter 42 42, run, meter ends");
    check(&meter, &program, "finish", "engine, meter of 99, start, meter 42 42, run, finish, meter ends");
}

static int tear_down(void **state)
{
    as_str_free(&happened);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_order), cmocka_unit_test(failures)};
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
