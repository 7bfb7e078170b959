/* Recordings with AMD's IBS and Arm's SPE as profiles: the recordings of perf_hardware.h are imported and read back as
 * text, with exact numbers. */
#include "perf_hardware.h"

#include "base/alloc.h"
#include "import/import.h"
#include "native/session_internal.h"
#include "store/store_read.h"
#include "unit.h"
#include "unit_profile.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

static struct as_store_writer *writer;

static struct as_import *import_begin(const struct as_perf_info *info, uint64_t most_waiting)
{
    struct as_error err = AS_ERROR_INIT;
    writer = as_store_writer_open(unit_profile, &err);
    assert_non_null(writer);
    return as_import_open(
        &(struct as_import_options){.info = info, .writer = writer, .unwind = true, .most_waiting = most_waiting});
}

static void import_end(struct as_import *import, const struct as_perf_reader *reader)
{
    struct as_error err = AS_ERROR_INIT;
    as_import_finish(import);
    as_import_describe(import, reader, "test");
    as_import_write(import, reader);
    if (!as_store_writer_commit(writer, &err))
        fail_msg("%s", err.message);
    as_import_free(import);
}

/* Records of SPE may wait in `most` bytes (0: as usual). False: the bytes are no recording. */
static bool import_waiting(const void *bytes, size_t size, uint64_t most)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_perf_reader *reader = as_perf_reader_memory(bytes, size, NULL, &err);
    if (!reader)
        return false;
    struct as_import *import = import_begin(as_perf_reader_info(reader), most);
    bool ok = as_perf_reader_run(reader, &as_import_sink, import, &err);
    import_end(import, reader);
    as_perf_reader_close(reader);
    return ok;
}

static bool import_bytes(const void *bytes, size_t size)
{
    return import_waiting(bytes, size, 0);
}

/* ---- a profile as text ---- */

/* "101 prog 401010": thread, module, address. */
static void add_location(struct as_store *store, uint32_t thread, uint32_t instruction, struct as_str *text)
{
    size_t n;
    const struct as_store_location *location = &as_store_locations(store, &n)[instruction];
    const char *path = location->module == AS_STORE_NONE ? "?" : as_store_modules(store, &n)[location->module].path;
    if (thread != AS_STORE_NONE)
        as_str_addf(text, "%u ", as_store_threads(store, &n)[thread].number);
    as_str_addf(text, "%s %" PRIx64, strrchr(path, '/') ? strrchr(path, '/') + 1 : path, location->address);
}

static void add_components(struct as_store *store, const struct as_store_raw *raw, struct as_str *text)
{
    char name[512];
    for (size_t i = 0; i < raw->n_components; i++) {
        const struct as_store_component *part = &raw->components[i];
        as_str_add(text, "  ");
        add_location(store, part->thread, part->instruction, text);
        as_str_addf(text, " %s %" PRIu64 " of %" PRIu64 "\n",
                    as_store_events_name(store, part->events, name, sizeof name), part->units, part->samples);
    }
}

