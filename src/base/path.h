/* Paths of files that are about to be written. */
#ifndef AS_BASE_PATH_H
#define AS_BASE_PATH_H

#include <stdbool.h>

/* The directory that a file is in, as a path that can be opened. The caller frees. */
char *as_path_directory(const char *path);
/* Where symbolic links lead to, whether or not something is there. The caller frees. */
char *as_path_follow(const char *path);
/* Gives an open file the permissions of the one at `path` that it will replace; nothing where there is none. */
bool as_path_keep_mode(int fd, const char *path) __attribute__((warn_unused_result));

#endif
