/* Processes, each with its ranges; files (a path with a build-id), each with the symbol library's module that reads it.
 * Files that are the same on disk share a module, because a recording can name one file in any number of ways. */
#include "perfdata/perf_spaces.h"

#include "base/bytes.h"
#include "base/map.h"
#include "base/vec.h"
#include "perfdata/perf_generated.h"
#include "perfdata/perf_kallsyms.h"
#include "perfdata/perf_ranges.h"
#include "symbol/demangle.h"
#include "symbol/module.h"

#include <stdio.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#define KERNEL_NAME "[kernel.kallsyms]" /* as perf calls it */

struct file {
    const char *path, *name;
    uint32_t path_id;
    struct as_perf_build_id build_id;
    const char *build_id_text; /* NULL: unknown */
    uint32_t major, minor;
    uint64_t inode; /* 0: unknown */
    bool asked;
    enum as_perf_match match;
    struct as_module *module; /* NULL: none that can be used */
};

struct process {
    struct as_perf_ranges maps;
    struct as_perf_generated generated;
};

struct as_perf_spaces {
    struct as_map processes; /* pid → index */
    AS_VEC(struct process) spaces;
    struct as_map comms;           /* pid << 32 | tid → id of the name */
    struct as_perf_ranges kernel;  /* of files */
    struct as_perf_ranges symbols; /* of names */
    struct as_perf_kallsyms kallsyms;
    bool kallsyms_tried, kallsyms_fit; /* fit: the recorded kernel is the running one */
    struct as_map files;               /* id of the key → index */
    AS_VEC(struct file *) file_list;
    struct as_map build_ids; /* id of the path → index + 1 */
    AS_VEC(struct as_perf_build_id) build_id_list;
    struct as_map modules; /* hash of device and inode → index */
    AS_VEC(struct as_module *) module_list;
    struct as_strings *strings;
    char *roots;
    struct as_module_options options;
    struct as_perf_search search;
    const char *kallsyms_path;
    const char *vmlinux_path;
    bool vmlinux_tried;
    struct file *vmlinux; /* NULL: none, or of another kernel */
    bool trust_paths, live;
    uint64_t time;                       /* of what is looked up; 0: unknown */
    const struct as_perf_info *recorded; /* or NULL */
};

struct as_perf_spaces *as_perf_spaces_new(const struct as_perf_spaces_options *given)
{
    static const char default_roots[] = "/usr/lib/debug";
    const struct as_perf_spaces_options none = {0}, *options = given ? given : &none;
    struct as_perf_spaces *spaces = as_alloc(sizeof *spaces);
    spaces->strings = as_strings_new();
    spaces->roots =
        options->debug_path ? as_format("%s:%s", options->debug_path, default_roots) : as_strdup(default_roots);
    spaces->options =
        (struct as_module_options){.roots = spaces->roots, .no_debug = options->no_debug, .strings = spaces->strings};
    spaces->search = options->search;
    spaces->kallsyms_path = options->kallsyms;
    spaces->trust_paths = options->trust_paths;
    spaces->live = options->live;
    spaces->recorded = options->recorded;
    spaces->vmlinux_path = options->vmlinux;
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
    free(spaces->roots);
    free(spaces);
}

static const char *keep(struct as_perf_spaces *spaces, const char *text)
{
    return as_strings_get(spaces->strings, as_strings_intern(spaces->strings, text));
}

/* ---- files ---- */

static bool is_kernel(enum as_perf_mode mode)
{
    return mode == AS_PERF_KERNEL || mode == AS_PERF_GUEST_KERNEL || mode == AS_PERF_HYPERVISOR;
}

/* If perf finds the kernel's ELF file, its list of build-ids has that path instead of KERNEL_NAME. */
static bool is_vmlinux(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, "vmlinux", 7) == 0;
}

bool as_perf_spaces_build_id(void *context, const char *path, enum as_perf_mode mode, const struct as_perf_build_id *id,
                             struct as_error *err)
{
    (void)err;
    struct as_perf_spaces *spaces = context;
    const char *name = is_kernel(mode) && is_vmlinux(path) ? KERNEL_NAME : path;
    uint64_t *known = as_map_put(&spaces->build_ids, as_strings_intern(spaces->strings, name));
    *as_vec_push(&spaces->build_id_list) = *id;
    *known = spaces->build_id_list.len;
    return true;
}

/* Whether a name is that of a file, not of memory: "[heap]", "//anon", "anon_inode:…", "/memfd:…", "/dev/zero
 * (deleted)". */
