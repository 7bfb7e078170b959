/* .pmu files: those that ship, reading back what was printed, and files that are wrong: one line each. Requests that a
 * unit cannot do. */
#include "unit.h"

#include "pmu/pmu_request.h"

#include <dirent.h>
#include <stdio.h>

static char *print(const struct as_pmu *pmu)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    as_pmu_print(pmu, out);
    fclose(out);
    return text;
}

static void all_that_ship_load(void **state)
{
    DIR *dir = opendir(PMUS);
    size_t n = 0;
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct as_pmu pmu, again;
        struct as_error err = AS_ERROR_INIT;
        char path[1024];
        if (!strstr(entry->d_name, ".pmu"))
            continue;
        snprintf(path, sizeof path, "%s/%s", PMUS, entry->d_name);
        if (!as_pmu_load(path, &pmu, &err))
            fail_msg("%s", err.message);
        assert_int_equal(strlen(pmu.name) + 4, strlen(entry->d_name));
        char *text = print(&pmu);
        if (!as_pmu_parse(text, strlen(text), "printed", &again, &err))
            fail_msg("%s: %s", entry->d_name, err.message);
        memset(pmu.path, 0, sizeof pmu.path);
        assert_memory_equal(&pmu, &again, sizeof pmu);
        free(text);
        n++;
    }
    closedir(dir);
    assert_true(n >= 13);
}

static void shipped(const char *name, struct as_pmu *pmu)
{
    struct as_error err = AS_ERROR_INIT;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.pmu", PMUS, name);
    if (!as_pmu_load(path, pmu, &err))
        fail_msg("%s", err.message);
}

static void what_the_papers_say(void **state)
{
    struct as_pmu pmu;
    shipped("westmere", &pmu);
    assert_false(pmu.pdir);
    shipped("ivy-bridge", &pmu);
    assert_true(pmu.pdir);
    shipped("ice-lake", &pmu);
    assert_int_equal(pmu.counters + pmu.fixed, 7);
    shipped("skylake", &pmu);
    assert_int_equal(pmu.counters + pmu.fixed, 4);
    assert_in_range(pmu.shadow[AS_SHADOW_LOADS], 8, 10);
    assert_int_equal(pmu.shadow[AS_SHADOW_L3_MISS], 240);
    shipped("magny-cours", &pmu);
    assert_int_equal(pmu.random_bits, 4);
    assert_int_equal(pmu.lbr, 0);
    shipped("zen2", &pmu);
    assert_int_equal(pmu.random_bits, 7);
}

static void default_events(void **state)
{
    static const char *const events[][2] = {{"westmere", "instructions"},
                                            {"ivy-bridge", "instructions:ppp"},
                                            {"magny-cours", "ops"},
                                            {"zen3", "ops"},
                                            {"neoverse-n1", "operations"},
                                            {"tip", "cycles"},
                                            {"tea", "cycles"}};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        struct as_pmu pmu;
        shipped(events[i][0], &pmu);
        assert_string_equal(as_pmu_default_event(&pmu), events[i][1]);
    }
}

/* ---- the documentation ---- */

static char doc[100000];

static void has_key(void *context, const char *key, const char *meaning, const char *allowed)
{
    char head[128], tail[400];
    snprintf(head, sizeof head, "| `%s` | ", key);
    snprintf(tail, sizeof tail, " | %s | %s |\n", allowed, meaning);
    const char *row = strstr(doc, head), *end = row ? strchr(row, '\n') : NULL, *found = row ? strstr(row, tail) : NULL;
    if (!found || found > end)
        fail_msg("doc/format/pmu.md lacks the row of %s", key);
}

static void documentation(void **state)
{
    FILE *in = fopen(DOC, "r");
    assert_non_null(in);
    doc[fread(doc, 1, sizeof doc - 1, in)] = '\0';
    fclose(in);
    as_pmu_keys(has_key, NULL);
    for (size_t i = 0; i < as_pmu_events_count; i++) {
        char head[128];
        snprintf(head, sizeof head, "| `%s` | ", as_pmu_events[i].name);
        if (!strstr(doc, head) || !strstr(doc, as_pmu_events[i].alias))
            fail_msg("doc/format/pmu.md lacks the event %s", as_pmu_events[i].name);
    }
}

