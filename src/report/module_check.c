/* See module_check.h. The build-id tells for certain; without one, size and time have to do. */
#include "report/module_check.h"

#include "base/str.h"
#include "symbol/elffile.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool same_build_id(const struct as_elf *elf, const char *expected)
{
    struct as_build_id id;
    char text[2 * AS_BUILD_ID_MAX + 1] = "";
    as_elf_build_id(elf, &id);
    for (size_t i = 0; i < id.len; i++)
        snprintf(text + 2 * i, 3, "%02x", id.bytes[i]);
    return strcmp(text, expected) == 0;
}

const char *as_module_check(const struct as_store_module *module)
{
    static const char changed[] = "it has changed since the recording";
    struct stat status;
    if (!module->path || module->path[0] != '/')
        return NULL;
    if (stat(module->path, &status) != 0)
        return "it is not there any more";
    if (module->build_id) {
        struct as_elf *elf = as_elf_open(module->path, NULL);
        bool same = elf && same_build_id(elf, module->build_id);
        as_elf_close(elf);
        return same ? NULL : changed;
    }
    int64_t time = status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec;
    bool same = (uint64_t)status.st_size == module->file_size && time == module->file_time;
    return !module->file_size || same ? NULL : changed;
}

/* ---- all of a profile ---- */

enum { MAX_CHECKED = 256 }; /* files that are looked at */

void as_module_notes_text(const struct as_view *view, FILE *out, const struct as_term *term)
{
    struct as_str text = {0};
    size_t more = 0;
    for (size_t i = 0; i < view->n_modules && i < MAX_CHECKED; i++) {
        const char *note = as_module_check(&view->module[i]);
        if (note && !text.len)
            as_str_addf(&text, "note: %s: %s", AS_SHOW(view->module[i].path), note);
        else
            more += note != NULL;
    }
    if (more)
        as_str_addf(&text, " (and %zu more file%s)", more, more == 1 ? "" : "s");
    if (text.len) {
        as_str_add(&text, "; shown is what was recorded");
        as_show_wrapped(out, term, as_str_get(&text), 0, 6);
        fputc('\n', out);
    }
    as_str_free(&text);
}

void as_module_notes_json(const struct as_view *view, struct as_json *json)
{
    as_json_object(json, "changed");
    for (size_t i = 0; i < view->n_modules && i < MAX_CHECKED; i++) {
        const char *note = as_module_check(&view->module[i]);
        if (note)
            as_json_string(json, view->module[i].path, note);
    }
    as_json_end(json);
}
