/* What an export writes of a profile, for its tests. */
#ifndef AS_TEST_EXPORT_BED_H
#define AS_TEST_EXPORT_BED_H

#include "export/export.h"
#include "unit.h"

#include <stdio.h>

/* The caller frees it. */
static inline char *export_written(struct as_store *store, const char *format, struct as_export_options options,
                                   size_t *size)
{
    char *text = NULL;
    struct as_error err = AS_ERROR_INIT;
    FILE *out = open_memstream(&text, size);
    assert_non_null(as_export_find(format));
    if (!as_export_find(format)->write(store, &options, out, &err))
        fail_msg("%s: %s", format, err.message);
    assert_int_equal(fclose(out), 0);
    return text;
}

#endif
