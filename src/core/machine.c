/* Machine files: `key = value` lines into struct as_machine and back; which unit, queue and latency a class has.
 *
 * Every key is a row of machine_table.c, so nothing here knows a key by name. A file is read whole, line by line; the
 * first thing that is wrong ends it with one line that names place, key, value and what is allowed. Combinations are
 * checked at the end (machine_check.c). Files may come from anyone: lengths are limited before anything is looked at.
 */
#include "core/machine.h"

#include "base/alloc.h"
#include "core/machine_table.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = 1 << 20, LONGEST_LINE = 4096, SHOWN = 60 };

struct parse {
    const char *origin;
    struct as_machine *machine;
    uint32_t *lines; /* where each key was given; 0: nowhere */
    uint32_t line;
    struct as_error *err;
};

static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]))
        text[--length] = '\0';
    return text;
}

static bool unknown_key(struct parse *parse, const char *key)
{
    const struct as_field *guess = as_field_guess(key);
    return as_error_set(parse->err, "%s:%u: unknown key '%.*s'%s%s%s", parse->origin, parse->line, SHOWN, key,
                        guess ? "; did you mean '" : "", guess ? guess->key : "", guess ? "'?" : "");
}

static bool assign(struct parse *parse, const char *key, const char *value)
{
    const struct as_field *field = as_field_find(key);
    char allowed[160];
    if (!field)
        return unknown_key(parse, key);
    uint32_t *line = &parse->lines[field - as_fields];
    if (*line)
        return as_error_set(parse->err, "%s:%u: '%s' was already given in line %u", parse->origin, parse->line, key,
                            *line);
    *line = parse->line;
    if (as_field_parse(field, parse->machine, value))
        return true;
    return as_error_set(parse->err, "%s:%u: %s = %.*s: not allowed; %s (%s)", parse->origin, parse->line, key, SHOWN,
                        value, as_field_allowed(field, allowed, sizeof allowed), field->meaning);
}

static bool parse_line(struct parse *parse, char *line)
{
    line[strcspn(line, "#")] = '\0';
    char *key = trim(line), *equals = strchr(key, '=');
    if (*key == '\0')
        return true;
    if (!equals)
        return as_error_set(parse->err, "%s:%u: '%.*s' is not of the form 'key = value'", parse->origin, parse->line,
                            SHOWN, key);
    *equals = '\0';
    return assign(parse, trim(key), trim(equals + 1));
}

/* Control characters have no place in a text; bytes above 127 may be UTF-8 in comments and descriptions. */
static bool check_bytes(struct parse *parse, const char *line, size_t length)
{
    if (length >= LONGEST_LINE)
        return as_error_set(parse->err, "%s:%u: the line has %zu bytes; at most %d are allowed", parse->origin,
                            parse->line, length, LONGEST_LINE - 1);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)line[i];
        if ((byte < 0x20 && byte != '\t' && byte != '\r') || byte == 0x7f)
            return as_error_set(parse->err, "%s:%u: byte 0x%02x is no text; is this a machine file?", parse->origin,
                                parse->line, byte);
    }
    return true;
}

static bool parse_lines(struct parse *parse, const char *text, size_t size)
{
    char line[LONGEST_LINE];
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        parse->line++;
        if (!check_bytes(parse, text + at, length))
            return false;
        memcpy(line, text + at, length);
        line[length] = '\0';
        if (!parse_line(parse, line))
            return false;
        at += length + 1;
    }
    return true;
}

static bool fill_missing(struct parse *parse)
{
    char allowed[160];
    for (size_t i = 0; i < as_fields_count; i++) {
        const struct as_field *field = &as_fields[i];
        if (parse->lines[i])
            continue;
        if (field->flags & AS_FIELD_REQUIRED)
            return as_error_set(parse->err, "%s: no value for %s (%s; %s)", parse->origin, field->key, field->meaning,
                                as_field_allowed(field, allowed, sizeof allowed));
        as_field_default(field, parse->machine);
    }
    return true;
}

