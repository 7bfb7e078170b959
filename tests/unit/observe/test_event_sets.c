/* The table of events, the sets of Table B.1, names of combinations, and lists as users write them. */
#include "unit.h"

#include "observe/events.h"

#include <string.h>

static void the_table_is_by_bit(void **state)
{
    for (int i = 0; i < AS_EVENT_COUNT; i++) {
        assert_int_equal(as_events[i].bit, 1 << i);
        assert_true(*as_events[i].name && *as_events[i].description);
        assert_ptr_equal(as_event_find(as_events[i].name), &as_events[i]);
        assert_int_equal(as_events[i].roots & as_events[i].bit, 0);
    }
    assert_ptr_equal(as_event_find("st-llc"), &as_events[8]);
    assert_null(as_event_find("ST"));
    assert_null(as_event_find(""));
}

/* Table B.1, row by row: TEA, IBS, SPE, RIS. */
static void sets_of_the_paper(void **state)
{
    static const struct {
        const char *name;
        bool tea, ibs, spe, ris;
    } rows[] = {
        {"DR-L1", true, true, false, true},  {"DR-TLB", true, true, false, true},
        {"DR-SQ", true, false, false, true}, {"FL-MB", true, true, true, true},
        {"FL-EX", true, false, true, false}, {"FL-MO", true, false, false, false},
        {"ST-L1", true, true, true, true},   {"ST-TLB", true, true, true, true},
        {"ST-LLC", true, true, true, true},  {"L2-HIT", false, false, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t bit = as_event_find(rows[i].name)->bit;
        assert_int_equal(!!(AS_EVENTS_TEA & bit), rows[i].tea);
        assert_int_equal(!!(AS_EVENTS_IBS & bit), rows[i].ibs);
        assert_int_equal(!!(AS_EVENTS_SPE & bit), rows[i].spe);
        assert_int_equal(!!(AS_EVENTS_RIS & bit), rows[i].ris);
    }
    assert_int_equal(__builtin_popcount(AS_EVENTS_TEA), 9);
    assert_int_equal(__builtin_popcount(AS_EVENTS_IBS), 6);
    assert_int_equal(__builtin_popcount(AS_EVENTS_SPE), 5);
    assert_int_equal(__builtin_popcount(AS_EVENTS_RIS), 7);
    assert_true(as_events_check(AS_EVENTS_TEA, NULL) && as_events_check(AS_EVENTS_IBS, NULL));
    assert_true(as_events_check(AS_EVENTS_SPE, NULL) && as_events_check(AS_EVENTS_RIS, NULL));
    assert_true(as_events_check(AS_EVENTS_ALL, NULL) && as_events_check(0, NULL));
}

static void names_of_combinations(void **state)
{
    char text[AS_EVENTS_NAME_MAX], small[9];
    assert_string_equal(as_events_name(0, text, sizeof text), "Base");
    assert_string_equal(as_events_name(AS_EVENT_ST_L1, text, sizeof text), "ST-L1");
    assert_string_equal(as_events_name(AS_EVENT_ST_TLB | AS_EVENT_ST_L1, text, sizeof text), "ST-L1+ST-TLB");
    assert_true(strlen(as_events_name(AS_EVENTS_ALL, text, sizeof text)) < sizeof text - 1);
    assert_non_null(strstr(text, "+ST-CO"));
    assert_string_equal(as_events_name(AS_EVENT_ST_TLB | AS_EVENT_ST_L1, small, sizeof small), "ST-L1");
    assert_string_equal(as_events_name(0, small, 3), "");
}

static void leaves(void **state)
{
    assert_int_equal(as_events_leaves(0), 0);
    assert_int_equal(as_events_leaves(AS_EVENT_ST_L1 | AS_EVENT_ST_LLC), AS_EVENT_ST_LLC);
    assert_int_equal(as_events_leaves(AS_EVENT_ST_L1 | AS_EVENT_ST_TLB), AS_EVENT_ST_L1 | AS_EVENT_ST_TLB);
    assert_int_equal(as_events_leaves(AS_EVENT_ST_L1), AS_EVENT_ST_L1);
}

static void reads(const char *text, uint32_t expected)
{
    struct as_error err = AS_ERROR_INIT;
    uint32_t events = 77;
    if (!as_events_parse(text, AS_EVENTS_TEA, AS_EVENTS_ALL & ~AS_EVENT_COHERENCE, &events, &err))
        fail_msg("%s: %s", text, err.message);
    assert_int_equal(events, expected);
}

static void lists(void **state)
{
    reads("tea", AS_EVENTS_TEA);
    reads("TEA", AS_EVENTS_TEA);
    reads("spe", AS_EVENTS_SPE);
    reads("none", 0);
    reads("threads", AS_EVENTS_TEA | AS_EVENT_ORDER); /* this machine has no coherence */
    reads("all", AS_EVENTS_ALL & ~AS_EVENT_COHERENCE);
    reads("ST-L1", AS_EVENT_ST_L1);
    reads("st-l1,ST-TLB", AS_EVENT_ST_L1 | AS_EVENT_ST_TLB);
    reads("ST-LLC,ST-L1", AS_EVENT_ST_L1 | AS_EVENT_ST_LLC);
    reads("+FORWARDED", AS_EVENTS_TEA | AS_EVENT_FORWARDED);
    reads("-FL-MO,+bank", (AS_EVENTS_TEA & ~AS_EVENT_FL_MO) | AS_EVENT_BANK);
    reads("ST-L1,+DIVIDE", AS_EVENT_ST_L1 | AS_EVENT_DIVIDE);
    reads("all,-BANK", AS_EVENTS_ALL & ~(AS_EVENT_COHERENCE | AS_EVENT_BANK));
    reads("tea,-tea", 0);
    reads(",ST-L1,,", AS_EVENT_ST_L1);
    reads("ibs,-ST-CO", AS_EVENTS_IBS); /* what cannot be there can be taken out */
}

/* A change is one of the usual set. */
static void changes(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    uint32_t events;
    assert_true(as_events_parse("-ORDER,+BANK", AS_EVENTS_THREADS, AS_EVENTS_ALL, &events, &err));
    assert_int_equal(events, AS_EVENTS_TEA | AS_EVENT_COHERENCE | AS_EVENT_BANK);
}

static void refuses(const char *text, const char *why)
{
    struct as_error err = AS_ERROR_INIT;
    uint32_t events;
    assert_false(
        as_events_parse(text, AS_EVENTS_TEA, AS_EVENTS_ALL & ~(AS_EVENT_COHERENCE | AS_EVENT_L2_HIT), &events, &err));
    assert_int_equal(err.status, AS_EXIT_USAGE);
    if (!strstr(err.message, why))
        fail_msg("'%s' does not say '%s'", err.message, why);
}

static void wrong_lists(void **state)
{
    refuses("", "empty");
    refuses(",,", "empty");
    refuses("ST-L9", "unknown event 'ST-L9'; the events are DR-L1, DR-TLB,");
    refuses("tea,ST-L9", "the sets tea, ibs, spe, ris, threads, all, none");
    refuses("+", "unknown event ''");
    refuses("ST-LLC", "needs ST-L1 in the set too");
    refuses("-ST-L1", "needs ST-L1 in the set too");
    refuses("ST-L1,LLC-HIT", "needs DR-L1 in the set too");
    refuses("LLC-HIT", "needs DR-L1+ST-L1 in the set too");
    refuses("+L2-HIT", "this machine cannot raise the event L2-HIT");
    refuses("ST-CO", "cannot raise");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_by_bit),
        cmocka_unit_test(sets_of_the_paper),
        cmocka_unit_test(names_of_combinations),
        cmocka_unit_test(leaves),
        cmocka_unit_test(lists),
        cmocka_unit_test(changes),
        cmocka_unit_test(wrong_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
