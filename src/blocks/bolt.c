/* See bolt.h.
 *
 * Runs: along blocks that fall into each other, what enters a block from elsewhere starts a run, and what leaves by a
 * branch ends one, the oldest first. Which run ends where is not in the counts of edges; any choice gives the same
 * counts again. A call ends a run, and the place behind it starts one: a call is a branch that is taken. */
#include "blocks/bolt.h"

#include "base/map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint64_t whole(double count)
{
    return count > 0 ? (uint64_t)(count + 0.5) : 0;
}

/* What falls out of a block without a branch. */
static uint64_t falling(const struct as_flow *flow, uint32_t module, uint32_t block)
{
    size_t n;
    const struct as_flow_edge *edges = as_flow_out(flow, module, block, &n);
    if (!n || edges[0].kind != AS_EDGE_FALL || as_cfg_calls(&as_cfg_get(flow->cfg, module)->blocks.data[block]))
        return 0;
    return whole(edges[0].count);
}

/* Stubs of the linker: BOLT knows them, and wants no profile of them. */
static bool is_stub_name(const char *name)
{
    return name[0] == '.' || strstr(name, "@plt");
}

static bool is_stub(const struct as_cfg_function *function)
{
    return function->linkage && is_stub_name(function->linkage);
}

bool as_bolt_check(const struct as_cfg *cfg, uint32_t module, struct as_error *err)
{
    const struct as_cfg_module *m = as_cfg_get(cfg, module);
    const struct as_symtab *table = &m->symbols.symbols;
    for (size_t i = 0; i < table->symbols.len; i++) {
        const struct as_symbol *symbol = &table->symbols.data[i];
        if (symbol->raw && symbol->rank == AS_SYMBOL_SIZED && !is_stub_name(symbol->raw))
            return true;
    }
    return as_error_set(err, "%s has no symbols, by which fdata names functions; take the file as it was before strip",
                        m->path);
}

/* ---- runs ---- */

struct open_run {
    uint64_t start, left;
};
struct runner {
    AS_VEC(struct open_run) open;
    size_t first; /* of the open ones, the oldest with something left */
    as_bolt_runs runs;
};

static void end_runs(struct runner *runner, uint64_t end, uint64_t count)
{
    while (count && runner->first < runner->open.len) {
        struct open_run *run = &runner->open.data[runner->first];
        uint64_t part = run->left < count ? run->left : count;
        if (part)
            *as_vec_push(&runner->runs) = (struct as_bolt_run){run->start, end, part};
        run->left -= part;
        count -= part;
        runner->first += run->left == 0;
    }
    if (runner->first == runner->open.len) {
        as_vec_clear(&runner->open);
        runner->first = 0;
    }
}

static int by_place(const void *a, const void *b)
{
    const struct as_bolt_run *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

as_bolt_runs as_bolt_runs_of(const struct as_flow *flow, uint32_t module)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    struct runner runner = {0};
    uint64_t carried = 0;
    for (uint32_t i = 0; i < m->blocks.len; i++) {
        const struct as_cfg_block *block = &m->blocks.data[i];
        uint64_t count = whole(flow->counts[module][i]), fall = falling(flow, module, i);
        uint64_t fresh = count > carried ? count - carried : 0;
        bool goes_on = i + 1 < m->blocks.len && block[1].start == block->end;
        if (fresh)
            *as_vec_push(&runner.open) = (struct open_run){block->start, fresh};
        fall = goes_on && fall < count ? fall : goes_on ? count : 0;
        end_runs(&runner, block->last, carried + fresh - fall);
        carried = fall;
    }
    if (runner.runs.len)
        qsort(runner.runs.data, runner.runs.len, sizeof *runner.runs.data, by_place);
    as_vec_free(&runner.open);
    return runner.runs;
}

/* ---- by address ---- */

/* The next edge from `*at` on that is a branch, taken at least once, to a place in the module; NULL: no more. */
static const struct as_flow_edge *next_branch(const struct as_flow *flow, uint32_t module, size_t *at)
{
    size_t end = flow->first[module][as_cfg_get(flow->cfg, module)->blocks.len];
    while (*at < end) {
        const struct as_flow_edge *edge = &flow->edges.data[(*at)++];
        if (edge->kind != AS_EDGE_FALL && edge->to_module == module && whole(edge->count))
            return edge;
    }
    return NULL;
}

