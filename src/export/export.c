/* See export.h. */
#include "export/export.h"

#include "base/str.h"
#include "export/export_internal.h"

#include <string.h>

/* To add a format: a file export_NAME.c, its declaration in export_internal.h, its line here and in meson.build, and its part of
 * doc/format/export.md. */
const struct as_export_format *const as_export_formats[] = {
    &as_export_pprof,  &as_export_folded, &as_export_callgrind, &as_export_speedscope,
    &as_export_script, &as_export_csv,    &as_export_json,      NULL,
};

const struct as_export_format *as_export_find(const char *name)
{
    for (size_t i = 0; as_export_formats[i]; i++)
        if (strcmp(as_export_formats[i]->name, name) == 0)
            return as_export_formats[i];
    return NULL;
}

void as_export_name_formats(struct as_str *list)
{
    for (size_t i = 0; as_export_formats[i]; i++)
        as_str_add_word(list, true, as_export_formats[i]->name);
}

bool as_export_no_series(const struct as_store *store, const char *name, struct as_error *err)
{
    struct as_str names = {0};
    size_t n;
    const struct as_store_series *series = as_store_series(store, &n);
    for (size_t i = 0; i < n; i++)
        as_str_add_word(&names, true, series[i].name);
    as_error_set_status(err, AS_EXIT_USAGE, "--series=%.200s: %s has no series of that name; its series are %s", name,
                        as_store_file_name(store), n ? as_str_get(&names) : "none at all");
    as_str_free(&names);
    return false;
}
