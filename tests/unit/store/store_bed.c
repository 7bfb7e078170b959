/* See store_bed.h. */
#include "unit.h"

#include "store_bed.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

static char directory[64];
static pid_t owner;

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    return remove(path);
}

static void remove_directory(void)
{
    if (getpid() == owner)
        nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *bed_path(const char *name)
{
    static char paths[4][256];
    static unsigned turn;
    if (!directory[0]) {
        snprintf(directory, sizeof directory, "%s/assay-store-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
        assert_non_null(mkdtemp(directory));
        owner = getpid();
        atexit(remove_directory);
    }
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], name[0] ? "%s/%s" : "%s", directory, name);
    return path;
}

struct as_store_writer *bed_writer(const char *path)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store_writer *writer = as_store_writer_open(path, &err);
    if (!writer)
        fail_msg("%s", err.message);
    return writer;
}

void bed_commit(struct as_store_writer *writer)
{
    struct as_error err = AS_ERROR_INIT;
    if (!as_store_writer_commit(writer, &err))
        fail_msg("%s", err.message);
}

struct as_store *bed_open(const char *path)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store *store = as_store_open(path, &err);
    if (!store)
        fail_msg("%s", err.message);
    return store;
}

void bed_assert_line(const struct as_error *err, const char *part)
{
    if (strchr(err->message, '\n') || !strstr(err->message, part))
        fail_msg("\"%s\" has no \"%s\"", err->message, part);
    assert_int_equal(err->status, AS_EXIT_FAILURE);
}

void bed_refused(const char *path, const char *part)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store *store = as_store_open(path, &err);
    if (store)
        fail_msg("%s was opened, expected \"%s\"", path, part);
    bed_assert_line(&err, part);
}

void bed_writer_refused(const char *path, const char *part)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store_writer *writer = as_store_writer_open(path, &err);
    if (writer)
        fail_msg("%s was opened for writing, expected \"%s\"", path, part);
    bed_assert_line(&err, part);
}

/* ---- the small profile ---- */

static void add_about(struct as_store_writer *writer)
{
    as_store_add_meta(writer, AS_META_PROGRAM, "/bin/demo");
    as_store_add_meta(writer, AS_META_SOURCE, "model");
    as_store_add_meta(writer, AS_META_SERIES, "tea");
    as_store_add_meta_u64(writer, AS_META_CYCLES, 1000);
    as_store_add_meta_double(writer, AS_META_SECONDS, 0.1);
    as_store_add_machine(writer, "rob", "192");
    as_store_add_argument(writer, "demo");
    as_store_add_argument(writer, "-n 3");
    as_store_add_environment(writer, "LANG=C");
    as_store_add_counter(writer, "branches", 77);
    as_store_add_quality(writer, "lost", 0.25, "a quarter was lost");
    as_store_add_quality(writer, "advice", NAN, "more samples");
    as_store_add_run(writer, &(struct as_store_run){1, 1000, 900, 10, 0.5, 3});
    as_store_add_run(writer, &(struct as_store_run){2, 1100, 900, 11, 0.6, 3});
    as_store_add_thread(writer, &(struct as_store_thread){1, 4711, "main", 600, 500, 6});
    as_store_add_thread(writer, &(struct as_store_thread){2, 4711, NULL, 400, 400, 4});
}

static void add_code(struct as_store_writer *writer)
{
    const uint32_t none = AS_STORE_NONE;
    uint32_t demo = as_store_add_module(
        writer, &(struct as_store_module){.path = "/bin/demo", .build_id = "abcd", .base = 0x1000, .file_time = 5});
    uint32_t kernel = as_store_add_module(
        writer, &(struct as_store_module){.path = "[kernel]", .base = UINT64_C(0xffffffff81000000)});
    uint32_t file = as_store_add_file(writer, "demo.c");
    as_store_add_function(writer, &(struct as_store_function){"main", "main", demo, file, 10, 0x1100, 16});
    as_store_add_function(writer, &(struct as_store_function){"f(int)", "_Z1fi", demo, file, 20, 0x1200, 8});
    as_store_add_function(writer, &(struct as_store_function){NULL, NULL, kernel, none, 0, 0, 0});
    as_store_add_block(writer, &(struct as_store_block){0, 0x1100, 8});
    as_store_add_block(writer, &(struct as_store_block){1, 0x1200, 8});
    as_store_add_inline(writer, &(struct as_store_inline){none, "outer", file, 11});
    as_store_add_inline(writer, &(struct as_store_inline){0, "inner", file, 12});
    const struct as_store_location locations[] = {
        {0x1100, demo, 0, 0, file, 10, none},      {0x1104, demo, 0, 0, file, 11, 1},
        {0x1200, demo, 1, 1, file, 20, none},      {0x1204, demo, 1, 1, file, 20, none},
        {0x9000, demo, none, none, none, 0, none}, {UINT64_C(0xffffffff81000010), kernel, 2, none, none, 0, none},
    };
    for (size_t i = 0; i < sizeof locations / sizeof *locations; i++)
        as_store_add_instruction(writer,
                                 &(struct as_store_insn){locations[i], i == 1 ? 0x1100 : 0, i == 4 ? NULL : "nop",
                                                         "nop", (const uint8_t *)"\x90\0\x91", i % 4});
}

