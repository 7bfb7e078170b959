/* See as_store_note_estimates (store_write.h). A profile never changes under its readers: a copy gets the rows, and then the
 * name. */
#include "store/store_row.h"
#include "store/store_sql.h"
#include "store/store_target.h"
#include "store/store_vfs.h"
#include "store/store_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool copy_bytes(int from, int to)
{
    static char bytes[1 << 16];
    ssize_t n;
    while ((n = read(from, bytes, sizeof bytes)) > 0)
        for (ssize_t done = 0, more; done < n; done += more)
            if ((more = write(to, bytes + done, (size_t)(n - done))) <= 0)
                return false;
    return n == 0;
}

static bool copy_profile(const char *path, int to, struct as_error *err)
{
    int from = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = from >= 0 && copy_bytes(from, to);
    if (!ok)
        as_error_set(err, "%s: it cannot be copied: %s", path, strerror(errno));
    if (from >= 0)
        close(from);
    return ok;
}

static int insert(sqlite3 *db, const struct as_store_estimate *estimates, size_t n)
{
    const struct as_store_table *table = &as_store_tables[AS_TABLE_ESTIMATES];
    sqlite3_stmt *statement = NULL;
    char *sql = as_store_sql_insert(table);
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    free(sql);
    for (size_t i = 0; i < n && code == SQLITE_OK; i++) {
        code = as_store_bind_row(statement, table, &estimates[i], 0);
        if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_DONE)
            code = sqlite3_reset(statement);
        else if (code == SQLITE_OK)
            code = sqlite3_errcode(db);
    }
    sqlite3_finalize(statement);
    return code;
}

static bool note(int fd, const char *path, const struct as_store_estimate *estimates, size_t n, struct as_error *err)
{
    sqlite3 *db = NULL;
    int code = as_store_vfs_open(fd, true, &db);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = insert(db, estimates, n);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
    return code == SQLITE_OK || as_error_set(err, "cannot write %s: %s", path, sqlite3_errstr(code));
}

bool as_store_note_estimates(const char *path, const struct as_store_estimate *estimates, size_t n,
                             struct as_error *err)
{
    struct as_store_target target = {.fd = -1};
    bool ok = as_store_target_open(&target, path, true, err) && copy_profile(path, target.fd, err) &&
              note(target.fd, path, estimates, n, err) && as_store_target_publish(&target, err);
    as_store_target_free(&target);
    return ok;
}
