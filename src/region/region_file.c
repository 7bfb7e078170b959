/* Reads a file of regions: a line that identifies the format, then one region per line (doc/format/regions.md). */
#include "region/regions.h"

#include "base/text_lines.h"

#include <errno.h>
#include <stdio.h>

#define WRONG(...) as_error_set_status(err, AS_EXIT_USAGE, __VA_ARGS__)

enum { LONGEST = 1 << 16 };

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

static bool read_lines(struct as_regions *regions, struct as_lines *lines, struct as_error *err)
{
    bool ok = true;
    if (as_lines_next(lines) && strcmp(trim(lines->text), first_line) != 0)
        return WRONG("%s: not a file of regions: its first line is not '%s'", lines->name, first_line);
    while (ok && as_lines_next(lines))
        ok = read_line(regions, lines->name, lines->number, trim(lines->text), err);
    return ok;
}

bool as_regions_read(struct as_regions *regions, const char *path, struct as_error *err)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return as_error_set(err, "%s: cannot be read: %s", path, strerror(errno));
    struct as_lines lines = {.in = file, .name = path, .most = LONGEST};
    bool ok = read_lines(regions, &lines, err);
    ok = as_lines_end(&lines, ok, err);
    fclose(file);
    return ok && (regions->list.len || WRONG("%s: the file has no regions", path));
}
