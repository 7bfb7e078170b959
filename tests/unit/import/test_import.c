/* An import as its callers use it: counts, series and accesses of the caller's own, notices. The recordings are built
 * by hand (perf_build.h). */
#include "perf_build.h"

#include "import/import_internal.h"
#include "store/store_read.h"

#include "unit.h"
#include "unit_profile.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/stat.h>

static struct as_str heard; /* notices, a line each */

static void hear(void *context, enum as_log_level level, const char *text)
{
    as_str_addf(&heard, "%s\n", text);
}

enum { PID = 100, TID = 101, PERIOD = 1000, CODE = 0x400000 };

static void put_comm(struct build *build, uint32_t tid, const char *name)
{
    size_t at = record_begin(build, PERF_RECORD_COMM, PERF_RECORD_MISC_USER);
    put_u32(build, PID);
    put_u32(build, tid);
    put_text(build, name, 16);
    record_end(build, at);
}

static void put_map_at(struct build *build, uint64_t start, const char *name)
{
    size_t at = record_begin(build, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
    put_u32(build, PID);
    put_u32(build, PID);
    put_u64(build, start);
    put_u64(build, 0x10000);
    put_u64(build, 0);
    put_text(build, name, 24);
    record_end(build, at);
}

static void put_map(struct build *build)
{
    put_map_at(build, CODE, "/nowhere/program");
}

/* A sample with a chain of `frames` return addresses behind the sampled one, `first` and so on. */
static void put_sample_from(struct build *build, uint32_t tid, uint64_t ip, unsigned frames, uint64_t first)
{
    size_t at = record_begin(build, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    put_u64(build, ip);
    put_u32(build, PID);
    put_u32(build, tid);
    put_u64(build, frames + 2);
    put_u64(build, (uint64_t)PERF_CONTEXT_USER);
    put_u64(build, ip);
    for (unsigned i = 0; i < frames; i++)
        put_u64(build, first + i);
    record_end(build, at);
}

static void put_sample(struct build *build, uint32_t tid, uint64_t ip, unsigned frames)
{
    put_sample_from(build, tid, ip, frames, CODE + 0x100);
}

static struct attr attr = {.type = PERF_TYPE_SOFTWARE,
                           .config = PERF_COUNT_SW_TASK_CLOCK,
                           .period = PERIOD,
                           .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN,
                           .name = "task-clock"};

struct bed {
    struct as_str file;
    struct as_perf_reader *reader;
    struct as_store_writer *writer;
    struct as_import *import;
};

/* Reads the records, all but the end. */
static void open_bed(struct bed *bed, struct build *records, struct as_import_options options)
{
    struct as_error err = AS_ERROR_INIT;
    bed->file = wrap(&(struct wrapping){0}, &attr, 1, records);
    bed->reader = as_perf_reader_memory(bed->file.data, bed->file.len, NULL, &err);
    if (!bed->reader)
        fail_msg("%s", err.message);
    bed->writer = as_store_writer_open(unit_profile, &err);
    assert_non_null(bed->writer);
    options.writer = bed->writer;
    options.info = as_perf_reader_info(bed->reader);
    options.notices = (struct as_notices){hear, NULL};
    as_str_free(&heard);
    bed->import = as_import_open(&options);
    if (!as_perf_reader_run(bed->reader, &as_import_sink, bed->import, &err))
        fail_msg("%s", err.message);
    as_import_finish(bed->import);
}

/* Writes the profile and opens it. */
static struct as_store *close_bed(struct bed *bed, struct build *records)
{
    struct as_error err = AS_ERROR_INIT;
    as_import_describe(bed->import, bed->reader, "test");
    as_import_write(bed->import, bed->reader);
    if (!as_store_writer_commit(bed->writer, &err))
        fail_msg("%s", err.message);
    as_import_free(bed->import);
    as_perf_reader_close(bed->reader);
    as_str_free(&bed->file);
    as_str_free(&records->bytes);
    struct as_store *store = as_store_open(unit_profile, &err);
    if (!store)
        fail_msg("%s", err.message);
    return store;
}

static void test_counts(void **state)
{
    struct build records = {0};
    struct bed bed;
    size_t n;
    put_comm(&records, TID, "worker");
    put_map(&records);
    put_sample(&records, TID, CODE + 0x10, 1);
    put_sample(&records, TID, CODE + 0x10, 1);
    put_sample(&records, TID + 1, CODE + 0x20, 0);
    open_bed(&bed, &records, (struct as_import_options){0});
    struct as_import_counts counts = as_import_count(bed.import);
    assert_int_equal(counts.samples, 3);
    assert_int_equal(counts.units, 3 * PERIOD);
    assert_int_equal(counts.events, 1);
    assert_int_equal(counts.events_with_samples, 1);
    assert_int_equal(counts.threads, 2);
    assert_int_equal(counts.processes, 1);
    struct as_store *store = close_bed(&bed, &records);
    const struct as_store_thread *threads = as_store_threads(store, &n);
    assert_int_equal(n, 2);
    assert_string_equal(threads[0].name, "worker");
    assert_int_equal(threads[0].samples, 2);
    assert_null(as_store_meta(store, AS_META_TITLE));
    assert_null(heard.data);
    as_store_close(store);
}

/* The first thread only waits; its process has its name all the same. */
static void test_process_name(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store_query query = AS_STORE_QUERY_INIT;
    struct as_store_rows rows;
    struct build records = {0};
    struct bed bed;
    size_t n;
    put_comm(&records, PID, "program");
    put_comm(&records, TID, "alpha");
    put_map(&records);
    put_sample(&records, TID, CODE + 0x10, 0);
    open_bed(&bed, &records, (struct as_import_options){0});
    assert_int_equal(as_import_count(bed.import).threads, 1);
    struct as_store *store = close_bed(&bed, &records);
    query.level = AS_STORE_BY_PROCESS;
    assert_true(as_store_query(store, &query, &rows, &err));
    assert_int_equal(rows.n, 1);
    assert_string_equal(as_store_threads(store, &n)[rows.rows[0].id].name, "program");
    as_store_rows_free(&rows);
    query.level = AS_STORE_BY_COMMAND;
    assert_true(as_store_query(store, &query, &rows, &err));
    assert_int_equal(rows.n, 1);
    assert_string_equal(as_store_threads(store, &n)[rows.rows[0].id].name, "alpha");
    as_store_rows_free(&rows);
    as_store_close(store);
}

static void put_idle_sample(struct build *build)
{
    size_t at = record_begin(build, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
    put_u64(build, UINT64_C(0xffffffff81000000));
    put_u32(build, 0);
    put_u32(build, 0);
    put_u64(build, 0);
    record_end(build, at);
}

static void test_idle_thread(void **state)
{
    struct build records = {0};
    struct bed bed;
    size_t n;
    put_idle_sample(&records);
    open_bed(&bed, &records, (struct as_import_options){0});
    struct as_store *store = close_bed(&bed, &records);
    const struct as_store_thread *threads = as_store_threads(store, &n);
    assert_int_equal(n, 1);
    assert_int_equal(threads[0].number, 0);
    assert_string_equal(threads[0].name, "swapper");
    assert_string_equal(as_store_meta(store, AS_META_TITLE), "system-wide"); /* only such a recording has it */
    as_store_close(store);
}

/* A damaged recording: periods whose sum no profile can store. What it has of them can be read. */
static void test_huge_periods(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct build records = {0};
    struct bed bed;
    size_t n;
    uint64_t total;
    put_map(&records);
    put_sample(&records, TID, CODE + 0x10, 0);
    put_sample(&records, TID, CODE + 0x20, 0);
    attr.period = UINT64_C(3) << 61;
    open_bed(&bed, &records, (struct as_import_options){0});
    struct as_store *store = close_bed(&bed, &records);
    attr.period = PERIOD;
    assert_int_equal(as_store_series(store, &n)[0].samples, 2);
    assert_true(as_store_total(store, 0, NULL, &total, &err));
    assert_true(total == INT64_MAX);
    as_store_close(store);
}

static void test_own_series(void **state)
{
    static const struct as_import_own own = {"bytes", "bytes that were asked for", "bytes"};
    uint64_t returns[] = {CODE + 0x30, CODE + 0x130};
    struct build records = {0};
    struct bed bed;
    size_t n;
    put_map(&records);
    put_sample(&records, TID, CODE + 0x10, 1);
    open_bed(&bed, &records, (struct as_import_options){0});
    uint32_t series = as_import_add_own(bed.import, &own);
    uint32_t thread = as_import_thread(bed.import, PID, TID, "named late");
    as_import_add_calls(bed.import, series, PID, thread, returns, 2, 4096, 2);
    as_import_add_calls(bed.import, series, PID, thread, returns, 2, 100, 1);
    as_import_add_calls(bed.import, series, PID, thread, returns, 0, 7, 7); /* from nowhere: not counted */
    assert_int_equal(as_import_count(bed.import).samples, 1);               /* of the reader's events alone */
    struct as_store *store = close_bed(&bed, &records);
    const struct as_store_series *all = as_store_series(store, &n);
    assert_int_equal(n, 2);
    assert_string_equal(all[1].name, "bytes");
    assert_int_equal(all[1].samples, 3);
    assert_string_equal(as_store_threads(store, &n)[0].name, "named late");
    as_store_close(store);
}

static const struct as_import_touch touch = {.event = 0,
                                             .pid = PID,
                                             .tid = TID,
                                             .mode = AS_PERF_USER,
                                             .ip = CODE + 0x10,
                                             .address = CODE + 0x8000,
                                             .size = 8,
                                             .kind = AS_STORE_LOAD,
                                             .how = AS_STORE_HOW_WATCHED};

static void test_accesses(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct build records = {0};
    struct bed bed;
    size_t n;
    put_map(&records);
    put_sample(&records, TID, CODE + 0x10, 0);
    open_bed(&bed, &records, (struct as_import_options){.addresses = true});
    uint32_t number = as_import_add_touch(bed.import, &touch);
    assert_int_equal(as_import_add_touch(bed.import, &touch), number); /* the same again */
    as_import_add_to_access(bed.import, number, PERIOD, 1);
    as_import_count_found(bed.import, AS_STORE_HOW_WATCHED, 1);
    struct as_store *store = close_bed(&bed, &records);
    struct as_store_access *accesses = as_store_accesses(store, 0, NULL, &n, &err);
    assert_int_equal(n, 1);
    assert_int_equal(accesses[0].units, PERIOD);
    assert_int_equal(accesses[0].samples, 1);
    assert_int_equal(accesses[0].address, CODE + 0x8000);
    assert_int_equal(accesses[0].kind, AS_STORE_LOAD);
    free(accesses);
    as_store_close(store);
}

/* The mapping of this program that holds its own code, so that addresses in chains have names. `inode` 0: not recorded. */
static void put_own_map(struct build *build, uint64_t inode)
{
    uint64_t here = (uintptr_t)&put_own_map, start = 0, end = 0, offset = 0;
    char line[4096], path[4096] = "";
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) && !(start <= here && here < end))
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095s", &start, &end, &offset, path) != 4)
            start = end = 0;
    fclose(maps);
    size_t at = record_begin(build, inode ? PERF_RECORD_MMAP2 : PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
    put_u32(build, PID);
    put_u32(build, PID);
    put_u64(build, start);
    put_u64(build, end - start);
    put_u64(build, offset);
    if (inode) {
        put_u64(build, 0); /* the device is not known */
        put_u64(build, inode);
        put_u64(build, 0);
        put_u64(build, 0);
    }
    put_text(build, path, (strlen(path) + 8) / 8 * 8);
    record_end(build, at);
}

/* Size and time of a file that is as it was recorded, so that a later change of it is noticed. */
static void test_files_of_modules(void **state)
{
    struct build records = {0};
    struct bed bed;
    struct as_error err = AS_ERROR_INIT;
    struct stat info;
    size_t n;
    bool found = false;
    assert_int_equal(stat("/proc/self/exe", &info), 0);
    put_own_map(&records, info.st_ino);
    put_sample(&records, TID, (uintptr_t)&put_own_map, 0);
    open_bed(&bed, &records, (struct as_import_options){0});
    struct as_store *store = close_bed(&bed, &records);
    assert_true(as_store_load(store, AS_STORE_CODE, &err));
    const struct as_store_module *modules = as_store_modules(store, &n);
    for (size_t i = 0; i < n; i++)
        found |= modules[i].file_size == (uint64_t)info.st_size &&
                 modules[i].file_time == (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
    assert_true(found);
    as_store_close(store);
}

/* A chain as long as the kernel follows it was cut, unless its end is in no known function: it went astray then. */
static void check_cut(uint64_t frame, bool live, double cut, bool told)
{
    struct build records = {0};
    struct bed bed;
    double found = 0;
    size_t n;
    put_own_map(&records, 0);
    put_map(&records);
    put_sample_from(&records, TID, frame, 4, frame);
    put_sample_from(&records, TID, frame, 20, frame);
    open_bed(&bed, &records,
             (struct as_import_options){.max_stack = 10, .spaces = {.trust_paths = true, .live = live}});
    struct as_store *store = close_bed(&bed, &records);
    const struct as_store_quality *quality = as_store_quality(store, &n);
    for (size_t i = 0; i < n; i++)
        found = strcmp(quality[i].key, "cut_chains") == 0 ? quality[i].value : found;
    assert_true(found == cut);
    assert_int_equal(heard.data && strstr(heard.data, "were cut"), told);
    as_store_close(store);
}

static void test_cut_chains(void **state)
{
    check_cut((uintptr_t)&put_own_map + 4, false, 0.5, true);
    check_cut((uintptr_t)&put_own_map + 4, true, 0.5, false); /* whoever records reads the summary */
    check_cut(CODE + 0x10, false, 0, false);
}

/* The reason that there are no samples. */
static void check_empty(const char *event, const char *want)
{
    const char *name = attr.name, *text = "";
    struct build records = {0};
    struct bed bed;
    size_t n;
    attr.name = event;
    put_map(&records);
    open_bed(&bed, &records, (struct as_import_options){0});
    struct as_store *store = close_bed(&bed, &records);
    attr.name = name;
    const struct as_store_quality *quality = as_store_quality(store, &n);
    for (size_t i = 0; i < n; i++)
        text = strcmp(quality[i].key, "no_samples") == 0 ? quality[i].text : text;
    assert_string_equal(text, want);
    as_store_close(store);
}

static void test_no_samples(void **state)
{
    check_empty("task-clock",
                "no samples: the program ended before the first one was due, or its event was never counted");
    check_empty("dummy:HG", "no samples: dummy events take none; they only record which programs and files there were");
}

/* Chains that end in code that the program made have callers, but not all of them. */
static void test_made_chains(void **state)
{
    enum { MADE = 0x500000 };
    struct build records = {0};
    struct bed bed;
    const char *text = NULL;
    size_t n;
    put_map(&records);
    put_map_at(&records, MADE, "//anon");
    put_sample(&records, TID, CODE + 0x10, 3);
    for (int i = 0; i < 3; i++)
        put_sample_from(&records, TID, CODE + 0x10, 2, MADE + 0x10);
    open_bed(&bed, &records, (struct as_import_options){.spaces = {.live = true}});
    struct as_store *store = close_bed(&bed, &records);
    const struct as_store_quality *quality = as_store_quality(store, &n);
    for (size_t i = 0; i < n; i++)
        text = strcmp(quality[i].key, "call_chains") == 0 ? quality[i].text : text;
    assert_string_equal(text, "part of the call chains have callers, 75.0 % only up to code that the program made: "
                              "100.0 % by frame pointers");
    as_store_close(store);
}

/* Samples of a live recording in generated code without a name wait until its process ends, or all does: by the sampled
 * address or one of the chain. */
static void test_waiting_for_names(void **state)
{
    enum { MADE = 0x500000 };
    struct build records = {0};
    struct bed bed;
    put_map(&records);
    put_map_at(&records, MADE, "//anon");
    put_sample(&records, TID, CODE + 0x10, 1);
    open_bed(&bed, &records, (struct as_import_options){.spaces = {.live = true}});
    uint64_t chain[] = {(uint64_t)PERF_CONTEXT_USER, CODE + 0x10, MADE + 0x20};
    struct as_perf_sample sample = {.pid = PID, .tid = TID, .mode = AS_PERF_USER, .ip = CODE + 0x10, .chain = chain};
    assert_false(as_import_must_wait(bed.import, &sample));
    sample.n_chain = 2;
    assert_false(as_import_must_wait(bed.import, &sample));
    sample.n_chain = 3;
    assert_true(as_import_must_wait(bed.import, &sample));
    sample.n_chain = 0;
    sample.ip = MADE;
    assert_true(as_import_must_wait(bed.import, &sample));
    sample.mode = AS_PERF_KERNEL;
    assert_false(as_import_must_wait(bed.import, &sample));
    sample.mode = AS_PERF_USER;
    sample.n_branches = 1; /* branches would have to wait, too */
    assert_false(as_import_must_wait(bed.import, &sample));
    sample.n_branches = 0;
    bed.import->releasing = true;
    assert_false(as_import_must_wait(bed.import, &sample));
    bed.import->releasing = false;
    bed.import->options.spaces.live = false;
    assert_false(as_import_must_wait(bed.import, &sample));
    as_store_close(close_bed(&bed, &records));
}

static int remove_profile(void **state)
{
    as_str_free(&heard);
    return unit_profile_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts),          cmocka_unit_test(test_idle_thread),
                                       cmocka_unit_test(test_huge_periods),    cmocka_unit_test(test_own_series),
                                       cmocka_unit_test(test_accesses),        cmocka_unit_test(test_cut_chains),
                                       cmocka_unit_test(test_process_name),    cmocka_unit_test(test_made_chains),
                                       cmocka_unit_test(test_no_samples),      cmocka_unit_test(test_waiting_for_names),
                                       cmocka_unit_test(test_files_of_modules)};
    return cmocka_run_group_tests(tests, unit_profile_make, remove_profile);
}
