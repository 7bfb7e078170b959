/* Runs a program that may not open perf events, as in a container whose seccomp filter forbids it, or none on debug registers, as
 * in virtual machines that have none:
 *
 *     deny_perf [-b] EPERM|EACCES|ENOSYS|EMFILE|EBUSY|ENOSPC|ENODEV|EOPNOTSUPP PROGRAM [ARGS…]
 *
 * Every perf_event_open of it and its children, with -b every one of a breakpoint, fails with that error. A filter cannot look at the
 * event's attributes, so with -b the kernel asks this process, which stays beside the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *name;
    int error;
} errors[] = {{"EPERM", EPERM}, {"EACCES", EACCES}, {"ENOSYS", ENOSYS}, {"EMFILE", EMFILE},
              {"EBUSY", EBUSY}, {"ENOSPC", ENOSPC}, {"ENODEV", ENODEV}, {"EOPNOTSUPP", EOPNOTSUPP}};

static int error_of(const char *name)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (strcmp(errors[i].name, name) == 0)
            return errors[i].error;
    return 0;
}

/* What the kernel does with perf_event_open. Returns -1, or a file descriptor where it asks there. */
static int install(uint32_t action, unsigned flags)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static int run(char **argv)
{
    execvp(argv[0], argv);
    fprintf(stderr, "deny_perf: %s: %s\n", argv[0], strerror(errno));
    return 127;
}

static bool is_breakpoint(uint32_t pid, uint64_t attributes)
{
    char path[64];
    uint32_t type = 0;
    snprintf(path, sizeof path, "/proc/%u/mem", pid);
    int memory = open(path, O_RDONLY | O_CLOEXEC);
    bool read = memory >= 0 && pread(memory, &type, sizeof type, (off_t)attributes) == sizeof type;
    if (memory >= 0)
        close(memory);
    return read && type == PERF_TYPE_BREAKPOINT;
}

static void answer(int asked, int error)
{
    struct seccomp_notif question = {0};
    if (ioctl(asked, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0)
        return;
    bool denied = is_breakpoint(question.pid, question.data.args[0]);
    struct seccomp_notif_resp answer = {
        .id = question.id, .error = denied ? -error : 0, .flags = denied ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    ioctl(asked, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Until the program has ended. Returns its exit status. */
static int answer_all(int asked, int error, pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        struct pollfd one = {.fd = asked, .events = POLLIN};
        if (poll(&one, 1, 20) == 1 && one.revents & POLLIN)
            answer(asked, error);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int deny_breakpoints(int error, char **argv)
{
    int asked = install(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    pid_t child = asked < 0 ? -1 : fork();
    if (child == 0)
        return run(argv);
    return child < 0 ? -1 : answer_all(asked, error, child);
}

int main(int argc, char **argv)
{
    bool breakpoints = argc > 1 && strcmp(argv[1], "-b") == 0;
    argc -= breakpoints;
    argv += breakpoints;
    int error = argc > 2 ? error_of(argv[1]) : 0;
    if (!error) {
        fprintf(stderr,
                "usage: deny_perf [-b] EPERM|EACCES|ENOSYS|EMFILE|EBUSY|ENOSPC|ENODEV|EOPNOTSUPP PROGRAM [ARGS]\n");
        return 2;
    }
    int status = breakpoints ? deny_breakpoints(error, argv + 2) : install(SECCOMP_RET_ERRNO | (unsigned)error, 0);
    if (status < 0) {
        fprintf(stderr, "deny_perf: no filter: %s\n", strerror(errno));
        return 125;
    }
    return breakpoints ? status : run(argv + 2);
}
