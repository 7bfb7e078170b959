/* A profile appears whole or not at all, whatever happens; a large one is quick; and estimates can be added later. */
#include "unit.h"

#include "store/store_target.h"
#include "store_bed.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

static void write_marked(const char *path, const char *mark)
{
    struct as_store_writer *writer = bed_writer(path);
    bed_add_small(writer);
    as_store_add_meta(writer, "mark", mark);
    bed_commit(writer);
}

static void assert_mark(const char *path, const char *mark)
{
    struct as_store *store = bed_open(path);
    assert_string_equal(as_store_meta(store, "mark"), mark);
    as_store_close(store);
}

static void no_file_before_commit(void **state)
{
    int before = bed_count_files();
    struct as_store_writer *writer = bed_writer(bed_path("late.db"));
    bed_add_small(writer);
    assert_int_equal(access(bed_path("late.db"), F_OK), -1);
    assert_int_equal(bed_count_files(), before);
    as_store_writer_abort(writer);
    assert_int_equal(bed_count_files(), before);
}

static void old_file_stays_until_commit(void **state)
{
    write_marked(bed_path("a.db"), "old");
    struct as_store_writer *writer = bed_writer(bed_path("a.db"));
    bed_add_small(writer);
    as_store_add_meta(writer, "mark", "new");
    assert_mark(bed_path("a.db"), "old");
    struct as_store *reader = bed_open(bed_path("a.db"));
    bed_commit(writer);
    assert_mark(bed_path("a.db"), "new");
    /* who reads the old one goes on with it */
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_store_load(reader, AS_STORE_CALLS, &err));
    assert_string_equal(as_store_meta(reader, "mark"), "old");
    as_store_close(reader);
    writer = bed_writer(bed_path("a.db"));
    as_store_writer_abort(writer);
    assert_mark(bed_path("a.db"), "new");
}

static void links_are_followed(void **state)
{
    struct stat info;
    write_marked(bed_path("real.db"), "old");
    unlink(bed_path("link.db"));
    assert_int_equal(symlink("real.db", bed_path("link.db")), 0);
    write_marked(bed_path("link.db"), "new");
    assert_mark(bed_path("real.db"), "new");
    assert_true(lstat(bed_path("link.db"), &info) == 0 && S_ISLNK(info.st_mode));
}

static void partial_is_marked(void **state)
{
    struct as_store_writer *writer = bed_writer(bed_path("part.db"));
    as_store_add_meta(writer, AS_META_PARTIAL, "interrupted after 3 s");
    bed_commit(writer);
    struct as_store *store = bed_open(bed_path("part.db"));
    assert_string_equal(as_store_meta(store, AS_META_PARTIAL), "interrupted after 3 s");
    as_store_close(store);
}

/* ---- refusals ---- */

static void refused_targets(void **state)
{
    mkdir(bed_path("dir"), 0777);
    bed_writer_refused(bed_path("dir"), "is a directory");
    bed_writer_refused(bed_path("nowhere/a.db"), "No such file");
    bed_writer_refused("/dev/null", "regular file");
    bed_writer_refused("/proc/assay.db", "cannot write /proc/assay.db");
    bed_writer_refused("", "needs a file name");
    bed_write(bed_path("prog.c"), "int main;", 9);
    bed_writer_refused(bed_path("prog.c"), "is not an Assay profile");
    bed_write(bed_path("was_made_empty"), "", 0);
    bed_write_small(bed_path("was_made_empty"));
}

/* Without root's rights, which permissions do not bind. */
static void try_as_nobody(void *unused)
{
    struct as_error err = AS_ERROR_INIT;
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        _exit(77);
    for (int i = 0; i < 2; i++) {
        const char *path = bed_path(i ? "readonly.db" : "readonly/a.db");
        if (as_store_writer_open(path, &err) || !strstr(err.message, "Permission denied"))
            _exit(2 + i);
    }
    _exit(as_store_open(bed_path("secret.db"), &err) || !strstr(err.message, "Permission denied") ? 4 : 0);
}

static void no_permission(void **state)
{
    char text[256];
    mkdir(bed_path("readonly"), 0555);
    bed_write_small(bed_path("readonly.db"));
    chmod(bed_path("readonly.db"), 0444);
    bed_write_small(bed_path("secret.db"));
    chmod(bed_path("secret.db"), 0);
    chmod(bed_path(""), 0755);
    int status = unit_run_child(try_as_nobody, NULL, text, sizeof text);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        unit_skip("root cannot become anybody else here");
    assert_int_equal(status, 0);
}

