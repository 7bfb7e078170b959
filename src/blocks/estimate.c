/* See estimate.h. */
#include "blocks/estimate.h"

#include <stdlib.h>

const char *const as_method_names[] = {"ip", "fixed", "uops", "lbr", "flow", NULL};

void as_estimate_see(const struct as_samples *samples, struct as_cfg *cfg)
{
    const as_samples_pairs *ips = as_samples_ips(samples), *branches = as_samples_branches(samples);
    for (size_t i = 0; i < ips->len; i++)
        as_cfg_touch(cfg, ips->data[i].module, ips->data[i].from);
    for (size_t i = 0; i < branches->len; i++) {
        as_cfg_touch(cfg, branches->data[i].module, branches->data[i].from);
        if (branches->data[i].to_module == AS_CFG_NONE)
            continue;
        as_cfg_touch(cfg, branches->data[i].to_module, branches->data[i].to);
        as_cfg_lead(cfg, branches->data[i].to_module, branches->data[i].to);
    }
}

struct work {
    const struct as_samples *samples;
    struct as_cfg *cfg;
    struct as_flow *flow;
    struct as_estimate_trouble trouble;
};

static void add_to(struct work *work, uint32_t module, uint32_t block, double executions, double samples)
{
    work->flow->counts[module][block] += executions;
    work->flow->samples[module][block] += samples;
}

static void check_off(struct work *work, const struct as_samples_pair *pair, bool fits)
{
    struct as_flow_fit *fit = &work->flow->fits[pair->module];
    fit->checked += pair->weight;
    fit->wrong += fits ? 0 : pair->weight;
}

static void from_addresses(struct work *work, const as_samples_pairs *ips, enum as_method method)
{
    bool uops = method == AS_METHOD_UOPS, whole = method != AS_METHOD_FIXED;
    for (size_t i = 0; i < ips->len; i++) {
        const struct as_samples_pair *ip = &ips->data[i];
        uint32_t block = as_cfg_find(work->cfg, ip->module, ip->from);
        bool fits = block != AS_CFG_NONE && (!whole || as_cfg_is_insn(work->cfg, ip->module, ip->from));
        check_off(work, ip, fits);
        *(fits                   ? &work->trouble.used
          : block == AS_CFG_NONE ? &work->trouble.unknown
                                 : &work->trouble.between) += ip->weight;
        if (block == AS_CFG_NONE)
            continue;
        const struct as_cfg_block *b = &as_cfg_get(work->cfg, ip->module)->blocks.data[block];
        double parts = as_samples_of_branches(work->samples) ? 1 : uops ? b->n_uops : b->n_insns;
        add_to(work, ip->module, block, ip->weight / parts, (double)ip->count);
    }
}

/* ---- runs ---- */

static bool can_pass(const struct as_cfg_block *block, const struct as_cfg_block *next)
{
    return block->flags & AS_CFG_FALLS && !as_cfg_calls(block) && next->start == block->end;
}

/* The last block of a run; AS_CFG_NONE: it cannot have been. */
static uint32_t follow_run(struct work *work, const struct as_samples_pair *run, uint32_t first)
{
    const struct as_cfg_module *m = as_cfg_get(work->cfg, run->module);
    for (uint32_t block = first; block < m->blocks.len; block++) {
        const struct as_cfg_block *b = &m->blocks.data[block];
        if (run->to < b->end)
            return b->last == run->to ? block : AS_CFG_NONE;
        if (block + 1 == m->blocks.len || !can_pass(b, b + 1))
            return AS_CFG_NONE;
    }
    return AS_CFG_NONE;
}

static void from_runs(struct work *work)
{
    const as_samples_pairs *runs = as_samples_runs(work->samples);
    for (size_t i = 0; i < runs->len; i++) {
        const struct as_samples_pair *run = &runs->data[i];
        uint32_t first = as_cfg_find(work->cfg, run->module, run->from);
        if (first == AS_CFG_NONE || run->to_module != run->module) {
            work->trouble.unknown += run->weight;
            continue;
        }
        if (!as_cfg_is_insn(work->cfg, run->module, run->from)) {
            work->trouble.between += run->weight;
            continue;
        }
        uint32_t last = follow_run(work, run, first);
        if (last == AS_CFG_NONE) {
            work->trouble.impossible += run->weight;
            continue;
        }
        work->trouble.used += run->weight;
        for (uint32_t block = first; block <= last; block++)
            add_to(work, run->module, block, run->weight, (double)run->count);
    }
}

