/* Debug files and programs by build-id from debuginfod servers, through elfutils' libdebuginfod, which is loaded when it
 * is first needed. The library reads DEBUGINFOD_URLS, the other DEBUGINFOD_* variables and its cache itself. Callers ask
 * only if their list of roots contains AS_DEBUG_SERVERS: the commands add it if the user has set DEBUGINFOD_URLS.
 *
 * Not thread-safe. After a failure other than "there is no such file", servers are not asked again.
 */
#ifndef AS_SYMBOL_DEBUGSERVER_H
#define AS_SYMBOL_DEBUGSERVER_H

#include "symbol/elffile.h"

#include <limits.h>

/* An element of a colon-separated list of roots that stands for the servers. */
#define AS_DEBUG_SERVERS "debuginfod"
bool as_debug_roots_ask_servers(const char *roots);
/* The list of roots for what the user gave (NULL: nothing): before those of ASSAY_DEBUG_PATH, or the usual one where that is not
 * set. The caller frees. */
char *as_debug_roots(const char *given);

enum as_debug_wanted { AS_DEBUG_WANTS_DEBUGINFO, AS_DEBUG_WANTS_EXECUTABLE };
/* Downloads a file, or finds it in the cache of former downloads, and returns its path. */
bool as_debug_server_find(const struct as_build_id *id, enum as_debug_wanted wanted, char path[PATH_MAX]);

/* Why servers could not be asked; NULL: nothing went wrong. */
const char *as_debug_server_problem(void);

#endif