/* ---- what is wrong ---- */

static const struct {
    const char *text, *message;
} bad[] = {
    {"", "t: no value for kind (the mechanism; pebs, ibs, spe, tip or tea)"},
    {"kind = pebbles\n", "t:1: kind = pebbles: not allowed; one of pebs, ibs, spe, tip, tea (the mechanism)"},
    {"kind = pebs\nkind = ibs\n", "t:2: 'kind' was already given in line 1"},
    {"kind = pebs\ncounters = 0\n",
     "t:2: counters = 0: not allowed; a whole number from 1 to 16 (programmable counters that can sample)"},
    {"counters = 4x\n",
     "t:1: counters = 4x: not allowed; a whole number from 1 to 16 (programmable counters that can sample)"},
    {"counters = 99999999999\n",
     "t:1: counters = 99999999999: not allowed; a whole number from 1 to 16 (programmable counters that can sample)"},
    {"pdir = maybe\n", "t:1: pdir = maybe: not allowed; yes or no (instructions can be sampled without a shadow "
                       "(precise distribution))"},
    {"shadows = 3\n", "t:1: unknown key 'shadows'; 'assay trust --keys' lists those that there are"},
    {"kind pebs\n", "t:1: 'kind pebs' is not of the form 'key = value'"},
    {"kind = pebs\n\x01\n", "t:2: byte 0x01 is not text; is this a PMU file?"},
    {"kind = pebs\n", "t: no value for counters (programmable counters that can sample; a whole number from 1 to 16)"},
    {"kind = ibs\ncounters = 4\n", "t:2: a unit of kind ibs has no counters"},
};

static void wrong_files(void **state)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct as_pmu pmu;
        struct as_error err = AS_ERROR_INIT;
        assert_false(as_pmu_parse(bad[i].text, strlen(bad[i].text), "t", &pmu, &err));
        assert_string_equal(err.message, bad[i].message);
    }
}

static bool set(struct as_pmu *pmu, const char *assignment, struct as_error *err)
{
    return as_pmu_set(pmu, &assignment, 1, err);
}

static void wrong_combinations(void **state)
{
    struct as_pmu pmu;
    struct as_error err = AS_ERROR_INIT;
    shipped("skylake", &pmu);
    assert_false(set(&pmu, "kernel.locked=50", &err));
    assert_string_equal(err.message, "skylake: kernel.locked is 50, more than the 20 instructions of kernel.body");
    assert_false(set(&pmu, "lbr=0", &err));
    assert_non_null(strstr(err.message, "lbr is 0"));
    assert_int_equal(pmu.lbr, 32); /* unchanged */
    assert_int_equal(err.status, AS_EXIT_USAGE);
    static const char *const both[] = {"kernel.locked=30", "kernel.body=50", "kernel.locked=31"};
    assert_true(as_pmu_set(&pmu, both, 2, &err) && as_pmu_set(&pmu, both + 1, 2, &err)); /* in any order */
    assert_true(pmu.kernel_locked == 31 && pmu.kernel_body == 50);
    shipped("skylake", &pmu);
    assert_false(set(&pmu, "random_bits=7", &err));
    assert_string_equal(err.message, "skylake: a unit of kind pebs has no random_bits");
    assert_false(set(&pmu, "kind=ibs", &err));
    assert_false(set(&pmu, "shadow.loads", &err));
    assert_true(set(&pmu, "shadow.loads=0", &err));
    assert_int_equal(pmu.shadow[AS_SHADOW_LOADS], 0);
    assert_false(set(&pmu, "counters=0", &err));
    assert_string_equal(err.message,
                        "counters=0: not allowed; a whole number from 1 to 16 (programmable counters that can sample)");
    assert_false(set(&pmu, "a.key.that.is.longer.than.any.that.there.is.so.that.it.cannot.be.one=1", &err));
    assert_non_null(strstr(err.message, "is not of the form KEY=VALUE"));
}

