/* See debug_path.h. */
#include "cmd/debug_path.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/str.h"
#include "symbol/debugserver.h"

#include <stdlib.h>

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

void as_cli_note_servers(void)
{
    if (as_debug_server_problem())
        as_log_warn("%s", as_debug_server_problem());
}
