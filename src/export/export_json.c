/* JSON: the whole profile, table by table, as doc/format/profile.md describes it; numbers of things are indices into
 * the arrays here. Times are in units, exact, with the scale of their series beside them. */
#include "base/json.h"
#include "base/vec.h"
#include "export/export_internal.h"

#include <inttypes.h>

struct writer {
    struct as_json *json;
    struct as_store *store;
    const struct as_export_options *options;
};

static void put_number(struct as_json *json, const char *name, uint32_t number)
{
    if (number != AS_STORE_NONE)
        as_json_u64(json, name, number);
    else
        as_json_null(json, name);
}

static void put_text(struct as_json *json, const char *name, const char *text)
{
    if (text)
        as_json_string(json, name, text);
}

/* ---- what was run ---- */

static void put_pairs(struct as_json *json, const char *name, const struct as_store_pair *pairs, size_t n)
{
    as_json_object(json, name);
    for (size_t i = 0; i < n; i++)
        as_json_string(json, pairs[i].key, pairs[i].value);
    as_json_end(json);
}

static void put_texts(struct as_json *json, const char *name, const char *const *texts, size_t n)
{
    as_json_array(json, name);
    for (size_t i = 0; i < n; i++)
        as_json_string(json, NULL, texts[i]);
    as_json_end(json);
}

