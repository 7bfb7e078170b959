/* See store_target.h. Names in use are locked with flock, so a name that can be locked was left behind by a killed
 * process. */
#include "store/store_target.h"

#include "base/alloc.h"
#include "base/path.h"
#include "store/store_header.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* SQLite's lock bytes (https://www.sqlite.org/fileformat2.html#the_lock_byte_page): pending, reserved, 510 shared. */
enum { LOCK_PENDING = 0x40000000, LOCK_SHARED = LOCK_PENDING + 2, LOCK_END = LOCK_PENDING + 512 };

static const char suffix[] = ".partial";

static struct flock read_lock(off_t start)
{
    return (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = LOCK_END - start};
}

bool as_store_file_locked(int fd)
{
    struct flock lock = read_lock(LOCK_PENDING);
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool as_store_file_lock(int fd)
{
    struct flock lock = read_lock(LOCK_SHARED);
    return fcntl(fd, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

static bool fail(const char *path, struct as_error *err)
{
    return as_error_set(err, "cannot write %s: %s", path, strerror(errno));
}

/* ---- what may be replaced ---- */

static bool check_old(int fd, const char *path, struct as_error *err)
{
    struct as_store_header header;
    struct stat info;
    if (fstat(fd, &info) != 0)
        return fail(path, err);
    if (S_ISDIR(info.st_mode))
        return as_error_set(err, "cannot write %s: it is a directory", path);
    if (!S_ISREG(info.st_mode))
        return as_error_set(err, "cannot write %s: it is not a regular file", path);
    if (!as_store_header_read(fd, &header))
        return fail(path, err);
    if (info.st_size > 0 && !header.is_profile)
        return as_error_set(err, "%s exists and is not an Assay profile: remove it or give another name", path);
    if (as_store_file_locked(fd))
        return as_error_set(err, "cannot write %s: another process is changing it", path);
    if (access(path, W_OK) != 0)
        return fail(path, err);
    return true;
}

static bool may_replace(const char *path, struct as_error *err)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || fail(path, err);
    bool ok = check_old(fd, path, err);
    close(fd);
    return ok;
}

/* ---- what others left ---- */

/* BASE.<digits and dashes>.partial */
static bool is_leftover_name(const char *name, const char *base)
{
    size_t length = strlen(name), prefix = strlen(base);
    if (length <= prefix + 1 + strlen(suffix) || strncmp(name, base, prefix) != 0 || name[prefix] != '.')
        return false;
    size_t digits = strspn(name + prefix + 1, "0123456789-");
    return digits > 0 && strcmp(name + prefix + 1 + digits, suffix) == 0;
}

static void remove_leftover(int directory, const char *name)
{
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(directory, name, 0);
    close(fd);
}

static void remove_leftovers(const char *path, const char *directory)
{
    const char *base = as_path_base(path);
    DIR *dir = opendir(directory);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (is_leftover_name(entry->d_name, base))
            remove_leftover(dirfd(dir), entry->d_name);
    closedir(dir);
}

/* ---- the file ---- */

/* Tries names until `make` succeeds with one; only "exists already" is tried again. */
static bool find_name(struct as_store_target *target, bool (*make)(struct as_store_target *))
{
    for (int i = 0; i < 100; i++) {
        free(target->temporary);
        target->temporary = as_format("%s.%d-%d%s", target->path, getpid(), i, suffix);
        if (make(target))
            return true;
        if (errno != EEXIST)
            break;
    }
    free(target->temporary);
    target->temporary = NULL;
    return false;
}

static bool make_named(struct as_store_target *target)
{
    target->fd = open(target->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return target->fd >= 0;
}

static bool link_name(struct as_store_target *target)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", target->fd);
    return linkat(AT_FDCWD, link, AT_FDCWD, target->temporary, AT_SYMLINK_FOLLOW) == 0;
}

bool as_store_target_open(struct as_store_target *target, const char *path, bool nameless, struct as_error *err)
{
    *target = (struct as_store_target){.fd = -1};
    if (path[0] == '\0')
        return as_error_set(err, "a profile needs a file name");
    if (strcmp(path, "-") == 0)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "a profile needs a file, not standard output (./- is a file of that name)");
    if (as_path_descriptor(path) >= 0)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "a profile needs a file of its own, not %s, which is open already", path);
    if (!may_replace(path, err))
        return false;
    target->path = as_path_follow(path);
    char *directory = as_path_directory(target->path);
    remove_leftovers(target->path, directory);
    target->fd = nameless ? open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) : -1;
    free(directory);
    bool ok = (target->fd >= 0 || find_name(target, make_named)) && flock(target->fd, LOCK_EX | LOCK_NB) == 0 &&
              as_path_keep_mode(target->fd, target->path);
    if (!ok) {
        fail(path, err);
        as_store_target_free(target);
    }
    return ok;
}

static void sync_directory(const char *path)
{
    char *directory = as_path_directory(path);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(directory);
    if (fd < 0)
        return;
    fsync(fd); /* the file is complete even if this fails */
    close(fd);
}

bool as_store_target_publish(struct as_store_target *target, struct as_error *err)
{
    if (fsync(target->fd) != 0 || (!target->temporary && !find_name(target, link_name)) ||
        rename(target->temporary, target->path) != 0)
        return fail(target->path, err);
    free(target->temporary);
    target->temporary = NULL;
    sync_directory(target->path);
    return true;
}

void as_store_target_free(struct as_store_target *target)
{
    if (target->temporary)
        unlink(target->temporary);
    if (target->fd >= 0)
        close(target->fd);
    free(target->temporary);
    free(target->path);
    *target = (struct as_store_target){.fd = -1};
}
