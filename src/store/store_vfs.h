/* SQLite on a file that is open already, by its descriptor: no names, no journals, no shared memory, no mmap. Locking
 * is left to whoever opened the file. That lets a database be written that has no name yet, and one be read that is
 * being replaced; and it keeps the errno that SQLite would lose. */
#ifndef AS_STORE_VFS_H
#define AS_STORE_VFS_H

#include "base/error.h"

#include <sqlite3.h>

/* SQLite's code. The descriptor stays the caller's; close the database first. `db` is to be closed in any case. */
int as_store_vfs_open(int fd, bool writable, sqlite3 **db) AS_MUST_CHECK;
/* What the system said to the last read or write that failed; 0: none did. */
int as_store_vfs_errno(sqlite3 *db);

#endif
