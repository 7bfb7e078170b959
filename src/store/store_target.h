/* The file that a profile is written to, before it gets its name: see store_write.h. */
#ifndef AS_STORE_TARGET_H
#define AS_STORE_TARGET_H

#include "base/error.h"

struct as_store_target {
    char *path;      /* its final name; symbolic links resolved */
    char *temporary; /* its name until then; NULL: none */
    int fd;          /* for reading and writing */
};

/* `nameless`: the file has no name until it is published, if the file system supports that. */
bool as_store_target_open(struct as_store_target *target, const char *path, bool nameless,
                          struct as_error *err) AS_MUST_CHECK;
/* Gives the file its name. The caller then frees the target. */
bool as_store_target_publish(struct as_store_target *target, struct as_error *err) AS_MUST_CHECK;
void as_store_target_free(struct as_store_target *target); /* removes a file that was not published */

/* SQLite's own locks, which the sqlite3 shell respects. */
bool as_store_file_locked(int fd); /* another process is changing it */
/* Keeps others from changing the file until `fd` is closed. Returns false if another process is changing it; true if
 * the file system has no locks. */
bool as_store_file_lock(int fd) AS_MUST_CHECK;

#endif
