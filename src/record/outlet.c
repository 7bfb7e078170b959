/* See outlet.h. */
#include "record/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void *empty(void *context)
{
    int fd = (int)(intptr_t)context;
    char buffer[1 << 14];
    ssize_t n;
    do
        n = read(fd, buffer, sizeof buffer);
    while (n > 0 || (n < 0 && errno == EINTR));
    return NULL;
}

/* Gives what is written to the other end to a thread. False: nobody would read it. */
static bool drain(int fd)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, empty, (void *)(intptr_t)fd) != 0)
        return false;
    pthread_detach(thread);
    return true;
}

static int open_drained_pipe(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    if (drain(ends[0]))
        return ends[1];
    close(ends[0]);
    close(ends[1]);
    return -1;
}

static int open_drained_terminal(void)
{
    char name[64];
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0)
        return -1;
    bool ready = grantpt(master) == 0 && unlockpt(master) == 0 && ptsname_r(master, name, sizeof name) == 0;
    int fd = ready ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
    if (fd >= 0 && drain(master))
        return fd;
    if (fd >= 0)
        close(fd);
    close(master);
    return -1;
}

static int open_alike(int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return -1;
    if (S_ISREG(info.st_mode))
        return memfd_create("output", MFD_CLOEXEC);
    if (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode))
        return open_drained_pipe();
    if (isatty(fd))
        return open_drained_terminal();
    return open("/dev/null", O_WRONLY | O_CLOEXEC);
}

void as_outlet_replace(int fd)
{
    int other = open_alike(fd);
    if (other < 0)
        return;
    dup2(other, fd);
    if (other != fd)
        close(other);
}
