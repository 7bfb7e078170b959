/* Recordings with AMD's IBS and Arm's SPE as profiles: the recordings of perf_hardware.h are imported and read back as
 * text, with exact numbers. */
#include "perf_hardware.h"

#include "base/alloc.h"
#include "cmd/import.h"
#include "store/store_read.h"
#include "unit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

static char profile[] = "/tmp/assay-test-import-XXXXXX";

static int make_place(void **state)
{
    int fd = mkstemp(profile);
    return fd < 0 || close(fd) != 0 || unlink(profile) != 0;
}

static int remove_place(void **state)
{
    unlink(profile);
    return 0;
}

/* False: the bytes are no recording. */
static bool import_bytes(const void *bytes, size_t size)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_perf_reader *reader = as_perf_reader_memory(bytes, size, NULL, &err);
    if (!reader)
        return false;
    struct as_store_writer *writer = as_store_writer_open(profile, &err);
    assert_non_null(writer);
    struct as_import import = {
        .info = as_perf_reader_info(reader), .writer = writer, .spaces = as_perf_spaces_new(NULL), .unwinds = true};
    as_import_code_open(&import.code, writer, import.spaces);
    as_import_data_open(&import);
    bool ok = as_perf_reader_run(reader, &as_import_sink, &import, &err);
    as_import_write(&import, reader, "test");
    if (!as_store_writer_commit(writer, &err))
        fail_msg("%s", err.message);
    as_import_free(&import);
    as_perf_spaces_free(import.spaces);
    as_perf_reader_close(reader);
    return ok;
}

/* ---- a profile as text ---- */

static void add_components(struct as_store *store, const struct as_store_raw *raw, struct as_str *text)
{
    size_t n;
    const struct as_store_place *places = as_store_places(store, &n);
    char name[512];
    for (size_t i = 0; i < raw->n_components; i++) {
        const struct as_store_component *part = &raw->components[i];
        as_str_addf(text, "  %" PRIx64 " %s %" PRIu64 " of %" PRIu64 "\n", places[part->instruction].address,
                    as_store_events_name(store, part->events, name, sizeof name), part->units, part->samples);
    }
    for (size_t i = 0; raw->n_components == 0 && i < raw->n_times; i++)
        as_str_addf(text, "  %" PRIx64 " %" PRIu64 " of %" PRIu64 "\n", places[raw->times[i].instruction].address,
                    raw->times[i].units, raw->times[i].samples);
}

static void add_data(struct as_store *store, uint32_t series, struct as_str *text)
{
    struct as_error err = AS_ERROR_INIT;
    size_t n, n_places;
    const struct as_store_place *places = as_store_places(store, &n_places);
    struct as_store_access *accesses = as_store_accesses(store, series, NULL, &n, &err);
    for (size_t i = 0; i < n; i++)
        as_str_addf(text, "  access %" PRIx64 " %s%s %u at %" PRIx64 " how %u: %" PRIu64 " of %" PRIu64 "\n",
                    places[accesses[i].instruction].address, accesses[i].kind & AS_STORE_LOAD ? "load" : "",
                    accesses[i].kind & AS_STORE_STORE ? "store" : "", accesses[i].size, accesses[i].address,
                    accesses[i].how, accesses[i].units, accesses[i].samples);
    free(accesses);
    struct as_store_branch *branches = as_store_branches(store, series, &n, &err);
    for (size_t i = 0; i < n; i++)
        as_str_addf(text, "  branch %" PRIx64 " to %" PRIx64 " taken %" PRIu64 " mispredicted %" PRIu64 "\n",
                    places[branches[i].source].address, places[branches[i].target].address, branches[i].taken,
                    branches[i].mispredicted);
    free(branches);
}

