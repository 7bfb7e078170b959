/* Blocks: along an edge of the memo where one fits, instruction by instruction where none does. See memo.h.
 *
 * To follow an edge is to ask its questions and to compare the answers. Where an answer is new, the questions so far are
 * not asked again: the pipeline gets the state before the block, runs it with the answers that it has, and asks on from
 * there. What it does then becomes another edge.
 */
#include "core/core_edge.h"
#include "core/core_follow.h"
#include "core/core_plain.h"
#include "core/memo_promise.h"

#include <inttypes.h>

/* ---- instruction by instruction ---- */

/* Drains that nothing can come before any more happen now, so that how long ago they could have happened is not part
 * of the state. */
static void begin(struct as_core *core, const struct as_body *body)
{
    uint64_t packet = as_core_next_packet(core);
    set_ideal(core, body->ideals ? body->ideals[0] : 0);
    drain_until(core, packet < core->last_dispatch ? packet : core->last_dispatch);
}

/* Instruction i, with its accesses. */
static inline struct as_op op_with(const struct as_body_run *run, const struct as_recipe *recipe, uint32_t i,
                                   const struct as_core_access *accesses, uint32_t n_accesses)
{
    const struct as_body *body = run->body;
    bool last = i + 1 == body->n;
    struct as_op op = {.insn = body->insns[i],
                       .recipe = recipe,
                       .accesses = accesses,
                       .n_accesses = n_accesses,
                       .continues = body->continues && i == 0,
                       .last = last,
                       .number = (uint16_t)i,
                       .ideal = body->ideals ? body->ideals[i] : 0};
    if (recipe->traits & AS_RECIPE_CONTROL) {
        op.next = last ? run->next : body->insns[i + 1]->address;
        op.taken = last ? run->taken : body->taken && body->taken[i];
    }
    return op;
}

static inline struct as_op op_of(const struct as_body_run *run, const struct as_recipe *recipe, uint32_t i)
{
    const uint32_t *first = &run->body->first_access[i];
    return op_with(run, recipe, i, run->accesses + first[0], first[1] - first[0]);
}

/* How many accesses an instruction has. Most recipes know: the host need not wait for another line. */
static inline uint32_t count_accesses(const struct as_body *body, const struct as_recipe *recipe, uint32_t i)
{
    uint32_t n = recipe->micro[0].accesses;
    return __builtin_expect(n < AS_MICRO_MANY, 1) ? n : body->first_access[i + 1] - body->first_access[i];
}

/* One that is tried again takes more than its body was counted with. */
static __attribute__((noinline)) void try_plain_again(struct as_core *core, const struct as_body_run *run,
                                                      const struct as_recipe *recipe, uint32_t i, uint64_t before,
                                                      const struct trouble *trouble, struct as_pipe *pipe)
{
    struct as_op op = op_of(run, recipe, i);
    struct passage first = {.core = core, .op = &op, .recipe = recipe, .pipe = pipe, .trouble = *trouble};
    as_core_try_again(&first, before);
}

/* An instruction that loads or stores, with nothing else to it. Returns false where it has to be tried again and was. */
static inline __attribute__((always_inline)) bool access_plainly(struct as_core *core, const struct as_body_run *run,
                                                                 const struct as_recipe *recipe, uint32_t i, bool rows,
                                                                 bool roomy, const struct as_core_access *access,
                                                                 struct as_pipe *pipe)
{
    struct trouble trouble = {0};
    uint64_t before = core->last_commit, number = core->n_stores;
    fetch_plainly(core, recipe, (uint16_t)i, roomy, pipe);
    if (recipe->shape == AS_SHAPE_PLAIN_LOAD)
        pass_plainly(core, recipe, PLAIN_LOAD, rows, roomy, access, pipe, &trouble);
    else if (recipe->shape == AS_SHAPE_LOAD_UNIT)
        pass_load_unit(core, recipe, rows, roomy, access, pipe, &trouble);
    else
        pass_plainly(core, recipe, PLAIN_STORE, rows, roomy, access, pipe, &trouble);
    bool fine = (trouble.violated | trouble.fault) == 0;
    if (__builtin_expect(!fine, 0))
        try_plain_again(core, run, recipe, i, before, &trouble, pipe);
    if (recipe->shape == AS_SHAPE_PLAIN_STORE)
        as_core_put_off_drain(core, access, pipe, number);
    return fine;
}

