/* See debug_path.h. */
#include "cmd/debug_path.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/split.h"
#include "base/str.h"
#include "symbol/debugserver.h"

#include <stdlib.h>
#include <sys/stat.h>

const char *as_cli_debug_path(const char *given)
{
    static char *kept; /* of the one path that a command has */
    const char *urls = getenv("DEBUGINFOD_URLS");
    if (!urls || !*urls)
        return given;
    if (!given)
        return AS_DEBUG_SERVERS;
    free(kept);
    kept = as_format("%s:%s", given, AS_DEBUG_SERVERS);
    return kept;
}

bool as_cli_check_debug_path(const char *given, struct as_error *err)
{
    size_t n;
    char **names = as_split(given ? given : "", ":", &n);
    struct stat info;
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++)
        if (stat(names[i], &info) != 0 || !S_ISDIR(info.st_mode))
            ok = as_error_set(err, "--debug-path: '%s' is not a directory", names[i]);
    as_split_free(names);
    return ok;
}

void as_cli_note_servers(void)
{
    if (as_debug_server_problem())
        as_log_warn("%s", as_debug_server_problem());
}
