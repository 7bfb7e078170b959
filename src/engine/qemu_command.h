/* The command line that runs a program in QEMU with our plugin. The engine uses it for the first program and the plugin
 * for the programs that it executes, so it needs only libc. */
#ifndef AS_ENGINE_QEMU_COMMAND_H
#define AS_ENGINE_QEMU_COMMAND_H

#include "engine/program.h"

struct as_qemu_command {
    char **argv, **envp; /* NULL-terminated; elements may belong to the caller */
    char *own[8];        /* what as_qemu_command_free frees */
    size_t n_own;
};

struct as_qemu_setup {
    const char *qemu;    /* the QEMU binary */
    const char *plugin;  /* assay-engine.so */
    const char *memory;  /* the memfd's path */
    const char *sysroot; /* -L, or NULL */
    uint32_t process;    /* this process's number; 0: a new one */
};

/* Whether a dynamic program's loader exists, below the sysroot (NULL or "": none) or as it is. */
bool as_program_has_loader(const struct as_program *program, const char *sysroot);

/* False when out of memory. argv is the program's own, argv[0] included (it may be empty). */
bool as_qemu_command_build(struct as_qemu_command *command, const struct as_qemu_setup *setup,
                           const struct as_program *program, char *const *argv, char *const *envp);
void as_qemu_command_free(struct as_qemu_command *command);

#endif
