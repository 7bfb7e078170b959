/* Data: text, JSON, CSV. See report_kinds.h. */
#include "base/alloc.h"
#include "base/path.h"
#include "report/report_csv.h"
#include "report/report_json.h"
#include "report/report_kinds.h"
#include "report/report_text.h"
#include "view/data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct shown {
    struct as_data data;
    size_t limit; /* rows to show; 0: all */
};

static void free_data(void *state)
{
    struct shown *shown = state;
    as_data_free(&shown->data);
    free(shown);
}

static void *make_data(const struct as_report_request *request, struct as_error *err)
{
    enum as_data_level level = request->by == AS_REPORT_BY_LINE          ? AS_DATA_BY_LINE
                               : request->by == AS_REPORT_BY_INSTRUCTION ? AS_DATA_BY_INSTRUCTION
                                                                         : AS_DATA_BY_OBJECT;
    struct shown *shown = as_alloc(sizeof *shown);
    shown->limit = request->limit;
    if (as_data_make(&shown->data, request->view, level, err))
        return shown;
    free_data(shown);
    return NULL;
}

/* ---- names ---- */

static const char *module_name(const struct as_data *data, uint32_t object)
{
    const char *name = NULL;
    if (object < data->n_objects)
        name = as_view_module(data->view, data->objects[object].module);
    return name ? name : "";
}

/* "main+0x1c", or the source line if the row is by line. Returns `name` or a constant. */
static const char *place_name(const struct as_data *data, const struct as_data_row *row, uint32_t instruction,
                              char name[AS_ROW_NAME_MAX])
{
    const struct as_store_location *location = &data->view->location[instruction];
    const char *file = as_view_file(data->view, location->file);
    char text[AS_SHOW_MAX];
    if (data->level == AS_DATA_BY_LINE && row && file) {
        snprintf(text, sizeof text, "%.400s:%" PRIu32, as_path_base(file), location->line);
        return as_show(text, name);
    }
    return as_view_location_name(data->view, instruction, name);
}

/* ---- text ---- */

static void put_reasons(const struct as_data *data, FILE *out)
{
    const char *before = " (", *reason;
    double samples;
    for (size_t at = 0; as_data_next_reason(data, &at, &reason, &samples);) {
        fprintf(out, "%s%s %.0f", before, AS_SHOW(reason), samples);
        before = ", ";
    }
    if (*before == ',')
        fputc(')', out);
}

/* "addresses: 5.1 % exact, 80.2 % next, 14.0 % watched, 0.7 % none (kernel 12)". */
static void put_origins(const struct as_data *data, FILE *out)
{
    double all = 0;
    const char *before = "addresses: ";
    for (size_t i = 0; i < AS_DATA_ORIGINS; i++)
        all += data->origins[i].samples;
    for (size_t i = 0; i < AS_DATA_ORIGINS; i++) {
        const struct as_data_origin *origin = &data->origins[i];
        if (origin->samples <= 0)
            continue;
        fprintf(out, "%s%.1f %% %s", before, 100 * origin->samples / all, origin->text);
        before = ", ";
        if (i == AS_DATA_WATCHED)
            fprintf(out, " (by %s hits)", AS_COUNT((uint64_t)data->watch_hits));
        if (i == AS_DATA_NONE)
            put_reasons(data, out);
    }
    if (*before == ',')
        fprintf(out, " of %s samples\n", AS_COUNT((uint64_t)all));
}

static unsigned longest_name(const struct as_data *data, size_t n)
{
    char name[AS_SHOW_MAX];
    size_t longest = sizeof "object" - 1;
    for (size_t i = 0; i < n; i++) {
        size_t columns =
            as_show_columns(as_view_object_name(data->objects, data->n_objects, data->rows[i].object, name));
        longest = columns > longest ? columns : longest;
    }
    return longest < 32 ? (unsigned)longest : 32;
}

static void put_top(const struct as_data *data, const struct as_data_row *row, FILE *out)
{
    char name[AS_ROW_NAME_MAX];
    if (data->level != AS_DATA_BY_OBJECT) {
        fputs(AS_SHOW(place_name(data, row, row->instruction, name)), out);
        return;
    }
    for (size_t i = 0; i < row->n_top; i++)
        fprintf(out, "%s%s %.0f %%", i ? ", " : "", AS_SHOW(place_name(data, NULL, row->top[i].instruction, name)),
                100 * as_ratio(row->top[i].units, row->units));
    if (row->n_instructions > row->n_top)
        fprintf(out, ", %s more", AS_COUNT(row->n_instructions - row->n_top));
}

