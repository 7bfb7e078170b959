/* Recordings made byte by byte: each record, each field, both byte orders, all wrappings; and what is wrong with them.
 */
#include "perf_build.h"

#include "base/alloc.h"
#include "unit.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <zstd.h>

static const char *const every_text =
    "event 0 cycles:pp - type 0 config 0/40 period 0 freq 4000 precise 2\n"
    "event 1 loads - type 4 config 1cd/40 period 10007 freq 0 precise 1\n"
    "map 4294967295/0 time 10 mode 1 ffffffff81000000+1000000@ffffffff81000000 prot 0 dev 0:0 inode 0 id  "
    "[kernel.kallsyms]_text\n"
    "comm 100/101 time 15 mode 0 prog name exec\n"
    "map 100/101 time 20 mode 2 400000+2000@1000 prot 5 dev 0:0 inode 0 id "
    "000102030405060708090a0b0c0d0e0f10111213 /bin/prog\n"
    "map 100/101 time 21 mode 2 400000+2000@1000 prot 5 dev 8:1 inode 4711 data id  /bin/prog\n"
    "fork 200/201 time 30 mode 0 parent 100/101 \n"
    "lost 40 time 41 event 0\n"
    "lost-samples 7 time 42 event 0\n"
    "throttle 1 time 43 event 1\n"
    "unthrottle 1 time 44 event 0\n"
    "switch 100/101 cpu 3 out preempted other 0/0\n"
    "switch 100/101 cpu 3 in other 300/301\n"
    "ksymbol ffffffffc0000000+100 bpf_prog gone\n"
    "sample 1 mode 1 ip ffffffff81000020 100/102 time 55 cpu 1 period 10007 plain,dead,15,7,f9,5,6,68100142,0,0,0,0,0,"
    "0,0 value 99 id 0 lost 0 chain raw  index -1 user intr stack  aux \n"
    "sample 0 mode 2 exact ip 401234 100/101 time 60 cpu 3 period 250000 plain,7fff0010,b,7,4d,0,0,68100142,12,9000,55,"
    "1000,200000,3e8,384 value 55 id 11 lost 1 value 66 id 12 lost 0 chain,ffffffffffffff80,ffffffff81000010,"
    "fffffffffffffe00,401234 raw 7261772062797465732e2e00 branch 401000>401200 1000 cycles 17 type 4 spec 2 new 5 priv "
    "1"
    " branch 400f00>400ff0 0111 cycles 0 type 0 spec 0 new 0 priv 0 index 5 user,a,b,c intr,d,e stack 737461636b aux "
    "6175786279746573\n"
    "exit 200/201 time 90 mode 0 parent 100/101 \n";
static const char *const build_id_line = "build-id /bin/prog 2 a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3\n";
static const char *const aux_line = "aux 2 cpu 3 tid 101 offset 4096 size 16 left 0 first 30\n";

static void expect_every(const struct wrapping *how)
{
    struct build records = every_record(how->big);
    struct as_str file = wrap(how, every_attr, 2, &records);
    struct as_perf_summary summary;
    struct as_perf_info info;
    struct as_str text = read_as_text(file.data, file.len, NULL, &summary, &info);
    char *wanted = as_format("%s%s", build_id_line, every_text);
    assert_string_equal(as_str_get(&text), wanted);
    assert_string_equal(summary.problem, "");
    assert_false(summary.incomplete);
    assert_int_equal(summary.samples, 2);
    assert_int_equal(summary.records[PERF_RECORD_MMAP2], 2);
    assert_int_equal(summary.records[PERF_RECORD_CGROUP], 1);
    assert_int_equal(summary.lost, 40);
    assert_int_equal(summary.lost_samples, 7);
    assert_int_equal(summary.throttled, 1);
    assert_int_equal(summary.unthrottled, 1);
    assert_int_equal(summary.out_of_order, 0);
    assert_int_equal(summary.first_time, 55);
    assert_int_equal(summary.last_time, 60);
    assert_int_equal(info.format, how->pipe ? AS_PERF_PIPE : AS_PERF_FILE);
    assert_int_equal(info.swapped, how->big);
    assert_int_equal(info.cpus_online, 4);
    assert_int_equal(info.cpus_available, 8);
    assert_int_equal(info.first_time, 100);
    assert_int_equal(summary.packed_bytes > 0, how->packed > 0);
    free(wanted);
    as_str_free(&text);
    as_str_free(&file);
    as_str_free(&records.bytes);
}

