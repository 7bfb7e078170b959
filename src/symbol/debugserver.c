/* See debugserver.h. */
#include "symbol/debugserver.h"

#include "base/alloc.h"
#include "base/str.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As in elfutils/debuginfod.h, which need not be installed. They return a descriptor, or a negative errno. */
typedef void *begin_function(void);
typedef int find_function(void *client, const unsigned char *build_id, int length, char **path);

static struct {
    bool tried;
    void *client; /* NULL: servers cannot be asked */
    find_function *find[2];
    char problem[256];
} library;

bool as_debug_roots_ask_servers(const char *roots)
{
    size_t length = strlen(AS_DEBUG_SERVERS);
    for (const char *root = roots, *end; *root; root = *end ? end + 1 : end) {
        end = strchrnul(root, ':');
        if ((size_t)(end - root) == length && strncmp(root, AS_DEBUG_SERVERS, length) == 0)
            return true;
    }
    return false;
}

char *as_debug_roots(const char *given)
{
    const char *own = getenv("ASSAY_DEBUG_PATH"), *usual = own ? own : "/usr/lib/debug";
    return given && *given ? as_format("%s:%s", given, usual) : as_strdup(usual);
}

static void load(void)
{
    static const char *const names[] = {"debuginfod_find_debuginfo", "debuginfod_find_executable"};
    library.tried = true;
    void *handle = dlopen("libdebuginfod.so.1", RTLD_NOW);
    begin_function *begin = handle ? (begin_function *)dlsym(handle, "debuginfod_begin") : NULL;
    for (size_t i = 0; i < 2 && begin; i++) {
        library.find[i] = (find_function *)dlsym(handle, names[i]);
        begin = library.find[i] ? begin : NULL;
    }
    library.client = begin ? begin() : NULL;
    if (!library.client)
        snprintf(library.problem, sizeof library.problem,
                 "DEBUGINFOD_URLS is set, but libdebuginfod.so.1 cannot be used (package libdebuginfod1)");
}

bool as_debug_server_find(const struct as_build_id *id, enum as_debug_wanted wanted, char path[PATH_MAX])
{
    char *found = NULL;
    if (!library.tried)
        load();
    if (!library.client || library.problem[0] || id->len == 0)
        return false;
    int fd = library.find[wanted](library.client, id->bytes, (int)id->len, &found);
    if (fd >= 0)
        close(fd);
    else if (fd != -ENOENT && fd != -ENOSYS) /* ENOSYS: there is no server in DEBUGINFOD_URLS */
        snprintf(library.problem, sizeof library.problem,
                 "debuginfod: the servers in DEBUGINFOD_URLS cannot be asked: %s", strerror(-fd));
    bool ok = fd >= 0 && found && snprintf(path, PATH_MAX, "%s", found) < PATH_MAX;
    free(found);
    return ok;
}

const char *as_debug_server_problem(void)
{
    return library.problem[0] ? library.problem : NULL;
}
