/* Processes, each with its ranges. See perf_spaces_inside.h. */
#include "perfdata/perf_spaces_inside.h"

#include "symbol/debugserver.h"
#include "symbol/demangle.h"

#include <stdio.h>
#include <unistd.h>

struct as_perf_spaces *as_perf_spaces_new(const struct as_perf_spaces_options *given)
{
    const struct as_perf_spaces_options none = {0}, *options = given ? given : &none;
    struct as_perf_spaces *spaces = as_alloc(sizeof *spaces);
    spaces->strings = as_strings_new();
    spaces->roots = as_debug_roots(options->debug_path);
    spaces->vdso = -1;
    spaces->options =
        (struct as_module_options){.roots = spaces->roots, .no_debug = options->no_debug, .strings = spaces->strings};
    spaces->search = options->search;
    spaces->kallsyms_path = options->kallsyms;
    spaces->trust_paths = options->trust_paths;
    spaces->live = options->live;
    spaces->recorded = options->recorded;
    spaces->vmlinux_path = options->vmlinux;
    spaces->made = options->made;
    return spaces;
}

void as_perf_spaces_free(struct as_perf_spaces *spaces)
{
    if (spaces == NULL)
        return;
    for (size_t i = 0; i < spaces->spaces.len; i++) {
        as_perf_ranges_free(&spaces->spaces.data[i].maps);
        as_perf_generated_free(&spaces->spaces.data[i].generated);
    }
    for (size_t i = 0; i < spaces->file_list.len; i++)
        free(spaces->file_list.data[i]);
    for (size_t i = 0; i < spaces->module_list.len; i++) {
        as_module_free(spaces->module_list.data[i]);
        free(spaces->module_list.data[i]);
    }
    as_perf_ranges_free(&spaces->kernel);
    as_perf_ranges_free(&spaces->symbols);
    as_perf_kallsyms_free(&spaces->kallsyms);
    as_vec_free(&spaces->spaces);
    as_vec_free(&spaces->file_list);
    as_vec_free(&spaces->build_id_list);
    as_vec_free(&spaces->module_list);
    as_map_free(&spaces->processes);
    as_map_free(&spaces->comms);
    as_map_free(&spaces->files);
    as_map_free(&spaces->build_ids);
    as_map_free(&spaces->modules);
    as_strings_free(spaces->strings);
    if (spaces->vdso >= 0)
        close(spaces->vdso);
    free(spaces->roots);
    free(spaces);
}

/* ---- changes of processes ---- */

static struct as_perf_space *process_of(struct as_perf_spaces *spaces, uint32_t pid)
{
    const uint64_t *known = as_map_get(&spaces->processes, pid);
    if (known != NULL)
        return &spaces->spaces.data[*known];
    *as_map_put(&spaces->processes, pid) = spaces->spaces.len;
    struct as_perf_space *process = as_vec_push(&spaces->spaces);
    *process = (struct as_perf_space){0};
    return process;
}

static void add_map(struct as_perf_spaces *spaces, const struct as_perf_process *map)
{
    uint64_t end = map->length > UINT64_MAX - map->start ? UINT64_MAX : map->start + map->length;
    struct as_perf_range range = {
        .start = map->start, .end = end, .offset = map->offset, .value = as_perf_file_for(spaces, map)};
    bool kernel = as_perf_is_kernel(map->mode) || map->pid == UINT32_MAX;
    if (!kernel)
        as_perf_generated_map(&process_of(spaces, map->pid)->generated, map->pid, map->name);
    as_perf_ranges_put(kernel ? &spaces->kernel : &process_of(spaces, map->pid)->maps, &range);
}

static void add_fork(struct as_perf_spaces *spaces, const struct as_perf_process *fork)
{
    uint64_t parent_key = (uint64_t)fork->parent_pid << 32 | fork->parent_tid, *name;
    uint64_t inherited = (name = as_map_get(&spaces->comms, parent_key)) != NULL ? *name : UINT64_MAX;
    if (inherited != UINT64_MAX)
        *as_map_put(&spaces->comms, (uint64_t)fork->pid << 32 | fork->tid) = inherited;
    if (fork->pid == fork->parent_pid || fork->exec)
        return;
    struct as_perf_ranges copy = as_perf_ranges_copy(&process_of(spaces, fork->parent_pid)->maps);
    struct as_perf_space *child = process_of(spaces, fork->pid);
    as_perf_ranges_free(&child->maps);
    child->maps = copy;
}

