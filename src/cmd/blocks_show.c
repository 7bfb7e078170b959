/* The text of `assay blocks`. */
#include "cmd/blocks_show.h"

#include "base/log.h"
#include "base/path.h"
#include "base/ratio.h"
#include "base/show.h"
#include "base/str.h"
#include "blocks/accuracy.h"
#include "blocks/loops.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *as_blocks_lines(const struct as_flow *flow, uint32_t module, uint32_t block, char text[AS_BLOCKS_LINES])
{
    struct as_cfg_lines lines;
    text[0] = '\0';
    if (!as_cfg_lines_of(flow->cfg, module, block, &lines))
        return text;
    const char *file = as_path_base(lines.file);
    if (lines.first == lines.last)
        snprintf(text, AS_BLOCKS_LINES, "%.250s:%d", file, lines.first);
    else
        snprintf(text, AS_BLOCKS_LINES, "%.250s:%d-%d", file, lines.first, lines.last);
    return text;
}

/* "main+0x1c  demo.c:12-14  (demo)" */
static void print_place(const struct as_blocks_shown *shown, uint32_t module, uint32_t block, FILE *out)
{
    const struct as_cfg_module *m = as_cfg_get(shown->flow->cfg, module);
    const struct as_cfg_function *function = as_block_function(shown->flow, module, block);
    char lines[AS_BLOCKS_LINES];
    fprintf(out, "%s+0x%" PRIx64, AS_SHOW(function->name), m->blocks.data[block].start - function->start);
    as_blocks_lines(shown->flow, module, block, lines);
    fprintf(out, lines[0] ? "  %s  (%s)\n" : "%s  (%s)\n", lines, AS_SHOW(m->name));
}

/* Estimates may be less than one. */
static const char *count_of(double count, char text[AS_COUNT_MAX])
{
    if (count > 0 && count < 0.5)
        return strcpy(text, "<1");
    return as_count((uint64_t)(count + 0.5), text);
}
#define COUNT(number) count_of((number), (char[AS_COUNT_MAX]){0})

enum { MARKED_MAX = AS_COUNT_MAX + 1 };
static const char *mark_count(double count, bool estimated, char text[MARKED_MAX])
{
    text[0] = '~';
    count_of(count, text + 1);
    return text + !estimated;
}
/* With a mark where exact counts of blocks do not determine it. */
#define MARKED(number, estimated) mark_count((number), (estimated), (char[MARKED_MAX]){0})

static const char *unit_of(const struct as_blocks_shown *shown)
{
    return shown->unit ? shown->unit : "instructions";
}

/* What a block's count is: of an event that counts no executions, what it counts for each instruction of the block. */
static const char *executions_name(const struct as_blocks_shown *shown)
{
    return shown->unit ? "per instruction" : "executions";
}

static void print_functions(const struct as_blocks_shown *shown, double total, FILE *out)
{
    as_block_rows rows = as_block_rows_functions(as_blocks_scope(shown));
    if (rows.len && shown->functions)
        fprintf(out, "\nFunctions by %s:\n%18s %8s %16s  %s\n", unit_of(shown), unit_of(shown), "share", "entered",
                shown->flow->samples ? "blocks counted" : "blocks run");
    for (size_t i = 0; i < rows.len && i < shown->functions; i++) {
        const struct as_block_row *row = &rows.data[i];
        const struct as_cfg_module *m = as_cfg_get(shown->flow->cfg, row->module);
        const struct as_cfg_function *function = &m->functions.data[row->index];
        uint32_t ran = 0, all = 0;
        for (uint32_t b = function->first; b < function->first + function->n; b++) {
            ran += shown->flow->counts[row->module][b] > 0;
            all += !(m->blocks.data[b].flags & AS_CFG_PADDING);
        }
        fprintf(out, "%18s %6.2f %% %16s  %4u of %-4u  %s  (%s)\n", COUNT(row->instructions),
                100 * as_part(row->instructions, total),
                shown->unit ? "-"
                            : MARKED(as_flow_entries(shown->flow, row->module, row->index),
                                     as_flow_entries_estimated(shown->flow, row->module, row->index)),
                ran, all, AS_SHOW(function->name), AS_SHOW(m->name));
    }
    as_vec_free(&rows);
}

/* How often a block was left or, where that was estimated apart from it, ran: what the ways out of it are parts of. */
static double times_left(const struct as_blocks_shown *shown, uint32_t module, uint32_t block)
{
    size_t n;
    const struct as_flow_edge *edges = as_flow_out(shown->flow, module, block, &n);
    double calls = 0, others = 0;
    for (size_t i = 0; i < n; i++)
        *(edges[i].kind == AS_EDGE_CALL ? &calls : &others) += edges[i].count;
    return fmax(shown->flow->counts[module][block], fmax(calls, others));
}