static void mistakes_stick(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    write_marked(bed_path("a.db"), "old");
    struct as_store_writer *writer = bed_writer(bed_path("a.db"));
    as_store_add_time(writer, &(struct as_store_time){0, 0, 0, 1, 1, 1});
    assert_true(as_store_writer_failed(writer));
    bed_add_small(writer);
    assert_false(as_store_writer_commit(writer, &err));
    bed_assert_line(&err, "bad series");
    assert_mark(bed_path("a.db"), "old");
}

static void too_long(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    char *huge = malloc(AS_STORE_MAX_TEXT + 2);
    memset(huge, 'x', AS_STORE_MAX_TEXT + 1);
    huge[AS_STORE_MAX_TEXT + 1] = '\0';
    struct as_store_writer *writer = bed_writer(bed_path("long.db"));
    as_store_add_file(writer, huge);
    assert_false(as_store_writer_commit(writer, &err));
    bed_assert_line(&err, "longer than");
    free(huge);
}

/* ---- no space ---- */

/* Writes more than fits; 0: refused with `part` in the message and the old file intact. */
static int overfill(const char *path, const char *part)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store_writer *writer = as_store_writer_open(path, &err);
    char name[4096];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int i = 0; writer && i < 20000 && !as_store_writer_failed(writer); i++)
        as_store_add_file(writer, name);
    if (writer && as_store_writer_commit(writer, &err))
        return 2;
    if (!strstr(err.message, part) || strchr(err.message, '\n')) {
        fprintf(stderr, "%s\n", err.message);
        return 3;
    }
    struct as_store *store = as_store_open(path, &err);
    const char *mark = store ? as_store_meta(store, "mark") : NULL;
    return mark && strcmp(mark, "old") == 0 ? 0 : 4;
}

static void limit_and_overfill(void *path)
{
    struct rlimit limit = {1 << 20, 1 << 20};
    signal(SIGXFSZ, SIG_IGN);
    _exit(setrlimit(RLIMIT_FSIZE, &limit) == 0 ? overfill(path, "File too large") : 1);
}

static void file_size_limit(void **state)
{
    char text[1024];
    write_marked(bed_path("limit.db"), "old");
    int before = bed_count_files(),
        status = unit_run_child(limit_and_overfill, (void *)bed_path("limit.db"), text, 1024);
    if (status != 0)
        fail_msg("status %x: %s", (unsigned)status, text);
    assert_int_equal(bed_count_files(), before);
}

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* A name space in which this process may mount: as root, or as root of a name space of its own. */
static bool enter_name_space(void)
{
    char map[64];
    snprintf(map, sizeof map, "0 %u 1", (unsigned)geteuid());
    if (unshare(CLONE_NEWNS) == 0)
        return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_text("/proc/self/uid_map", map);
}

/* A file system of 1 MiB. */
static void mount_and_overfill(void *directory)
{
    char path[300];
    if (!enter_name_space() || mount("tmpfs", directory, "tmpfs", 0, "size=1m") != 0)
        _exit(77);
    snprintf(path, sizeof path, "%s/full.db", (char *)directory);
    struct as_error err = AS_ERROR_INIT;
    struct as_store_writer *writer = as_store_writer_open(path, &err);
    if (!writer)
        _exit(5);
    as_store_add_meta(writer, "mark", "old");
    _exit(as_store_writer_commit(writer, &err) ? overfill(path, "No space left") : 6);
}

static void disk_full(void **state)
{
    char text[1024];
    mkdir(bed_path("full"), 0777);
    int status = unit_run_child(mount_and_overfill, (void *)bed_path("full"), text, sizeof text);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        unit_skip("no file system can be mounted in a name space here");
    if (status != 0)
        fail_msg("status %x: %s", (unsigned)status, text);
}

/* ---- killed writers ---- */

static void write_until_killed(void *path)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store_writer *writer = as_store_writer_open(path, &err);
    bed_add_small(writer);
    for (int i = 0; i < 5000; i++)
        as_store_add_file(writer, "some file that is not of any importance but of some length");
    raise(SIGKILL);
}

static void killed_writer_leaves_nothing(void **state)
{
    char text[256];
    write_marked(bed_path("kill.db"), "old");
    int before = bed_count_files();
    int status = unit_run_child(write_until_killed, (void *)bed_path("kill.db"), text, sizeof text);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_mark(bed_path("kill.db"), "old");
    assert_int_equal(bed_count_files(), before);
}