bool as_perf_spaces_process(void *context, const struct as_perf_process *process, struct as_error *err)
{
    (void)err;
    struct as_perf_spaces *spaces = context;
    if (process->kind == AS_PERF_MAP)
        add_map(spaces, process);
    else if (process->kind == AS_PERF_FORK)
        add_fork(spaces, process);
    else if (process->kind == AS_PERF_COMM) {
        *as_map_put(&spaces->comms, (uint64_t)process->pid << 32 | process->tid) =
            as_strings_intern(spaces->strings, process->name);
        if (process->exec) {
            as_perf_ranges_free(&process_of(spaces, process->pid)->maps);
            as_perf_generated_free(&process_of(spaces, process->pid)->generated);
        }
    }
    return true;
}

bool as_perf_spaces_ksymbol(void *context, const struct as_perf_ksymbol *symbol, struct as_error *err)
{
    (void)err;
    struct as_perf_spaces *spaces = context;
    uint64_t end = symbol->length > UINT64_MAX - symbol->address ? UINT64_MAX : symbol->address + symbol->length;
    struct as_perf_range range = {
        .start = symbol->address, .end = end, .value = (void *)as_perf_spaces_keep(spaces, symbol->name)};
    if (symbol->gone)
        as_perf_ranges_remove(&spaces->symbols, range.start, range.end);
    else
        as_perf_ranges_put(&spaces->symbols, &range);
    return true;
}

bool as_perf_spaces_rejected_vmlinux(const struct as_perf_spaces *spaces)
{
    return spaces->vmlinux_tried && !spaces->vmlinux;
}

const char *as_perf_spaces_comm(const struct as_perf_spaces *spaces, uint32_t pid, uint32_t tid)
{
    const uint64_t *name = as_map_get(&spaces->comms, (uint64_t)pid << 32 | tid);
    return name != NULL ? as_strings_get(spaces->strings, (uint32_t)*name) : NULL;
}

/* ---- look-up ---- */

void as_perf_spaces_find_symbol(struct as_perf_spaces *spaces, struct as_module *module,
                                struct as_perf_location *location)
{
    struct as_symbol *symbol = as_symtab_find(&module->symbols, location->module_offset);
    if (symbol == NULL)
        return;
    location->function_start = symbol->address;
    location->function_size = symbol->size;
    if (symbol->raw == NULL)
        return;
    location->raw_function = symbol->raw;
    location->function = as_module_symbol_name(symbol, spaces->strings);
}

/* The mapping of an address of a process, with its file opened; NULL if nothing is mapped. */
static const struct as_perf_range *find_map(struct as_perf_spaces *spaces, uint32_t pid, uint64_t address)
{
    const uint64_t *known = as_map_get(&spaces->processes, pid);
    if (known == NULL)
        return NULL;
    const struct as_perf_range *map = as_perf_ranges_find(&spaces->spaces.data[*known].maps, address);
    if (map != NULL)
        as_perf_file_ask(spaces, map->value);
    return map;
}

static uint64_t bias_of(const struct as_perf_range *map)
{
    const struct as_perf_file *file = map->value;
    return as_module_bias(file->module, map->start, map->end, map->offset, NULL);
}

/* Whether the recording is of this machine, so that files in its /tmp are those of the recorded processes. */
static bool is_here(const struct as_perf_spaces *spaces)
{
    char host[256] = "";
    const char *recorded = spaces->recorded ? spaces->recorded->host : NULL;
    return spaces->live || (recorded && gethostname(host, sizeof host - 1) == 0 && strcmp(host, recorded) == 0);
}

