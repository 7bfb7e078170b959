/* Databases on descriptors: what SQLite writes there is a database like any other, and errors keep their errno. */
#include "unit.h"

#include "store/store_vfs.h"
#include "store_bed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ROWS = 3000 };

static int open_file(const char *name, int flags)
{
    int fd = open(bed_path(name), flags, 0600);
    assert_true(fd >= 0);
    return fd;
}

static void run(sqlite3 *db, const char *sql)
{
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static int64_t ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static sqlite3 *fill(int fd)
{
    sqlite3 *db;
    char sql[200];
    assert_int_equal(as_store_vfs_open(fd, true, &db), SQLITE_OK);
    run(db, "PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY; CREATE TABLE t(a INTEGER, b TEXT)");
    snprintf(sql, sizeof sql,
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
             "INSERT INTO t SELECT i, printf('%%100d', i) FROM n",
             ROWS);
    run(db, sql);
    assert_int_equal(as_store_vfs_errno(db), 0);
    return db;
}

/* Written by a descriptor, then read by its name with SQLite's own means, and the other way round. */
static void is_a_database(void **state)
{
    int fd = open_file("made.db", O_RDWR | O_CREAT | O_TRUNC);
    sqlite3 *db = fill(fd);
    assert_int_equal(ask(db, "SELECT sum(a) FROM t"), (int64_t)ROWS * (ROWS + 1) / 2);
    sqlite3_close(db);
    assert_int_equal(sqlite3_open(bed_path("made.db"), &db), SQLITE_OK);
    assert_int_equal(ask(db, "SELECT sum(a + length(b)) FROM t"), (int64_t)ROWS * (ROWS + 1) / 2 + 100 * ROWS);
    run(db, "UPDATE t SET a = a + 1");
    sqlite3_close(db);
    close(fd);
    fd = open_file("made.db", O_RDONLY);
    assert_int_equal(as_store_vfs_open(fd, false, &db), SQLITE_OK);
    assert_int_equal(ask(db, "SELECT sum(a) FROM t"), (int64_t)ROWS * (ROWS + 1) / 2 + ROWS);
    assert_int_equal(sqlite3_exec(db, "DELETE FROM t", NULL, NULL, NULL), SQLITE_READONLY);
    sqlite3_close(db);
    close(fd);
}

/* A file shrinks by what is no longer in it. */
static void shrinks(void **state)
{
    int fd = open_file("shrinks.db", O_RDWR | O_CREAT | O_TRUNC);
    sqlite3 *db;
    assert_int_equal(as_store_vfs_open(fd, true, &db), SQLITE_OK);
    run(db, "PRAGMA journal_mode = OFF; PRAGMA auto_vacuum = FULL; CREATE TABLE t(b TEXT)");
    run(db, "INSERT INTO t VALUES(zeroblob(100000))");
    off_t before = lseek(fd, 0, SEEK_END);
    assert_true(before > 100000);
    run(db, "DELETE FROM t");
    assert_true(lseek(fd, 0, SEEK_END) < 20000);
    sqlite3_close(db);
    close(fd);
}

/* Not ours: no database, and one that SQLite opened by itself. */
static void of_others(void **state)
{
    sqlite3 *db;
    assert_int_equal(as_store_vfs_errno(NULL), 0);
    assert_int_equal(sqlite3_open(bed_path("usual.db"), &db), SQLITE_OK);
    run(db, "CREATE TABLE t(a)");
    assert_int_equal(as_store_vfs_errno(db), 0);
    sqlite3_close(db);
}

static void errors(void **state)
{
    sqlite3 *db;
    int fd = open_file("errors.db", O_RDWR | O_CREAT | O_TRUNC), directory = open(bed_path(""), O_RDONLY);
    sqlite3_close(fill(fd));
    close(fd);
    fd = open_file("errors.db", O_RDONLY); /* which cannot be written */
    assert_int_equal(as_store_vfs_open(fd, true, &db), SQLITE_OK);
    run(db, "PRAGMA journal_mode = OFF");
    assert_int_equal(sqlite3_exec(db, "DELETE FROM t", NULL, NULL, NULL), SQLITE_IOERR);
    assert_int_equal(as_store_vfs_errno(db), EBADF);
    sqlite3_close(db);
    close(fd);
    assert_int_equal(as_store_vfs_open(directory, false, &db), SQLITE_IOERR);
    sqlite3_close(db);
    close(directory);
    fd = open_file("errors.db", O_RDONLY);
    assert_int_equal(as_store_vfs_open(fd, false, &db), SQLITE_OK);
    close(fd); /* which cannot be read any more */
    assert_int_not_equal(sqlite3_exec(db, "SELECT * FROM t", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(as_store_vfs_errno(db), EBADF);
    sqlite3_close(db);
}

/* No file may be longer than a limit. */
static void a_file_that_is_full(void **state)
{
    struct rlimit usual, small;
    int fd = open_file("full.db", O_RDWR | O_CREAT | O_TRUNC);
    sqlite3 *db = fill(fd);
    getrlimit(RLIMIT_FSIZE, &usual);
    small = usual;
    small.rlim_cur = (rlim_t)lseek(fd, 0, SEEK_END) + 4096;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    int code = sqlite3_exec(db, "INSERT INTO t SELECT a, b FROM t", NULL, NULL, NULL);
    setrlimit(RLIMIT_FSIZE, &usual);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(code, SQLITE_IOERR);
    assert_int_equal(as_store_vfs_errno(db), EFBIG);
    sqlite3_close(db);
    close(fd);
}

/* A device without room says so at once. */
static void a_disk_that_is_full(void **state)
{
    int fd = open("/dev/full", O_RDWR);
    if (fd < 0)
        unit_skip("there is no /dev/full");
    sqlite3 *db;
    assert_int_equal(as_store_vfs_open(fd, true, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA journal_mode = OFF", NULL, NULL, NULL);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE t(a)", NULL, NULL, NULL), SQLITE_FULL);
    assert_int_equal(as_store_vfs_errno(db), ENOSPC);
    sqlite3_close(db);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_a_database),       cmocka_unit_test(shrinks),
        cmocka_unit_test(of_others),           cmocka_unit_test(errors),
        cmocka_unit_test(a_file_that_is_full), cmocka_unit_test(a_disk_that_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
