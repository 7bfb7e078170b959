/* Source files for reports: read when first asked for, and cut into lines. A file that is missing, changed, huge or not
 * a regular file only loses its text. */
#ifndef AS_VIEW_SOURCES_H
#define AS_VIEW_SOURCES_H

#include <stddef.h>
#include <stdint.h>

struct as_sources;

enum { AS_SOURCE_MAX = 8 << 20 }; /* most bytes of a file */

/* `directory`: where to look for files that have moved, by as much of their path as matches; NULL: nowhere. */
struct as_sources *as_sources_new(const char *directory);
void as_sources_free(struct as_sources *sources);

struct as_source {
    char *path;   /* as asked for */
    char *found;  /* where it was read from; NULL: not found */
    char *text;   /* its lines, each ended by NUL */
    char **lines; /* by number - 1 */
    size_t n_lines;
    int64_t time;        /* last change, nanoseconds since 1970 */
    const char *problem; /* why it has no lines; NULL if it has */
};

/* Never NULL; valid as long as the sources. */
const struct as_source *as_sources_get(struct as_sources *sources, const char *path);
const char *as_source_line(const struct as_source *source, uint32_t line); /* NULL: no such line */

#endif