/* Finds the piece of code that a process made at an address, and the name that such code has as a module. */
static const char *find_piece(struct as_perf_spaces *spaces, uint32_t pid, uint64_t address, struct as_jit_piece *piece)
{
    struct as_perf_generated *generated = &process_of(spaces, pid)->generated;
    struct as_perf_generated_search where = {.search = &spaces->search, .here = is_here(spaces), .live = spaces->live};
    if (spaces->made.find)
        return spaces->made.find(spaces->made.context, pid, address, spaces->time, piece) ? "[anon]" : NULL;
    const struct as_jit_piece *found = as_perf_generated_find(generated, &where, pid, address, spaces->time);
    if (!found)
        return NULL;
    *piece = *found;
    return as_perf_spaces_keep(spaces, generated->module);
}

static void find_generated(struct as_perf_spaces *spaces, uint32_t pid, uint64_t address,
                           struct as_perf_location *location)
{
    struct as_jit_piece found = {0}, *piece = &found;
    const char *module = find_piece(spaces, pid, address, piece);
    if (!module)
        return;
    location->module = location->module_name = module;
    location->function = location->raw_function =
        as_perf_spaces_keep(spaces, piece->name); /* the file may be read again */
    location->function_start = piece->start;
    location->function_size = piece->size;
    location->module_offset = location->file_offset = address;
    location->generated = true;
    location->guessed = !spaces->made.find && as_jit_is_guess(process_of(spaces, pid)->generated.jit);
}

void as_perf_spaces_set_time(struct as_perf_spaces *spaces, uint64_t time)
{
    spaces->time = time;
}

void as_perf_spaces_find(struct as_perf_spaces *spaces, uint32_t pid, enum as_perf_mode mode, uint64_t address,
                         struct as_perf_location *location)
{
    *location = (struct as_perf_location){
        .module = "[unknown]", .module_name = "[unknown]", .module_offset = address, .file_offset = address};
    if (as_perf_is_kernel(mode)) {
        as_perf_spaces_find_kernel(spaces, address, location);
        return;
    }
    const struct as_perf_range *map = find_map(spaces, pid, address);
    if (map == NULL)
        return;
    struct as_perf_file *file = map->value;
    location->module = file->path;
    location->module_name = file->name;
    location->build_id = file->build_id_text;
    location->match = file->match;
    if (!as_perf_is_file_path(file->path))
        find_generated(spaces, pid, address, location);
    if (location->function || strcmp(file->path, "[anon]") == 0)
        return;
    location->file_offset = address - map->start + map->offset;
    location->module_offset = location->file_offset;
    if (file->module == NULL)
        return;
    location->module_offset = address - bias_of(map);
    location->disk_path = file->module->path;
    location->file = file;
    as_perf_spaces_find_symbol(spaces, file->module, location);
}

const char *as_perf_spaces_name(struct as_perf_spaces *spaces, uint32_t pid, enum as_perf_mode mode, uint64_t address)
{
    struct as_perf_location location;
    as_perf_spaces_find(spaces, pid, mode, address, &location);
    if (location.function != NULL)
        return location.function;
    char text[AS_NAME_MAX];
    if (as_perf_is_kernel(mode))
        return location.module_name;
    snprintf(text, sizeof text, "%.3000s+0x%llx", location.module_name, (unsigned long long)location.module_offset);
    return as_perf_spaces_keep(spaces, text);
}

/* ---- lines ---- */

static struct as_debug *debug_of(struct as_perf_spaces *spaces, const struct as_perf_location *at)
{
    return at->file ? as_module_debug(((struct as_perf_file *)at->file)->module, &spaces->options) : NULL;
}

bool as_perf_spaces_line(struct as_perf_spaces *spaces, const struct as_perf_location *at, struct as_line *line)
{
    struct as_debug *debug = debug_of(spaces, at);
    return debug != NULL && as_debug_line(debug, at->module_offset, line);
}

size_t as_perf_spaces_inline(struct as_perf_spaces *spaces, const struct as_perf_location *at,
                             struct as_inline_frame *frames, size_t max)
{
    struct as_debug *debug = debug_of(spaces, at);
    size_t count = debug != NULL ? as_debug_inline(debug, at->module_offset, frames, max) : 0;
    if (at->function == NULL || max == 0)
        return count;
    /* The symbol table names the real function more precisely than DWARF: "f.constprop.0", "f.cold". */
    if (count > 0 && (frames[count - 1].call.file != NULL || frames[count - 1].call.line != 0))
        return count; /* truncated: its last frame is not the function */
    frames[count > 0 ? count - 1 : 0] = (struct as_inline_frame){.function = at->function};
    return count > 0 ? count : 1;
}

