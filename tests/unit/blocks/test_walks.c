/* Programs walked at random, and what each part of this folder makes of the walks: loops, traces, edges, balanced counts, and those that
 * each method estimates of samples of the same walk. Laws are checked, and all of it is held against tests/golden/blocks_walks.txt. */
#include "base/random.h"
#include "blocks/accuracy.h"
#include "blocks/balance.h"
#include "blocks/bolt.h"
#include "blocks/derive.h"
#include "blocks/estimate.h"
#include "blocks/loops.h"
#include "blocks/propeller.h"
#include "graph.h"

#include "unit.h"
#include "unit_golden.h"

#include <math.h>

enum { STEPS = 4000, DEPTH = 30, STACK = 8, EVERY = 37, EVERY_BRANCH = 11 };

/* Each begins at its second function, where it has one; the first is what "c" calls. Some of the calls from block `call` on throw, and
 * go on at its landing pad. */
static const struct program {
    const char *blocks;
    struct {
        uint32_t call, pad; /* 0: none */
    } throws[2];
} programs[] = {
    {"2i 3i 5b2 2b1 r", {{0, 0}}},                               /* a loop in a loop */
    {"4b2 2j3 5i b0 r", {{0, 0}}},                               /* a diamond that goes round */
    {"2b3 3i j4 2i b2 b0 r", {{0, 0}}},                          /* a cycle with two entries */
    {"3b2 2i r | 2i c 4b4 c b3 2i r", {{0, 0}}},                 /* calls from two places */
    {"2b2 r 4i r | i x 2j9 3j9 j9 b4 r", {{0, 0}}},              /* a jump table */
    {"2b1 c 3b2 r | 3i c i b5 r", {{0, 0}}},                     /* recursion */
    {"i b3 2i b5 3i j1 b0 r", {{0, 0}}},                         /* two ways round, of which one leaves */
    {"3b2 i 2b4 3i b6 i b0 2r | 2i c b8 3i c b8 i r", {{0, 0}}}, /* all of it */
    {"2i b0 r | 2i 3c 2i 2b4 r 2j6", {{4, 8}}},                  /* a landing pad in a loop */
    {"b1 2i r | i c 2c 3b4 i b3 r 2j7 j6", {{4, 10}, {5, 11}}},  /* two, one of which leaves the inner loop */
};

struct walk {
    const struct program *program;
    const struct as_cfg_module *module;
    const struct as_cfg *cfg;
    uint32_t at, calls[DEPTH];
    unsigned depth;
    uint64_t seed;
    struct as_samples_branch branches[STACK]; /* newest first */
    size_t n_branches;
    uint64_t n_taken;
    struct as_samples *samples, *addresses; /* every so many instructions, with branch stacks and without */
    struct as_samples *taken;               /* every so many taken branches */
    struct as_flow *truth;
};

static uint32_t main_of(const struct as_cfg_module *m)
{
    return m->functions.len > 1 ? m->functions.data[1].first : 0;
}

static void go(struct walk *walk, uint32_t to, enum as_edge_kind kind, bool returns)
{
    const struct as_cfg_block *from = &walk->module->blocks.data[walk->at];
    struct as_samples_branch branch = {from->last, walk->module->blocks.data[to].start,
                                       as_random_below(&walk->seed, 10) == 0};
    memmove(walk->branches + 1, walk->branches, (STACK - 1) * sizeof branch);
    walk->branches[0] = branch;
    walk->n_branches += walk->n_branches < STACK;
    if (++walk->n_taken % EVERY_BRANCH == 0)
        as_samples_add(walk->taken, &(struct as_samples_one){.ip = branch.to,
                                                             .weight = EVERY_BRANCH,
                                                             .branches = walk->branches,
                                                             .n_branches = walk->n_branches});
    if (!returns)
        as_flow_add(
            walk->truth,
            &(struct as_flow_branch){
                .from = branch.from, .to = branch.to, .kind = kind, .count = 1, .mispredicted = branch.mispredicted});
    walk->at = to;
}

