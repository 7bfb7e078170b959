/* `assay reuse` on this machine: runs the program natively and prints what was found. */
#ifndef AS_CMD_REUSE_ON_MACHINE_H
#define AS_CMD_REUSE_ON_MACHINE_H

#include "cmd/cli.h"
#include "reuse/reuse_native.h"

enum as_reuse_format { AS_REUSE_TEXT, AS_REUSE_JSON, AS_REUSE_CSV, AS_REUSE_HTML };

struct as_reuse_machine_request {
    struct as_reuse_native_options native;
    const struct as_command *command; /* for messages */
    enum as_reuse_format format;
    const char *output; /* NULL: standard output */
    uint64_t top;
};

int as_reuse_on_machine(struct as_reuse_machine_request *request, char **argv); /* the exit status */

#endif
