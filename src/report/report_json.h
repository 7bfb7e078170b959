/* Shared by JSON reports. Members are added to an open object. */
#ifndef AS_REPORT_REPORT_JSON_H
#define AS_REPORT_REPORT_JSON_H

#include "base/json.h"
#include "view/diff.h"
#include "view/legend.h"
#include "view/view.h"

/* "summary", or another name: what was measured and how well. */
void as_summary_json(const struct as_summary *summary, struct as_json *json, const char *name);
/* Its members about the error: the estimate, how it was obtained, its level, and the error at all levels. */
void as_summary_error_json(const struct as_summary *summary, struct as_json *json);
/* Its member "trust", if an error is to be expected: by chance, by bias, and together. */
void as_summary_trust_json(const struct as_summary *summary, struct as_json *json);
/* "changed": files of the profile that have changed, {path: what is wrong}. */
void as_module_notes_json(const struct as_view *view, struct as_json *json);
/* "filters": the words of each filter, and what shares refer to. */
void as_filters_json(const struct as_view *view, struct as_json *json);
/* A row's components, {name: time}; nothing if the series has none. */
void as_components_json(const struct as_view *view, const struct as_store_row *row, struct as_json *json,
                        const char *name);
/* "components": in a sampled run those of all rows together, their shares of these and their error bars. */
void as_legend_json(const struct as_legend *legend, const struct as_view *view, struct as_json *json);
/* "function", "file" and "line" of a location; null if unknown. */
void as_source_json(const struct as_view *view, struct as_json *json, uint32_t function, uint32_t file, uint32_t line);
/* "module_offset": the offset in the module's file; null where there is none. */
void as_json_module_offset(struct as_json *json, const struct as_view *view, uint32_t module, uint64_t address);
/* The members of a comparison; `limit` rows (0: all). The page uses them, too. */
void as_diff_json(const struct as_diff *diff, struct as_json *json, size_t limit);

#endif
