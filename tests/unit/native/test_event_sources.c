/* Where an event's name is looked for: this machine's /sys, then libpfm4, which knows no other machine. Both are played here. */
#include "native/event.h"

#include "unit.h"

#include <stdio.h>

static const char *sys_has, *library_has; /* "cpu_core/mem-loads", "LD_RETIRED" */
static char asked[512];                   /* of the library */

/* ---- in place of event_sysfs.c and event_pfm.c ---- */

bool as_native_event_pmu_has(const char *root, const char *pmu, const char *file)
{
    char event[64], wanted[128];
    assert_int_equal(sscanf(file, "events/%63s", event), 1);
    snprintf(wanted, sizeof wanted, "%s/%s", pmu, event);
    return strcmp(sys_has, wanted) == 0;
}

bool as_native_event_from_sysfs(const char *root, const char *pmu, const char *terms, struct as_native_event *event,
                                struct as_error *err)
{
    snprintf(event->pmu, sizeof event->pmu, "%s/%s", pmu, terms);
    return true;
}

bool as_native_event_from_pfm(const char *text, struct as_native_event *event, struct as_error *err)
{
    snprintf(asked + strlen(asked), sizeof asked - strlen(asked), " %s", text);
    if (strcmp(text, library_has) != 0)
        return as_error_set(err, "not known");
    snprintf(event->pmu, sizeof event->pmu, "library");
    return true;
}

/* ---- */

/* Returns the PMU, "" if there is no such event. */
static const char *pmu_of(const char *root, const char *text)
{
    static struct as_native_event event;
    struct as_error err = AS_ERROR_INIT;
    event = (struct as_native_event){0};
    asked[0] = '\0';
    return as_native_event_parse(root, text, &event, &err) ? event.pmu : "";
}

static void accesses_of_the_kernel(void **state)
{
    library_has = "LD_RETIRED";
    sys_has = "cpu/mem-loads";
    assert_string_equal(pmu_of("", "loads"), "cpu/mem-loads");
    assert_string_equal(pmu_of("/copy", "loads"), "cpu/mem-loads");
    sys_has = "cpu_core/mem-stores"; /* of a hybrid processor */
    assert_string_equal(pmu_of("", "stores:p"), "cpu_core/mem-stores");
    assert_string_equal(asked, "");
}

static void accesses_of_the_library(void **state)
{
    sys_has = "";
    library_has = "LS_DISPATCH:LD_DISPATCH";
    assert_string_equal(pmu_of("", "loads"), "library");
    assert_string_equal(asked, " MEM_INST_RETIRED:ALL_LOADS MEM_UOPS_RETIRED:ALL_LOADS LS_DISPATCH:LD_DISPATCH");
    assert_string_equal(pmu_of("", "stores"), "");
    assert_string_equal(
        asked, " MEM_INST_RETIRED:ALL_STORES MEM_UOPS_RETIRED:ALL_STORES LS_DISPATCH:STORE_DISPATCH ST_RETIRED");
    assert_string_equal(pmu_of("/copy", "loads"), ""); /* another machine's */
    assert_string_equal(asked, "");
}

static void names_of_the_library(void **state)
{
    library_has = "BR_MISP:ALL";
    assert_string_equal(pmu_of("", "BR_MISP:ALL"), "library");
    assert_string_equal(pmu_of("", "BR_MISP:ALL:u"), "library");
    assert_string_equal(pmu_of("", "cpu/BR_MISP:ALL/"), "cpu/BR_MISP:ALL");
    assert_string_equal(asked, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_of_the_kernel),
        cmocka_unit_test(accesses_of_the_library),
        cmocka_unit_test(names_of_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
