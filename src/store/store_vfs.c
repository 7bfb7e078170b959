/* See store_vfs.h. The "name" of a database is the number of its descriptor. */
#include "store/store_vfs.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct vfs_file {
    sqlite3_file base;
    int fd;
    int error;
};

static int vfs_close(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

static int vfs_read(sqlite3_file *base, void *to, int size, sqlite3_int64 offset)
{
    struct vfs_file *file = (struct vfs_file *)base;
    int done = 0;
    while (done < size) {
        ssize_t n = pread(file->fd, (char *)to + done, (size_t)(size - done), offset + done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            file->error = errno;
            return SQLITE_IOERR_READ;
        }
        if (n == 0) {
            memset((char *)to + done, 0, (size_t)(size - done));
            return SQLITE_IOERR_SHORT_READ;
        }
        done += (int)n;
    }
    return SQLITE_OK;
}

static int vfs_write(sqlite3_file *base, const void *from, int size, sqlite3_int64 offset)
{
    struct vfs_file *file = (struct vfs_file *)base;
    int done = 0;
    while (done < size) {
        ssize_t n = pwrite(file->fd, (const char *)from + done, (size_t)(size - done), offset + done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            file->error = n == 0 ? ENOSPC : errno;
            return file->error == ENOSPC || file->error == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
        }
        done += (int)n;
    }
    return SQLITE_OK;
}

static int vfs_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct vfs_file *file = (struct vfs_file *)base;
    if (ftruncate(file->fd, size) == 0)
        return SQLITE_OK;
    file->error = errno;
    return SQLITE_IOERR_TRUNCATE;
}

static int vfs_sync(sqlite3_file *base, int flags)
{
    (void)base, (void)flags; /* the writer syncs once, before the file gets its name */
    return SQLITE_OK;
}

static int vfs_size(sqlite3_file *base, sqlite3_int64 *size)
{
    struct vfs_file *file = (struct vfs_file *)base;
    struct stat info;
    if (fstat(file->fd, &info) != 0) {
        file->error = errno;
        return SQLITE_IOERR_FSTAT;
    }
    *size = info.st_size;
    return SQLITE_OK;
}

static int vfs_lock(sqlite3_file *base, int level)
{
    (void)base, (void)level;
    return SQLITE_OK;
}

static int vfs_check_lock(sqlite3_file *base, int *held)
{
    (void)base;
    *held = 0;
    return SQLITE_OK;
}

static int vfs_control(sqlite3_file *base, int operation, void *argument)
{
    (void)base, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int vfs_sector_size(sqlite3_file *base)
{
    (void)base;
    return 4096;
}

static int vfs_characteristics(sqlite3_file *base)
{
    (void)base;
    return 0;
}

/* Only databases are opened by descriptor; SQLite is configured to keep temporary data in memory. */
static int vfs_open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out_flags)
{
    static const sqlite3_io_methods methods = {
        .iVersion = 1, /* neither shared memory nor mmap */
        .xClose = vfs_close,
        .xRead = vfs_read,
        .xWrite = vfs_write,
        .xTruncate = vfs_truncate,
        .xSync = vfs_sync,
        .xFileSize = vfs_size,
        .xLock = vfs_lock,
        .xUnlock = vfs_lock,
        .xCheckReservedLock = vfs_check_lock,
        .xFileControl = vfs_control,
        .xSectorSize = vfs_sector_size,
        .xDeviceCharacteristics = vfs_characteristics,
    };
    struct vfs_file *file = (struct vfs_file *)base;
    (void)vfs;
    *file = (struct vfs_file){0};
    if (!name || !(flags & SQLITE_OPEN_MAIN_DB))
        return SQLITE_CANTOPEN;
    file->fd = atoi(name);
    file->base.pMethods = &methods;
    if (out_flags)
        *out_flags = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs, (void)name, (void)sync;
    return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *there)
{
    (void)vfs, (void)name, (void)flags;
    *there = 0;
    return SQLITE_OK;
}

static int vfs_full_name(sqlite3_vfs *vfs, const char *name, int size, char *full)
{
    (void)vfs;
    sqlite3_snprintf(size, full, "%s", name);
    return SQLITE_OK;
}

static const char vfs_name[] = "assay-descriptor";
static sqlite3_vfs descriptor_vfs;

/* Time, sleep and random numbers come from the default VFS. */
static void register_vfs(void)
{
    sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
    if (!usual)
        return;
    descriptor_vfs = *usual;
    descriptor_vfs.pNext = NULL;
    descriptor_vfs.zName = vfs_name;
    descriptor_vfs.szOsFile = sizeof(struct vfs_file);
    descriptor_vfs.xOpen = vfs_open_file;
    descriptor_vfs.xDelete = vfs_delete;
    descriptor_vfs.xAccess = vfs_access;
    descriptor_vfs.xFullPathname = vfs_full_name;
    sqlite3_vfs_register(&descriptor_vfs, 0);
}

int as_store_vfs_open(int fd, bool writable, sqlite3 **db)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char name[16];
    pthread_once(&once, register_vfs);
    snprintf(name, sizeof name, "%d", fd);
    int flags = writable ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    return sqlite3_open_v2(name, db, flags | SQLITE_OPEN_NOMUTEX, vfs_name);
}

int as_store_vfs_errno(sqlite3 *db)
{
    sqlite3_file *file = NULL;
    if (!db || sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file ||
        !file->pMethods)
        return 0;
    return file->pMethods->xRead == vfs_read ? ((struct vfs_file *)file)->error : 0;
}