static void print_ways(const struct as_blocks_shown *shown, uint32_t module, uint32_t block, FILE *out)
{
    size_t n;
    const struct as_flow_edge *edges = as_flow_out(shown->flow, module, block, &n);
    double times = times_left(shown, module, block);
    for (size_t i = 0; i < n; i++) {
        if (edges[i].count <= 0)
            continue;
        static const char *const words[] = {[AS_EDGE_FALL] = "falls to",
                                            [AS_EDGE_TAKEN] = "jumps to",
                                            [AS_EDGE_INDIRECT] = "jumps to",
                                            [AS_EDGE_CALL] = "calls"};
        fprintf(out, "%18s         %6.2f %%    %s ", MARKED(edges[i].count, edges[i].estimated),
                100 * as_part(edges[i].count, times), words[edges[i].kind]);
        if (edges[i].to != AS_CFG_NONE)
            print_place(shown, edges[i].to_module, edges[i].to, out);
        else
            fprintf(out, "0x%" PRIx64 "\n", edges[i].target);
    }
}

static void print_interval(const struct as_blocks_shown *shown, const struct as_block_row *row, FILE *out)
{
    double width = as_accuracy_interval(shown->flow, row->module, row->index);
    if (!shown->flow->samples)
        return;
    if (isfinite(width))
        fprintf(out, " %7.1f %%", 100 * width);
    else
        fprintf(out, " %9s", "-");
}

static void print_blocks(const struct as_blocks_shown *shown, double total, FILE *out)
{
    as_block_rows rows = as_block_rows_blocks(as_blocks_scope(shown));
    uint64_t most = shown->function ? UINT64_MAX : shown->blocks;
    if (rows.len && most)
        fprintf(out, "\nBlocks by %s:\n%18s%s %7s %8s  %s\n", shown->function ? "address" : unit_of(shown),
                executions_name(shown), shown->flow->samples ? "     ±95 %" : "", "insns", "share", "where");
    for (size_t i = 0; i < rows.len && i < most; i++) {
        const struct as_block_row *row = &rows.data[i];
        fprintf(out, "%18s", COUNT(shown->flow->counts[row->module][row->index]));
        print_interval(shown, row, out);
        fprintf(out, " %7u %6.2f %%  ", as_cfg_get(shown->flow->cfg, row->module)->blocks.data[row->index].n_insns,
                100 * as_part(row->instructions, total));
        print_place(shown, row->module, row->index, out);
        if (shown->function)
            print_ways(shown, row->module, row->index, out);
    }
    as_vec_free(&rows);
}

static void print_loops(const struct as_blocks_shown *shown, double total, FILE *out)
{
    as_loops loops = as_loops_find(shown->flow);
    uint64_t printed = 0;
    for (size_t i = 0; i < loops.len && printed < shown->loops; i++) {
        const struct as_loop *loop = &loops.data[i];
        uint32_t function = as_cfg_get(shown->flow->cfg, loop->module)->blocks.data[loop->header].function;
        if (!as_block_scope_has_function(as_blocks_scope(shown), loop->module, function))
            continue;
        if (!printed++)
            fprintf(out, "\nLoops by %s:\n%18s %12s %16s %7s %8s  %s\n", unit_of(shown),
                    shown->unit ? executions_name(shown) : "iterations", "trip count", "entered", "blocks", "share",
                    "header");
        char trips[32] = "-";
        if (loop->entries >= 0.5 && !shown->unit)
            snprintf(trips, sizeof trips, "%s%.1f", loop->estimated ? "~" : "", loop->iterations / loop->entries);
        fprintf(out, "%18s %12s %16s %7u %6.2f %%  ", MARKED(loop->iterations, shown->flow->steady != NULL), trips,
                shown->unit ? "-" : MARKED(fmax(0, loop->entries), loop->estimated), loop->n_blocks,
                100 * as_part(loop->instructions, total));
        print_place(shown, loop->module, loop->header, out);
    }
    as_vec_free(&loops);
}