/* Where files must have names: they are locked while in use, and whatever was left is removed by the next one. */
static void named_targets(void **state)
{
    struct as_store_target first, second;
    struct as_error err = AS_ERROR_INIT;
    struct stat info;
    unlink(bed_path("named.db"));
    bed_write(bed_path("named.db.123-0.partial"), "left", 4);
    bed_write(bed_path("named.db.mine.partial"), "not ours", 8);
    assert_true(as_store_target_open(&first, bed_path("named.db"), false, &err));
    assert_int_equal(access(bed_path("named.db.123-0.partial"), F_OK), -1);
    assert_int_equal(access(bed_path("named.db.mine.partial"), F_OK), 0);
    assert_true(first.temporary && stat(first.temporary, &info) == 0);
    assert_true(as_store_target_open(&second, bed_path("named.db"), false, &err));
    assert_int_equal(access(first.temporary, F_OK), 0);
    assert_string_not_equal(first.temporary, second.temporary);
    assert_int_equal(write(first.fd, "1", 1), 1);
    assert_true(as_store_target_publish(&first, &err));
    as_store_target_free(&first);
    as_store_target_free(&second);
    assert_true(stat(bed_path("named.db"), &info) == 0 && info.st_size == 1);
    unlink(bed_path("named.db.mine.partial"));
    unlink(bed_path("named.db"));
}

/* ---- reading while others write ---- */

static void readers_beside_a_writer(void **state)
{
    write_marked(bed_path("busy.db"), "0");
    pid_t child = fork();
    if (child == 0) {
        struct as_error err = AS_ERROR_INIT;
        bool ok = true;
        for (int i = 0; i < 150 && ok; i++) {
            struct as_store_writer *writer = as_store_writer_open(bed_path("busy.db"), &err);
            if (writer)
                bed_add_small(writer);
            ok = writer && as_store_writer_commit(writer, &err);
        }
        _exit(ok ? 0 : 1);
    }
    int status, opened = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        struct as_store *store = bed_open(bed_path("busy.db"));
        struct as_error err = AS_ERROR_INIT;
        assert_true(as_store_load(store, AS_STORE_CALLS, &err));
        as_store_close(store);
        opened++;
    }
    assert_int_equal(status, 0);
    assert_true(opened > 0);
}

/* ---- size ---- */

/* `n` instructions in functions of 100, two components each. */
static void write_large(const char *path, uint32_t n)
{
    struct as_store_writer *writer = bed_writer(path);
    as_store_add_thread(writer, &(struct as_store_thread){.number = 1});
    as_store_add_series(writer, &(struct as_store_series){.name = "golden", .exact = true, .scale = 1, .events = 1});
    as_store_add_module(writer, &(struct as_store_module){.path = "large"});
    uint32_t file = as_store_add_file(writer, "large.c");
    for (uint32_t i = 0; i < n; i++) {
        char name[64];
        snprintf(name, sizeof name, "function_%u", i / 100);
        if (i % 100 == 0)
            as_store_add_function(writer, &(struct as_store_function){name, name, 0, file, i, i * 4, 400});
        if (i % 10 == 0)
            as_store_add_block(writer, &(struct as_store_block){i / 100, i * 4, 40});
        snprintf(name, sizeof name, "mov rax, qword ptr [rsp+%u]", i);
        as_store_add_instruction(writer,
                                 &(struct as_store_insn){{i * 4, 0, i / 100, i / 10, file, i / 3, AS_STORE_NONE},
                                                         0,
                                                         name,
                                                         "load",
                                                         (const uint8_t *)"\x48\x8b\x44\x24",
                                                         4});
    }
    for (uint32_t i = 0; i < n; i++)
        as_store_add_time(writer, &(struct as_store_time){0, 0, i, 720720 + i, 0, i});
    for (uint32_t i = 0; i < n; i++) {
        as_store_add_component(writer, &(struct as_store_component){0, 0, i, 0, 720720, 0});
        as_store_add_component(writer, &(struct as_store_component){0, 0, i, 1, i, 0});
    }
    bed_commit(writer);
}

static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void report_time(const char *what, double *since)
{
    print_message("  %s: %.3f s of processor time\n", what, cpu_seconds() - *since);
    *since = cpu_seconds();
}

