/* Which options of assay comm have an effect on what: a program in the model, a program on the machine, a recording. */
#ifndef AS_CMD_COMM_USES_H
#define AS_CMD_COMM_USES_H

#include "cmd/cli.h"

enum as_comm_use { AS_COMM_OF_MODEL = 1, AS_COMM_OF_MACHINE = 2, AS_COMM_OF_RECORDING = 4 };

#define AS_COMM_NOT_GIVEN UINT64_MAX /* the default of its numbers */

/* An option that was given and has no effect there; NULL: there is none. *uses: where it has one. Options of regions are not
 * among them (as_run_options_given). */
const char *as_comm_unused(const void *options, enum as_comm_use use, unsigned *uses);
/* False: it is a file that cannot be executed, or there is nothing of that name. The message says what comm takes. Whatever else
 * keeps a program from running, its run says. */
bool as_comm_is_operand(const char *name, const char *search_path, struct as_error *err) AS_MUST_CHECK;

#endif
