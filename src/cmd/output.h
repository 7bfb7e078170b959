/* Where a command's result goes: standard output, or a file that appears complete or not at all.
 *
 * The file is opened before the program runs, so that a run is not lost to a wrong path. Until as_output_finish it has
 * no name (if the file system supports that) and leaves nothing behind, whatever happens. It replaces an older file,
 * keeping its permissions and following symbolic links, but never a profile: that may be the one that is being read,
 * and a report must not destroy a recording. Devices and pipes are written directly.
 */
#ifndef AS_CMD_OUTPUT_H
#define AS_CMD_OUTPUT_H

#include "base/error.h"

#include <stdio.h>

struct as_output {
    FILE *file;
    const char *path; /* NULL: standard output */
    char *target;     /* path with links followed */
    char *temporary;  /* its name until it is finished; NULL: none */
    bool nameless;
};

/* The path given to -o: NULL if it is "-", standard output. */
const char *as_output_name(const char *path);

/* `path`: NULL or "-" for standard output. */
bool as_output_open(struct as_output *output, const char *path, struct as_error *err) AS_MUST_CHECK;
/* Gives the file its name; reports also earlier write errors. Standard output is left to main(). */
bool as_output_finish(struct as_output *output, struct as_error *err) AS_MUST_CHECK;
void as_output_drop(struct as_output *output); /* instead of finish: the file does not appear */

#endif
