/* A recording of perf read as samples of blocks: one of this very program, made by hand, and of files that are not here. */
#include "blocks/recording_counts.h"
#include "perf_build.h"

#include "unit.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A loop whose branch is known: executed from the recording alone. */
uint64_t recorded_loop(uint64_t n);
__attribute__((noinline)) uint64_t recorded_loop(uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        __asm__ volatile("add %1, %0" : "+r"(sum) : "r"(i));
    return sum;
}

enum { PID = 100, OTHER_PID = 101, CODE = 0x10000000, SIZE = 0x8000000, LIB = 0x20000000, ANON = 0x30000000 };
enum { CHANGED = 0x40000000, FIRST = 1, SECOND = 2, PERIOD = 1000 };

static char own_path[4096];
static struct stat own_stat;

static const struct attr attrs[2] = {
    {.type = PERF_TYPE_HARDWARE,
     .config = PERF_COUNT_HW_INSTRUCTIONS,
     .period = PERIOD,
     .precise = 2,
     .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
                    PERF_SAMPLE_BRANCH_STACK,
     .ids = {FIRST},
     .n_ids = 1,
     .name = "instructions:u"},
    {.type = PERF_TYPE_HARDWARE,
     .config = PERF_COUNT_HW_CPU_CYCLES,
     .period = 1009,
     .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
     .ids = {SECOND},
     .n_ids = 1,
     .name = "cycles:u"}};

static void put_map(struct build *build, uint32_t pid, uint64_t start, const char *path, uint64_t inode)
{
    size_t at = record_begin(build, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
    put_u32(build, pid);
    put_u32(build, pid);
    put_u64(build, start);
    put_u64(build, SIZE);
    put_u64(build, 0);
    put_u32(build, major(own_stat.st_dev));
    put_u32(build, minor(own_stat.st_dev));
    put_u64(build, inode);
    put_u64(build, 0);
    put_u32(build, 5);
    put_u32(build, 2);
    put_text(build, path, (strlen(path) + 8) & ~(size_t)7);
    record_end(build, at);
}

static uint64_t now;

static void put_sample(struct build *build, uint64_t event, uint32_t pid, uint64_t ip, const uint64_t *branches,
                       size_t n)
{
    size_t at = record_begin(build, PERF_RECORD_SAMPLE, ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
    put_u64(build, event);
    put_u64(build, ip);
    put_u32(build, pid);
    put_u32(build, pid);
    put_u64(build, now += 10);
    put_u64(build, event == FIRST ? PERIOD : 1009);
    if (event == FIRST) {
        put_u64(build, n);
        for (size_t i = 0; i < n; i++) {
            put_u64(build, branches[2 * i]);
            put_u64(build, branches[2 * i + 1]);
            put_u64(build, i ? 2 : 1); /* the newest was mispredicted */
        }
    }
    record_end(build, at);
}

static void put_lost(struct build *build, uint64_t id, uint64_t count)
{
    size_t at = record_begin(build, PERF_RECORD_LOST, 0);
    put_u64(build, id);
    put_u64(build, count);
    record_end(build, at);
}

/* The loop's own branch, and where it goes. */
static uint64_t loop_branch, loop_begin;

static void find_loop(void)
{
    struct as_cfg *cfg = as_cfg_new(NULL);
    uint32_t module = as_cfg_module_of(cfg, own_path, AS_ARCH_X86_64);
    const struct as_symtab *table = &as_cfg_get(cfg, module)->symbols.symbols;
    uint64_t address = 0;
    for (size_t i = 0; i < table->symbols.len; i++)
        if (table->symbols.data[i].raw && strcmp(table->symbols.data[i].raw, "recorded_loop") == 0)
            address = table->symbols.data[i].address;
    assert_true(address != 0);
    as_cfg_see(cfg, module, address);
    as_cfg_build(cfg);
    const struct as_cfg_module *m = as_cfg_get(cfg, module);
    uint32_t function = as_cfg_find_function(cfg, module, address);
    for (uint32_t i = 0; i < m->functions.data[function].n; i++) {
        const struct as_cfg_block *block = &m->blocks.data[m->functions.data[function].first + i];
        if (block->target > address && block->target <= block->last)
            loop_branch = block->last, loop_begin = block->target;
    }
    assert_true(loop_branch != 0);
    as_cfg_free(cfg);
}

static int set_up(void **state)
{
    ssize_t n = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
    assert_true(n > 0);
    assert_int_equal(stat(own_path, &own_stat), 0);
    find_loop();
    return 0;
}

/* Addresses of a file are those of its segments: this one is mapped with its first byte at CODE. */
static uint64_t at(uint64_t address)
{
    return CODE + address;
}

static struct build make_records(void)
{
    struct build build = {0};
    now = 1000;
    put_map(&build, PID, CODE, own_path, own_stat.st_ino);
    put_map(&build, PID, LIB, "/nowhere/lib.so", 17);
    put_map(&build, PID, ANON, "//anon", 0);
    put_map(&build, PID, CHANGED, own_path, own_stat.st_ino + 1);
    put_map(&build, OTHER_PID, CODE, own_path, own_stat.st_ino);
    uint64_t stack[] = {at(loop_branch), at(loop_begin),  at(loop_branch),
                        at(loop_begin),  at(loop_branch), at(loop_begin)};
    put_sample(&build, FIRST, PID, at(loop_begin), stack, 3);
    put_sample(&build, FIRST, OTHER_PID, at(loop_begin), stack, 2);
    put_sample(&build, FIRST, PID, at(loop_branch), NULL, 0);
    put_sample(&build, SECOND, PID, at(loop_begin), NULL, 0);
    put_sample(&build, FIRST, PID, LIB + 0x10, NULL, 0);
    put_sample(&build, FIRST, PID, LIB + 0x20, NULL, 0);
    put_sample(&build, FIRST, PID, ANON + 0x10, NULL, 0);
    put_sample(&build, FIRST, PID, CHANGED + 0x10, NULL, 0);
    put_sample(&build, FIRST, PID, UINT64_C(0xffffffff81000020), NULL, 0);
    put_sample(&build, FIRST, PID, 0x1234, NULL, 0); /* nothing is mapped there */
    put_sample(&build, SECOND, PID, at(loop_branch), NULL, 0);
    put_lost(&build, FIRST, 5);
    return build;
}

static bool read_recording(struct as_recording *recording, const struct build *records,
                           const struct as_recording_options *options, struct as_error *err)
{
    char path[] = "/tmp/test_recording.XXXXXX";
    struct as_str file = wrap(&(struct wrapping){.no_features = true}, attrs, 2, records);
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, file.data, file.len), file.len);
    close(descriptor);
    bool ok = as_recording_read(recording, path, options, err);
    unlink(path);
    as_str_free(&file);
    return ok;
}

