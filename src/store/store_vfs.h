/* SQLite on a file that is open already, by its descriptor: no names, no journals, no shared memory, no mmap. The
 * caller is responsible for locking. This allows writing a database that has no name yet, and reading one that is being
 * replaced; it also keeps the errno that SQLite would lose. */
#ifndef AS_STORE_VFS_H
#define AS_STORE_VFS_H

#include "base/error.h"

#include <sqlite3.h>

/* Returns SQLite's code. The descriptor stays the caller's; close the database before it. `db` must be closed even
 * after an error. */
int as_store_vfs_open(int fd, bool writable, sqlite3 **db) AS_MUST_CHECK;
/* errno of the last read or write that failed; 0: none failed. */
int as_store_vfs_errno(sqlite3 *db);

#endif
