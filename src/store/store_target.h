/* The file that a profile is written into, until it gets its name: see store_write.h. */
#ifndef AS_STORE_TARGET_H
#define AS_STORE_TARGET_H

#include "base/error.h"

struct as_store_target {
    char *path;      /* where it shall appear; symbolic links resolved */
    char *temporary; /* the name that it has meanwhile; NULL: none */
    int fd;          /* for reading and writing */
};

/* `nameless`: without a name until it is published, where the file system can do that. */
bool as_store_target_open(struct as_store_target *target, const char *path, bool nameless,
                          struct as_error *err) AS_MUST_CHECK;
/* Makes it appear; free it then. */
bool as_store_target_publish(struct as_store_target *target, struct as_error *err) AS_MUST_CHECK;
void as_store_target_free(struct as_store_target *target); /* what did not appear is gone */

/* SQLite's own locks, which the sqlite3 shell obeys. */
bool as_store_file_locked(int fd); /* somebody is changing it */
/* Keeps others from changing it until `fd` is closed; false where somebody is. Where there are no locks: true. */
bool as_store_file_lock(int fd) AS_MUST_CHECK;

#endif