static void add_data(struct as_store *store, uint32_t series, struct as_str *text)
{
    struct as_error err = AS_ERROR_INIT;
    size_t n;
    struct as_store_access *accesses = as_store_accesses(store, series, NULL, &n, &err);
    for (size_t i = 0; i < n; i++) {
        as_str_add(text, "  access ");
        add_location(store, accesses[i].thread, accesses[i].instruction, text);
        as_str_addf(text, " %s%s %u at %" PRIx64 " how %u: %" PRIu64 " of %" PRIu64 "\n",
                    accesses[i].kind & AS_STORE_LOAD ? "load" : "", accesses[i].kind & AS_STORE_STORE ? "store" : "",
                    accesses[i].size, accesses[i].address, accesses[i].how, accesses[i].units, accesses[i].samples);
    }
    free(accesses);
    struct as_store_branch *branches = as_store_branches(store, series, &n, &err);
    for (size_t i = 0; i < n; i++) {
        as_str_add(text, "  branch ");
        add_location(store, AS_STORE_NONE, branches[i].source, text);
        as_str_add(text, " to ");
        add_location(store, AS_STORE_NONE, branches[i].target, text);
        as_str_addf(text, " taken %" PRIu64 " mispredicted %" PRIu64 "\n", branches[i].taken, branches[i].mispredicted);
    }
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
    struct as_store *store = as_store_open(unit_profile, &err);
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
    "ibs_op/cnt_ctl=1/ [operations] 14: AMD IBS op: tagged operations, one every 1,600 dispatched operations\n"
    "  101 prog 401010 L2+L1-miss+load 1600 of 1\n"
    "  101 prog 401010 L1+load+page-2M 1600 of 1\n"
    "  101 prog 401010 cache+L1-miss+L2-miss+load+remote+modified 1600 of 1\n"
    "  101 prog 401010 RAM+L1-miss+L2-miss+TLB-walk+load+remote+TLB-miss+far-node 1600 of 1\n"
    "  101 prog 401014 fill buffer+L1-miss+L2-miss+load 1600 of 1\n"
    "  101 prog 401018 uncached+load 1600 of 1\n"
    "  101 prog 401020 L2+L1-miss+misaligned+store+locked 1600 of 1\n"
    "  101 prog 401030 branch+taken+fused 1600 of 1\n"
    "  101 prog 401030 mispredicted+branch+taken+fused 1600 of 1\n"
    "  101 prog 401030 branch+not-taken+fused 1600 of 1\n"
    "  101 prog 401050 branch+taken+return 1600 of 1\n"
    "  101 prog 401060 microcode+ip-unsure 1600 of 1\n"
    "  101 prog 401040 base 3200 of 2\n"
    "  access 101 prog 401010 load 8 at 7f0000001000 how 0: 3200 of 2\n"
    "  access 101 prog 401010 load 8 at 7f0000001040 how 0: 1600 of 1\n"
    "  access 101 prog 401010 load 8 at 7f0000001080 how 0: 1600 of 1\n"
    "  access 101 prog 401014 load 8 at 7f00000010c0 how 0: 1600 of 1\n"
    "  access 101 prog 401018 load 4 at 7f0000f00000 how 0: 1600 of 1\n"
    "  access 101 prog 401020 store 4 at 60003e how 0: 1600 of 1\n"
    "  branch prog 401030 to prog 401000 taken 2 mispredicted 1\n"
    "  branch prog 401050 to prog 402000 taken 1 mispredicted 0\n"
    "ibs_fetch// [fetches] 3: AMD IBS fetch: tagged fetches, one every 3,200 fetches, at random\n"
    "  101 prog 402000 incomplete 3200 of 1\n"
    "  101 prog 402000 L1-miss+L2-miss+LLC-miss+TLB-walk+TLB-miss+op-cache-miss 3200 of 1\n"
    "  101 prog 402040 page-2M 3200 of 1\n"
    "ibs_op/cnt_ctl=1/ tag to retire [cycles] 12: cycles from tagging the operation until it retired\n"
    "  101 prog 401010 L2+L1-miss+load 40 of 1\n"
    "  101 prog 401010 L1+load+page-2M 20 of 1\n"
    "  101 prog 401010 cache+L1-miss+L2-miss+load+remote+modified 130 of 1\n"
    "  101 prog 401010 RAM+L1-miss+L2-miss+TLB-walk+load+remote+TLB-miss+far-node 350 of 1\n"
    "  101 prog 401014 fill buffer+L1-miss+L2-miss+load 70 of 1\n"
    "  101 prog 401018 uncached+load 400 of 1\n"
    "  101 prog 401020 L2+L1-miss+misaligned+store+locked 60 of 1\n"
    "  101 prog 401030 branch+taken+fused 8 of 1\n"
    "  101 prog 401030 mispredicted+branch+taken+fused 9 of 1\n"
    "  101 prog 401030 branch+not-taken+fused 7 of 1\n"
    "  101 prog 401050 branch+taken+return 6 of 1\n"
    "  101 prog 401060 microcode+ip-unsure 5 of 1\n"
    "ibs_op/cnt_ctl=1/ completion to retire [cycles] 12: cycles between completion and retirement of the operation\n"
    "  101 prog 401010 L2+L1-miss+load 6 of 1\n"
    "  101 prog 401010 L1+load+page-2M 5 of 1\n"
    "  101 prog 401010 cache+L1-miss+L2-miss+load+remote+modified 7 of 1\n"
    "  101 prog 401010 RAM+L1-miss+L2-miss+TLB-walk+load+remote+TLB-miss+far-node 10 of 1\n"
    "  101 prog 401014 fill buffer+L1-miss+L2-miss+load 2 of 1\n"
    "  101 prog 401018 uncached+load 3 of 1\n"
    "  101 prog 401020 L2+L1-miss+misaligned+store+locked 50 of 1\n"
    "  101 prog 401030 branch+taken+fused 1 of 1\n"
    "  101 prog 401030 mispredicted+branch+taken+fused 1 of 1\n"
    "  101 prog 401030 branch+not-taken+fused 1 of 1\n"
    "  101 prog 401050 branch+taken+return 1 of 1\n"
    "  101 prog 401060 microcode+ip-unsure 1 of 1\n"
    "ibs_op/cnt_ctl=1/ miss latency [cycles] 4: cycles until a load that missed the first-level data cache got its "
    "data\n"
    "  101 prog 401010 L2+L1-miss+load 14 of 1\n"
    "  101 prog 401010 cache+L1-miss+L2-miss+load+remote+modified 110 of 1\n"
    "  101 prog 401010 RAM+L1-miss+L2-miss+TLB-walk+load+remote+TLB-miss+far-node 300 of 1\n"
    "  101 prog 401014 fill buffer+L1-miss+L2-miss+load 44 of 1\n"
    "  access 101 prog 401010 load 8 at 7f0000001000 how 0: 300 of 2\n"
    "  access 101 prog 401010 load 8 at 7f0000001040 how 0: 14 of 1\n"
    "  access 101 prog 401010 load 8 at 7f0000001080 how 0: 110 of 1\n"
    "  access 101 prog 401014 load 8 at 7f00000010c0 how 0: 44 of 1\n"
    "  access 101 prog 401018 load 4 at 7f0000f00000 how 0: 0 of 1\n"
    "  access 101 prog 401020 store 4 at 60003e how 0: 0 of 1\n"
    "ibs_op/cnt_ctl=1/ TLB refill latency [cycles] 1: cycles until a missing translation was in the first-level TLB\n"
    "  101 prog 401010 RAM+L1-miss+L2-miss+TLB-walk+load+remote+TLB-miss+far-node 40 of 1\n"
    "ibs_op/cnt_ctl=1/ open requests [requests] 3: misses outstanding when a load's line arrived\n"
    "  101 prog 401010 cache+L1-miss+L2-miss+load+remote+modified 0 of 1\n"
    "  101 prog 401010 RAM+L1-miss+L2-miss+TLB-walk+load+remote+TLB-miss+far-node 3 of 1\n"
    "  101 prog 401014 fill buffer+L1-miss+L2-miss+load 0 of 1\n"
    "ibs_fetch// fetch latency [cycles] 3: cycles until the fetch was complete or abandoned\n"
    "  101 prog 402000 incomplete 7 of 1\n"
    "  101 prog 402000 L1-miss+L2-miss+LLC-miss+TLB-walk+TLB-miss+op-cache-miss 90 of 1\n"
    "  101 prog 402040 page-2M 4 of 1\n"
    "ibs_fetch// TLB refill latency [cycles] 1: cycles until a missing translation was in the first-level TLB\n"
    "  101 prog 402000 L1-miss+L2-miss+LLC-miss+TLB-walk+TLB-miss+op-cache-miss 30 of 1\n"
    "quality raw_bad 1\n"
    "quality raw_invalid 1\n"
    "quality data_hardware 7\n"
    "quality unmatched_files 1\n"
    "counter branch_cycles 0\n"
    "counter branch_entries 3\n"
    "counter branch_mispredicted 1\n"
    "counter branch_samples 3\n"
    "counter branch_stacks 0\n"
    "counter ibs_samples 15\n"
    "counter samples 17\n"
    "thread 100/101 prog 17\n";

static void test_ibs(void **state)
{
    static const struct wrapping wrappings[] = {{0}, {.big = true}, {.pipe = true}, {.pipe = true, .packed = 300}};
    for (size_t i = 0; i < sizeof wrappings / sizeof *wrappings; i++) {
        struct as_str file = ibs_file(&wrappings[i]);
        expect_profile(&file, ibs_text);
        as_str_free(&file);
    }
}

/* AMD's precise cycles are IBS op; those of others are not, whatever raw data they have. */
static void test_cycles_by_ibs(void **state)
{
    struct attr attrs[2] = {ibs_attrs[0], ibs_attrs[1]};
    attrs[0].type = attrs[0].config = 0;
    attrs[0].name = "cycles:pp";
    attrs[0].precise = 2;
    static const char *const processors[] = {"AuthenticAMD,25,97,2", "GenuineIntel,6,85,7"};
    for (size_t i = 0; i < 2; i++) {
        struct build records = ibs_records(false);
        struct as_str file = wrap(&(struct wrapping){.cpu_id = processors[i]}, attrs, 2, &records);
        assert_true(import_bytes(file.data, file.len));
        struct as_str text = profile_text();
        bool amd = i == 0;
        assert_int_equal(strstr(text.data, "cycles:pp [operations] 14: AMD IBS op: tagged ") != NULL, amd);
        assert_int_equal(strstr(text.data, "cycles:pp [cycles] 14: samples of cycles:pp, ") != NULL, !amd);
        assert_int_equal(strstr(text.data, "cycles:pp miss latency [cycles] 4: ") != NULL, amd);
        as_str_free(&text);
        as_str_free(&file);
        as_str_free(&records.bytes);
    }
}

/* ---- SPE ---- */

static const char spe_text[] =
    "arm_spe_0/ts_enable=1/ [operations] 13: Arm SPE: sampled operations, one every 1,024 operations\n"
    "  101 first 401010 RAM+L1-miss+LLC-miss+TLB-walk+load+remote 1024 of 1\n"
    "  101 second 401010 L1+load 1024 of 1\n"
    "  101 second 401010 L3+L1-miss+load 1024 of 1\n"
    "  102 second 401020 L1+load+store+atomic 1024 of 1\n"
    "  102 second 401040 load+SIMD 1024 of 1\n"
    "  102 second 401040 load+partial-predicate+SVE 1024 of 1\n"
    "  0 [unknown] 401048 base 1024 of 1\n"
    "  101 second 401060 base 1024 of 1\n"
    "  102 second 401064 base 1024 of 1\n"
    "  102 second 401030 mispredicted+branch+taken+conditional 1024 of 1\n"
    "  102 second 401030 branch+not-taken+conditional 1024 of 1\n"
    "  101 [kernel] ffff800010001000 not-retired 1024 of 1\n"
    "  102 second 401044 damaged 1024 of 1\n"
    "  access 101 first 401010 load 0 at 7f0000001000 how 0: 1024 of 1\n"
    "  access 101 second 401010 load 0 at 7f0000001000 how 0: 1024 of 1\n"
    "  access 101 second 401010 load 0 at 7f0000001040 how 0: 1024 of 1\n"
    "  access 102 second 401020 loadstore 0 at 600040 how 0: 1024 of 1\n"
    "  branch second 401030 to second 401000 taken 1 mispredicted 1\n"
    "dummy:u [dummy] 0: samples of dummy:u, each standing for its period\n"
    "arm_spe_0/ts_enable=1/ total latency [cycles] 6: cycles from the operation's dispatch to its completion\n"
    "  101 first 401010 RAM+L1-miss+LLC-miss+TLB-walk+load+remote 200 of 1\n"
    "  101 second 401010 L1+load 6 of 1\n"
    "  101 second 401010 L3+L1-miss+load 50 of 1\n"
    "  102 second 401020 L1+load+store+atomic 30 of 1\n"
    "  102 second 401030 mispredicted+branch+taken+conditional 9 of 1\n"
    "  102 second 401030 branch+not-taken+conditional 4 of 1\n"
    "  access 101 first 401010 load 0 at 7f0000001000 how 0: 200 of 1\n"
    "  access 101 second 401010 load 0 at 7f0000001000 how 0: 6 of 1\n"
    "  access 101 second 401010 load 0 at 7f0000001040 how 0: 50 of 1\n"
    "  access 102 second 401020 loadstore 0 at 600040 how 0: 30 of 1\n"
    "arm_spe_0/ts_enable=1/ issue latency [cycles] 6: cycles from the operation's dispatch to its issue\n"
    "  101 first 401010 RAM+L1-miss+LLC-miss+TLB-walk+load+remote 12 of 1\n"
    "  101 second 401010 L1+load 2 of 1\n"
    "  101 second 401010 L3+L1-miss+load 3 of 1\n"
    "  102 second 401020 L1+load+store+atomic 4 of 1\n"
    "  102 second 401030 mispredicted+branch+taken+conditional 1 of 1\n"
    "  102 second 401030 branch+not-taken+conditional 1 of 1\n"
    "arm_spe_0/ts_enable=1/ translation latency [cycles] 2: cycles spent on translating the address\n"
    "  101 first 401010 RAM+L1-miss+LLC-miss+TLB-walk+load+remote 30 of 1\n"
    "  101 second 401010 L1+load 1 of 1\n"
    "quality trace_truncated 1\n"
    "quality spe_bad_bytes 1\n"
    "quality spe_damaged 1\n"
    "quality spe_without_place 1\n"
    "quality spe_without_thread 1\n"
    "quality spe_unknown_sources 1\n"
    "quality data_hardware 4\n"
    "quality data_none 2\n"
    "quality unmatched_files 0.846154\n"
    "counter branch_cycles 0\n"
    "counter branch_entries 1\n"
    "counter branch_mispredicted 1\n"
    "counter branch_samples 1\n"
    "counter branch_stacks 0\n"
    "counter samples 13\n"
    "counter spe_records 13\n"
    "thread 100/101 first 1\n"
    "thread 100/101 second 4\n"
    "thread 100/102 other 7\n"
    "thread 0/0 - 1\n";

static void test_spe(void **state)
{
    static const struct wrapping wrappings[] = {{0}, {.big = true}, {.pipe = true}};
    for (size_t i = 0; i < sizeof wrappings / sizeof *wrappings; i++) {
        struct as_str file = spe_file(&wrappings[i], 0);
        expect_profile(&file, spe_text);
        as_str_free(&file);
    }
    for (size_t piece = 1; piece < 64; piece += 3) { /* packets that a piece ends in */
        struct as_str file = spe_file(&wrappings[0], piece);
        expect_profile(&file, spe_text);
        as_str_free(&file);
    }
}

/* Lines "  101 prog 401000 NAMES PERIOD of 1" for one instruction after the other. */
static void check_bits(struct as_str *file, const char *const *names, unsigned n, const char *period)
{
    char line[128];
    assert_true(import_bytes(file->data, file->len));
    struct as_str text = profile_text();
    for (unsigned i = 0; i < n; i++) {
        snprintf(line, sizeof line, "\n  101 prog %x %s %s of 1\n", 0x401000 + 4 * i, names[i], period);
        if (!strstr(text.data, line))
            fail_msg("missing:%s in %s", line, text.data);
    }
    as_str_free(&text);
    as_str_free(file);
}

/* Each bit of the events packet (Arm's architecture manual, "Events packet") is an event of the unit_profile, or none. */
static void test_spe_bits(void **state)
{
    static const char *const names[SPE_EVENT_BITS] = {[0] = "load+exception",
                                                      [2] = "L1+load",
                                                      [3] = "L1-miss+load",
                                                      [5] = "TLB-walk+load",
                                                      [6] = "not-taken+load",
                                                      [7] = "mispredicted+load",
                                                      [8] = "L3+load",
                                                      [9] = "LLC-miss+load",
                                                      [10] = "load+remote",
                                                      [11] = "misaligned+load",
                                                      [16] = "load+transactional",
                                                      [17] = "load+partial-predicate",
                                                      [18] = "load+empty-predicate",
                                                      [19] = "L2+load",
                                                      [20] = "L2-miss+load",
                                                      [21] = "load+modified",
                                                      [22] = "load+recently-fetched",
                                                      [23] = "load+snooped",
                                                      [24] = "load+streaming",
                                                      [25] = "load+shared-unit"};
    const char *wanted[SPE_EVENT_BITS];
    struct as_str file = spe_bits_file();
    for (int i = 0; i < SPE_EVENT_BITS; i++)
        wanted[i] = names[i] ? names[i] : "load";
    check_bits(&file, wanted, SPE_EVENT_BITS, "1024");
}

/* Where data came from, by the numbers of the Neoverse N1's manual; of another core they say nothing. */
static void test_spe_sources(void **state)
{
    static const char *const names[SPE_SOURCES] = {
        [0x0] = "L1+load", [0x8] = "L2+load",           [0x9] = "cache+load+remote",          [0xa] = "L3+load",
        [0xb] = "L3+load", [0xc] = "cache+load+remote", [0xd] = "cache+load+remote+far-node", [0xe] = "RAM+load"};
    const char *wanted[SPE_SOURCES], *none[SPE_SOURCES];
    struct as_str known = spe_sources_file("0x00000000413fd0c1"), other = spe_sources_file("0x00000000413fd051");
    for (int i = 0; i < SPE_SOURCES; i++) {
        wanted[i] = names[i] ? names[i] : "load";
        none[i] = "load";
    }
    check_bits(&known, wanted, SPE_SOURCES, "1024");
    check_bits(&other, none, SPE_SOURCES, "1024");
}

/* What the recording says of its machine, and nothing that it does not say. */
static void test_machine(void **state)
{
    size_t n, kernels = 0;
    struct as_error err = AS_ERROR_INIT;
    struct as_str file = spe_file(&(struct wrapping){0}, 0);
    assert_true(import_bytes(file.data, file.len));
    struct as_store *store = as_store_open(unit_profile, &err);
    assert_non_null(store);
    const struct as_store_pair *pairs = as_store_machine(store, &n);
    for (size_t i = 0; i < n; i++) {
        assert_string_not_equal(pairs[i].key, "perf"); /* its version is not in there */
        kernels += strcmp(pairs[i].key, "kernel") == 0 && strcmp(pairs[i].value, "6.1") == 0;
    }
    assert_int_equal(kernels, 1);
    as_store_close(store);
    as_str_free(&file);
}

static void test_ibs_bits(void **state)
{
    static const char *const names[IBS_DATA4_BITS] = {"L1+load+resync", "L1+load", "L1+load", "L1+load"};
    struct as_str file = ibs_bits_file();
    check_bits(&file, names, IBS_DATA4_BITS, "1600");
}

static void test_ibs_pages(void **state)
{
    static const char *const right[IBS_PAGES] = {"base", "page-2M", "page-1G"}, *const wrong[] = {"base", "base",
                                                                                                  "page-2M"};
    struct as_str file = ibs_pages_file("AuthenticAMD,25,97,2"), errata = ibs_pages_file("AuthenticAMD,25,1,1");
    check_bits(&file, right, IBS_PAGES, "3200");
    check_bits(&errata, wrong, IBS_PAGES, "3200");
}

/* A PMU without a name, in a recording that says that its trace is SPE's; and one whose trace is not. */
static void test_spe_by_trace(void **state)
{
    struct build records = spe_records(false, 0);
    struct as_str file = wrap(&(struct wrapping){.no_features = true}, spe_attrs, 2, &records);
    assert_true(import_bytes(file.data, file.len));
    struct as_str text = profile_text();
    assert_non_null(strstr(text.data, " [operations] 13: Arm SPE: "));
    as_str_free(&text);
    as_str_free(&file);
    records.bytes.data[8] = AS_PERF_AUX_INTEL_PT; /* the first record's first word */
    file = wrap(&(struct wrapping){.no_features = true}, spe_attrs, 2, &records);
    assert_true(import_bytes(file.data, file.len));
    text = profile_text();
    assert_null(strstr(text.data, "spe_records"));
    assert_non_null(strstr(text.data, "quality trace_bytes "));
    as_str_free(&text);
    as_str_free(&file);
    as_str_free(&records.bytes);
}

/* Of several PMUs the first that is named SPE has the trace, whatever comes before or behind it. */
static void test_spe_among_others(void **state)
{
    enum { ATTRS = 4 };
    struct build records = spe_records(false, 0);
    for (size_t at = 0; at < ATTRS - 1; at++) {
        struct attr attrs[ATTRS] = {[ATTRS - 1] = spe_attrs[1]};
        for (size_t i = 0; i < ATTRS - 1; i++) {
            attrs[i] = spe_attrs[0];
            attrs[i].ids[0] += i == at ? 0 : 1000 + i;
            attrs[i].config += i;
            attrs[i].name = i < at    ? "other/ts_enable=1/"
                            : i == at ? "arm_spe_0/ts_enable=1/"
                                      : "arm_spe_1/ts_enable=1/";
        }
        struct as_str file = wrap(&(struct wrapping){0}, attrs, ATTRS, &records);
        assert_true(import_bytes(file.data, file.len));
        struct as_str text = profile_text();
        if (!strstr(text.data, "arm_spe_0/ts_enable=1/ [operations] 13: Arm SPE: "))
            fail_msg("the one named at %zu: %s", at, text.data);
        as_str_free(&text);
        as_str_free(&file);
    }
    as_str_free(&records.bytes);
}

/* Threads that no record tells of: a buffer's own thread, or that of a context packet, is a process by that number. */
static void test_spe_unknown_threads(void **state)
{
    struct as_str file = spe_unknown_threads_file();
    assert_true(import_bytes(file.data, file.len));
    struct as_str text = profile_text();
    static const char *const lines[] = {"counter spe_records 3\n", "thread 301/301 - 2\n", "thread 302/302 - 1\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(text.data, lines[i]))
            fail_msg("no \"%s\" in:\n%s", lines[i], text.data);
    assert_null(strstr(text.data, "spe_without_thread"));
    as_str_free(&text);
    as_str_free(&file);
}

/* No room to wait: records count as soon as they come, when nobody has said yet what is mapped, and none is lost. */
static void test_spe_without_room(void **state)
{
    struct as_str file = spe_file(&(struct wrapping){0}, 0);
    assert_true(import_waiting(file.data, file.len, 1));
    struct as_str text = profile_text();
    assert_non_null(strstr(text.data, "counter spe_records 13\n"));
    assert_non_null(strstr(text.data, " [unknown] 401010 RAM+"));
    as_str_free(&text);
    as_str_free(&file);
}

/* ---- SPE, live ---- */

enum { PAGE = 4096, AUX_TAIL = PAGE - 40 }; /* the trace begins shortly before the buffer's end */

static void *map_pages(size_t pages)
{
    void *at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    return at;
}

/* What the kernel would have mapped and written: a page about it, records, and the buffer of the processor's unit. */
static void make_buffers(struct as_ring *ring)
{
    struct build records = {0}, trace = {0};
    put_spe_processes(&records);
    put_spe_truncated(&records);
    put_spe_trace(&trace);
    assert_true(records.bytes.len < PAGE && trace.bytes.len < PAGE);
    *ring = (struct as_ring){.fd = -1, .page = map_pages(2), .size = PAGE, .mapped = 2 * PAGE};
    ring->data = (uint8_t *)ring->page + PAGE;
    ring->aux = map_pages(1);
    ring->aux_size = PAGE;
    memcpy(ring->data, records.bytes.data, records.bytes.len);
    for (size_t i = 0; i < trace.bytes.len; i++)
        ring->aux[(AUX_TAIL + i) % PAGE] = (uint8_t)trace.bytes.data[i];
    ring->page->data_head = records.bytes.len;
    ring->page->aux_tail = AUX_TAIL;
    ring->page->aux_head = AUX_TAIL + trace.bytes.len;
    ring->page->cap_user_time_zero = 1;
    ring->page->time_shift = SPE_TICKS_SHIFT;
    ring->page->time_mult = SPE_TICKS_MULTIPLIER;
    ring->page->time_zero = SPE_TICKS_ZERO;
    as_str_free(&records.bytes);
    as_str_free(&trace.bytes);
}

/* A session whose program has ended, with what it has left in the buffers. */
static struct as_native_session *make_session(void)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_native_session *session = as_alloc(sizeof *session);
    struct as_native_event event = {
        .name = "arm_spe_0/ts_enable=1/", .pmu = "arm_spe_0", .unit = AS_NATIVE_UNIT_SPE, .attr.type = 12};
    *as_vec_push(&session->events) = event;
    session->options =
        (struct as_native_options){.events = session->events.data, .n_events = 1, .period = 1024, .root = "/nowhere"};
    session->pid = session->go = session->refusal = session->pid_fd = -1;
    session->wake = eventfd(0, EFD_CLOEXEC);
    session->child = true;
    session->stopping = true;
    assert_true(as_native_make_kinds(session, &err));
    struct as_native_ring *ring = as_vec_push(&session->rings);
    *ring = (struct as_native_ring){.group = session->kinds.data[0].group};
    make_buffers(&ring->ring);
    assert_true(as_native_make_reader(session, &err));
    return session;
}

static void test_spe_live(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_native_session *session = make_session();
    struct as_import *import = import_begin(as_perf_reader_info(as_native_reader(session)), 0);
    assert_true(as_native_run(session, &as_import_sink, import, &err));
    import_end(import, as_native_reader(session));
    as_native_close(session);
    struct as_str text = profile_text();
    static const char *const lines[] = {
        "arm_spe_0/ts_enable=1/ [operations] 6: Arm SPE: sampled operations, one every 1,024 operations\n",
        "  101 first 401010 L1-miss+LLC-miss+TLB-walk+load+remote 1024 of 1\n", /* a processor nobody knows */
        "  101 second 401010 L1+load 1024 of 1\n",
        "  102 second 401030 mispredicted+branch+taken+conditional 1024 of 1\n",
        "  101 [kernel] ffff800010001000 not-retired 1024 of 1\n",
        "  access 101 first 401010 load 0 at 7f0000001000 how 0: 1024 of 1\n",
        "  branch second 401030 to second 401000 taken 1 mispredicted 1\n",
        "total latency [cycles] 5: ",
        "quality trace_truncated 1\n",
        "quality spe_without_place 1\n",
        "thread 100/101 first 1\n",
        "thread 100/101 second 3\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(text.data, lines[i]))
            fail_msg("no \"%s\" in:\n%s", lines[i], text.data);
    assert_null(strstr(text.data, "spe_bad_bytes"));
    as_str_free(&text);
}

/* ---- damage ---- */

static void damage(const struct as_str *file)
{
    enum { CUT = 29, CHANGE = 11 };
    uint8_t *bytes = as_alloc(file->len);
    for (size_t size = CUT; size < file->len; size += CUT) {
        uint8_t *cut = as_alloc(size); /* of its own, so that sanitizers see its end */
        memcpy(cut, file->data, size);
        import_bytes(cut, size);
        free(cut);
    }
    for (size_t at = 0; at < file->len; at += CHANGE) {
        memcpy(bytes, file->data, file->len);
        bytes[at] ^= at % 2 ? 0xff : 0x10;
        import_bytes(bytes, file->len);
    }
    free(bytes);
}

static void test_damage(void **state)
{
    struct as_str ibs = ibs_file(&(struct wrapping){.no_features = true});
    struct as_str spe = spe_file(&(struct wrapping){.pipe = true, .no_features = true}, 0);
    damage(&ibs);
    damage(&spe);
    as_str_free(&ibs);
    as_str_free(&spe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ibs),
        cmocka_unit_test(test_cycles_by_ibs),
        cmocka_unit_test(test_spe),
        cmocka_unit_test(test_spe_bits),
        cmocka_unit_test(test_ibs_bits),
        cmocka_unit_test(test_spe_sources),
        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_ibs_pages),
        cmocka_unit_test(test_spe_by_trace),
        cmocka_unit_test(test_spe_among_others),
        cmocka_unit_test(test_spe_unknown_threads),
        cmocka_unit_test(test_spe_without_room),
        cmocka_unit_test(test_spe_live),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, unit_profile_make, unit_profile_remove);
}
