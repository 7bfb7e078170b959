/* See find_qemu.h. */
#include "engine/find_qemu.h"

#include "base/alloc.h"
#include "base/install.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef AS_PLUGIN_DIR
#define AS_PLUGIN_DIR "lib/assay"
#endif

/* Reads what the command prints within a minute, which a busy machine may need; more than fits is left unread. */
static size_t read_output(int fd, char *text, size_t size)
{
    size_t length = 0;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    while (length < size - 1) {
        int ready = poll(&wait, 1, 60000);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready != 1)
            break;
        ssize_t n = read(fd, text + length, size - 1 - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        length += (size_t)n;
    }
    text[length] = 0;
    return length;
}

/* `errors`: what it prints there, too. */
static size_t ask(const char *path, const char *argument, int kept, bool errors, char *text, size_t size)
{
    int ends[2];
    pid_t pid;
    posix_spawn_file_actions_t actions;
    char *argv[] = {(char *)path, (char *)argument, NULL};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (errors)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (kept >= 0)
        posix_spawn_file_actions_adddup2(&actions, kept, kept); /* no longer closed on execution */
    int failed = posix_spawn(&pid, path, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    size_t length = failed ? 0 : read_output(ends[0], text, size);
    close(ends[0]);
    if (!failed) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return length;
}

size_t as_qemu_ask(const char *path, const char *argument, int kept, char *text, size_t size)
{
    return ask(path, argument, kept, false, text, size);
}

/* QEMU complains about the missing argument if it knows the option, else about the option. */
bool as_qemu_takes_plugins(const char *path)
{
    char text[512] = "";
    return ask(path, "-plugin", -1, true, text, sizeof text) && strstr(text, "missing argument");
}

/* What one directory's QEMUs said last. Those of a build have one version, and a package gives its files one time; so one of
 * them is asked, once. */
static struct {
    pthread_mutex_t mutex;
    char directory[PATH_MAX];
    struct stat file;
    int major, minor;
} build = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* The file's directory, if the file is called as QEMUs are; else "". */
static void directory_of(const char *path, char directory[PATH_MAX], struct stat *file)
{
    const char *name = as_path_base(path);
    bool known = strncmp(name, "qemu-", 5) == 0 && stat(path, file) == 0;
    snprintf(directory, PATH_MAX, "%.*s", known ? (int)(name - path) : 0, path);
}

static bool is_of_build(const struct stat *file)
{
    return build.file.st_dev == file->st_dev && build.file.st_mtim.tv_sec == file->st_mtim.tv_sec &&
           build.file.st_mtim.tv_nsec == file->st_mtim.tv_nsec;
}

static bool recall_version(struct as_qemu *qemu)
{
    char directory[PATH_MAX];
    struct stat file;
    directory_of(qemu->path, directory, &file);
    pthread_mutex_lock(&build.mutex);
    bool known = directory[0] && strcmp(build.directory, directory) == 0 && is_of_build(&file);
    if (known) {
        qemu->major = build.major;
        qemu->minor = build.minor;
    }
    pthread_mutex_unlock(&build.mutex);
    return known;
}

static void remember_version(const struct as_qemu *qemu)
{
    pthread_mutex_lock(&build.mutex);
    directory_of(qemu->path, build.directory, &build.file);
    build.major = qemu->major;
    build.minor = qemu->minor;
    pthread_mutex_unlock(&build.mutex);
}

static bool ask_version(struct as_qemu *qemu, struct as_error *err)
{
    char text[512];
    if (!as_qemu_ask(qemu->path, "--version", -1, text, sizeof text))
        return as_error_set(err, "%s does not run: '%s --version' printed nothing", qemu->path, qemu->path);
    const char *number = strstr(text, "version ");
    if (!number || sscanf(number, "version %d.%d", &qemu->major, &qemu->minor) != 2)
        return as_error_set(err, "%s is not QEMU: '--version' does not say its version", qemu->path);
    if (qemu->major < AS_QEMU_OLDEST)
        return as_error_set(err, "%s is QEMU %d.%d, too old: Assay needs %d.0 or later (Debian's package: qemu-user)",
                            qemu->path, qemu->major, qemu->minor, AS_QEMU_OLDEST);
    if (qemu->major > AS_QEMU_NEWEST)
        return as_error_set(err,
                            "%s is QEMU %d.%d, whose plugin interface Assay does not know yet: it needs %d.x to %d.x",
                            qemu->path, qemu->major, qemu->minor, AS_QEMU_OLDEST, AS_QEMU_NEWEST);
    remember_version(qemu);
    return true;
}

bool as_qemu_find(enum as_arch arch, const char *given, struct as_qemu *qemu, struct as_error *err)
{
    char name[64], static_name[64];
    snprintf(name, sizeof name, "qemu-%s", as_arch_name(arch));
    snprintf(static_name, sizeof static_name, "qemu-%s-static", as_arch_name(arch));
    memset(qemu, 0, sizeof *qemu);
    if (given) {
        snprintf(qemu->path, sizeof qemu->path, "%s", given);
        if (!as_path_is_program(given))
            return as_error_set(err, "%s is not an executable file; give the path of %s", given, name);
    } else if (!as_path_search(name, qemu->path) && !as_path_search(static_name, qemu->path)) {
        return as_error_set(err, "%s was not found on PATH; install it (Debian: apt-get install qemu-user)", name);
    }
    return recall_version(qemu) || ask_version(qemu, err);
}

bool as_qemu_find_plugin(char path[PATH_MAX], struct as_error *err)
{
    return as_install_find("assay-engine.so", "", AS_PLUGIN_DIR, path) ||
           as_error_set(
               err, "assay-engine.so was not found beside 'assay' nor in %s of its prefix; build or install it again",
               AS_PLUGIN_DIR);
}

const char *as_qemu_sysroot(enum as_arch arch)
{
    static const char riscv[] = "/usr/riscv64-linux-gnu"; /* where Debian's cross packages put it */
    return arch == AS_ARCH_RISCV64 && access("/usr/riscv64-linux-gnu/lib", R_OK) == 0 ? riscv : "";
}
