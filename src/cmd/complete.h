/* Completion of command lines in a shell: `assay --complete WORD…` prints what the last word could become, one
 * candidate per line, from the same tables that parse and explain the options. The shell's part (assay_completion.sh)
 * only calls it.
 *
 * The words are those after "assay" up to the cursor, as bash splits them: "--core=boom" is three words. A first line
 * with a colon leaves the choice to the shell: ":files", ":directories", ":programs".
 */
#ifndef AS_CMD_COMPLETE_H
#define AS_CMD_COMPLETE_H

#include "cmd/cli.h"

/* `commands` is NULL-terminated; the last word is the one to complete, "" if it has not begun. */
int as_complete(const struct as_command *const *commands, int n_words, char **words);

#endif
