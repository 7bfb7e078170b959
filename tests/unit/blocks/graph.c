/* See graph.h. */
#include "graph.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64, APART = 256 };

struct word {
    uint32_t n, target;
    char letter;
    bool apart; /* of a function of its own */
};

static uint32_t read_words(const char *text, struct word words[MOST])
{
    uint32_t n = 0;
    for (int used; *text && n < MOST; text += used) {
        struct word *word = &words[n];
        *word = (struct word){.n = 1};
        used = 0;
        if (sscanf(text, " %u%n", &word->n, &used) == 1)
            text += used;
        used = 0;
        if (sscanf(text, " %c%n", &word->letter, &used) != 1)
            break;
        if (word->letter == '|') {
            word->apart = true;
            text += used;
            used = 0;
            if (sscanf(text, " %u%n", &word->n, &used) == 1)
                text += used;
            if (sscanf(text, " %c%n", &word->letter, &used) != 1)
                break;
        }
        if (word->letter == 'b' || word->letter == 'j') {
            int more = 0;
            sscanf(text + used, "%u%n", &word->target, &more);
            used += more;
        }
        n++;
    }
    return n;
}

static struct as_insn last_insn(const struct word *word, uint64_t target, uint64_t start)
{
    struct as_insn insn = {.n_uops = 1};
    switch (word->letter) {
    case 'b':
        insn.class_ = AS_CLASS_BRANCH;
        insn.target = target;
        break;
    case 'j':
        insn.class_ = AS_CLASS_JUMP;
        insn.target = target;
        break;
    case 'x':
        insn.class_ = AS_CLASS_JUMP_INDIRECT;
        break;
    case 'c':
        insn.class_ = AS_CLASS_CALL;
        insn.target = start;
        break;
    case 'r':
        insn.class_ = AS_CLASS_RETURN;
        break;
    default:
        insn.class_ = AS_CLASS_INT;
    }
    return insn;
}

struct as_cfg *graph_make(const char *blocks)
{
    struct word words[MOST];
    uint64_t starts[MOST + 1] = {GRAPH_START};
    uint32_t n = read_words(blocks, words);
    struct as_cfg *cfg = as_cfg_new(NULL);
    uint32_t module = as_cfg_module_of(cfg, "[code]", AS_ARCH_X86_64);
    for (uint32_t i = 0; i < n; i++) {
        starts[i] += words[i].apart ? APART : 0;
        starts[i + 1] = starts[i] + 4 * (uint64_t)words[i].n;
    }
    for (uint32_t i = n; i-- > 0;) { /* backwards: a run sees code in any order */
        as_cfg_lead(cfg, module, starts[i]);
        for (uint32_t at = words[i].n; at-- > 0;) {
            struct as_insn insn = {.class_ = AS_CLASS_INT, .n_uops = 1};
            if (at + 1 == words[i].n)
                insn = last_insn(&words[i], starts[words[i].target], starts[0]);
            insn.address = starts[i] + 4 * (uint64_t)at;
            insn.length = 4;
            as_cfg_see_insn(cfg, module, &insn);
        }
    }
    as_cfg_build(cfg);
    return cfg;
}

uint64_t graph_start(const struct as_cfg *cfg, uint32_t block)
{
    return as_cfg_get(cfg, 0)->blocks.data[block].start;
}

struct as_flow *graph_flow(struct as_cfg *cfg, const double *counts, const char *branches)
{
    struct as_flow *flow = as_flow_new(cfg);
    uint32_t n = (uint32_t)as_cfg_get(cfg, 0)->blocks.len, from, to;
    for (uint32_t i = 0; i < n; i++)
        flow->counts[0][i] = counts[i];
    double count;
    for (int used; sscanf(branches, " %u>%u:%lf%n", &from, &to, &count, &used) == 3; branches += used) {
        const struct as_cfg_block *block = &as_cfg_get(cfg, 0)->blocks.data[from];
        as_flow_add(flow, &(struct as_flow_branch){
                              .from = block->last,
                              .to = to < n ? graph_start(cfg, to) : as_cfg_get(cfg, 0)->blocks.data[n - 1].end,
                              .kind = block->last_class == AS_CLASS_CALL            ? AS_EDGE_CALL
                                      : block->last_class == AS_CLASS_JUMP_INDIRECT ? AS_EDGE_INDIRECT
                                                                                    : AS_EDGE_TAKEN,
                              .count = count});
    }
    as_flow_finish(flow);
    return flow;
}

double graph_edge(const struct as_flow *flow, uint32_t from, uint32_t to)
{
    size_t n;
    const struct as_flow_edge *edges = as_flow_out(flow, 0, from, &n);
    for (size_t i = 0; i < n; i++)
        if (edges[i].to == to && edges[i].kind != AS_EDGE_CALL)
            return edges[i].count;
    return -1;
}