static void add_notes(struct as_store *store, struct as_str *text)
{
    size_t n;
    const struct as_store_quality *quality = as_store_quality(store, &n);
    for (size_t i = 0; i < n; i++)
        as_str_addf(text, "quality %s %g\n", quality[i].key, quality[i].value);
    const struct as_store_counter *counters = as_store_counters(store, &n);
    for (size_t i = 0; i < n; i++)
        if (strncmp(counters[i].name, "record_", 7) != 0)
            as_str_addf(text, "counter %s %" PRIu64 "\n", counters[i].name, counters[i].value);
    const struct as_store_thread *threads = as_store_threads(store, &n);
    for (size_t i = 0; i < n; i++)
        as_str_addf(text, "thread %lld/%lld %s %" PRIu64 "\n", (long long)threads[i].process,
                    (long long)threads[i].number, threads[i].name ? threads[i].name : "-", threads[i].samples);
}

static struct as_str profile_text(void)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_str text = {0};
    struct as_store *store = as_store_open(profile, &err);
    size_t n;
    assert_non_null(store);
    assert_true(as_store_load(store, AS_STORE_CODE | AS_STORE_DATA, &err));
    const struct as_store_series *series = as_store_series(store, &n);
    for (uint32_t i = 0; i < n; i++) {
        struct as_store_raw raw;
        as_str_addf(&text, "%s [%s] %" PRIu64 ": %s\n", series[i].name, series[i].unit, series[i].samples,
                    series[i].description);
        assert_true(as_store_raw(store, i, NULL, &raw, &err));
        add_components(store, &raw, &text);
        as_store_raw_free(&raw);
        add_data(store, i, &text);
    }
    add_notes(store, &text);
    as_store_close(store);
    return text;
}

static void expect_profile(const struct as_str *file, const char *wanted)
{
    assert_true(import_bytes(file->data, file->len));
    struct as_str text = profile_text();
    assert_string_equal(as_str_get(&text), wanted);
    as_str_free(&text);
}

/* ---- IBS ---- */

