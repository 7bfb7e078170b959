/* See lookback.h. Offsets are those of the bytes that were read. */
#include "native/lookback.h"

#include "native/x86_step.h"

#include <string.h>

enum { FAR = 4096, BEHIND = 64, AHEAD = 130, SHORT_JUMP = 0xeb, NEAR_CALL = 0xe8, NEAR_JUMP = 0xe9 };

struct text {
    uint64_t start;
    size_t size, ip; /* ip: where the interrupted instruction begins */
    uint8_t bytes[2 * FAR];
};

/* What lies before the interrupted instruction may not be mapped; its page is. */
static bool read_text(uint64_t ip, as_reconstruct_read *read, void *context, struct text *text)
{
    uint64_t page = ip & ~UINT64_C(4095);
    text->start = ip > FAR ? ip - FAR : 0;
    text->size = read(context, text->start, text->bytes, sizeof text->bytes);
    if (text->size <= ip - text->start && page > text->start) {
        text->start = page;
        text->size = read(context, page, text->bytes, sizeof text->bytes);
    }
    text->ip = (size_t)(ip - text->start);
    return text->size > text->ip;
}

static bool decode(const struct text *text, size_t at, struct as_insn *insn)
{
    return at < text->size && as_insn_decode(AS_ARCH_X86_64, text->start + at, text->bytes + at, text->size - at, insn);
}

/* What decoding from each of the bytes before comes to. */
struct steps {
    size_t from;               /* the first of these bytes */
    uint8_t length[BEHIND];    /* of the instruction there, 0: it does not lead to the interrupted one */
    uint16_t arrivals[BEHIND]; /* sequences that arrive there, with the one that begins there */
};

static void take_steps(const struct text *text, struct steps *steps)
{
    struct as_insn insn;
    steps->from = text->ip > BEHIND ? text->ip - BEHIND : 0;
    memset(steps->length, 0, sizeof steps->length);
    for (size_t at = text->ip; at-- > steps->from;) {
        size_t end = decode(text, at, &insn) ? at + insn.length : text->ip + 1;
        if (end == text->ip || (end < text->ip && steps->length[end - steps->from]))
            steps->length[at - steps->from] = insn.length;
    }
    for (size_t i = 0; i < BEHIND; i++)
        steps->arrivals[i] = steps->length[i] ? 1 : 0;
    for (size_t i = 0; i < text->ip - steps->from; i++)
        if (steps->length[i] && i + steps->length[i] < text->ip - steps->from)
            steps->arrivals[i + steps->length[i]] += steps->arrivals[i];
}

/* The length of the instruction that ends at `end`; 0: not clear. */
static uint8_t length_before(const struct steps *steps, size_t end)
{
    unsigned all = 0, most = 0;
    uint8_t length = 0;
    for (size_t at = end; at-- > steps->from && end - at < AS_INSN_MAX_BYTES;) {
        size_t i = at - steps->from;
        if (!steps->length[i] || at + steps->length[i] != end)
            continue;
        all += steps->arrivals[i];
        if (steps->arrivals[i] > most) {
            most = steps->arrivals[i];
            length = steps->length[i];
        }
    }
    return 4 * most > 3 * all ? length : 0;
}

/* ---- jumps that lead there ---- */

/* The latest place at or before the interrupted instruction that a jump leads to. */
static void note_target(const struct text *text, uint64_t target, size_t *latest)
{
    uint64_t at = target - text->start;
    if (target >= text->start && at <= text->ip && at > *latest)
        *latest = (size_t)at;
}

static void note_short(const struct text *text, size_t at, size_t *latest)
{
    uint8_t code = text->bytes[at];
    if (at + 2 <= text->size && (code >> 4 == 7 || code == SHORT_JUMP))
        note_target(text, text->start + at + 2 + (uint64_t)(int64_t)(int8_t)text->bytes[at + 1], latest);
}

/* Whatever looks like a jump or call with four bytes of distance is taken for one: few other bytes lead just there. */
static void note_near(const struct text *text, size_t at, size_t *latest)
{
    int32_t distance;
    const uint8_t *bytes = text->bytes + at;
    bool jump = bytes[0] == NEAR_JUMP || bytes[0] == NEAR_CALL || (at && bytes[0] >> 4 == 8 && bytes[-1] == 0x0f);
    if (!jump || at + 5 > text->size)
        return;
    memcpy(&distance, bytes + 1, sizeof distance);
    note_target(text, text->start + at + 5 + (uint64_t)(int64_t)distance, latest);
}

/* Short jumps in a piece of code. What is decoded first may be out of step. */
static void note_shorts(const struct text *text, size_t from, size_t to, size_t *latest)
{
    struct as_insn insn;
    for (size_t at = from; at < to; at += insn.length) {
        if (decode(text, at, &insn))
            note_short(text, at, latest);
        else
            insn.length = 1;
    }
}