static void put_row(const struct as_data *data, const struct as_data_row *row, FILE *out, const struct as_term *term,
                    unsigned name)
{
    char object[AS_SHOW_MAX];
    double share = as_ratio(row->units, data->units);
    as_term_heat(out, term, share);
    fprintf(out, "%7.2f %%  ", 100 * share);
    as_term_plain(out, term);
    fprintf(out, "%9s  %5.0f %%  %5.0f %%  %9s  %9s  ", AS_COUNT(row->samples),
            100 * as_ratio(row->load_units, row->units), 100 * as_ratio(row->store_units, row->units),
            AS_COUNT(row->lines), AS_COUNT(row->bytes));
    as_show_in(out, term, as_view_object_name(data->objects, data->n_objects, row->object, object), name, true);
    fputs("  ", out);
    as_show_in(out, term, module_name(data, row->object), 16, true);
    fputs("  ", out);
    put_top(data, row, out);
    fputc('\n', out);
}

static void put_text(const void *state, FILE *out, const struct as_term *term)
{
    static const char *const last[] = {"accessed by", "source line", "instruction"};
    const struct shown *shown = state;
    const struct as_data *data = &shown->data;
    size_t n = as_report_shown(data->n, shown->limit);
    unsigned name = longest_name(data, n);
    uint64_t rest = 0;
    as_summary_text(&data->view->summary, out, term);
    put_origins(data, out);
    if (as_filters_text(data->view, out, false))
        fputc('\n', out);
    fputs("shares are of the samples with an address; lines (of 64 bytes) and bytes are those accessed by samples\n\n",
          out);
    as_term_bold(out, term, true);
    bool is_time = strcmp(as_summary_noun(&data->view->summary), "time") == 0;
    fprintf(out, "%s      samples    loads   stores      lines      bytes  %-*s  %-16s  %s\n",
            is_time ? "   time" : "  share", (int)name, "object", "module", last[data->level]);
    as_term_bold(out, term, false);
    for (size_t i = 0; i < n; i++)
        put_row(data, &data->rows[i], out, term, name);
    for (size_t i = n; i < data->n; i++)
        rest += data->rows[i].units;
    if (n < data->n)
        fprintf(out, "%7.2f %%  in %s more; --limit 0 shows all\n", 100 * as_ratio(rest, data->units),
                AS_COUNT(data->n - n));
}

/* ---- JSON ---- */

static void json_origins(const struct as_data *data, struct as_json *json)
{
    const char *reason;
    double samples;
    as_json_object(json, "addresses");
    for (size_t i = 0; i < AS_DATA_ORIGINS; i++)
        as_json_double(json, data->origins[i].key + strlen("data_"), data->origins[i].samples);
    as_json_object(json, "none_because");
    for (size_t at = 0; as_data_next_reason(data, &at, &reason, &samples);)
        as_json_double(json, reason, samples);
    as_json_end(json);
    as_json_end(json);
}

static bool json_instruction(const struct as_data *data, uint32_t instruction, uint64_t units, struct as_json *json,
                             struct as_error *err)
{
    const struct as_store_insn *insn = as_store_instruction(data->view->store, instruction, err);
    if (!insn)
        return false;
    as_json_object(json, NULL);
    as_json_address(json, "address", insn->location.address);
    as_source_json(data->view, json, insn->location.function, insn->location.file, insn->location.line);
    as_json_string(json, "text", insn->text);
    as_json_double(json, "time", as_view_cycles(data->view, units));
    as_json_end(json);
    return true;
}

static void json_object(const struct as_data *data, uint32_t number, struct as_json *json)
{
    const struct as_store_object *object = number < data->n_objects ? &data->objects[number] : NULL;
    as_json_string(json, "object", object ? object->name : NULL);
    as_json_string(json, "module",
                   object && object->module < data->view->n_modules ? data->view->module[object->module].path : NULL);
    if (object && object->address)
        as_json_address(json, "address", object->address);
    if (object && object->size)
        as_json_u64(json, "size", object->size);
}