static const char ibs_text[] =
    "ibs_op/cnt_ctl=1/ [operations] 12: AMD IBS op: tagged operations, one every 1600 dispatched operations\n"
    "  401010 L2+L1-miss+load 1600 of 1\n"
    "  401010 L1+load+page-2M 1600 of 1\n"
    "  401010 cache+L1-miss+L2-miss+load+remote 1600 of 1\n"
    "  401010 RAM+L1-miss+L2-miss+TLB-walk+load+remote+TLB-miss+far-node 1600 of 1\n"
    "  401020 L1-miss+misaligned+store+locked 1600 of 1\n"
    "  401030 branch+taken+fused 1600 of 1\n"
    "  401030 mispredicted+branch+taken+fused 1600 of 1\n"
    "  401030 branch+not-taken+fused 1600 of 1\n"
    "  401050 branch+taken+return 1600 of 1\n"
    "  401060 microcode+ip-unsure 1600 of 1\n"
    "  401040 base 3200 of 2\n"
    "  access 401010 load 8 at 7f0000001000 how 0: 3200 of 2\n"
    "  access 401010 load 8 at 7f0000001040 how 0: 1600 of 1\n"
    "  access 401010 load 8 at 7f0000001080 how 0: 1600 of 1\n"
    "  access 401020 store 4 at 60003e how 0: 1600 of 1\n"
    "  branch 401030 to 401000 taken 2 mispredicted 1\n"
    "  branch 401050 to 402000 taken 1 mispredicted 0\n"
    "ibs_fetch// [fetches] 3: AMD IBS fetch: tagged fetches, one every 3200 fetches, at random\n"
    "  402000 incomplete 3200 of 1\n"
    "  402000 L1-miss+L2-miss+LLC-miss+TLB-walk+TLB-miss+op-cache-miss 3200 of 1\n"
    "  402040 page-2M 3200 of 1\n"
    "ibs_op/cnt_ctl=1/ tag to retire [cycles] 10: cycles from when the operation was tagged until it retired\n"
    "  401010 L2+L1-miss+load 40 of 1\n"
    "  401010 L1+load+page-2M 20 of 1\n"
    "  401010 cache+L1-miss+L2-miss+load+remote 130 of 1\n"
    "  401010 RAM+L1-miss+L2-miss+TLB-walk+load+remote+TLB-miss+far-node 350 of 1\n"
    "  401020 L1-miss+misaligned+store+locked 60 of 1\n"
    "  401030 branch+taken+fused 8 of 1\n"
    "  401030 mispredicted+branch+taken+fused 9 of 1\n"
    "  401030 branch+not-taken+fused 7 of 1\n"
    "  401050 branch+taken+return 6 of 1\n"
    "  401060 microcode+ip-unsure 5 of 1\n"
    "ibs_op/cnt_ctl=1/ completion to retire [cycles] 10: cycles that the operation waited, complete, until it retired\n"
    "  401010 L2+L1-miss+load 6 of 1\n"
    "  401010 L1+load+page-2M 5 of 1\n"
    "  401010 cache+L1-miss+L2-miss+load+remote 7 of 1\n"
    "  401010 RAM+L1-miss+L2-miss+TLB-walk+load+remote+TLB-miss+far-node 10 of 1\n"
    "  401020 L1-miss+misaligned+store+locked 50 of 1\n"
    "  401030 branch+taken+fused 1 of 1\n"
    "  401030 mispredicted+branch+taken+fused 1 of 1\n"
    "  401030 branch+not-taken+fused 1 of 1\n"
    "  401050 branch+taken+return 1 of 1\n"
    "  401060 microcode+ip-unsure 1 of 1\n"
    "ibs_op/cnt_ctl=1/ miss latency [cycles] 3: cycles until a load that missed the first data cache had its data\n"
    "  401010 L2+L1-miss+load 14 of 1\n"
    "  401010 cache+L1-miss+L2-miss+load+remote 110 of 1\n"
    "  401010 RAM+L1-miss+L2-miss+TLB-walk+load+remote+TLB-miss+far-node 300 of 1\n"
    "  access 401010 load 8 at 7f0000001000 how 0: 300 of 2\n"
    "  access 401010 load 8 at 7f0000001040 how 0: 14 of 1\n"
    "  access 401010 load 8 at 7f0000001080 how 0: 110 of 1\n"
    "  access 401020 store 4 at 60003e how 0: 0 of 1\n"
    "ibs_op/cnt_ctl=1/ TLB refill latency [cycles] 1: cycles until a missing translation was in the first TLB\n"
    "  401010 RAM+L1-miss+L2-miss+TLB-walk+load+remote+TLB-miss+far-node 40 of 1\n"
    "ibs_op/cnt_ctl=1/ open requests [requests] 2: misses that were outstanding when a load's line came\n"
    "  401010 cache+L1-miss+L2-miss+load+remote 0 of 1\n"
    "  401010 RAM+L1-miss+L2-miss+TLB-walk+load+remote+TLB-miss+far-node 3 of 1\n"
    "ibs_fetch// fetch latency [cycles] 3: cycles from the fetch until it was complete or given up\n"
    "  402000 incomplete 7 of 1\n"
    "  402000 L1-miss+L2-miss+LLC-miss+TLB-walk+TLB-miss+op-cache-miss 90 of 1\n"
    "  402040 page-2M 4 of 1\n"
    "ibs_fetch// TLB refill latency [cycles] 1: cycles until a missing translation was in the first TLB\n"
    "  402000 L1-miss+L2-miss+LLC-miss+TLB-walk+TLB-miss+op-cache-miss 30 of 1\n"
    "quality raw_bad 1\n"
    "quality raw_invalid 1\n"
    "quality data_hardware 5\n"
    "quality unmatched_files 1\n"
    "counter branch_cycles 0\n"
    "counter branch_entries 3\n"
    "counter branch_mispredicted 1\n"
    "counter branch_samples 3\n"
    "counter branch_stacks 0\n"
    "counter ibs_samples 13\n"
    "counter samples 15\n"
    "thread 100/101 prog 15\n";

static void test_ibs(void **state)
{
    static const struct wrapping wrappings[] = {{0}, {.big = true}, {.pipe = true}, {.pipe = true, .packed = 300}};
    for (size_t i = 0; i < sizeof wrappings / sizeof *wrappings; i++) {
        struct as_str file = ibs_file(&wrappings[i]);
        expect_profile(&file, ibs_text);
        as_str_free(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ibs),
    };
    return cmocka_run_group_tests(tests, make_place, remove_place);
}
