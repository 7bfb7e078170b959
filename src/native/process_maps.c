/* See process_maps.h. */
#include "native/process_maps.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static bool read_line(const char *line, struct as_perf_process *map, char *name, size_t size)
{
    unsigned long long start, end, offset, inode;
    char rights[8];
    int at = 0;
    if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &start, &end, rights, &offset, &map->major, &map->minor,
               &inode, &at) < 7)
        return false;
    snprintf(name, size, "%s", line + at);
    name[strcspn(name, "\n")] = '\0';
    map->name = name[0] ? name : "//anon";
    map->start = start;
    map->length = end - start;
    map->offset = offset;
    map->inode = inode;
    map->data = rights[2] != 'x';
    map->flags = rights[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
    return true;
}

void as_process_maps(pid_t pid, bool data, as_process_maps_take *take, void *context)
{
    char path[64], line[4400], name[4097];
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        struct as_perf_process map = {
            .kind = AS_PERF_MAP, .pid = (uint32_t)pid, .tid = (uint32_t)pid, .mode = AS_PERF_USER};
        if (read_line(line, &map, name, sizeof name) && (data || !map.data))
            take(context, &map);
    }
    if (file)
        fclose(file);
}
