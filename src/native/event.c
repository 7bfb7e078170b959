/* Resolves names of events. See event.h for the order of the look-ups. */
#include "native/event.h"

#include <ctype.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct named {
    const char *name;
    uint32_t type;
    uint64_t config;
};

static const struct named generic[] = {
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
    {"dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    {"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
};

static bool find_generic(const char *text, struct as_native_event *event)
{
    for (size_t i = 0; i < sizeof generic / sizeof generic[0]; i++) {
        if (strcmp(text, generic[i].name) != 0)
            continue;
        bool software = generic[i].type == PERF_TYPE_SOFTWARE;
        event->attr.type = generic[i].type;
        event->attr.config = generic[i].config;
        event->unit =
            software && generic[i].config <= PERF_COUNT_SW_TASK_CLOCK ? AS_NATIVE_UNIT_CLOCK : AS_NATIVE_UNIT_COUNTER;
        snprintf(event->pmu, sizeof event->pmu, "%s", software ? "software" : "cpu");
        return true;
    }
    return false;
}

/* "r1a2b". A name may start like that, too ("ref-cycles"); that is not a raw code. */
static bool find_raw(const char *text, struct as_native_event *event)
{
    char *end;
    if (text[0] != 'r' || !isxdigit((unsigned char)text[1]))
        return false;
    errno = 0;
    event->attr.config = strtoull(text + 1, &end, 16);
    event->attr.type = PERF_TYPE_RAW;
    snprintf(event->pmu, sizeof event->pmu, "cpu");
    return *end == '\0' && !errno;
}

/* "mem:ADDRESS[/LENGTH][:rw]", as perf spells it. */
static bool parse_watchpoint(const char *text, struct as_native_event *event, struct as_error *err)
{
    char *end;
    uint64_t address = strtoull(text + 4, &end, 0), length = 4;
    if (end == text + 4)
        return as_error_set(err, "\"%s\": no address", text);
    if (*end == '/')
        length = strtoull(end + 1, &end, 0);
    bool reads = false, writes = false, executes = false, access = *end == ':';
    for (end += access; access && *end; end++) {
        reads |= *end == 'r';
        writes |= *end == 'w';
        executes |= *end == 'x';
        if (!strchr("rwx", *end))
            break;
    }
    bool data = length == 1 || length == 2 || length == 4 || length == 8;
    if (*end || (executes && (reads || writes)) || (!executes && (!data || address % length)))
        return as_error_set(err, "\"%s\": expected mem:ADDRESS[/1|2|4|8][:r|w|rw|x], aligned to its length", text);
    event->attr.type = PERF_TYPE_BREAKPOINT;
    event->attr.bp_addr = address;
    event->attr.bp_len = executes ? sizeof(long) : length;
    event->attr.bp_type = executes                       ? HW_BREAKPOINT_X
                          : (access && reads && !writes) ? HW_BREAKPOINT_R
                          : access && !reads             ? HW_BREAKPOINT_W
                                                         : HW_BREAKPOINT_RW;
    event->unit = AS_NATIVE_UNIT_WATCHPOINT;
    snprintf(event->pmu, sizeof event->pmu, "breakpoint");
    return true;
}

/* The PMU's own events include the load latency (Intel); libpfm4 knows other processors. */
static bool parse_accesses(const char *root, const char *text, struct as_native_event *event, struct as_error *err)
{
    bool loads = strcmp(text, "loads") == 0;
    const char *sysfs = loads ? "mem-loads" : "mem-stores";
    static const char *const pmus[] = {"cpu", "cpu_core"};
    static const char *const names[2][4] = {
        {"MEM_INST_RETIRED:ALL_STORES", "MEM_UOPS_RETIRED:ALL_STORES", "LS_DISPATCH:STORE_DISPATCH", "ST_RETIRED"},
        {"MEM_INST_RETIRED:ALL_LOADS", "MEM_UOPS_RETIRED:ALL_LOADS", "LS_DISPATCH:LD_DISPATCH", "LD_RETIRED"}};
    char file[64];
    snprintf(file, sizeof file, "events/%s", sysfs);
    for (size_t i = 0; i < sizeof pmus / sizeof pmus[0]; i++)
        if (as_native_event_pmu_has(root, pmus[i], file))
            return as_native_event_from_sysfs(root, pmus[i], sysfs, event, err);
    for (size_t i = 0; root[0] == '\0' && i < 4; i++) /* libpfm4 knows only the machine it runs on */
        if (as_native_event_from_pfm(names[loads][i], event, err))
            return true;
    return as_error_set(err, "this machine's PMU has no event for %s", text);
}

/* Cuts off the modifiers: the word after the last colon, if it consists of modifier letters. */
static bool take_modifiers(char *text, struct as_native_event *event)
{
    char *colon = strrchr(text, ':');
    unsigned precise = 0;
    bool user = false, kernel = false;
    if (!colon || colon == text || !colon[1] || strspn(colon + 1, "ukp") != strlen(colon + 1))
        return true;
    for (const char *at = colon + 1; *at; at++) {
        user |= *at == 'u';
        kernel |= *at == 'k';
        precise += *at == 'p';
    }
    *colon = '\0';
    event->attr.precise_ip = precise & 3;
    event->user_only = user && !kernel;
    event->kernel_only = kernel && !user;
    return precise <= 3;
}

static bool parse_plain(const char *root, char *text, struct as_native_event *event, struct as_error *err)
{
    char *slash = strchr(text, '/');
    if (find_generic(text, event) || find_raw(text, event))
        return true;
    if (strncmp(text, "mem:", 4) == 0)
        return parse_watchpoint(text, event, err);
    if (strcmp(text, "loads") == 0 || strcmp(text, "stores") == 0)
        return parse_accesses(root, text, event, err);
    if (!slash)
        return as_native_event_from_pfm(text, event, err);
    char *last = strrchr(text, '/');
    if (last == slash || last[1])
        return as_error_set(err, "\"%s\": expected pmu/event/ or pmu/term=value,…/", text);
    *slash = *last = '\0';
    return as_native_event_from_sysfs(root, text, slash + 1, event, err);
}

bool as_native_event_parse(const char *root, const char *text, struct as_native_event *event, struct as_error *err)
{
    char copy[sizeof event->name];
    struct as_native_event result = {.attr.size = sizeof result.attr};
    if (!text[0] || strlen(text) >= sizeof copy)
        return as_error_set(err, "an event's name has 1 to %zu characters", sizeof copy - 1);
    strcpy(copy, text);
    if (!take_modifiers(copy, &result))
        return as_error_set(err, "\"%s\": the highest precise level is ppp", text);
    unsigned precise = result.attr.precise_ip;
    if (!parse_plain(root, copy, &result, err))
        return false;
    if (precise)
        result.attr.precise_ip = precise & 3;
    result.attr.size = sizeof result.attr;
    strcpy(result.name, text);
    *event = result;
    return true;
}
