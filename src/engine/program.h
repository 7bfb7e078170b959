/* Identifies a path on the command line: an ELF file of an architecture that we run, a script with its interpreter, or
 * something that cannot be run, with the reason in one line. The QEMU plugin links it too (to follow execve), so it
 * uses only libc and base/error. */
#ifndef AS_ENGINE_PROGRAM_H
#define AS_ENGINE_PROGRAM_H

#include "assay/insn.h"
#include "base/error.h"

#include <limits.h>
#include <stddef.h>

enum {
    AS_PROGRAM_LINE = 256,   /* what the kernel reads of a `#!` line */
    AS_PROGRAM_SCRIPTS = 5,  /* scripts that may follow one another until an ELF file must come: the kernel's limit */
    AS_PROGRAM_MAX_ARGS = 9, /* each but the outermost leaves a path and an argument, the outermost an argument */
};

/* A variable that holds the program's stack in place: where the environment has it, it becomes as long as it takes for
 * path, environment and arguments to have the same size whoever runs the program, and where. */
#define AS_PADDING_VARIABLE "ASSAY_PADDING="
enum { AS_PADDING_GRANULE = 32768 }; /* bytes that they fill up */

/* To run it: argv is path, script_args …, script_path (these two only where is_script), then the user's arguments. */
struct as_program {
    enum as_arch arch;
    char path[PATH_MAX];  /* the ELF file to give to QEMU: the program, or the innermost interpreter */
    bool is_script;       /* path is an interpreter … */
    size_t n_script_args; /* … called with these first: the `#!` argument, and the */
    char script_args[AS_PROGRAM_MAX_ARGS][AS_PROGRAM_LINE]; /* scripts between when interpreters are scripts … */
    char script_path[PATH_MAX];                             /* … and then with the script's path */
    bool dynamic;                                           /* has an interpreter segment */
    char elf_interpreter[PATH_MAX];                         /* of a dynamic program: "/lib64/ld-linux-x86-64.so.2" */
};

/* Finds `name` as execvp would (PATH where it has no slash; `search_path` NULL: take it as it is), follows `#!` lines
 * like the kernel, and reads the ELF header with every length checked. Errors with status AS_EXIT_NOT_FOUND or
 * AS_EXIT_CANNOT_RUN: not found, a directory, not executable, empty, neither ELF nor script (the kernel refuses those;
 * we do too), 32-bit, big-endian, another architecture (named), not an executable type, truncated, corrupt.
 * `program` is then undefined. The struct is large (about 15 KiB): mind small stacks. */
bool as_program_find(const char *name, const char *search_path, struct as_program *program,
                     struct as_error *err) AS_MUST_CHECK;
/* Whether the program is for another processor than this machine's, which `err` then says: the kernel would refuse it, and execvp give it to a
 * shell as a script. What is not found or cannot be read is not known to be. */
bool as_program_is_foreign(const char *name, const char *search_path, struct as_error *err);

#endif
