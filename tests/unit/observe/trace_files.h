/* What the tests of the bundled observers share: a run with files in memory, by their paths. */
#ifndef TESTS_TRACE_FILES_H
#define TESTS_TRACE_FILES_H

#include "trace_bed.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 4 };

struct files {
    struct trace_bed bed; /* its run is the context of bed_insn: first */
    struct {
        char *path, *text;
        size_t size;
        FILE *file;
    } open[MOST_FILES];
    size_t n;
    bool refuse;
};

static inline FILE *files_open(void *context, const char *path)
{
    struct files *files = context;
    if (files->refuse)
        return NULL;
    assert_true(files->n < MOST_FILES);
    files->open[files->n].path = strdup(path);
    FILE *file = open_memstream(&files->open[files->n].text, &files->open[files->n].size);
    return files->open[files->n++].file = file;
}

static inline void files_begin(struct files *files, uint64_t seed, uint32_t width, bool fuse)
{
    memset(files, 0, sizeof *files);
    bed_init(&files->bed, seed, width, fuse);
    files->bed.run.context = files;
    files->bed.run.open = files_open;
}

/* After this, text and size hold what was written. */
static inline void files_close(struct files *files)
{
    for (size_t i = 0; i < files->n; i++)
        fclose(files->open[i].file);
}

static inline void files_free(struct files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        free(files->open[i].path);
        free(files->open[i].text);
    }
}

#endif
