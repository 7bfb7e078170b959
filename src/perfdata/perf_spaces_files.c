/* Files, each a path with a build-id, with the symbol library's module that reads it. Files that are the same on disk
 * share a module, because a recording can name one file in any number of ways. See perf_spaces_inside.h. */
#include "perfdata/perf_spaces_inside.h"

#include "base/bytes.h"
#include "base/path.h"
#include "symbol/debugserver.h"

#include <elf.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* If perf finds the kernel's ELF file, its list of build-ids has that path instead of KERNEL_NAME. */
static bool is_vmlinux(const char *path)
{
    return strncmp(as_path_base(path), "vmlinux", 7) == 0;
}

bool as_perf_spaces_build_id(void *context, const char *path, enum as_perf_mode mode, const struct as_perf_build_id *id,
                             struct as_error *err)
{
    (void)err;
    struct as_perf_spaces *spaces = context;
    const char *name = as_perf_is_kernel(mode) && is_vmlinux(path) ? KERNEL_NAME : path;
    uint64_t *known = as_map_put(&spaces->build_ids, as_strings_intern(spaces->strings, name));
    *as_vec_push(&spaces->build_id_list) = *id;
    *known = spaces->build_id_list.len;
    return true;
}

bool as_perf_is_file_path(const char *path)
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

struct as_perf_file *as_perf_file_for(struct as_perf_spaces *spaces, const struct as_perf_process *map)
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
    struct as_perf_file *file = as_alloc(sizeof *file);
    file->path_id = as_strings_intern(spaces->strings, path);
    file->path = as_strings_get(spaces->strings, file->path_id);
    file->name = as_perf_is_file_path(file->path) ? as_path_shown(file->path) : file->path;
    file->build_id = map->build_id;
    file->major = map->major;
    file->minor = map->minor;
    file->inode = map->inode;
    *as_map_put(&spaces->files, id) = spaces->file_list.len;
    *as_vec_push(&spaces->file_list) = file;
    return file;
}

struct as_module *as_perf_file_module(struct as_perf_spaces *spaces, const char *path, const char *name,
                                      const struct as_file_identity *identity)
{
    uint64_t key[2] = {identity->device, identity->inode};
    uint64_t hash = as_hash_bytes(key, sizeof key);
    const uint64_t *known = as_map_get(&spaces->modules, hash);
    if (known != NULL)
        return spaces->module_list.data[*known];
    struct as_module *module = as_alloc(sizeof *module);
    *module = (struct as_module){
        .path = as_perf_spaces_keep(spaces, path), .name = name, .has_file = true, .identity = *identity};
    *as_map_put(&spaces->modules, hash) = spaces->module_list.len;
    *as_vec_push(&spaces->module_list) = module;
    as_module_load(module, &spaces->options);
    return module;
}

static bool has_recorded_id(const struct as_perf_file *file, const struct as_build_id *own)
{
    /* perf pads build-ids of other lengths than 20 with zeros if it does not write their length. */
    if (own->len == 0 || own->len > file->build_id.size || memcmp(own->bytes, file->build_id.bytes, own->len) != 0)
        return false;
    for (size_t i = own->len; i < file->build_id.size; i++)
        if (file->build_id.bytes[i] != 0)
            return false;
    return true;
}

enum as_perf_match as_perf_file_match(const struct as_perf_spaces *spaces, const struct as_perf_file *file,
                                      const char *path, const struct as_file_identity *identity)
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

static void try_file(struct as_perf_spaces *spaces, struct as_perf_file *file, const char *path, bool first)
{
    struct as_file_identity identity = as_file_identity_of(path);
    enum as_perf_match match = identity.known ? as_perf_file_match(spaces, file, path, &identity) : AS_PERF_MISSING;
    if (match == AS_PERF_MATCHED || match == AS_PERF_TRUSTED) {
        struct as_module *module = as_perf_file_module(spaces, path, file->name, &identity);
        file->module = module->readable ? module : NULL;
        match = module->readable ? match : AS_PERF_MISSING;
    }
    if (first || file->module)
        file->match = match;
}

/* The size of the vdso, which ends with its last segment or its section headers. */
static size_t vdso_size(const Elf64_Ehdr *header)
{
    const Elf64_Phdr *segments = (const Elf64_Phdr *)((const char *)header + header->e_phoff);
    size_t size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_offset + segments[i].p_filesz > size)
            size = segments[i].p_offset + segments[i].p_filesz;
    return size;
}

/* Every process maps the same vdso, so the one of this process serves for all that ran on this kernel: a live recording,
 * or one with its build-id. The symbol library reads files, so it gets a copy in one. */
static void try_own_vdso(struct as_perf_spaces *spaces, struct as_perf_file *file)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR); /* NOLINT: an address */
    char path[64];
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || (!spaces->live && file->build_id.size == 0))
        return;
    if (spaces->vdso < 0) {
        size_t size = vdso_size(header);
        spaces->vdso = memfd_create("vdso", MFD_CLOEXEC);
        if (spaces->vdso < 0 || write(spaces->vdso, header, size) != (ssize_t)size)
            return;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", spaces->vdso);
    bool trusted = spaces->trust_paths;
    spaces->trust_paths |= file->build_id.size == 0; /* of this kernel, or it would not have come here */
    try_file(spaces, file, path, true);
    spaces->trust_paths = trusted;
}

/* A program that is not on this machine may be on a server. */
static void try_servers(struct as_perf_spaces *spaces, struct as_perf_file *file)
{
    struct as_build_id id = {.len = file->build_id.size};
    char path[PATH_MAX];
    if (id.len == 0 || id.len > sizeof id.bytes || !as_debug_roots_ask_servers(spaces->roots))
        return;
    memcpy(id.bytes, file->build_id.bytes, id.len);
    if (as_debug_server_find(&id, AS_DEBUG_WANTS_EXECUTABLE, path))
        try_file(spaces, file, path, false);
}

void as_perf_file_ask(struct as_perf_spaces *spaces, struct as_perf_file *file)
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
        file->build_id_text = as_perf_spaces_keep(spaces, text);
    }
    if (!as_perf_is_file_path(file->path) && strcmp(file->path, "[vdso]") != 0)
        return;
    char path[PATH_MAX];
    for (int place = 0; place < AS_PERF_CANDIDATES && !file->module; place++)
        if (as_perf_search_path(&spaces->search, place, file->path, file->build_id_text, path))
            try_file(spaces, file, path, place == AS_PERF_CANDIDATE_PATH);
    bool vdso = strcmp(file->path, "[vdso]") == 0;
    if (!file->module && vdso)
        try_own_vdso(spaces, file);
    else if (!file->module)
        try_servers(spaces, file);
    /* Found by its inode, so the build-id in it is the recorded one. */
    if (file->module && !file->build_id_text && file->module->build_id[0])
        file->build_id_text = file->module->build_id;
}
