/* See export_frames.h. */
#include "export/export_frames.h"

#include "base/path.h"

#include <inttypes.h>
#include <stdio.h>

void as_export_frames_open(struct as_export_frames *frames, const struct as_export_view *view)
{
    *frames = (struct as_export_frames){.view = view, .names = as_strings_new()};
}

void as_export_frames_free(struct as_export_frames *frames)
{
    as_strings_free(frames->names);
    as_vec_free(&frames->frames);
    as_vec_free(&frames->lines);
    as_vec_free(&frames->locations);
    as_map_free(&frames->by_instruction);
    as_map_free(&frames->by_entry);
    as_map_free(&frames->by_function);
    as_map_free(&frames->by_inline);
}

/* ---- names ---- */

const char *as_export_module_name(const struct as_export_view *view, uint32_t module)
{
    size_t n;
    const struct as_store_module *modules = as_store_modules(view->store, &n);
    const char *path = module == AS_STORE_NONE ? NULL : modules[module].path;
    if (!path || !path[0])
        return "[unknown]";
    return as_path_shown(path);
}

void as_export_thread_name(const struct as_export_view *view, uint32_t thread, char *text, size_t size)
{
    size_t n;
    const struct as_store_thread *threads = as_store_threads(view->store, &n);
    if (threads[thread].name && threads[thread].name[0])
        snprintf(text, size, "%s", threads[thread].name);
    else
        snprintf(text, size, "thread %" PRIu32, threads[thread].number);
}

static const char *file_path(const struct as_export_view *view, uint32_t file)
{
    size_t n;
    return file == AS_STORE_NONE ? NULL : as_store_files(view->store, &n)[file];
}

static uint32_t add_frame(struct as_export_frames *frames, struct as_export_frame frame, const char *name)
{
    frame.name_number = as_strings_intern(frames->names, name);
    frame.name = as_strings_get(frames->names, frame.name_number);
    *as_vec_push(&frames->frames) = frame;
    return (uint32_t)frames->frames.len - 1;
}

/* Code without a symbol becomes one frame, its module's name in brackets. A function without a name is named by its
 * address. */
static uint32_t add_function_frame(struct as_export_frames *frames, uint32_t function, uint32_t module)
{
    const struct as_export_view *view = frames->view;
    size_t n;
    struct as_export_frame frame = {.module = module};
    if (function == AS_STORE_NONE) {
        const char *name = as_export_module_name(view, module);
        char *bracketed = as_format(name[0] == '[' ? "%s" : "[%s]", name);
        uint32_t number = add_frame(frames, frame, bracketed);
        free(bracketed);
        return number;
    }
    const struct as_store_function *about = &as_store_functions(view->store, &n)[function];
    frame.module = about->module;
    frame.linkage_name = about->linkage_name;
    frame.file = file_path(view, about->file);
    frame.line = about->line;
    const char *name = about->name && about->name[0] ? about->name : about->linkage_name;
    if (name && name[0])
        return add_frame(frames, frame, name);
    uint64_t base = about->module == AS_STORE_NONE ? 0 : as_store_modules(view->store, &n)[about->module].base;
    char *made = as_format("%s+0x%" PRIx64, as_export_module_name(view, about->module), about->address - base);
    uint32_t number = add_frame(frames, frame, made);
    free(made);
    return number;
}

uint32_t as_export_function_frame(struct as_export_frames *frames, uint32_t function, uint32_t module)
{
    uint64_t key = function == AS_STORE_NONE ? UINT64_C(1) << 32 | module : function;
    uint64_t *known = as_map_get(&frames->by_function, key);
    if (known)
        return (uint32_t)*known;
    uint32_t frame = add_function_frame(frames, function, module);
    *as_map_put(&frames->by_function, key) = frame;
    return frame;
}

/* An inlined function is identified by its name and module. The profile does not store where it is defined, but the
 * lines of its instructions are in its file. */
static uint32_t frame_of_inline(struct as_export_frames *frames, const char *name, uint32_t file, uint32_t module)
{
    uint32_t name_number = as_strings_intern(frames->names, name);
    uint32_t words[] = {name_number, file, module};
    uint64_t key = as_hash_bytes(words, sizeof words);
    uint64_t *known = as_map_get(&frames->by_inline, key);
    if (known && frames->frames.data[*known].name_number == name_number)
        return (uint32_t)*known;
    struct as_export_frame frame = {.module = module, .file = file_path(frames->view, file)};
    uint32_t number = add_frame(frames, frame, name);
    *as_map_put(&frames->by_inline, key) = number;
    return number;
}