/* ---- branches ---- */

/* What is wrong with a branch: where to count it; NULL: nothing. */
static double *check_branch(struct work *work, const struct as_samples_pair *branch, uint32_t block)
{
    if (block == AS_CFG_NONE)
        return &work->trouble.unknown;
    const struct as_cfg_block *b = &as_cfg_get(work->cfg, branch->module)->blocks.data[block];
    if (!as_cfg_is_insn(work->cfg, branch->module, branch->from))
        return &work->trouble.between;
    bool control = AS_INSN_CONTROL_CLASSES >> b->last_class & 1;
    if (b->last != branch->from || !control)
        return &work->trouble.no_branch;
    if (b->target && (branch->to_module != branch->module || branch->to != b->target))
        return &work->trouble.elsewhere;
    bool known = !b->target && branch->to_module != AS_CFG_NONE &&
                 as_cfg_find(work->cfg, branch->to_module, branch->to) != AS_CFG_NONE;
    if (known && !as_cfg_is_insn(work->cfg, branch->to_module, branch->to))
        return &work->trouble.between;
    return NULL;
}

static void add_branches(struct work *work)
{
    const as_samples_pairs *branches = as_samples_branches(work->samples);
    for (size_t i = 0; i < branches->len; i++) {
        const struct as_samples_pair *branch = &branches->data[i];
        uint32_t block = as_cfg_find(work->cfg, branch->module, branch->from);
        double *wrong = check_branch(work, branch, block);
        check_off(work, branch, !wrong);
        if (wrong) {
            *wrong += branch->weight;
            continue;
        }
        uint8_t class_ = as_cfg_get(work->cfg, branch->module)->blocks.data[block].last_class;
        bool call = class_ == AS_CLASS_CALL || class_ == AS_CLASS_CALL_INDIRECT;
        if (class_ == AS_CLASS_RETURN)
            continue;
        double wrongly = branch->count ? branch->weight * (double)branch->mispredicted / (double)branch->count : 0;
        as_flow_add(work->flow, &(struct as_flow_branch){.module = branch->module,
                                                         .to_module = branch->to_module,
                                                         .from = branch->from,
                                                         .to = branch->to,
                                                         .kind = call                               ? AS_EDGE_CALL
                                                                 : class_ == AS_CLASS_JUMP_INDIRECT ? AS_EDGE_INDIRECT
                                                                                                    : AS_EDGE_TAKEN,
                                                         .count = branch->weight,
                                                         .mispredicted = wrongly});
    }
}

/* ---- branches without runs ---- */

struct tally {
    double in, out;     /* executions that branches bring and take */
    double in_n, out_n; /* and how many samples say so */
};

static struct tally **count_ends(struct work *work)
{
    const as_samples_pairs *branches = as_samples_branches(work->samples);
    size_t n = as_cfg_count_modules(work->cfg);
    struct tally **tallies = as_alloc_array(n + 1, sizeof *tallies);
    for (uint32_t m = 0; m < n; m++)
        tallies[m] = as_alloc_array(as_cfg_get(work->cfg, m)->blocks.len + 1, sizeof **tallies);
    for (size_t i = 0; i < branches->len; i++) {
        const struct as_samples_pair *branch = &branches->data[i];
        uint32_t from = as_cfg_find(work->cfg, branch->module, branch->from);
        uint32_t to = branch->to_module == AS_CFG_NONE ? AS_CFG_NONE
                                                       : as_cfg_find_start(work->cfg, branch->to_module, branch->to);
        if (check_branch(work, branch, from))
            continue; /* add_branches says why */
        work->trouble.used += branch->weight;
        tallies[branch->module][from].out += branch->weight;
        tallies[branch->module][from].out_n += (double)branch->count;
        if (to == AS_CFG_NONE)
            continue;
        tallies[branch->to_module][to].in += branch->weight;
        tallies[branch->to_module][to].in_n += (double)branch->count;
    }
    return tallies;
}