/* A control transfer. */
static inline __attribute__((always_inline)) void transfer_plainly(struct as_core *core, const struct as_body_run *run,
                                                                   const struct as_recipe *recipe, uint32_t i,
                                                                   bool rows, bool roomy, struct as_pipe *pipe)
{
    fetch_plainly(core, recipe, (uint16_t)i, roomy, pipe);
    if (!(recipe->traits & AS_RECIPE_FUSES) || !fuse(core, run->body->insns[i], recipe, pipe))
        pass_plainly(core, recipe, PLAIN_BRANCH, rows, roomy, NULL, pipe, NULL);
}

static __attribute__((noinline)) void predict_slowly(struct as_core *core, const struct as_body_run *run,
                                                     const struct as_recipe *recipe, uint32_t i, struct as_pipe *pipe)
{
    struct as_op op = op_of(run, recipe, i);
    as_core_predict(core, &op, pipe);
}

static inline __attribute__((always_inline)) void execute_all(struct as_core *core, const struct as_body_run *run,
                                                              struct as_pipe *pipes, bool rows)
{
    const struct as_body *body = run->body;
    const struct as_recipe *recipe = body->recipes;
    const struct as_core_access *access = run->accesses;
    uint32_t n = 0; /* accesses of the instruction at hand, from `access` on */
    bool usual = !body->ideals && !body->continues, roomy = usual && has_room_for(core, body);
    for (uint32_t i = 0; i < body->n; i++, recipe = as_recipe_behind(recipe), access += n) {
        struct as_pipe *pipe = &pipes[i];
        n = count_accesses(body, recipe, i);
        uint8_t shape = usual ? recipe->shape : AS_SHAPE_ANY;
        if (shape == AS_SHAPE_PLAIN_UNIT) {
            fetch_plainly(core, recipe, (uint16_t)i, roomy, pipe);
            pass_plainly(core, recipe, PLAIN_UNIT, rows, roomy, NULL, pipe, NULL);
        } else if (shape == AS_SHAPE_BRANCH) {
            transfer_plainly(core, run, recipe, i, rows, roomy, pipe);
            end_plainly(core, recipe, pipe);
            if (!go_as_foreseen(core, pipe))
                predict_slowly(core, run, recipe, i, pipe);
            core->last_flags = pipe->flags & AS_STATE_FLAGS;
            continue;
        } else if ((shape == AS_SHAPE_PLAIN_LOAD || shape == AS_SHAPE_LOAD_UNIT) && n == 1 &&
                   access->kind & AS_ACCESS_LOAD) {
            roomy &= access_plainly(core, run, recipe, i, rows, roomy, access, pipe);
        } else if (shape == AS_SHAPE_PLAIN_STORE && n == 1 && access->kind & AS_ACCESS_STORE) {
            roomy &= access_plainly(core, run, recipe, i, rows, roomy, access, pipe);
        } else {
            struct as_op op = op_with(run, recipe, i, access, n);
            as_core_execute(core, &op, pipe);
            roomy &= !(pipe->flags & (AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED));
            continue;
        }
        end_plainly(core, recipe, pipe);
    }
    core->previous = body->insns[body->n - 1];
}

/* So that the host need not wait for it when its turn comes: a program with much code has more of them than its caches hold. */
static inline void fetch_for_host(const struct as_body *body)
{
    enum { HOST_LINE = 64, HEAD = 2, MOST = 24 };
    uint32_t lines = body->lines < MOST ? body->lines : MOST;
    for (uint32_t i = HEAD; i < lines; i++)
        __builtin_prefetch((const char *)body + (size_t)i * HOST_LINE);
}

static void execute(struct as_core *core, const struct as_body_run *run, struct as_pipe *pipes)
{
    if (run->then)
        fetch_for_host(run->then);
    begin(core, run->body);
    core->insns = run->body->insns;
    if (core->has_rows)
        execute_all(core, run, pipes, true);
    else
        execute_all(core, run, pipes, false);
}

/* Runs again what has been logged. */
static void execute_unlogged(struct as_core *core, const struct as_body_run *run, struct as_pipe *pipes)
{
    struct as_stay_log *stays = core->stays;
    core->stays = NULL;
    execute(core, run, pipes);
    core->stays = stays;
}

/* ---- from edges back to the pipeline ---- */

static struct as_pipe *scratch_of(struct as_core *core, uint32_t n)
{
    struct as_walk *walk = &core->walk;
    if (walk->scratch_size < n) {
        walk->scratch = as_realloc_array(walk->scratch, n, sizeof *walk->scratch);
        walk->scratch_size = n;
    }
    return walk->scratch;
}

