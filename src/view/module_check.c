/* See module_check.h. The build-id is certain; without one, size and time are compared. */
#include "view/module_check.h"

#include "base/bytes.h"
#include "symbol/elffile.h"

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

const char *as_module_check(const struct as_store_module *module)
{
    static const char changed[] = "it has changed since the recording";
    struct stat status;
    if (!module->path || module->path[0] != '/')
        return NULL;
    if (stat(module->path, &status) != 0)
        return "it no longer exists";
    if (module->build_id) {
        struct as_elf *elf = as_elf_open(module->path, NULL);
        bool same = elf && is_called(elf, module->build_id);
        as_elf_close(elf);
        return same ? NULL : changed;
    }
    int64_t time = status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec;
    bool same = (uint64_t)status.st_size == module->file_size && time == module->file_time;
    return !module->file_size || same ? NULL : changed;
}