static bool is_file_path(const char *path)
{
    return path[0] == '/' && path[1] != '/' && strncmp(path, "/memfd:", 7) != 0 && strncmp(path, "/dev/", 5) != 0 &&
           strncmp(path, "/SYSV", 5) != 0 && strncmp(path, "/anon_hugepage", 14) != 0;
}

static const char *shown_path(const char *path)
{
    if (path[0] == '\0' || strcmp(path, "//anon") == 0)
        return "[anon]";
    if (strncmp(path, "[kernel.kallsyms]", 17) == 0 || strncmp(path, "[guest.kernel.kallsyms", 22) == 0)
        return "[kernel]";
    return path;
}

static struct file *file_for(struct as_perf_spaces *spaces, const struct as_perf_process *map)
{
    char text[2 * AS_PERF_BUILD_ID_MAX + 1];
    const char *path = shown_path(map->name);
    as_bytes_hex(map->build_id.bytes, map->build_id.size, text);
    char *key = as_format("%s\n%s\n%u %u %llu", path, text, map->major, map->minor, (unsigned long long)map->inode);
    uint32_t id = as_strings_intern(spaces->strings, key);
    free(key);
    const uint64_t *known = as_map_get(&spaces->files, id);
    if (known != NULL)
        return spaces->file_list.data[*known];
    struct file *file = as_alloc(sizeof *file);
    file->path_id = as_strings_intern(spaces->strings, path);
    file->path = as_strings_get(spaces->strings, file->path_id);
    const char *slash = strrchr(file->path, '/');
    file->name = is_file_path(file->path) && slash[1] != '\0' ? slash + 1 : file->path;
    file->build_id = map->build_id;
    file->major = map->major;
    file->minor = map->minor;
    file->inode = map->inode;
    *as_map_put(&spaces->files, id) = spaces->file_list.len;
    *as_vec_push(&spaces->file_list) = file;
    return file;
}

/* The module of the file on this disk, shared by all of its names. */
static struct as_module *module_for(struct as_perf_spaces *spaces, const char *path, const char *name,
                                    const struct as_file_identity *identity)
{
    uint64_t key[2] = {identity->device, identity->inode};
    uint64_t hash = as_hash_bytes(key, sizeof key);
    const uint64_t *known = as_map_get(&spaces->modules, hash);
    if (known != NULL)
        return spaces->module_list.data[*known];
    struct as_module *module = as_alloc(sizeof *module);
    *module = (struct as_module){.path = keep(spaces, path), .name = name, .has_file = true, .identity = *identity};
    *as_map_put(&spaces->modules, hash) = spaces->module_list.len;
    *as_vec_push(&spaces->module_list) = module;
    as_module_load(module, &spaces->options);
    return module;
}

static bool has_recorded_id(const struct file *file, const struct as_build_id *own)
{
    /* perf pads build-ids of other lengths than 20 with zeros if it does not write their length. */
    if (own->len == 0 || own->len > file->build_id.size || memcmp(own->bytes, file->build_id.bytes, own->len) != 0)
        return false;
    for (size_t i = own->len; i < file->build_id.size; i++)
        if (file->build_id.bytes[i] != 0)
            return false;
    return true;
}

/* Whether the file at `path` is the recorded one. */
static enum as_perf_match match_file(const struct as_perf_spaces *spaces, const struct file *file, const char *path,
                                     const struct as_file_identity *identity)
{
    if (file->build_id.size == 0 && spaces->search.symfs)
        return AS_PERF_TRUSTED; /* inodes of another root are meaningless, and the user has named the root */
    if (file->build_id.size == 0) {
        bool same = file->inode != 0 && file->inode == identity->inode &&
                    (gnu_dev_makedev(file->major, file->minor) == identity->device || file->major == 0);
        return same ? AS_PERF_MATCHED : spaces->trust_paths ? AS_PERF_TRUSTED : AS_PERF_OTHER;
    }
    struct as_error err = AS_ERROR_INIT;
    struct as_elf *elf = as_elf_open(path, &err);
    if (elf == NULL)
        return AS_PERF_MISSING;
    struct as_build_id own;
    as_elf_build_id(elf, &own);
    as_elf_close(elf);
    return has_recorded_id(file, &own) ? AS_PERF_MATCHED : AS_PERF_OTHER;
}

static void try_file(struct as_perf_spaces *spaces, struct file *file, const char *path, bool first)
{
    struct as_file_identity identity = as_file_identity_of(path);
    enum as_perf_match match = identity.known ? match_file(spaces, file, path, &identity) : AS_PERF_MISSING;
    if (match == AS_PERF_MATCHED || match == AS_PERF_TRUSTED) {
        struct as_module *module = module_for(spaces, path, file->name, &identity);
        file->module = module->readable ? module : NULL;
        match = module->readable ? match : AS_PERF_MISSING;
    }
    if (first || file->module)
        file->match = match;
}

