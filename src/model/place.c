/* See place.h. */
#include "model/place.h"

#include "base/alloc.h"
#include "base/cpp_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_hex(const char *text, uint64_t *value)
{
    char *end;
    if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X') || !text[2])
        return false;
    errno = 0;
    *value = strtoull(text, &end, 16);
    return errno == 0 && *end == 0;
}

/* Finds a colon that is not part of "::". */
static const char *module_end(const char *text)
{
    for (const char *at = strchr(text, ':'); at; at = strchr(at + 2, ':'))
        if (at[1] != ':')
            return at;
    return NULL;
}

bool as_place_parse(const char *text, struct as_place *place, struct as_error *err)
{
    *place = (struct as_place){.text = as_strdup(text)};
    const char *colon = module_end(text), *name = colon ? colon + 1 : text;
    if (colon && colon != text)
        place->module = as_strndup(text, (size_t)(colon - text));
    if (read_hex(name, &place->address) && colon != text) {
        place->has_address = true;
        return true;
    }
    const char *plus = strrchr(name, '+');
    place->has_offset = plus && read_hex(plus + 1, &place->offset);
    size_t length = place->has_offset ? (size_t)(plus - name) : strlen(name);
    if (length == 0 || colon == text) {
        as_place_free(place);
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "'%s' is not a place: give NAME, NAME+0xOFFSET, MODULE:NAME or 0xADDRESS", text);
    }
    place->function = as_strndup(name, length);
    return true;
}

void as_place_free(struct as_place *place)
{
    free(place->text);
    free(place->module);
    free(place->function);
    *place = (struct as_place){0};
}

/* "f(int)" and "ns::f<int>(int)" also match "f". */
static bool is_called(const char *function, const char *name)
{
    size_t length = strlen(name);
    return strcmp(function, name) == 0 || (strncmp(function, name, length) == 0 && function[length] == '(') ||
           as_cpp_name_is(function, name);
}

bool as_place_holds(const struct as_place *place, const struct as_insn *insn, const struct as_location *location)
{
    if (place->module && strcmp(place->module, location->module_name) != 0 &&
        strcmp(place->module, location->module) != 0)
        return false;
    if (place->has_address)
        return insn->address == place->address || location->module_offset == place->address;
    if (!location->function) /* code without a name goes by its module */
        return place->has_offset && strcmp(place->function, location->module_name) == 0 &&
               place->offset == location->module_offset;
    if (!(is_called(location->function, place->function) || strcmp(location->raw_function, place->function) == 0))
        return false;
    return !place->has_offset || insn->address - location->function_start == place->offset;
}

bool as_place_is_one(const struct as_place *place)
{
    return place->has_address || place->has_offset;
}
