/* Files that are no profiles, or no longer: each is refused with one line, and nothing that a file says makes the
 * reader crash. And older formats, which are read. */
#include "unit.h"

#include "store/store_header.h"
#include "store/store_internal.h"
#include "store_bed.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

/* ---- other files ---- */

static void other_files(void **state)
{
    bed_refused(bed_path("missing.db"), "there is no");
    bed_refused(bed_path(""), "is a directory");
    bed_refused("/dev/null", "not a regular file");
    mkfifo(bed_path("fifo"), 0600);
    bed_refused(bed_path("fifo"), "not a regular file");
    bed_write(bed_path("empty"), "", 0);
    bed_refused(bed_path("empty"), "is empty");
    bed_write(bed_path("text"), "hello\n", 6);
    bed_refused(bed_path("text"), "not an Assay profile");
    bed_write(bed_path("perf.data"), "PERFILE2 and so on", 18);
    bed_refused(bed_path("perf.data"), "assay import");
    bed_write_small(bed_path("other.db"));
    bed_sql(bed_path("other.db"), "PRAGMA application_id = 7");
    bed_refused(bed_path("other.db"), "another program");
}

/* Asking opens files, and leaves none open. */
static void what_is_a_profile(void **state)
{
    int free_descriptor = dup(0);
    assert_true(free_descriptor >= 0 && close(free_descriptor) == 0);
    bed_write_small(bed_path("profile.db"));
    bed_write(bed_path("text"), "hello\n", 6);
    assert_true(as_store_is_profile(bed_path("profile.db")));
    assert_false(as_store_is_profile(bed_path("text")));
    assert_false(as_store_is_profile(bed_path("missing.db")));
    bed_sql(bed_path("profile.db"), "PRAGMA application_id = 7");
    assert_false(as_store_is_profile(bed_path("profile.db")));
    int next = dup(0);
    assert_int_equal(next, free_descriptor);
    close(next);
}

static void hostile_names_stay_one_line(void **state)
{
    bed_refused(bed_path("no\n\x1b[31m\ndb"), "there is no");
}

static void versions(void **state)
{
    bed_write_small(bed_path("new.db"));
    bed_sql(bed_path("new.db"), "PRAGMA user_version = 99");
    bed_refused(bed_path("new.db"), "format version 99, but this Assay reads only up to");
    bed_sql(bed_path("new.db"), "PRAGMA user_version = 0");
    bed_refused(bed_path("new.db"), "no format version");
    bed_sql(bed_path("new.db"), "PRAGMA user_version = -1");
    bed_refused(bed_path("new.db"), "newer Assay");
}

/* ---- damage ---- */

static void use_everything(struct as_store *store);

static void truncated(void **state)
{
    size_t size;
    bed_write_small(bed_path("small.db"));
    uint8_t *bytes = bed_read(bed_path("small.db"), &size);
    for (size_t cut = 1; cut < size; cut += cut < 200 ? 1 : 999) {
        bed_write(bed_path("cut.db"), bytes, cut);
        bed_refused(bed_path("cut.db"), cut < 15 ? "not an Assay" : "truncated");
    }
    free(bytes);
}

/* What is refused, is with one line; what is not, can be read to its end. */
static void try_file(const char *path)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store *store = as_store_open(path, &err);
    if (store)
        use_everything(store);
    else
        assert_true(err.message[0] && !strchr(err.message, '\n'));
    as_store_close(store);
}

static bool ignore(void *context, uint32_t id, const struct as_store_insn *insn)
{
    return true;
}

