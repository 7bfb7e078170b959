/* Reads a file of regions: a line that identifies the format, then one region per line (doc/format/regions.md). */
#include "region/regions.h"

#include <errno.h>
#include <stdio.h>

#define WRONG(...) as_error_set_status(err, AS_EXIT_USAGE, __VA_ARGS__)

static const char first_line[] = "assay-regions 1";

static char *trim(char *line)
{
    char *end = line + strlen(line);
    while (end > line && strchr(" \t\r\n", end[-1]))
        *--end = '\0';
    return line + strspn(line, " \t");
}

static bool read_line(struct as_regions *regions, const char *path, size_t number, const char *line,
                      struct as_error *err)
{
    struct as_error inner = AS_ERROR_INIT;
    if (!*line || *line == '#')
        return true;
    return as_regions_parse(regions, line, &inner) || WRONG("%s:%zu: %s", path, number, inner.message);
}

static bool read_lines(struct as_regions *regions, const char *path, FILE *file, struct as_error *err)
{
    char *buffer = NULL;
    size_t size = 0, number = 0;
    ssize_t length;
    bool ok = true;
    while (ok && (length = getline(&buffer, &size, file)) >= 0) {
        if (strlen(buffer) != (size_t)length) {
            ok = WRONG("%s:%zu: this line is not text", path, number + 1);
            break;
        }
        const char *line = trim(buffer);
        if (++number > 1)
            ok = read_line(regions, path, number, line, err);
        else if (strcmp(line, first_line) != 0)
            ok = WRONG("%s: not a file of regions: its first line is not '%s'", path, first_line);
    }
    free(buffer);
    return ok;
}

bool as_regions_read(struct as_regions *regions, const char *path, struct as_error *err)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return as_error_set(err, "%s: cannot be read: %s", path, strerror(errno));
    bool ok = read_lines(regions, path, file, err);
    if (ok && ferror(file))
        ok = as_error_set(err, "%s: cannot be read: %s", path, strerror(errno));
    fclose(file);
    return ok && (regions->list.len || WRONG("%s: the file has no regions", path));
}