bool as_machine_parse(const char *text, size_t size, const char *origin, struct as_machine *machine,
                      struct as_error *err)
{
    struct parse parse = {.origin = origin, .machine = machine, .err = err};
    struct as_error reason = AS_ERROR_INIT;
    memset(machine, 0, sizeof *machine);
    if (size > LARGEST_FILE)
        return as_error_set(err, "%s: larger than 1 MiB; is this a machine file?", origin);
    parse.lines = as_alloc_array(as_fields_count, sizeof *parse.lines);
    bool ok = parse_lines(&parse, text, size) && fill_missing(&parse);
    free(parse.lines);
    if (ok && !as_machine_validate(machine, &reason))
        ok = as_error_set(err, "%s: %s", origin, reason.message);
    return ok;
}

/* One "key=value" of the list; `changed` is thrown away by the caller where this fails. */
static bool set_one(struct as_machine *changed, char *assignment, struct as_error *err)
{
    char *equals = strchr(assignment, '='), allowed[160];
    if (!equals)
        return as_error_set(err, "'%.*s' is not of the form key=value", SHOWN, trim(assignment));
    *equals = '\0';
    char *key = trim(assignment), *value = trim(equals + 1);
    const struct as_field *field = as_field_find(key), *guess = field ? NULL : as_field_guess(key);
    if (!field)
        return as_error_set(err, "no machine has the key '%.*s'%s%s%s", SHOWN, key, guess ? "; did you mean '" : "",
                            guess ? guess->key : "", guess ? "'?" : "");
    if (as_field_parse(field, changed, value))
        return true;
    return as_error_set(err, "%s=%.*s: not allowed; %s (%s)", key, SHOWN, value,
                        as_field_allowed(field, allowed, sizeof allowed), field->meaning);
}

/* What a file could not hold cannot be set either. */
static bool check_assignment(const char *assignment, struct as_error *err)
{
    for (const char *at = assignment; *at; at++) {
        unsigned char byte = (unsigned char)*at;
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
            return as_error_set(err, "byte 0x%02x in '%.*s' is no text", byte, SHOWN, assignment);
    }
    return true;
}

bool as_machine_set(struct as_machine *machine, const char *assignment, struct as_error *err)
{
    if (!check_assignment(assignment, err))
        return false;
    struct as_machine *changed = as_alloc(sizeof *changed);
    char *copy = as_strdup(assignment), *next = copy;
    bool ok = true;
    *changed = *machine;
    for (char *one; ok && (one = strsep(&next, ","));)
        ok = set_one(changed, one, err);
    ok = ok && as_machine_validate(changed, err);
    if (ok)
        *machine = *changed;
    free(copy);
    free(changed);
    return ok;
}

const char *as_machine_meaning(const char *key)
{
    const struct as_field *field = as_field_find(key);
    return field ? field->meaning : NULL;
}

void as_machine_print(const struct as_machine *machine, FILE *out)
{
    char text[1024];
    for (size_t i = 0; i < as_fields_count; i++)
        if (*as_field_text(&as_fields[i], machine, text, sizeof text))
            fprintf(out, "%s = %s\n", as_fields[i].key, text);
}

void as_machine_keys(void (*found)(void *context, const char *key, const char *meaning, const char *allowed),
                     void *context)
{
    char allowed[160];
    for (size_t i = 0; i < as_fields_count; i++)
        found(context, as_fields[i].key, as_fields[i].meaning,
              as_field_allowed(&as_fields[i], allowed, sizeof allowed));
}