/* What is recorded before the buffer is full fits in it, to the byte. */
static void full_buffers(void **state)
{
    static const char *const fits[] = {"record_bytes=100", "buffer_records=50", "buffer_bytes=5000"};
    struct as_pmu pmu;
    struct as_error err = AS_ERROR_INIT;
    shipped("skylake", &pmu);
    assert_true(as_pmu_set(&pmu, fits, 3, &err));
    assert_false(set(&pmu, "buffer_bytes=4999", &err));
    assert_string_equal(err.message, "skylake: buffer_records are 50 of 100 bytes, more than the 4999 of buffer_bytes");
    assert_true(set(&pmu, "buffer_bytes=0", &err)); /* no limit is known */
}

static void wrong_requests(void **state)
{
    static const struct {
        const char *pmu, *first, *second, *message;
        uint64_t period;
    } cases[] = {
        {"skylake", "stores:l", NULL, "unknown modifier 'l'", 100},
        {"skylake", "loads:pppp", NULL, "at most three p", 100},
        {"skylake", "load-latency=0", NULL, "a threshold is a whole number of cycles", 100},
        {"skylake", "load-latency=65536", NULL, "a threshold is a whole number of cycles", 100},
        {"skylake", "stores:x", NULL, "unknown modifier 'x'", 100},
        {"skylake", "ops", NULL, "skylake has no event 'ops'; it has instructions", 100},
        {"skylake", "ref-cycles", NULL, "only a third fixed counter counts them, and skylake has 0", 100},
        {"ice-lake", "cycles:ppp", NULL, "only instructions have a precise distribution", 100},
        {"skylake", "loads:ppp", NULL, "only instructions have a precise distribution", 100},
        {"skylake", "loads=30", NULL, "only load-latency and SPE's operations have a threshold", 100},
        {"skylake", "load-latency=x", NULL, "a threshold is a whole number of cycles", 100},
        {"skylake", "loads", NULL, "a period is at least 1", 0},
        {"westmere", "instructions:ppp", NULL, "no precise distribution (pdir = no)", 100},
        {"zen2", "ops:u", NULL, "IBS cannot count one mode only", 100},
        {"zen2", "ops", "ops", "one counter for operations and one for fetches", 100},
        {"zen2", "loads", NULL, "zen2 has no event 'loads'; it has ops, cycles, fetches", 100},
        {"neoverse-n1", "operations", NULL, "intervals of 1024 operations and more", 100},
        {"tip", "cycles", "cycles", "tip has one counter", 100},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_pmu pmu;
        struct as_error err = AS_ERROR_INIT;
        struct as_pmu_request request = {.pmu = &pmu};
        shipped(cases[i].pmu, &pmu);
        bool ok = as_pmu_request_add(&request, cases[i].first, cases[i].period, &err) &&
                  (!cases[i].second || as_pmu_request_add(&request, cases[i].second, cases[i].period, &err)) &&
                  as_pmu_request_check(&request, &err);
        assert_false(ok);
        if (!strstr(err.message, cases[i].message))
            fail_msg("%s: '%s' instead of '%s'", cases[i].first, err.message, cases[i].message);
        assert_int_equal(err.status, AS_EXIT_USAGE);
    }
}

static void good_requests(void **state)
{
    struct as_pmu pmu;
    struct as_error err = AS_ERROR_INIT;
    struct as_pmu_request request = {.pmu = &pmu};
    char name[64];
    shipped("skylake", &pmu);
    assert_true(as_pmu_request_add(&request, "MEM_INST_RETIRED.ALL_LOADS:u", 5, &err));
    assert_true(as_pmu_request_add(&request, "load-latency=30", 6, &err));
    assert_true(as_pmu_request_add(&request, as_pmu_default_event(&pmu), 7, &err));
    assert_true(as_pmu_request_check(&request, &err));
    assert_int_equal(request.counters[0].threshold, 0); /* not about latencies */
    assert_string_equal(as_pmu_counter_name(&request, 0, name, sizeof name), "loads:ppu");
    assert_false(request.counters[0].kernel);
    assert_int_equal(request.counters[1].threshold, 30);
    assert_string_equal(as_pmu_counter_name(&request, 2, name, sizeof name), "instructions:ppp");
    assert_true(request.counters[2].precise_dist);
    request.n = 0;
    assert_true(as_pmu_request_add(&request, "load-latency", 6, &err));
    assert_int_equal(request.counters[0].threshold, 3); /* the least that the processor takes */
}

