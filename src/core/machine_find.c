/* Finds machine files: beside the program (the build tree), in the installation, or at a given path. */
#include "base/keyfile.h"
#include "base/named_file.h"
#include "core/machine.h"

#include <stdlib.h>

#ifndef AS_MACHINE_DIR
#define AS_MACHINE_DIR "share/assay/machines"
#endif

static const struct as_named_files machine_files = {
    .what = "machine", .suffix = ".machine", .beside = "machines", .installed = AS_MACHINE_DIR};

void as_machine_list(void (*found)(void *context, const char *name), void *context)
{
    as_named_files_list(&machine_files, found, context);
}

void as_machine_names(struct as_str *list)
{
    as_named_files_add(&machine_files, list);
}

bool as_machine_load(const char *name_or_path, struct as_machine *machine, struct as_error *err)
{
    char path[PATH_MAX];
    size_t size;
    if (!as_named_files_find(&machine_files, name_or_path, path, err))
        return false;
    char *text = as_keyfile_read(path, &size, err);
    bool ok = text && as_machine_parse(text, size, path, machine, err);
    free(text);
    if (!ok)
        return false;
    snprintf(machine->path, sizeof machine->path, "%s", path);
    if (!machine->name[0])
        as_named_files_name(&machine_files, path, machine->name, sizeof machine->name);
    return true;
}