static double weight_of(const as_samples_pairs *pairs, uint64_t from)
{
    double sum = 0;
    for (size_t i = 0; i < pairs->len; i++)
        sum += pairs->data[i].from == from ? pairs->data[i].weight : 0;
    return sum;
}

static void check_refused(const struct as_recording *recording, const char *path, const char *why, uint64_t samples)
{
    for (size_t i = 0; i < recording->refused.len; i++) {
        const struct as_recording_refused *refused = &recording->refused.data[i];
        if (strcmp(refused->path, path) == 0 && strstr(refused->why, why)) {
            assert_int_equal(refused->samples, samples);
            return;
        }
    }
    for (size_t i = 0; i < recording->refused.len; i++)
        print_error("%s: %s\n", recording->refused.data[i].path, recording->refused.data[i].why);
    fail_msg("%s was not refused because '%s'", path, why);
}

static void test_largest(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_recording recording;
    struct build records = make_records();
    if (!read_recording(&recording, &records, &(struct as_recording_options){0}, &err))
        fail_msg("%s", err.message);
    assert_true(strstr(recording.event, "instructions") != NULL);
    assert_string_equal(recording.unit, "instructions");
    assert_true(recording.counted == AS_COUNTED_INSTRUCTIONS && recording.period == PERIOD && recording.precise == 2);
    assert_true(recording.round_period && !recording.text && !recording.problem[0]);
    assert_int_equal(recording.kernel, 1);
    assert_int_equal(recording.others, 2);
    assert_int_equal(recording.lost, 5);
    assert_int_equal(as_samples_counted(recording.samples)->samples, 9);
    assert_int_equal(as_samples_counted(recording.samples)->with_branches, 2);
    assert_int_equal(as_samples_counted(recording.samples)->entries, 5);
    assert_true(weight_of(as_samples_ips(recording.samples), loop_begin) == 2 * PERIOD);
    assert_true(weight_of(as_samples_ips(recording.samples), loop_branch) == PERIOD);
    assert_true(weight_of(as_samples_runs(recording.samples), loop_begin) == 3); /* each for itself */
    assert_true(weight_of(as_samples_branches(recording.samples), loop_branch) == 5);
    assert_int_equal(recording.refused.len, 3);
    check_refused(&recording, "/nowhere/lib.so", "the file is not here", 2);
    check_refused(&recording, own_path, "was changed", 1);
    check_refused(&recording, "[anon]", "in no file", 1);
    assert_int_equal(as_cfg_count_modules(recording.cfg), 1);
    as_recording_free(&recording);
    as_str_free(&records.bytes);
}

