/* See json_text.h. A value is skipped from its first byte to the one behind it; `wrong` remembers where that failed. */
#include "base/json_text.h"

#include "base/utf8.h"

#include <string.h>

struct reader {
    const char *wrong; /* NULL: nothing was wrong so far */
    int depth;
};

static const char *fail(struct reader *reader, const char *at)
{
    reader->wrong = reader->wrong ? reader->wrong : at;
    return NULL;
}

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static const char *skip_escape(struct reader *reader, const char *at)
{
    if (*at != 'u')
        return *at && strchr("\"\\/bfnrt", *at) ? at + 1 : fail(reader, at);
    return strspn(at + 1, "0123456789abcdefABCDEF") >= 4 ? at + 5 : fail(reader, at);
}

static const char *skip_string(struct reader *reader, const char *at)
{
    if (*at != '"')
        return fail(reader, at);
    for (at++; at && *at != '"';) {
        size_t length = as_utf8_length(at);
        if (length == 0 || (unsigned char)*at < 0x20)
            return fail(reader, at);
        at = *at == '\\' ? skip_escape(reader, at + 1) : at + length;
    }
    return at ? at + 1 : NULL;
}

static const char *skip_digits(struct reader *reader, const char *at)
{
    size_t n = strspn(at, "0123456789");
    return n ? at + n : fail(reader, at);
}

static const char *skip_number(struct reader *reader, const char *at)
{
    at += *at == '-';
    at = *at == '0' ? at + 1 : skip_digits(reader, at);
    if (at && *at == '.')
        at = skip_digits(reader, at + 1);
    if (at && (*at == 'e' || *at == 'E'))
        at = skip_digits(reader, at + 1 + (at[1] == '+' || at[1] == '-'));
    return at;
}

static const char *skip_word(struct reader *reader, const char *at)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(at, words[i], strlen(words[i])) == 0)
            return at + strlen(words[i]);
    return skip_number(reader, at);
}

static const char *skip_value(struct reader *reader, const char *at);

/* At the value of a member, behind its name and the colon. */
static const char *skip_name(struct reader *reader, const char *at)
{
    at = skip_string(reader, at);
    at = at ? skip_space(at) : NULL;
    if (at && *at != ':')
        return fail(reader, at);
    return at ? skip_space(at + 1) : NULL;
}

static const char *skip_container(struct reader *reader, const char *at)
{
    bool object = *at == '{';
    char end = object ? '}' : ']';
    if (reader->depth == AS_JSON_TEXT_DEPTH)
        return fail(reader, at);
    at = skip_space(at + 1);
    if (*at == end)
        return at + 1;
    for (reader->depth++;; at = skip_space(at + 1)) {
        at = object ? skip_name(reader, at) : at;
        at = at ? skip_value(reader, at) : NULL;
        at = at ? skip_space(at) : NULL;
        if (!at || *at != ',')
            break;
    }
    reader->depth--;
    if (!at)
        return NULL;
    return *at == end ? at + 1 : fail(reader, at);
}

static const char *skip_value(struct reader *reader, const char *at)
{
    if (*at == '"')
        return skip_string(reader, at);
    return *at == '{' || *at == '[' ? skip_container(reader, at) : skip_word(reader, at);
}

const char *as_json_text_wrong(const char *text)
{
    struct reader reader = {0};
    const char *end = skip_value(&reader, skip_space(text));
    if (!end)
        return reader.wrong;
    end = skip_space(end);
    return *end ? end : NULL;
}

const char *as_json_text_member(const char *text, const char *name, size_t *length)
{
    struct reader reader = {0};
    const char *at = skip_space(text);
    if (*at != '{')
        return NULL;
    at = skip_space(at + 1);
    while (at && *at == '"') {
        const char *value = skip_name(&reader, at), *end = value ? skip_value(&reader, value) : NULL;
        if (end && strncmp(at + 1, name, strlen(name)) == 0 && at[1 + strlen(name)] == '"') {
            *length = (size_t)(end - value);
            return value;
        }
        at = end ? skip_space(end) : NULL;
        at = at && *at == ',' ? skip_space(at + 1) : NULL;
    }
    return NULL;
}

const char *as_json_text_first(const char *array, size_t *length)
{
    struct reader reader = {0};
    const char *at = skip_space(array);
    if (*at != '[')
        return NULL;
    at = skip_space(at + 1);
    const char *end = *at == ']' ? NULL : skip_value(&reader, at);
    *length = end ? (size_t)(end - at) : 0;
    return end ? at : NULL;
}
