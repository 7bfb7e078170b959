/* See report_csv.h. */
#include "report/report_csv.h"

#include "base/alloc.h"
#include "base/csv.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdlib.h>

void as_csv_field(FILE *out, const char *text)
{
    struct as_str field = {0};
    as_csv_add_text(&field, text ? text : "", 0);
    fputs(as_str_get(&field), out);
    as_str_free(&field);
}

void as_csv_module_offset(FILE *out, const struct as_view *view, uint32_t module, uint64_t address)
{
    uint64_t offset;
    if (as_view_module_offset(view, module, address, &offset))
        fprintf(out, "0x%" PRIx64, offset);
}

static void put_name(const struct as_view *view, uint64_t mask, const char *prefix, const char *suffix, FILE *out)
{
    char component[AS_COMPONENT_MAX];
    char *name = as_format("%s%s%s", prefix, as_view_component(view, mask, component), suffix);
    fputc(',', out);
    as_csv_field(out, name);
    free(name);
}

void as_csv_error_names(const struct as_legend *legend, const struct as_view *view, const char *prefix, FILE *out)
{
    for (size_t key = 0; key < legend->n; key++)
        put_name(view, legend->masks[key], prefix, " share_error", out);
}

void as_csv_names(const struct as_legend *legend, const struct as_view *view, const char *prefix, FILE *out)
{
    for (size_t key = 0; key < legend->n; key++)
        put_name(view, legend->masks[key], prefix, "", out);
    if (legend->others)
        fprintf(out, ",%sother", prefix);
}

void as_csv_components(const struct as_legend *legend, const struct as_view *view, const struct as_store_row *row,
                       FILE *out)
{
    uint64_t units[AS_LEGEND_KEYS + 1] = {0};
    for (size_t i = 0; i < row->n_parts; i++)
        units[as_legend_key(legend, row->parts[i].key)] += row->parts[i].units;
    for (size_t key = 0; key < legend->n; key++)
        fprintf(out, ",%.17g", as_view_cycles(view, units[key]));
    if (legend->others)
        fprintf(out, ",%.17g", as_view_cycles(view, units[AS_LEGEND_KEYS]));
}
