/* Finds the files that belong to the program from the program's own path. Test and benchmark programs are deeper in the
 * build tree than the program itself: for them the top of the tree is searched, too. */
#include "base/install.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef AS_PREFIX
#define AS_PREFIX "/usr/local"
#endif
#ifndef AS_BIN_DIR
#define AS_BIN_DIR "bin"
#endif

/* Writes DIRECTORY/NAME into `folder`; a path that is too long leaves it empty, so that no truncated path is
 * searched. */
static void join(char folder[PATH_MAX], const char *directory, size_t length, const char *name)
{
    const char *slash = name[0] ? "/" : "";
    if (snprintf(folder, PATH_MAX, "%.*s%s%s", (int)length, directory, slash, name) >= PATH_MAX)
        folder[0] = '\0';
}

/* The length of the prefix of a program in PREFIX/bin; false if the program is not installed that way. */
static bool prefix_length(const char *directory, size_t length, size_t *prefix)
{
    size_t tail = strlen("/" AS_BIN_DIR);
    if (AS_BIN_DIR[0] == '/' || length < tail || strncmp(directory + length - tail, "/" AS_BIN_DIR, tail) != 0)
        return false;
    *prefix = length - tail;
    return true;
}

/* The last "/tests/" or "/bench/" in the path: earlier ones belong to the path of the build tree. */
static const char *build_top(const char *program)
{
    const char *top = NULL;
    for (const char *at = program; (at = strchr(at, '/')); at++)
        if (strncmp(at, "/tests/", 7) == 0 || strncmp(at, "/bench/", 7) == 0)
            top = at;
    return top;
}

void as_install_folders_of(struct as_install_folders *folders, const char *program, const char *beside,
                           const char *installed)
{
    memset(folders, 0, sizeof *folders);
    const char *slash = strrchr(program, '/'), *top = build_top(program);
    size_t directory = slash ? (size_t)(slash - program) : 0, prefix;
    if (slash)
        join(folders->path[0], program, directory, beside);
    if (top)
        join(folders->path[1], program, (size_t)(top - program), beside);
    if (installed[0] == '/') {
        join(folders->path[3], installed, strlen(installed), "");
        return;
    }
    if (slash && prefix_length(program, directory, &prefix))
        join(folders->path[2], program, prefix, installed);
    join(folders->path[3], AS_PREFIX, strlen(AS_PREFIX), installed);
}

void as_install_folders(struct as_install_folders *folders, const char *beside, const char *installed)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    as_install_folders_of(folders, self, beside, installed);
}

bool as_install_find(const char *name, const char *beside, const char *installed, char path[PATH_MAX])
{
    struct as_install_folders *folders = as_alloc(sizeof *folders);
    bool found = false;
    as_install_folders(folders, beside, installed);
    for (int i = 0; i < AS_INSTALL_FOLDERS && !found; i++)
        found = folders->path[i][0] && snprintf(path, PATH_MAX, "%s/%s", folders->path[i], name) < PATH_MAX &&
                access(path, R_OK) == 0;
    free(folders);
    return found;
}