/* Opens the file when its first address is looked up. */
static void ask_file(struct as_perf_spaces *spaces, struct file *file)
{
    if (file->asked)
        return;
    file->asked = true;
    const uint64_t *known = as_map_get(&spaces->build_ids, file->path_id);
    if (file->build_id.size == 0 && known != NULL)
        file->build_id = spaces->build_id_list.data[*known - 1];
    if (file->build_id.size > 0) {
        char text[2 * AS_PERF_BUILD_ID_MAX + 1];
        as_bytes_hex(file->build_id.bytes, file->build_id.size, text);
        file->build_id_text = keep(spaces, text);
    }
    if (!is_file_path(file->path) && strcmp(file->path, "[vdso]") != 0)
        return;
    char path[PATH_MAX];
    for (int place = 0; place < AS_PERF_CANDIDATES && !file->module; place++)
        if (as_perf_search_path(&spaces->search, place, file->path, file->build_id_text, path))
            try_file(spaces, file, path, place == AS_PERF_CANDIDATE_PATH);
    /* Found by its inode, so the build-id in it is the recorded one. */
    if (file->module && !file->build_id_text && file->module->build_id[0])
        file->build_id_text = file->module->build_id;
}

/* ---- changes of processes ---- */

static struct process *process_of(struct as_perf_spaces *spaces, uint32_t pid)
{
    const uint64_t *known = as_map_get(&spaces->processes, pid);
    if (known != NULL)
        return &spaces->spaces.data[*known];
    *as_map_put(&spaces->processes, pid) = spaces->spaces.len;
    struct process *process = as_vec_push(&spaces->spaces);
    *process = (struct process){0};
    return process;
}

