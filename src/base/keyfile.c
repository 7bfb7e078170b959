/* See keyfile.h. */
#include "base/keyfile.h"

#include "base/whole_file.h"

#include <errno.h>
#include <string.h>

enum { LARGEST_FILE = 1 << 20, LONGEST_LINE = 4096, SHOWN = 60 };

char *as_keyfile_trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]))
        text[--length] = '\0';
    return text;
}

static bool parse_line(const struct as_keyfile *file, uint32_t number, char *line, struct as_error *err)
{
    struct as_error reason = AS_ERROR_INIT;
    line[strcspn(line, "#")] = '\0';
    char *key = as_keyfile_trim(line), *equals = strchr(key, '=');
    if (*key == '\0')
        return true;
    if (!equals)
        return as_error_set(err, "%s:%u: '%.*s' is not of the form 'key = value'", file->origin, number, SHOWN, key);
    *equals = '\0';
    if (file->assign(file->context, number, as_keyfile_trim(key), as_keyfile_trim(equals + 1), &reason))
        return true;
    return as_error_set(err, "%s:%u: %s", file->origin, number, reason.message);
}

/* Control characters are not text; bytes above 127 may be UTF-8 in comments and descriptions. */
static bool check_bytes(const struct as_keyfile *file, uint32_t number, const char *line, size_t length,
                        struct as_error *err)
{
    if (length >= LONGEST_LINE)
        return as_error_set(err, "%s:%u: the line has %zu bytes; at most %d are allowed", file->origin, number, length,
                            LONGEST_LINE - 1);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)line[i];
        if ((byte < 0x20 && byte != '\t' && byte != '\r') || byte == 0x7f)
            return as_error_set(err, "%s:%u: byte 0x%02x is not text; is this %s?", file->origin, number, byte,
                                file->what);
    }
    return true;
}

bool as_keyfile_parse(const struct as_keyfile *file, const char *text, size_t size, struct as_error *err)
{
    char line[LONGEST_LINE];
    uint32_t number = 0;
    if (size > LARGEST_FILE)
        return as_error_set(err, "%s: larger than 1 MiB; is this %s?", file->origin, file->what);
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        if (!check_bytes(file, ++number, text + at, length, err))
            return false;
        memcpy(line, text + at, length);
        line[length] = '\0';
        if (!parse_line(file, number, line, err))
            return false;
        at += length + 1;
    }
    return true;
}

char *as_keyfile_read(const char *path, size_t *size, struct as_error *err)
{
    char *text = as_whole_file(path, LARGEST_FILE, size);
    if (!text)
        as_error_set(err, "%s: cannot be read: %s", path, strerror(errno));
    return text;
}
