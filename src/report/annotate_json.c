/* See annotate.h. */
#include "report/annotate.h"
#include "report/report_json.h"

/* {event: count}: executions with the event, or samples of a sampler. */
static void json_events(const struct as_annotation *annotation, struct as_json *json, const struct as_store_row *row)
{
    size_t n;
    const struct as_store_event *events = as_store_events(annotation->view->store, &n);
    if (!annotation->view->has_events)
        return;
    as_json_object(json, "events");
    for (size_t e = 0; e < n; e++) {
        uint64_t count = 0;
        for (size_t i = 0; i < row->n_parts; i++)
            count += row->parts[i].key >> events[e].bit & 1 ? row->parts[i].samples : 0;
        if (count)
            as_json_u64(json, events[e].name, count);
    }
    as_json_end(json);
}

static void json_inlined(const struct as_annotation *annotation, struct as_json *json, const struct as_note_insn *insn)
{
    if (!insn->n_chain)
        return;
    as_json_array(json, "inlined");
    for (uint32_t i = 0; i < insn->n_chain; i++)
        as_json_string(json, NULL, annotation->chains.data[insn->chain + i]);
    as_json_end(json);
}

static void json_location(const struct as_annotation *annotation, struct as_json *json, const struct as_note_insn *insn)
{
    const struct as_view *view = annotation->view;
    const struct as_store_function *function = &annotation->what;
    const char *source = as_annotation_source(annotation, insn->file, insn->line);
    as_json_string(json, "module", function->module < view->n_modules ? view->module[function->module].path : NULL);
    as_json_string(json, "function", function->name);
    as_json_string(json, "file", as_annotation_file(annotation, insn->file));
    if (insn->line)
        as_json_u64(json, "line", insn->line);
    else
        as_json_null(json, "line");
    as_json_address(json, "address", insn->address);
    as_json_string(json, "text", insn->text);
    if (source)
        as_json_string(json, "source", source);
    json_inlined(annotation, json, insn);
}

static void json_target(const struct as_annotation *annotation, struct as_json *json, const struct as_note_insn *insn)
{
    char text[AS_TARGET_MAX];
    if (!insn->target)
        return;
    as_json_address(json, "target", insn->target);
    as_json_string(json, "target_name", as_annotation_target(annotation, insn, text));
}

/* Of the shares of the program's time. */
static void json_part_errors(const struct as_annotation *annotation, struct as_json *json,
                             const struct as_note_insn *insn)
{
    char component[AS_COMPONENT_MAX];
    const double *errors = annotation->errors + annotation->parts_at[insn - annotation->insns.data];
    as_json_object(json, "component_errors");
    for (size_t i = 0; i < insn->row.n_parts; i++)
        if (insn->row.parts[i].units)
            as_json_double(json, as_view_component(annotation->view, insn->row.parts[i].key, component), errors[i]);
    as_json_end(json);
}

static void json_insn(const struct as_annotation *annotation, struct as_json *json, const struct as_note_insn *insn)
{
    const struct as_view *view = annotation->view;
    as_json_object(json, NULL);
    json_location(annotation, json, insn);
    json_target(annotation, json, insn);
    if (insn->data)
        as_json_string(json, "data", insn->data);
    as_json_bool(json, "recorded", insn->recorded);
    if (view->summary.exact || view->summary.sampled)
        as_json_u64(json, "executions", insn->row.executions);
    else
        as_json_u64(json, "samples", insn->row.samples);
    if (annotation->has_runs) {
        as_json_double(json, "block_runs", insn->runs);
        as_json_bool(json, "block_start", insn->starts);
    }
    as_json_double(json, "time", as_view_cycles(view, insn->row.units));
    as_json_double(json, "cycles", as_view_cycles(view, insn->row.units)); /* the original name of the field */
    as_json_double(json, "share", as_ratio(insn->row.units, annotation->rows.total));
    if (annotation->has_errors)
        as_json_double(json, "share_error", insn->error);
    as_json_double(json, "function_share", as_ratio(insn->row.units, annotation->units));
    as_components_json(view, &insn->row, json, "components");
    if (annotation->parts_at)
        json_part_errors(annotation, json, insn);
    json_events(annotation, json, &insn->row);
    as_json_end(json);
}

void as_annotation_json(const struct as_annotation *annotation, struct as_json *json)
{
    const struct as_view *view = annotation->view;
    as_json_object(json, NULL);
    as_summary_json(&view->summary, json, "summary");
    as_json_string(json, "function", annotation->what.name);
    as_json_double(json, "share", as_ratio(annotation->units, annotation->rows.total));
    as_json_string(json, "module_note", annotation->module_note);
    as_json_string(json, "hole_note", annotation->hole_note);
    as_json_array(json, "lines");
    for (size_t i = 0; i < annotation->lines.len; i++) {
        const struct as_note_line *line = &annotation->lines.data[i];
        as_json_object(json, NULL);
        as_json_string(json, "file", as_view_file(view, line->file));
        as_json_u64(json, "line", line->line);
        as_json_string(json, "source", as_annotation_source(annotation, line->file, line->line));
        as_json_double(json, "time", as_view_cycles(view, line->units));
        as_json_double(json, "cycles", as_view_cycles(view, line->units));
        as_json_double(json, "function_share", as_ratio(line->units, annotation->units));
        if (annotation->has_errors)
            as_json_double(json, "share_error", line->error);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_array(json, "rows");
    for (size_t i = 0; i < annotation->insns.len; i++)
        json_insn(annotation, json, &annotation->insns.data[i]);
    as_json_end(json);
    as_json_end(json);
}