static void from_branches(struct work *work)
{
    struct tally **tallies = count_ends(work);
    for (uint32_t m = 0; m < as_cfg_count_modules(work->cfg); m++) {
        const struct as_cfg_module *module = as_cfg_get(work->cfg, m);
        double falls = 0, falls_n = 0; /* from the block before */
        for (uint32_t i = 0; i < module->blocks.len; i++) {
            const struct tally *tally = &tallies[m][i];
            const struct as_cfg_block *block = &module->blocks.data[i];
            double count = tally->in + falls, n = tally->in_n + falls_n;
            /* Out of the entries of stacks, some have their beginning or end outside: never less than what left. */
            add_to(work, m, i, count > tally->out ? count : tally->out, n > tally->out_n ? n : tally->out_n);
            bool passes = i + 1 < module->blocks.len && can_pass(block, block + 1);
            falls = passes && count > tally->out ? count - tally->out : 0;
            falls_n = passes && n > tally->out_n ? n - tally->out_n : 0;
        }
        free(tallies[m]);
    }
    free(tallies);
}

static void make_samples(struct as_flow *flow)
{
    size_t n = as_cfg_count_modules(flow->cfg);
    flow->samples = as_alloc_array(n + 1, sizeof *flow->samples);
    flow->fits = as_alloc_array(n + 1, sizeof *flow->fits);
    for (uint32_t i = 0; i < n; i++)
        flow->samples[i] = as_alloc_array(as_cfg_get(flow->cfg, i)->blocks.len + 1, sizeof **flow->samples);
}

/* What a stack has of them, on average. They follow each other, often through one loop: at worst they all say the same. */
static double together(const struct as_samples *samples, const as_samples_pairs *pairs)
{
    uint64_t stacks = as_samples_counted(samples)->with_branches;
    double all = 0;
    for (size_t i = 0; i < pairs->len; i++)
        all += (double)pairs->data[i].count;
    return stacks ? all / (double)stacks : 0;
}

/* Stacks say which part of a block's executions a branch takes; how many those are, addresses do. */
static void take_shares(struct work *work, bool fixed)
{
    struct as_flow *runs = as_estimate(work->samples, work->cfg, AS_METHOD_LBR, NULL);
    if (fixed) { /* stacks say which addresses it counts */
        struct as_flow_fit *own = work->flow->fits;
        work->flow->fits = runs->fits;
        runs->fits = own;
    }
    for (size_t i = 0; i < runs->edges.len; i++) {
        const struct as_flow_edge *edge = &runs->edges.data[i];
        double ran = runs->counts[edge->module][edge->from];
        if (edge->kind == AS_EDGE_FALL || edge->count <= 0 || ran <= 0)
            continue;
        double share = edge->count < ran ? edge->count / ran : 1;
        as_flow_add(work->flow,
                    &(struct as_flow_branch){.module = edge->module,
                                             .to_module = edge->to_module,
                                             .from = as_cfg_get(work->cfg, edge->module)->blocks.data[edge->from].last,
                                             .to = edge->target,
                                             .kind = edge->kind,
                                             .count = share * work->flow->counts[edge->module][edge->from],
                                             .mispredicted = share * work->flow->counts[edge->module][edge->from] *
                                                             edge->mispredicted / edge->count});
    }
    as_flow_free(runs);
}

bool as_estimate_has_edges(const struct as_samples *samples, enum as_method method)
{
    return method == AS_METHOD_LBR || method == AS_METHOD_FLOW || as_samples_runs(samples)->len > 0;
}

struct as_flow *as_estimate(const struct as_samples *samples, struct as_cfg *cfg, enum as_method method,
                            struct as_estimate_trouble *trouble)
{
    struct work work = {.samples = samples, .cfg = cfg, .flow = as_flow_new(cfg)};
    make_samples(work.flow);
    if (method == AS_METHOD_LBR) {
        from_runs(&work);
        work.flow->together = together(samples, as_samples_runs(samples));
    } else if (method == AS_METHOD_FLOW) {
        from_branches(&work);
        work.flow->together = together(samples, as_samples_branches(samples));
    } else {
        from_addresses(&work, method == AS_METHOD_FIXED ? as_samples_fixed_ips(samples) : as_samples_ips(samples),
                       method);
        if (as_samples_runs(samples)->len)
            take_shares(&work, method == AS_METHOD_FIXED);
    }
    if (method == AS_METHOD_LBR || method == AS_METHOD_FLOW)
        add_branches(&work);
    as_flow_know_branches(work.flow);
    as_flow_finish(work.flow);
    if (trouble)
        *trouble = work.trouble;
    return work.flow;
}
