/* pprof: the protocol buffer `perftools.profiles.Profile`, compressed with gzip. Samples come first and refer to
 * strings, mappings, locations and functions by number; those follow once all of them are known.
 *
 * Field numbers: proto/profile.proto of github.com/google/pprof.
 */
#include "base/path.h"
#include "export/export_frames.h"
#include "export/export_internal.h"
#include "export/export_mapping.h"
#include "export/export_proto.h"
#include "export/export_text.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_STRING,
    PROFILE_TIME = 9,
    PROFILE_DURATION,
    PROFILE_PERIOD_TYPE,
    PROFILE_PERIOD,
    PROFILE_COMMENT,
    PROFILE_DEFAULT_TYPE,
};
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum mapping_field {
    MAPPING_ID = 1,
    MAPPING_START,
    MAPPING_LIMIT,
    MAPPING_OFFSET,
    MAPPING_FILE,
    MAPPING_BUILD_ID,
    MAPPING_HAS_FUNCTIONS,
    MAPPING_HAS_FILES,
    MAPPING_HAS_LINES,
    MAPPING_HAS_INLINES,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };
enum { PAGE = 4096 };

struct writer {
    const struct as_export_view *view;
    struct as_export_frames frames;
    struct as_proto_file file;
    struct as_strings *strings; /* cleaned; "" has number 0 */
    struct as_str message, inner, clean;
    bool samples;                                   /* there is a column of samples */
    uint64_t key_thread, key_number, key_component; /* numbers of strings */
    struct as_map thread_names, component_names;    /* numbers of strings by thread, by events */
    struct as_export_rounder rounder;
};

static uint64_t string(struct writer *writer, const char *text)
{
    as_str_clear(&writer->clean);
    as_export_clean(&writer->clean, text ? text : "", NULL, 0, 0);
    return as_strings_intern(writer->strings, as_str_get(&writer->clean));
}

/* Adds the finished message to the profile as a field. */
static void put(struct writer *writer, uint32_t field)
{
    struct as_str whole = {0};
    as_proto_message(&whole, field, &writer->message);
    as_proto_file_write(&writer->file, &whole);
    as_str_free(&whole);
}

static void put_u64(struct writer *writer, uint32_t field, uint64_t value)
{
    as_proto_u64(&writer->message, field, value);
    as_proto_file_write(&writer->file, &writer->message);
}

/* ---- samples ---- */

static void put_value_type(struct writer *writer, uint32_t field, const char *type, const char *unit)
{
    as_proto_u64(&writer->message, VALUE_TYPE, string(writer, type));
    as_proto_u64(&writer->message, VALUE_UNIT, string(writer, unit));
    put(writer, field);
}

static void add_label(struct writer *writer, uint64_t key, uint64_t text, uint64_t number)
{
    as_proto_u64(&writer->inner, LABEL_KEY, key);
    as_proto_u64(&writer->inner, LABEL_TEXT, text);
    as_proto_u64(&writer->inner, LABEL_NUMBER, number);
    as_proto_message(&writer->message, SAMPLE_LABEL, &writer->inner);
}

static uint64_t thread_name(struct writer *writer, uint32_t thread)
{
    char text[256];
    uint64_t *known = as_map_put(&writer->thread_names, thread);
    if (*known == 0) {
        as_export_thread_name(writer->view, thread, text, sizeof text);
        *known = string(writer, text);
    }
    return *known;
}

static uint64_t component_name(struct writer *writer, uint64_t events)
{
    char text[1024];
    uint64_t *known = as_map_put(&writer->component_names, events);
    if (*known == 0)
        *known = string(writer, as_store_events_name(writer->view->store, events, text, sizeof text));
    return *known;
}

static void add_labels(struct writer *writer, const struct as_export_cell *cell)
{
    size_t n;
    add_label(writer, writer->key_thread, thread_name(writer, cell->thread), 0);
    add_label(writer, writer->key_number, 0, as_store_threads(writer->view->store, &n)[cell->thread].number);
    if (writer->view->has_components)
        add_label(writer, writer->key_component, component_name(writer, cell->events), 0);
}