/* 100,000 instructions; STORE_ROWS=1000000 for more. */
static void large_profile(void **state)
{
    const char *wish = getenv("STORE_ROWS");
    uint32_t n = wish ? (uint32_t)atoi(wish) : 100000;
    struct as_error err = AS_ERROR_INIT;
    struct as_store_query query = AS_STORE_QUERY_INIT;
    struct as_store_rows rows;
    struct stat info;
    double since = cpu_seconds(), start = since;
    write_large(bed_path("large.db"), n);
    report_time("write", &since);
    struct as_store *store = bed_open(bed_path("large.db"));
    report_time("open", &since);
    assert_true(as_store_load(store, AS_STORE_CODE, &err));
    report_time("load the code", &since);
    query.split = AS_STORE_BY_EVENTS;
    assert_true(as_store_query(store, &query, &rows, &err));
    report_time("by function", &since);
    assert_int_equal(rows.n, n / 100);
    assert_int_equal(rows.total, (uint64_t)n * 720720 + (uint64_t)n * (n - 1) / 2);
    assert_int_equal(rows.rows[0].id, n / 100 - 1);
    assert_int_equal(rows.rows[0].n_parts, 2);
    as_store_rows_free(&rows);
    query.level = AS_STORE_BY_INSTRUCTION;
    assert_true(as_store_query(store, &query, &rows, &err));
    report_time("by instruction", &since);
    assert_int_equal(rows.n, n);
    as_store_rows_free(&rows);
    query.function = 7;
    assert_true(as_store_query(store, &query, &rows, &err));
    report_time("one function", &since);
    assert_int_equal(rows.n, 100);
    as_store_rows_free(&rows);
    as_store_close(store);
    assert_int_equal(stat(bed_path("large.db"), &info), 0);
    print_message("  %u instructions, %.1f MB\n", n, (double)info.st_size / 1e6);
    unlink(bed_path("large.db"));
    assert_true(wish || cpu_seconds() - start < 20); /* sanitizers included */
}

/* ---- estimates that come later ---- */

static void check_estimate(const struct as_store_estimate *estimate, const char *measure, const char *granularity,
                           double value)
{
    assert_string_equal(estimate->measure, measure);
    assert_string_equal(estimate->granularity, granularity);
    assert_true(estimate->value == value);
}

/* Rows of a profile that is there: one in place of its like, two that are new. Everything else stays. */
static void estimates_are_noted(void **state)
{
    static const struct as_store_estimate later[] = {
        {1, "error", "function", 0.5}, {1, "error", "instruction", 0.25}, {1, "bias", "function", 0.125}};
    struct as_error err = AS_ERROR_INIT;
    char path[256];
    snprintf(path, sizeof path, "%s", bed_path("noted.db"));
    bed_write_small(path);
    struct as_store *store = bed_open(path);
    size_t before, after, functions, n;
    as_store_estimates(store, &before);
    as_store_functions(store, &functions);
    as_store_close(store);
    int files = bed_count_files();
    assert_true(as_store_note_estimates(path, later, 3, &err));
    assert_int_equal(bed_count_files(), files);
    store = bed_open(path);
    const struct as_store_estimate *estimates = as_store_estimates(store, &after);
    assert_int_equal(after, before + 2);
    for (size_t i = 0; i < 3; i++) {
        size_t found = 0;
        for (size_t k = 0; k < after; k++)
            if (estimates[k].series == 1 && strcmp(estimates[k].measure, later[i].measure) == 0 &&
                strcmp(estimates[k].granularity, later[i].granularity) == 0) {
                check_estimate(&estimates[k], later[i].measure, later[i].granularity, later[i].value);
                found++;
            }
        assert_int_equal(found, 1);
    }
    as_store_functions(store, &n);
    assert_int_equal(n, functions);
    as_store_close(store);
}

static void nothing_to_note_in(void **state)
{
    static const struct as_store_estimate one = {1, "error", "function", 0.5};
    struct as_error err = AS_ERROR_INIT;
    char path[256];
    snprintf(path, sizeof path, "%s", bed_path("absent.db"));
    int files = bed_count_files();
    assert_false(as_store_note_estimates(path, &one, 1, &err));
    bed_assert_line(&err, "it cannot be copied: No such file");
    assert_int_equal(bed_count_files(), files);
}