/* ---- locations ---- */

static void add_line(struct as_export_frames *frames, struct as_export_location *location, uint32_t frame,
                     uint32_t line)
{
    *as_vec_push(&frames->lines) = (struct as_export_line){.frame = frame, .line = line};
    location->n++;
}

/* The innermost function has the instruction's line, the function around it the line where it was inlined, and so
 * on. */
static void add_lines(struct as_export_frames *frames, struct as_export_location *location,
                      const struct as_store_location *at)
{
    size_t n;
    const struct as_store_inline *inlines = as_store_inlines(frames->view->store, &n);
    uint32_t line = at ? at->line : 0, file = at ? at->file : AS_STORE_NONE;
    location->first = (uint32_t)frames->lines.len;
    for (uint32_t i = at ? at->inlined : AS_STORE_NONE; i != AS_STORE_NONE; i = inlines[i].parent) {
        if (location->n < AS_EXPORT_INLINES - 1) {
            const char *name = inlines[i].function && inlines[i].function[0] ? inlines[i].function : "[inlined]";
            add_line(frames, location, frame_of_inline(frames, name, file, location->module), line);
        }
        line = inlines[i].line;
        file = inlines[i].file;
    }
    add_line(frames, location, as_export_function_frame(frames, location->function, location->module), line);
}

uint32_t as_export_location_at(struct as_export_frames *frames, uint32_t instruction)
{
    size_t n;
    uint64_t *known = as_map_get(&frames->by_instruction, instruction);
    if (known)
        return (uint32_t)*known;
    const struct as_store_location *at = &as_store_locations(frames->view->store, &n)[instruction];
    struct as_export_location location = {
        .address = at->address, .module = at->module, .function = at->function, .instruction = instruction};
    add_lines(frames, &location, at);
    *as_map_put(&frames->by_instruction, instruction) = frames->locations.len;
    *as_vec_push(&frames->locations) = location;
    return (uint32_t)frames->locations.len - 1;
}

static uint32_t place_in_function(struct as_export_frames *frames, uint32_t function, uint64_t address)
{
    uint64_t words[] = {function, address};
    uint64_t key = as_hash_bytes(words, sizeof words);
    uint64_t *known = as_map_get(&frames->by_entry, key);
    if (known && frames->locations.data[*known].function == function &&
        frames->locations.data[*known].address == address)
        return (uint32_t)*known;
    size_t n;
    struct as_export_location location = {.address = address,
                                          .module = function == AS_STORE_NONE
                                                        ? AS_STORE_NONE
                                                        : as_store_functions(frames->view->store, &n)[function].module,
                                          .function = function,
                                          .instruction = AS_STORE_NONE};
    add_lines(frames, &location, NULL);
    *as_map_put(&frames->by_entry, key) = frames->locations.len;
    *as_vec_push(&frames->locations) = location;
    return (uint32_t)frames->locations.len - 1;
}

/* A call site outside the parent function does not show where in the parent the stack is. */
uint32_t as_export_location_of_call(struct as_export_frames *frames, uint32_t path)
{
    size_t n;
    const struct as_store_path *paths = as_store_paths(frames->view->store, &n);
    const struct as_store_path *child = &paths[path], *parent = &paths[child->parent];
    const struct as_store_location *locations = as_store_locations(frames->view->store, &n);
    if (child->call_site != AS_STORE_NONE && locations[child->call_site].function == parent->function)
        return as_export_location_at(frames, child->call_site);
    return place_in_function(frames, parent->function, child->call_address ? child->call_address : parent->address);
}

size_t as_export_stack(struct as_export_frames *frames, const struct as_export_cell *cell, uint32_t *locations)
{
    size_t n, depth = 0;
    const struct as_store_path *paths = as_store_paths(frames->view->store, &n);
    locations[depth++] = as_export_location_at(frames, cell->instruction);
    for (uint32_t at = cell->path; at != AS_STORE_NONE && paths[at].parent != AS_STORE_NONE; at = paths[at].parent) {
        if (depth == AS_EXPORT_DEPTH)
            break;
        locations[depth++] = as_export_location_of_call(frames, at);
    }
    return depth;
}