/* Series 0: instruction i has 100 * (i + 1) units in thread 0 and 1 unit in thread 1 where i is odd. */
static void add_times(struct as_store_writer *writer)
{
    as_store_add_series(writer, &(struct as_store_series){.name = "golden",
                                                          .description = "all cycles",
                                                          .exact = true,
                                                          .unit = "cycles",
                                                          .scale = 10,
                                                          .precise = -1,
                                                          .events = 7});
    as_store_add_series(writer, &(struct as_store_series){.name = "tea",
                                                          .unit = "cycles",
                                                          .scale = 1,
                                                          .event = "cycles",
                                                          .precise = 3,
                                                          .period = 101,
                                                          .rate = 4000,
                                                          .samples = 10,
                                                          .lost = 1,
                                                          .throttled = 2,
                                                          .dropped = 3,
                                                          .events = UINT64_C(1) << 63 | 1});
    as_store_add_estimate(writer, &(struct as_store_estimate){1, "error", "function", 0.02});
    as_store_add_event(writer, &(struct as_store_event){0, "ST-L1", "missed", AS_STORE_NONE, "stalled"});
    as_store_add_event(writer, &(struct as_store_event){63, "LAST", NULL, 0, NULL});
    as_store_add_state(writer, &(struct as_store_state){"computing", "commits"});
    as_store_add_state(writer, &(struct as_store_state){"stalled", NULL});
    as_store_add_stack(writer, &(struct as_store_stack){0, "states", "computing", 70});
    as_store_add_stack(writer, &(struct as_store_stack){0, "states", "stalled", 30});
    for (uint32_t i = 0; i < 6; i++) {
        as_store_add_time(writer, &(struct as_store_time){0, 0, i, 100 * (i + 1), 0, i});
        as_store_add_component(writer, &(struct as_store_component){0, 0, i, 0, 60 * (i + 1), 0});
        as_store_add_component(writer, &(struct as_store_component){0, 0, i, 5, 40 * (i + 1), 0});
        as_store_add_state_time(writer, &(struct as_store_state_time){0, 0, i, 1, 100 * (i + 1)});
        if (i % 2)
            as_store_add_time(writer, &(struct as_store_time){0, 1, i, 1, 0, 1});
    }
    as_store_add_time(writer, &(struct as_store_time){1, 1, 2, 101, 1, 0});
    as_store_add_time(writer, &(struct as_store_time){1, 1, 2, 101, 1, 0});
    as_store_add_component(writer, &(struct as_store_component){1, 1, 2, UINT64_C(1) << 63, 202, 2});
}

/* The two samples of series 1, and one that its times do not have: in thread 0, on an unknown processor. */
static void add_moments(struct as_store_writer *writer)
{
    const uint32_t none = AS_STORE_NONE;
    const uint64_t last = UINT64_C(1) << 63;
    as_store_add_moment(writer, &(struct as_store_moment){1, 1, 2, 5000000000, 3, 1, last, 101, 1});
    as_store_add_moment(writer, &(struct as_store_moment){1, 1, 2, 1000, 0, none, last, 60, 1});
    as_store_add_moment(writer, &(struct as_store_moment){1, 1, 2, 1000, 0, none, last, 41, 1});
    as_store_add_moment(writer, &(struct as_store_moment){1, 0, 0, 999, none, 0, 1, 7, 1});
}

