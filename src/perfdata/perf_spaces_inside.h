/* The inside of perf_spaces.h: what its files share.
 *
 *   perf_spaces.c          processes and their mappings; what an address is
 *   perf_spaces_files.c    the files of a recording, found on this disk
 *   perf_spaces_kernel.c   addresses of the kernel: its symbols and its ELF file
 */
#ifndef AS_PERFDATA_PERF_SPACES_INSIDE_H
#define AS_PERFDATA_PERF_SPACES_INSIDE_H

#include "base/map.h"
#include "base/vec.h"
#include "perfdata/perf_generated.h"
#include "perfdata/perf_kallsyms.h"
#include "perfdata/perf_ranges.h"
#include "perfdata/perf_spaces.h"
#include "symbol/module.h"

#define KERNEL_NAME "[kernel.kallsyms]" /* as perf calls it */

struct as_perf_file {
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

struct as_perf_space {
    struct as_perf_ranges maps;
    struct as_perf_generated generated;
};

struct as_perf_spaces {
    struct as_map processes; /* pid → index */
    AS_VEC(struct as_perf_space) spaces;
    struct as_map comms;           /* pid << 32 | tid → id of the name */
    struct as_perf_ranges kernel;  /* of files */
    struct as_perf_ranges symbols; /* of names */
    struct as_perf_kallsyms kallsyms;
    bool kallsyms_tried, kallsyms_fit; /* fit: the recorded kernel is the running one */
    struct as_map files;               /* id of the key → index */
    AS_VEC(struct as_perf_file *) file_list;
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
    struct as_perf_file *vmlinux; /* NULL: none, or of another kernel */
    bool trust_paths, live;
    int vdso;                            /* a copy of the running kernel's; -1: not needed yet */
    uint64_t time;                       /* of what is looked up; 0: unknown */
    const struct as_perf_info *recorded; /* or NULL */
    struct as_perf_made made;
};

static inline const char *as_perf_spaces_keep(struct as_perf_spaces *spaces, const char *text)
{
    return as_strings_get(spaces->strings, as_strings_intern(spaces->strings, text));
}

static inline bool as_perf_is_kernel(enum as_perf_mode mode)
{
    return mode == AS_PERF_KERNEL || mode == AS_PERF_GUEST_KERNEL || mode == AS_PERF_HYPERVISOR;
}

/* Sets the function of `location`, whose module_offset is known, if a symbol of the module covers it. */
void as_perf_spaces_find_symbol(struct as_perf_spaces *spaces, struct as_module *module,
                                struct as_perf_location *location);

/* ---- perf_spaces_files.c ---- */

/* Whether a name is that of a file, not of memory: "[heap]", "//anon", "anon_inode:…", "/memfd:…", "/dev/zero
 * (deleted)". */
bool as_perf_is_file_path(const char *path);
/* The file of a mapping; not opened yet. */
struct as_perf_file *as_perf_file_for(struct as_perf_spaces *spaces, const struct as_perf_process *map);
/* Opens the file when its first address is looked up. */
void as_perf_file_ask(struct as_perf_spaces *spaces, struct as_perf_file *file);
/* Whether the file at `path` is the recorded one. */
enum as_perf_match as_perf_file_match(const struct as_perf_spaces *spaces, const struct as_perf_file *file,
                                      const char *path, const struct as_file_identity *identity);
/* The module of the file on this disk, shared by all of its names. */
struct as_module *as_perf_file_module(struct as_perf_spaces *spaces, const char *path, const char *name,
                                      const struct as_file_identity *identity);

/* ---- perf_spaces_kernel.c ---- */

void as_perf_spaces_find_kernel(struct as_perf_spaces *spaces, uint64_t address, struct as_perf_location *location);

#endif
