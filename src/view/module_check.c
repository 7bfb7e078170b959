/* See module_check.h. The build-id is certain; without one, size and time are compared. */
#include "view/module_check.h"

#include "base/bytes.h"
#include "base/str.h"
#include "symbol/elffile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_called(const struct as_elf *elf, const char *expected)
{
    struct as_build_id id;
    char text[2 * AS_BUILD_ID_MAX + 1];
    as_elf_build_id(elf, &id);
    as_bytes_hex(id.bytes, id.len, text);
    return strcmp(text, expected) == 0;
}

static const char *check(const struct as_store_module *module, const char *path)
{
    static const char changed[] = "it has changed since the recording";
    struct stat status;
    if (stat(path, &status) != 0)
        return "it no longer exists";
    if (module->build_id) {
        struct as_elf *elf = as_elf_open(path, NULL);
        bool same = elf && is_called(elf, module->build_id);
        as_elf_close(elf);
        return same ? NULL : changed;
    }
    int64_t time = status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec;
    bool same = (uint64_t)status.st_size == module->file_size && time == module->file_time;
    return !module->file_size || same ? NULL : changed;
}

static const char *found_at(const struct as_store *store, const struct as_store_module *module)
{
    char *key = as_format(AS_META_FOUND "%s", module->path);
    const char *place = store ? as_store_meta(store, key) : NULL;
    free(key);
    return place;
}

const char *as_module_file(const struct as_store *store, const struct as_store_module *module)
{
    if (!module->path || module->path[0] != '/')
        return NULL;
    const char *place = found_at(store, module);
    if (place && !check(module, place))
        return place;
    return check(module, module->path) ? NULL : module->path;
}

const char *as_module_check(const struct as_store *store, const struct as_store_module *module)
{
    if (!module->path || module->path[0] != '/' || as_module_file(store, module))
        return NULL;
    return check(module, module->path);
}