/* Where control goes when a function returns to behind a call: some throw. */
static uint32_t behind_call(struct walk *walk)
{
    uint32_t behind = walk->calls[--walk->depth];
    for (size_t i = 0; i < 2; i++)
        if (walk->program->throws[i].pad && walk->program->throws[i].call == behind - 1 &&
            as_random_below(&walk->seed, 4) == 0)
            return walk->program->throws[i].pad;
    return behind;
}

/* Where control goes from the end of the block that it is in. */
static void leave(struct walk *walk)
{
    const struct as_cfg_block *block = &walk->module->blocks.data[walk->at];
    const struct as_cfg_function *own = &walk->module->functions.data[block->function];
    bool likely = as_random_below(&walk->seed, 8) < 1 + (walk->at * 5 + 2) % 7;
    if (block->last_class == AS_CLASS_BRANCH && likely)
        go(walk, as_cfg_find_start(walk->cfg, 0, block->target), AS_EDGE_TAKEN, false);
    else if (block->last_class == AS_CLASS_JUMP)
        go(walk, as_cfg_find_start(walk->cfg, 0, block->target), AS_EDGE_TAKEN, false);
    else if (block->last_class == AS_CLASS_JUMP_INDIRECT)
        go(walk, own->first + own->n - 1 - (uint32_t)as_random_below(&walk->seed, 5), AS_EDGE_INDIRECT, false);
    else if (block->last_class == AS_CLASS_CALL && walk->depth < DEPTH) {
        walk->calls[walk->depth++] = walk->at + 1;
        go(walk, 0, AS_EDGE_CALL, false);
    } else if (block->last_class == AS_CLASS_RETURN)
        go(walk, walk->depth ? behind_call(walk) : main_of(walk->module), AS_EDGE_TAKEN, true);
    else
        walk->at++;
}

static void sample(struct walk *walk, uint64_t ip)
{
    struct as_samples_one one = {.ip = ip, .weight = EVERY};
    as_samples_add(walk->addresses, &one);
    one.branches = walk->branches;
    one.n_branches = walk->n_branches;
    as_samples_add(walk->samples, &one);
}

static bool place(void *context, uint64_t address, struct as_cfg *cfg, uint32_t *module, uint64_t *offset)
{
    *module = 0;
    *offset = address;
    return true;
}

static void walk_through(struct walk *walk, struct as_cfg *cfg, uint64_t seed)
{
    *walk = (struct walk){.program = &programs[seed], .cfg = cfg, .module = as_cfg_get(cfg, 0), .seed = seed};
    walk->samples = as_samples_new(NULL);
    walk->addresses = as_samples_new(NULL);
    walk->taken = as_samples_new(NULL);
    as_samples_are_branches(walk->taken);
    walk->truth = as_flow_new(cfg);
    walk->at = main_of(walk->module);
    uint64_t due = EVERY;
    for (uint32_t i = 0; i < STEPS; i++) {
        const struct as_cfg_block *block = &walk->module->blocks.data[walk->at];
        walk->truth->counts[0][walk->at]++;
        for (; due < block->n_insns; due += EVERY)
            sample(walk, block->start + 4 * due);
        due -= block->n_insns;
        leave(walk);
    }
    as_samples_settle(walk->samples, cfg, place, NULL);
    as_samples_settle(walk->addresses, cfg, place, NULL);
    as_samples_settle(walk->taken, cfg, place, NULL);
    as_flow_know_branches(walk->truth);
    as_flow_finish(walk->truth);
}

/* ---- what is written ---- */

static const char *const kinds[] = {"falls to", "branches to", "jumps to", "calls"};

