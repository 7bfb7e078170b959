/* Files that people call by name: machines, PMUs. NAME stands for the file NAME.suffix beside the program (the build tree)
 * or in the installation; anything else is a path. */
#ifndef AS_BASE_NAMED_FILE_H
#define AS_BASE_NAMED_FILE_H

#include "base/error.h"
#include "base/str.h"

#include <limits.h>
#include <stddef.h>

struct as_named_files {
    const char *what;               /* "machine", for messages */
    const char *suffix;             /* ".machine" */
    const char *beside, *installed; /* folders, as in base/install.h */
};

/* Calls `found` with the name of each file, in the order of the alphabet. */
void as_named_files_list(const struct as_named_files *files, void (*found)(void *context, const char *name),
                         void *context);
void as_named_files_add(const struct as_named_files *files, struct as_str *list); /* "a, b": for help and messages */

/* The path of a file by name or path. False with one line, which has the names, where there is none. */
bool as_named_files_find(const struct as_named_files *files, const char *name_or_path, char path[PATH_MAX],
                         struct as_error *err) AS_MUST_CHECK;

/* What the file at `path` is called: "machines/mine.machine" is called mine. Fit to be shown. */
void as_named_files_name(const struct as_named_files *files, const char *path, char *name, size_t size);

#endif
