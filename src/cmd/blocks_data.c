/* The JSON and CSV of `assay blocks`. */
#include "base/csv.h"
#include "base/json.h"
#include "base/ratio.h"
#include "blocks/accuracy.h"
#include "blocks/blocks_fit.h"
#include "blocks/loops.h"
#include "cmd/blocks_show.h"

#include <inttypes.h>
#include <math.h>

/* Exact counts are whole numbers, and look like it. */
static void json_number(struct as_json *json, const char *name, double value)
{
    const double most = 9007199254740992; /* whole numbers up to here are exact */
    if (value >= 0 && value < most && value == (double)(uint64_t)value)
        as_json_u64(json, name, (uint64_t)value);
    else
        as_json_double(json, name, value);
}

/* Of exact counts: what rests on an edge that they do not determine. */
static void json_estimated(struct as_json *json, bool estimated)
{
    if (estimated)
        as_json_bool(json, "estimated", true);
}

static const char *edge_name(enum as_edge_kind kind)
{
    static const char *const names[] = {
        [AS_EDGE_FALL] = "fall", [AS_EDGE_TAKEN] = "taken", [AS_EDGE_INDIRECT] = "indirect", [AS_EDGE_CALL] = "call"};
    return names[kind];
}

static void json_place(struct as_json *json, const struct as_blocks_shown *shown, uint32_t module, uint32_t block)
{
    const struct as_cfg_module *m = as_cfg_get(shown->flow->cfg, module);
    const struct as_cfg_function *function = as_block_function(shown->flow, module, block);
    char lines[AS_BLOCKS_LINES];
    as_json_string(json, "module", m->path);
    as_json_string(json, "function", function->name);
    as_json_address(json, "address", m->blocks.data[block].start);
    as_json_u64(json, "offset", m->blocks.data[block].start - function->start);
    as_blocks_lines(shown->flow, module, block, lines);
    as_json_string(json, "lines", lines[0] ? lines : NULL);
}