static void test_every_wrapping(void **state)
{
    for (unsigned i = 0; i < 4; i++) {
        struct wrapping how = {.big = i & 1, .pipe = i & 2};
        expect_every(&how);
        static const unsigned pieces[] = {1, 7, 64, 1000, 100000};
        for (unsigned k = 0; k < 5; k++) {
            how.packed = pieces[k];
            how.packed2 = false;
            expect_every(&how);
            how.packed2 = true;
            expect_every(&how);
        }
    }
}

static void test_aux_data(void **state)
{
    for (unsigned i = 0; i < 4; i++) {
        struct wrapping how = {.big = i & 1, .pipe = i & 2, .no_features = true};
        struct build records = every_record_and_aux(how.big);
        struct as_str file = wrap(&how, every_attr, 2, &records);
        struct as_perf_summary summary;
        struct as_perf_info info;
        struct as_str text = read_as_text(file.data, file.len, NULL, &summary, &info);
        assert_non_null(strstr(text.data, aux_line));
        assert_int_equal(summary.aux_bytes, 16);
        assert_int_equal(summary.samples, 2);
        assert_int_equal(info.aux_type, AS_PERF_AUX_ARM_SPE);
        assert_string_equal(summary.problem, "");
        as_str_free(&text);
        as_str_free(&file);
        as_str_free(&records.bytes);
    }
}

/* What the file says of itself, and names that are made where it does not. */
static void test_info_and_names(void **state)
{
    struct build none = {0};
    put_u64(&none, 0);
    none.bytes.len = 0;
    size_t at = record_begin(&none, 68, 0);
    record_end(&none, at);
    struct attr attrs[3] = {{.type = PERF_TYPE_SOFTWARE, .size = 64},
                            {.type = PERF_TYPE_RAW, .config = 0xc0, .size = 64},
                            {.type = 9, .config = 1, .size = 64}};
    struct as_str file = wrap(&(struct wrapping){0}, attrs, 3, &none);
    struct as_error err = AS_ERROR_INIT;
    struct as_perf_reader *reader = as_perf_reader_memory(file.data, file.len, NULL, &err);
    assert_true(as_perf_reader_run(reader, NULL, NULL, &err));
    const struct as_perf_info *info = as_perf_reader_info(reader);
    assert_string_equal(info->host, "host");
    assert_string_equal(info->os_release, "6.1");
    assert_string_equal(info->cpu, "Some CPU");
    assert_string_equal(info->cpu_id, "AuthenticAMD,25,1,1");
    assert_string_equal(info->command, "perf record");
    assert_null(info->arch);
    assert_int_equal(as_perf_reader_events(reader), 3);
    assert_string_equal(as_perf_reader_event(reader, 0)->name, "cpu-clock");
    assert_string_equal(as_perf_reader_event(reader, 1)->name, "raw 0xc0");
    assert_string_equal(as_perf_reader_event(reader, 2)->name, "type 9 config 0x1");
    assert_string_equal(as_perf_reader_event(reader, 2)->pmu, "ibs_op");
    as_perf_reader_close(reader);
    as_str_free(&file);
    as_str_free(&none.bytes);
}

/* ---- order ---- */

static const struct attr simple = {.type = PERF_TYPE_SOFTWARE,
                                   .size = 112,
                                   .period = 1000,
                                   .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
                                   .flags = FLAG_SAMPLE_ID_ALL};

