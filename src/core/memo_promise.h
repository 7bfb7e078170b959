/* Which states are worth a look. To take a state and to look for its node costs as much as to run a block, so it is not
 * done before each block that the core runs itself. A signature is quicker: a few words of the state that change with
 * nearly all of the others. A small table counts how often signatures came; states whose signature came seldom are not
 * looked for. Private to core*.c and memo*.c. */
#ifndef AS_CORE_MEMO_PROMISE_H
#define AS_CORE_MEMO_PROMISE_H

#include "core/core_internal.h"
#include "core/memo_table.h"

static inline uint64_t as_promise_mix(uint64_t hash, uint64_t word)
{
    unsigned __int128 product = (unsigned __int128)(hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Cycles behind the last dispatch, as far as they are behind `floor`. */
static inline uint64_t as_promise_since(const struct as_core *core, uint64_t time, uint64_t floor)
{
    return time > floor ? time - core->last_dispatch : 0;
}

static inline uint64_t as_promise_signature(const struct as_core *core, const struct as_body *body)
{
    enum { FLIGHTS = 16, WORD = 4, REGISTERS = 32, PARTS = 4, PART = REGISTERS / PARTS };
    uint64_t base = core->last_dispatch, floor = base + core->dispatch_to_issue, registers[PARTS] = {0}, words;
    /* Not the body's place in memory: what is counted would differ from run to run. */
    uint64_t hash = as_promise_mix(body->address, (uint64_t)body->n << 32 | (core->last_commit - base));
    hash = as_promise_mix(hash, (as_core_next_packet(core) - base) << 32 | (uint64_t)core->packet_slots << 16 |
                                    (core->n_stores - core->n_drained));
    for (uint64_t back = WORD; back <= FLIGHTS; back += WORD) {
        uint64_t at = (core->n_uops - back) & core->flights_mask;
        if (at + WORD > core->flights_mask + 1)
            continue; /* around the end of the ring: rare, and no signature need be perfect */
        memcpy(&words, &core->trail[at], sizeof words);
        hash = as_promise_mix(hash, words);
    }
    for (uint32_t i = 0; i < PART; i++) /* in parts that do not wait for each other */
        for (uint32_t k = 0; k < PARTS; k++)
            registers[k] = registers[k] * 31 + as_promise_since(core, core->ready[k * PART + i], floor);
    hash = as_promise_mix(hash, (registers[0] * 31 + registers[1]) * 961 + registers[2] * 31 + registers[3]);
    return as_promise_mix(hash, as_promise_since(core, core->stores_known, base));
}

/* Counts the signature of the state. Returns whether the state is worth a look. Nodes must have paid before there are
 * more of them. Until then few states are counted, and only those are looked for that may have a node. */
static inline bool as_promise_count(struct as_memo *memo, const struct as_core *core, const struct as_body *body)
{
    enum { OFTEN = 3, USUAL = AS_PROMISE_COUNT / 2, SELDOM = 64 };
    if (!memo->makes && !core->walk.edge && ++memo->passed % SELDOM)
        return false;
    as_memo_pay(memo, AS_PRICE_LOOK);
    uint64_t signature = as_promise_signature(core, body);
    uint16_t *place = &memo->promises[signature >> (64 - AS_PROMISE_BITS)];
    uint16_t tag = signature & ~AS_PROMISE_COUNT & UINT16_MAX, count = *place & AS_PROMISE_COUNT;
    memo->promise = place;
    if ((*place & ~AS_PROMISE_COUNT) != tag) {
        *place = count > USUAL ? (uint16_t)(*place - 1) : (uint16_t)(tag | 1);
        return false;
    }
    if (count < AS_PROMISE_NODE - 1)
        *place = (uint16_t)(tag | (count + 1));
    return count == AS_PROMISE_NODE || (count + 1 >= OFTEN && memo->makes);
}

/* The state that was counted last has a node, or has none. */
static inline void as_promise_note(struct as_memo *memo, bool has_node)
{
    uint16_t tag = *memo->promise & (uint16_t)~AS_PROMISE_COUNT;
    *memo->promise = (uint16_t)(tag | (has_node ? AS_PROMISE_NODE : AS_PROMISE_COUNT / 2));
}

#endif
