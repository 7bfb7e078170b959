/* Where commands look for separate debug files. */
#ifndef AS_CMD_DEBUG_PATH_H
#define AS_CMD_DEBUG_PATH_H

/* What the user gave (NULL: nothing), and debuginfod servers if DEBUGINFOD_URLS is set. NULL: neither. The string is
 * valid until the next call that gives something. */
const char *as_cli_debug_path(const char *given);
/* Warns if servers could not be asked. */
void as_cli_note_servers(void);

#endif
