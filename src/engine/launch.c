/* Starts QEMU as a child that dies with us, and waits for it on a separate thread, which wakes the reader.
 *
 * The child gets our standard streams, working directory and, unless told otherwise, environment unchanged. Address-space
 * randomisation is off, so that a program gives the same records in every run. The shared memory is a memfd that the plugin opens through
 * /proc, so the program inherits no descriptor and there is nothing to clean up, whatever happens.
 */
#include "engine/launch.h"

#include "engine/gear.h"
#include "engine/pace.h"

#include "base/alloc.h"
#include "base/signals.h"
#include "engine/find_qemu.h"
#include "engine/program.h"
#include "engine/qemu_command.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Instructions that threads may be apart which keep step (plugin/thread_step.h). */
enum { IN_STEP = 1000 };

static bool make_memory(struct as_child *child, struct as_error *err)
{
    child->memory = memfd_create("assay", MFD_CLOEXEC);
    bool sized = child->memory >= 0 && ftruncate(child->memory, (off_t)AS_WIRE_SIZE) == 0 &&
                 fallocate(child->memory, 0, 0, (off_t)sizeof(struct as_wire_header)) == 0;
    if (!sized)
        return as_error_set(err, "no shared memory for the trace: %s%s", strerror(errno),
                            errno == EFBIG ? " (lift the file-size limit: ulimit -f unlimited)" : "");
    child->wire = mmap(NULL, AS_WIRE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, child->memory, 0);
    if (child->wire == MAP_FAILED) {
        child->wire = NULL;
        return as_error_set(err, "the shared memory for the trace cannot be mapped: %s", strerror(errno));
    }
    return true;
}

/* Processes that the program forks do not die with us by themselves; they wait for this mutex to learn of our death. */
static bool hold_reader_mutex(struct as_child *child)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    child->holds_mutex = pthread_mutex_init(&child->wire->reader_alive, &attributes) == 0 &&
                         pthread_mutex_lock(&child->wire->reader_alive) == 0;
    pthread_mutexattr_destroy(&attributes);
    return child->holds_mutex;
}

static bool fill_header(struct as_child *child, const struct as_engine_options *options, enum as_arch arch,
                        struct as_error *err)
{
    struct as_wire_header *wire = child->wire;
    struct as_qemu qemu;
    if (!as_qemu_find(arch, options->qemu, &qemu, err))
        return false;
    snprintf(wire->qemu[arch], PATH_MAX, "%s", qemu.path);
    for (int other = 0; other < AS_ARCH_COUNT; other++) {
        if (other != (int)arch && !options->qemu && as_qemu_find((enum as_arch)other, NULL, &qemu, NULL))
            snprintf(wire->qemu[other], PATH_MAX, "%s", qemu.path);
        snprintf(wire->sysroot[other], PATH_MAX, "%s", as_qemu_sysroot((enum as_arch)other));
    }
    if (options->plugin)
        snprintf(wire->plugin, sizeof wire->plugin, "%s", options->plugin);
    else if (!as_qemu_find_plugin(wire->plugin, err))
        return false;
    if (!hold_reader_mutex(child))
        return as_error_set(err, "the shared memory cannot hold a mutex");
    snprintf(wire->memory, sizeof wire->memory, "/proc/%d/fd/%d", getpid(), child->memory);
    wire->follow_exec = !options->no_follow;
    wire->in_step = options->causal && !options->deterministic;
    wire->window = wire->in_step && (!options->window || options->window > IN_STEP) ? IN_STEP : options->window;
    as_gear_prepare(wire, options);
    wire->stacks = options->stacks;
    wire->stamped = options->causal ? AS_WIRE_STAMPED : options->handovers ? AS_WIRE_STAMPED_THREADS : 0;
    as_pace_prepare(wire, options);
    wire->header_size = sizeof *wire;
    wire->version = AS_WIRE_VERSION;
    wire->magic = AS_WIRE_MAGIC;
    return true;
}

/* QEMU keeps 24 bytes for each page that a program reserves: the terabyte that GHC's runtime asks for takes 6 GB and half
 * a minute before the first instruction of the program. Such runtimes ask for less where there is a limit. */
static void limit_addresses(void)
{
    struct rlimit limit;
    rlim_t most = 2 * (rlim_t)sysconf(_SC_PHYS_PAGES) * (rlim_t)sysconf(_SC_PAGESIZE);
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY)
        return;
    limit.rlim_cur = most > (rlim_t)96 << 30 ? most : (rlim_t)96 << 30;
    setrlimit(RLIMIT_AS, &limit);
}

/* In the forked child; does not return. */
static _Noreturn void become_qemu(const struct as_qemu_command *command, const struct as_engine_options *options,
                                  int failure)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    personality(ADDR_NO_RANDOMIZE);
    limit_addresses();
    int nowhere = options->discard_stdout ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
    else if (options->stdout_to_stderr)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    execve(command->argv[0], command->argv, command->envp);
    int why = errno;
    ssize_t ignored = write(failure, &why, sizeof why);
    (void)ignored;
    _exit(127);
}

