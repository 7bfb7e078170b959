/* From addresses in a recording to files and functions: tracks what each process had mapped at each time, from the
 * reader's events. Pass it the sink's events in order, and look addresses up in between, while the sample is at hand.
 *
 * A file on this machine provides names only if it is the recorded file: its build-id matches or, if the recording has
 * none, its inode does. Any other address is named by module and offset. Kernel addresses take their names from KSYMBOL
 * records (BPF programs, trampolines), or from the running kernel if that is the recorded one (by build-id, else by
 * release) at the same address; otherwise "[kernel]" or the kernel module's name.
 *
 * For a return address, look up address - 1, which is inside the call.
 */
#ifndef AS_PERFDATA_PERF_SPACES_H
#define AS_PERFDATA_PERF_SPACES_H

#include "perfdata/perf_search.h"
#include "perfdata/perfdata.h"
#include "symbol/space.h"

struct as_perf_spaces;

/* Somebody who knows what code a process had made at an address, and when: the modelled run that the recording is of. Returns
 * false if the process made none that has a name. */
struct as_perf_made {
    bool (*find)(void *context, uint32_t pid, uint64_t address, uint64_t time, struct as_jit_piece *piece);
    void *context;
};

struct as_perf_spaces_options {
    const char *debug_path; /* colon-separated roots with separate debug files, before the default /usr/lib/debug */
    struct as_perf_search search; /* where to search for files; its strings must live as long as the spaces */
    /* A copy of the recorded kernel's /proc/kallsyms, used without checks; NULL: see above. */
    const char *kallsyms;
    const char *vmlinux;                 /* the recorded kernel's ELF file; NULL: none */
    bool no_debug;                       /* symbols only, no DWARF */
    bool live;                           /* recorded by the running kernel: its names apply */
    bool trust_paths;                    /* accept the file at the path if the recording does not identify it */
    const struct as_perf_info *recorded; /* the reader's, to compare kernels; NULL: not known */
    struct as_perf_made made;            /* find NULL: names are those of the files that runtimes write */
};

struct as_perf_spaces *as_perf_spaces_new(const struct as_perf_spaces_options *options); /* NULL: defaults */
void as_perf_spaces_free(struct as_perf_spaces *spaces);

/* These have the signatures of a sink's functions, with the spaces as context; they never fail. */
bool as_perf_spaces_build_id(void *spaces, const char *path, enum as_perf_mode mode, const struct as_perf_build_id *id,
                             struct as_error *err);
bool as_perf_spaces_process(void *spaces, const struct as_perf_process *process, struct as_error *err);
bool as_perf_spaces_ksymbol(void *spaces, const struct as_perf_ksymbol *symbol, struct as_error *err);

enum as_perf_match {
    AS_PERF_NO_FILE, /* anonymous, kernel, unmapped */
    AS_PERF_MATCHED, /* the recorded file is here */
    AS_PERF_TRUSTED, /* a file of that name is here, accepted because of trust_paths */
    AS_PERF_MISSING, /* no such file here, or not a readable ELF file */
    AS_PERF_OTHER    /* a file of that name is here, but it is another one or cannot be verified */
};

struct as_perf_location {
    const char *module;       /* the recorded path, or "[kernel]", "[unknown]", "[anon]", "[vdso]" … */
    const char *module_name;  /* its last component */
    const char *build_id;     /* hexadecimal; NULL: unknown */
    const char *function;     /* demangled; NULL: unknown */
    const char *raw_function; /* as in the symbol table; NULL likewise */
    /* For matched files as objdump shows it; for others the offset in the file; for anonymous memory, unknown and
     * kernel the address. */
    uint64_t module_offset;
    uint64_t file_offset;
    uint64_t function_start, function_size; /* start: relative to the same base as module_offset; 0 if unknown */
    bool generated;                         /* made by the program: other code may be at that address at another time */
    bool guessed;                           /* … and was: nothing tells which of them this is */
    bool renamed;                           /* by text, in which code at one address may have several names */
    enum as_perf_match match;
    const char *disk_path; /* where the file was found; NULL: not found */
    /* For the functions below; lives as long as the spaces. NULL: no file that could have lines. */
    void *file;
};

/* When the addresses are from that are looked up next, for code that a program replaces: nanoseconds of CLOCK_MONOTONIC, or
 * of the clock of `made`; 0: unknown. */
void as_perf_spaces_set_time(struct as_perf_spaces *spaces, uint64_t time);

/* Strings live as long as the spaces. Always fills `location`. */
void as_perf_spaces_find(struct as_perf_spaces *spaces, uint32_t pid, enum as_perf_mode mode, uint64_t address,
                         struct as_perf_location *location);

/* "main", or "libfoo.so+0x1234" without a symbol, "[unknown]+0x7f…" without a module. */
const char *as_perf_spaces_name(struct as_perf_spaces *spaces, uint32_t pid, enum as_perf_mode mode, uint64_t address);

/* Lines and inlined functions from the `file` and `module_offset` that as_perf_spaces_find returned; the process may
 * have ended. They need debug information, which costs time and memory that finding a function does not. */
bool as_perf_spaces_line(struct as_perf_spaces *spaces, const struct as_perf_location *at,
                         struct as_line *line); /* false: unknown */
/* Like as_space_inline: innermost first, ending with the real function. */
size_t as_perf_spaces_inline(struct as_perf_spaces *spaces, const struct as_perf_location *at,
                             struct as_inline_frame *frames, size_t max);
/* Frees the memory of a file's debug information, once nobody needs more of it. */
void as_perf_spaces_done_with(struct as_perf_spaces *spaces, const struct as_perf_location *at);

/* What a data address belongs to. */
struct as_perf_data {
    struct as_perf_location file; /* module: as above, also "[heap]" and "[stack]"; no function */
    /* demangled; a section's name (".rodata") if no symbol covers the address; NULL: neither. */
    const char *variable;
    uint64_t start, size;              /* of the variable; start relative to the same base as file.module_offset */
    uint64_t region_start, region_end; /* of the mapping; both 0: nothing is known to be mapped there */
};
/* Looks up user addresses; kernel addresses give "[kernel]". Variables that are not in the file (.bss) are found
 * through the mapping of their file that precedes them. */
void as_perf_spaces_data(struct as_perf_spaces *spaces, uint32_t pid, uint64_t address, struct as_perf_data *data);

/* Whether the kernel's ELF file named in the options was needed but not used: it is of another kernel, or not ELF. */
/* Whether a file names functions as /proc/kallsyms does, with their addresses. */
bool as_perf_spaces_is_kallsyms(const char *path);
bool as_perf_spaces_rejected_vmlinux(const struct as_perf_spaces *spaces);

/* The name of a thread; NULL: unknown. */
const char *as_perf_spaces_comm(const struct as_perf_spaces *spaces, uint32_t pid, uint32_t tid);

#endif
