/* Finds the instruction behind a trap. See cause.h. */
#include "watch/cause.h"

#include <string.h>

enum {
    LONGEST = 15,       /* longest x86 instruction */
    WINDOW = 96,        /* bytes before the trap at which decoding may start */
    KNOWN_LIMIT = 4096, /* longest distance from a known start */
    /* A repeated string operation may trap an iteration late, and fast ones move many bytes at once: up to here on an Emerald
     * Rapids, measured. */
    FAST_STRING = 128,
    RSP = 4
};

/* The bytes before and after the instruction pointer. */
struct window {
    uint64_t start;
    size_t size;
    uint8_t bytes[WINDOW + 16];
};

void as_cause_prepare(void)
{
    static const uint8_t nop = 0x90;
    struct as_insn insn;
    as_insn_decode(AS_ARCH_X86_64, 0, &nop, 1, &insn);
}

static bool touches(const struct as_cause_query *query, uint64_t address, uint64_t size)
{
    return address < query->address + query->length && query->address < address + size;
}

/* Returns how well one of the instruction's operands fits, and fills `cause`: 2 its address fits, 1 it may fit, 0
 * no. */
static int fit(const struct as_cause_query *query, const struct as_insn *insn, struct as_cause *cause)
{
    int best = 0;
    for (unsigned m = 0; m < insn->n_mem; m++) {
        uint64_t address;
        const struct as_mem_operand *operand = &insn->mem[m];
        if (!operand->access)
            continue;
        enum as_operand_fit known = as_operand_after(insn, m, &query->state, &address);
        int quality = known == AS_OPERAND_UNKNOWN ? 1 : touches(query, address, operand->size) ? 2 : 0;
        if (quality < best || quality == 0)
            continue;
        bool both = quality == 2 && best == 2; /* movs onto itself */
        *cause = (struct as_cause){.how = quality == 2 ? AS_CAUSE_VERIFIED : AS_CAUSE_PLAUSIBLE,
                                   .access = operand->access | (both ? cause->access : 0),
                                   .size = operand->size,
                                   .ip = insn->address,
                                   .address = quality == 2 ? address : 0,
                                   .length = insn->length};
        best = quality;
    }
    return best;
}

static bool decode_at(const struct as_cause_query *query, const struct window *window, uint64_t address,
                      struct as_insn *insn)
{
    if (address < window->start || address - window->start >= window->size)
        return false;
    size_t offset = (size_t)(address - window->start);
    return as_insn_decode(query->arch, address, window->bytes + offset, window->size - offset, insn);
}

/* Reads up to WINDOW bytes before the instruction pointer, which may not be mapped, and 16 bytes from it on. */
static void read_window(const struct as_cause_query *query, struct window *window)
{
    uint64_t ip = query->state.ip, page = ip & ~UINT64_C(4095);
    uint64_t start = ip > WINDOW ? ip - WINDOW : 0;
    window->start = start;
    window->size = query->read(query->context, start, window->bytes, (size_t)(ip - start) + 16);
    if (window->size < ip - start && start < page) {
        window->start = page;
        window->size = query->read(query->context, page, window->bytes, (size_t)(ip - page) + 16);
    }
}

/* Each sequence that ends at the instruction pointer casts one vote for its last instruction. */
static void vote(const struct as_cause_query *query, const struct window *window, unsigned votes[LONGEST + 1])
{
    struct as_insn insn;
    size_t end = (size_t)(query->state.ip - window->start);
    uint8_t ends_with[WINDOW] = {0}; /* length of the last instruction of the sequence from here; 0: no match */
    for (size_t i = end; i-- > 0;) {
        if (!decode_at(query, window, window->start + i, &insn) || i + insn.length > end)
            continue;
        ends_with[i] = i + insn.length == end ? insn.length : ends_with[i + insn.length];
    }
    for (size_t i = 0; i < end; i++)
        votes[ends_with[i] <= LONGEST ? ends_with[i] : 0]++;
}

/* The length of the instruction before the instruction pointer, decoded from a known start. 0: none ends there. */
static unsigned length_from(const struct as_cause_query *query)
{
    uint64_t at = query->known_start, ip = query->state.ip;
    if (!at || at >= ip || ip - at > KNOWN_LIMIT)
        return 0;
    while (at < ip) {
        uint8_t bytes[16];
        struct as_insn insn;
        size_t size = query->read(query->context, at, bytes, sizeof bytes);
        if (!as_insn_decode(query->arch, at, bytes, size, &insn) || !insn.length)
            return 0;
        at += insn.length;
        if (at == ip)
            return insn.length;
    }
    return 0;
}

static void settle_by_votes(const struct as_cause_query *query, const struct window *window,
                            const struct as_cause *candidates, struct as_cause *cause)
{
    unsigned votes[LONGEST + 1] = {0}, best = 0;
    vote(query, window, votes);
    for (unsigned length = 1; length <= LONGEST; length++)
        if (candidates[length].how && votes[length] &&
            votes[length] >= best) { /* the longer one wins: a prefix belongs to it */
            best = votes[length];
            *cause = candidates[length];
        }
    cause->ambiguous = true;
}