static void check_says(const struct as_error *err, const char *part)
{
    if (!strstr(err->message, part))
        fail_msg("'%s' is not in '%s'", part, err->message);
}

static void test_named(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_recording recording;
    struct build records = make_records(), nothing = {0};
    put_map(&nothing, PID, CODE, own_path, own_stat.st_ino);
    assert_true(read_recording(&recording, &records, &(struct as_recording_options){.event = "cycles"}, &err));
    assert_true(strstr(recording.event, "cycles") != NULL);
    assert_true(recording.counted == AS_COUNTED_OTHER && !recording.round_period && recording.precise == 0);
    assert_true(recording.kernel == 0 && recording.others == 9);
    assert_int_equal(as_samples_counted(recording.samples)->samples, 2);
    assert_int_equal(recording.refused.len, 0);
    as_recording_free(&recording);
    assert_true(
        read_recording(&recording, &records, &(struct as_recording_options){.event = "CYCL"}, &err)); /* a part */
    assert_true(strstr(recording.event, "cycles") != NULL);
    as_recording_free(&recording);
    assert_false(read_recording(&recording, &records, &(struct as_recording_options){.event = "cycles of"}, &err));
    check_says(&err, "no samples of an event 'cycles of'");
    assert_false(read_recording(&recording, &records, &(struct as_recording_options){.event = "nothing"}, &err));
    check_says(&err, "no samples of an event 'nothing'");
    as_str_free(&records.bytes);
    assert_false(read_recording(&recording, &nothing, &(struct as_recording_options){0}, &err));
    check_says(&err, "it has no samples");
    as_str_free(&nothing.bytes);
}

/* With the paths trusted, the file that was changed is taken. */
static void test_trusted(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_recording recording;
    struct build records = make_records();
    assert_true(read_recording(&recording, &records,
                               &(struct as_recording_options){.spaces.trust_paths = true, .drop_oldest = true}, &err));
    assert_int_equal(recording.refused.len, 2);
    assert_true(weight_of(as_samples_ips(recording.samples), 0x10) == PERIOD);
    assert_int_equal(as_samples_counted(recording.samples)->oldest, 2);
    as_recording_free(&recording);
    as_str_free(&records.bytes);
}

/* ---- counts ---- */

static const struct as_recording_counts_options usual = {.method = -1};

static void open_recording(struct as_recording *recording, const struct build *records, const char *event)
{
    struct as_error err = AS_ERROR_INIT;
    if (!read_recording(recording, records, &(struct as_recording_options){.event = event}, &err))
        fail_msg("%s", err.message);
}

static struct as_recording_counts count(const struct as_recording *recording,
                                        const struct as_recording_counts_options *options)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_recording_counts counts;
    if (!as_recording_count(&counts, recording, "a.data", options, &err))
        fail_msg("%s", err.message);
    return counts;
}

static void refuse(const struct as_recording *recording, struct as_recording_counts_options options, const char *why)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_recording_counts counts;
    assert_false(as_recording_count(&counts, recording, "a.data", &options, &err));
    check_says(&err, why);
    as_recording_counts_free(&counts);
}

/* Runs of branch stacks are counted where there are some; micro-operations where the event counts those; else addresses. */
static void test_methods(void **state)
{
    struct build records = make_records();
    struct as_recording recording;
    open_recording(&recording, &records, NULL);
    struct as_recording_counts counts = count(&recording, &usual);
    assert_true(counts.method == AS_METHOD_LBR && counts.has_edges && !counts.unit);
    assert_true(counts.fit.flow == counts.flow && counts.fit.method == AS_METHOD_LBR && !counts.fit.module);
    assert_true(counts.trouble.used > 0.99 && counts.fit.disordered == 0);
    as_recording_counts_free(&counts);
    counts = count(&recording, &(struct as_recording_counts_options){.method = AS_METHOD_IP});
    assert_true(counts.method == AS_METHOD_IP && counts.has_edges && !counts.unit);
    as_recording_counts_free(&counts);
    as_recording_free(&recording);
    open_recording(&recording, &records, "cycles");
    counts = count(&recording, &usual);
    assert_true(counts.method == AS_METHOD_IP && !counts.has_edges && counts.unit == recording.unit);
    assert_non_null(counts.flow->steady); /* beside the measured counts */
    as_recording_counts_free(&counts);
    counts = count(&recording, &(struct as_recording_counts_options){.method = -1, .balance_addresses = true});
    assert_null(counts.flow->steady); /* in place of them */
    as_recording_counts_free(&counts);
    recording.counted = AS_COUNTED_UOPS;
    counts = count(&recording, &usual);
    assert_true(counts.method == AS_METHOD_UOPS && !counts.unit);
    as_recording_counts_free(&counts);
    as_recording_free(&recording);
    as_str_free(&records.bytes);
}