static void write_flow(const struct as_flow *flow, FILE *out)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, 0);
    for (uint32_t i = 0; i < m->blocks.len; i++) {
        size_t n;
        const struct as_flow_edge *edges = as_flow_out(flow, 0, i, &n);
        fprintf(out, "%2u: %.5g", i, flow->counts[0][i]);
        if (flow->samples)
            fprintf(out, " of %.5g samples, +-%.3g", flow->samples[0][i], as_accuracy_interval(flow, 0, i));
        for (size_t k = 0; k < n; k++)
            fprintf(out, ", %s %d: %.5g%s (%.3g wrongly)", kinds[edges[k].kind], (int)edges[k].to, edges[k].count,
                    edges[k].estimated ? "?" : "", edges[k].mispredicted);
        fputc('\n', out);
    }
    for (uint32_t i = 0; i < m->functions.len; i++)
        fprintf(out, "function %u: %.5g instructions, entered %.5g%s\n", i, as_flow_function_instructions(flow, 0, i),
                as_flow_entries(flow, 0, i), as_flow_entries_estimated(flow, 0, i) ? "?" : "");
    fprintf(out, "imbalance %.3f\n", as_flow_imbalance(flow));
}

static void write_loops(const struct as_flow *flow, FILE *out)
{
    as_loops loops = as_loops_find(flow);
    for (size_t i = 0; i < loops.len; i++)
        fprintf(out, "loop of %u with %u blocks: %.5g of %.5g%s, %.5g instructions\n", loops.data[i].header,
                loops.data[i].n_blocks, loops.data[i].iterations, loops.data[i].entries,
                loops.data[i].estimated ? "?" : "", loops.data[i].instructions);
    as_vec_free(&loops);
    uint32_t *innermost = as_loops_innermost(flow, 0);
    fputs("innermost:", out);
    for (uint32_t i = 0; i < as_cfg_get(flow->cfg, 0)->blocks.len; i++)
        fprintf(out, " %d", (int)innermost[i]);
    free(innermost);
    fputc('\n', out);
}

static void write_traces(const struct as_flow *flow, FILE *out)
{
    struct as_traces traces;
    as_traces_find(flow, &traces);
    for (size_t i = 0; i < traces.list.len; i++) {
        const struct as_trace *trace = &traces.list.data[i];
        fprintf(out, "trace%s of %.5g%s, %.5g instructions:", trace->loops ? " that loops" : "", trace->count,
                trace->estimated ? "?" : "", trace->instructions);
        for (uint32_t k = 0; k < trace->n; k++)
            fprintf(out, " %u", traces.blocks.data[trace->first + k]);
        fputc('\n', out);
    }
    as_traces_free(&traces);
}

static void write_accuracy(const struct as_flow *flow, const struct as_flow *truth, FILE *out)
{
    struct as_accuracy is = as_accuracy_of(flow, truth);
    fprintf(out, "off by %.4f, functions %.4f, covered %.3f; %u of %u first, %u in order\n", is.block, is.function,
            is.covered, is.top_found, is.top, is.top_ordered);
}

/* The runs of a tool that takes those: every block and every edge as often as it is known. */
static void write_runs(const struct as_flow *flow, FILE *out)
{
    as_bolt_runs runs = as_bolt_runs_of(flow, 0);
    for (size_t i = 0; i < runs.len; i++)
        fprintf(out, "run %d to %d: %d\n", (int)runs.data[i].start, (int)runs.data[i].end, (int)runs.data[i].count);
    as_vec_free(&runs);
    as_bolt_write_aggregated(flow, 0, out);
    as_bolt_write_profgen(flow, 0, out);
    as_bolt_write_fdata(flow, 0, out);
    as_propeller_write_order(flow, 0, out);
}

static void write_estimates(const struct walk *walk, struct as_cfg *cfg, FILE *out)
{
    for (enum as_method method = 0; method < AS_METHODS; method++) {
        struct as_estimate_trouble trouble;
        const struct as_samples *samples =
            method == AS_METHOD_LBR || method == AS_METHOD_FLOW ? walk->taken : walk->samples;
        struct as_flow *flow = as_estimate(samples, cfg, method, &trouble);
        fprintf(out,
                "-- by %s: used %.5g, unknown %.5g, between %.5g, no branch %.5g, elsewhere %.5g, impossible %.5g\n",
                as_method_names[method], trouble.used, trouble.unknown, trouble.between, trouble.no_branch,
                trouble.elsewhere, trouble.impossible);
        write_flow(flow, out);
        write_accuracy(flow, walk->truth, out);
        as_flow_balance(flow, as_estimate_has_edges(samples, method));
        assert_true(as_flow_imbalance(flow) < 1e-6);
        fprintf(out, "-- balanced\n");
        write_flow(flow, out);
        write_accuracy(flow, walk->truth, out);
        as_flow_free(flow);
    }
}

