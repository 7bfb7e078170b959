/* Where the files are that come with the program: the plugin, the agent, machine files.
 *
 * A program in a build tree has them beside it, an installed one in a directory of its prefix, wherever that prefix was
 * moved to. The last resort is the prefix that the build was configured with. */
#ifndef AS_BASE_INSTALL_H
#define AS_BASE_INSTALL_H

#include <limits.h>
#include <stdbool.h>

enum { AS_INSTALL_FOLDERS = 4 };

struct as_install_folders {
    char path[AS_INSTALL_FOLDERS][PATH_MAX]; /* in the order in which they are to be searched; unused ones are empty */
};

/* The directories that may hold files of one kind. `beside` is their directory in the build tree ("" or "machines"),
 * `installed` the one that Meson installs into, relative to the prefix ("lib/assay") or absolute. */
void as_install_folders(struct as_install_folders *folders, const char *beside, const char *installed);
/* The same for a program at a given path. */
void as_install_folders_of(struct as_install_folders *folders, const char *program, const char *beside,
                           const char *installed);

/* The path of the file `name` in the first of the folders that has it. */
bool as_install_find(const char *name, const char *beside, const char *installed, char path[PATH_MAX]);

#endif