/* main > f > main > f, and the kernel below f; a second root without a function. */
static void add_paths(struct as_store_writer *writer)
{
    const uint32_t none = AS_STORE_NONE;
    const struct as_store_path paths[] = {
        {none, 0, none, 0x1100, 0, false},   {0, 1, 1, 0x1200, 0x1104, false}, {1, 0, 3, 0x1100, 0x1204, false},
        {2, 1, none, 0x1200, 0, false},      {3, 2, none, 0x10, 0, true},      {none, none, none, 0x7f00, 0, false},
        {0, 1, none, 0x1200, 0x1108, false},
    };
    for (uint32_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        as_store_add_path(writer, &paths[i]);
        as_store_add_path_time(writer, &(struct as_store_path_time){0, 0, i, i == 2 ? 0 : none, 1u << i, 0});
    }
    as_store_add_path_time(writer, &(struct as_store_path_time){0, 1, 0, none, 1000, 5});
    as_store_add_path_component(writer, &(struct as_store_path_component){0, 0, 1, 0, 1, 0});
    as_store_add_path_component(writer, &(struct as_store_path_component){0, 0, 1, 5, 1, 2});
    as_store_add_path_component(writer, &(struct as_store_path_component){0, 1, 1, 5, 7, 3});
    as_store_add_path_component(writer, &(struct as_store_path_component){0, 1, 0, 1, 1000, 5});
}

/* A variable, and something on the heap that two samples met. */
static void add_data(struct as_store_writer *writer)
{
    uint32_t table = as_store_add_object(writer, &(struct as_store_object){0, "table", 0x4000, 64});
    uint32_t heap = as_store_add_object(writer, &(struct as_store_object){AS_STORE_NONE, "[heap]", 0x5000, 0});
    const struct as_store_access accesses[] = {
        {1, 1, 2, 0x4008, 8, AS_STORE_LOAD, AS_STORE_HOW_EXACT, table, 101, 1},
        {1, 1, 2, 0x5010, 4, AS_STORE_LOAD | AS_STORE_STORE, AS_STORE_HOW_NEXT, heap, 50, 1},
        {1, 1, 2, 0x5010, 4, AS_STORE_LOAD | AS_STORE_STORE, AS_STORE_HOW_NEXT, heap, 51, 1},
        {1, 0, 3, UINT64_MAX - 7, 0, 0, AS_STORE_HOW_HARDWARE, AS_STORE_NONE, 9, 1},
    };
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
        as_store_add_access(writer, &accesses[i]);
    struct as_store_access_component component = {1, 1, 2, 0x5010, AS_STORE_LOAD, heap, 5, 50, 1};
    as_store_add_access_component(writer, &component);
    as_store_add_access_component(writer, &component);
    component.events = 1;
    as_store_add_access_component(writer, &component);
    as_store_add_branch(writer, &(struct as_store_branch){1, 1, 0, 10, 2, 77});
    as_store_add_branch(writer, &(struct as_store_branch){1, 1, 0, 5, 1, 23});
    as_store_add_branch(writer, &(struct as_store_branch){1, 0, 2, 1, 0, 0});
    struct as_store_wait wait = {1, 1, 2, 0, 0, 0x4000, 8, AS_STORE_WAIT_WRITE, 1, table, AS_STORE_NONE, 300, 3};
    as_store_add_wait(writer, &wait);
    as_store_add_wait(writer, &wait);
    wait.culprit = wait.object = AS_STORE_NONE;
    wait.sharing = 0;
    as_store_add_wait(writer, &wait);
}

void bed_add_small(struct as_store_writer *writer)
{
    add_about(writer);
    add_code(writer);
    add_times(writer);
    add_paths(writer);
    add_data(writer);
    add_moments(writer);
}

void bed_write_small(const char *path)
{
    struct as_store_writer *writer = bed_writer(path);
    bed_add_small(writer);
    bed_commit(writer);
}

/* ---- files ---- */

void bed_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

uint8_t *bed_read(const char *path, size_t *size)
{
    struct stat info;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && fstat(fd, &info) == 0);
    *size = (size_t)info.st_size;
    uint8_t *bytes = malloc(*size + 1);
    assert_int_equal(read(fd, bytes, *size), *size);
    close(fd);
    return bytes;
}

void bed_write(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

int bed_count_files(void)
{
    DIR *dir = opendir(bed_path(""));
    assert_non_null(dir);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}