static void print_trace(const struct as_blocks_shown *shown, const struct as_traces *traces,
                        const struct as_trace *trace, double total, FILE *out)
{
    enum { MOST = 12 };
    const uint32_t *blocks = traces->blocks.data + trace->first;
    fprintf(out, "%18s %7u %6.2f %%  ", MARKED(trace->count, trace->estimated), trace->n,
            100 * as_part(trace->instructions, total));
    print_place(shown, trace->module, blocks[0], out);
    fprintf(out, "%37s", "");
    for (uint32_t i = 1; i < trace->n && i < MOST; i++) {
        const struct as_cfg_function *function = as_block_function(shown->flow, trace->module, blocks[i]);
        uint64_t start = as_cfg_get(shown->flow->cfg, trace->module)->blocks.data[blocks[i]].start;
        bool same = function == as_block_function(shown->flow, trace->module, blocks[i - 1]);
        fprintf(out, " → %s+0x%" PRIx64, same ? "" : AS_SHOW(function->name), start - function->start);
    }
    fprintf(out, "%s%s\n", trace->n > MOST ? " …" : "", trace->loops ? " ↺" : "");
}

static void print_traces(const struct as_blocks_shown *shown, double total, FILE *out)
{
    struct as_traces traces;
    as_traces_find(shown->flow, &traces);
    uint64_t printed = 0;
    for (size_t i = 0; i < traces.list.len && printed < shown->traces; i++) {
        const struct as_trace *trace = &traces.list.data[i];
        uint32_t first = traces.blocks.data[trace->first];
        uint32_t function = as_cfg_get(shown->flow->cfg, trace->module)->blocks.data[first].function;
        if (!as_trace_is_path(trace) || !as_block_scope_has_function(as_blocks_scope(shown), trace->module, function))
            continue;
        if (!printed++)
            fprintf(out, "\nHot traces:\n%18s %7s %8s  %s\n", shown->unit ? executions_name(shown) : "times", "blocks",
                    "share", "path");
        print_trace(shown, &traces, trace, total, out);
    }
    as_traces_free(&traces);
}