static void put_threads(struct writer *writer)
{
    size_t n;
    const struct as_store_thread *threads = as_store_threads(writer->store, &n);
    as_json_array(writer->json, "threads");
    for (size_t i = 0; i < n; i++) {
        as_json_object(writer->json, NULL);
        as_json_u64(writer->json, "number", threads[i].number);
        as_json_i64(writer->json, "process", threads[i].process);
        put_text(writer->json, "name", threads[i].name);
        as_json_u64(writer->json, "cycles", threads[i].cycles);
        as_json_u64(writer->json, "instructions", threads[i].instructions);
        as_json_u64(writer->json, "samples", threads[i].samples);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
}

static void put_runs(struct writer *writer)
{
    size_t n;
    const struct as_store_run *runs = as_store_runs(writer->store, &n);
    as_json_array(writer->json, "runs");
    for (size_t i = 0; i < n; i++) {
        as_json_object(writer->json, NULL);
        as_json_u64(writer->json, "number", runs[i].number);
        as_json_u64(writer->json, "cycles", runs[i].cycles);
        as_json_u64(writer->json, "instructions", runs[i].instructions);
        as_json_u64(writer->json, "samples", runs[i].samples);
        as_json_double(writer->json, "seconds", runs[i].seconds);
        as_json_i64(writer->json, "status", runs[i].status);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
}

static void put_quality(struct writer *writer)
{
    size_t n;
    const struct as_store_quality *quality = as_store_quality(writer->store, &n);
    as_json_array(writer->json, "quality");
    for (size_t i = 0; i < n; i++) {
        as_json_object(writer->json, NULL);
        as_json_string(writer->json, "key", quality[i].key);
        as_json_double(writer->json, "value", quality[i].value);
        put_text(writer->json, "text", quality[i].text);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
}

static void put_run(struct writer *writer)
{
    size_t n;
    const struct as_store_pair *pairs = as_store_meta_all(writer->store, &n);
    put_pairs(writer->json, "meta", pairs, n);
    const char *const *texts = as_store_arguments(writer->store, &n);
    put_texts(writer->json, "arguments", texts, n);
    texts = as_store_environment(writer->store, &n);
    put_texts(writer->json, "environment", texts, n);
    pairs = as_store_machine(writer->store, &n);
    put_pairs(writer->json, "machine", pairs, n);
    const struct as_store_counter *counters = as_store_counters(writer->store, &n);
    as_json_object(writer->json, "counters");
    for (size_t i = 0; i < n; i++)
        as_json_u64(writer->json, counters[i].name, counters[i].value);
    as_json_end(writer->json);
    put_quality(writer);
    put_runs(writer);
    put_threads(writer);
}

/* ---- the code ---- */

static void put_modules(struct writer *writer)
{
    size_t n;
    const struct as_store_module *modules = as_store_modules(writer->store, &n);
    as_json_array(writer->json, "modules");
    for (size_t i = 0; i < n; i++) {
        as_json_object(writer->json, NULL);
        as_json_string(writer->json, "path", modules[i].path);
        put_text(writer->json, "build_id", modules[i].build_id);
        as_json_address(writer->json, "base", modules[i].base);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
    const char *const *files = as_store_files(writer->store, &n);
    put_texts(writer->json, "files", files, n);
}

static void put_functions(struct writer *writer)
{
    size_t n;
    const struct as_store_function *functions = as_store_functions(writer->store, &n);
    as_json_array(writer->json, "functions");
    for (size_t i = 0; i < n; i++) {
        as_json_object(writer->json, NULL);
        as_json_string(writer->json, "name", functions[i].name);
        put_text(writer->json, "linkage_name", functions[i].linkage_name);
        put_number(writer->json, "module", functions[i].module);
        as_json_address(writer->json, "address", functions[i].address);
        as_json_u64(writer->json, "size", functions[i].size);
        put_number(writer->json, "file", functions[i].file);
        as_json_u64(writer->json, "line", functions[i].line);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
}

static void put_blocks(struct writer *writer)
{
    size_t n;
    const struct as_store_block *blocks = as_store_blocks(writer->store, &n);
    as_json_array(writer->json, "blocks");
    for (size_t i = 0; i < n; i++) {
        as_json_object(writer->json, NULL);
        put_number(writer->json, "function", blocks[i].function);
        as_json_address(writer->json, "address", blocks[i].address);
        as_json_u64(writer->json, "size", blocks[i].size);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
    const struct as_store_inline *inlines = as_store_inlines(writer->store, &n);
    as_json_array(writer->json, "inlines");
    for (size_t i = 0; i < n; i++) {
        as_json_object(writer->json, NULL);
        put_number(writer->json, "parent", inlines[i].parent);
        as_json_string(writer->json, "function", inlines[i].function);
        put_number(writer->json, "file", inlines[i].file);
        as_json_u64(writer->json, "line", inlines[i].line);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
}

static bool put_instruction(void *context, uint32_t number, const struct as_store_insn *insn)
{
    struct as_json *json = ((struct writer *)context)->json;
    char bytes[3 * 64] = "";
    for (size_t i = 0; i < insn->n_bytes && i < 64; i++)
        snprintf(bytes + 2 * i, 3, "%02x", insn->bytes[i]);
    as_json_object(json, NULL);
    as_json_address(json, "address", insn->place.address);
    put_number(json, "module", insn->place.module);
    put_number(json, "function", insn->place.function);
    put_number(json, "block", insn->place.block);
    put_number(json, "file", insn->place.file);
    as_json_u64(json, "line", insn->place.line);
    put_number(json, "inlined", insn->place.inlined);
    if (insn->target)
        as_json_address(json, "target", insn->target);
    put_text(json, "class", insn->class_);
    put_text(json, "text", insn->text);
    if (insn->n_bytes)
        as_json_string(json, "bytes", bytes);
    as_json_end(json);
    return true;
}

static void put_paths(struct writer *writer)
{
    size_t n;
    const struct as_store_path *paths = as_store_paths(writer->store, &n);
    as_json_array(writer->json, "paths");
    for (size_t i = 0; i < n; i++) {
        as_json_object(writer->json, NULL);
        put_number(writer->json, "parent", paths[i].parent);
        put_number(writer->json, "function", paths[i].function);
        put_number(writer->json, "call_site", paths[i].call_site);
        as_json_address(writer->json, "address", paths[i].address);
        if (paths[i].call_address)
            as_json_address(writer->json, "call_address", paths[i].call_address);
        if (paths[i].signal)
            as_json_bool(writer->json, "signal", true);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
}

static void put_objects(struct writer *writer)
{
    size_t n;
    const struct as_store_object *objects = as_store_objects(writer->store, &n);
    as_json_array(writer->json, "objects");
    for (size_t i = 0; i < n; i++) {
        as_json_object(writer->json, NULL);
        put_number(writer->json, "module", objects[i].module);
        put_text(writer->json, "name", objects[i].name);
        as_json_address(writer->json, "address", objects[i].address);
        as_json_u64(writer->json, "size", objects[i].size);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
}

static bool put_code(struct writer *writer, struct as_error *err)
{
    put_modules(writer);
    put_functions(writer);
    put_blocks(writer);
    as_json_array(writer->json, "instructions");
    bool ok = as_store_instructions(writer->store, AS_STORE_NONE, put_instruction, writer, err);
    as_json_end(writer->json);
    put_paths(writer);
    put_objects(writer);
    return ok;
}

/* ---- what was measured ---- */

static void put_events(struct writer *writer)
{
    size_t n;
    const struct as_store_event *events = as_store_events(writer->store, &n);
    as_json_array(writer->json, "events");
    for (size_t i = 0; i < n; i++) {
        as_json_object(writer->json, NULL);
        as_json_u64(writer->json, "bit", events[i].bit);
        as_json_string(writer->json, "name", events[i].name);
        put_text(writer->json, "description", events[i].description);
        put_number(writer->json, "parent", events[i].parent);
        put_text(writer->json, "state", events[i].state);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
    const struct as_store_state *states = as_store_states(writer->store, &n);
    as_json_array(writer->json, "states");
    for (size_t i = 0; i < n; i++) {
        as_json_object(writer->json, NULL);
        as_json_string(writer->json, "name", states[i].name);
        put_text(writer->json, "description", states[i].description);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
}

static void put_series_about(struct writer *writer, const struct as_store_series *series)
{
    struct as_json *json = writer->json;
    as_json_string(json, "name", series->name);
    put_text(json, "description", series->description);
    as_json_bool(json, "exact", series->exact);
    put_text(json, "unit", series->unit);
    as_json_u64(json, "scale", series->scale);
    put_text(json, "event", series->event);
    as_json_i64(json, "precise", series->precise);
    as_json_u64(json, "period", series->period);
    as_json_double(json, "rate", series->rate);
    as_json_u64(json, "samples", series->samples);
    as_json_u64(json, "lost", series->lost);
    as_json_u64(json, "throttled", series->throttled);
    as_json_u64(json, "dropped", series->dropped);
    as_json_address(json, "events", series->events);
}

static void put_series_tables(struct writer *writer, uint32_t number)
{
    size_t n;
    const struct as_store_estimate *estimates = as_store_estimates(writer->store, &n);
    as_json_array(writer->json, "estimates");
    for (size_t i = 0; i < n; i++) {
        if (estimates[i].series != number)
            continue;
        as_json_object(writer->json, NULL);
        as_json_string(writer->json, "measure", estimates[i].measure);
        as_json_string(writer->json, "granularity", estimates[i].granularity);
        as_json_double(writer->json, "value", estimates[i].value);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
    const struct as_store_stack *stacks = as_store_stacks(writer->store, &n);
    as_json_array(writer->json, "stacks");
    for (size_t i = 0; i < n; i++) {
        if (stacks[i].series != number)
            continue;
        as_json_object(writer->json, NULL);
        as_json_string(writer->json, "stack", stacks[i].stack);
        as_json_string(writer->json, "name", stacks[i].name);
        as_json_u64(writer->json, "units", stacks[i].units);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
}

static void put_times(struct as_json *json, const struct as_store_raw *raw)
{
    as_json_array(json, "times");
    for (size_t i = 0; i < raw->n_times; i++) {
        const struct as_store_time *time = &raw->times[i];
        as_json_object(json, NULL);
        as_json_u64(json, "instruction", time->instruction);
        as_json_u64(json, "thread", time->thread);
        as_json_u64(json, "units", time->units);
        as_json_u64(json, "samples", time->samples);
        as_json_u64(json, "executions", time->executions);
        as_json_end(json);
    }
    as_json_end(json);
}

static void put_components(struct writer *writer, const struct as_store_raw *raw)
{
    struct as_json *json = writer->json;
    char name[1024];
    as_json_array(json, "components");
    for (size_t i = 0; i < raw->n_components; i++) {
        const struct as_store_component *part = &raw->components[i];
        as_json_object(json, NULL);
        as_json_u64(json, "instruction", part->instruction);
        as_json_u64(json, "thread", part->thread);
        as_json_string(json, "events", as_store_events_name(writer->store, part->events, name, sizeof name));
        as_json_u64(json, "units", part->units);
        as_json_u64(json, "samples", part->samples);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_array(json, "state_times");
    for (size_t i = 0; i < raw->n_states; i++) {
        as_json_object(json, NULL);
        as_json_u64(json, "instruction", raw->states[i].instruction);
        as_json_u64(json, "thread", raw->states[i].thread);
        as_json_u64(json, "state", raw->states[i].state);
        as_json_u64(json, "units", raw->states[i].units);
        as_json_end(json);
    }
    as_json_end(json);
}

static void put_path_times(struct as_json *json, const struct as_store_raw *raw)
{
    as_json_array(json, "path_times");
    for (size_t i = 0; i < raw->n_paths; i++) {
        const struct as_store_path_time *time = &raw->paths[i];
        as_json_object(json, NULL);
        as_json_u64(json, "path", time->path);
        put_number(json, "instruction", time->instruction);
        as_json_u64(json, "thread", time->thread);
        as_json_u64(json, "units", time->units);
        as_json_u64(json, "samples", time->samples);
        as_json_end(json);
    }
    as_json_end(json);
}

/* The components of one thread's paths. */
static bool put_thread_paths(struct writer *writer, uint32_t number, uint32_t thread, const bool *only,
                             struct as_error *err)
{
    struct as_json *json = writer->json;
    char name[1024];
    size_t n;
    struct as_store_path_component *parts = as_store_path_components(writer->store, number, only, &n, err);
    for (size_t i = 0; parts && i < n; i++) {
        as_json_object(json, NULL);
        as_json_u64(json, "path", parts[i].path);
        as_json_u64(json, "thread", thread);
        as_json_string(json, "events", as_store_events_name(writer->store, parts[i].events, name, sizeof name));
        as_json_u64(json, "units", parts[i].units);
        as_json_u64(json, "samples", parts[i].samples);
        as_json_end(json);
    }
    free(parts);
    return parts != NULL;
}

static bool put_path_components(struct writer *writer, uint32_t number, struct as_error *err)
{
    size_t n;
    as_store_threads(writer->store, &n);
    bool *only = as_alloc_array(n + 1, sizeof *only), ok = true;
    as_json_array(writer->json, "path_components");
    for (uint32_t i = 0; i < n && ok; i++) {
        only[i] = true;
        if (!writer->options->threads || writer->options->threads[i])
            ok = put_thread_paths(writer, number, i, only, err);
        only[i] = false;
    }
    as_json_end(writer->json);
    free(only);
    return ok;
}

static void put_access(struct as_json *json, const struct as_store_access *access)
{
    static const char *const kinds[] = {"unknown", "load", "store", "load and store"};
    static const char *const hows[AS_STORE_HOW_COUNT] = {"hardware", "exact", "next", "watched"};
    as_json_object(json, NULL);
    as_json_u64(json, "instruction", access->instruction);
    as_json_u64(json, "thread", access->thread);
    as_json_address(json, "address", access->address);
    as_json_u64(json, "size", access->size);
    as_json_string(json, "kind", kinds[access->kind & (AS_STORE_LOAD | AS_STORE_STORE)]);
    as_json_string(json, "how", access->how < AS_STORE_HOW_COUNT ? hows[access->how] : NULL);
    put_number(json, "object", access->object);
    as_json_u64(json, "units", access->units);
    as_json_u64(json, "samples", access->samples);
    as_json_end(json);
}

static bool put_accesses(struct writer *writer, uint32_t number, struct as_error *err)
{
    size_t n;
    struct as_store_access *accesses = as_store_accesses(writer->store, number, writer->options->threads, &n, err);
    if (!accesses)
        return false;
    as_json_array(writer->json, "accesses");
    for (size_t i = 0; i < n; i++)
        put_access(writer->json, &accesses[i]);
    as_json_end(writer->json);
    free(accesses);
    return true;
}

/* Branches are not kept by thread: with a filter by thread they are left out. */
static bool put_branches(struct writer *writer, uint32_t number, struct as_error *err)
{
    size_t n;
    struct as_store_branch *branches = as_store_branches(writer->store, number, &n, err);
    if (!branches)
        return false;
    as_json_array(writer->json, "branches");
    for (size_t i = 0; i < n && !writer->options->threads; i++) {
        as_json_object(writer->json, NULL);
        as_json_u64(writer->json, "source", branches[i].source);
        as_json_u64(writer->json, "target", branches[i].target);
        as_json_u64(writer->json, "taken", branches[i].taken);
        as_json_u64(writer->json, "mispredicted", branches[i].mispredicted);
        as_json_u64(writer->json, "cycles", branches[i].cycles);
        as_json_end(writer->json);
    }
    as_json_end(writer->json);
    free(branches);
    return true;
}

static bool put_one_series(struct writer *writer, uint32_t number, const struct as_store_series *series,
                           struct as_error *err)
{
    struct as_store_raw raw;
    if (!as_store_raw(writer->store, number, writer->options->threads, &raw, err))
        return false;
    as_json_object(writer->json, NULL);
    put_series_about(writer, series);
    put_series_tables(writer, number);
    put_times(writer->json, &raw);
    put_components(writer, &raw);
    put_path_times(writer->json, &raw);
    as_store_raw_free(&raw);
    bool ok = put_path_components(writer, number, err) && put_accesses(writer, number, err) &&
              put_branches(writer, number, err);
    as_json_end(writer->json);
    return ok;
}

static bool put_series(struct writer *writer, uint32_t only, struct as_error *err)
{
    size_t n;
    const struct as_store_series *series = as_store_series(writer->store, &n);
    bool ok = true;
    put_events(writer);
    as_json_array(writer->json, "series");
    for (uint32_t i = 0; i < n && ok; i++)
        if (only == AS_STORE_NONE || only == i)
            ok = put_one_series(writer, i, &series[i], err);
    as_json_end(writer->json);
    return ok;
}

static bool write_json(struct as_store *store, const struct as_export_options *options, FILE *out, struct as_error *err)
{
    uint32_t only = options->series ? as_store_find_series(store, options->series) : AS_STORE_NONE;
    if (options->series && only == AS_STORE_NONE)
        return as_export_no_series(store, options->series, err);
    if (!as_store_load(store, AS_STORE_CALLS | AS_STORE_DATA, err))
        return false;
    struct writer writer = {.json = as_json_new(out), .store = store, .options = options};
    as_json_object(writer.json, NULL);
    as_json_string(writer.json, "format", "assay profile");
    as_json_i64(writer.json, "version", AS_STORE_VERSION);
    put_run(&writer);
    bool ok = put_code(&writer, err) && put_series(&writer, only, err);
    as_json_end(writer.json);
    (void)as_json_finish(writer.json); /* the caller looks at the file */
    return ok;
}

const struct as_export_format as_export_json = {
    .name = "json", .description = "the whole profile", .write = write_json};
