/* Where commands look for separate debug files. */
#ifndef AS_CMD_DEBUG_PATH_H
#define AS_CMD_DEBUG_PATH_H

#include "base/error.h"

/* What the user gave (NULL: nothing), and debuginfod servers if DEBUGINFOD_URLS is set. NULL: neither. The string is
 * valid until the next call that gives something. */
const char *as_cli_debug_path(const char *given);
/* Whether each of the directories that the user gave is there; NULL: nothing given. */
bool as_cli_check_debug_path(const char *given, struct as_error *err) AS_MUST_CHECK;
/* Warns if servers could not be asked. */
void as_cli_note_servers(void);

#endif