/* In memory: the same, for a profile that is open. */
static void estimates_are_put(void **state)
{
    char path[256];
    snprintf(path, sizeof path, "%s", bed_path("put.db"));
    bed_write_small(path);
    struct as_store *store = bed_open(path);
    size_t before, after;
    as_store_estimates(store, &before);
    as_store_put_estimate(store, &(struct as_store_estimate){1, "error", "function", 0.5});
    const struct as_store_estimate *estimates = as_store_estimates(store, &after);
    assert_int_equal(after, before);
    size_t at = 0;
    while (at < after && !(estimates[at].series == 1 && estimates[at].value == 0.5))
        at++;
    assert_true(at < after);
    check_estimate(&estimates[at], "error", "function", 0.5);
    static const struct as_store_estimate others[] = {
        {0, "error", "function", 1}, {1, "bias", "function", 2}, {1, "error", "line", 3}};
    for (size_t i = 0; i < 3; i++) {
        as_store_put_estimate(store, &others[i]);
        estimates = as_store_estimates(store, &after);
        assert_int_equal(after, before + i + 1);
        check_estimate(&estimates[after - 1], others[i].measure, others[i].granularity, others[i].value);
    }
    check_estimate(&estimates[at], "error", "function", 0.5);
    as_store_close(store);
}

/* ---- rows that were written are read again ---- */

struct seen {
    size_t n, most;
    uint32_t numbers[20];
    struct as_store_time rows[20];
};

static bool see(void *context, uint32_t number, const void *row)
{
    struct seen *seen = context;
    seen->numbers[seen->n] = number;
    seen->rows[seen->n++] = *(const struct as_store_time *)row;
    return seen->n < seen->most;
}

static struct seen each_time(struct as_store_writer *writer, uint32_t series, size_t most)
{
    struct as_error err = AS_ERROR_INIT;
    struct seen seen = {.most = most};
    if (!as_store_writer_each(writer, AS_TABLE_TIMES, series, see, &seen, &err))
        fail_msg("%s", err.message);
    return seen;
}

/* Those of a series or of all, and no more than are wanted. Times that come twice are one. */
static void rows_are_read_again(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store_writer *writer = bed_writer(bed_path("again.db"));
    as_store_add_thread(writer, &(struct as_store_thread){.number = 1, .process = 1});
    as_store_add_module(writer, &(struct as_store_module){.path = "a"});
    for (uint32_t i = 0; i < 3; i++)
        as_store_add_instruction(writer,
                                 &(struct as_store_insn){.location = {16 + 4 * i, 0, AS_STORE_NONE, AS_STORE_NONE,
                                                                      AS_STORE_NONE, 0, AS_STORE_NONE}});
    for (uint32_t i = 0; i < 2; i++)
        as_store_add_series(writer, &(struct as_store_series){.name = i ? "b" : "a", .unit = "cycles", .scale = 1});
    for (uint32_t i = 0; i < 3; i++)
        as_store_add_time(writer, &(struct as_store_time){i == 2, 0, i, 10 * (i + 1), i, 7});
    as_store_add_time(writer, &(struct as_store_time){0, 0, 1, 5, 2, 1});
    struct seen seen = each_time(writer, 0, 20);
    assert_int_equal(seen.n, 2);
    assert_true(seen.numbers[0] == 0 && seen.numbers[1] == 1);
    assert_true(seen.rows[0].instruction == 0 && seen.rows[0].units == 10 && seen.rows[0].executions == 7);
    assert_true(seen.rows[1].instruction == 1 && seen.rows[1].units == 25 && seen.rows[1].samples == 3);
    seen = each_time(writer, 1, 20);
    assert_true(seen.n == 1 && seen.rows[0].series == 1 && seen.rows[0].units == 30);
    assert_int_equal(each_time(writer, AS_STORE_NONE, 20).n, 3);
    assert_int_equal(each_time(writer, AS_STORE_NONE, 2).n, 2);
    assert_false(as_store_writer_failed(writer));
    as_store_add_time(writer, &(struct as_store_time){2, 0, 0, 1, 1, 1}); /* of no series */
    assert_false(as_store_writer_each(writer, AS_TABLE_TIMES, 0, see, &seen, &err));
    bed_assert_line(&err, "row 4 of times");
    as_store_writer_abort(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_file_before_commit),
        cmocka_unit_test(old_file_stays_until_commit),
        cmocka_unit_test(links_are_followed),
        cmocka_unit_test(partial_is_marked),
        cmocka_unit_test(refused_targets),
        cmocka_unit_test(no_permission),
        cmocka_unit_test(mistakes_stick),
        cmocka_unit_test(too_long),
        cmocka_unit_test(file_size_limit),
        cmocka_unit_test(disk_full),
        cmocka_unit_test(killed_writer_leaves_nothing),
        cmocka_unit_test(named_targets),
        cmocka_unit_test(readers_beside_a_writer),
        cmocka_unit_test(large_profile),
        cmocka_unit_test(estimates_are_noted),
        cmocka_unit_test(nothing_to_note_in),
        cmocka_unit_test(estimates_are_put),
        cmocka_unit_test(rows_are_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
