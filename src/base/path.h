/* Paths of output files, and the search for programs along PATH. */
#ifndef AS_BASE_PATH_H
#define AS_BASE_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <string.h>

/* The part of a path behind its last slash. */
static inline const char *as_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The same for what a module or a mapping is called, which may be no file: "[heap]" stays as it is, and so does what ends
 * in a slash. */
static inline const char *as_path_shown(const char *path)
{
    const char *base = as_path_base(path);
    return path[0] != '[' && *base ? base : path;
}

/* The directory that a file is in, as a path that can be opened. The caller frees. */
char *as_path_directory(const char *path);
/* Where symbolic links lead to, whether or not something is there. The caller frees. */
char *as_path_follow(const char *path);
/* The number of the open file of this process that a path names, by links if need be (/dev/stdout, /dev/fd/3); -1: it names none. What lies
 * there is not to be replaced: others write to it, too. */
int as_path_descriptor(const char *path);
/* Whether both name one file, or would once it is written. Devices and pipes are no files: several may write to one. */
bool as_path_is_same(const char *a, const char *b);
/* Gives an open file the permissions of the one at `path` that it will replace; nothing where there is none. */
bool as_path_keep_mode(int fd, const char *path) __attribute__((warn_unused_result));

bool as_path_is_program(const char *path); /* a file that may be executed */
/* The program that a shell would take for a name without a slash. False: PATH has none. */
bool as_path_search(const char *name, char found[PATH_MAX]);

#endif
