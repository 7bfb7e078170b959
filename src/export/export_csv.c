/* CSV (RFC 4180): a row for each instruction that has time, a column for each combination of events. Times are in the
 * unit of the series, to a millionth of it if the series has fractions. The components of a row add up to its time, and
 * the rows add up to the total. */
#include "base/csv.h"
#include "base/map.h"
#include "export/export_frames.h"
#include "export/export_internal.h"
#include "export/export_text.h"

#include <inttypes.h>

enum { PARTS = 1000000 };

struct item {
    uint64_t address;
    uint32_t instruction, cell;
};

struct writer {
    struct as_export_view view;
    FILE *out;
    struct as_str line;
    AS_VEC(struct item) items; /* the cells, by instruction */
    struct as_map masks;       /* events to column */
    struct as_map executions;  /* by instruction */
    uint64_t *units;           /* of the current row, by column */
    struct as_export_rounder rounder;
};

static int by_address(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->instruction != y->instruction)
        return x->instruction < y->instruction ? -1 : 1;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}

static void prepare(struct writer *writer)
{
    size_t n;
    const struct as_export_view *view = &writer->view;
    const struct as_store_location *locations = as_store_locations(view->store, &n);
    writer->units = as_alloc_array(view->masks.len, sizeof *writer->units);
    for (size_t i = 0; i < view->masks.len; i++)
        *as_map_put(&writer->masks, view->masks.data[i].events) = i;
    for (size_t i = 0; i < view->raw.n_times; i++)
        *as_map_put(&writer->executions, view->raw.times[i].instruction) += view->raw.times[i].executions;
    for (size_t i = 0; i < view->cells.len; i++) {
        uint32_t instruction = view->cells.data[i].instruction;
        *as_vec_push(&writer->items) = (struct item){locations[instruction].address, instruction, (uint32_t)i};
    }
    if (writer->items.len > 0)
        qsort(writer->items.data, writer->items.len, sizeof *writer->items.data, by_address);
}

static void add_text(struct writer *writer, const char *text)
{
    as_csv_add_text(&writer->line, text ? text : "", AS_EXPORT_NAME_MAX);
    as_str_add(&writer->line, ",");
}

static void add_value(struct writer *writer, uint64_t value)
{
    if (writer->rounder.parts == 1)
        as_str_addf(&writer->line, "%" PRIu64, value);
    else
        as_str_addf(&writer->line, "%" PRIu64 ".%06" PRIu64, value / PARTS, value % PARTS);
}

static void put_line(struct writer *writer)
{
    fprintf(writer->out, "%s\r\n", as_str_get(&writer->line));
    as_str_clear(&writer->line);
}

static void put_header(struct writer *writer)
{
    char name[1024];
    as_str_add(&writer->line, "address,module,offset,function,file,line,class,text,samples,executions,");
    as_csv_add_text(&writer->line, as_export_unit(writer->view.series), 0);
    for (size_t i = 0; writer->view.has_components && i < writer->view.masks.len; i++) {
        as_str_add(&writer->line, ",");
        as_csv_add_text(&writer->line,
                        as_store_events_name(writer->view.store, writer->view.masks.data[i].events, name, sizeof name),
                        0);
    }
    put_line(writer);
}

static void add_location(struct writer *writer, const struct as_store_insn *insn)
{
    struct as_store *store = writer->view.store;
    const struct as_store_location *location = &insn->location;
    size_t n;
    const struct as_store_module *module =
        location->module == AS_STORE_NONE ? NULL : &as_store_modules(store, &n)[location->module];
    as_str_addf(&writer->line, "0x%" PRIx64 ",", location->address);
    add_text(writer, module ? module->path : NULL);
    if (module && as_store_module_is_placed(module) && location->address >= module->base)
        as_str_addf(&writer->line, "0x%" PRIx64, location->address - module->base);
    as_str_add(&writer->line, ",");
    add_text(writer,
             location->function == AS_STORE_NONE ? NULL : as_store_functions(store, &n)[location->function].name);
    add_text(writer, location->file == AS_STORE_NONE ? NULL : as_store_files(store, &n)[location->file]);
    if (location->line)
        as_str_addf(&writer->line, "%" PRIu32, location->line);
    as_str_add(&writer->line, ",");
    add_text(writer, insn->class_);
    add_text(writer, insn->text);
}

/* Adds up threads and paths. */
static bool put_row(struct writer *writer, size_t first, size_t end, struct as_error *err)
{
    const struct as_export_view *view = &writer->view;
    uint32_t instruction = writer->items.data[first].instruction;
    const struct as_store_insn *insn = as_store_instruction(view->store, instruction, err);
    uint64_t time = 0, samples = 0;
    if (!insn)
        return false;
    memset(writer->units, 0, view->masks.len * sizeof *writer->units);
    for (size_t i = first; i < end; i++) {
        const struct as_export_cell *cell = &view->cells.data[writer->items.data[i].cell];
        writer->units[*as_map_get(&writer->masks, cell->events)] += cell->units;
        samples += cell->samples;
    }
    for (size_t i = 0; i < view->masks.len; i++)
        time += writer->units[i] = as_export_round(&writer->rounder, writer->units[i]);
    add_location(writer, insn);
    as_str_addf(&writer->line, "%" PRIu64 ",%" PRIu64 ",", samples, *as_map_get(&writer->executions, instruction));
    add_value(writer, time);
    for (size_t i = 0; view->has_components && i < view->masks.len; i++) {
        as_str_add(&writer->line, ",");
        add_value(writer, writer->units[i]);
    }
    put_line(writer);
    return true;
}

static bool put_rows(struct writer *writer, struct as_error *err)
{
    const struct item *items = writer->items.data;
    size_t n = writer->items.len;
    for (size_t i = 0, end; i < n && !ferror(writer->out); i = end) {
        for (end = i + 1; end < n && items[end].instruction == items[i].instruction;)
            end++;
        if (!put_row(writer, i, end, err))
            return false;
    }
    return true;
}

static bool write_csv(struct as_store *store, const struct as_export_options *options, FILE *out, struct as_error *err)
{
    struct writer writer = {.out = out};
    if (!as_export_view_open(&writer.view, store, options, err))
        return false;
    uint64_t scale = writer.view.series->scale;
    writer.rounder = (struct as_export_rounder){.scale = scale, .parts = scale == 1 ? 1 : PARTS};
    prepare(&writer);
    put_header(&writer);
    bool ok = put_rows(&writer, err);
    free(writer.units);
    as_vec_free(&writer.items);
    as_map_free(&writer.masks);
    as_map_free(&writer.executions);
    as_str_free(&writer.line);
    as_export_view_free(&writer.view);
    return ok;
}

const struct as_export_format as_export_csv = {
    .name = "csv", .description = "a row for each instruction, with components", .write = write_csv};
