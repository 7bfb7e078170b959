/* Misses by object as text and as JSON. See reuse_show.h. */
#include "base/ratio.h"
#include "base/show.h"
#include "cmd/reuse_show.h"

#include <stdlib.h>

static uint64_t all_misses(const struct as_reuse_objects *objects)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < objects->list.len; i++)
        sum += as_reuse_object_misses(&objects->list.data[i]);
    return sum;
}

static void print_object(const struct as_reuse_object *object, uint64_t whole, FILE *out)
{
    uint64_t misses = as_reuse_object_misses(object);
    char *bytes = as_reuse_object_bytes(object);
    fprintf(out, "  %14s %6.2f %%", AS_COUNT(misses), 100 * as_ratio(misses, whole));
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        fprintf(out, " %12s", AS_COUNT(object->misses[cause]));
    fprintf(out, " %6.1f  %s", as_reuse_object_used(object), AS_SHOW(object->what.name));
    if (as_reuse_object_used(object) <= 32 && *bytes && strcmp(bytes, "0-63") != 0)
        fprintf(out, ", bytes %s of lines", bytes);
    fputc('\n', out);
    free(bytes);
}

void as_reuse_print_objects(const struct as_reuse_shown *shown, FILE *out)
{
    const struct as_reuse_objects *objects = shown->objects;
    if (!objects || !objects->list.len || !shown->top)
        return;
    uint64_t whole = all_misses(objects);
    fprintf(out, "\nL1 misses by object:\n  %14s %8s %12s %12s %12s %12s %6s\n", "misses", "", "cold", "capacity",
            "conflict", "coherence", "bytes");
    for (size_t i = 0; i < objects->list.len && i < shown->top; i++)
        print_object(&objects->list.data[i], whole, out);
}

static void json_object(struct as_json *json, const struct as_reuse_shown *shown, const struct as_reuse_object *object)
{
    char *bytes = as_reuse_object_bytes(object);
    as_json_object(json, NULL);
    as_json_string(json, "kind", as_guest_kinds[object->what.kind]);
    as_json_string(json, "name", object->what.name);
    as_json_string(json, "module", *object->what.module ? object->what.module : NULL);
    as_json_u64(json, "process", object->what.process);
    if (object->what.end) {
        as_json_address(json, "address", object->what.start);
        as_json_u64(json, "size", object->what.end - object->what.start);
    }
    as_json_u64(json, "lines", object->lines);
    as_json_u64(json, "misses", as_reuse_object_misses(object));
    for (int cause = 0; cause < AS_MISS_CAUSES; cause++)
        as_json_u64(json, as_miss_cause_names[cause], object->misses[cause]);
    as_json_u64(json, "llc", object->llc);
    as_json_u64(json, "bytes_brought", as_reuse_object_misses(object) << shown->options->shape.shift);
    as_json_double(json, "line_bytes_used", as_reuse_object_used(object));
    as_json_string(json, "used_bytes", bytes);
    as_json_u64(json, "distance", as_reuse_object_distance(object));
    as_json_array(json, "histogram");
    for (uint32_t i = 0; i < AS_DISTANCE_OCTAVES; i++)
        if (object->octaves[i]) {
            as_json_object(json, NULL);
            as_json_u64(json, "lo", as_distance_octave_low(i));
            as_json_u64(json, "hi", as_distance_octave_low(i + 1) - 1);
            as_json_u64(json, "count", object->octaves[i]);
            as_json_end(json);
        }
    as_json_end(json);
    as_json_object(json, "hottest");
    as_json_string(json, "name", object->hottest_name);
    as_json_address(json, "address", object->hottest);
    as_json_u64(json, "misses", object->hottest_n);
    as_json_end(json);
    as_json_end(json);
    free(bytes);
}

void as_reuse_json_objects(struct as_json *json, const struct as_reuse_shown *shown)
{
    enum { MOST = 1000 };
    if (!shown->objects)
        return;
    as_json_array(json, "objects");
    for (size_t i = 0; i < shown->objects->list.len && i < MOST; i++)
        json_object(json, shown, &shown->objects->list.data[i]);
    as_json_end(json);
}
