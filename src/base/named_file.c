/* See named_file.h. */
#include "base/named_file.h"

#include "base/alloc.h"
#include "base/install.h"
#include "base/path.h"
#include "base/vec.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef AS_VEC(char *) name_list;

/* The length of a file's name without the suffix; 0: it has another suffix, or nothing before it. */
static size_t stem_length(const struct as_named_files *files, const char *file)
{
    size_t length = strlen(file), suffix = strlen(files->suffix);
    return length > suffix && strcmp(file + length - suffix, files->suffix) == 0 ? length - suffix : 0;
}

static void add_name(const struct as_named_files *files, name_list *names, const char *file)
{
    size_t length = stem_length(files, file);
    if (!length)
        return;
    for (size_t i = 0; i < names->len; i++)
        if (strlen(names->data[i]) == length && strncmp(names->data[i], file, length) == 0)
            return;
    *as_vec_push(names) = as_strndup(file, length);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_folder(const struct as_named_files *files, name_list *names, const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        add_name(files, names, entry->d_name);
    if (dir)
        closedir(dir);
}

void as_named_files_list(const struct as_named_files *files, void (*found)(void *context, const char *name),
                         void *context)
{
    struct as_install_folders *folders = as_alloc(sizeof *folders);
    name_list names = {0};
    as_install_folders(folders, files->beside, files->installed);
    for (int i = 0; i < AS_INSTALL_FOLDERS; i++)
        if (folders->path[i][0])
            read_folder(files, &names, folders->path[i]);
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

void as_named_files_add(const struct as_named_files *files, struct as_str *list)
{
    as_named_files_list(files, add_to_list, list);
}

bool as_named_files_find(const struct as_named_files *files, const char *name_or_path, char path[PATH_MAX],
                         struct as_error *err)
{
    char file[NAME_MAX + 1];
    bool is_path = strchr(name_or_path, '/') != NULL;
    if (strlen(name_or_path) >= PATH_MAX)
        return as_error_set_status(err, AS_EXIT_USAGE, "the name of the %s is too long", files->what);
    if (!is_path && snprintf(file, sizeof file, "%s%s", name_or_path, files->suffix) < (int)sizeof file &&
        as_install_find(file, files->beside, files->installed, path))
        return true;
    snprintf(path, PATH_MAX, "%s", name_or_path);
    if (is_path || access(name_or_path, F_OK) == 0)
        return true;
    struct as_str names = {0};
    as_named_files_add(files, &names);
    as_error_set_status(err, AS_EXIT_USAGE, "no %s '%.100s'; there are: %s; or give the path of a file", files->what,
                        name_or_path, names.len ? names.data : "none that could be found");
    as_str_free(&names);
    return false;
}

void as_named_files_name(const struct as_named_files *files, const char *path, char *name, size_t size)
{
    const char *base = as_path_base(path);
    size_t stem = stem_length(files, base);
    snprintf(name, size, "%.*s", (int)(stem ? stem : strlen(base)), base);
    as_error_clean(name);
}