static size_t find_entry(const struct text *text, const struct steps *steps)
{
    size_t latest = 0;
    note_shorts(text, text->ip > 3 * BEHIND ? text->ip - 3 * BEHIND : 0, steps->from, &latest);
    for (size_t i = 0; i < text->ip - steps->from; i++)
        if (steps->arrivals[i] > 2)
            note_short(text, steps->from + i, &latest);
    note_shorts(text, text->ip, text->ip + AHEAD < text->size ? text->ip + AHEAD : text->size, &latest);
    for (size_t at = 0; at < text->size; at++)
        note_near(text, at, &latest);
    return latest;
}

/* Whether a nop of several bytes or endbr64 ends there: a function or a loop begins behind it, entered from wherever. Most
 * sequences that begin inside of a long nop are of other instructions, so votes do not find it. */
static bool is_padded(const struct text *text, size_t end)
{
    struct as_insn insn;
    for (size_t length = 2; length < AS_INSN_MAX_BYTES && length <= end; length++)
        if (decode(text, end - length, &insn) && insn.length == length && insn.class_ == AS_CLASS_NOP)
            return true;
    return false;
}

/* Whether control always came from there to the instruction behind it, and nothing else was executed between. */
static bool falls_through(const struct as_insn *insn)
{
    return insn->class_ == AS_CLASS_BRANCH ||
           !(insn->flags & (AS_INSN_ENDS_BLOCK | AS_INSN_REP) || insn->class_ == AS_CLASS_UNKNOWN);
}

void as_lookback_find(uint64_t ip, as_reconstruct_read *read, void *context, struct as_lookback_code *code)
{
    struct text text;
    struct steps steps;
    struct as_insn insn;
    code->n = 0;
    if (!read_text(ip, read, context, &text))
        return;
    take_steps(&text, &steps);
    size_t entry = find_entry(&text, &steps), end = text.ip;
    while (code->n < AS_LOOKBACK_INSNS && end > entry && !is_padded(&text, end)) {
        uint8_t length = length_before(&steps, end);
        if (!length || end - length < entry || !decode(&text, end - length, &insn) || !falls_through(&insn))
            return;
        code->lengths[code->n++] = length;
        end -= length;
    }
}

/* ---- registers ---- */

static bool reads_register(const struct as_insn *insn, uint8_t reg)
{
    for (uint8_t i = 0; i < insn->n_reads; i++)
        if (insn->reads[i] == reg)
            return true;
    return false;
}

/* Whether the instruction only adds a constant to a register: what it does to any value, it does to these. */
static bool adds_constant(const struct as_insn *insn, uint8_t reg, uint64_t *constant)
{
    if (!reads_register(insn, reg))
        return false;
    static const uint64_t probes[] = {0, UINT64_C(0x9e3779b97f4a7c15), ~UINT64_C(0x9e3779b97f4a7c15)};
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        struct as_machine_state state = {.known = 1u << reg};
        struct as_x86_machine machine;
        state.value[reg] = probes[i];
        as_x86_machine_start(&machine, &state, false);
        as_x86_machine_step(&machine, insn);
        uint64_t added = machine.state.value[reg] - probes[i];
        if (!(machine.state.known >> reg & 1) || (i && added != *constant))
            return false;
        *constant = added;
    }
    return true;
}

/* The registers as they were before the instruction. */
static void undo(const struct as_insn *insn, struct as_machine_state *state)
{
    for (uint8_t i = 0; i < insn->n_writes; i++) {
        uint8_t reg = insn->writes[i];
        uint64_t constant = 0;
        if (reg >= 16 || !(state->known >> reg & 1))
            continue;
        if (adds_constant(insn, reg, &constant))
            state->value[reg] -= constant;
        else
            state->known &= ~(1u << reg);
    }
}

/* A program has no data in its first pages or in the kernel's half: what was there was no access. */
static bool may_be_data(uint64_t address)
{
    return address >= 65536 && address >> 47 == 0;
}

static void take(const struct as_insn *insn, const struct as_machine_state *state, struct as_lookback *result)
{
    for (unsigned m = insn->n_mem; m-- > 0;) {
        struct as_lookback_access access = {
            .ip = insn->address, .size = insn->mem[m].size, .access = insn->mem[m].access};
        if (access.access && result->n < AS_LOOKBACK_ACCESSES &&
            as_operand_before(insn, m, state, &access.address) == AS_OPERAND_KNOWN && may_be_data(access.address))
            result->accesses[result->n++] = access;
    }
}

void as_lookback_from(const struct as_machine_state *state, const struct as_lookback_code *code,
                      as_reconstruct_read *read, void *context, struct as_lookback *result)
{
    struct as_machine_state before = *state;
    uint64_t at = state->ip;
    result->n = 0;
    for (unsigned i = 0; i < code->n; i++) {
        uint8_t bytes[AS_INSN_MAX_BYTES];
        struct as_insn insn;
        at -= code->lengths[i];
        size_t size = read(context, at, bytes, code->lengths[i]);
        if (size != code->lengths[i] || !as_insn_decode(AS_ARCH_X86_64, at, bytes, size, &insn) ||
            insn.length != size || !falls_through(&insn))
            return;
        undo(&insn, &before);
        take(&insn, &before, result);
    }
}