static void print_cover(const struct as_blocks_shown *shown, FILE *out)
{
    fprintf(out, "\nCode %s:\n%28s %28s  %s\n", shown->flow->samples ? "with a count" : "that ran", "functions",
            "blocks of those", "module");
    for (uint32_t m = 0; m < as_cfg_count_modules(shown->flow->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(shown->flow->cfg, m);
        struct as_block_cover cover = as_block_cover_of(shown->flow, m);
        if (!as_block_scope_has_module(as_blocks_scope(shown), m) || !cover.blocks_run)
            continue;
        if (cover.symbols)
            fprintf(out, "%10s of %-6s %5.1f %%", COUNT(cover.functions_run), COUNT(cover.functions),
                    100 * as_part((double)cover.functions_run, (double)cover.functions));
        else
            fprintf(out, "%10s%-18s", COUNT(cover.functions_run), ", no symbols");
        fprintf(out, " %10s of %-6s %5.1f %%  %s\n", COUNT(cover.blocks_run), COUNT(cover.blocks),
                100 * as_part((double)cover.blocks_run, (double)cover.blocks), AS_SHOW(module->path));
    }
}

static void print_gaps(const struct as_blocks_shown *shown, FILE *out)
{
    as_block_gaps gaps = as_block_gaps_of(as_blocks_scope(shown));
    fprintf(out, "\n%s:\n%8s %7s  %s\n",
            shown->flow->samples ? "No samples, which does not say that it never ran" : "Never executed", "bytes",
            "blocks", "where");
    for (size_t i = 0; i < gaps.len; i++) {
        const struct as_block_gap *gap = &gaps.data[i];
        const struct as_cfg_module *m = as_cfg_get(shown->flow->cfg, gap->module);
        if (gap->function) {
            fprintf(out, "%8" PRIu64 " %7s  %s  (%s)\n", gap->function->size, "all", AS_SHOW(gap->function->raw),
                    AS_SHOW(m->name));
            continue;
        }
        const struct as_cfg_block *first = &m->blocks.data[gap->first];
        fprintf(out, "%8" PRIu64 " %7u  ", first[gap->n - 1].end - first->start, gap->n);
        print_place(shown, gap->module, gap->first, out);
    }
    if (!gaps.len)
        fprintf(out, "  nothing: every block of it %s\n", shown->flow->samples ? "has samples" : "ran");
    as_vec_free(&gaps);
}

static double executions(const struct as_blocks_shown *shown, size_t *blocks)
{
    double sum = 0;
    *blocks = 0;
    for (uint32_t m = 0; m < as_cfg_count_modules(shown->flow->cfg); m++)
        for (uint32_t i = 0; i < as_cfg_get(shown->flow->cfg, m)->blocks.len; i++) {
            sum += shown->flow->counts[m][i];
            *blocks += shown->flow->counts[m][i] > 0;
        }
    return sum;
}

/* Of samples: what could not be used, and how far to believe the rest. */
static void print_trouble(const struct as_blocks_shown *shown, FILE *out)
{
    const struct as_estimate_trouble *trouble = shown->trouble;
    if (!trouble)
        return;
    double all = trouble->used + trouble->unknown + trouble->between + trouble->no_branch + trouble->elsewhere +
                 trouble->impossible;
    const struct {
        double part;
        const char *what;
    } rows[] = {{trouble->unknown, "in no known code"},
                {trouble->between, "inside an instruction"},
                {trouble->no_branch, "from where there is no branch"},
                {trouble->elsewhere, "to where their branch does not go"},
                {trouble->impossible, "past a jump, call or return"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].part > 0)
            fprintf(out, "%17.2f %%  %s\n", 100 * as_part(rows[i].part, all), rows[i].what);
    if (shown->unplaced > 0)
        fprintf(out, "%17.2f %%  of the samples in no known file\n", 100 * shown->unplaced);
    if (shown->advice && shown->advice[0])
        fprintf(out, "\n%s\n", shown->advice);
}

void as_blocks_end_advice(struct as_str *advice, bool addresses)
{
    if (addresses)
        as_str_add(advice,
                   "Each sample is of one block: counts are off by chance where those are few, and by where the event "
                   "puts its samples; branch stacks (perf record -b) are more accurate, and --methods shows how much. "
                   "Addresses do not say which way control went: where there are several, ways out of blocks, "
                   "loops and traces are estimates (~).");
    if (advice->len && advice->data[advice->len - 1] == ' ')
        advice->data[--advice->len] = '\0';
}

void as_blocks_show_text(const struct as_blocks_shown *shown, FILE *out)
{
    double total = as_flow_total(shown->flow);
    size_t blocks;
    double runs = executions(shown, &blocks);
    fprintf(out, "\nBlocks %s '%s' (%s%s%s):\n\n", shown->recorded ? "of" : "executed by", AS_SHOW(shown->what),
            shown->how, shown->part ? "; " : "", shown->part ? shown->part : "");
    fprintf(out, "%18s  %s\n", COUNT(total), unit_of(shown));
    if (!shown->unit)
        fprintf(out, "%18s  block executions\n", COUNT(runs));
    fprintf(out, "%18s  blocks %s\n", COUNT((double)blocks), shown->flow->samples ? "with a count" : "that ran");
    print_trouble(shown, out);
    if (!shown->function)
        print_cover(shown, out);
    print_functions(shown, total, out);
    print_blocks(shown, total, out);
    print_loops(shown, total, out);
    print_traces(shown, total, out);
    if (shown->never)
        print_gaps(shown, out);
    if (shown->seconds >= 0)
        fprintf(out, "\n%.3f seconds, %.0f MIPS\n", shown->seconds,
                shown->seconds > 0 ? total / shown->seconds / 1e6 : 0);
}

/* ---- on standard error ---- */

/* Whether a module is the wanted one, or one of the files that were at its path before. */
static bool is_of(const struct as_cfg_module *module, const char *wanted)
{
    if (!wanted || strcmp(module->name, wanted) == 0 || strcmp(module->path, wanted) == 0)
        return true;
    static const char number[] = " (";
    size_t length = strlen(wanted);
    const char *rest = strncmp(module->name, wanted, length) == 0   ? module->name + length
                       : strncmp(module->path, wanted, length) == 0 ? module->path + length
                                                                    : "";
    return module->code == AS_CFG_CODE_GONE && strncmp(rest, number, sizeof number - 1) == 0;
}

void as_blocks_warn_of_code(const struct as_flow *flow, const char *wanted)
{
    size_t n = 0;
    const char *gone = NULL;
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(flow->cfg, m);
        if (!is_of(module, wanted))
            continue;
        if (module->code == AS_CFG_CODE_GONE) {
            gone = gone ? gone : module->path;
            n++;
        } else if (as_cfg_code_problem(module)) {
            as_log_warn("%s: %s (first at 0x%" PRIx64 ")", AS_SHOW(module->path), as_cfg_code_problem(module),
                        module->code_differs);
        }
    }
    if (gone)
        as_log_note(
            "several files were at one path in turn: what ran of %zu that %s gone is counted apart, without names "
            "or lines, the first as '%s'",
            n, n == 1 ? "is" : "are", AS_SHOW(gone));
}