static void json_edges(struct as_json *json, const struct as_blocks_shown *shown, uint32_t module, uint32_t block)
{
    size_t n;
    const struct as_flow_edge *edges = as_flow_out(shown->flow, module, block, &n);
    as_json_array(json, "edges");
    for (size_t i = 0; i < n; i++) {
        if (edges[i].count <= 0)
            continue;
        as_json_object(json, NULL);
        as_json_string(json, "kind", edge_name(edges[i].kind));
        if (edges[i].to_module != module && edges[i].to_module != AS_CFG_NONE)
            as_json_string(json, "module", as_cfg_get(shown->flow->cfg, edges[i].to_module)->path);
        as_json_address(json, "to", edges[i].target);
        json_number(json, "count", edges[i].count);
        json_estimated(json, edges[i].estimated);
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_blocks(struct as_json *json, const struct as_blocks_shown *shown, double total)
{
    as_block_rows rows = as_block_rows_blocks(as_blocks_scope(shown));
    as_json_array(json, "blocks");
    for (size_t i = 0; i < rows.len; i++) {
        const struct as_block_row *row = &rows.data[i];
        const struct as_cfg_block *block = &as_cfg_get(shown->flow->cfg, row->module)->blocks.data[row->index];
        as_json_object(json, NULL);
        json_place(json, shown, row->module, row->index);
        as_json_u64(json, "bytes", block->end - block->start);
        as_json_u64(json, "instructions", block->n_insns);
        json_number(json, "executions", shown->flow->counts[row->module][row->index]);
        as_json_double(json, "share", as_part(row->instructions, total));
        if (shown->flow->samples) {
            json_number(json, "samples", shown->flow->samples[row->module][row->index]);
            as_json_double(json, "interval", as_accuracy_interval(shown->flow, row->module, row->index));
        }
        json_edges(json, shown, row->module, row->index);
        as_json_end(json);
    }
    as_json_end(json);
    as_vec_free(&rows);
}

static void json_functions(struct as_json *json, const struct as_blocks_shown *shown, double total)
{
    as_block_rows rows = as_block_rows_functions(as_blocks_scope(shown));
    as_json_array(json, "functions");
    for (size_t i = 0; i < rows.len; i++) {
        const struct as_cfg_module *m = as_cfg_get(shown->flow->cfg, rows.data[i].module);
        as_json_object(json, NULL);
        as_json_string(json, "module", m->path);
        as_json_string(json, "function", m->functions.data[rows.data[i].index].name);
        as_json_address(json, "address", m->functions.data[rows.data[i].index].start);
        json_number(json, "instructions", rows.data[i].instructions);
        as_json_double(json, "share", as_part(rows.data[i].instructions, total));
        json_number(json, "entries", as_flow_entries(shown->flow, rows.data[i].module, rows.data[i].index));
        json_estimated(json, as_flow_entries_estimated(shown->flow, rows.data[i].module, rows.data[i].index));
        as_json_end(json);
    }
    as_json_end(json);
    as_vec_free(&rows);
}

static void json_loops(struct as_json *json, const struct as_blocks_shown *shown, double total)
{
    as_loops loops = as_loops_find(shown->flow);
    as_json_array(json, "loops");
    for (size_t i = 0; i < loops.len; i++) {
        const struct as_loop *loop = &loops.data[i];
        uint32_t function = as_cfg_get(shown->flow->cfg, loop->module)->blocks.data[loop->header].function;
        if (!as_block_scope_has_function(as_blocks_scope(shown), loop->module, function))
            continue;
        as_json_object(json, NULL);
        json_place(json, shown, loop->module, loop->header);
        as_json_u64(json, "blocks", loop->n_blocks);
        json_number(json, "iterations", loop->iterations);
        json_number(json, "entries", loop->entries);
        if (loop->entries >= 0.5 && !shown->unit)
            as_json_double(json, "trip_count", loop->iterations / loop->entries);
        else
            as_json_null(json, "trip_count");
        as_json_double(json, "share", as_part(loop->instructions, total));
        json_estimated(json, loop->estimated);
        as_json_end(json);
    }
    as_json_end(json);
    as_vec_free(&loops);
}

static void json_traces(struct as_json *json, const struct as_blocks_shown *shown, double total)
{
    struct as_traces traces;
    as_traces_find(shown->flow, &traces);
    as_json_array(json, "traces");
    for (size_t i = 0; i < traces.list.len; i++) {
        const struct as_trace *trace = &traces.list.data[i];
        const struct as_cfg_module *m = as_cfg_get(shown->flow->cfg, trace->module);
        const uint32_t *blocks = traces.blocks.data + trace->first;
        if (!as_trace_is_path(trace) ||
            !as_block_scope_has_function(as_blocks_scope(shown), trace->module, m->blocks.data[blocks[0]].function))
            continue;
        as_json_object(json, NULL);
        json_place(json, shown, trace->module, blocks[0]);
        json_number(json, "count", trace->count);
        as_json_double(json, "share", as_part(trace->instructions, total));
        as_json_bool(json, "loops", trace->loops);
        json_estimated(json, trace->estimated);
        as_json_array(json, "blocks");
        for (uint32_t b = 0; b < trace->n; b++)
            as_json_address(json, NULL, m->blocks.data[blocks[b]].start);
        as_json_end(json);
        as_json_end(json);
    }
    as_json_end(json);
    as_traces_free(&traces);
}

static void json_gaps(struct as_json *json, const struct as_blocks_shown *shown)
{
    as_block_gaps gaps = as_block_gaps_of(as_blocks_scope(shown));
    as_json_array(json, shown->flow->samples ? "not_sampled" : "never_executed");
    for (size_t i = 0; i < gaps.len; i++) {
        const struct as_block_gap *gap = &gaps.data[i];
        const struct as_cfg_module *m = as_cfg_get(shown->flow->cfg, gap->module);
        as_json_object(json, NULL);
        if (gap->function) {
            as_json_string(json, "module", m->path);
            as_json_string(json, "function", gap->function->raw);
            as_json_address(json, "address", gap->function->address);
            as_json_u64(json, "bytes", gap->function->size);
        } else {
            const struct as_cfg_block *first = &m->blocks.data[gap->first];
            json_place(json, shown, gap->module, gap->first);
            as_json_u64(json, "bytes", first[gap->n - 1].end - first->start);
            as_json_u64(json, "blocks", gap->n);
        }
        as_json_end(json);
    }
    as_json_end(json);
    as_vec_free(&gaps);
}

static void json_modules(struct as_json *json, const struct as_blocks_shown *shown)
{
    as_json_array(json, "modules");
    for (uint32_t m = 0; m < as_cfg_count_modules(shown->flow->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(shown->flow->cfg, m);
        struct as_block_cover cover = as_block_cover_of(shown->flow, m);
        if (!as_block_scope_has_module(as_blocks_scope(shown), m) || !cover.blocks_run)
            continue;
        as_json_object(json, NULL);
        as_json_string(json, "module", module->path);
        as_json_string(json, "build_id", module->symbols.build_id[0] ? module->symbols.build_id : NULL);
        as_json_u64(json, "functions", cover.functions);
        as_json_u64(json, "functions_run", cover.functions_run);
        as_json_u64(json, "blocks", cover.blocks);
        as_json_u64(json, "blocks_run", cover.blocks_run);
        as_json_u64(json, "bytes", cover.bytes);
        as_json_u64(json, "bytes_run", cover.bytes_run);
        if (as_cfg_code_problem(module))
            as_json_string(json, "note", as_cfg_code_problem(module));
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_trouble(struct as_json *json, const struct as_blocks_shown *shown)
{
    if (!shown->trouble)
        return;
    as_json_bool(json, "balanced", shown->balanced);
    as_json_object(json, "trouble");
    as_json_double(json, "used", shown->trouble->used);
    as_json_double(json, "unknown", shown->trouble->unknown);
    as_json_double(json, "between", shown->trouble->between);
    as_json_double(json, "no_branch", shown->trouble->no_branch);
    as_json_double(json, "elsewhere", shown->trouble->elsewhere);
    as_json_double(json, "impossible", shown->trouble->impossible);
    as_json_end(json);
    as_json_double(json, "unplaced", shown->unplaced);
    as_json_double(json, "misfit", shown->fit ? as_blocks_misfit(shown->fit) : 0);
    as_json_string(json, "advice", shown->advice);
}

bool as_blocks_show_json(const struct as_blocks_shown *shown, FILE *out)
{
    struct as_json *json = as_json_new(out);
    double total = as_flow_total(shown->flow);
    as_json_object(json, NULL);
    as_json_string(json, "of", shown->what);
    as_json_string(json, "method", shown->method);
    json_number(json, "instructions", total);
    if (shown->part)
        as_json_string(json, "part", shown->part);
    as_json_string(json, "unit", shown->unit ? shown->unit : "instructions");
    json_trouble(json, shown);
    json_modules(json, shown);
    json_functions(json, shown, total);
    json_blocks(json, shown, total);
    json_loops(json, shown, total);
    json_traces(json, shown, total);
    if (shown->never)
        json_gaps(json, shown);
    as_json_end(json);
    return as_json_finish(json);
}

/* The end of a line; of a block without samples the interval is empty. */
static void csv_confidence(struct as_str *line, const struct as_blocks_shown *shown, const struct as_block_row *row)
{
    double width = as_accuracy_interval(shown->flow, row->module, row->index);
    if (shown->flow->samples)
        as_str_addf(line, ",%.15g,", shown->flow->samples[row->module][row->index]);
    if (shown->flow->samples && isfinite(width))
        as_str_addf(line, "%.6f", width);
    as_str_add(line, "\n");
}

void as_blocks_show_csv(const struct as_blocks_shown *shown, FILE *out)
{
    as_block_rows rows = as_block_rows_blocks(as_blocks_scope(shown));
    double total = as_flow_total(shown->flow);
    struct as_str line = {0};
    fputs("module,function,address,offset,lines,bytes,instructions,executions,share", out);
    fputs(shown->flow->samples ? ",samples,interval\n" : "\n", out);
    for (size_t i = 0; i < rows.len; i++) {
        const struct as_block_row *row = &rows.data[i];
        const struct as_cfg_module *m = as_cfg_get(shown->flow->cfg, row->module);
        const struct as_cfg_block *block = &m->blocks.data[row->index];
        const struct as_cfg_function *function = as_block_function(shown->flow, row->module, row->index);
        char lines[AS_BLOCKS_LINES];
        as_str_clear(&line);
        as_csv_add_text(&line, m->path, 0);
        as_str_add(&line, ",");
        as_csv_add_text(&line, function->name, 0);
        as_str_addf(&line, ",0x%" PRIx64 ",%" PRIu64 ",", block->start, block->start - function->start);
        as_csv_add_text(&line, as_blocks_lines(shown->flow, row->module, row->index, lines), 0);
        as_str_addf(&line, ",%" PRIu64 ",%u,%.15g,%.9f", block->end - block->start, block->n_insns,
                    shown->flow->counts[row->module][row->index], as_part(row->instructions, total));
        csv_confidence(&line, shown, row);
        fputs(as_str_get(&line), out);
    }
    as_str_free(&line);
    as_vec_free(&rows);
}
