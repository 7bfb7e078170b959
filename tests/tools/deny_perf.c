/* Runs a program that may not open perf events, as in a container whose seccomp filter forbids it:
 *
 *     deny_perf EPERM|EACCES|ENOSYS|EMFILE|EBUSY|ENOSPC PROGRAM [ARGS…]
 *
 * Every perf_event_open of it and its children fails with that error.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    int error;
} errors[] = {{"EPERM", EPERM},   {"EACCES", EACCES}, {"ENOSYS", ENOSYS},
              {"EMFILE", EMFILE}, {"EBUSY", EBUSY},   {"ENOSPC", ENOSPC}};

static int error_of(const char *name)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (strcmp(errors[i].name, name) == 0)
            return errors[i].error;
    return 0;
}

static int install(int error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
    int error = argc > 2 ? error_of(argv[1]) : 0;
    if (!error) {
        fprintf(stderr, "usage: deny_perf EPERM|EACCES|ENOSYS|EMFILE|EBUSY|ENOSPC PROGRAM [ARGS]\n");
        return 2;
    }
    if (install(error) != 0) {
        fprintf(stderr, "deny_perf: no filter: %s\n", strerror(errno));
        return 125;
    }
    execvp(argv[2], argv + 2);
    fprintf(stderr, "deny_perf: %s: %s\n", argv[2], strerror(errno));
    return 127;
}
