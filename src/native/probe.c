/* Probes everything but the processor and perf events, and runs all probes in order. */
#include "native/probe_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

bool as_probe_read(const char *root, const char *path, char *text, size_t size)
{
    char full[PATH_MAX];
    if (snprintf(full, sizeof full, "%s%s", root, path) >= (int)sizeof full)
        return false;
    int fd = open(full, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, size - 1);
    close(fd);
    if (length <= 0)
        return false;
    text[length] = 0;
    if (text[length - 1] == '\n')
        text[length - 1] = 0;
    return text[0] != 0;
}

static struct as_setting read_setting(const char *root, const char *path)
{
    char text[64], *end;
    struct as_setting setting = {0};
    if (!as_probe_read(root, path, text, sizeof text))
        return setting;
    errno = 0;
    setting.value = strtol(text, &end, 10);
    setting.known = end != text && *end == 0 && errno == 0;
    return setting;
}

static void probe_settings(const char *root, struct as_probe *probe)
{
    probe->paranoid = read_setting(root, "/proc/sys/kernel/perf_event_paranoid");
    probe->kptr_restrict = read_setting(root, "/proc/sys/kernel/kptr_restrict");
    probe->mlock_kb = read_setting(root, "/proc/sys/kernel/perf_event_mlock_kb");
    probe->max_sample_rate = read_setting(root, "/proc/sys/kernel/perf_event_max_sample_rate");
    probe->ptrace_scope = read_setting(root, "/proc/sys/kernel/yama/ptrace_scope");
}

/* Seizes a child that waits to be killed, as a debugger would. */
static void probe_ptrace(struct as_probe *probe)
{
    pid_t child = fork();
    if (child < 0) {
        probe->ptrace.error = errno;
        return;
    }
    if (child == 0) {
        for (;;)
            pause();
    }
    probe->ptrace.works = ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0;
    probe->ptrace.error = probe->ptrace.works ? 0 : errno;
    kill(child, SIGKILL);
    while (waitpid(child, NULL, __WALL) < 0 && errno == EINTR)
        ;
}

/* Allocates memory like the engine. */
static void probe_memory(struct as_probe *probe)
{
    void *mapped = MAP_FAILED;
    int fd = memfd_create("assay-doctor", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, AS_PROBE_MEMORY) == 0)
        mapped = mmap(NULL, AS_PROBE_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    probe->memory.works = mapped != MAP_FAILED;
    probe->memory.error = probe->memory.works ? 0 : errno;
    if (mapped != MAP_FAILED)
        munmap(mapped, AS_PROBE_MEMORY);
    if (fd >= 0)
        close(fd);
}

void as_probe_machine(const char *root, struct as_probe *probe)
{
    memset(probe, 0, sizeof *probe);
    as_probe_processor(root, probe);
    as_probe_perf(root, probe);
    probe_settings(root, probe);
    probe_ptrace(probe);
    probe_memory(probe);
}
