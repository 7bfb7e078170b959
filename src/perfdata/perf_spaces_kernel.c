/* Addresses of the kernel, by the symbols that the recording brings, the kernel's ELF file that the user named, or
 * kallsyms if it belongs to the recorded kernel. See perf_spaces_inside.h. */
#include "perfdata/perf_spaces_inside.h"

#include "base/bytes.h"

#include <sys/utsname.h>

/* Loads the running kernel's symbols if it is the recorded one. perf records the address of its text as the mapping's
 * offset. */
static bool load_running(struct as_perf_spaces *spaces, const struct as_perf_kernel *recorded)
{
    static const char notes[] = "/sys/kernel/notes";
    struct as_perf_kallsyms *table = &spaces->kallsyms;
    struct utsname running = {0};
    if (!spaces->live &&
        (uname(&running) != 0 || !as_perf_kallsyms_could_fit(notes, recorded, running.release, spaces->trust_paths)))
        return false;
    if (!as_perf_kallsyms_load(table, "/proc/kallsyms", notes))
        return false;
    if (spaces->live || as_perf_kallsyms_fits(table, recorded, running.release, spaces->trust_paths))
        return true;
    as_perf_kallsyms_free(table);
    return false;
}

bool as_perf_spaces_is_kallsyms(const char *path)
{
    struct as_perf_kallsyms table;
    bool named = as_perf_kallsyms_load(&table, path, "/dev/null");
    as_perf_kallsyms_free(&table);
    return named;
}

/* Loads the copy that the user named, the running kernel's symbols, or the copy of the recorded kernel in perf's
 * cache. */
static bool load_kallsyms(struct as_perf_spaces *spaces, const struct as_perf_kernel *recorded)
{
    struct as_perf_kallsyms *table = &spaces->kallsyms;
    if (spaces->kallsyms_path)
        return as_perf_kallsyms_load(table, spaces->kallsyms_path, "/dev/null");
    if (load_running(spaces, recorded))
        return true;
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
static struct as_perf_file *vmlinux_of(struct as_perf_spaces *spaces, const struct as_perf_build_id *recorded)
{
    if (spaces->vmlinux_tried || !spaces->vmlinux_path)
        return spaces->vmlinux;
    spaces->vmlinux_tried = true;
    struct as_perf_file *file = as_alloc(sizeof *file);
    *file = (struct as_perf_file){.path = spaces->vmlinux_path, .name = "[kernel]", .build_id = *recorded};
    *as_vec_push(&spaces->file_list) = file;
    struct as_file_identity identity = as_file_identity_of(file->path);
    if (!identity.known ||
        (recorded->size > 0 && as_perf_file_match(spaces, file, file->path, &identity) != AS_PERF_MATCHED))
        return NULL;
    file->module = as_perf_file_module(spaces, file->path, file->name, &identity);
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

static void find_in_vmlinux(struct as_perf_spaces *spaces, struct as_perf_file *vmlinux,
                            const struct as_perf_range *map, uint64_t address, struct as_perf_location *location)
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
        as_perf_spaces_find_symbol(spaces, vmlinux->module, location);
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

void as_perf_spaces_find_kernel(struct as_perf_spaces *spaces, uint64_t address, struct as_perf_location *location)
{
    const struct as_perf_range *map = as_perf_ranges_find(&spaces->kernel, address);
    location->module = location->module_name = "[kernel]";
    if (map != NULL) {
        struct as_perf_file *file = map->value;
        as_perf_file_ask(spaces, file);
        location->module = file->path;
        location->module_name = file->name;
        location->build_id = file->build_id_text;
    }
    struct as_perf_kernel recorded = recorded_kernel(spaces, map);
    struct as_perf_file *vmlinux =
        strcmp(location->module, "[kernel]") == 0 ? vmlinux_of(spaces, &recorded.build_id) : NULL;
    if (vmlinux)
        find_in_vmlinux(spaces, vmlinux, map, address, location);
    if (!location->function)
        find_kernel_symbol(spaces, address, map, location);
    /* The processor may report "kernel" for the first instruction after it, which is not the kernel's. */
    if (map == NULL && location->function == NULL && spaces->kernel.root != NULL && address >> 63 == 0)
        location->module = location->module_name = "[unknown]";
}