/* Chooses among the candidates of one quality; if there are several, votes decide. */
static bool choose(const struct as_cause_query *query, const struct window *window, struct as_cause *candidates,
                   enum as_cause_how how, struct as_cause *cause)
{
    unsigned n = 0;
    for (unsigned length = 1; length <= LONGEST; length++) {
        if (candidates[length].how != how)
            continue;
        *cause = candidates[length];
        n++;
    }
    if (n <= 1)
        return n == 1;
    for (unsigned length = 1; length <= LONGEST; length++)
        if (candidates[length].how != how)
            candidates[length].how = AS_CAUSE_NONE;
    settle_by_votes(query, window, candidates, cause);
    return true;
}

/* In straight-line code: the instruction that ends at the instruction pointer. */
static bool find_before(const struct as_cause_query *query, const struct window *window, struct as_cause *cause)
{
    struct as_cause candidates[LONGEST + 1];
    memset(candidates, 0, sizeof candidates);
    unsigned sure = length_from(query);
    for (unsigned length = 1; length <= LONGEST; length++) {
        struct as_insn insn;
        if ((sure && length != sure) || !decode_at(query, window, query->state.ip - length, &insn) ||
            insn.length != length || as_insn_is_control(&insn))
            continue;
        fit(query, &insn, &candidates[length]);
    }
    struct as_cause copy[LONGEST + 1];
    memcpy(copy, candidates, sizeof copy);
    return choose(query, window, copy, AS_CAUSE_VERIFIED, cause) ||
           choose(query, window, candidates, AS_CAUSE_PLAUSIBLE, cause);
}

/* Finds a repeated string instruction that was interrupted: the registers are between two elements. */
static bool find_repeated(const struct as_cause_query *query, const struct window *window, struct as_cause *cause)
{
    struct as_insn insn;
    uint64_t ip = query->state.ip;
    for (int behind = 0; behind <= 4;
         behind++) { /* the pointer is at the instruction, or after its end, which is 2 to 4 bytes on */
        if (!decode_at(query, window, ip - (uint64_t)behind, &insn) || !(insn.flags & AS_INSN_REP) ||
            (behind && insn.length != behind))
            continue;
        for (unsigned m = 0; m < insn.n_mem; m++) {
            uint64_t next = query->state.value[insn.mem[m].base & 15];
            if (insn.mem[m].segment || !touches(query, next - FAST_STRING, 2 * FAST_STRING))
                continue;
            *cause = (struct as_cause){AS_CAUSE_VERIFIED, insn.mem[m].access, insn.mem[m].size, false,
                                       insn.address,      query->address,     insn.length};
            return true;
        }
    }
    return false;
}

/* Whether a call leads to the trap. The called function's first instruction has not changed any register yet. */
static bool calls_here(const struct as_cause_query *query, const struct as_insn *insn)
{
    uint64_t ip = query->state.ip, address, target;
    if (insn->target)
        return insn->target == ip;
    for (unsigned m = 0; m < insn->n_mem; m++)
        if (insn->mem[m].access == AS_ACCESS_LOAD)
            return as_operand_after(insn, m, &query->state, &address) == AS_OPERAND_KNOWN &&
                   query->read(query->context, address, &target, sizeof target) == sizeof target && target == ip;
    for (uint8_t i = 0; i < insn->n_reads; i++)
        if (insn->reads[i] != RSP && insn->reads[i] < AS_MACHINE_REGISTERS && query->state.value[insn->reads[i]] == ip)
            return true;
    return false;
}

/* At the entry of a function: finds the call that pushed the return address or loaded its target. */
static bool find_call(const struct as_cause_query *query, struct as_cause *cause)
{
    uint64_t rsp = query->state.value[RSP], back;
    struct window window;
    if (query->read(query->context, rsp, &back, sizeof back) != sizeof back || back < LONGEST)
        return false;
    window.start = back - LONGEST;
    window.size = query->read(query->context, window.start, window.bytes, LONGEST);
    for (unsigned length = 2; window.size == LONGEST && length <= LONGEST; length++) {
        struct as_insn insn;
        struct as_cause candidate;
        if (!decode_at(query, &window, back - length, &insn) || insn.length != length || !as_insn_is_call(&insn) ||
            !calls_here(query, &insn) || fit(query, &insn, &candidate) != 2)
            continue;
        *cause = candidate;
        return true;
    }
    return false;
}

/* Reuses the instruction that an earlier trap at the same address was traced to, if it still fits. */
static bool find_again(const struct as_cause_query *query, struct as_cause *cause)
{
    uint8_t bytes[LONGEST];
    struct as_insn insn;
    struct as_cause candidate;
    size_t length = query->known_length;
    uint64_t start = query->state.ip - length;
    if (!length || length > LONGEST || query->read(query->context, start, bytes, length) != length ||
        !as_insn_decode(query->arch, start, bytes, length, &insn) || insn.length != length ||
        as_insn_is_control(&insn) || fit(query, &insn, &candidate) != 2)
        return false;
    *cause = candidate;
    return true;
}

/* The bytes before a function's entry are not part of it, but may decode to a store. A call that leads here therefore
 * takes precedence. */
void as_cause_find(const struct as_cause_query *query, struct as_cause *cause)
{
    struct window window;
    struct as_cause before;
    memset(cause, 0, sizeof *cause);
    if (query->arch != AS_ARCH_X86_64 || find_again(query, cause) || find_call(query, cause))
        return;
    read_window(query, &window);
    bool found = find_before(query, &window, &before);
    if ((found && before.how == AS_CAUSE_VERIFIED) || (!find_repeated(query, &window, cause) && found))
        *cause = before;
}
