/* speedscope's JSON: the functions once, then for each thread a sampled profile of stacks with their weights. */
#include "base/json.h"
#include "export/export_internal.h"
#include "export/export_text.h"
#include "export/export_tree.h"

#include <inttypes.h>

struct writer {
    struct as_json *json;
    const struct as_export_view *view;
    struct as_export_frames frames;
    struct as_export_tree tree;
    uint64_t *weights; /* by leaf */
};

static void write_frames(struct writer *writer)
{
    as_json_object(writer->json, "shared");
    as_json_array(writer->json, "frames");
    for (size_t i = 0; i < writer->frames.frames.len; i++) {
        const struct as_export_frame *frame = &writer->frames.frames.data[i];
        as_json_object(writer->json, NULL);
        as_json_string(writer->json, "name", frame->name);
        if (frame->file)
            as_json_string(writer->json, "file", frame->file);
        if (frame->file && frame->line)
            as_json_u64(writer->json, "line", frame->line);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
    as_json_end(writer->json);
}

/* The units that speedscope knows; cycles are not among them. */
static const char *unit_of(const struct as_store_series *series)
{
    static const char *const known[] = {"nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (series->unit && strcmp(series->unit, known[i]) == 0)
            return known[i];
    return "none";
}

static void write_samples(struct writer *writer, size_t first, size_t end)
{
    uint32_t stack[AS_EXPORT_DEPTH];
    as_json_array(writer->json, "samples");
    for (size_t i = first; i < end; i++) {
        if (!writer->weights[i])
            continue;
        size_t n = as_export_tree_stack(&writer->tree, writer->tree.leaves.data[i].node, stack, AS_EXPORT_DEPTH);
        as_json_array(writer->json, NULL);
        while (n-- > 0)
            as_json_u64(writer->json, NULL, stack[n]);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
}

static uint64_t write_weights(struct writer *writer, size_t first, size_t end)
{
    uint64_t total = 0;
    as_json_array(writer->json, "weights");
    for (size_t i = first; i < end; i++) {
        total += writer->weights[i];
        if (writer->weights[i])
            as_json_u64(writer->json, NULL, writer->weights[i]);
    }
    as_json_end(writer->json);
    return total;
}

/* Threads of one name are told apart by their numbers. */
static void name_thread(const struct writer *writer, uint32_t thread, char *text, size_t size)
{
    size_t n, used;
    const struct as_store_thread *known = &as_store_threads(writer->view->store, &n)[thread];
    as_export_thread_name(writer->view, thread, text, size);
    used = strlen(text);
    if (known->number && known->name && known->name[0])
        snprintf(text + used, size - used, ", thread %" PRIu32, known->number);
}

static void write_thread(struct writer *writer, size_t first, size_t end)
{
    char name[256];
    name_thread(writer, writer->tree.leaves.data[first].thread, name, sizeof name);
    as_json_object(writer->json, NULL);
    as_json_string(writer->json, "type", "sampled");
    as_json_string(writer->json, "name", name);
    as_json_string(writer->json, "unit", unit_of(writer->view->series));
    as_json_u64(writer->json, "startValue", 0);
    write_samples(writer, first, end);
    as_json_u64(writer->json, "endValue", write_weights(writer, first, end));
    as_json_end(writer->json);
}

static void weigh(struct writer *writer)
{
    struct as_export_rounder rounder = {.scale = writer->view->series->scale, .parts = 1};
    writer->weights = as_alloc_array(writer->tree.leaves.len, sizeof *writer->weights);
    for (size_t i = 0; i < writer->tree.leaves.len; i++)
        writer->weights[i] = as_export_round(&rounder, writer->tree.leaves.data[i].units);
}

static void write_document(struct writer *writer)
{
    const struct as_export_leaf *leaves = writer->tree.leaves.data;
    size_t n = writer->tree.leaves.len;
    const char *program = as_store_meta(writer->view->store, AS_META_PROGRAM);
    char *name = as_format("%s, %s of %s", program ? program : "a program", as_export_unit(writer->view->series),
                           writer->view->series->name);
    as_json_object(writer->json, NULL);
    as_json_string(writer->json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    as_json_string(writer->json, "exporter", "assay");
    as_json_string(writer->json, "name", name);
    if (n > 0)
        as_json_u64(writer->json, "activeProfileIndex", 0);
    write_frames(writer);
    as_json_array(writer->json, "profiles");
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && leaves[end].thread == leaves[i].thread;)
            end++;
        write_thread(writer, i, end);
    }
    as_json_end(writer->json);
    as_json_end(writer->json);
    free(name);
}

static bool write_speedscope(struct as_store *store, const struct as_export_options *options, FILE *out,
                             struct as_error *err)
{
    struct as_export_view view;
    if (!as_export_view_open(&view, store, options, err))
        return false;
    struct writer writer = {.json = as_json_new(out), .view = &view};
    as_json_compact(writer.json);
    as_export_frames_open(&writer.frames, &view);
    as_export_tree_build(&writer.tree, &writer.frames, false);
    weigh(&writer);
    write_document(&writer);
    (void)as_json_finish(writer.json); /* the caller checks the file */
    free(writer.weights);
    as_export_tree_free(&writer.tree);
    as_export_frames_free(&writer.frames);
    as_export_view_free(&view);
    return true;
}

const struct as_export_format as_export_speedscope = {
    .name = "speedscope", .description = "JSON of speedscope, one profile per thread", .write = write_speedscope};