/* Classes that are not listed go to the integer units: branches, system instructions, what was not decoded. */
static const uint8_t class_unit[AS_CLASS_COUNT] = {
    [AS_CLASS_MUL] = AS_UNIT_MUL,        [AS_CLASS_DIV] = AS_UNIT_DIV,           [AS_CLASS_FP_ADD] = AS_UNIT_FP,
    [AS_CLASS_FP_MUL] = AS_UNIT_FP_MUL,  [AS_CLASS_FP_FMA] = AS_UNIT_FP_MUL,     [AS_CLASS_FP_DIV] = AS_UNIT_FP_DIV,
    [AS_CLASS_FP_SQRT] = AS_UNIT_FP_DIV, [AS_CLASS_FP_CONVERT] = AS_UNIT_FP,     [AS_CLASS_FP_OTHER] = AS_UNIT_FP,
    [AS_CLASS_VECTOR] = AS_UNIT_VECTOR,  [AS_CLASS_VECTOR_MUL] = AS_UNIT_FP_MUL, [AS_CLASS_LOAD] = AS_UNIT_LOAD,
    [AS_CLASS_STORE] = AS_UNIT_STORE,    [AS_CLASS_ATOMIC] = AS_UNIT_LOAD,       [AS_CLASS_CACHE] = AS_UNIT_LOAD,
};

static const uint8_t unit_queue[AS_UNIT_COUNT] = {
    [AS_UNIT_INT] = AS_QUEUE_INT,   [AS_UNIT_MUL] = AS_QUEUE_INT,   [AS_UNIT_DIV] = AS_QUEUE_INT,
    [AS_UNIT_FP] = AS_QUEUE_FP,     [AS_UNIT_FP_MUL] = AS_QUEUE_FP, [AS_UNIT_FP_DIV] = AS_QUEUE_FP,
    [AS_UNIT_VECTOR] = AS_QUEUE_FP, [AS_UNIT_LOAD] = AS_QUEUE_MEM,  [AS_UNIT_STORE] = AS_QUEUE_MEM,
};

uint32_t as_machine_socket(const struct as_machine *machine, uint32_t core)
{
    uint32_t cores = machine->coherence.cores;
    return machine->coherence.sockets < 2 || cores < 2 ? 0 : core % cores / (cores / 2);
}

/* The n-th of a list of numbers, which begins anew behind its end. */
static uint32_t pick(const char *list, uint32_t n)
{
    uint32_t values[AS_CORES_MAX], count = 0;
    for (char *end; *list && count < AS_CORES_MAX; list = end + strspn(end, " \t"))
        values[count++] = (uint32_t)strtoul(list, &end, 10);
    return count ? values[n % count] : 0;
}

uint32_t as_machine_core(const struct as_machine *machine, uint32_t n)
{
    uint32_t cores = machine->coherence.cores;
    const char *pinning = machine->coherence.pinning;
    if (cores == 0)
        return n;
    if (*pinning >= '0' && *pinning <= '9')
        return pick(pinning, n);
    n %= cores;
    return strcmp(pinning, "scatter") == 0 && machine->coherence.sockets > 1 ? n % 2 * (cores / 2) + n / 2 : n;
}

enum as_unit as_machine_unit(enum as_class class_)
{
    return class_unit[class_];
}

enum as_queue_kind as_machine_queue(enum as_unit unit)
{
    return unit_queue[unit];
}

uint32_t as_machine_latency(const struct as_machine *machine, enum as_class class_)
{
    switch (class_) {
    case AS_CLASS_FP_FMA:
        return machine->fma_latency;
    case AS_CLASS_FP_CONVERT:
        return machine->fp_convert_latency;
    case AS_CLASS_FP_SQRT:
        return machine->fp_sqrt_latency;
    case AS_CLASS_ATOMIC:
        return machine->atomic_latency;
    default:
        return machine->units[class_unit[class_]].latency;
    }
}

uint32_t as_machine_interval(const struct as_machine *machine, enum as_class class_)
{
    if (class_ == AS_CLASS_FP_SQRT)
        return machine->fp_sqrt_interval;
    return machine->units[class_unit[class_]].interval;
}
