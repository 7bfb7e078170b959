/* Two details need care. A comma in a path ends it in QEMU's option syntax unless it is doubled. And the environment is
 * the program's, but the dynamic loader also starts QEMU with it: LD_* and QEMU_* variables meant for the program must
 * not affect QEMU. They are removed and passed with -E, which cannot carry a comma (such variables stay). QEMU reverses
 * the order of the environment; so do we. */
#include "engine/qemu_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

bool as_program_has_loader(const struct as_program *program, const char *sysroot)
{
    char path[2 * PATH_MAX];
    if (!program->dynamic)
        return true;
    snprintf(path, sizeof path, "%s%s", sysroot ? sysroot : "", program->elf_interpreter);
    return access(path, R_OK) == 0 || access(program->elf_interpreter, R_OK) == 0;
}

static size_t count(char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

static char *double_commas(const char *text)
{
    char *out = malloc(2 * strlen(text) + 1), *to = out;
    for (; out && *text; *to++ = *text++)
        if (*text == ',')
            *to++ = ',';
    if (out)
        *to = 0;
    return out;
}

static char *keep(struct as_qemu_command *command, char *text)
{
    if (text)
        command->own[command->n_own++] = text;
    return text;
}

static char *plugin_option(struct as_qemu_command *command, const struct as_qemu_setup *setup)
{
    char *path = double_commas(setup->plugin), *option = NULL;
    if (!path || asprintf(&option, "%s,memory=%s,process=%u", path, setup->memory, setup->process) < 0)
        option = NULL;
    free(path);
    return keep(command, option);
}

/* QEMU would take a path that starts with a dash for an option. */
static char *program_path(struct as_qemu_command *command, const char *path)
{
    char *safe = NULL;
    if (path[0] != '-')
        return (char *)path;
    return asprintf(&safe, "./%s", path) < 0 ? NULL : keep(command, safe);
}

static bool steers_qemu(const char *variable)
{
    return (strncmp(variable, "LD_", 3) == 0 || strncmp(variable, "QEMU_", 5) == 0) && strchr(variable, '=') &&
           !strchr(variable, ',');
}

/* QEMU gives a program the stack that the limit allows, but 8 MiB where there is no limit: too little for users who lift
 * it, as for large arrays of Fortran. */
static bool has_unlimited_stack(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

static size_t size_of(char *const *list)
{
    size_t size = 0;
    for (; list && *list; list++)
        size += strlen(*list) + 1;
    return size;
}

/* QEMU puts the path, the environment and the arguments on top of the stack, in this order from above. */
static char *make_padding(struct as_qemu_command *command, const char *path, char *const *argv, const char *name,
                          char *const *envp)
{
    size_t used = strlen(path) + 1 + size_of(envp) + size_of(argv) + (strlen(name) + 1) + sizeof AS_PADDING_VARIABLE;
    size_t length = AS_PADDING_GRANULE - used % AS_PADDING_GRANULE;
    char *text = malloc(sizeof AS_PADDING_VARIABLE + length);
    if (!text)
        return NULL;
    memcpy(text, AS_PADDING_VARIABLE, sizeof AS_PADDING_VARIABLE - 1);
    memset(text + sizeof AS_PADDING_VARIABLE - 1, 'x', length);
    text[sizeof AS_PADDING_VARIABLE - 1 + length] = '\0';
    return keep(command, text);
}

/* Gives the padding variable, if there is one, its length: `argv` are the program's arguments behind its name. */
static bool pad(struct as_qemu_command *command, const char *path, char *const *argv, const char *name, char **envp)
{
    for (size_t i = 0; envp[i]; i++)
        if (strncmp(envp[i], AS_PADDING_VARIABLE, sizeof AS_PADDING_VARIABLE - 1) == 0) {
            char *own = envp[i];
            memmove(&envp[i], &envp[i + 1], (count(envp + i)) * sizeof *envp);
            char *padding = make_padding(command, path, argv, name, envp);
            size_t n = count(envp);
            envp[n] = padding ? padding : own;
            envp[n + 1] = NULL;
            return padding != NULL;
        }
    return true;
}

bool as_qemu_command_build(struct as_qemu_command *command, const struct as_qemu_setup *setup,
                           const struct as_program *program, char *const *argv, char *const *envp)
{
    memset(command, 0, sizeof *command);
    size_t n_args = count(argv), n_env = count(envp), n = 0, kept = 0;
    command->argv = calloc(n_args + 2 * n_env + 16 + AS_PROGRAM_MAX_ARGS, sizeof *command->argv);
    command->envp = calloc(n_env + 1, sizeof *command->envp);
    char *plugin = plugin_option(command, setup), *path = program_path(command, program->path);
    if (!command->argv || !command->envp || !plugin || !path)
        return false;
    char **out = command->argv;
    out[n++] = (char *)setup->qemu;
    out[n++] = "-plugin";
    out[n++] = plugin;
    out[n++] = "-seed";
    out[n++] = "1";
    if (has_unlimited_stack()) {
        out[n++] = "-s";
        out[n++] = "1024M"; /* takes memory as far as it is used */
    }
    if (setup->sysroot && setup->sysroot[0]) {
        out[n++] = "-L";
        out[n++] = (char *)setup->sysroot;
    }
    for (size_t i = n_env; i-- > 0;) {
        if (steers_qemu(envp[i])) {
            out[n++] = "-E";
            out[n++] = envp[i];
        } else {
            command->envp[kept++] = envp[i];
        }
    }
    out[n++] = "-0";
    out[n++] = program->is_script ? (char *)program->path : n_args ? argv[0] : "";
    out[n++] = path;
    size_t behind = n;
    for (size_t i = 0; program->is_script && i < program->n_script_args; i++)
        out[n++] = (char *)program->script_args[i];
    if (program->is_script)
        out[n++] = (char *)program->script_path;
    for (size_t i = 1; i < n_args; i++)
        out[n++] = argv[i];
    return pad(command, path, out + behind, out[behind - 2], command->envp);
}

void as_qemu_command_free(struct as_qemu_command *command)
{
    for (size_t i = 0; i < command->n_own; i++)
        free(command->own[i]);
    free(command->argv);
    free(command->envp);
    memset(command, 0, sizeof *command);
}