static bool spawn(struct as_child *child, const struct as_qemu_command *command,
                  const struct as_engine_options *options, struct as_error *err)
{
    int ends[2], why;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return as_error_set(err, "cannot start QEMU: %s", strerror(errno));
    fflush(NULL);
    child->pid = fork();
    if (child->pid == 0)
        become_qemu(command, options, ends[1]);
    int fork_failure = errno;
    close(ends[1]);
    ssize_t got = child->pid > 0 ? read(ends[0], &why, sizeof why) : 0;
    close(ends[0]);
    if (child->pid < 0)
        return as_error_set(err, "cannot start QEMU: %s", strerror(fork_failure));
    if (got == (ssize_t)sizeof why) {
        waitpid(child->pid, NULL, 0);
        child->pid = 0;
        return as_error_set_status(err, AS_EXIT_CANNOT_RUN, "%s cannot be run: %s", command->argv[0], strerror(why));
    }
    return true;
}

/* The thread stays until as_child_wait: one that ends gives its memory back, and a copy of the run (twin.h) that is forked in that moment
 * has the allocator's locks as they are then. glibc knows about that, sanitizers do not. */
static void *reap(void *argument)
{
    struct as_child *child = argument;
    while (waitpid(child->pid, &child->wait_status, 0) < 0 && errno == EINTR) {
    }
    atomic_store(&child->ended, 1); /* releases wait_status to whoever sees it: reader.c, engine.c */
    atomic_fetch_add(&child->wire->doorbell, 1);
    syscall(SYS_futex, &child->wire->doorbell, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    while (!atomic_load(&child->released))
        syscall(SYS_futex, &child->released, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return NULL;
}

/* The reaper must not take the signals that are meant for the whole process. */
static bool start_reaper(struct as_child *child, struct as_error *err)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    child->reaper_runs = pthread_create(&child->reaper, NULL, reap, child) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return child->reaper_runs || as_error_set(err, "cannot start a thread: %s", strerror(errno));
}

/* Called in a signal handler. */
static bool ignores_interrupt(void *context)
{
    const struct as_child *child = context;
    return !atomic_load(&child->wire->minds_interrupt);
}

bool as_child_start(struct as_child *child, const struct as_engine_options *options, struct as_error *err)
{
    struct as_program *program = as_alloc(sizeof *program);
    struct as_qemu_command command = {0};
    memset(child, 0, sizeof *child);
    child->memory = -1;
    bool ok = false;
    if (!as_program_find(options->argv[0], getenv("PATH"), program, err) || !make_memory(child, err) ||
        !fill_header(child, options, program->arch, err))
        goto out;
    const struct as_wire_header *wire = child->wire;
    if (!as_program_has_loader(program, wire->sysroot[program->arch])) {
        as_error_set_status(
            err, AS_EXIT_CANNOT_RUN, "%s: its loader %s is not there%s", options->argv[0], program->elf_interpreter,
            program->arch == AS_ARCH_RISCV64 ? " (Debian's RISC-V libraries: libc6-riscv64-cross)" : "");
        goto out;
    }
    struct as_qemu_setup setup = {.qemu = wire->qemu[program->arch],
                                  .plugin = wire->plugin,
                                  .memory = wire->memory,
                                  .sysroot = program->dynamic ? wire->sysroot[program->arch] : NULL};
    char *const *environment = options->environment ? options->environment : environ;
    if (!as_qemu_command_build(&command, &setup, program, options->argv, environment)) {
        as_error_set(err, "out of memory");
        goto out;
    }
    ok = spawn(child, &command, options, err);
    if (ok) {
        as_signals_catch(&(struct as_signals){.ignores = ignores_interrupt, .context = child});
        as_signals_pass_to(child->pid);
        ok = start_reaper(child, err);
    }
out:
    as_qemu_command_free(&command);
    free(program);
    if (!ok)
        as_child_free(child);
    return ok;
}

void as_child_wait(struct as_child *child)
{
    atomic_store(&child->released, 1);
    syscall(SYS_futex, &child->released, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    if (child->reaper_runs)
        pthread_join(child->reaper, NULL);
    child->reaper_runs = false;
}

void as_child_free(struct as_child *child)
{
    if (child->pid > 0 && !atomic_load(&child->ended))
        kill(child->pid, SIGKILL);
    if (child->reaper_runs)
        as_child_wait(child);
    else if (child->pid > 0 && !atomic_load(&child->ended))
        waitpid(child->pid, &child->wait_status, 0);
    if (child->pid > 0)
        as_signals_restore();
    if (child->wire) {
        atomic_store(&child->wire->detached, 1);
        if (child->holds_mutex)
            pthread_mutex_unlock(&child->wire->reader_alive);
        munmap(child->wire, AS_WIRE_SIZE);
    }
    if (child->memory >= 0)
        close(child->memory);
    *child = (struct as_child){.memory = -1};
}
