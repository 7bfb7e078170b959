/* Which programs the agent can be preloaded into, and titles of profiles of the whole machine and of a process.
 *
 * usage: test_record_preload DYNAMIC STATIC */
#include "record/record_native.h"

#include "store/store_read.h"
#include "unit.h"
#include "unit_profile.h"

static char **arguments;

static void check_refused(const char *program, const char *part)
{
    struct as_error err = AS_ERROR_INIT;
    assert_false(as_record_can_preload(program, NULL, &err));
    if (!strstr(err.message, part))
        fail_msg("%s", err.message);
}

static void programs_for_the_agent(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    if (!as_record_can_preload(arguments[1], NULL, &err))
        fail_msg("%s", err.message);
    check_refused(arguments[2], "statically linked");
    check_refused("/none/such", "/none/such");
#ifdef UNIT_SANITIZED
    if (UNIT_SANITIZED)
        check_refused("/proc/self/exe", "built with AddressSanitizer");
#endif
}

/* The title that a record gets. */
static void check_title(void (*add)(const struct as_record *), const struct as_record_options *options,
                        char *const *argv, const char *wanted)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_record record = {.options = options, .argv = argv};
    record.writer = as_store_writer_open(unit_profile, &err);
    assert_non_null(record.writer);
    add(&record);
    if (!as_store_writer_commit(record.writer, &err))
        fail_msg("%s", err.message);
    struct as_store *store = as_store_open(unit_profile, &err);
    assert_non_null(store);
    assert_string_equal(as_store_meta(store, AS_META_TITLE), wanted);
    as_store_close(store);
}

static void titles(void **state)
{
    struct as_record_options options = as_record_defaults;
    char *sleep[] = {"/bin/sleep", "1  ", NULL}, *none[] = {NULL};
    char *many[] = {"/usr/bin/a",
                    "0123456789012345678901234567890123456789",
                    "0123456789012345678901234567890123456",
                    "12",
                    "left out",
                    NULL};
    char title[64];
    check_title(as_native_add_system, &options, NULL, "system-wide");
    options.argv = none;
    check_title(as_native_add_system, &options, NULL, "system-wide");
    options.argv = sleep;
    check_title(as_native_add_system, &options, NULL, "system-wide during sleep 1");
    options.pid = (uint64_t)getpid();
    snprintf(title, sizeof title, "sleep 1 (process %d)", (int)getpid());
    check_title(as_native_add_process, &options, sleep, title);
    char longest[128];
    snprintf(longest, sizeof longest, "a %s %s … (process %d)", many[1], many[2], (int)getpid());
    check_title(as_native_add_process, &options, many, longest);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_for_the_agent), cmocka_unit_test(titles)};
    arguments = argv;
    return argc == 3 ? cmocka_run_group_tests(tests, unit_profile_make, unit_profile_remove) : 2;
}
