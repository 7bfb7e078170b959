/* Where a command's result goes: standard output, or a file that appears whole or not at all.
 *
 * The file is opened before the program runs, so that a run is not lost to a wrong path. Until as_output_finish it has
 * no name (where the file system can do that) and leaves nothing behind, whatever happens. It replaces an older one,
 * with its permissions and behind symbolic links, but never a profile: that may be the one that is read, and what took
 * minutes to record is not for a report to lose. Devices and pipes are written directly. */
#ifndef AS_CMD_OUTPUT_H
#define AS_CMD_OUTPUT_H

#include "base/error.h"

#include <stdio.h>

struct as_output {
    FILE *file;
    const char *path; /* NULL: standard output */
    char *target;     /* path, links followed */
    char *temporary;  /* the name it has until it is finished; NULL: none */
    bool nameless;
};

/* The path of an option -o: NULL where it is "-", standard output. */
const char *as_output_name(const char *path);

/* `path`: NULL or "-" for standard output. */
bool as_output_open(struct as_output *output, const char *path, struct as_error *err) AS_MUST_CHECK;
/* Makes the file appear under its name; also says why writing to it failed. Standard output is left to main(). */
bool as_output_finish(struct as_output *output, struct as_error *err) AS_MUST_CHECK;
void as_output_drop(struct as_output *output); /* instead of finish: nothing appears */

#endif
