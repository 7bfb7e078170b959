/* See sources.h. */
#include "view/sources.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct as_sources {
    char *directory;
    struct as_strings *paths;
    AS_VEC(struct as_source *) files; /* by the path's id */
};

struct as_sources *as_sources_new(const char *directory)
{
    struct as_sources *sources = as_alloc(sizeof *sources);
    sources->directory = directory ? as_strdup(directory) : NULL;
    sources->paths = as_strings_new();
    return sources;
}

void as_sources_free(struct as_sources *sources)
{
    if (!sources)
        return;
    for (size_t i = 0; i < sources->files.len; i++) {
        struct as_source *file = sources->files.data[i];
        free(file->path);
        free(file->found);
        free(file->text);
        free(file->lines);
        free(file);
    }
    as_vec_free(&sources->files);
    as_strings_free(sources->paths);
    free(sources->directory);
    free(sources);
}

/* Reads the whole file; NULL on failure, with errno, or 0 for a short file. */
static char *read_whole(int fd, size_t size)
{
    char *text = as_alloc(size + 1);
    size_t done = 0;
    while (done < size) {
        ssize_t n = read(fd, text + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    text[done] = '\0';
    if (done == size)
        return text;
    free(text);
    return NULL;
}

static void cut_lines(struct as_source *source, size_t size)
{
    AS_VEC(char *) lines = {0};
    char *end = source->text + size;
    for (char *line = source->text; line < end;) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        *stop = '\0';
        if (stop > line && stop[-1] == '\r')
            stop[-1] = '\0';
        *as_vec_push(&lines) = line;
        line = stop + 1;
    }
    source->lines = lines.data;
    source->n_lines = lines.len;
}

static bool read_source(struct as_source *source, const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        source->problem = errno == EACCES ? "it cannot be read" : "it does not exist";
        return false;
    }
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        source->problem = "it is not a regular file";
    else if (status.st_size > AS_SOURCE_MAX)
        source->problem = "it is too large";
    else if (!(source->text = read_whole(fd, (size_t)status.st_size)))
        source->problem = "it cannot be read";
    close(fd);
    if (!source->text)
        return false;
    source->problem = NULL;
    source->found = as_strdup(path);
    source->time = status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec;
    cut_lines(source, (size_t)status.st_size);
    return true;
}

/* Searches the directory by as many of the path's last components as lead to a file. */
static void search(const struct as_sources *sources, struct as_source *source)
{
    for (const char *rest = source->path; rest && *rest; rest = strchr(rest, '/')) {
        while (*rest == '/')
            rest++;
        char *path = as_format("%s/%s", sources->directory, rest);
        bool found = *rest && access(path, F_OK) == 0 && read_source(source, path);
        free(path);
        if (found)
            return;
    }
}

const struct as_source *as_sources_get(struct as_sources *sources, const char *path)
{
    uint32_t id = as_strings_intern(sources->paths, path);
    if (id < sources->files.len)
        return sources->files.data[id];
    struct as_source *source = as_alloc(sizeof *source);
    source->path = as_strdup(path);
    *as_vec_push(&sources->files) = source;
    /* A relative path does not name the file's directory, and the reader's working directory is not it. */
    if (path[0] == '/')
        read_source(source, path);
    else
        source->problem = "its directory is unknown";
    if (!source->text && sources->directory)
        search(sources, source);
    return source;
}

const char *as_source_line(const struct as_source *source, uint32_t line)
{
    return line && line <= source->n_lines ? source->lines[line - 1] : NULL;
}
