/* What the agent counted, in a profile: sums over programs, and series by call site. The agent's memory is written as two programs
 * would write it; in place of an import there are functions that note what they are given.
 *
 *   first   malloc 10 calls, 1000 bytes, 4 freed (400)   mmap 2 calls, 8192 bytes   malloc without a place 3 calls, 30 bytes
 *           peak 900, sites noted at 800: 9 blocks, 777 bytes
 *   second  calloc 1 call, 50 bytes   realloc 2 calls, 70 bytes, all freed   peak 100 */
#include "record/record_native.h"

#include "import/import_add.h"
#include "store/store_read.h"

#include "unit.h"
#include "unit_profile.h"

/* ---- the import ---- */

struct call {
    uint32_t series, pid, thread;
    uint64_t first;
    size_t n;
    uint64_t units, count;
};
static struct call calls[16];
static size_t n_calls, n_series, n_maps;
static struct as_perf_process maps[4];
static uint32_t threads[4][2];
static size_t n_threads;

uint32_t as_import_add_own(struct as_import *import, const struct as_import_own *own)
{
    return 7 + (uint32_t)n_series++;
}

uint32_t as_import_thread(struct as_import *import, uint32_t pid, uint32_t tid, const char *name)
{
    threads[n_threads][0] = pid;
    threads[n_threads][1] = tid;
    return (uint32_t)n_threads++;
}

void as_import_add_calls(struct as_import *import, uint32_t series, uint32_t pid, uint32_t thread,
                         const uint64_t *returns, size_t n, uint64_t units, uint64_t count)
{
    assert_true(n_calls < sizeof calls / sizeof *calls);
    calls[n_calls++] = (struct call){series - 7, pid, thread, returns[0], n, units, count};
}

struct as_perf_spaces *as_import_spaces(const struct as_import *import)
{
    return NULL;
}

bool as_perf_spaces_process(void *spaces, const struct as_perf_process *process, struct as_error *err)
{
    maps[n_maps++] = *process;
    return true;
}

const char *as_record_variable(const struct as_record_options *options, const char *name)
{
    return NULL;
}

/* ---- the programs ---- */

static struct as_agent *agent;

static struct as_agent_image *image_of(uint32_t number)
{
    return (struct as_agent_image *)&as_agent_wire(agent)->image[number];
}

static void write_site(struct as_agent_image *image, uint32_t number, enum as_agent_call call, const uint64_t counts[6])
{
    struct as_agent_site *site = &image->site[number];
    site->call = call;
    site->frames = 2;
    site->stack[0] = 0x1000 + number;
    site->stack[1] = 0x2000;
    site->count = counts[0];
    site->bytes = counts[1];
    site->freed = counts[2];
    site->freed_bytes = counts[3];
    site->peak = counts[4];
    site->peak_bytes = counts[5];
    site->ready = 1;
}

static void write_first(struct as_agent_image *image)
{
    strcpy(image->program, "/proc/self/exe");
    write_site(image, 3, AS_AGENT_MALLOC, (const uint64_t[]){10, 1000, 4, 400, 9, 777});
    write_site(image, 4, AS_AGENT_MMAP, (const uint64_t[]){2, 8192, 0, 0, 0, 0});
    image->site[AS_AGENT_SITES + AS_AGENT_MALLOC].count = 3;
    image->site[AS_AGENT_SITES + AS_AGENT_MALLOC].bytes = 30;
    image->site[AS_AGENT_SITES + AS_AGENT_MALLOC].freed = 3;
    image->site[AS_AGENT_SITES + AS_AGENT_MALLOC].freed_bytes = 30;
    image->files = 2;
    image->file[0] = (struct as_agent_file){.start = 0x400000, .end = 0x401000}; /* the program itself */
    image->file[1] = (struct as_agent_file){.start = 0x500000, .end = 0x501000, .path = "/none/such"};
    image->munmaps = 1;
    image->tracks = 1;
    image->live = 600;
    image->peak = 900;
    image->at_peak = 800;
    image->unknown = 9; /* 2 of them moved, 3 had found no place */
    image->moved = 2;
    image->untracked = 3;
    image->untracked_bytes = 30;
    image->pid = 100;
}

static void write_second(struct as_agent_image *image)
{
    strcpy(image->program, "/bin/own");
    write_site(image, 0, AS_AGENT_CALLOC, (const uint64_t[]){1, 50, 0, 0, 1, 50});
    write_site(image, 1, AS_AGENT_REALLOC, (const uint64_t[]){2, 70, 2, 70, 1, 40});
    image->tracks = 1;
    image->other = 1;
    image->live = 50;
    image->peak = 100;
    image->at_peak = 100;
    image->pid = 200;
}

/* ---- the profile ---- */

static void hear(void *context, enum as_log_level level, const char *text)
{
}

/* Adds what the agent has, with so many programs executed. The caller closes it. */
static struct as_store *add(uint64_t execs)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_record_options options = {.notices = {hear, NULL}};
    struct as_record record = {.options = &options, .writer = as_store_writer_open(unit_profile, &err)};
    struct as_native_result result = {.agent = agent, .execs = execs};
    assert_non_null(record.writer);
    n_calls = n_series = n_maps = n_threads = 0;
    as_record_agent_add(&result, &record);
    assert_true(as_store_writer_commit(record.writer, &err));
    struct as_store *store = as_store_open(unit_profile, &err);
    assert_non_null(store);
    return store;
}