static void put_sample(struct writer *writer, const struct as_export_cell *cell)
{
    uint32_t locations[AS_EXPORT_DEPTH];
    uint64_t value = as_export_round(&writer->rounder, cell->units);
    if (!value && !cell->samples)
        return;
    size_t n = as_export_stack(&writer->frames, cell, locations);
    for (size_t i = 0; i < n; i++)
        as_proto_varint(&writer->inner, (uint64_t)locations[i] + 1);
    as_proto_message(&writer->message, SAMPLE_LOCATIONS, &writer->inner);
    if (writer->samples)
        as_proto_varint(&writer->inner, cell->samples);
    as_proto_varint(&writer->inner, value);
    as_proto_message(&writer->message, SAMPLE_VALUES, &writer->inner);
    add_labels(writer, cell);
    put(writer, PROFILE_SAMPLE);
}

static void put_samples(struct writer *writer)
{
    const struct as_export_view *view = writer->view;
    const char *unit = as_export_unit(view->series);
    if (writer->samples)
        put_value_type(writer, PROFILE_SAMPLE_TYPE, "samples", "count");
    put_value_type(writer, PROFILE_SAMPLE_TYPE, unit, unit);
    writer->key_thread = string(writer, "thread");
    writer->key_number = string(writer, "thread_number");
    writer->key_component = string(writer, "component");
    for (size_t i = 0; i < view->cells.len && !ferror(writer->file.out); i++)
        put_sample(writer, &view->cells.data[i]);
}

/* ---- code ---- */

struct range {
    uint64_t low, high; /* high 0: not touched */
};

static void put_mapping(struct writer *writer, size_t module, const struct range *range)
{
    size_t n;
    const struct as_store_module *about = &as_store_modules(writer->view->store, &n)[module];
    as_proto_u64(&writer->message, MAPPING_ID, module + 1);
    as_proto_u64(&writer->message, MAPPING_START, range->low);
    as_proto_u64(&writer->message, MAPPING_LIMIT, range->high);
    as_proto_u64(&writer->message, MAPPING_OFFSET, as_export_file_offset(about, range->low));
    as_proto_u64(&writer->message, MAPPING_FILE, string(writer, about->path));
    as_proto_u64(&writer->message, MAPPING_BUILD_ID, string(writer, about->build_id));
    for (uint32_t field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINES; field++)
        as_proto_u64(&writer->message, field, 1);
    put(writer, PROFILE_MAPPING);
}

/* The module that was run: pprof expects it in the first mapping. */
static size_t main_module(const struct writer *writer)
{
    size_t n;
    const struct as_store_module *modules = as_store_modules(writer->view->store, &n);
    const char *program = as_store_meta(writer->view->store, AS_META_PROGRAM);
    for (size_t i = 0; program && i < n; i++)
        if (modules[i].path && strcmp(modules[i].path, program) == 0)
            return i;
    for (size_t i = 0; program && i < n; i++)
        if (strcmp(as_export_module_name(writer->view, (uint32_t)i), as_path_base(program)) == 0)
            return i;
    return 0;
}

/* The profile does not store what was mapped where, so a mapping here reaches from the first to the last page that the
 * stacks touch. */
static void put_mappings(struct writer *writer)
{
    size_t n, first = main_module(writer);
    as_store_modules(writer->view->store, &n);
    struct range *ranges = as_alloc_array(n, sizeof *ranges);
    for (size_t i = 0; i < writer->frames.locations.len; i++) {
        const struct as_export_location *location = &writer->frames.locations.data[i];
        if (location->module == AS_STORE_NONE)
            continue;
        struct range *range = &ranges[location->module];
        uint64_t start = location->address & ~(uint64_t)(PAGE - 1);
        uint64_t limit = start > UINT64_MAX - PAGE ? UINT64_MAX : start + PAGE;
        range->low = range->high && range->low < start ? range->low : start;
        range->high = range->high > limit ? range->high : limit;
    }
    if (n > 0 && ranges[first].high)
        put_mapping(writer, first, &ranges[first]);
    for (size_t i = 0; i < n; i++)
        if (i != first && ranges[i].high)
            put_mapping(writer, i, &ranges[i]);
    free(ranges);
}

