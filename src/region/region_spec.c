/* Parses one region in the form START..STOP[,KEY=VALUE …]; doc/format/regions.md has the grammar.
 *
 * Names of functions may contain nearly any character ("std::sort<int*>(int*, int*)"). The parser therefore works from
 * the ends: first the options after the last commas, then the ".." in the middle, then "#N" and "+N" after a point.
 */
#include "region/regions.h"

#include "base/number.h"
#include "base/str.h"

#include <ctype.h>
#include <math.h>

#define WRONG(...) as_error_set_status(err, AS_EXIT_USAGE, __VA_ARGS__)

/* The text that is being parsed, for messages, and the list that takes its landmarks. */
struct spec {
    const char *text;
    struct as_regions *regions;
    struct as_region *region;
};

static const char *const mode_names[] = {
    [AS_MODE_COUNT] = "count", [AS_MODE_WARM] = "warm", [AS_MODE_SETTLE] = "settle", [AS_MODE_DETAIL] = "detail"};

const char *as_mode_name(enum as_mode mode)
{
    return mode_names[mode];
}

static bool read_mode(struct spec *spec, const char *value, struct as_error *err)
{
    for (enum as_mode mode = AS_MODE_COUNT; mode <= AS_MODE_DETAIL; mode++)
        if (strcmp(value, mode_names[mode]) == 0) {
            spec->region->mode = mode;
            return true;
        }
    return WRONG("region '%s': mode=%s: a region is in mode count, warm, settle or detail", spec->text, value);
}

static bool read_weight(struct spec *spec, const char *value, struct as_error *err)
{
    char *end;
    spec->region->weight = strtod(value, &end);
    if (end == value || *end || !isfinite(spec->region->weight) || spec->region->weight <= 0)
        return WRONG("region '%s': weight=%s: a weight is a number above 0", spec->text, value);
    return true;
}

static bool read_amount(struct spec *spec, const char *key, const char *value, uint64_t *to, struct as_error *err)
{
    if (strcmp(key, "warm") == 0 && strcmp(value, "all") == 0) {
        *to = AS_REGION_ALL;
        return true;
    }
    bool most = to == &spec->region->max; /* max=0 is refused: a region without instructions is a mistake */
    if (!as_number_read(value, to) || *to == AS_REGION_ALL || (most && *to == 0))
        return WRONG("region '%s': %s%s%s: expected a number of instructions such as 1000, 10k or 5M", spec->text, key,
                     *key == '+' ? "" : "=", value);
    return true;
}

static bool read_option(struct spec *spec, const char *key, const char *value, struct as_error *err)
{
    if (strcmp(key, "warm") == 0)
        return read_amount(spec, key, value, &spec->region->warm, err);
    if (strcmp(key, "settle") == 0)
        return read_amount(spec, key, value, &spec->region->settle, err);
    if (strcmp(key, "max") == 0)
        return read_amount(spec, key, value, &spec->region->max, err);
    if (strcmp(key, "weight") == 0)
        return read_weight(spec, value, err);
    if (strcmp(key, "mode") == 0)
        return read_mode(spec, value, err);
    return WRONG("region '%s': unknown option '%s'; the options are warm, settle, max, weight, mode and repeat",
                 spec->text, key);
}

/* Whether the text after a comma is an option rather than the rest of a function's name. */
static bool looks_like_option(const char *text)
{
    size_t letters = 0;
    while (islower((unsigned char)text[letters]))
        letters++;
    return strcmp(text, "repeat") == 0 || (letters && text[letters] == '=' && !strpbrk(text, "()<>"));
}

/* Parses the options at the end of `text` and cuts them off. */
static bool read_options(struct spec *spec, char *text, struct as_error *err)
{
    for (char *comma; (comma = strrchr(text, ',')) && looks_like_option(comma + 1); *comma = '\0') {
        char *equals = strchr(comma, '=');
        if (equals)
            *equals = '\0';
        if (!equals)
            spec->region->repeat = true;
        else if (!read_option(spec, comma + 1, equals + 1, err))
            return false;
    }
    return true;
}

/* Cuts "#N" or "+N" off the end of a point; *number is 0 if there is none. A name that contains the character is left
 * alone. */
static bool take_number(char *text, char sign, uint64_t *number)
{
    char *at = strrchr(text, sign);
    *number = 0;
    if (!at || !as_number_read(at + 1, number))
        return false;
    *at = '\0';
    return true;
}