static uint64_t counter(const struct as_store *store, const char *name)
{
    size_t n;
    const struct as_store_counter *counters = as_store_counters(store, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(counters[i].name, name) == 0)
            return counters[i].value;
    fail_msg("no %s", name);
    return 0;
}

/* 0: there is none. */
static double quality(const struct as_store *store, const char *key)
{
    size_t n;
    const struct as_store_quality *rows = as_store_quality(store, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].key, key) == 0)
            return rows[i].value;
    return 0;
}

static int open_agent(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    agent = as_agent_open("/nowhere/agent.so", 4, &err);
    if (!agent)
        return -1;
    ((struct as_agent_wire *)as_agent_wire(agent))->images = 2;
    write_first(image_of(0));
    write_second(image_of(1));
    return 0;
}

static int close_agent(void **state)
{
    as_agent_close(agent);
    return 0;
}

static void sums(void **state)
{
    static const struct {
        const char *name;
        uint64_t value;
    } wanted[] = {
        {"calls_malloc", 13},
        {"calls_calloc", 1},
        {"calls_realloc", 2},
        {"calls_aligned", 0},
        {"calls_mmap", 2},
        {"calls_munmap", 1},
        {"calls_free", 4 + 3 + 2 + 9 - 2 - 3},
        {"mapped_bytes", 8192},
        {"allocated_bytes", 1150},
        {"live_bytes", 650},
        {"live_blocks", 7},
        {"peak_bytes", 900},
        {"unknown_frees", 9},
        {"agent_images", 2},
        {"threads_started", 0},
        {"threads_ended", 0},
    };
    struct as_store *store = add(2);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (counter(store, wanted[i].name) != wanted[i].value)
            fail_msg("%s is %lu", wanted[i].name, counter(store, wanted[i].name));
    assert_true(quality(store, "agent") == 2 && quality(store, "agent_no_room") == 3);
    assert_true(quality(store, "agent_untracked") == 3 && quality(store, "agent_own_malloc") == 1);
    assert_float_equal(quality(store, "agent_peak"), 800.0 / 900, 1e-9);
    assert_true(quality(store, "agent_absent") == 0 && quality(store, "agent_left_out") == 0);
    assert_true(quality(store, "agent_not_tracking") == 0 && quality(store, "agent_dropped") == 0);
    as_store_close(store);
}

static void check_call(size_t number, struct call wanted)
{
    const struct call *call = &calls[number];
    assert_int_equal(call->series, wanted.series);
    assert_int_equal(call->pid, wanted.pid);
    assert_int_equal(call->thread, wanted.thread);
    assert_int_equal(call->first, wanted.first);
    assert_int_equal(call->n, 2);
    assert_int_equal(call->units, wanted.units);
    assert_int_equal(call->count, wanted.count);
}

/* Each image is a space of its own; the peak is that of the image with the higher one. */
static void sites(void **state)
{
    enum { ALLOCATED, MAPPED, LIVE, PEAK };
    const uint32_t space = UINT32_C(0x80000000);
    as_store_close(add(2));
    assert_int_equal(n_series, 4);
    assert_int_equal(n_calls, 7);
    check_call(0, (struct call){ALLOCATED, space, 0, 0x1003, 2, 1000, 10});
    check_call(1, (struct call){LIVE, space, 0, 0x1003, 2, 600, 6});
    check_call(2, (struct call){PEAK, space, 0, 0x1003, 2, 777, 9});
    check_call(3, (struct call){MAPPED, space, 0, 0x1004, 2, 8192, 2});
    check_call(4, (struct call){ALLOCATED, space + 1, 1, 0x1000, 2, 50, 1});
    check_call(5, (struct call){LIVE, space + 1, 1, 0x1000, 2, 50, 1});
    check_call(6, (struct call){ALLOCATED, space + 1, 1, 0x1001, 2, 70, 2});
    assert_int_equal(n_threads, 2);
    assert_true(threads[0][0] == 100 && threads[1][0] == 200 && threads[0][1] == UINT32_MAX);
    assert_int_equal(n_maps, 1); /* of files that are there */
    assert_true(maps[0].start == 0x400000 && maps[0].length == 0x1000 && maps[0].pid == space);
}

/* What the program had at its end is more than when the sites were noted: it stands for the peak. */
static void peak_at_the_end(void **state)
{
    image_of(0)->live = 850;
    struct as_store *store = add(2);
    assert_float_equal(quality(store, "agent_peak"), 850.0 / 900, 1e-9);
    check_call(2, (struct call){3, UINT32_C(0x80000000), 0, 0x1003, 2, 600, 6});
    as_store_close(store);
}

static void what_is_missing(void **state)
{
    image_of(0)->tracks = 0;
    image_of(1)->other = 0;
    struct as_store *store = add(5);
    assert_true(quality(store, "agent_absent") == 3 && quality(store, "agent_not_tracking") == 1);
    assert_true(quality(store, "agent_untracked") == 0 && quality(store, "agent_own_malloc") == 0);
    as_store_close(store);
}

static void too_many_programs(void **state)
{
    ((struct as_agent_wire *)as_agent_wire(agent))->images = AS_AGENT_IMAGES + 4;
    struct as_store *store = add(AS_AGENT_IMAGES + 5);
    assert_true(quality(store, "agent_left_out") == 4 && quality(store, "agent_absent") == 1);
    as_store_close(store);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_agent, close_agent)
    const struct CMUnitTest tests[] = {TEST(sums), TEST(sites), TEST(peak_at_the_end), TEST(what_is_missing),
                                       TEST(too_many_programs)};
    return cmocka_run_group_tests(tests, unit_profile_make, unit_profile_remove);
}
