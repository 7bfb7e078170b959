/* See block_counts.h. */
#include "view/block_counts.h"

#include "blocks/balance.h"
#include "blocks/counted.h"
#include "blocks/derive.h"
#include "view/branches.h"
#include "view/module_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- modules ---- */

static const char *problem_of(const struct as_store *store, const struct as_store_module *module, const char **file,
                              enum as_arch *arch)
{
    if (!module->path || module->path[0] != '/')
        return "its code is in no file";
    if (!module->build_id && !module->file_size && !module->base)
        return "it is not known where its code lies in the file (text of perf script does not tell)";
    *file = as_module_file(store, module);
    return !*file                     ? as_module_check(store, module)
           : as_cfg_arch(*file, arch) ? NULL
                                      : "it is not a program that Assay can decode";
}

static void find_modules(struct as_block_counts *counts)
{
    const struct as_view *view = counts->view;
    counts->number = as_alloc_array(view->n_modules + 1, sizeof *counts->number);
    for (size_t i = 0; i < view->n_modules; i++) {
        enum as_arch arch;
        const char *file, *why = problem_of(view->store, &view->module[i], &file, &arch);
        counts->number[i] = why ? AS_CFG_NONE : as_cfg_module_at(counts->cfg, file, view->module[i].path, arch);
        if (why)
            *as_vec_push(&counts->refused) = (struct as_block_counts_refused){
                view->module[i].path ? view->module[i].path : "[unknown]", why, (uint64_t)i, 0};
    }
}

/* Its `samples` are the number of the module until here. */
static void count_refused(struct as_block_counts *counts, const struct as_store_rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < counts->refused.len; i++) {
        struct as_block_counts_refused refused = counts->refused.data[i];
        uint64_t module = refused.samples;
        refused.samples = 0;
        for (size_t k = 0; k < rows->n; k++)
            if (rows->rows[k].module == module) {
                refused.samples += rows->rows[k].samples;
                refused.executions += rows->rows[k].executions;
            }
        if (refused.samples || refused.executions)
            counts->refused.data[kept++] = refused;
    }
    counts->refused.len = kept;
}

/* ---- places: what stands for an address is the number of an instruction, and 1 ---- */

static bool place(void *context, uint64_t key, struct as_cfg *cfg, uint32_t *module, uint64_t *offset)
{
    const struct as_block_counts *counts = context;
    const struct as_view *view = counts->view;
    if (key == 0 || key > view->n_locations)
        return false;
    const struct as_store_location *location = &view->location[key - 1];
    if (location->module >= view->n_modules || counts->number[location->module] == AS_CFG_NONE)
        return false;
    *module = counts->number[location->module];
    *offset = location->address - view->module[location->module].base;
    return true;
}

/* ---- samples ---- */

static enum as_counted counted_of(const struct as_view *view)
{
    const struct as_store_series *series = &as_store_series(view->store, &(size_t){0})[view->series];
    return as_counted_of(series->event, series->unit);
}

static void add_samples(struct as_block_counts *counts, const struct as_store_rows *rows)
{
    double scale = fmax(counts->view->summary.scale, 1);
    for (size_t i = 0; i < rows->n; i++) {
        const struct as_store_row *row = &rows->rows[i];
        if (row->samples)
            as_samples_add(counts->samples,
                           &(struct as_samples_one){.ip = (uint64_t)row->id + 1,
                                                    .weight = (double)row->units / scale / (double)row->samples,
                                                    .times = row->samples});
    }
}

/* What each branch of a stack stands for: a sample's period is shared among them. Of an event that counts no branches,
 * itself. */
static double weight_of(const struct as_view *view, uint64_t taken)
{
    const struct as_summary *summary = &view->summary;
    bool counted = counted_of(view) == AS_COUNTED_TAKEN && summary->period && taken;
    return counted ? (double)summary->period * (double)summary->samples / (double)taken : 1;
}

static bool add_branches(struct as_block_counts *counts, struct as_error *err)
{
    struct as_branches branches;
    if (!as_branches_read(&branches, counts->view, err))
        return false;
    double each = weight_of(counts->view, branches.taken);
    counts->per_sample =
        counts->view->summary.samples ? (double)branches.taken / (double)counts->view->summary.samples : 0;
    for (size_t i = 0; i < branches.n; i++) {
        const struct as_store_branch *row = &branches.rows[i];
        struct as_samples_branch branch = {(uint64_t)row->source + 1, (uint64_t)row->target + 1, false};
        uint64_t parts[] = {row->taken - row->mispredicted, row->mispredicted};
        for (int wrong = 0; wrong < 2; wrong++) {
            branch.mispredicted = wrong;
            if (parts[wrong])
                as_samples_add(counts->samples,
                               &(struct as_samples_one){
                                   .branches = &branch, .n_branches = 1, .run_weight = each, .times = parts[wrong]});
        }
    }
    as_branches_free(&branches);
    return true;
}