/* Back to the start of the last block, which came along an edge, or was to. */
static void go_back(struct as_core *core, const struct as_node *node)
{
    struct as_walk *walk = &core->walk;
    core->last_dispatch = walk->base;
    core->n_stores = walk->n_stores;
    core->n_drained = walk->n_drained;
    if (!walk->stale)
        return;
    as_state_put(core, node->body, node->state->words, walk->horizon);
    walk->stale = false;
    walk->memo->counters.restored++;
    as_memo_pay(walk->memo, AS_PRICE_RESTORED);
}

static struct as_script *open_script(struct as_core *core, const struct as_core_access *accesses, bool given)
{
    struct as_script *script = &core->walk.memo->script;
    script->base = core->last_dispatch;
    script->accesses = accesses;
    script->n = 0;
    as_script_give(script, core->walk.trail, given ? core->walk.n_trail : 0);
    script->answered = script->spoiled = script->checks = script->differs = false;
    return script;
}

/* The pipeline comes to the end of the last block. Its accesses are gone; its answers are all known. */
static void catch_up(struct as_core *core)
{
    struct as_walk *walk = &core->walk;
    if (!walk->stale)
        return;
    struct as_known *edge = walk->edge;
    const struct as_body *body = edge->node->body;
    uint32_t ideal = core->ideal;
    as_edge_count(core, edge, UINT64_MAX);
    as_memo_pay(walk->memo, body->n);
    go_back(core, edge->node);
    core->script = open_script(core, body->shape, true);
    execute_unlogged(core, &(struct as_body_run){.body = body, .accesses = body->shape}, scratch_of(core, body->n));
    core->script = NULL;
    set_ideal(core, ideal);
}

void as_core_leave_memo(struct as_core *core)
{
    if (!core->walk.memo)
        return;
    catch_up(core);
    core->walk.edge = NULL;
}

void as_memo_drop(struct as_memo *memo)
{
    for (size_t i = 0; i < memo->cores.len; i++)
        as_core_leave_memo(memo->cores.data[i]);
    as_memo_clear(memo);
}

/* ---- new edges ---- */

/* The events that do not happen where the new questions begin. */
static uint32_t ideal_before(const struct as_script *script)
{
    for (uint32_t i = script->n_given; i-- > 0;)
        if (script->given[i]->kind == AS_ASK_IDEAL)
            return script->given[i]->events;
    return 0;
}

/* Where a line of code lies, so that a walk need not look at the instruction. */
static uint8_t near_line(const struct as_core *core, const struct as_body *body, const struct as_ask *ask)
{
    uint64_t line = as_core_line_of(core, body, ask->access, ask->flag);
    uint64_t lines = line - (body->address >> core->line_shift) + AS_QUESTION_NEAR;
    return lines < AS_QUESTION_FAR ? (uint8_t)lines : AS_QUESTION_FAR;
}

/* Keeps the script's new questions; returns the last of them, which has room for an edge. NULL: they cannot be kept. */
static struct as_question *keep_questions(const struct as_core *core, const struct as_body *body,
                                          const struct as_script *script, uint32_t *link)
{
    struct as_memo *memo = core->walk.memo;
    struct as_question packed[2 * AS_SCRIPT_ASKS + 1];
    uint32_t n = 0, ideal = ideal_before(script);
    for (uint32_t i = 0; i < script->n; i++) {
        const struct as_ask *ask = &script->asks[i];
        bool asks = ask->kind != AS_ASK_WAITS && ask->kind != AS_ASK_PUT_OFF; /* of others, that it does not matter */
        if (asks && ask->ideal != ideal)
            packed[n++] = (struct as_question){.kind = AS_ASK_IDEAL, .events = ideal = ask->ideal};
        if (!as_question_pack(ask, &packed[n]))
            return NULL;
        if (ask->kind == AS_ASK_FETCH)
            packed[n].access = near_line(core, body, ask);
        n++;
    }
    packed[n++] = (struct as_question){.kind = AS_ASK_END};
    struct as_question *kept = as_memo_take(memo, n * sizeof *kept);
    memcpy(kept, packed, n * sizeof *kept);
    *link = as_memo_number(memo, kept);
    return &kept[n - 1];
}

