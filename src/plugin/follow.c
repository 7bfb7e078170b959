/* A forked child takes lanes of its own before it executes anything, under a new process number; it never touches its
 * parent's lanes. An execve becomes an execve of QEMU with this plugin and the same memory, so that the new program is
 * traced too, under the same process number and a new image number. What cannot be followed (another architecture, a
 * set-user-id program, a file descriptor path) is left to QEMU, which passes it to the kernel: it runs natively and
 * untraced, and the plugin reports that to the reader. */
#include "plugin/follow.h"

#include "engine/qemu_command.h"
#include "plugin/code.h"
#include "plugin/lane.h"
#include "plugin/shared.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MAX_WORDS = 1 << 17, MAX_TEXT = 1 << 22 }; /* of one argument or environment list: beyond what execve takes */

static __thread unsigned this_vcpu;

void as_follow_note_syscall(unsigned vcpu)
{
    this_vcpu = vcpu;
}

/* The reader holds the mutex while it lives. Getting it from a dead owner means that no one reads our results; getting
 * it otherwise that the reader has let go of us. */
static void *wait_for_death(void *unused)
{
    if (pthread_mutex_lock(&as_plugin.wire->reader_alive) != 0)
        kill(getpid(), SIGKILL);
    pthread_mutex_unlock(&as_plugin.wire->reader_alive);
    return NULL;
}

/* The thread must never get one of the program's signals: QEMU would take it for a guest thread. */
void as_follow_watch_reader(void)
{
    enum { STACK = 64 * 1024 };
    sigset_t all, old;
    pthread_attr_t attributes;
    pthread_t thread;
    if (atomic_load(&as_plugin.wire->detached))
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_create(&thread, &attributes, wait_for_death, NULL);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void after_fork_in_child(void)
{
    uint32_t parent = as_plugin.process;
    const struct as_wire_lane *parent_lane = as_lane_of[this_vcpu];
    as_plugin.pid = getpid();
    as_plugin.process = atomic_fetch_add(&as_plugin.wire->next_process, 1) + 1;
    as_lane_setup();
    as_code_start_process(parent);
    as_lane_start_thread(this_vcpu, parent_lane == &as_lane_unclaimed ? NULL : parent_lane);
    as_code_unlock_after_fork();
    as_shared_note_fork(as_lane_of[this_vcpu]);
    as_follow_watch_reader();
}

void as_follow_setup(void)
{
    pthread_atfork(as_code_lock_for_fork, as_code_unlock_after_fork, after_fork_in_child);
}

bool as_guest_read(uint64_t address, void *to, size_t size)
{
    struct iovec local = {.iov_base = to, .iov_len = size};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)(address + as_plugin.guest_base), .iov_len = size};
    return process_vm_readv(as_plugin.pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* Reads up to the next page boundary at a time, so that a string at the end of its mapping is read whole. */
static char *read_string(uint64_t address)
{
    size_t length = 0;
    char *text = NULL;
    while (length < MAX_TEXT) {
        size_t piece = 4096 - (address + length) % 4096;
        char *bigger = realloc(text, length + piece + 1);
        if (!bigger || !as_guest_read(address + length, bigger + length, piece)) {
            free(bigger ? bigger : text);
            return NULL;
        }
        text = bigger;
        size_t found = strnlen(text + length, piece);
        length += found;
        text[length] = 0;
        if (found < piece)
            return text;
    }
    free(text);
    return NULL;
}

static void free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

/* A NULL-terminated list of strings in guest memory; an address of 0 is an empty list. */
static char **read_list(uint64_t address)
{
    char **list = calloc(1, sizeof *list);
    for (size_t n = 0; list && address && n < MAX_WORDS; n++) {
        uint64_t item;
        if (!as_guest_read(address + n * sizeof item, &item, sizeof item))
            goto bad;
        if (!item)
            return list;
        char **bigger = realloc(list, (n + 2) * sizeof *list);
        if (!bigger)
            goto bad;
        list = bigger;
        list[n + 1] = NULL;
        list[n] = read_string(item);
        if (!list[n])
            goto bad;
    }
    return list;
bad:
    free_list(list);
    return NULL;
}

static bool can_follow(const char *path, struct as_program *program)
{
    struct stat info;
    const struct as_wire_header *wire = as_plugin.wire;
    if (!wire->follow_exec || atomic_load(&wire->detached) || strncmp(path, "/proc/", 6) == 0 ||
        strncmp(path, "/dev/fd/", 8) == 0)
        return false;
    return as_program_find(path, NULL, program, NULL) && wire->qemu[program->arch][0] &&
           as_program_has_loader(program, wire->sysroot[program->arch]) && stat(program->path, &info) == 0 &&
           !(info.st_mode & (S_ISUID | S_ISGID)) && access(path, X_OK) == 0;
}

static void execute_followed(const struct as_program *program, char **argv, char **envp)
{
    struct as_wire_header *wire = as_plugin.wire;
    struct as_qemu_command command;
    struct as_qemu_setup setup = {
        .qemu = wire->qemu[program->arch],
        .plugin = wire->plugin,
        .memory = wire->memory,
        .sysroot = program->dynamic ? wire->sysroot[program->arch] : NULL,
        .process = as_plugin.process,
    };
    if (as_qemu_command_build(&command, &setup, program, argv, envp))
        execve(command.argv[0], command.argv, command.envp);
    as_qemu_command_free(&command);
}

void as_follow_execve(uint64_t path_address, uint64_t argv_address, uint64_t envp_address)
{
    char *path = read_string(path_address);
    if (!path)
        return;
    struct as_program *program = malloc(sizeof *program);
    bool follow = program && can_follow(path, program);
    if (follow || access(path, X_OK) == 0)
        as_code_report_execute(path, follow);
    if (follow) {
        char **argv = read_list(argv_address), **envp = read_list(envp_address);
        if (argv && envp)
            execute_followed(program, argv, envp);
        free_list(argv);
        free_list(envp);
    }
    free(program);
    free(path);
}