static bool check_method(const struct as_block_counts *counts, int method, struct as_error *err)
{
    const char *file = as_store_file_name(counts->view->store);
    if (method == AS_METHOD_LBR || method == AS_METHOD_FIXED)
        return as_error_set(
            err,
            "%s: a profile keeps branches without their order and apart from addresses, so --method=%s needs "
            "the recording itself",
            file, as_method_names[method]);
    if (method == AS_METHOD_FLOW && !as_samples_branches(counts->samples)->len)
        return as_error_set(
            err, "%s: it has no branches of code that can be read, which --method=flow needs; --method=ip does without",
            file);
    if (method == AS_METHOD_UOPS && counted_of(counts->view) == AS_COUNTED_OTHER)
        return as_error_set(
            err, "%s: %s counts neither instructions nor micro-operations, so --method=uops says nothing of it", file,
            counts->view->summary.sampler);
    return true;
}

static void estimate(struct as_block_counts *counts, const struct as_block_counts_options *options)
{
    if (counted_of(counts->view) == AS_COUNTED_TAKEN)
        as_samples_are_branches(counts->samples);
    as_estimate_see(counts->samples, counts->cfg);
    as_cfg_build(counts->cfg);
    bool branches = as_samples_branches(counts->samples)->len > 0;
    counts->method = options->method >= 0                          ? (enum as_method)options->method
                     : branches                                    ? AS_METHOD_FLOW
                     : counted_of(counts->view) == AS_COUNTED_UOPS ? AS_METHOD_UOPS
                                                                   : AS_METHOD_IP;
    counts->flow = as_estimate(counts->samples, counts->cfg, counts->method, &counts->trouble);
    /* A profile has branches one by one, but those of a stack are not independent: a stack is one sample, as in a recording. */
    if (counts->method == AS_METHOD_FLOW)
        counts->flow->together = counts->per_sample;
    bool alone = !as_estimate_has_edges(counts->samples, counts->method);
    bool balance = options->balance || (options->balance_addresses && alone);
    if (alone && (balance || options->edges))
        as_flow_guess_edges(counts->flow, balance);
    else if (balance)
        as_flow_balance(counts->flow, counts->method == AS_METHOD_FLOW);
}

/* ---- executions ---- */

struct executed {
    uint32_t module; /* of the graph */
    uint64_t address, executions;
};
typedef AS_VEC(struct executed) executed_list;

static int by_address(const void *a, const void *b)
{
    const struct executed *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

/* Where neighbours ran differently often a block begins, whoever led there: an indirect jump, a signal's return. */
static void see_executed(struct as_block_counts *counts, const struct as_store_rows *rows, executed_list *list)
{
    for (size_t i = 0; i < rows->n; i++) {
        struct executed one = {.executions = rows->rows[i].executions};
        if (one.executions && place(counts, (uint64_t)rows->rows[i].id + 1, counts->cfg, &one.module, &one.address))
            *as_vec_push(list) = one;
    }
    if (list->len)
        qsort(list->data, list->len, sizeof *list->data, by_address);
    for (size_t i = 0; i < list->len; i++) {
        const struct executed *one = &list->data[i];
        as_cfg_see(counts->cfg, one->module, one->address);
        if (i == 0 || one[-1].module != one->module || one[-1].executions != one->executions)
            as_cfg_lead(counts->cfg, one->module, one->address);
    }
}

/* A direct call goes to its target as often as its block ran. */
static void add_calls(struct as_flow *flow)
{
    for (uint32_t m = 0; m < as_cfg_count_modules(flow->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(flow->cfg, m);
        for (size_t i = 0; i < module->blocks.len; i++) {
            const struct as_cfg_block *block = &module->blocks.data[i];
            if (block->last_class == AS_CLASS_CALL && block->target && flow->counts[m][i] > 0)
                as_flow_add(flow, &(struct as_flow_branch){.module = m,
                                                           .to_module = m,
                                                           .from = block->last,
                                                           .to = block->target,
                                                           .kind = AS_EDGE_CALL,
                                                           .count = flow->counts[m][i]});
        }
    }
}

/* The edges that the law of flow leaves, and estimates where it leaves several; the counts stay what they are. */
static void find_edges(struct as_flow *flow)
{
    size_t n = as_cfg_count_modules(flow->cfg);
    double **exact = as_flow_copy_counts(flow);
    as_flow_know_branches(flow);
    add_calls(flow);
    as_flow_finish(flow);
    as_flow_guess_jumps(flow);
    as_flow_balance(flow, false);
    for (uint32_t m = 0; m < n; m++) {
        memcpy(flow->counts[m], exact[m], as_cfg_get(flow->cfg, m)->blocks.len * sizeof **exact);
        free(exact[m]);
    }
    free(exact);
    as_flow_derive(flow);
}

static void count_exactly(struct as_block_counts *counts, const struct as_store_rows *rows, bool edges)
{
    executed_list list = {0};
    see_executed(counts, rows, &list);
    as_cfg_build(counts->cfg);
    counts->flow = as_flow_new(counts->cfg);
    for (size_t i = 0; i < list.len; i++) {
        uint32_t block = as_cfg_find_start(counts->cfg, list.data[i].module, list.data[i].address);
        if (block != AS_CFG_NONE)
            counts->flow->counts[list.data[i].module][block] += (double)list.data[i].executions;
    }
    if (edges)
        find_edges(counts->flow);
    as_vec_free(&list);
}

/* ---- the whole ---- */

static bool has_executions(const struct as_store_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->rows[i].executions)
            return true;
    return false;
}

static bool has_samples(const struct as_store_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->rows[i].samples)
            return true;
    return false;
}