static void add_map(struct as_perf_spaces *spaces, const struct as_perf_process *map)
{
    uint64_t end = map->length > UINT64_MAX - map->start ? UINT64_MAX : map->start + map->length;
    struct as_perf_range range = {
        .start = map->start, .end = end, .offset = map->offset, .value = file_for(spaces, map)};
    bool kernel = is_kernel(map->mode) || map->pid == UINT32_MAX;
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
    struct process *child = process_of(spaces, fork->pid);
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
    struct as_perf_range range = {.start = symbol->address, .end = end, .value = (void *)keep(spaces, symbol->name)};
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

static void find_symbol(struct as_perf_spaces *spaces, struct as_module *module, struct as_perf_location *location)
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

/* Whether the running kernel is the recorded one. perf records the address of its text as the mapping's offset. */
static bool is_running(const struct as_perf_spaces *spaces, const struct as_perf_kernel *recorded)
{
    struct utsname running = {0};
    return uname(&running) == 0 &&
           as_perf_kallsyms_fits(&spaces->kallsyms, recorded, running.release, spaces->trust_paths);
}

/* Loads the copy that the user named, the running kernel's symbols, or the copy of the recorded kernel in perf's
 * cache. */
static bool load_kallsyms(struct as_perf_spaces *spaces, const struct as_perf_kernel *recorded)
{
    struct as_perf_kallsyms *table = &spaces->kallsyms;
    if (spaces->kallsyms_path)
        return as_perf_kallsyms_load(table, spaces->kallsyms_path, "/dev/null");
    if (as_perf_kallsyms_load(table, "/proc/kallsyms", "/sys/kernel/notes")) {
        if (spaces->live || is_running(spaces, recorded))
            return true;
        as_perf_kallsyms_free(table);
    }
    char id[2 * AS_PERF_BUILD_ID_MAX + 1], path[PATH_MAX];
    as_bytes_hex(recorded->build_id.bytes, recorded->build_id.size, id);
    return as_perf_search_kallsyms(&spaces->search, id, path) && as_perf_kallsyms_load(table, path, "/dev/null") &&
           (recorded->reference == 0 || recorded->reference == table->text || recorded->reference == table->stext);
}

/* What the recording says about its kernel. */
static struct as_perf_kernel recorded_kernel(struct as_perf_spaces *spaces, const struct as_perf_range *map)
{
    const uint64_t *known = as_map_get(&spaces->build_ids, as_strings_intern(spaces->strings, KERNEL_NAME));
    struct as_perf_kernel recorded = {.release = spaces->recorded != NULL ? spaces->recorded->os_release : NULL,
                                      .reference = map != NULL ? map->offset : 0};
    if (known != NULL)
        recorded.build_id = spaces->build_id_list.data[*known - 1];
    return recorded;
}

/* Until the recording has named its kernel there is nothing to compare: a pipe may name it later. */
static bool kallsyms_fit(struct as_perf_spaces *spaces, const struct as_perf_range *map)
{
    struct as_perf_kernel recorded = recorded_kernel(spaces, map);
    bool told = recorded.build_id.size > 0 || recorded.release != NULL || spaces->live || spaces->trust_paths;
    if (!spaces->kallsyms_tried && (told || spaces->kallsyms_path)) {
        spaces->kallsyms_tried = true;
        spaces->kallsyms_fit = load_kallsyms(spaces, &recorded);
    }
    return spaces->kallsyms_fit;
}

/* The kernel's ELF file that the user named, unless it belongs to another kernel. */
static struct file *vmlinux_of(struct as_perf_spaces *spaces, const struct as_perf_build_id *recorded)
{
    if (spaces->vmlinux_tried || !spaces->vmlinux_path)
        return spaces->vmlinux;
    spaces->vmlinux_tried = true;
    struct file *file = as_alloc(sizeof *file);
    *file = (struct file){.path = spaces->vmlinux_path, .name = "[kernel]", .build_id = *recorded};
    *as_vec_push(&spaces->file_list) = file;
    struct as_file_identity identity = as_file_identity_of(file->path);
    if (!identity.known || (recorded->size > 0 && match_file(spaces, file, file->path, &identity) != AS_PERF_MATCHED))
        return NULL;
    file->module = module_for(spaces, file->path, file->name, &identity);
    spaces->vmlinux = file->module->readable && file->module->segments.len > 0 ? file : NULL;
    return spaces->vmlinux;
}

/* A kernel is relocated as a whole, by a multiple of 2 MiB: the recorded address of its text gives the distance. */
static uint64_t kernel_bias(const struct as_module *vmlinux, const struct as_perf_range *map)
{
    for (size_t i = 0; map && map->offset && i < vmlinux->segments.len; i++)
        if (vmlinux->segments.data[i].executable)
            return (map->offset - vmlinux->segments.data[i].address) & ~((UINT64_C(2) << 20) - 1);
    return 0;
}

static void find_in_vmlinux(struct as_perf_spaces *spaces, struct file *vmlinux, const struct as_perf_range *map,
                            uint64_t address, struct as_perf_location *location)
{
    const struct as_module *module = vmlinux->module;
    uint64_t own = address - kernel_bias(module, map);
    for (size_t i = 0; i < module->segments.len; i++) {
        const struct as_elf_segment *segment = &module->segments.data[i];
        if (own - segment->address >= segment->file_size)
            continue;
        location->module_offset = own;
        location->file_offset = own - segment->address + segment->offset;
        location->match = AS_PERF_MATCHED;
        location->disk_path = vmlinux->path;
        location->file = vmlinux;
        find_symbol(spaces, vmlinux->module, location);
        return;
    }
}

static void find_kernel_symbol(struct as_perf_spaces *spaces, uint64_t address, const struct as_perf_range *map,
                               struct as_perf_location *location)
{
    const struct as_perf_range *symbol = as_perf_ranges_find(&spaces->symbols, address);
    const struct as_perf_kallsym *known = NULL;
    if (symbol == NULL && (map != NULL || spaces->live) && strcmp(location->module, "[kernel]") == 0 &&
        kallsyms_fit(spaces, map))
        known = as_perf_kallsyms_find(&spaces->kallsyms, address);
    if (symbol != NULL) {
        location->function = location->raw_function = symbol->value;
        location->function_start = symbol->start;
        location->function_size = symbol->end - symbol->start;
    } else if (known != NULL) {
        location->function = location->raw_function = as_perf_kallsyms_name(&spaces->kallsyms, known);
        location->function_start = known->start;
        location->function_size = known->end - known->start;
    }
}

static void find_kernel(struct as_perf_spaces *spaces, uint64_t address, struct as_perf_location *location)
{
    const struct as_perf_range *map = as_perf_ranges_find(&spaces->kernel, address);
    location->module = location->module_name = "[kernel]";
    if (map != NULL) {
        struct file *file = map->value;
        ask_file(spaces, file);
        location->module = file->path;
        location->module_name = file->name;
        location->build_id = file->build_id_text;
    }
    struct as_perf_kernel recorded = recorded_kernel(spaces, map);
    struct file *vmlinux = strcmp(location->module, "[kernel]") == 0 ? vmlinux_of(spaces, &recorded.build_id) : NULL;
    if (vmlinux)
        find_in_vmlinux(spaces, vmlinux, map, address, location);
    if (!location->function)
        find_kernel_symbol(spaces, address, map, location);
    /* The processor may report "kernel" for the first instruction after it, which is not the kernel's. */
    if (map == NULL && location->function == NULL && spaces->kernel.root != NULL && address >> 63 == 0)
        location->module = location->module_name = "[unknown]";
}

/* The mapping of an address of a process, with its file opened; NULL if nothing is mapped. */
static const struct as_perf_range *find_map(struct as_perf_spaces *spaces, uint32_t pid, uint64_t address)
{
    const uint64_t *known = as_map_get(&spaces->processes, pid);
    if (known == NULL)
        return NULL;
    const struct as_perf_range *map = as_perf_ranges_find(&spaces->spaces.data[*known].maps, address);
    if (map != NULL)
        ask_file(spaces, map->value);
    return map;
}

static uint64_t bias_of(const struct as_perf_range *map)
{
    const struct file *file = map->value;
    return as_module_bias(file->module, map->start, map->end, map->offset, NULL);
}

/* Whether the recording is of this machine, so that files in its /tmp are those of the recorded processes. */
static bool is_here(const struct as_perf_spaces *spaces)
{
    char host[256] = "";
    const char *recorded = spaces->recorded ? spaces->recorded->host : NULL;
    return spaces->live || (recorded && gethostname(host, sizeof host - 1) == 0 && strcmp(host, recorded) == 0);
}

static void find_generated(struct as_perf_spaces *spaces, uint32_t pid, uint64_t address,
                           struct as_perf_location *location)
{
    struct as_perf_generated *generated = &process_of(spaces, pid)->generated;
    struct as_perf_generated_where where = {.search = &spaces->search, .here = is_here(spaces), .live = spaces->live};
    const struct as_jit_piece *piece = as_perf_generated_find(generated, &where, pid, address, spaces->time);
    if (!piece)
        return;
    location->module = location->module_name = keep(spaces, generated->module);
    location->function = location->raw_function = keep(spaces, piece->name); /* the file may be read again */
    location->function_start = piece->start;
    location->function_size = piece->size;
    location->module_offset = location->file_offset = address;
    location->generated = true;
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
    if (is_kernel(mode)) {
        find_kernel(spaces, address, location);
        return;
    }
    const struct as_perf_range *map = find_map(spaces, pid, address);
    if (map == NULL)
        return;
    struct file *file = map->value;
    location->module = file->path;
    location->module_name = file->name;
    location->build_id = file->build_id_text;
    location->match = file->match;
    if (!is_file_path(file->path))
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
    find_symbol(spaces, file->module, location);
}

const char *as_perf_spaces_name(struct as_perf_spaces *spaces, uint32_t pid, enum as_perf_mode mode, uint64_t address)
{
    struct as_perf_location location;
    as_perf_spaces_find(spaces, pid, mode, address, &location);
    if (location.function != NULL)
        return location.function;
    char text[AS_NAME_MAX];
    if (is_kernel(mode))
        return location.module_name;
    snprintf(text, sizeof text, "%.3000s+0x%llx", location.module_name, (unsigned long long)location.module_offset);
    return keep(spaces, text);
}

/* ---- lines ---- */

static struct as_debug *debug_of(struct as_perf_spaces *spaces, const struct as_perf_location *at)
{
    return at->file ? as_module_debug(((struct file *)at->file)->module, &spaces->options) : NULL;
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
        as_module_forget_debug(((struct file *)at->file)->module);
}

/* ---- data ---- */

/* The file mapping that an address belongs to: its own or, if it is in none or in memory without a file (.bss), the
 * preceding one. */
static const struct as_perf_range *image_of(const struct as_perf_ranges *maps, uint64_t address)
{
    enum { STEPS = 4 };
    const struct as_perf_range *map = as_perf_ranges_before(maps, address);
    for (int i = 0; i < STEPS && map != NULL && !is_file_path(((struct file *)map->value)->path); i++)
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
    const struct file *file = map->value;
    return as_module_bias(file->module, map->start, map->end, map->offset, &hint);
}

static bool in_segments(const struct as_module *module, uint64_t address)
{
    for (size_t i = 0; i < module->segments.len; i++)
        if (as_inside(address - module->segments.data[i].address, 1, module->segments.data[i].memory_size))
            return true;
    return false;
}

static void tell_file(const struct file *file, struct as_perf_location *location)
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
    struct file *file = image->value;
    ask_file(spaces, file);
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
    ask_file(spaces, map->value);
    tell_file(map->value, &data->file);
    if (is_file_path(data->file.module))
        data->file.module_offset = data->file.file_offset = address - map->start + map->offset;
}
