/* Reads bytes of code by process and address. See code_bytes.h. */
#include "native/code_bytes.h"

#include "base/map.h"
#include "base/vec.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, MAX_FILES = 256, MAX_MAPS = 1 << 16 };

struct mapping {
    uint64_t start, end, offset;
    uint32_t file; /* index into files; NO_FILE: memory; VDSO */
};
enum { NO_FILE = UINT32_MAX, VDSO = UINT32_MAX - 1 };

struct space {
    AS_VEC(struct mapping) maps; /* of several that cover an address, the last one counts */
};

struct as_code {
    bool live;
    struct as_strings *paths;
    int fds[MAX_FILES];   /* by path; -1: not open, -2: cannot be opened */
    struct as_map spaces; /* pid → struct space * */
    uint32_t last_pid;    /* one page is cached: samples come in clusters */
    uint64_t last_page;
    size_t last_size;
    uint8_t page[PAGE];
};

struct as_code *as_code_new(bool live)
{
    struct as_code *code = as_alloc(sizeof *code);
    code->live = live;
    code->paths = as_strings_new();
    for (int i = 0; i < MAX_FILES; i++)
        code->fds[i] = -1;
    return code;
}

static void free_space(struct space *space)
{
    as_vec_free(&space->maps);
    free(space);
}

void as_code_free(struct as_code *code)
{
    if (!code)
        return;
    for (size_t i = 0; i < code->spaces.cap; i++)
        if (code->spaces.slots[i].used)
            free_space((struct space *)(uintptr_t)code->spaces.slots[i].value);
    for (int i = 0; i < MAX_FILES; i++)
        if (code->fds[i] >= 0)
            close(code->fds[i]);
    as_map_free(&code->spaces);
    as_strings_free(code->paths);
    free(code);
}

static struct space *space_of(struct as_code *code, uint32_t pid, bool make)
{
    uint64_t *found = make ? as_map_put(&code->spaces, pid) : as_map_get(&code->spaces, pid);
    if (found && !*found)
        *found = (uintptr_t)as_alloc(sizeof(struct space));
    return found ? (struct space *)(uintptr_t)*found : NULL;
}

static void forget(struct as_code *code, uint32_t pid)
{
    struct space *space = space_of(code, pid, false);
    if (space)
        free_space(space);
    as_map_remove(&code->spaces, pid);
}

static uint32_t file_of(struct as_code *code, const char *name)
{
    if (strcmp(name, "[vdso]") == 0)
        return VDSO;
    if (name[0] != '/' || name[1] == '/')
        return NO_FILE;
    uint32_t file = as_strings_intern(code->paths, name);
    return file < MAX_FILES ? file : NO_FILE;
}

static void copy_space(struct as_code *code, uint32_t from, uint32_t to)
{
    forget(code, to);
    struct space *child = space_of(code, to, true), *parent = space_of(code, from, false);
    for (size_t i = 0; parent && i < parent->maps.len; i++)
        *as_vec_push(&child->maps) = parent->maps.data[i];
}

bool as_code_process(void *context, const struct as_perf_process *process, struct as_error *err)
{
    struct as_code *code = context;
    code->last_size = 0;
    if (process->kind == AS_PERF_COMM && process->exec)
        forget(code, process->pid);
    if (process->kind == AS_PERF_EXIT && process->pid == process->tid && !code->live)
        forget(code, process->pid);
    if (process->kind == AS_PERF_FORK && process->pid != process->parent_pid)
        copy_space(code, process->parent_pid, process->pid);
    if (process->kind != AS_PERF_MAP || process->data || process->mode == AS_PERF_KERNEL || !process->name)
        return true;
    struct space *space = space_of(code, process->pid, true);
    if (space->maps.len < MAX_MAPS && process->start + process->length > process->start)
        *as_vec_push(&space->maps) = (struct mapping){process->start, process->start + process->length, process->offset,
                                                      file_of(code, process->name)};
    return true;
}

static const struct mapping *find(struct as_code *code, uint32_t pid, uint64_t address)
{
    struct space *space = space_of(code, pid, false);
    for (size_t i = space ? space->maps.len : 0; i-- > 0;)
        if (address >= space->maps.data[i].start && address < space->maps.data[i].end)
            return &space->maps.data[i];
    return NULL;
}

size_t as_code_memory(const struct as_code *code, uint32_t pid, uint64_t address, void *bytes, size_t size)
{
    struct iovec to = {bytes, size}, from = {(void *)(uintptr_t)address, size};
    ssize_t n = code->live ? process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0) : -1;
    return n > 0 ? (size_t)n : 0;
}

static size_t read_file(struct as_code *code, uint32_t file, uint64_t offset, void *bytes, size_t size)
{
    if (code->fds[file] == -1) {
        code->fds[file] = open(as_strings_get(code->paths, file), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (code->fds[file] < 0)
            code->fds[file] = -2;
    }
    ssize_t n = code->fds[file] >= 0 ? pread(code->fds[file], bytes, size, (off_t)offset) : -1;
    return n > 0 ? (size_t)n : 0;
}

/* Every process maps the same vdso, at a different address. */
static size_t read_vdso(uint64_t offset, void *bytes, size_t size)
{
    const uint8_t *own = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
    if (!own || offset > PAGE)
        return 0;
    memcpy(bytes, own + offset, size < PAGE - offset ? size : PAGE - offset);
    return size < PAGE - offset ? size : (size_t)(PAGE - offset);
}

static size_t read_mapping(struct as_code *code, const struct mapping *map, uint32_t pid, uint64_t address, void *bytes,
                           size_t size)
{
    uint64_t within = address - map->start;
    size = size < map->end - address ? size : (size_t)(map->end - address);
    size_t n = map->file == VDSO      ? read_vdso(within, bytes, size)
               : map->file == NO_FILE ? 0
                                      : read_file(code, map->file, map->offset + within, bytes, size);
    return n ? n : as_code_memory(code, pid, address, bytes, size);
}

/* Copies from the cached page, without a system call. */
static size_t from_page(const struct as_code *code, uint32_t pid, uint64_t address, void *bytes, size_t size)
{
    if (!code->last_size || pid != code->last_pid || address < code->last_page ||
        address + size > code->last_page + code->last_size)
        return 0;
    memcpy(bytes, code->page + (address - code->last_page), size);
    return size;
}

size_t as_code_read(struct as_code *code, uint32_t pid, uint64_t address, void *bytes, size_t size)
{
    size_t n = from_page(code, pid, address, bytes, size);
    const struct mapping *map = n ? NULL : find(code, pid, address);
    if (n || !map)
        return n;
    uint64_t page = address & ~(uint64_t)(PAGE - 1);
    page = page < map->start ? map->start : page;
    code->last_size = read_mapping(code, map, pid, page, code->page, PAGE);
    code->last_pid = pid;
    code->last_page = page;
    n = from_page(code, pid, address, bytes, size);
    return n ? n : read_mapping(code, map, pid, address, bytes, size);
}
