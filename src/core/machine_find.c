/* Finds machine files: beside the program (the build tree), in the installation, or at a given path. */
#include "base/install.h"
#include "base/vec.h"
#include "core/machine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef AS_MACHINE_DIR
#define AS_MACHINE_DIR "share/assay/machines"
#endif

static const char suffix[] = ".machine";
enum { SUFFIX = sizeof suffix - 1, READ_LIMIT = (1 << 20) + 1 };

static bool find_by_name(const char *name, char path[PATH_MAX])
{
    char file[NAME_MAX + 1];
    return snprintf(file, sizeof file, "%s%s", name, suffix) < (int)sizeof file &&
           as_install_find(file, "machines", AS_MACHINE_DIR, path);
}

typedef AS_VEC(char *) name_list;

static void add_name(name_list *names, const char *file)
{
    size_t length = strlen(file);
    if (length <= SUFFIX || strcmp(file + length - SUFFIX, suffix) != 0)
        return;
    for (size_t i = 0; i < names->len; i++)
        if (strlen(names->data[i]) == length - SUFFIX && strncmp(names->data[i], file, length - SUFFIX) == 0)
            return;
    *as_vec_push(names) = as_strndup(file, length - SUFFIX);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void as_machine_list(void (*found)(void *context, const char *name), void *context)
{
    struct as_install_folders *folders = as_alloc(sizeof *folders);
    name_list names = {0};
    as_install_folders(folders, "machines", AS_MACHINE_DIR);
    for (int i = 0; i < AS_INSTALL_FOLDERS; i++) {
        DIR *dir = folders->path[i][0] ? opendir(folders->path[i]) : NULL;
        for (struct dirent *entry; dir && (entry = readdir(dir));)
            add_name(&names, entry->d_name);
        if (dir)
            closedir(dir);
    }
    if (names.len > 0)
        qsort(names.data, names.len, sizeof *names.data, by_name);
    for (size_t i = 0; i < names.len; i++) {
        found(context, names.data[i]);
        free(names.data[i]);
    }
    as_vec_free(&names);
    free(folders);
}

static void add_to_list(void *context, const char *name)
{
    as_str_add_word(context, true, name);
}

void as_machine_names(struct as_str *list)
{
    as_machine_list(add_to_list, list);
}

static bool not_found(const char *name, struct as_error *err)
{
    struct as_str names = {0};
    as_machine_names(&names);
    as_error_set_status(err, AS_EXIT_USAGE, "no machine '%.100s'; there are: %s; or give the path of a file", name,
                        names.len ? names.data : "none that could be found");
    as_str_free(&names);
    return false;
}

/* At most one byte more than a machine file may have: the parser then says that it is too large. */
static bool read_file(const char *path, char *text, size_t *size, struct as_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : 1;
    for (*size = 0; n > 0 && *size < READ_LIMIT;) {
        n = read(fd, text + *size, READ_LIMIT - *size);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            *size += (size_t)n;
    }
    if (n < 0)
        as_error_set(err, "%s: cannot be read: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return n >= 0;
}

/* "machines/mine.machine" is called mine unless it says otherwise. */
static void name_after_file(struct as_machine *machine)
{
    const char *slash = strrchr(machine->path, '/'), *base = slash ? slash + 1 : machine->path;
    size_t length = strlen(base);
    if (machine->name[0])
        return;
    if (length > SUFFIX && strcmp(base + length - SUFFIX, suffix) == 0)
        length -= SUFFIX;
    snprintf(machine->name, sizeof machine->name, "%.*s", (int)length, base);
    as_error_clean(machine->name);
}

bool as_machine_load(const char *name_or_path, struct as_machine *machine, struct as_error *err)
{
    char path[PATH_MAX];
    bool is_path = strchr(name_or_path, '/') != NULL;
    if (strlen(name_or_path) >= PATH_MAX)
        return as_error_set_status(err, AS_EXIT_USAGE, "the name of the machine is too long");
    if (is_path || !find_by_name(name_or_path, path)) {
        if (!is_path && access(name_or_path, F_OK) != 0)
            return not_found(name_or_path, err);
        snprintf(path, sizeof path, "%s", name_or_path);
    }
    char *text = as_alloc(READ_LIMIT);
    size_t size;
    bool ok = read_file(path, text, &size, err) && as_machine_parse(text, size, path, machine, err);
    free(text);
    if (!ok)
        return false;
    snprintf(machine->path, sizeof machine->path, "%s", path);
    name_after_file(machine);
    return true;
}
