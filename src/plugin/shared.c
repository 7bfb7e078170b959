/* See shared.h. /proc/self/maps shows what is shared and what it is: device and inode are the same in all processes
 * for a file, for System V memory and for anonymous shared memory alike. It is read only where the program maps something as
 * shared, and after a fork where it has done so. */
#include "plugin/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_IS_SHARED = 1, MOST_ATTACHED = 64 };

static const struct {
    int64_t mmap, munmap, mremap, shmat, shmdt;
} calls_of[AS_ARCH_COUNT] = {
    [AS_ARCH_X86_64] = {.mmap = 9, .munmap = 11, .mremap = 25, .shmat = 30, .shmdt = 67},
    [AS_ARCH_RISCV64] = {.mmap = 222, .munmap = 215, .mremap = 216, .shmat = 196, .shmdt = 197},
};

/* Whether the process has ever had shared memory: otherwise nothing needs to be told. Two threads may both set it. */
static _Atomic bool has_shared;
static _Atomic uint64_t attached[MOST_ATTACHED][2]; /* start and bytes of System V memory; start 0: free */

struct shared_range {
    uint64_t start, end, offset, object; /* of the host */
    char path[AS_WIRE_NAME_WORDS * sizeof(uint64_t)];
};

/* A name that is too long keeps its end. */
static void copy_path(char *to, size_t size, const char *path)
{
    size_t length = strlen(path);
    memset(to, 0, size);
    memcpy(to, length > size ? path + length - size : path, length < size ? length : size);
}

/* False: the line is of something that is not shared. */
static bool parse_line(char *line, struct shared_range *range)
{
    unsigned long start, end, offset, major, minor, inode;
    char access[5] = "";
    int path_at = 0;
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%lx-%lx %4s %lx %lx:%lx %lu %n", &start, &end, access, &offset, &major, &minor, &inode,
               &path_at) < 7 ||
        access[3] != 's')
        return false;
    *range = (struct shared_range){
        .start = start, .end = end, .offset = offset, .object = (uint64_t)(major << 20 | minor) << 40 ^ inode};
    range->object += range->object == 0;
    copy_path(range->path, sizeof range->path, path_at ? line + path_at : "");
    return true;
}

static void push_mapping(struct as_wire_lane *lane, const uint64_t words[4], const char *path)
{
    uint64_t name[AS_WIRE_NAME_WORDS] = {0};
    if (path)
        memcpy(name, path, sizeof name);
    as_lane_push(lane, (uint64_t)AS_WIRE_MAPPING << AS_WIRE_EVENT_SHIFT);
    for (size_t i = 0; i < 4; i++)
        as_lane_push(lane, words[i]);
    for (size_t i = 0; i < AS_WIRE_NAME_WORDS; i++)
        as_lane_push(lane, name[i]);
}

static void push_private(struct as_wire_lane *lane, uint64_t start, uint64_t bytes)
{
    const uint64_t words[4] = {start, bytes, 0, 0};
    push_mapping(lane, words, NULL);
}

/* Reports all shared memory, or that which holds a guest address; returns the bytes of the last. Our own lanes are not the
 * program's. */
static uint64_t push_shared(struct as_wire_lane *lane, bool all, uint64_t guest)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t capacity = 0;
    uint64_t host = guest + as_plugin.guest_base, bytes = 0;
    while (maps && getline(&line, &capacity, maps) > 0) {
        struct shared_range range;
        if (!parse_line(line, &range) || (!all && (host < range.start || host >= range.end)) ||
            range.start == (uintptr_t)as_plugin.wire)
            continue;
        bytes = range.end - range.start;
        const uint64_t words[4] = {range.start - as_plugin.guest_base, bytes, range.object, range.offset};
        push_mapping(lane, words, range.path);
    }
    free(line);
    if (maps)
        fclose(maps);
    return bytes;
}

static void attach(struct as_wire_lane *lane, uint64_t start)
{
    uint64_t bytes = push_shared(lane, false, start);
    has_shared = true;
    for (size_t i = 0; i < MOST_ATTACHED; i++) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(&attached[i][0], &none, start)) {
            attached[i][1] = bytes;
            return;
        }
    }
}

static void detach(struct as_wire_lane *lane, uint64_t start)
{
    for (size_t i = 0; i < MOST_ATTACHED; i++)
        if (attached[i][0] == start) {
            push_private(lane, start, attached[i][1]);
            attached[i][0] = 0;
        }
}

void as_shared_note_syscall(struct as_wire_lane *lane, int64_t number, const uint64_t args[AS_WIRE_SYSCALL_ARGS],
                            int64_t result)
{
    bool maps = number == calls_of[as_plugin.arch].mmap, moves = number == calls_of[as_plugin.arch].mremap;
    if (result < 0 && result > -4096)
        return;
    if (maps && args[3] & MAP_IS_SHARED) {
        has_shared = true;
        push_shared(lane, false, (uint64_t)result);
    } else if (maps && has_shared) {
        push_private(lane, (uint64_t)result, args[1]);
    } else if ((moves || number == calls_of[as_plugin.arch].munmap) && has_shared) {
        push_private(lane, args[0], args[1]);
        if (moves)
            push_shared(lane, false, (uint64_t)result);
    } else if (number == calls_of[as_plugin.arch].shmat) {
        attach(lane, (uint64_t)result);
    } else if (number == calls_of[as_plugin.arch].shmdt) {
        detach(lane, args[0]);
    }
}

void as_shared_note_fork(struct as_wire_lane *lane)
{
    if (has_shared)
        push_shared(lane, true, 0);
}

bool as_shared_is_used(void)
{
    return has_shared;
}
