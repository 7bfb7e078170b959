/* Machine files: `key = value` lines into struct as_machine and back; which unit, queue and latency a class has.
 *
 * Every key is a row of machine_table.c, so nothing here knows a key by name. base/keyfile.h reads the lines; the first
 * error ends that with one line that names place, key, value and what is allowed. Combinations are checked at the end
 * (machine_check.c).
 */
#include "core/machine.h"

#include "base/alloc.h"
#include "base/keyfile.h"
#include "core/machine_table.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 60 };

struct parse {
    struct as_machine *machine;
    uint32_t *lines; /* where each key was given; 0: nowhere */
};

static bool unknown_key(const char *key, struct as_error *err)
{
    const struct as_field *guess = as_field_guess(key);
    return as_error_set(err, "unknown key '%.*s'%s%s%s", SHOWN, key, guess ? "; did you mean '" : "",
                        guess ? guess->key : "", guess ? "'?" : "");
}

static bool assign(void *context, uint32_t number, const char *key, const char *value, struct as_error *err)
{
    struct parse *parse = context;
    const struct as_field *field = as_field_find(key);
    char allowed[160], hint[64];
    if (!field)
        return unknown_key(key, err);
    uint32_t *line = &parse->lines[field - as_fields];
    if (*line)
        return as_error_set(err, "'%s' was already given in line %u", key, *line);
    *line = number;
    if (as_field_parse(field, parse->machine, value))
        return true;
    return as_error_set(err, "%s = %.*s: not allowed; %s (%s)%s", key, SHOWN, value,
                        as_field_allowed(field, allowed, sizeof allowed), field->meaning,
                        as_field_hint(field, value, hint, sizeof hint));
}

static bool fill_missing(struct parse *parse, struct as_error *err)
{
    char allowed[160];
    for (size_t i = 0; i < as_fields_count; i++) {
        const struct as_field *field = &as_fields[i];
        if (parse->lines[i])
            continue;
        if (field->flags & AS_FIELD_REQUIRED)
            return as_error_set(err, "no value for %s (%s; %s)", field->key, field->meaning,
                                as_field_allowed(field, allowed, sizeof allowed));
        as_field_default(field, parse->machine);
    }
    return true;
}

bool as_machine_parse(const char *text, size_t size, const char *origin, struct as_machine *machine,
                      struct as_error *err)
{
    struct parse parse = {.machine = machine};
    struct as_keyfile file = {.origin = origin, .what = "a machine file", .assign = assign, .context = &parse};
    struct as_error reason = AS_ERROR_INIT;
    memset(machine, 0, sizeof *machine);
    parse.lines = as_alloc_array(as_fields_count, sizeof *parse.lines);
    bool read = as_keyfile_parse(&file, text, size, err);
    bool ok = read && fill_missing(&parse, &reason) && as_machine_validate(machine, &reason);
    free(parse.lines);
    return ok || (read && as_error_set(err, "%s: %s", origin, reason.message));
}

/* One "key=value" of the list; `changed` is thrown away by the caller where this fails. */
static bool set_one(struct as_machine *changed, char *assignment, struct as_error *err)
{
    char *equals = strchr(assignment, '='), allowed[160], hint[64];
    if (!equals)
        return as_error_set(err, "'%.*s' is not of the form key=value", SHOWN, as_keyfile_trim(assignment));
    *equals = '\0';
    char *key = as_keyfile_trim(assignment), *value = as_keyfile_trim(equals + 1);
    const struct as_field *field = as_field_find(key), *guess = field ? NULL : as_field_guess(key);
    if (!field)
        return as_error_set(err, "no machine has the key '%.*s'%s%s%s", SHOWN, key, guess ? "; did you mean '" : "",
                            guess ? guess->key : "", guess ? "'?" : "");
    if (as_field_parse(field, changed, value))
        return true;
    return as_error_set(err, "%s=%.*s: not allowed; %s (%s)%s", key, SHOWN, value,
                        as_field_allowed(field, allowed, sizeof allowed), field->meaning,
                        as_field_hint(field, value, hint, sizeof hint));
}

/* What a file could not hold cannot be set either. */
static bool check_assignment(const char *assignment, struct as_error *err)
{
    for (const char *at = assignment; *at; at++) {
        unsigned char byte = (unsigned char)*at;
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
            return as_error_set(err, "byte 0x%02x in '%.*s' is not text", byte, SHOWN, assignment);
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
