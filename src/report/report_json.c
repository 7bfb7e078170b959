/* See report_json.h. */
#include "report/report_json.h"

#include "view/module_check.h"

void as_module_notes_json(const struct as_view *view, struct as_json *json)
{
    as_json_object(json, "changed");
    for (size_t i = 0; i < view->n_modules && i < AS_MODULES_CHECKED; i++) {
        const char *note = as_module_check(view->store, &view->module[i]);
        if (note)
            as_json_string(json, view->module[i].path, note);
    }
    as_json_end(json);
}

void as_filters_json(const struct as_view *view, struct as_json *json)
{
    struct as_view_filter filters[AS_VIEW_FILTERS];
    as_view_filters(view, filters);
    as_json_object(json, "filters");
    for (size_t i = 0; i < AS_VIEW_FILTERS; i++) {
        as_json_array(json, filters[i].plural);
        for (size_t k = 0; k < filters[i].words->len; k++)
            as_json_string(json, NULL, filters[i].words->data[k]);
        as_json_end(json);
    }
    as_json_string(json, "shares_of", view->options.threads.len ? "threads" : "all");
    as_json_end(json);
}

void as_components_json(const struct as_view *view, const struct as_store_row *row, struct as_json *json,
                        const char *name)
{
    char component[AS_COMPONENT_MAX];
    if (!view->has_events)
        return;
    as_json_object(json, name);
    for (size_t i = 0; i < row->n_parts; i++)
        if (row->parts[i].units)
            as_json_double(json, as_view_component(view, row->parts[i].key, component),
                           as_view_cycles(view, row->parts[i].units));
    as_json_end(json);
}

static void component_json(const struct as_legend *legend, struct as_json *json, const char *name, uint64_t units,
                           size_t key)
{
    as_json_object(json, NULL);
    as_json_string(json, "component", name);
    as_json_double(json, "share", as_ratio(units, legend->total));
    as_json_double(json, "share_error", legend->errors[key]);
    as_json_end(json);
}

void as_legend_json(const struct as_legend *legend, const struct as_view *view, struct as_json *json)
{
    char component[AS_COMPONENT_MAX];
    if (!view->has_events || !legend->has_errors)
        return;
    as_json_array(json, "components");
    for (size_t key = 0; key < legend->n; key++)
        component_json(legend, json, as_view_component(view, legend->masks[key], component), legend->units[key], key);
    if (legend->others)
        component_json(legend, json, "other", legend->others, AS_LEGEND_KEYS);
    as_json_end(json);
}

void as_json_module_offset(struct as_json *json, const struct as_view *view, uint32_t module, uint64_t address)
{
    uint64_t offset;
    if (as_view_module_offset(view, module, address, &offset))
        as_json_address(json, "module_offset", offset);
    else
        as_json_null(json, "module_offset");
}

void as_source_json(const struct as_view *view, struct as_json *json, uint32_t function, uint32_t file, uint32_t line)
{
    as_json_string(json, "function", as_view_function(view, function));
    as_json_string(json, "file", as_view_file(view, file));
    if (line)
        as_json_u64(json, "line", line);
    else
        as_json_null(json, "line");
}