void as_perf_spaces_done_with(struct as_perf_spaces *spaces, const struct as_perf_location *at)
{
    (void)spaces;
    if (at->file)
        as_module_forget_debug(((struct as_perf_file *)at->file)->module);
}

/* ---- data ---- */

/* The file mapping that an address belongs to: its own or, if it is in none or in memory without a file (.bss), the
 * preceding one. Recordings of modelled PMUs know of pages of .bss that were sampled, each as a mapping. */
static const struct as_perf_range *image_of(const struct as_perf_ranges *maps, uint64_t address)
{
    enum { STEPS = 64 };
    const struct as_perf_range *map = as_perf_ranges_before(maps, address);
    for (int i = 0; i < STEPS && map != NULL && !as_perf_is_file_path(((struct as_perf_file *)map->value)->path); i++)
        map = map->start > 0 ? as_perf_ranges_before(maps, map->start - 1) : NULL;
    return map;
}

/* Segments may share a page of the file; the first mapping of the file is unambiguous. */
static uint64_t data_bias(const struct as_perf_ranges *maps, const struct as_perf_range *map)
{
    enum { STEPS = 16 };
    const struct as_perf_range *first = map, *before = map;
    for (int i = 0; i < STEPS && before != NULL && before->start > 0; i++) {
        before = as_perf_ranges_before(maps, before->start - 1);
        if (before != NULL && before->value == map->value)
            first = before;
    }
    uint64_t hint = bias_of(first);
    const struct as_perf_file *file = map->value;
    return as_module_bias(file->module, map->start, map->end, map->offset, &hint);
}

static bool in_segments(const struct as_module *module, uint64_t address)
{
    for (size_t i = 0; i < module->segments.len; i++)
        if (as_inside(address - module->segments.data[i].address, 1, module->segments.data[i].memory_size))
            return true;
    return false;
}

static void tell_file(const struct as_perf_file *file, struct as_perf_location *location)
{
    location->module = file->path;
    location->module_name = file->name;
    location->build_id = file->build_id_text;
    location->match = file->match;
    location->disk_path = file->module ? file->module->path : NULL;
}

/* Returns false if the address is not in the file's segments, or the file is not here. */
static bool find_variable(struct as_perf_spaces *spaces, const struct as_perf_ranges *maps, uint64_t address,
                          struct as_perf_data *data)
{
    const struct as_perf_range *image = image_of(maps, address);
    if (image == NULL)
        return false;
    struct as_perf_file *file = image->value;
    as_perf_file_ask(spaces, file);
    uint64_t offset = file->module != NULL ? address - data_bias(maps, image) : 0;
    if (file->module == NULL || !in_segments(file->module, offset))
        return false;
    struct as_symbol *symbol = as_module_variable(file->module, &spaces->options, offset);
    tell_file(file, &data->file);
    data->file.module_offset = offset;
    if (symbol != NULL) {
        data->variable = as_module_symbol_name(symbol, spaces->strings);
        data->start = symbol->address;
        data->size = symbol->size;
    }
    return true;
}

void as_perf_spaces_data(struct as_perf_spaces *spaces, uint32_t pid, uint64_t address, struct as_perf_data *data)
{
    *data = (struct as_perf_data){
        .file = {.module = "[unknown]", .module_name = "[unknown]", .module_offset = address, .file_offset = address}};
    const uint64_t *known = as_map_get(&spaces->processes, pid);
    if (address >> 63 != 0)
        data->file.module = data->file.module_name = "[kernel]";
    if (address >> 63 != 0 || known == NULL)
        return;
    const struct as_perf_ranges *maps = &spaces->spaces.data[*known].maps;
    const struct as_perf_range *map = as_perf_ranges_find(maps, address);
    if (map != NULL) {
        data->region_start = map->start;
        data->region_end = map->end;
    }
    if (find_variable(spaces, maps, address, data) || map == NULL)
        return;
    as_perf_file_ask(spaces, map->value);
    tell_file(map->value, &data->file);
    if (as_perf_is_file_path(data->file.module))
        data->file.module_offset = data->file.file_offset = address - map->start + map->offset;
}
