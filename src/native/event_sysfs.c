/* Events that the kernel describes in /sys/bus/event_source/devices: `type` is the PMU's number, events/NAME contains
 * terms ("event=0xcd,umask=0x1,ldlat=3"), and format/TERM gives the position of a term's bits ("config1:0-15", or
 * pieces of a field, "config:0-7,32-35"). */
#include "base/split.h"
#include "native/event.h"
#include "native/probe_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCES "/sys/bus/event_source/devices"

static bool simple_name(const char *name)
{
    return name[0] && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strlen(name) < 100;
}

static bool read_source(const char *root, const char *pmu, const char *file, char *text, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, SOURCES "/%s/%s", pmu, file);
    return simple_name(pmu) && as_probe_read(root, path, text, size);
}

bool as_native_event_pmu_has(const char *root, const char *pmu, const char *file)
{
    char text[256];
    return read_source(root, pmu, file, text, sizeof text);
}

bool as_native_event_pmu_type(const char *root, const char *pmu, uint32_t *type)
{
    char text[32], *end;
    if (!read_source(root, pmu, "type", text, sizeof text))
        return false;
    unsigned long value = strtoul(text, &end, 10);
    *type = (uint32_t)value;
    return end != text && value <= UINT32_MAX;
}

/* Whether a list of processors such as "0-3,8" contains this one. */
static bool in_list(const char *text, long cpu)
{
    for (const char *at = text; *at;) {
        char *end;
        long low = strtol(at, &end, 10), high = low;
        if (end == at)
            return false;
        if (*end == '-')
            high = strtol(end + 1, &end, 10);
        if (cpu >= low && cpu <= high)
            return true;
        at = *end == ',' ? end + 1 : end;
        if (*end && *end != ',')
            return false;
    }
    return false;
}

bool as_native_event_pmu_covers(const char *root, const char *pmu, int cpu)
{
    char text[1024];
    if (!read_source(root, pmu, "cpus", text, sizeof text) && !read_source(root, pmu, "cpumask", text, sizeof text))
        return true;
    return in_list(text, cpu);
}

/* Puts the value's bits, lowest first, at the positions of the format: one or more ranges of a config word. */
static bool place(const char *format, uint64_t value, struct perf_event_attr *attr)
{
    __u64 *const words[] = {&attr->config, &attr->config1, &attr->config2};
    const char *colon = strchr(format, ':');
    unsigned index = colon == format + 7 ? (unsigned)(format[6] - '0') : 0;
    if (strncmp(format, "config", 6) != 0 || !colon || colon > format + 7 || index > 2)
        return false;
    for (const char *at = colon + 1; *at;) {
        char *end;
        unsigned long low = strtoul(at, &end, 10), high = low;
        if (end == at)
            return false;
        if (*end == '-')
            high = strtoul(end + 1, &end, 10);
        if (low > 63 || high > 63 || high < low || (*end && *end != ','))
            return false;
        uint64_t width = high - low + 1, mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
        *words[index] = (*words[index] & ~(mask << low)) | (value & mask) << low;
        value = width == 64 ? 0 : value >> width;
        at = *end ? end + 1 : end;
    }
    return value == 0; /* 0: all bits had room */
}

/* Terms that every PMU has without listing them. */
static bool place_common(const char *term, uint64_t value, struct perf_event_attr *attr)
{
    const struct {
        const char *name;
        __u64 *word;
    } common[] = {{"config", &attr->config},
                  {"config1", &attr->config1},
                  {"config2", &attr->config2},
                  {"period", &attr->sample_period}};
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        if (strcmp(term, common[i].name) == 0) {
            *common[i].word = value;
            return true;
        }
    return false;
}

static bool apply_terms(const char *root, const char *pmu, const char *text, int depth, struct as_native_event *event,
                        struct as_error *err);

static bool apply_term(const char *root, const char *pmu, char *term, int depth, struct as_native_event *event,
                       struct as_error *err)
{
    char file[160], text[512];
    uint64_t value = 1;
    char *equals = strchr(term, '='), *end = NULL;
    if (equals) {
        *equals = '\0';
        errno = 0;
        value = strtoull(equals + 1, &end, 0);
        if (end == equals + 1 || *end || errno || equals[1] == '-')
            return as_error_set(err, "%s/%s=%s/: not a number", pmu, term, equals + 1);
    }
    if (!simple_name(term))
        return as_error_set(err, "%s/…/: \"%s\" is not a term", pmu, term);
    snprintf(file, sizeof file, "format/%s", term);
    if (read_source(root, pmu, file, text, sizeof text)) {
        if (!place(text, value, &event->attr))
            return as_error_set(err, "%s/%s/: %#llx does not fit its format \"%s\"", pmu, term,
                                (unsigned long long)value, text);
        return true;
    }
    if (equals && place_common(term, value, &event->attr))
        return true;
    snprintf(file, sizeof file, "events/%s", term);
    if (!equals && depth == 0 && read_source(root, pmu, file, text, sizeof text))
        return apply_terms(root, pmu, text, depth + 1, event, err);
    return as_error_set(err, "%s/%s/: the PMU has no such event or term", pmu, term);
}

static bool apply_terms(const char *root, const char *pmu, const char *text, int depth, struct as_native_event *event,
                        struct as_error *err)
{
    char **terms = as_split(text, ",", NULL);
    bool ok = true;
    for (char **term = terms; ok && *term; term++)
        ok = apply_term(root, pmu, *term, depth, event, err);
    as_split_free(terms);
    return ok;
}

static uint8_t unit_of(const char *pmu)
{
    return strcmp(pmu, "ibs_op") == 0         ? AS_NATIVE_UNIT_IBS_OP
           : strcmp(pmu, "ibs_fetch") == 0    ? AS_NATIVE_UNIT_IBS_FETCH
           : strncmp(pmu, "arm_spe_", 8) == 0 ? AS_NATIVE_UNIT_SPE
                                              : AS_NATIVE_UNIT_COUNTER;
}

bool as_native_event_from_sysfs(const char *root, const char *pmu, const char *terms, struct as_native_event *event,
                                struct as_error *err)
{
    uint32_t type;
    if (!as_native_event_pmu_type(root, pmu, &type))
        return as_error_set(err, "%s/%s/: this machine has no PMU of that name", pmu, terms);
    event->attr.type = type;
    event->unit = unit_of(pmu);
    snprintf(event->pmu, sizeof event->pmu, "%s", pmu);
    return apply_terms(root, pmu, terms, 0, event, err);
}
