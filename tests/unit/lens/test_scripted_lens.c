/* The scripted machine itself: other tests rely on it. */
#include "unit.h"

#include "scripted_lens.h"

static void count_trap(void *context, const struct as_lens_trap *trap)
{
    struct scripted_lens *script = context;
    assert_int_equal(trap->watch.data, 42);
    assert_int_equal(as_lens_disarm(&script->lens, &trap->ref), AS_LENS_OK);
    assert_int_equal(as_lens_disarm(&script->lens, &trap->ref), AS_LENS_GONE);
}

static const struct as_lens_client client = {.trap = count_trap};

static void traps(void **state)
{
    struct scripted_lens script;
    struct as_lens_watch watch = {.address = 0x1008, .length = 8, .kind = AS_ACCESS_STORE, .data = 42};
    struct as_lens_ref ref;
    struct as_lens_counts counts;
    scripted_lens_init(&script);
    scripted_lens_start(&script, &client, &script, 2);
    assert_int_equal(as_lens_arm(&script.lens, 1, &watch, &ref), AS_LENS_OK);
    assert_int_equal(as_lens_arm(&script.lens, 2, &watch, &ref), AS_LENS_GONE);
    assert_int_equal(scripted_lens_armed(&script, 1), 1);
    assert_int_equal(scripted_lens_access(&script, 1, 0x1000, AS_ACCESS_STORE), 0);
    assert_int_equal(scripted_lens_access(&script, 1, 0x1008, AS_ACCESS_LOAD), 0);
    assert_int_equal(scripted_lens_access(&script, 0, 0x1008, AS_ACCESS_STORE), 0);
    assert_int_equal(scripted_lens_sample(&script, 1, 0x1004, AS_ACCESS_STORE, 1), 1);
    assert_int_equal(scripted_lens_access(&script, 1, 0x1008, AS_ACCESS_STORE), 0);
    assert_true(as_lens_counts(&script.lens, 1, &counts));
    assert_true(counts.loads == 1 && counts.stores == 3 && counts.accesses == 4);
    assert_int_equal(as_lens_time(&script.lens), 6);
    scripted_lens_end(&script, 1);
    assert_false(as_lens_counts(&script.lens, 1, &counts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(traps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