/* Edges of counts of blocks alone: what is not marked as an estimate is right. */
static void check_derived(const struct as_flow *derived, const struct as_flow *truth)
{
    for (size_t i = 0; i < derived->edges.len; i++) {
        const struct as_flow_edge *edge = &derived->edges.data[i];
        double right = 0;
        for (size_t k = 0; k < truth->edges.len; k++)
            if (truth->edges.data[k].from == edge->from && truth->edges.data[k].target == edge->target &&
                (truth->edges.data[k].kind == AS_EDGE_FALL) == (edge->kind == AS_EDGE_FALL))
                right += truth->edges.data[k].count;
        if (!edge->estimated && edge->kind != AS_EDGE_CALL && fabs(edge->count - right) > 1)
            fail_msg("%u to %u: %g, not %g", edge->from, edge->to, edge->count, right);
    }
}

/* As of a profile that has exact counts of blocks alone. */
static struct as_flow *derived_of(const struct as_flow *truth)
{
    struct as_flow *flow = as_flow_new(truth->cfg);
    size_t n = as_cfg_get(truth->cfg, 0)->blocks.len;
    memcpy(flow->counts[0], truth->counts[0], n * sizeof(double));
    as_flow_know_branches(flow);
    as_flow_finish(flow);
    as_flow_guess_jumps(flow);
    as_flow_balance(flow, false);
    memcpy(flow->counts[0], truth->counts[0], n * sizeof(double));
    as_flow_derive(flow);
    return flow;
}

/* For tools that know functions by their symbols. */
static void name_functions(struct as_cfg *cfg)
{
    static const char *const names[] = {"first", "main", "third"};
    struct as_cfg_module *m = as_cfg_get(cfg, 0);
    for (size_t i = 0; i < m->functions.len; i++)
        m->functions.data[i].linkage = names[i];
}

static void add_pads(struct as_cfg *cfg, const struct program *program)
{
    for (size_t i = 0; i < 2 && program->throws[i].pad; i++) {
        uint32_t call = program->throws[i].call;
        *as_vec_push(&as_cfg_get(cfg, 0)->pads) = (struct as_landing_pad){
            graph_start(cfg, call), graph_start(cfg, call + 1), graph_start(cfg, program->throws[i].pad)};
    }
}

static void write_all(size_t program, FILE *out)
{
    struct as_cfg *cfg = graph_make(programs[program].blocks);
    name_functions(cfg);
    add_pads(cfg, &programs[program]);
    struct walk walk;
    walk_through(&walk, cfg, program);
    unit_golden_section(out, "%s", programs[program].blocks);
    write_flow(walk.truth, out);
    write_loops(walk.truth, out);
    write_traces(walk.truth, out);
    write_runs(walk.truth, out);
    struct as_flow *derived = derived_of(walk.truth);
    check_derived(derived, walk.truth);
    fprintf(out, "-- edges that follow\n");
    write_flow(derived, out);
    fprintf(out, "times %g\n", as_flow_scale(derived));
    write_runs(derived, out);
    as_flow_free(derived);
    for (int balance = 0; balance < 2; balance++) {
        struct as_flow *guessed = as_estimate(walk.addresses, cfg, AS_METHOD_IP, NULL);
        as_flow_guess_edges(guessed, balance);
        fprintf(out, "-- edges of addresses alone%s\n", balance ? ", balanced" : "");
        write_flow(guessed, out);
        write_loops(guessed, out);
        as_flow_free(guessed);
    }
    write_estimates(&walk, cfg, out);
    as_flow_free(walk.truth);
    as_samples_free(walk.samples);
    as_samples_free(walk.addresses);
    as_samples_free(walk.taken);
    as_cfg_free(cfg);
}

static void test_walks(void **state)
{
    FILE *out = unit_golden_begin();
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        write_all(i, out);
    unit_golden_check(out, "blocks_walks.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_walks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