static bool read_seconds(const struct spec *spec, const char *text, uint64_t *nanoseconds, struct as_error *err)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || (*end && strcmp(end, "s") != 0) || !(seconds >= 0) || seconds > 1e9)
        return WRONG("region '%s': 'delay:%s': expected a number of seconds", spec->text, text);
    *nanoseconds = (uint64_t)(seconds * 1e9);
    return true;
}

static bool read_marker(const struct spec *spec, const char *text, int32_t *marker, struct as_error *err)
{
    uint64_t number;
    *marker = AS_MARKER_ANY;
    if (!*text)
        return true;
    if (*text != ':' || !as_number_read(text + 1, &number) || number > AS_MARKER_MOST)
        return WRONG("region '%s': 'marker%s': markers are numbered 0 to %d", spec->text, text, AS_MARKER_MOST);
    *marker = (int32_t)number;
    return true;
}

/* [MODULE:]0xADDRESS */
static bool read_address(const char *text, struct as_landmark *landmark)
{
    const char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : text;
    if (strncmp(digits, "0x", 2) != 0 || !as_number_read(digits, &landmark->address))
        return false;
    landmark->kind = AS_LANDMARK_ADDRESS;
    landmark->symbol = colon ? strndup(text, (size_t)(colon - text)) : NULL;
    return true;
}

static const char *behind(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* A marker, an address or a symbol. */
static bool read_landmark(const struct spec *spec, const char *text, struct as_point *point, struct as_error *err)
{
    struct as_landmark landmark = {.kind = AS_LANDMARK_SYMBOL};
    const char *marker = behind(text, "marker"), *symbol = behind(text, "symbol:");
    point->kind = AS_POINT_LANDMARK;
    if (marker && (!*marker || *marker == ':')) {
        landmark.kind = AS_LANDMARK_MARKER;
        if (!read_marker(spec, marker, &landmark.marker, err))
            return false;
    } else if (!read_address(text, &landmark)) {
        landmark.symbol = as_strdup(symbol ? symbol : text);
    }
    bool named = landmark.kind != AS_LANDMARK_SYMBOL || *landmark.symbol;
    if (named)
        point->landmark = as_regions_landmark(spec->regions, &landmark);
    free(landmark.symbol);
    return named || WRONG("region '%s': the name of a function is missing", spec->text);
}

static bool read_point(const struct spec *spec, char *text, struct as_point *point, struct as_error *err)
{
    const char *cycle = behind(text, "cycle:"), *delay = behind(text, "delay:");
    if (!*text)
        return true;
    if (isdigit((unsigned char)*text) && strncmp(text, "0x", 2) != 0) {
        point->kind = AS_POINT_INSTRUCTION;
        return as_number_read(text, &point->number) ||
               WRONG("region '%s': '%s': expected a number of instructions such as 1000, 10k or 5M", spec->text, text);
    }
    if (cycle) {
        point->kind = AS_POINT_CYCLE;
        return as_number_read(cycle, &point->number) ||
               WRONG("region '%s': '%s': expected a number of cycles", spec->text, text);
    }
    if (delay) {
        point->kind = AS_POINT_DELAY;
        return read_seconds(spec, delay, &point->number, err);
    }
    if (strcmp(text, "signal") == 0) {
        point->kind = AS_POINT_SIGNAL;
        return true;
    }
    if (take_number(text, '#', &point->number) && point->number == 0)
        return WRONG("region '%s': executions are numbered from #1", spec->text);
    return read_landmark(spec, text, point, err);
}

static bool read_start(struct spec *spec, char *text, struct as_error *err)
{
    take_number(text, '+', &spec->region->offset);
    return read_point(spec, text, &spec->region->start, err);
}

static bool read_stop(struct spec *spec, char *text, struct as_error *err)
{
    if (*text != '+')
        return read_point(spec, text, &spec->region->stop, err);
    if (spec->region->max != AS_REGION_ALL)
        return WRONG("region '%s': give either +N or max=N, not both", spec->text);
    return read_amount(spec, "+", text + 1, &spec->region->max, err);
}

bool as_regions_parse(struct as_regions *regions, const char *text, struct as_error *err)
{
    struct spec spec = {.text = text, .regions = regions, .region = as_regions_add(regions)};
    char *copy = as_strdup(text), *dots;
    spec.region->text = as_strdup(text);
    bool ok = read_options(&spec, copy, err);
    dots = strstr(copy, "..");
    if (ok && !dots)
        ok = WRONG("region '%s': expected START..STOP; 'main..' is all from main on, '..+5M' the first 5 million "
                   "instructions",
                   text);
    if (ok)
        *dots = '\0';
    ok = ok && read_start(&spec, copy, err) && read_stop(&spec, dots + 2, err);
    free(copy);
    return ok;
}