/* Runs the block in the pipeline, which stands before it, and makes an edge of it; NULL: it cannot be one. */
static struct as_known *run_new(struct as_core *core, struct as_node *node, const struct as_hunt *hunt,
                                const struct as_body_run *run, struct as_pipe *pipes)
{
    struct as_memo *memo = core->walk.memo;
    struct as_script *script = open_script(core, run->accesses, hunt->link != &node->first);
    if (hunt->asked) {
        script->answered = true;
        script->answer = hunt->answer;
        script->target = hunt->target;
    }
    struct as_edge_before before = as_edge_note_before(core);
    uint64_t base = core->last_dispatch;
    core->script = script;
    execute(core, run, pipes);
    core->script = NULL;
    if (script->spoiled || as_memo_is_full(memo))
        return NULL;
    struct as_question *last = keep_questions(core, node->body, script, hunt->link);
    if (!last)
        return NULL;
    struct as_known *known = as_edge_make(core, node, pipes, base, &before);
    last->other = as_memo_number(memo, known);
    return known;
}

/* ---- checks ---- */

static void report(struct as_memo *memo, const struct as_node *node, const char *what, uint64_t is, uint64_t was)
{
    memo->failed = true;
    as_error_set(&memo->error,
                 "memo: block at 0x%" PRIx64 ", state %" PRIu32 ": %s is %" PRId64
                 " cycles after the last dispatch, but was %" PRId64 " when it was remembered",
                 node->body->insns[0]->address, node->number, what, (int64_t)is, (int64_t)was);
}

static bool compare_records(struct as_memo *memo, struct as_known *edge, const struct as_pipe *pipes, uint64_t base)
{
    for (uint32_t i = 0; i < edge->edge.n; i++) {
        struct as_edge_record is = as_edge_record_of(&pipes[i], base);
        const struct as_edge_record *was = &edge->edge.records[i];
        const struct {
            const char *name;
            int64_t is, was;
        } fields[] = {{"fetch", is.fetch, was->fetch},
                      {"dispatch", is.dispatch, was->dispatch},
                      {"issue", is.issue, was->issue},
                      {"done", is.done, was->done},
                      {"commit", is.commit, was->commit},
                      {"events", is.events, was->events},
                      {"flags", is.flags, was->flags},
                      {"wrong_path", is.wrong_path, was->wrong_path},
                      {"wrong_delay", is.wrong_delay, was->wrong_delay},
                      {"uops", is.uops, was->uops}};
        for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
            char what[64];
            if (fields[k].is == fields[k].was)
                continue;
            snprintf(what, sizeof what, "instruction %" PRIu32 ": %s", i, fields[k].name);
            report(memo, edge->node, what, (uint64_t)fields[k].is, (uint64_t)fields[k].was);
            return false;
        }
    }
    return true;
}

/* The pipeline runs the block that came along an edge too, with the same answers, and must ask the same and come to the
 * same. Now and then it does so from the state as it is remembered. */
static void check_edge(struct as_core *core, struct as_known *edge, const struct as_body_run *run,
                       struct as_pipe *pipes)
{
    enum { RESTORE_EVERY = 3 };
    struct as_walk *walk = &core->walk;
    struct as_memo *memo = walk->memo;
    uint64_t base = walk->base;
    walk->horizon = core->last_commit;
    walk->stale = ++walk->restores % RESTORE_EVERY == 0;
    go_back(core, edge->node);
    struct as_script *script = open_script(core, run->accesses, true);
    script->checks = true;
    core->script = script;
    execute_unlogged(core, run, pipes);
    core->script = NULL;
    if (script->differs) {
        const struct as_ask *ask = &script->taken;
        char what[64];
        snprintf(what, sizeof what, "question %" PRIu32 " (kind %u)", script->at - 1, ask->kind);
        report(memo, edge->node, what, script->came - base, (uint64_t)(int64_t)ask->cycle);
    } else if (script->at != script->n_given || script->n != 0) {
        report(memo, edge->node, "the number of questions", script->at + script->n, script->n_given);
    } else if (compare_records(memo, edge, pipes, base) &&
               (core->last_dispatch - base != (uint64_t)(int64_t)edge->dispatched ||
                core->last_commit - base != (uint64_t)(int64_t)edge->edge.committed)) {
        report(memo, edge->node, "the last commit", core->last_commit - base, (uint64_t)(int64_t)edge->edge.committed);
    }
}

/* ---- a block ---- */

static struct as_node *next_node(struct as_known *edge, const struct as_body *body)
{
    if (edge->next[0].body == body)
        return edge->next[0].node;
    if (edge->next[1].body != body)
        return NULL;
    struct as_known_next used = edge->next[1];
    edge->next[1] = edge->next[0];
    edge->next[0] = used;
    return used.node;
}

static void link_node(struct as_known *edge, struct as_node *node)
{
    edge->next[1] = edge->next[0];
    edge->next[0] = (struct as_known_next){.body = node->body, .node = node};
}