void as_bolt_write_aggregated(const struct as_flow *flow, uint32_t module, FILE *out)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    as_bolt_runs runs = as_bolt_runs_of(flow, module);
    const struct as_flow_edge *edge;
    for (size_t at = flow->first[module][0]; (edge = next_branch(flow, module, &at));)
        fprintf(out, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRIu64 "\n", m->blocks.data[edge->from].last,
                edge->target, whole(edge->count), whole(edge->mispredicted));
    for (size_t i = 0; i < runs.len; i++) {
        uint32_t function = as_cfg_find_function(flow->cfg, module, runs.data[i].start);
        if (function != AS_CFG_NONE && is_stub(&m->functions.data[function]))
            continue;
        fprintf(out, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", runs.data[i].start, runs.data[i].end,
                runs.data[i].count);
    }
    as_vec_free(&runs);
}

/* llvm-profgen counts from the address of the first segment that can be executed, down to a page. */
static uint64_t profgen_base(const struct as_cfg_module *module)
{
    enum { PAGE = 4096 };
    for (size_t i = 0; i < module->symbols.segments.len; i++)
        if (module->symbols.segments.data[i].executable)
            return module->symbols.segments.data[i].address & ~(uint64_t)(PAGE - 1);
    return 0;
}

void as_bolt_write_profgen(const struct as_flow *flow, uint32_t module, FILE *out)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    uint64_t base = profgen_base(m);
    as_bolt_runs runs = as_bolt_runs_of(flow, module);
    fprintf(out, "%zu\n", runs.len);
    for (size_t i = 0; i < runs.len; i++)
        fprintf(out, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n", runs.data[i].start - base, runs.data[i].end - base,
                runs.data[i].count);
    as_vec_free(&runs);
    const struct as_flow_edge *edge;
    size_t n = 0;
    for (size_t at = flow->first[module][0]; next_branch(flow, module, &at);)
        n++;
    fprintf(out, "%zu\n", n);
    for (size_t at = flow->first[module][0]; (edge = next_branch(flow, module, &at));)
        fprintf(out, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n", m->blocks.data[edge->from].last - base,
                edge->target - base, whole(edge->count));
}

/* ---- by function ---- */

/* BOLT tells local functions of one name apart by their order of address: "name/1", "name/2". */
static void put_names(const struct as_cfg_module *module, char **names)
{
    struct as_strings *known = as_strings_new();
    AS_VEC(uint32_t) seen = {0};
    const struct as_symtab *table = &module->symbols.symbols;
    uint32_t function = 0;
    for (size_t i = 0; i < table->symbols.len; i++) {
        const struct as_symbol *symbol = &table->symbols.data[i];
        if (!symbol->raw || symbol->binding != STB_LOCAL || symbol->rank != AS_SYMBOL_SIZED)
            continue;
        uint32_t id = as_strings_intern(known, symbol->raw);
        if (id == seen.len)
            *as_vec_push(&seen) = 0;
        uint32_t number = ++seen.data[id];
        while (function < module->functions.len && module->functions.data[function].start < symbol->address)
            function++;
        const struct as_cfg_function *f = function < module->functions.len ? &module->functions.data[function] : NULL;
        if (f && names[function] && f->start == symbol->address && f->local && strcmp(f->linkage, symbol->raw) == 0) {
            free(names[function]);
            names[function] = as_format("%s/%" PRIu32, symbol->raw, number);
        }
    }
    as_vec_free(&seen);
    as_strings_free(known);
}

static char **name_functions(const struct as_cfg_module *module)
{
    char **names = as_alloc_array(module->functions.len + 1, sizeof *names);
    for (size_t i = 0; i < module->functions.len; i++) {
        const struct as_cfg_function *function = &module->functions.data[i];
        bool usable = function->linkage && !strchr(function->linkage, ' ') && !is_stub(function);
        names[i] = usable ? as_format("%.*s", (int)strcspn(function->linkage, "@"), function->linkage) : NULL;
    }
    put_names(module, names);
    return names;
}

/* BOLT's blocks begin behind branches and where one of the same function leads to, and go on behind calls. What was seen to be
 * reached otherwise (behind a call of setjmp), and where executions differ, they go on too: there it takes a profile that falls
 * from one to the next for one of other code. By block, the caller frees. */
