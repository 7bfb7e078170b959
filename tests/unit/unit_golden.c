/* See unit_golden.h. GOLDEN is the directory of golden files. */
#include "unit.h"

#include "unit_golden.h"

static char *text;
static size_t size;

FILE *unit_golden_begin(void)
{
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    return out;
}

void unit_golden_section(FILE *out, const char *title, ...)
{
    va_list args;
    va_start(args, title);
    fputs("== ", out);
    vfprintf(out, title, args);
    fputc('\n', out);
    va_end(args);
}

static char *read_golden(const char *path)
{
    FILE *file = fopen(path, "r");
    char *golden = NULL;
    size_t length = 0;
    if (!file)
        return strdup("");
    if (getdelim(&golden, &length, '\0', file) < 0) {
        free(golden);
        golden = strdup("");
    }
    fclose(file);
    return golden;
}

static size_t line_length(const char *line)
{
    return strcspn(line, "\n");
}

static void check_lines(const char *name, const char *golden, const char *seen)
{
    for (unsigned line = 1; *golden || *seen; line++) {
        size_t wanted = line_length(golden), length = line_length(seen);
        if (wanted != length || memcmp(golden, seen, wanted) != 0 || golden[wanted] != seen[length])
            fail_msg("%s:%u\n  wanted: %.*s\n  seen:   %.*s", name, line, (int)wanted, golden, (int)length, seen);
        golden += wanted + (golden[wanted] == '\n');
        seen += length + (seen[length] == '\n');
    }
}

void unit_golden_check(FILE *out, const char *name)
{
    char path[4096];
    assert_int_equal(fclose(out), 0);
    snprintf(path, sizeof path, "%s/%s", GOLDEN, name);
    if (getenv("UPDATE_GOLDEN")) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        assert_int_equal(fclose(file), 0);
    }
    char *golden = read_golden(path);
    check_lines(name, golden, text);
    free(golden);
    free(text);
}
