/* Reuse distances in the page's document: what `assay reuse --json` wrote to a file, as it is. See page_document.h. */
#include "base/json_text.h"
#include "base/path.h"
#include "base/show.h"
#include "base/whole_file.h"
#include "report/page_document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 64 << 20 };

static bool of_reuse(const char *text)
{
    static const char *const members[] = {"program", "method", "granularity", "histogram", "time_histogram"};
    size_t length;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!as_json_text_member(text, members[i], &length))
            return false;
    return true;
}

/* The file name of the first word of the command, as the writer of JSON has it. */
static bool of_program(const char *text, const char *program)
{
    size_t length, size;
    char *wanted = NULL;
    const char *words = as_json_text_member(text, "program", &length);
    const char *first = as_json_text_first(words, &length);
    if (!first || *first != '"')
        return false;
    FILE *out = open_memstream(&wanted, &size);
    struct as_json *json = as_json_new(out);
    as_json_string(json, NULL, as_path_base(program));
    bool same = as_json_finish(json);
    fclose(out);
    size -= 2; /* the first quote is not compared, the line's end is not there */
    same = same && length > size && memcmp(first + length - size, wanted + 1, size) == 0 &&
           (length == size + 1 || first[length - size - 1] == '/');
    free(wanted);
    return same;
}

char *as_page_reuse_read(const char *path, const char *program, struct as_error *err)
{
    size_t size;
    char *text = as_whole_file(path, LARGEST, &size);
    if (!text)
        as_error_set(err, "cannot read '%s': %s", path, strerror(errno));
    else if (size > LARGEST)
        as_error_set(err, "'%s' is too large for a page (more than 64 MiB)", path);
    else if (strlen(text) != size || as_json_text_wrong(text))
        as_error_set(err, "'%s' is not JSON from byte %zu on", path,
                     strlen(text) != size ? strlen(text) : (size_t)(as_json_text_wrong(text) - text));
    else if (!of_reuse(text))
        as_error_set(err, "'%s' is not what assay reuse --json writes", path);
    else if (program && !of_program(text, program))
        as_error_set(err, "'%s' is of another program than the profile, which is of %s", path, AS_SHOW(program));
    else
        return text;
    free(text);
    return NULL;
}

void as_page_reuse_json(const struct as_page_document *document, struct as_json *json)
{
    if (document->options->reuse)
        as_json_text(json, "reuse", document->options->reuse);
}