/* The node of the state in which the pipeline is; NULL: it has none, and need not get one. */
static struct as_node *find_node(struct as_core *core, const struct as_body *body)
{
    struct as_memo *memo = core->walk.memo;
    if (!memo->options.eager && !as_promise_count(memo, core, body))
        return NULL;
    as_memo_pay(memo, AS_PRICE_STATE);
    uint32_t n = as_state_take(core, body, memo->words);
    if (!n)
        return NULL;
    struct as_node *node = as_memo_find(memo, body, memo->words, n);
    if (node && core->walk.edge)
        link_node(core->walk.edge, node);
    if (!memo->options.eager)
        as_promise_note(memo, node != NULL);
    return node;
}

/* Along a known edge from the node. */
static struct as_known *follow_known(struct as_core *core, struct as_hunt *hunt, struct as_node *node,
                                     const struct as_body_run *run, struct as_pipe *pipes)
{
    struct as_walk *walk = &core->walk;
    struct as_memo *memo = walk->memo;
    walk->n_stores = core->n_stores;
    walk->n_drained = core->n_drained;
    walk->base = core->last_dispatch;
    if (!walk->stale)
        walk->drained = core->last_drain;
    struct as_known *edge = node->first ? as_core_follow(hunt, as_memo_at(memo, node->first)) : NULL;
    if (!edge)
        return NULL;
    memo->counters.known_blocks += run->body->n_blocks;
    memo->counters.known_instructions += edge->edge.n;
    as_memo_earn_known(memo, edge->edge.n);
    if (memo->options.checks) {
        check_edge(core, edge, run, pipes);
        return edge;
    }
    if (!walk->stale)
        walk->horizon = core->last_commit;
    walk->stale = true;
    as_edge_count(core, edge, 1);
    core->last_dispatch = walk->base + (uint64_t)(int64_t)edge->dispatched;
    core->last_commit = walk->base + (uint64_t)(int64_t)edge->edge.committed;
    core->last_flags = edge->flags;
    return edge;
}

static struct as_known *run_with_memo(struct as_core *core, const struct as_body_run *run, struct as_pipe *pipes)
{
    struct as_walk *walk = &core->walk;
    struct as_node *node = walk->edge ? next_node(walk->edge, run->body) : NULL;
    if (!node) {
        catch_up(core);
        node = find_node(core, run->body);
    }
    walk->memo->counters.blocks += run->body->n_blocks;
    walk->memo->counters.instructions += run->body->n;
    if (!node) {
        walk->memo->tries += run->body->n;
        as_memo_earn(walk->memo, walk->memo->tries / AS_PURSE_TRIES);
        walk->memo->tries %= AS_PURSE_TRIES;
        execute(core, run, pipes);
        return NULL;
    }
    struct as_hunt hunt; /* all of it would be more to clear than to fill */
    hunt.core = core;
    hunt.run = run;
    hunt.base = core->last_dispatch;
    hunt.link = &node->first;
    hunt.asked = false;
    struct as_known *edge = follow_known(core, &hunt, node, run, pipes);
    if (edge)
        return edge;
    go_back(core, node);
    return run_new(core, node, &hunt, run, pipes);
}

void as_core_set_memo(struct as_core *core, struct as_memo *memo)
{
    core->walk.memo = memo;
    core->walk.trail = as_alloc_array(2 * AS_SCRIPT_ASKS + 1, sizeof(struct as_question *));
    *as_vec_push(&memo->cores) = core;
}

void as_core_forget_memo(struct as_core *core)
{
    struct as_memo *memo = core->walk.memo;
    for (size_t i = 0; memo && i < memo->cores.len; i++)
        if (memo->cores.data[i] == core)
            memo->cores.data[i] = memo->cores.data[--memo->cores.len];
    free(core->walk.trail);
    free(core->walk.scratch);
}

const struct as_edge *as_core_run(struct as_core *core, const struct as_body_run *run, struct as_pipe *pipes,
                                  uint64_t *base)
{
    struct as_memo *memo = core->walk.memo;
    as_core_begin_run(core);
    *base = core->last_dispatch;
    core->foreseen = run->foreseen;
    if (memo && memo->failed)
        return NULL;
    if (memo && run->body->n_accesses <= AS_BODY_ACCESSES && run->body->stores <= AS_BODY_STORES) {
        core->walk.edge = run_with_memo(core, run, pipes);
        return core->walk.edge ? &core->walk.edge->edge : NULL;
    }
    as_core_leave_memo(core);
    execute(core, run, pipes);
    return NULL;
}