/* What a unit of another make lacks is refused by name. */
static void lacking_units(void **state)
{
    static const struct {
        const char *pmu, *without, *event, *message;
        bool branches, call_stack;
    } cases[] = {
        {"skylake", "latency=no", "load-latency", "skylake cannot sample by latency (latency = no)", false, false},
        {"zen2", "counts_ops=no", "ops", "zen2 counts cycles only (counts_ops = no)", false, false},
        {"zen2", NULL, "ops", "zen2 has no branch record (lbr = 0)", true, false},
        {"skylake", "lbr_call_stack=no", "loads", "the branch record of skylake keeps no call stack", true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_pmu pmu;
        struct as_error err = AS_ERROR_INIT;
        struct as_pmu_request request = {.pmu = &pmu, .branches = cases[i].branches, .call_stack = cases[i].call_stack};
        shipped(cases[i].pmu, &pmu);
        assert_true(!cases[i].without || set(&pmu, cases[i].without, &err));
        assert_true(as_pmu_request_add(&request, cases[i].event, 10007, &err));
        assert_false(as_pmu_request_check(&request, &err));
        if (!strstr(err.message, cases[i].message))
            fail_msg("%s: '%s' instead of '%s'", cases[i].event, err.message, cases[i].message);
        assert_int_equal(err.status, AS_EXIT_USAGE);
    }
}

/* As perf calls the events of each unit. */
static void names_of_counters(void **state)
{
    static const struct {
        const char *pmu, *event, *name;
    } cases[] = {
        {"skylake", "loads", "loads:pp"},
        {"skylake", "loads:k", "loads:ppk"},
        {"zen2", "ops", "ibs_op/cnt_ctl=1/"},
        {"zen2", "cycles", "ibs_op//"},
        {"zen2", "fetches", "ibs_fetch//"},
        {"neoverse-n1", "operations", "arm_spe_0//"},
        {"neoverse-n1", "operations:u", "arm_spe_0//u"},
        {"neoverse-n1", "operations:k", "arm_spe_0//k"},
        {"tea", "cycles", "tea/cycles/"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_pmu pmu;
        struct as_error err = AS_ERROR_INIT;
        struct as_pmu_request request = {.pmu = &pmu};
        char name[64];
        shipped(cases[i].pmu, &pmu);
        assert_true(as_pmu_request_add(&request, cases[i].event, 10007, &err));
        assert_string_equal(as_pmu_counter_name(&request, 0, name, sizeof name), cases[i].name);
    }
}

static void filters_of_operations(void **state)
{
    struct as_pmu pmu;
    struct as_error err = AS_ERROR_INIT;
    struct as_pmu_request request = {.pmu = &pmu};
    shipped("neoverse-n1", &pmu);
    assert_true(as_pmu_request_add(&request, "operations=12:ls", 10007, &err));
    assert_int_equal(request.counters[0].filter, AS_INSN_LOAD | AS_INSN_STORE);
    assert_int_equal(request.counters[0].threshold, 12);
    assert_true(request.counters[0].user && request.counters[0].kernel);
    assert_true(as_pmu_request_add(&request, "operations:b", 10007, &err));
    assert_true(request.counters[1].filter == AS_PMU_BRANCHES);
    for (request.n = 0; request.n < AS_PMU_COUNTERS_MAX;)
        assert_true(as_pmu_request_add(&request, "operations", 10007, &err));
    assert_false(as_pmu_request_add(&request, "operations", 10007, &err));
    assert_string_equal(err.message, "more than 16 events");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lacking_units),         cmocka_unit_test(names_of_counters),
                                       cmocka_unit_test(filters_of_operations), cmocka_unit_test(all_that_ship_load),
                                       cmocka_unit_test(documentation),         cmocka_unit_test(what_the_papers_say),
                                       cmocka_unit_test(default_events),        cmocka_unit_test(wrong_files),
                                       cmocka_unit_test(wrong_combinations),    cmocka_unit_test(full_buffers),
                                       cmocka_unit_test(wrong_requests),        cmocka_unit_test(good_requests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
