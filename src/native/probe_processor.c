/* Identifies the processor: /proc/cpuinfo, whose fields differ by architecture, uname, and on x86 the hypervisor's
 * signature (cpuid leaf 0x40000000). */
#include "native/probe_parts.h"

#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { CPUINFO_BYTES = 16384 }; /* the entry of the first processor is far smaller */

/* The value of the first line "name : value"; empty if there is none. */
static void cpuinfo_field(const char *cpuinfo, const char *name, char *value, size_t size)
{
    size_t length = strlen(name);
    value[0] = 0;
    for (const char *line = cpuinfo; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) != 0 || !strchr(" \t:", line[length]) || !line[length])
            continue;
        const char *at = line + length + strspn(line + length, " \t");
        if (*at != ':')
            continue;
        at += 1 + strspn(at + 1, " \t");
        snprintf(value, size, "%.*s", (int)strcspn(at, "\n"), at);
        return;
    }
}

static void first_field(const char *cpuinfo, const char *const *names, char *value, size_t size)
{
    value[0] = 0;
    for (size_t i = 0; names[i] && !value[0]; i++)
        cpuinfo_field(cpuinfo, names[i], value, size);
}

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += length)
        if ((at == text || isspace((unsigned char)at[-1])) && (!at[length] || isspace((unsigned char)at[length])))
            return true;
    return false;
}

/* The name that the hypervisor reports; called only if the processor says that there is one. */
static void ask_hypervisor(char *name, size_t size)
{
#if defined(__x86_64__)
    unsigned a, words[3];
    char text[sizeof words + 1] = {0};
    __cpuid(0x40000000, a, words[0], words[1], words[2]);
    memcpy(text, words, sizeof words);
    for (char *at = text; *at; at++)
        *at = isprint((unsigned char)*at) ? *at : '?';
    snprintf(name, size, "%s", strcmp(text, "KVMKVMKVM") == 0 ? "KVM" : text);
#else
    (void)size;
    name[0] = 0;
#endif
}

static void probe_virtual(const char *root, const char *flags, struct as_probe *probe)
{
    char text[64];
    probe->virtual_machine = has_word(flags, "hypervisor");
    if (probe->virtual_machine)
        ask_hypervisor(probe->hypervisor, sizeof probe->hypervisor);
    if (as_probe_read(root, "/sys/hypervisor/type", text, sizeof text) ||
        as_probe_read(root, "/proc/device-tree/hypervisor/compatible", text, sizeof text)) {
        probe->virtual_machine = true;
        if (!probe->hypervisor[0])
            snprintf(probe->hypervisor, sizeof probe->hypervisor, "%s", text);
    }
}

static int allowed_processors(void)
{
    size_t size =
        CPU_ALLOC_SIZE(sysconf(_SC_NPROCESSORS_CONF)) + sizeof(cpu_set_t); /* the kernel may have room for more */
    cpu_set_t *set = calloc(1, size);
    int allowed = set && sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
    free(set);
    return allowed;
}

bool as_probe_cpu_id(const char *root, char *text, size_t size)
{
    static const char *const names[] = {"vendor_id", "cpu family", "model", "stepping"};
    char *cpuinfo = calloc(1, CPUINFO_BYTES), fields[4][32] = {""};
    if (cpuinfo && as_probe_read(root, "/proc/cpuinfo", cpuinfo, CPUINFO_BYTES))
        for (size_t i = 0; i < 4; i++)
            cpuinfo_field(cpuinfo, names[i], fields[i], sizeof fields[i]);
    free(cpuinfo);
    if (fields[0][0] && fields[1][0])
        return snprintf(text, size, "%s,%s,%s,%s", fields[0], fields[1], fields[2], fields[3]) < (int)size;
    return as_probe_read(root, "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", text, size);
}

void as_probe_processor(const char *root, struct as_probe *probe)
{
    static const char *const vendors[] = {"vendor_id", "CPU implementer", "mvendorid", NULL};
    static const char *const models[] = {"model name", "uarch", "Model", "CPU part", NULL};
    struct utsname name;
    char *cpuinfo = calloc(1, CPUINFO_BYTES), flags[4096] = "";
    if (uname(&name) == 0)
        snprintf(probe->architecture, sizeof probe->architecture, "%.31s", name.machine);
    if (cpuinfo && as_probe_read(root, "/proc/cpuinfo", cpuinfo, CPUINFO_BYTES)) {
        first_field(cpuinfo, vendors, probe->vendor, sizeof probe->vendor);
        first_field(cpuinfo, models, probe->model, sizeof probe->model);
        cpuinfo_field(cpuinfo, "flags", flags, sizeof flags);
    }
    free(cpuinfo);
    probe_virtual(root, flags, probe);
    probe->processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    probe->processors_allowed = allowed_processors();
}