static bool json_row(const struct as_data *data, const struct as_data_row *row, struct as_json *json,
                     struct as_error *err)
{
    bool ok = true;
    as_json_object(json, NULL);
    json_object(data, row->object, json);
    as_json_double(json, "time", as_view_cycles(data->view, row->units));
    as_json_double(json, "share", as_ratio(row->units, data->units));
    as_json_u64(json, "samples", row->samples);
    as_json_double(json, "load_time", as_view_cycles(data->view, row->load_units));
    as_json_double(json, "store_time", as_view_cycles(data->view, row->store_units));
    as_json_u64(json, "lines", row->lines);
    as_json_u64(json, "bytes", row->bytes);
    as_json_u64(json, "instruction_count", row->n_instructions);
    as_json_array(json, "instructions");
    for (size_t i = 0; i < row->n_top && ok; i++)
        ok = json_instruction(data, row->top[i].instruction, row->top[i].units, json, err);
    as_json_end(json);
    as_json_end(json);
    return ok;
}

static bool put_json(const void *state, struct as_json *json, struct as_error *err)
{
    static const char *const level_names[] = {"object", "line", "instruction"};
    const struct shown *shown = state;
    const struct as_data *data = &shown->data;
    bool ok = true;
    as_summary_json(&data->view->summary, json, "summary");
    as_json_string(json, "by", level_names[data->level]);
    as_json_string(json, "unit", data->view->summary.unit);
    as_filters_json(data->view, json);
    json_origins(data, json);
    as_json_array(json, "rows");
    for (size_t i = 0; i < as_report_shown(data->n, shown->limit) && ok; i++)
        ok = json_row(data, &data->rows[i], json, err);
    as_json_end(json);
    return ok;
}

/* ---- CSV ---- */

static void csv_object(const struct as_data *data, const struct as_data_row *row, FILE *out)
{
    const struct as_store_object *object = row->object < data->n_objects ? &data->objects[row->object] : NULL;
    bool has_module = object && object->module < data->view->n_modules;
    as_csv_field(out, object ? object->name : "[unknown]");
    fputc(',', out);
    as_csv_field(out, has_module ? data->view->module[object->module].path : NULL);
    fprintf(out, ",0x%" PRIx64 ",%" PRIu64 ",", object ? object->address : 0, object ? object->size : 0);
}

/* The columns for code are empty if a row is an object only. */
static void csv_code(const struct as_data *data, const struct as_data_row *row, FILE *out)
{
    const struct as_store_location *location = &data->view->location[row->instruction];
    bool code = data->level != AS_DATA_BY_OBJECT;
    if (data->level == AS_DATA_BY_INSTRUCTION)
        fprintf(out, "0x%" PRIx64, location->address);
    fputc(',', out);
    as_csv_field(out, code ? as_view_function(data->view, location->function) : NULL);
    fputc(',', out);
    as_csv_field(out, code ? as_view_file(data->view, location->file) : NULL);
    fputc(',', out);
    if (code && location->line)
        fprintf(out, "%" PRIu32, location->line);
}

static bool put_csv(const void *state, FILE *out, struct as_error *err)
{
    const struct shown *shown = state;
    const struct as_data *data = &shown->data;
    fputs("object,module,address,size,instruction,function,file,line,samples,time,share,load_time,store_time,lines,"
          "bytes\r\n",
          out);
    for (size_t i = 0; i < as_report_shown(data->n, shown->limit); i++) {
        const struct as_data_row *row = &data->rows[i];
        csv_object(data, row, out);
        csv_code(data, row, out);
        fprintf(out, ",%" PRIu64 ",%.17g,%.17g,%.17g,%.17g,%" PRIu64 ",%" PRIu64 "\r\n", row->samples,
                as_view_cycles(data->view, row->units), as_ratio(row->units, data->units),
                as_view_cycles(data->view, row->load_units), as_view_cycles(data->view, row->store_units), row->lines,
                row->bytes);
    }
    return true;
}

const struct as_report_kind as_report_data = {
    .option = "--data",
    .name = "data",
    .filters = {.threads = true, .places = true},
    .levels = AS_REPORT_LEVEL(AS_REPORT_BY_FUNCTION) | AS_REPORT_LEVEL(AS_REPORT_BY_LINE) |
              AS_REPORT_LEVEL(AS_REPORT_BY_INSTRUCTION) | AS_REPORT_LEVEL(AS_REPORT_BY_OBJECT),
    .make = make_data,
    .free = free_data,
    .text = put_text,
    .json = put_json,
    .csv = put_csv};
