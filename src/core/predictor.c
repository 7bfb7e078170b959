/* See predictor.h; doc/design/predictor.md says what is modelled and what is not.
 *
 * Which part speaks for which instruction: TAGE for the direction of conditional branches, the return stack for
 * returns, the tagged tables with the BTB below them for other indirect transfers. Direct targets are never wrong,
 * since decode computes them; they only come late where the BTB has not got them.
 */
#include "core/predictor.h"

#include "base/alloc.h"
#include "core/branch_history.h"
#include "core/btb.h"
#include "core/indirect.h"
#include "core/routes.h"
#include "core/tage.h"

#include <stdlib.h>

enum { RETURN_BITS = 48, TARGET_HISTORY = 2 };

struct as_predictor {
    struct as_tage *tage;
    struct as_routes *routes;
    struct as_btb *btb, *fast; /* fast: NULL where there is none */
    struct as_indirect *indirect;
    uint64_t *returns; /* a ring: too deep a nesting overwrites the oldest */
    uint32_t returns_size, returns_top, returns_used;
};

struct as_predictor *as_predictor_new(const struct as_machine *machine)
{
    struct as_predictor *predictor = as_alloc_apart(1, sizeof *predictor); /* it may be asked on another thread */
    predictor->tage = as_tage_new(machine);
    predictor->routes = as_routes_new();
    predictor->btb = as_btb_new(machine->predictor.btb_entries, machine->predictor.btb_ways);
    if (machine->predictor.fast_entries)
        predictor->fast = as_btb_new(machine->predictor.fast_entries, machine->predictor.fast_ways);
    predictor->indirect = as_indirect_new(machine);
    predictor->returns_size = machine->predictor.ras_entries;
    predictor->returns = as_alloc_apart(predictor->returns_size, sizeof *predictor->returns);
    return predictor;
}

void as_predictor_free(struct as_predictor *predictor)
{
    if (!predictor)
        return;
    as_tage_free(predictor->tage);
    as_routes_free(predictor->routes);
    as_btb_free(predictor->btb);
    as_btb_free(predictor->fast);
    as_indirect_free(predictor->indirect);
    free(predictor->returns);
    free(predictor);
}

static uint64_t behind(const struct as_insn *insn)
{
    return insn->address + insn->length;
}

static void push_return(struct as_predictor *predictor, const struct as_insn *insn)
{
    /* A call to the next instruction reads the program counter; it never returns, and processors know it. */
    if (insn->target == behind(insn))
        return;
    if (++predictor->returns_top == predictor->returns_size)
        predictor->returns_top = 0;
    predictor->returns[predictor->returns_top] = behind(insn);
    if (predictor->returns_used < predictor->returns_size)
        predictor->returns_used++;
}

static uint64_t top_return(const struct as_predictor *predictor)
{
    return predictor->returns_used ? predictor->returns[predictor->returns_top] : 0;
}

static uint64_t pop_return(struct as_predictor *predictor)
{
    uint64_t target = top_return(predictor);
    if (!predictor->returns_used)
        return 0;
    predictor->returns_used--;
    predictor->returns_top = (predictor->returns_top ? predictor->returns_top : predictor->returns_size) - 1;
    return target;
}

static void push_history(struct as_predictor *predictor, bool bit)
{
    as_tage_push(predictor->tage, bit);
    if (predictor->indirect)
        as_indirect_push(predictor->indirect, bit);
}

/* A taken transfer: the BTBs learn it. Returns the target that they knew. What the first level has is not sought in the
 * second, which has it too as a rule. */
static inline uint64_t use_targets(struct as_predictor *predictor, const struct as_insn *insn, uint64_t next,
                                   struct as_prediction *prediction)
{
    if (predictor->fast && as_btb_use(predictor->fast, insn->address, next) == next) {
        prediction->fast = true;
        return next;
    }
    return as_btb_use(predictor->btb, insn->address, next);
}

static struct as_prediction predict_branch(struct as_predictor *predictor, const struct as_insn *insn, bool taken,
                                           uint64_t next)
{
    bool guess = as_tage_predict(predictor->tage, insn->address, taken);
    struct as_prediction prediction = {
        .taken = guess, .target = guess ? insn->target : behind(insn), .mispredicted = guess != taken};
    if (taken) {
        bool known = use_targets(predictor, insn, next, &prediction) == next;
        prediction.fast &= guess;
        prediction.btb_miss = !known & guess;
    }
    if (predictor->indirect)
        as_indirect_push(predictor->indirect, taken);
    return prediction;
}

static void predict_direct(struct as_predictor *predictor, const struct as_insn *insn, uint64_t next,
                           struct as_prediction *prediction)
{
    uint64_t known = use_targets(predictor, insn, next, prediction);
    prediction->btb_miss = known != next;
    prediction->target = next;
}