static void put_locations(struct writer *writer)
{
    for (size_t i = 0; i < writer->frames.locations.len; i++) {
        const struct as_export_location *location = &writer->frames.locations.data[i];
        as_proto_u64(&writer->message, LOCATION_ID, i + 1);
        if (location->module != AS_STORE_NONE)
            as_proto_u64(&writer->message, LOCATION_MAPPING, (uint64_t)location->module + 1);
        as_proto_u64(&writer->message, LOCATION_ADDRESS, location->address);
        for (uint32_t k = 0; k < location->n; k++) {
            const struct as_export_line *line = &writer->frames.lines.data[location->first + k];
            as_proto_u64(&writer->inner, LINE_FUNCTION, (uint64_t)line->frame + 1);
            as_proto_u64(&writer->inner, LINE_NUMBER, line->line);
            as_proto_message(&writer->message, LOCATION_LINE, &writer->inner);
        }
        put(writer, PROFILE_LOCATION);
    }
}

static void put_functions(struct writer *writer)
{
    for (size_t i = 0; i < writer->frames.frames.len; i++) {
        const struct as_export_frame *frame = &writer->frames.frames.data[i];
        as_proto_u64(&writer->message, FUNCTION_ID, i + 1);
        as_proto_u64(&writer->message, FUNCTION_NAME, string(writer, frame->name));
        as_proto_u64(&writer->message, FUNCTION_SYSTEM_NAME,
                     string(writer, frame->linkage_name ? frame->linkage_name : frame->name));
        as_proto_u64(&writer->message, FUNCTION_FILE, string(writer, frame->file));
        as_proto_u64(&writer->message, FUNCTION_LINE, frame->line);
        put(writer, PROFILE_FUNCTION);
    }
}

/* ---- the run ---- */

static void put_times(struct writer *writer)
{
    const char *date = as_store_meta(writer->view->store, AS_META_DATE);
    double seconds = as_store_meta_double(writer->view->store, AS_META_SECONDS);
    struct tm when = {0};
    if (date && strptime(date, "%Y-%m-%dT%H:%M:%S", &when)) {
        time_t start = timegm(&when);
        put_u64(writer, PROFILE_TIME, start > 0 ? (uint64_t)start * 1000000000 : 0);
    }
    if (isfinite(seconds) && seconds > 0 && seconds < 1e9)
        put_u64(writer, PROFILE_DURATION, (uint64_t)(seconds * 1e9));
}

static void put_about(struct writer *writer)
{
    const struct as_store_series *series = writer->view->series;
    const char *unit = as_export_unit(series), *program = as_store_meta(writer->view->store, AS_META_PROGRAM);
    char *comment = as_format("assay: series %s of %s", series->name, program ? program : "a program");
    put_times(writer);
    put_value_type(writer, PROFILE_PERIOD_TYPE, unit, unit);
    put_u64(writer, PROFILE_PERIOD, series->period);
    put_u64(writer, PROFILE_COMMENT, string(writer, comment));
    put_u64(writer, PROFILE_DEFAULT_TYPE, string(writer, unit));
    free(comment);
}

static void put_strings(struct writer *writer)
{
    for (uint32_t i = 0; i < as_strings_count(writer->strings); i++) {
        const char *text = as_strings_get(writer->strings, i);
        as_proto_bytes(&writer->message, PROFILE_STRING, text, strlen(text));
        as_proto_file_write(&writer->file, &writer->message);
    }
}

static void put_profile(struct writer *writer)
{
    string(writer, "");
    put_samples(writer);
    put_mappings(writer);
    put_locations(writer);
    put_functions(writer);
    put_about(writer);
    put_strings(writer);
}

static bool write_pprof(struct as_store *store, const struct as_export_options *options, FILE *out,
                        struct as_error *err)
{
    struct as_export_view view;
    if (!as_export_view_open(&view, store, options, err))
        return false;
    struct writer writer = {.view = &view,
                            .strings = as_strings_new(),
                            .samples = view.samples > 0,
                            .rounder = {.scale = view.series->scale, .parts = 1}};
    as_export_frames_open(&writer.frames, &view);
    bool ok = as_proto_file_open(&writer.file, out, !options->uncompressed, err);
    if (ok) {
        put_profile(&writer);
        as_proto_file_close(&writer.file);
    }
    as_str_free(&writer.message);
    as_str_free(&writer.inner);
    as_str_free(&writer.clean);
    as_strings_free(writer.strings);
    as_map_free(&writer.thread_names);
    as_map_free(&writer.component_names);
    as_export_frames_free(&writer.frames);
    as_export_view_free(&view);
    return ok;
}

const struct as_export_format as_export_pprof = {.name = "pprof",
                                                 .description = "protocol buffer of pprof, compressed with gzip",
                                                 .binary = true,
                                                 .write = write_pprof};