static void use_everything(struct as_store *store)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store_rows rows;
    struct as_store_totals totals;
    for (int level = AS_STORE_BY_PROGRAM; level <= AS_STORE_BY_INSTRUCTION; level++) {
        struct as_store_query query = AS_STORE_QUERY_INIT;
        query.level = (enum as_store_level)level;
        query.split = (enum as_store_split)(level % 3);
        if (as_store_query(store, &query, &rows, &err))
            as_store_rows_free(&rows);
    }
    if (as_store_totals(store, 0, NULL, &totals, &err))
        as_store_totals_free(&totals);
    if (!as_store_instructions(store, 0, ignore, NULL, &err))
        assert_true(err.message[0] != '\0');
    size_t n;
    free(as_store_path_components(store, 0, NULL, &n, &err));
    free(as_store_accesses(store, 0, NULL, &n, &err));
    free(as_store_branches(store, 0, &n, &err));
}

static void flipped_bytes(void **state)
{
    size_t size;
    bed_write_small(bed_path("small.db"));
    uint8_t *bytes = bed_read(bed_path("small.db"), &size);
    uint32_t random = 12345;
    for (int i = 0; i < 400; i++) {
        random = random * 1664525 + 1013904223;
        size_t at = i < 100 ? (size_t)i : random % size;
        uint8_t old = bytes[at];
        bytes[at] ^= (uint8_t)(1 + (random >> 24) % 255);
        bed_write(bed_path("flipped.db"), bytes, size);
        bytes[at] = old;
        try_file(bed_path("flipped.db"));
    }
    free(bytes);
}

/* A sound database with rows that make no sense. */
static void bad_rows(void **state)
{
    static const struct {
        const char *sql, *part;
    } at_once[] = {
        {"DROP TABLE times", "times is not that"},
        {"DROP TABLE times; CREATE VIEW times AS SELECT 1", "times is not that"},
        {"DROP TABLE meta; CREATE TABLE meta(key, value)", "meta is not that"},
        {"DROP INDEX instructions_of_function", "instructions_of_function is not that"},
        {"UPDATE threads SET id = 5 WHERE id = 1", "of threads is invalid"},
        {"UPDATE threads SET number = -1", "of threads is invalid"},
        {"UPDATE series SET scale = 0", "of series is invalid"},
        {"UPDATE series SET scale = -5", "of series is invalid"},
        {"UPDATE series SET id = -1 WHERE id = 0", "of series is invalid"},
        {"UPDATE events SET bit = 64 WHERE bit = 63", "of events is invalid"},
        {"UPDATE stacks SET series = 2", "of stacks is invalid"},
        {"UPDATE estimates SET series = 2", "of estimates is invalid"},
        {"UPDATE runs SET status = 1 << 40", "of runs is invalid"},
        {"UPDATE stacks SET units = -1", "of stacks is invalid"},
        {"UPDATE stacks SET units = 9e18", "of stacks is invalid"},
        {"UPDATE series SET samples = -1", "of series is invalid"},
    };
    static const struct {
        const char *sql, *part;
    } later[] = {
        {"UPDATE functions SET module = 2 WHERE id = 1", "of functions is invalid"},
        {"UPDATE functions SET file = -1", "of functions is invalid"},
        {"UPDATE blocks SET function = 3", "of blocks is invalid"},
        {"UPDATE inlines SET parent = 1 WHERE id = 1", "of inlines is invalid"},
        {"UPDATE instructions SET function = 4000000000", "of instructions is invalid"},
        {"UPDATE instructions SET line = -1", "of instructions is invalid"},
        {"UPDATE instructions SET id = id * 1000000", "of instructions is invalid"},
        {"PRAGMA ignore_check_constraints = 1; UPDATE paths SET parent = 3 WHERE id = 1", ""},
        {"UPDATE paths SET call_site = 6", "of paths is invalid"},
        {"UPDATE times SET thread = 2 WHERE series = 0 AND instruction = 0", "of times is invalid"},
        {"UPDATE times SET instruction = 6 WHERE instruction = 5", "of times is invalid"},
        {"UPDATE times SET units = -5 WHERE series = 0 AND instruction = 0", "of times is invalid"},
        {"UPDATE times SET samples = -1 WHERE series = 0 AND instruction = 0", "of times is invalid"},
        {"UPDATE times SET executions = -1 WHERE series = 0 AND instruction = 0", "of times is invalid"},
        {"UPDATE times SET units = 9000000000000000000", "of times is invalid"},
        {"UPDATE times SET executions = 9000000000000000000", "of times is invalid"},
        {"UPDATE path_times SET units = -1 WHERE path = 6", "of path_times is invalid"},
        {"UPDATE path_times SET units = 9000000000000000000", "of path_times is invalid"},
        {"UPDATE path_times SET path = 7 WHERE path = 6", "of path_times is invalid"},
        {"UPDATE path_times SET instruction = -2 WHERE path = 6", "of path_times is invalid"},
    };
    for (size_t i = 0; i < sizeof at_once / sizeof *at_once; i++) {
        bed_write_small(bed_path("rows.db"));
        bed_sql(bed_path("rows.db"), at_once[i].sql);
        bed_refused(bed_path("rows.db"), at_once[i].part);
        unlink(bed_path("rows.db"));
    }
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        struct as_error err = AS_ERROR_INIT;
        struct as_store_totals totals;
        struct as_store_rows rows;
        struct as_store_query query = AS_STORE_QUERY_INIT;
        bed_write_small(bed_path("rows.db"));
        bed_sql(bed_path("rows.db"), later[i].sql);
        struct as_store *store = as_store_open(bed_path("rows.db"), &err);
        if (store) /* the check of the pages finds some of them first */
            assert_false(as_store_query(store, &query, &rows, &err) && as_store_totals(store, 0, NULL, &totals, &err));
        bed_assert_line(&err, later[i].part);
        as_store_rows_free(&rows);
        as_store_close(store);
    }
}