static void predict_return(struct as_predictor *predictor, uint64_t next, struct as_prediction *prediction)
{
    prediction->target = pop_return(predictor);
    prediction->mispredicted = prediction->target != next;
}

/* The BTB is the base of the tagged tables and learns each target. Bits of the target go into the history, so that it
 * tells apart what follows different targets. */
static void predict_indirect(struct as_predictor *predictor, const struct as_insn *insn, uint64_t next,
                             struct as_prediction *prediction)
{
    struct as_indirect_lookup lookup;
    prediction->target = use_targets(predictor, insn, next, prediction);
    if (predictor->indirect) {
        as_indirect_predict(predictor->indirect, insn->address, prediction->target, &lookup);
        as_indirect_update(predictor->indirect, &lookup, next);
        prediction->target = lookup.target;
        uint32_t key = as_history_key(next);
        for (int i = 0; i < TARGET_HISTORY; i++)
            push_history(predictor, key >> i & 1);
    }
    prediction->mispredicted = prediction->target != next;
    prediction->fast = prediction->fast && !prediction->mispredicted;
}

static __attribute__((noinline)) struct as_prediction predict_other(struct as_predictor *predictor,
                                                                    const struct as_insn *insn, uint64_t next)
{
    struct as_prediction prediction = {.taken = true};
    switch (insn->class_) {
    case AS_CLASS_JUMP:
    case AS_CLASS_CALL:
        predict_direct(predictor, insn, next, &prediction);
        break;
    case AS_CLASS_JUMP_INDIRECT:
    case AS_CLASS_CALL_INDIRECT:
        predict_indirect(predictor, insn, next, &prediction);
        break;
    case AS_CLASS_RETURN:
        predict_return(predictor, next, &prediction);
        break;
    default:
        return (struct as_prediction){.target = behind(insn)};
    }
    if (as_insn_is_call(insn))
        push_return(predictor, insn);
    return prediction;
}

struct as_prediction as_predictor_predict(struct as_predictor *predictor, const struct as_insn *insn, bool taken,
                                          uint64_t next)
{
    /* By far the most frequent ones have the shortest way. */
    return insn->class_ == AS_CLASS_BRANCH ? predict_branch(predictor, insn, taken, next)
                                           : predict_other(predictor, insn, next);
}

bool as_predictor_pass(struct as_predictor *predictor, const struct as_route *route, uint32_t plain, uint32_t *fast,
                       uint32_t *missed, struct as_route_look *look)
{
    if (!as_routes_pass(predictor->routes, predictor->tage, route, plain, look))
        return false;
    for (uint32_t i = 0; i < plain; i++) {
        const struct as_route_step *step = &route->steps[i];
        struct as_prediction prediction = {0};
        if (!step->taken)
            continue;
        bool known = use_targets(predictor, step->insn, step->next, &prediction) == step->next;
        *fast |= (uint32_t)prediction.fast << i;
        *missed |= (uint32_t)!known << i;
    }
    if (predictor->indirect)
        as_indirect_push_many(predictor->indirect, look->outcomes, look->branches);
    return true;
}

void as_predictor_note(struct as_predictor *predictor, const struct as_route *route, uint32_t plain,
                       const struct as_route_look *look)
{
    as_routes_note(predictor->routes, predictor->tage, route, plain, look);
}

uint64_t as_predictor_peek(struct as_predictor *predictor, const struct as_insn *insn)
{
    struct as_indirect_lookup jump;
    switch (insn->class_) {
    case AS_CLASS_BRANCH:
        return as_tage_look(predictor->tage, insn->address) ? insn->target : behind(insn);
    case AS_CLASS_JUMP:
    case AS_CLASS_CALL:
        return insn->target;
    case AS_CLASS_JUMP_INDIRECT:
    case AS_CLASS_CALL_INDIRECT:
        jump.target = as_btb_look(predictor->btb, insn->address);
        if (predictor->indirect)
            as_indirect_predict(predictor->indirect, insn->address, jump.target, &jump);
        return jump.target;
    case AS_CLASS_RETURN:
        return top_return(predictor);
    default:
        return behind(insn);
    }
}

struct as_predictor_storage as_predictor_storage(const struct as_predictor *predictor)
{
    return (struct as_predictor_storage){
        .tage = as_tage_table_bits(predictor->tage) / 8,
        .base = as_tage_base_bits(predictor->tage) / 8,
        .btb = as_btb_bits(predictor->btb) / 8,
        .fast = predictor->fast ? as_btb_bits(predictor->fast) / 8 : 0,
        .ras = (size_t)predictor->returns_size * RETURN_BITS / 8,
        .indirect = predictor->indirect ? as_indirect_bits(predictor->indirect) / 8 : 0,
    };
}

size_t as_predictor_bytes(const struct as_predictor *predictor)
{
    struct as_predictor_storage storage = as_predictor_storage(predictor);
    return storage.tage + storage.base + storage.btb + storage.fast + storage.ras + storage.indirect;
}
