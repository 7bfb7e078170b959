/* The JSON writer keeps a stack of open containers. Each entry knows whether it is an object and how many members it
 * has, which is all that commas and indentation need. Write errors stay in the FILE; the caller checks them once, at
 * the end. */
#include "base/json.h"

#include "base/utf8.h"
#include "base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

struct level {
    bool object;
    size_t members;
};

struct as_json {
    FILE *out;
    AS_VEC(struct level) levels;
    bool done; /* the one top value is written */
    bool compact;
};

struct as_json *as_json_new(FILE *out)
{
    struct as_json *json = as_alloc(sizeof *json);
    json->out = out;
    return json;
}

void as_json_compact(struct as_json *json)
{
    json->compact = true;
}

bool as_json_finish(struct as_json *json)
{
    if (json->levels.len > 0 || !json->done)
        abort();
    fputc('\n', json->out);
    bool ok = fflush(json->out) == 0 && !ferror(json->out);
    int saved_errno = errno;
    as_vec_free(&json->levels);
    free(json);
    errno = saved_errno;
    return ok;
}

static void new_line(struct as_json *json)
{
    if (json->compact)
        return;
    fputc('\n', json->out);
    for (size_t i = 0; i < json->levels.len; i++)
        fputs("  ", json->out);
}

/* One ASCII character; DEL is escaped too, for the sake of terminals. */
static void put_ascii(FILE *out, unsigned char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    const char *found = strchr(plain, c);
    if (found)
        fprintf(out, "\\%c", letter[found - plain]);
    else if (c < 0x20 || c == 0x7f)
        fprintf(out, "\\u%04x", c);
    else
        fputc(c, out);
}

static void put_string(FILE *out, const char *text)
{
    fputc('"', out);
    while (*text) {
        size_t length = as_utf8_length(text);
        if (length == 0)
            fputs(AS_UTF8_REPLACEMENT, out);
        else if (length == 1)
            put_ascii(out, (unsigned char)*text);
        else
            fwrite(text, 1, length, out);
        text += length ? length : 1;
    }
    fputc('"', out);
}

/* Writes everything before a value: comma, line, name. */
static void begin_value(struct as_json *json, const char *name)
{
    if (json->levels.len == 0) {
        if (name || json->done)
            abort();
        json->done = true;
        return;
    }
    struct level *level = &json->levels.data[json->levels.len - 1];
    if (level->object != (name != NULL))
        abort();
    if (level->members++ > 0)
        fputc(',', json->out);
    new_line(json);
    if (name) {
        put_string(json->out, name);
        fputs(json->compact ? ":" : ": ", json->out);
    }
}

void as_json_object(struct as_json *json, const char *name)
{
    begin_value(json, name);
    fputc('{', json->out);
    *as_vec_push(&json->levels) = (struct level){.object = true};
}

void as_json_array(struct as_json *json, const char *name)
{
    begin_value(json, name);
    fputc('[', json->out);
    *as_vec_push(&json->levels) = (struct level){.object = false};
}

void as_json_end(struct as_json *json)
{
    if (json->levels.len == 0)
        abort();
    struct level ended = json->levels.data[--json->levels.len];
    if (ended.members > 0)
        new_line(json);
    fputc(ended.object ? '}' : ']', json->out);
}

void as_json_string(struct as_json *json, const char *name, const char *value)
{
    begin_value(json, name);
    if (value)
        put_string(json->out, value);
    else
        fputs("null", json->out);
}

void as_json_u64(struct as_json *json, const char *name, uint64_t value)
{
    begin_value(json, name);
    fprintf(json->out, "%" PRIu64, value);
}

void as_json_i64(struct as_json *json, const char *name, int64_t value)
{
    begin_value(json, name);
    fprintf(json->out, "%" PRId64, value);
}

/* 17 digits always read back the same; most numbers need fewer, which are easier to read. */
void as_json_double(struct as_json *json, const char *name, double value)
{
    if (!isfinite(value)) {
        as_json_null(json, name);
        return;
    }
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    begin_value(json, name);
    fputs(text, json->out);
}

void as_json_bool(struct as_json *json, const char *name, bool value)
{
    begin_value(json, name);
    fputs(value ? "true" : "false", json->out);
}

void as_json_null(struct as_json *json, const char *name)
{
    begin_value(json, name);
    fputs("null", json->out);
}

void as_json_text(struct as_json *json, const char *name, const char *text)
{
    begin_value(json, name);
    fputs(text, json->out);
}

void as_json_address(struct as_json *json, const char *name, uint64_t value)
{
    begin_value(json, name);
    fprintf(json->out, "\"0x%" PRIx64 "\"", value);
}
