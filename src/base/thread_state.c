/* See thread_state.h. The letter stands behind the name, which may have any characters in it. */
#include "base/thread_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char as_thread_state(pid_t pid, pid_t tid)
{
    char path[64], text[512];
    if (pid)
        snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
    else
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *behind = strrchr(text, ')');
    return behind && behind[1] == ' ' ? behind[2] : 0;
}
