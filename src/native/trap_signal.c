/* See trap_signal.h. */
#include "native/trap_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Descriptors from there on, so many: they fit below the usual limit of 1024. */
enum { FIRST = 128, ROUND = 512 };

struct signal_sets {
    uint64_t blocked, caught;
};

static struct signal_sets read_sets(pid_t pid, pid_t tid)
{
    struct signal_sets sets = {0};
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)pid, (int)tid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "SigBlk: %lx", &sets.blocked) != 1 && sscanf(line, "SigCgt: %lx", &sets.caught) == 1)
            break;
    if (file)
        fclose(file);
    return sets;
}

static bool has(uint64_t set, int signal)
{
    return set >> (signal - 1) & 1;
}

int as_trap_signal_for(pid_t pid, pid_t tid)
{
    struct signal_sets sets = read_sets(pid, tid);
    bool urgent = has(sets.blocked, SIGURG), window = has(sets.blocked, SIGWINCH);
    if (urgent != window)
        return urgent ? SIGWINCH : SIGURG;
    /* Runtimes that handle both use SIGURG themselves. */
    return has(sets.caught, SIGURG) ? SIGWINCH : SIGURG;
}

static int renumber(struct as_traps *traps, int fd)
{
    int low = traps->next >= FIRST && traps->next < FIRST + ROUND ? traps->next : FIRST;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, low);
    if (moved < 0 && low > FIRST) /* the limit is lower */
        moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST);
    if (moved < 0)
        return fd;
    close(fd);
    traps->next = moved + 1;
    return moved;
}

int as_trap_send(struct as_traps *traps, int fd, pid_t tid, int signal, uint32_t name)
{
    struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = tid};
    fd = renumber(traps, fd);
    while (traps->of.len <= (size_t)fd)
        *as_vec_push(&traps->of) = (struct as_trap){0};
    traps->of.data[fd] = (struct as_trap){.known = true, .name = name};
    if (fcntl(fd, F_SETSIG, signal) == 0 && fcntl(fd, F_SETOWN_EX, &owner) == 0 &&
        fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0 && ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

bool as_trap_is(const struct as_traps *traps, const siginfo_t *info, uint32_t *name)
{
    if ((info->si_signo != SIGURG && info->si_signo != SIGWINCH) || info->si_code != POLL_IN || info->si_fd < 0 ||
        (size_t)info->si_fd >= traps->of.len || !traps->of.data[info->si_fd].known)
        return false;
    *name = traps->of.data[info->si_fd].name;
    return true;
}

void as_traps_free(struct as_traps *traps)
{
    as_vec_free(&traps->of);
}