static void test_methods_that_cannot_be(void **state)
{
    struct build records = make_records();
    struct as_recording recording;
    open_recording(&recording, &records, NULL);
    recording.counted = AS_COUNTED_TAKEN;
    refuse(&recording, (struct as_recording_counts_options){.method = AS_METHOD_UOPS},
           "a.data: instructions counts branches, and --method=uops spreads samples over micro-operations; "
           "--method=lbr is for branches");
    refuse(&recording, (struct as_recording_counts_options){.method = AS_METHOD_FIXED}, "over instructions");
    refuse(&recording, (struct as_recording_counts_options){.method = -1, .module = "lib.so"},
           "/nowhere/lib.so: the file is not here");
    refuse(&recording, (struct as_recording_counts_options){.method = -1, .module = "/nowhere/lib.so"},
           "/nowhere/lib.so: the file is not here");
    as_recording_free(&recording);
    open_recording(&recording, &records, "cycles");
    static const enum as_method stacked[] = {AS_METHOD_LBR, AS_METHOD_FIXED, AS_METHOD_FLOW};
    for (size_t i = 0; i < 3; i++)
        refuse(&recording, (struct as_recording_counts_options){.method = (int)stacked[i]},
               "have no branch stacks, which");
    refuse(&recording, (struct as_recording_counts_options){.method = -1, .drop_oldest = true},
           "have no branch stacks: leave --drop-oldest out");
    refuse(&recording, (struct as_recording_counts_options){.method = AS_METHOD_UOPS},
           "counts neither instructions nor micro-operations");
    as_recording_free(&recording);
    as_str_free(&records.bytes);
}

/* Samples of the kernel, of nothing, and of files that are not here: the file with most of them is named. */
static void test_nothing_counted(void **state)
{
    struct as_recording recording;
    struct build records = {0};
    put_map(&records, PID, CODE, own_path, own_stat.st_ino);
    put_sample(&records, FIRST, PID, UINT64_C(0xffffffff81000020), NULL, 0);
    open_recording(&recording, &records, NULL);
    refuse(&recording, usual, "no sample is in code that could be read; all are of the kernel");
    as_recording_free(&recording);
    put_sample(&records, FIRST, PID, 0x1234, NULL, 0);
    open_recording(&recording, &records, NULL);
    refuse(&recording, usual, "no address is in a file that the recording says was mapped");
    as_recording_free(&recording);
    put_map(&records, PID, LIB, "/nowhere/lib.so", 17);
    put_map(&records, PID, ANON, "/nowhere/more.so", 18);
    put_sample(&records, FIRST, PID, LIB + 0x10, NULL, 0);
    put_sample(&records, FIRST, PID, ANON + 0x10, NULL, 0);
    put_sample(&records, FIRST, PID, ANON + 0x20, NULL, 0);
    open_recording(&recording, &records, NULL);
    refuse(&recording, usual,
           "a.data: no sample is in code that could be read; /nowhere/more.so: the file is not here");
    as_recording_free(&recording);
    as_str_free(&records.bytes);
}

/* Branches that begin where there are none: the stacks do not fit, but the addresses do. */
static void test_stacks_that_do_not_fit(void **state)
{
    struct as_recording recording;
    struct build records = {0};
    uint64_t stack[] = {at(loop_begin + 1), at(loop_begin), at(loop_begin + 1), at(loop_begin)};
    put_map(&records, PID, CODE, own_path, own_stat.st_ino);
    for (int i = 0; i < 1000; i++)
        put_sample(&records, FIRST, PID, at(loop_begin), stack, 2);
    open_recording(&recording, &records, NULL);
    refuse(&recording, usual, "the sampled addresses fit: --method=ip uses those alone");
    struct as_recording_counts counts =
        count(&recording, &(struct as_recording_counts_options){.method = AS_METHOD_IP});
    as_recording_counts_free(&counts);
    as_recording_free(&recording);
    as_str_free(&records.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_largest),
                                       cmocka_unit_test(test_named),
                                       cmocka_unit_test(test_trusted),
                                       cmocka_unit_test(test_methods),
                                       cmocka_unit_test(test_methods_that_cannot_be),
                                       cmocka_unit_test(test_nothing_counted),
                                       cmocka_unit_test(test_stacks_that_do_not_fit)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
