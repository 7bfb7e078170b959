/* See machine_tree.h. */
#include "machine_tree.h"

#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

char machine_root[64];

int machine_set_up(void **state)
{
    snprintf(machine_root, sizeof machine_root, "/tmp/assay-machine.XXXXXX");
    return mkdtemp(machine_root) ? 0 : -1;
}

int machine_tear_down(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", machine_root);
    return system(command);
}

void machine_put(const char *path, const char *text)
{
    char full[PATH_MAX];
    snprintf(full, sizeof full, "%s%s%s", machine_root, path[0] == '/' ? "" : "/sys/bus/event_source/devices/", path);
    for (char *slash = full + strlen(machine_root); (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        assert_true(mkdir(full, 0700) == 0 || errno == EEXIST);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}
