/* Declarations of the formats, one file each; export.c has the table. */
#ifndef AS_EXPORT_INTERNAL_H
#define AS_EXPORT_INTERNAL_H

#include "export/export.h"

extern const struct as_export_format as_export_pprof, as_export_folded, as_export_callgrind, as_export_speedscope,
    as_export_script, as_export_csv, as_export_json;

/* Reports that the file has no series of that name, and which ones it has. Returns false. */
bool as_export_no_series(const struct as_store *store, const char *name, struct as_error *err);

#endif