static void put_simple(struct build *build, uint64_t ip, uint64_t time)
{
    size_t at = record_begin(build, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    put_u64(build, ip);
    put_u32(build, 1);
    put_u32(build, 1);
    put_u64(build, time);
    record_end(build, at);
}

static void put_round(struct build *build)
{
    record_end(build, record_begin(build, 68, 0));
}

struct order_sink {
    char text[4096];
    size_t stop_after, seen;
};

static bool note_ip(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct order_sink *sink = context;
    size_t used = strlen(sink->text);
    snprintf(sink->text + used, sizeof sink->text - used, "%llu ", (unsigned long long)sample->ip);
    if (++sink->seen == sink->stop_after)
        return as_error_set(err, "enough");
    return true;
}

static struct as_perf_summary read_order(const struct build *records, uint64_t limit, struct order_sink *sink)
{
    static const struct as_perf_sink functions = {.sample = note_ip};
    struct as_str file = wrap(&(struct wrapping){.no_features = true}, &simple, 1, records);
    struct as_error err = AS_ERROR_INIT;
    struct as_perf_options options = {.queue_limit = limit};
    struct as_perf_reader *reader = as_perf_reader_memory(file.data, file.len, &options, &err);
    assert_non_null(reader);
    bool ok = as_perf_reader_run(reader, &functions, sink, &err);
    assert_int_equal(ok, sink->stop_after == 0);
    if (!ok)
        assert_string_equal(err.message, "enough");
    struct as_perf_summary summary = *as_perf_reader_summary(reader);
    as_perf_reader_close(reader);
    as_str_free(&file);
    return summary;
}

static void test_order(void **state)
{
    struct build records = {0};
    static const uint64_t times[] = {30, 10, 50, 0, 20, 40, 35, 0, 60, 56, 0, 61, 60, 61};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (times[i] == 0)
            put_round(&records);
        else
            put_simple(&records, times[i] * 10 + i, times[i]);
    struct order_sink sink = {0};
    struct as_perf_summary summary = read_order(&records, 0, &sink);
    assert_string_equal(sink.text, "101 204 300 356 405 502 569 608 612 621 623 ");
    assert_int_equal(summary.out_of_order, 0);
    as_str_free(&records.bytes);
}

/* A round promises that nothing older follows; what breaks the promise is counted. */
static void test_broken_promise(void **state)
{
    struct build records = {0};
    put_simple(&records, 1, 10);
    put_simple(&records, 2, 20);
    put_round(&records);
    put_simple(&records, 3, 30);
    put_round(&records);
    put_simple(&records, 4, 5);
    struct order_sink sink = {0};
    struct as_perf_summary summary = read_order(&records, 0, &sink);
    assert_string_equal(sink.text, "1 2 4 3 ");
    assert_int_equal(summary.out_of_order, 1);
    as_str_free(&records.bytes);
}

static void test_queue_limit(void **state)
{
    struct build records = {0};
    for (unsigned i = 0; i < 100; i++)
        put_simple(&records, i, i < 99 ? 100 + i : 1);
    struct order_sink all = {0}, few = {0};
    assert_int_equal(read_order(&records, 0, &all).samples, 100);
    assert_memory_equal(all.text, "99 0 1 2 ", 9);
    assert_int_equal(read_order(&records, 1000, &few).samples, 100);
    assert_memory_equal(few.text, "0 1 2 3 ", 8);
    as_str_free(&records.bytes);
}

static void test_sink_stops(void **state)
{
    struct build records = {0};
    for (unsigned i = 0; i < 10; i++)
        put_simple(&records, i, 100 + i);
    struct order_sink sink = {.stop_after = 3};
    assert_int_equal(read_order(&records, 0, &sink).samples, 3);
    assert_string_equal(sink.text, "0 1 2 ");
    as_str_free(&records.bytes);
}

static void test_chain_walk(void **state)
{
    uint64_t chain[] = {PERF_CONTEXT_KERNEL, 1, 2, PERF_CONTEXT_USER, 3, (uint64_t)-4095};
    struct as_perf_sample sample = {.chain = chain, .n_chain = 6};
    size_t at = 0;
    uint64_t ip;
    enum as_perf_mode mode = AS_PERF_USER;
    static const uint64_t ips[] = {1, 2, 3};
    static const enum as_perf_mode modes[] = {AS_PERF_KERNEL, AS_PERF_KERNEL, AS_PERF_USER};
    for (size_t i = 0; i < 3; i++) {
        assert_true(as_perf_chain_next(&sample, &at, &ip, &mode));
        assert_int_equal(ip, ips[i]);
        assert_int_equal(mode, modes[i]);
    }
    assert_false(as_perf_chain_next(&sample, &at, &ip, &mode));
    uint64_t values[] = {10, 20, 30}, value;
    struct as_perf_regs regs = {.abi = 2, .mask = 0x8000000000000081, .values = values, .count = 3};
    assert_true(as_perf_reg(&regs, 63, &value));
    assert_int_equal(value, 30);
    assert_true(as_perf_reg(&regs, 7, &value));
    assert_int_equal(value, 20);
    assert_false(as_perf_reg(&regs, 1, &value));
    assert_false(as_perf_reg(&regs, 64, &value));
}

/* ---- what is wrong ---- */

static size_t lines(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

/* Cut anywhere: never a crash, and never more than the whole file gives. Memory of exactly the size lets the
 * sanitizers see every byte that is read beyond it. */
static void truncate_everywhere(const struct wrapping *how, bool aux)
{
    struct build records = aux ? every_record_and_aux(how->big) : every_record(how->big);
    struct as_str file = wrap(how, every_attr, 2, &records);
    struct as_str whole = read_as_text(file.data, file.len, NULL, NULL, NULL);
    size_t errors = 0, partial = 0;
    enum { STEP = UNIT_SANITIZED ? 3 : 1 };
    for (size_t size = 0; size < file.len; size += STEP) {
        uint8_t *copy = malloc(size + 1);
        assert_non_null(copy);
        uint8_t *exact = copy + 1; /* so that it is unaligned, too */
        memcpy(exact, file.data, size);
        bool ok;
        struct as_perf_summary summary;
        struct as_str text = read_as_text(exact, size, &ok, &summary, NULL);
        assert_true(lines(text.data) <= lines(whole.data) + 1);
        errors += !ok;
        partial += ok && summary.incomplete;
        if (ok && size < file.len - 1 && !how->pipe && how->no_features)
            assert_true(summary.incomplete);
        as_str_free(&text);
        free(copy);
    }
    assert_true(errors >= 16 / STEP);
    assert_true(partial > 100);
    as_str_free(&whole);
    as_str_free(&file);
    as_str_free(&records.bytes);
}

static void test_truncation(void **state)
{
    for (unsigned i = 0; i < 4; i++) {
        truncate_everywhere(&(struct wrapping){.big = i & 1, .pipe = i & 2}, true);
        truncate_everywhere(&(struct wrapping){.big = i & 1, .pipe = i & 2, .no_features = true}, true);
        truncate_everywhere(&(struct wrapping){.big = i & 1, .pipe = i & 2, .packed = 100, .packed2 = i & 1}, false);
    }
}

static void test_every_byte_changed(void **state)
{
    static const uint8_t values[] = {0x00, 0xff};
    for (unsigned i = 0; i < 3; i++) {
        struct wrapping how = {.pipe = i == 1, .packed = i == 2 ? 200 : 0};
        struct build records = i == 2 ? every_record(false) : every_record_and_aux(false);
        struct as_str file = wrap(&how, every_attr, 2, &records);
        for (size_t at = 0; at < file.len; at += UNIT_SANITIZED ? 3 : 1)
            for (unsigned k = UNIT_SANITIZED ? at % 2 : 0; k < 2; k += UNIT_SANITIZED ? 2 : 1) {
                uint8_t *copy = malloc(file.len);
                assert_non_null(copy);
                memcpy(copy, file.data, file.len);
                copy[at] = values[k];
                bool ok;
                struct as_str text = read_as_text(copy, file.len, &ok, NULL, NULL);
                assert_true(text.len < 100 * file.len);
                as_str_free(&text);
                free(copy);
            }
        as_str_free(&file);
        as_str_free(&records.bytes);
    }
}

static void expect_error(const void *bytes, size_t size, const char *words)
{
    bool ok;
    struct as_str text = read_as_text(bytes, size, &ok, NULL, NULL);
    assert_false(ok);
    if (strstr(text.data, words) == NULL)
        fail_msg("'%s' is not in '%s'", words, text.data);
    as_str_free(&text);
}

static void test_bad_headers(void **state)
{
    struct build records = every_record(false);
    struct as_str file = wrap(&(struct wrapping){.no_features = true}, every_attr, 2, &records);
    expect_error("", 0, "empty");
    expect_error("PERFFILE........................", 32, "before Linux 2.6.39");
    expect_error("PERFFILE", 8, "before Linux 2.6.39");
    expect_error("PERFFIL", 7, "no line of it is a sample");
    expect_error("\177ELF\2\1\1", 7, "neither a perf.data");
    expect_error("hello world\n", 12, "no line of it is a sample");
    expect_error(file.data, 50, "ends inside its header");
    static const struct {
        unsigned at;
        uint64_t value;
        const char *words;
    } cases[] = {
        {16, 0, "list of events"},           {16, UINT64_MAX, "list of events"}, {16, 79, "list of events"},
        {24, UINT64_MAX, "event 0"},         {32, 1, "list of events"},          {32, UINT64_MAX, "list of events"},
        {40, UINT64_MAX, "before its data"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *copy = malloc(file.len);
        memcpy(copy, file.data, file.len);
        memcpy(copy + cases[i].at, &cases[i].value, 8);
        expect_error(copy, file.len, cases[i].words);
        free(copy);
    }
    as_str_free(&file);
    as_str_free(&records.bytes);
}

/* Events of the first kernels that had any do not say how long they are: 64 bytes. One that is shorter is corrupt. */
static void test_events_without_a_size(void **state)
{
    const struct attr first = {.size = 64, .period = 7, .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID};
    static const uint32_t sizes[] = {64, 0, 63, 1, 65};
    struct build records = {0};
    struct as_str file = wrap(&(struct wrapping){.no_features = true}, &first, 1, &records);
    uint64_t at;
    memcpy(&at, file.data + 24, 8); /* of the header: where events are */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memcpy(file.data + at + 4, &sizes[i], 4);
        if (i < 2) {
            struct as_str text = read_as_text(file.data, file.len, NULL, NULL, NULL);
            assert_non_null(strstr(text.data, "period 7 "));
            as_str_free(&text);
        } else
            expect_error(file.data, file.len, "event 0 of the perf.data file is corrupt");
    }
    as_str_free(&file);
    as_str_free(&records.bytes);
}

static struct as_perf_summary expect_problem(const struct as_str *file, const char *words)
{
    struct as_perf_summary summary;
    struct as_str text = read_as_text(file->data, file->len, NULL, &summary, NULL);
    assert_true(summary.incomplete);
    if (strstr(summary.problem, words) == NULL)
        fail_msg("'%s' is not in '%s'", words, summary.problem);
    as_str_free(&text);
    return summary;
}

/* perf record that was killed: the header does not say how much data there is. */
static void test_no_data_size(void **state)
{
    struct build records = every_record(false);
    struct as_str file = wrap(&(struct wrapping){.no_features = true}, every_attr, 2, &records);
    memset(file.data + 48, 0, 8);
    assert_int_equal(expect_problem(&file, "did not end properly").samples, 2);
    as_str_free(&file);
    as_str_free(&records.bytes);
}

static void test_bad_records(void **state)
{
    struct build records = {0};
    put_simple(&records, 1, 1);
    put_u64(&records, 0); /* a record of size 0 */
    put_simple(&records, 2, 2);
    struct as_str file = wrap(&(struct wrapping){.no_features = true}, &simple, 1, &records);
    assert_int_equal(expect_problem(&file, "impossible size").samples, 1);
    as_str_free(&file);
    /* A sample that is too short, and one of an unknown event. */
    records.bytes.len = 0;
    size_t at = record_begin(&records, PERF_RECORD_SAMPLE, 0);
    put_u64(&records, 1);
    record_end(&records, at);
    struct attr attrs[2] = {simple, simple};
    attrs[0].sample_type = attrs[1].sample_type |= PERF_SAMPLE_ID;
    attrs[0].ids[0] = attrs[0].n_ids = 1;
    at = record_begin(&records, PERF_RECORD_SAMPLE, 0);
    for (unsigned i = 0; i < 4; i++)
        put_u64(&records, 77);
    record_end(&records, at);
    file = wrap(&(struct wrapping){.no_features = true}, attrs, 2, &records);
    struct as_perf_summary summary;
    struct as_str text = read_as_text(file.data, file.len, NULL, &summary, NULL);
    assert_int_equal(summary.unknown_ids, 2);
    assert_int_equal(summary.samples, 0);
    as_str_free(&text);
    as_str_free(&file);
    file = wrap(&(struct wrapping){.no_features = true}, &simple, 1, &records);
    text = read_as_text(file.data, file.len, NULL, &summary, NULL);
    assert_int_equal(summary.bad_samples, 1);
    as_str_free(&text);
    as_str_free(&file);
    as_str_free(&records.bytes);
}

/* What the kernel writes for a session with branch records on Intel (record --branches), word by word: three entries of
 * the LBR, newest first; bit 0 mispredicted, 1 predicted, 4 to 19 cycles. */
static void test_branch_words(void **state)
{
    static const uint64_t words[] = {
        7,                         /* identifier */
        0x401210,                  /* ip */
        UINT64_C(101) << 32 | 100, /* tid and pid */
        60,                        /* time */
        3,                         /* cpu */
        250007,                    /* period */
        3,                         /* entries */
        0x40120c,
        0x401200,
        0x2 | 17 << 4, /* a loop's branch, predicted, after 17 cycles */
        0x4011f0,
        0x401200,
        0x1 | 300 << 4, /* a jump that was mispredicted */
        0x401100,
        0xffffffff81000000,
        0x0, /* nothing is known of it */
    };
    struct attr attr = {.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_BRANCH_STACK,
                        .branch_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY,
                        .ids = {7},
                        .n_ids = 1,
                        .period = 250007};
    struct build records = {0};
    struct as_perf_summary summary;
    size_t at = record_begin(&records, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        put_u64(&records, words[i]);
    record_end(&records, at);
    struct as_str file = wrap(&(struct wrapping){.no_features = true}, &attr, 1, &records);
    struct as_str text = read_as_text(file.data, file.len, NULL, &summary, NULL);
    assert_int_equal(summary.samples, 1);
    assert_non_null(strstr(as_str_get(&text), "ip 401210 100/101 time 60 cpu 3 period 250007"));
    assert_non_null(strstr(as_str_get(&text), " branch 40120c>401200 0100 cycles 17 "));
    assert_non_null(strstr(as_str_get(&text), " branch 4011f0>401200 1000 cycles 300 "));
    assert_non_null(strstr(as_str_get(&text), " branch 401100>ffffffff81000000 0000 cycles 0 "));
    as_str_free(&text);
    as_str_free(&file);
    as_str_free(&records.bytes);
}

/* Counts inside of samples that are far larger than the record. */
static void test_hostile_counts(void **state)
{
    static const uint64_t types[] = {PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_STACK_USER,
                                     PERF_SAMPLE_AUX,       PERF_SAMPLE_RAW,          PERF_SAMPLE_READ};
    static const uint64_t counts[] = {UINT64_MAX, UINT64_MAX / 8, UINT64_C(1) << 61, UINT64_C(0x1555555555555556), 9};
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 5; k++) {
            struct attr attr = {.sample_type = types[i], .read_format = PERF_FORMAT_GROUP, .period = 1};
            struct build records = {0};
            size_t at = record_begin(&records, PERF_RECORD_SAMPLE, 0);
            put_u64(&records, counts[k]);
            put_u64(&records, 0);
            record_end(&records, at);
            struct as_str file = wrap(&(struct wrapping){.no_features = true}, &attr, 1, &records);
            struct as_perf_summary summary;
            struct as_str text = read_as_text(file.data, file.len, NULL, &summary, NULL);
            bool fits = types[i] == PERF_SAMPLE_RAW && (k == 2 || k == 4); /* its count has 32 bits: 0 and 9 */
            assert_int_equal(summary.bad_samples, !fits);
            assert_int_equal(summary.samples, fits);
            as_str_free(&text);
            as_str_free(&file);
            as_str_free(&records.bytes);
        }
}

/* Ids of all events that lie over each other: more than the file has room for. */
static void test_hostile_ids(void **state)
{
    struct build records = {0};
    put_simple(&records, 1, 1);
    struct attr attrs[64];
    for (unsigned i = 0; i < 64; i++)
        attrs[i] = simple;
    struct as_str file = wrap(&(struct wrapping){.no_features = true}, attrs, 64, &records);
    uint64_t size = file.len / 8 * 8, zero = 0;
    for (unsigned i = 0; i < 64; i++) {
        memcpy(file.data + 104 + i * 128 + 112, &zero, 8);
        memcpy(file.data + 104 + i * 128 + 120, &size, 8);
    }
    expect_error(file.data, file.len, "ids of event 1");
    as_str_free(&file);
    as_str_free(&records.bytes);
}

static void test_hostile_zstd(void **state)
{
    /* Records inside that are packed again. */
    struct build inner = {0}, twice = {0};
    put_simple(&inner, 1, 1);
    size_t at = record_begin(&twice, 81, 0);
    as_str_add_bytes(&twice.bytes, inner.bytes.data, inner.bytes.len);
    record_end(&twice, at);
    struct as_str file = wrap(&(struct wrapping){.pipe = true, .packed = 64, .no_features = true}, &simple, 1, &twice);
    expect_problem(&file, "inside a compressed one");
    as_str_free(&file);
    /* Bytes that are no zstd. */
    file = wrap(&(struct wrapping){.pipe = true, .no_features = true}, &simple, 1, &twice);
    expect_problem(&file, "corrupt");
    as_str_free(&file);
    as_str_free(&inner.bytes);
    as_str_free(&twice.bytes);
}

/* Gigabytes of nothing in a few kilobytes: given up, in seconds. */
static void test_zstd_bomb(void **state)
{
    size_t size = 16 << 20;
    struct build many = {0}, file_build = {0};
    while (many.bytes.len < size)
        put_round(&many);
    size_t bound = ZSTD_compressBound(many.bytes.len);
    uint8_t *packed = malloc(bound);
    size_t got = ZSTD_compress(packed, bound, many.bytes.data, many.bytes.len, 3);
    assert_true(got < 60000);
    for (unsigned i = 0; i < 40; i++) {
        size_t at = record_begin(&file_build, 81, 0);
        as_str_add_bytes(&file_build.bytes, packed, got);
        record_end(&file_build, at);
    }
    struct as_str file = wrap(&(struct wrapping){.pipe = true, .no_features = true}, &simple, 1, &file_build);
    expect_problem(&file, "unpack to an implausible size");
    free(packed);
    as_str_free(&file);
    as_str_free(&many.bytes);
    as_str_free(&file_build.bytes);
}

/* Linux before 3.16 has no protection and flags in MMAP2: the name, short ones too, comes where they would be. perf inject --jit
 * writes the mode of a file for the protection. */
static void test_old_map2(void **state)
{
    struct attr plain = simple;
    plain.flags = 0; /* nothing behind the name */
    static const char *const names[] = {"//anon", "[vdso]", "/usr/lib64/libc-2.17.so", "/jitted-7-1.so",
                                        "/jitted-7-2.so"};
    static const uint32_t modes[] = {0, 0, 0, 0100644, 0100555};
    for (unsigned i = 0; i < 10; i++) {
        struct build records = {.big = i & 1};
        size_t at = record_begin(&records, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
        put_u32(&records, 100);
        put_u32(&records, 101);
        put_u64(&records, 0x400000);
        put_u64(&records, 0x2000);
        put_u64(&records, 0x1000);
        put_u32(&records, 8);
        put_u32(&records, 1);
        put_u64(&records, 4711);
        put_u64(&records, 1);
        if (modes[i / 2]) {
            put_u32(&records, modes[i / 2]);
            put_u32(&records, 1);
        }
        put_text(&records, names[i / 2], (strlen(names[i / 2]) + 8) & ~(size_t)7);
        record_end(&records, at);
        struct as_str file = wrap(&(struct wrapping){.big = i & 1, .no_features = true}, &plain, 1, &records);
        struct as_perf_summary summary;
        struct as_perf_info info;
        struct as_str text = read_as_text(file.data, file.len, NULL, &summary, &info);
        assert_string_equal(summary.problem, "");
        assert_non_null(strstr(as_str_get(&text), names[i / 2]));
        as_str_free(&text);
        as_str_free(&file);
        as_str_free(&records.bytes);
    }
}

/* What periods are of: an event that the user gave a name is known by its code, others by their names. */
static void test_units(void **state)
{
    static const struct {
        const char *name;
        uint32_t type;
        uint64_t config;
        const char *unit;
    } cases[] = {
        {"mine", PERF_TYPE_RAW, 0x20c4, "taken branches"},
        {"mine:u", PERF_TYPE_RAW, 0x1c0, "instructions"},
        {"raw_branches", PERF_TYPE_RAW, 0x20c4, "taken branches"},
        {"mine:u", PERF_TYPE_RAW, 0x3c, "mine"},
        {"mine", PERF_TYPE_HARDWARE, 0x20c4, "mine"},
        {"r20c4:u", PERF_TYPE_RAW, 0x20c4, "r20c4"},
        {"br_inst_retired.near_taken:u", PERF_TYPE_RAW, 0x20c4, "br_inst_retired.near_taken"},
        {"raw 0x20c4", PERF_TYPE_RAW, 0x20c4, "raw 0x20c4"},
        {"mine", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "nanoseconds"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *unit = as_perf_event_unit(&(struct as_perf_event){
            .name = cases[i].name, .type = cases[i].type, .config = cases[i].config, .sample_type = 1});
        assert_string_equal(unit, cases[i].unit);
        free(unit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_every_wrapping),
        cmocka_unit_test(test_aux_data),
        cmocka_unit_test(test_info_and_names),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_broken_promise),
        cmocka_unit_test(test_queue_limit),
        cmocka_unit_test(test_sink_stops),
        cmocka_unit_test(test_chain_walk),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_every_byte_changed),
        cmocka_unit_test(test_bad_headers),
        cmocka_unit_test(test_events_without_a_size),
        cmocka_unit_test(test_no_data_size),
        cmocka_unit_test(test_bad_records),
        cmocka_unit_test(test_branch_words),
        cmocka_unit_test(test_hostile_counts),
        cmocka_unit_test(test_hostile_ids),
        cmocka_unit_test(test_hostile_zstd),
        cmocka_unit_test(test_zstd_bomb),
        cmocka_unit_test(test_old_map2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