/* Everything that reads counts; false where one of them refuses. */
static bool reads_parts(struct as_store *store, struct as_error *err)
{
    struct as_store_rows rows;
    struct as_store_raw raw;
    size_t n;
    for (int split = AS_STORE_BY_EVENTS; split <= AS_STORE_BY_STATE; split++) {
        struct as_store_query query = AS_STORE_QUERY_INIT;
        query.split = (enum as_store_split)split;
        if (!as_store_query(store, &query, &rows, err))
            return false;
        as_store_rows_free(&rows);
    }
    void *lists[] = {as_store_path_components(store, 0, NULL, &n, err), as_store_accesses(store, 1, NULL, &n, err),
                     as_store_branches(store, 1, &n, err), as_store_waits(store, 1, NULL, &n, err)};
    bool ok = lists[0] && lists[1] && lists[2] && lists[3];
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]);
    if (ok && (ok = as_store_raw(store, 0, NULL, &raw, err)))
        as_store_raw_free(&raw);
    return ok;
}

/* Negative counts, and sums that no 63 bits hold, are nobody's times. */
static void impossible_counts(void **state)
{
    static const char *const columns[][2] = {{"times", "units"},           {"times", "samples"},
                                             {"times", "executions"},      {"components", "units"},
                                             {"components", "samples"},    {"state_times", "units"},
                                             {"path_times", "units"},      {"path_times", "samples"},
                                             {"path_components", "units"}, {"path_components", "samples"},
                                             {"accesses", "units"},        {"accesses", "samples"},
                                             {"branches", "taken"},        {"branches", "mispredicted"},
                                             {"branches", "cycles"}};
    static const char *const values[] = {"-1", "9000000000000000000"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (size_t k = 0; k < 2; k++) {
            struct as_error err = AS_ERROR_INIT;
            char sql[200];
            snprintf(sql, sizeof sql, "UPDATE %s SET %s = %s", columns[i][0], columns[i][1], values[k]);
            bed_write_small(bed_path("counts.db"));
            struct as_store *store = as_store_open(bed_path("counts.db"), &err);
            assert_true(reads_parts(store, &err));
            as_store_close(store);
            bed_sql(bed_path("counts.db"), sql);
            store = as_store_open(bed_path("counts.db"), &err);
            assert_non_null(store);
            if (reads_parts(store, &err))
                fail_msg("%s is believed", sql);
            bed_assert_line(&err, "is invalid");
            as_store_close(store);
        }
}

/* What a user adds to a profile with sqlite3 does not hurt. */
static bool asks(struct as_store *store, uint32_t series, struct as_store_query query, struct as_error *err)
{
    struct as_store_rows rows;
    query.series = series;
    query.function = AS_STORE_NONE;
    bool ok = as_store_query(store, &query, &rows, err);
    as_store_rows_free(&rows);
    return ok;
}

static bool whole(struct as_store *store, uint32_t series, struct as_error *err)
{
    return asks(store, series, (struct as_store_query){.level = AS_STORE_BY_LINE}, err);
}

static bool by_events(struct as_store *store, uint32_t series, struct as_error *err)
{
    return asks(store, series, (struct as_store_query){.split = AS_STORE_BY_EVENTS}, err);
}

static bool with_events(struct as_store *store, uint32_t series, struct as_error *err)
{
    return asks(store, series, (struct as_store_query){.events = UINT64_MAX}, err);
}

static bool by_state(struct as_store *store, uint32_t series, struct as_error *err)
{
    return asks(store, series, (struct as_store_query){.split = AS_STORE_BY_STATE}, err);
}

static bool by_processor(struct as_store *store, uint32_t series, struct as_error *err)
{
    return series == 0 || asks(store, series, (struct as_store_query){.level = AS_STORE_BY_PROCESSOR}, err);
}

static bool the_total(struct as_store *store, uint32_t series, struct as_error *err)
{
    uint64_t total;
    return as_store_total(store, series, NULL, &total, err);
}

static bool all_totals(struct as_store *store, uint32_t series, struct as_error *err)
{
    struct as_store_totals totals;
    bool ok = as_store_totals(store, series, NULL, &totals, err);
    if (ok)
        as_store_totals_free(&totals);
    return ok;
}

static bool raw(struct as_store *store, uint32_t series, struct as_error *err)
{
    struct as_store_raw raw;
    bool ok = as_store_raw(store, series, NULL, &raw, err);
    if (ok)
        as_store_raw_free(&raw);
    return ok;
}

#define LIST(name)                                                                                                     \
    static bool name(struct as_store *store, uint32_t series, struct as_error *err)                                    \
    {                                                                                                                  \
        size_t n;                                                                                                      \
        void *list = as_store_##name(store, series, NULL, &n, err);                                                    \
        free(list);                                                                                                    \
        return list != NULL;                                                                                           \
    }
LIST(path_times)
LIST(path_components)
LIST(accesses)
LIST(access_components)
LIST(moments)
LIST(waits)

/* Each of those that read a table refuses what is impossible in it by itself, and reads on where something else is. */
static void each_reader_refuses(void **state)
{
    typedef bool reads(struct as_store *, uint32_t, struct as_error *);
    static const struct {
        const char *table;
        reads *readers[6];
        reads *others;
    } cases[] = {
        {"times", {whole, by_events, by_state, the_total, raw}, path_times},
        {"components", {by_events, with_events, raw}, whole},
        {"state_times", {by_state, raw}, by_events},
        {"path_times", {path_times, all_totals, raw}, by_state},
        {"path_components", {path_components}, raw},
        {"accesses", {accesses}, access_components},
        {"access_components", {access_components}, accesses},
        {"moments", {moments, by_processor}, whole},
        {"waits", {waits}, raw},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[100];
        struct as_error err = AS_ERROR_INIT;
        bed_write_small(bed_path("part.db"));
        snprintf(sql, sizeof sql, "UPDATE %s SET units = -1", cases[i].table);
        bed_sql(bed_path("part.db"), sql);
        for (size_t k = 0; k < 6 && cases[i].readers[k]; k++) {
            struct as_store *store = as_store_open(bed_path("part.db"), &err);
            assert_non_null(store);
            assert_true(cases[i].others(store, 0, &err) && cases[i].others(store, 1, &err));
            if (cases[i].readers[k](store, 0, &err) && cases[i].readers[k](store, 1, &err))
                fail_msg("reader %zu believes %s", k, sql);
            bed_assert_line(&err, "is invalid");
            as_store_close(store);
            err = (struct as_error)AS_ERROR_INIT;
        }
    }
}

static void guests_are_ignored(void **state)
{
    bed_write_small(bed_path("guest.db"));
    bed_sql(bed_path("guest.db"), "CREATE VIEW hot AS SELECT * FROM times ORDER BY units; CREATE TABLE notes(a, b);"
                                  "CREATE TRIGGER t AFTER INSERT ON notes BEGIN DELETE FROM meta; END; ANALYZE");
    struct as_store *store = bed_open(bed_path("guest.db"));
    assert_string_equal(as_store_meta(store, AS_META_SOURCE), "model");
    use_everything(store);
    as_store_close(store);
}

/* ---- older formats ---- */

static bool has_rows(struct as_store *store, const char *sql)
{
    struct as_error err = AS_ERROR_INIT;
    sqlite3_stmt *statement = as_store_prepare(store, sql, &err);
    bool found = statement && as_store_step(store, statement, &err) > 0;
    sqlite3_finalize(statement);
    return found;
}

static void older_formats_are_migrated(void **state)
{
    /* What a later release could do: another verb's table, a column more, values made of old ones. */
    const char *const steps[] = {
        "CREATE TABLE sharing(a INTEGER PRIMARY KEY, b INTEGER NOT NULL) STRICT;"
        "ALTER TABLE runs ADD COLUMN energy REAL;",
        "INSERT INTO sharing SELECT id, cycles FROM threads;",
    };
    const struct as_store_schema later = {AS_STORE_VERSION + 2, steps};
    struct as_error err = AS_ERROR_INIT;
    size_t before_size, after_size;
    bed_write_small(bed_path("old.db"));
    uint8_t *before = bed_read(bed_path("old.db"), &before_size);

    struct as_store *store = as_store_open_as(bed_path("old.db"), &later, &err);
    if (!store)
        fail_msg("%s", err.message);
    assert_int_equal(as_store_version(store), AS_STORE_VERSION);
    assert_string_equal(as_store_meta(store, AS_META_SOURCE), "model");
    assert_true(has_rows(store, "SELECT 1 FROM sharing WHERE a = 1 AND b = 400"));
    assert_true(has_rows(store, "SELECT 1 FROM runs WHERE energy IS NULL"));
    assert_true(has_rows(store, "SELECT 1 FROM pragma_user_version WHERE user_version = 8"));
    use_everything(store);
    as_store_close(store);

    uint8_t *after = bed_read(bed_path("old.db"), &after_size);
    assert_true(before_size == after_size && memcmp(before, after, before_size) == 0);
    free(before);
    free(after);
}

/* A step that fails, because the file has a guest of that name, is an error and no half-migrated profile. */
static void migration_fails_clearly(void **state)
{
    const char *const steps[] = {"CREATE TABLE sharing(a INTEGER PRIMARY KEY) STRICT;"};
    const struct as_store_schema later = {AS_STORE_VERSION + 1, steps};
    struct as_error err = AS_ERROR_INIT;
    bed_write_small(bed_path("old.db"));
    bed_sql(bed_path("old.db"), "CREATE TABLE sharing(x)");
    assert_null(as_store_open_as(bed_path("old.db"), &later, &err));
    bed_assert_line(&err, "sharing already exists");
}

/* ---- other processes ---- */

/* A process of its own: closing any descriptor of a file drops the locks that a process has on it. It locks, says so,
 * waits for a word, ends the change, and answers whether it could. */
static void change_elsewhere(const char *path, const char *begin, int in, int out)
{
    sqlite3 *db = NULL;
    char word = 'l';
    bool ok = sqlite3_open(path, &db) == SQLITE_OK && sqlite3_exec(db, begin, NULL, NULL, NULL) == SQLITE_OK;
    if (!ok || write(out, &word, 1) != 1 || read(in, &word, 1) != 1)
        _exit(1);
    int code = sqlite3_exec(db, "UPDATE meta SET value = 'x'; COMMIT", NULL, NULL, NULL);
    word = code == SQLITE_OK ? 'd' : code == SQLITE_BUSY ? 'b' : '?';
    _exit(write(out, &word, 1) == 1 ? 0 : 1);
}

static pid_t start_change(const char *path, const char *begin, int ends[2])
{
    int to[2], from[2];
    char word = 0;
    assert_true(pipe(to) == 0 && pipe(from) == 0);
    pid_t child = fork();
    if (child == 0)
        change_elsewhere(path, begin, to[0], from[1]);
    close(to[0]);
    close(from[1]);
    ends[0] = from[0];
    ends[1] = to[1];
    assert_true(read(ends[0], &word, 1) == 1 && word == 'l');
    return child;
}

static char end_change(pid_t child, int ends[2])
{
    char word = 0;
    int status;
    assert_true(write(ends[1], "g", 1) == 1 && read(ends[0], &word, 1) == 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    close(ends[0]);
    close(ends[1]);
    return word;
}

static void locked_by_another(void **state)
{
    int ends[2];
    bed_write_small(bed_path("locked.db"));
    pid_t child = start_change(bed_path("locked.db"), "BEGIN EXCLUSIVE", ends);
    bed_refused(bed_path("locked.db"), "another process is changing");
    bed_writer_refused(bed_path("locked.db"), "another process is changing it");
    assert_int_equal(end_change(child, ends), 'd');
    struct as_store *store = bed_open(bed_path("locked.db"));
    assert_string_equal(as_store_meta(store, AS_META_SOURCE), "x");
    as_store_close(store);
}

/* The other way round: nobody changes what is being read; but it may be replaced. */
static void others_wait_for_readers(void **state)
{
    int ends[2];
    bed_write_small(bed_path("read.db"));
    struct as_store *store = bed_open(bed_path("read.db"));
    pid_t child = start_change(bed_path("read.db"), "BEGIN", ends);
    assert_int_equal(end_change(child, ends), 'b');
    bed_write_small(bed_path("read.db"));
    use_everything(store);
    as_store_close(store);
}

static void unfinished_changes(void **state)
{
    static const uint8_t journal[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, 0, 0, 0, 1};
    bed_write_small(bed_path("hot.db"));
    bed_write(bed_path("hot.db-journal"), journal, sizeof journal);
    bed_refused(bed_path("hot.db"), "unfinished change");
    bed_write_small(bed_path("wal.db"));
    bed_sql(bed_path("wal.db"), "PRAGMA journal_mode = wal");
    bed_refused(bed_path("wal.db"), "WAL mode");
    size_t size;
    for (size_t at = 18; at <= 19; at++) { /* the versions to write and to read it */
        bed_write_small(bed_path("wal.db"));
        uint8_t *bytes = bed_read(bed_path("wal.db"), &size);
        bytes[at] = 2;
        bed_write(bed_path("wal.db"), bytes, size);
        free(bytes);
        bed_refused(bed_path("wal.db"), "WAL mode");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_files),
        cmocka_unit_test(what_is_a_profile),
        cmocka_unit_test(hostile_names_stay_one_line),
        cmocka_unit_test(versions),
        cmocka_unit_test(truncated),
        cmocka_unit_test(flipped_bytes),
        cmocka_unit_test(bad_rows),
        cmocka_unit_test(impossible_counts),
        cmocka_unit_test(each_reader_refuses),
        cmocka_unit_test(guests_are_ignored),
        cmocka_unit_test(older_formats_are_migrated),
        cmocka_unit_test(migration_fails_clearly),
        cmocka_unit_test(locked_by_another),
        cmocka_unit_test(others_wait_for_readers),
        cmocka_unit_test(unfinished_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