static uint8_t *find_begins(const struct as_flow *flow, uint32_t module)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    uint8_t *begins = as_alloc(m->blocks.len + 1);
    for (uint32_t i = 0; i < m->blocks.len; i++) {
        const struct as_cfg_block *block = &m->blocks.data[i];
        bool jumps = block->last_class == AS_CLASS_BRANCH || block->last_class == AS_CLASS_JUMP;
        uint32_t to = jumps && block->target ? as_cfg_find_start(flow->cfg, module, block->target) : AS_CFG_NONE;
        if (to != AS_CFG_NONE && m->blocks.data[to].function == block->function)
            begins[to] = 1;
    }
    for (size_t i = flow->first[module][0]; i < flow->first[module][m->blocks.len]; i++) {
        const struct as_flow_edge *edge = &flow->edges.data[i];
        if (edge->kind == AS_EDGE_INDIRECT && edge->to_module == module && edge->to != AS_CFG_NONE && edge->count > 0 &&
            m->blocks.data[edge->to].function == m->blocks.data[edge->from].function)
            begins[edge->to] = 1;
    }
    for (size_t i = 0; i < m->pads.len; i++) {
        uint32_t pad = as_cfg_find_start(flow->cfg, module, m->pads.data[i].pad);
        if (pad != AS_CFG_NONE)
            begins[pad] = 1;
    }
    return begins;
}

static void fdata_edge(const struct as_cfg_module *m, char *const *names, const uint8_t *begins,
                       const struct as_flow_edge *edge, FILE *out)
{
    const struct as_cfg_block *from = &m->blocks.data[edge->from];
    const char *from_name = names[from->function];
    uint32_t to_function = edge->to == AS_CFG_NONE ? AS_CFG_NONE : m->blocks.data[edge->to].function;
    const char *to_name = to_function == AS_CFG_NONE ? NULL : names[to_function];
    bool goes_on = edge->kind == AS_EDGE_FALL && from->last_class != AS_CLASS_BRANCH && !begins[edge->to];
    if (!from_name || !to_name || goes_on)
        return;
    fprintf(out, "1 %s %" PRIx64 " 1 %s %" PRIx64 " %" PRIu64 " %" PRIu64 "\n", from_name,
            from->last - m->functions.data[from->function].start, to_name,
            edge->target - m->functions.data[to_function].start, whole(edge->mispredicted), whole(edge->count));
}

/* Functions are also entered from other files: what the known calls leave over. */
static void fdata_entries(const struct as_flow *flow, uint32_t module, char *const *names, FILE *out)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    double *known = as_alloc_array(m->functions.len + 1, sizeof *known);
    const struct as_flow_edge *edge;
    for (size_t at = flow->first[module][0]; (edge = next_branch(flow, module, &at));) {
        const struct as_cfg_block *to = edge->to == AS_CFG_NONE ? NULL : &m->blocks.data[edge->to];
        bool enters = to && to->flags & AS_CFG_ENTRY && names[m->blocks.data[edge->from].function] &&
                      (edge->kind == AS_EDGE_CALL || m->blocks.data[edge->from].function != to->function);
        if (enters)
            known[to->function] += edge->count;
    }
    for (uint32_t i = 0; i < m->functions.len; i++) {
        uint64_t rest = whole(as_flow_entries(flow, module, i) - known[i]);
        if (names[i] && rest)
            fprintf(out, "0 [unknown] 0 1 %s 0 0 %" PRIu64 "\n", names[i], rest);
    }
    free(known);
}

void as_bolt_write_fdata(const struct as_flow *flow, uint32_t module, FILE *out)
{
    const struct as_cfg_module *m = as_cfg_get(flow->cfg, module);
    char **names = name_functions(m);
    uint8_t *begins = find_begins(flow, module);
    for (size_t i = flow->first[module][0]; i < flow->first[module][m->blocks.len]; i++) {
        const struct as_flow_edge *edge = &flow->edges.data[i];
        if (edge->to_module == module && whole(edge->count))
            fdata_edge(m, names, begins, edge, out);
    }
    fdata_entries(flow, module, names, out);
    free(begins);
    for (size_t i = 0; i < m->functions.len; i++)
        free(names[i]);
    free(names);
}