static void find_most(struct as_block_counts *counts)
{
    for (uint32_t m = 0; m < as_cfg_count_modules(counts->cfg); m++)
        for (size_t i = 0; i < as_cfg_get(counts->cfg, m)->blocks.len; i++)
            counts->most = fmax(counts->most, counts->flow->counts[m][i]);
}

/* Why nothing was counted: what most samples were left out for. */
static bool say_why(const struct as_block_counts *counts, struct as_error *err)
{
    const struct as_block_counts_refused *most = NULL;
    for (size_t i = 0; i < counts->refused.len; i++) {
        const struct as_block_counts_refused *one = &counts->refused.data[i];
        if (!most || one->samples + one->executions > most->samples + most->executions)
            most = one;
    }
    for (uint32_t m = 0; !most && counts->flow->fits && m < as_cfg_count_modules(counts->cfg); m++)
        if (counts->flow->fits[m].wrong > 0)
            return as_error_set(err,
                                "%s: what was sampled does not fit the code of %s: is it another build than the "
                                "recorded one?",
                                as_store_file_name(counts->view->store), as_cfg_get(counts->cfg, m)->path);
    return as_error_set(err, "%s: nothing is in code that can be read%s%s%s%s", as_store_file_name(counts->view->store),
                        most ? "; " : "", most ? most->path : "", most ? ": " : "", most ? most->why : "");
}

bool as_block_counts_make(struct as_block_counts *counts, const struct as_view *view,
                          const struct as_block_counts_options *options, struct as_error *err)
{
    struct as_store_rows rows;
    *counts = (struct as_block_counts){.view = view};
    if (!as_view_rows(view, AS_STORE_BY_INSTRUCTION, &rows, err))
        return false;
    counts->cfg = as_cfg_new(&(struct as_cfg_options){options->debug_path});
    find_modules(counts);
    count_refused(counts, &rows);
    bool ok = true;
    if (has_executions(&rows) && options->method >= 0 && !has_samples(&rows)) {
        ok = as_error_set(err, "%s: its counts of blocks are exact, and it has no samples: leave --method out",
                          as_store_file_name(view->store));
    } else if (has_executions(&rows) && options->method < 0 && options->balance) {
        ok = as_error_set(err, "%s: its counts of blocks are exact: leave --balance out",
                          as_store_file_name(view->store));
    } else if (has_executions(&rows) && options->method < 0) {
        count_exactly(counts, &rows, options->edges);
    } else {
        counts->samples = as_samples_new(NULL);
        add_samples(counts, &rows);
        ok = add_branches(counts, err);
        as_samples_settle(counts->samples, counts->cfg, place, counts);
        ok = ok && check_method(counts, options->method, err);
        if (ok)
            estimate(counts, options);
    }
    as_store_rows_free(&rows);
    if (ok)
        find_most(counts);
    if (ok && as_flow_total(counts->flow) <= 0)
        ok = say_why(counts, err);
    if (!ok)
        as_block_counts_free(counts);
    return ok;
}

void as_block_counts_free(struct as_block_counts *counts)
{
    as_flow_free(counts->flow);
    as_samples_free(counts->samples);
    as_cfg_free(counts->cfg);
    free(counts->number);
    as_vec_free(&counts->refused);
    *counts = (struct as_block_counts){0};
}

double as_block_counts_at(const struct as_block_counts *counts, uint32_t module, uint64_t address, bool *starts)
{
    if (!counts->flow || module >= counts->view->n_modules || counts->number[module] == AS_CFG_NONE)
        return NAN;
    uint64_t offset = address - counts->view->module[module].base;
    uint32_t block = as_cfg_find(counts->cfg, counts->number[module], offset);
    if (block == AS_CFG_NONE)
        return NAN;
    *starts = as_cfg_get(counts->cfg, counts->number[module])->blocks.data[block].start == offset;
    return counts->flow->counts[counts->number[module]][block];
}

bool as_block_counts_are_executions(const struct as_block_counts *counts)
{
    return !counts->samples || counts->method == AS_METHOD_FLOW || counted_of(counts->view) != AS_COUNTED_OTHER;
}
