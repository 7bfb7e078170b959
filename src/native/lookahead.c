/* See lookahead.h. An instruction is decoded once; each time that a process is begun with, its bytes are held against the
 * memory again before it is used. */
#include "native/lookahead.h"

#include "native/lookahead_pages.h"
#include "native/lookahead_stub.h"

#include <signal.h>
#include <string.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };
enum { CF = 1 << 0, PF = 1 << 2, ZF = 1 << 6, SF = 1 << 7, DF = 1 << 10, OF = 1 << 11 };
enum { MOST_CODE = 1 << 14, RECENT = 1 << 8 };

enum how { STUB, NOTHING, BRANCH, GO, PUSH, POP, LEAVE, STRING, ADDRESS, ENTERS_KERNEL, UNKNOWN };

struct code {
    uint64_t ip;
    uint32_t epoch; /* in which its bytes were looked at */
    uint8_t how;    /* enum how */
    uint8_t reg;    /* register operand of an indirect jump, push, pop, lea; AS_REG_NONE */
    uint8_t length;
    bool vector;
    uint16_t mnemonic;
    uint64_t constant; /* of push, ret n */
    struct as_insn insn;
    const uint8_t *stub;
};

struct as_lookahead {
    struct as_pages pages;
    struct as_stubs stubs;
    struct as_map places; /* ip: place in `code` + 1 */
    AS_VEC(struct code) code;
    size_t recent[RECENT]; /* places in `code` + 1, by the last bits of the address */
    uint32_t epoch;
    sigset_t signals;
};

bool as_lookahead_read(struct as_lookahead *ahead, uint64_t address, void *bytes, size_t size)
{
    return as_pages_read(&ahead->pages, address, bytes, size);
}

struct as_lookahead *as_lookahead_new(void)
{
    struct as_lookahead *ahead = as_alloc(sizeof *ahead);
    if (as_stubs_open(&ahead->stubs))
        return ahead;
    free(ahead);
    return NULL;
}

void as_lookahead_free(struct as_lookahead *ahead)
{
    if (!ahead)
        return;
    as_pages_free(&ahead->pages);
    as_stubs_close(&ahead->stubs);
    as_map_free(&ahead->places);
    as_vec_free(&ahead->code);
    free(ahead);
}

void as_lookahead_begin(struct as_lookahead *ahead, pid_t pid)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &ahead->signals);
    as_pages_begin(&ahead->pages, pid);
    ahead->epoch++;
}

void as_lookahead_end(struct as_lookahead *ahead)
{
    pthread_sigmask(SIG_SETMASK, &ahead->signals, NULL);
}

/* ---- decoding ---- */

static bool uses_vectors(const struct as_insn *insn)
{
    bool vectors = false;
    for (uint8_t i = 0; i < insn->n_reads; i++)
        vectors |= insn->reads[i] >= AS_REG_VEC0 && insn->reads[i] != AS_REG_FLAGS;
    for (uint8_t i = 0; i < insn->n_writes; i++)
        vectors |= insn->writes[i] >= AS_REG_VEC0 && insn->writes[i] != AS_REG_FLAGS;
    return vectors;
}

static uint8_t register_of(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER ? as_x86_register(operand->reg.value) : AS_REG_NONE;
}

/* A shift of a memory operand's address by a bit number in a register, a mask that leaves parts out, state as a whole. */
static bool is_odd(const struct as_insn *insn, const struct as_x86 *x86)
{
    ZydisMnemonic name = x86->insn.mnemonic;
    bool bits = name == ZYDIS_MNEMONIC_BT || name == ZYDIS_MNEMONIC_BTS || name == ZYDIS_MNEMONIC_BTR ||
                name == ZYDIS_MNEMONIC_BTC;
    bool system = x86->insn.meta.category == ZYDIS_CATEGORY_RDWRFSGS || name == ZYDIS_MNEMONIC_XGETBV ||
                  name == ZYDIS_MNEMONIC_POPFQ || name == ZYDIS_MNEMONIC_PUSHFQ;
    return system || insn->flags & (AS_INSN_BULK_MEM | AS_INSN_MULTI_MEM | AS_INSN_COND_MEM) ||
           (bits && insn->n_mem && x86->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER) || insn->n_mem > 1 ||
           (insn->n_mem && insn->mem[0].size > 64);
}

static enum how how_stack(struct code *code, const struct as_x86 *x86)
{
    ZydisMnemonic name = x86->insn.mnemonic;
    const ZydisDecodedOperand *first = &x86->operands[0];
    if (name == ZYDIS_MNEMONIC_LEAVE && first->size != 16)
        return LEAVE;
    if ((name != ZYDIS_MNEMONIC_PUSH && name != ZYDIS_MNEMONIC_POP) || x86->insn.operand_width != 64)
        return UNKNOWN;
    code->reg = register_of(first);
    if (first->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        code->constant = (uint64_t)first->imm.value.s;
    if (first->type == ZYDIS_OPERAND_TYPE_MEMORY && name == ZYDIS_MNEMONIC_POP)
        return UNKNOWN;
    return code->reg == AS_REG_NONE || code->reg < 16 ? (name == ZYDIS_MNEMONIC_PUSH ? PUSH : POP) : UNKNOWN;
}

static enum how how_string(const struct as_x86 *x86)
{
    switch (x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_MOVSB:
    case ZYDIS_MNEMONIC_MOVSW:
    case ZYDIS_MNEMONIC_MOVSD:
    case ZYDIS_MNEMONIC_MOVSQ:
    case ZYDIS_MNEMONIC_STOSB:
    case ZYDIS_MNEMONIC_STOSW:
    case ZYDIS_MNEMONIC_STOSD:
    case ZYDIS_MNEMONIC_STOSQ:
        return x86->insn.address_width == 64 ? STRING : UNKNOWN;
    default:
        return UNKNOWN;
    }
}

static enum how how_address(struct code *code, const struct as_x86 *x86)
{
    if (x86->operands[1].mem.base != ZYDIS_REGISTER_RIP)
        return STUB;
    code->reg = register_of(&x86->operands[0]);
    code->constant = code->ip + code->length + (uint64_t)x86->operands[1].mem.disp.value;
    return x86->insn.operand_width == 64 && x86->insn.address_width == 64 ? ADDRESS : UNKNOWN;
}

static enum how how_of(struct code *code, const struct as_x86 *x86)
{
    const struct as_insn *insn = &code->insn;
    ZydisMnemonic name = x86->insn.mnemonic;
    if (insn->class_ == AS_CLASS_BRANCH)
        return x86->insn.meta.category == ZYDIS_CATEGORY_COND_BR ? BRANCH : UNKNOWN;
    if (AS_INSN_CONTROL_CLASSES >> insn->class_ & 1) {
        code->reg = insn->class_ == AS_CLASS_JUMP_INDIRECT || insn->class_ == AS_CLASS_CALL_INDIRECT
                        ? register_of(&x86->operands[0])
                        : AS_REG_NONE;
        code->constant =
            insn->class_ == AS_CLASS_RETURN && x86->insn.operand_count_visible ? x86->operands[0].imm.value.u : 0;
        return x86->insn.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? UNKNOWN : GO;
    }
    if (insn->class_ == AS_CLASS_SYSTEM || insn->flags & AS_INSN_ENDS_BLOCK)
        return ENTERS_KERNEL;
    if (insn->class_ == AS_CLASS_NOP || insn->class_ == AS_CLASS_CACHE || insn->class_ == AS_CLASS_FENCE)
        return NOTHING;
    if (insn->class_ == AS_CLASS_UNKNOWN)
        return UNKNOWN;
    if (insn->class_ == AS_CLASS_STRING)
        return how_string(x86);
    if (name == ZYDIS_MNEMONIC_LEA)
        return how_address(code, x86);
    if (name == ZYDIS_MNEMONIC_PUSH || name == ZYDIS_MNEMONIC_POP || name == ZYDIS_MNEMONIC_LEAVE)
        return how_stack(code, x86);
    return is_odd(insn, x86) ? UNKNOWN : STUB;
}

/* Whether the registers give the addresses of all operands: no vectors of addresses, none of 32 bits. */
static bool has_addresses(const struct as_insn *insn)
{
    struct as_machine_state state = {.knows_segments = true, .known = UINT16_MAX};
    uint64_t address;
    for (unsigned m = 0; m < insn->n_mem; m++)
        if (as_operand_before(insn, m, &state, &address) != AS_OPERAND_KNOWN)
            return false;
    return true;
}

static void decode(struct as_lookahead *ahead, struct code *code, const uint8_t *bytes, size_t size)
{
    struct as_x86 x86;
    code->how = UNKNOWN;
    if (!as_insn_decode(AS_ARCH_X86_64, code->ip, bytes, size, &code->insn) || !as_x86_read(&x86, bytes, size))
        return;
    code->length = code->insn.length;
    code->mnemonic = (uint16_t)x86.insn.mnemonic;
    code->reg = AS_REG_NONE;
    code->how = (uint8_t)how_of(code, &x86);
    code->vector = uses_vectors(&code->insn);
    if (code->how == STUB &&
        !(code->stub = as_stubs_make(&ahead->stubs, &x86, bytes, code->insn.n_mem && code->insn.mem[0].access)))
        code->how = UNKNOWN;
    if (code->how != NOTHING && code->how != ENTERS_KERNEL && !has_addresses(&code->insn))
        code->how = UNKNOWN;
}

/* Fewer bytes than that where the next page is not mapped. */
static size_t read_code(struct as_lookahead *ahead, uint64_t ip, uint8_t bytes[AS_INSN_MAX_BYTES])
{
    size_t left = AS_PAGE_COPY - ip % AS_PAGE_COPY;
    if (as_pages_read(&ahead->pages, ip, bytes, AS_INSN_MAX_BYTES))
        return AS_INSN_MAX_BYTES;
    return left < AS_INSN_MAX_BYTES && as_pages_read(&ahead->pages, ip, bytes, left) ? left : 0;
}

static void forget_code(struct as_lookahead *ahead)
{
    as_map_free(&ahead->places);
    ahead->places = (struct as_map){0};
    ahead->code.len = 0;
    memset(ahead->recent, 0, sizeof ahead->recent);
    as_stubs_clear(&ahead->stubs);
}

/* NULL: not mapped. */
static const struct code *look_up(struct as_lookahead *ahead, uint64_t ip)
{
    uint8_t bytes[AS_INSN_MAX_BYTES];
    const uint64_t *known = as_map_get(&ahead->places, ip);
    struct code *code = known ? &ahead->code.data[*known - 1] : NULL;
    if (code && code->epoch == ahead->epoch)
        return code;
    size_t size = read_code(ahead, ip, bytes);
    if (!size)
        return NULL;
    if (as_stubs_are_full(&ahead->stubs) || ahead->code.len >= MOST_CODE)
        forget_code(ahead);
    code = ahead->code.len ? code : NULL;
    if (!code || !code->length || memcmp(code->insn.bytes, bytes, code->length) != 0) {
        *as_vec_push(&ahead->code) = (struct code){.ip = ip};
        *as_map_put(&ahead->places, ip) = ahead->code.len;
        code = &ahead->code.data[ahead->code.len - 1];
        decode(ahead, code, bytes, size);
    }
    code->epoch = ahead->epoch;
    return code;
}

static inline const struct code *find_code(struct as_lookahead *ahead, uint64_t ip)
{
    size_t *recent = &ahead->recent[ip % RECENT];
    const struct code *code = *recent ? &ahead->code.data[*recent - 1] : NULL;
    if (code && code->ip == ip && code->epoch == ahead->epoch)
        return code;
    code = look_up(ahead, ip);
    *recent = code ? (size_t)(code - ahead->code.data) + 1 : 0;
    return code;
}

/* ---- executing ---- */

static bool holds(uint64_t flags, unsigned condition)
{
    bool less = !(flags & SF) != !(flags & OF), zero = flags & ZF, carry = flags & CF;
    const bool values[8] = {flags & OF, carry, zero, carry || zero, flags & SF, flags & PF, less, less || zero};
    return values[condition / 2] != (condition & 1);
}

static bool is_taken(const struct code *code, struct as_machine_state *state)
{
    uint64_t *rcx = &state->value[RCX];
    switch (code->mnemonic) {
    case ZYDIS_MNEMONIC_JRCXZ:
        return *rcx == 0;
    case ZYDIS_MNEMONIC_JECXZ:
        return (uint32_t)*rcx == 0;
    case ZYDIS_MNEMONIC_LOOP:
        return --*rcx != 0;
    case ZYDIS_MNEMONIC_LOOPE:
        return --*rcx != 0 && state->flags & ZF;
    case ZYDIS_MNEMONIC_LOOPNE:
        return --*rcx != 0 && !(state->flags & ZF);
    default:
        break;
    }
    const uint8_t *bytes = code->insn.bytes;
    for (uint8_t i = 0; i + 1 < code->length; i++) { /* prefixes (bnd, hints) come first */
        if (bytes[i] >> 4 == 7)
            return holds(state->flags, bytes[i] & 15);
        if (bytes[i] == 0x0f)
            return holds(state->flags, bytes[i + 1] & 15);
    }
    return false;
}

static bool load(struct as_lookahead *ahead, uint64_t address, uint64_t *value)
{
    return as_pages_read(&ahead->pages, address, value, sizeof *value);
}

static bool push(struct as_lookahead *ahead, struct as_machine_state *state, uint64_t value)
{
    state->value[RSP] -= 8;
    return as_pages_write(&ahead->pages, state->value[RSP], &value, sizeof value);
}

/* Where a jump, call or return goes. */
static bool target_of(struct as_lookahead *ahead, const struct code *code, const struct as_lookahead_step *step,
                      struct as_machine_state *state, uint64_t *target)
{
    switch (code->insn.class_) {
    case AS_CLASS_RETURN:
        if (!load(ahead, state->value[RSP], target))
            return false;
        state->value[RSP] += 8 + code->constant;
        return true;
    case AS_CLASS_JUMP_INDIRECT:
    case AS_CLASS_CALL_INDIRECT:
        if (code->reg == AS_REG_NONE)
            return step->n && load(ahead, step->accesses[0].address, target);
        *target = state->value[code->reg & 15];
        return true;
    default:
        *target = code->insn.target;
        return true;
    }
}

static bool go(struct as_lookahead *ahead, const struct code *code, const struct as_lookahead_step *step,
               struct as_machine_state *state, uint64_t *next)
{
    uint64_t behind = *next;
    bool calls = code->insn.class_ == AS_CLASS_CALL || code->insn.class_ == AS_CLASS_CALL_INDIRECT;
    return target_of(ahead, code, step, state, next) && (!calls || push(ahead, state, behind));
}

static bool do_push(struct as_lookahead *ahead, const struct code *code, const struct as_lookahead_step *step,
                    struct as_machine_state *state)
{
    uint64_t value = code->reg == AS_REG_NONE ? code->constant : state->value[code->reg];
    if (code->insn.n_mem > 1 && !load(ahead, step->accesses[0].address, &value))
        return false;
    return push(ahead, state, value);
}

static bool do_pop(struct as_lookahead *ahead, const struct code *code, struct as_machine_state *state)
{
    uint64_t value;
    if (code->how == LEAVE)
        state->value[RSP] = state->value[RBP];
    if (!load(ahead, state->value[RSP], &value))
        return false;
    state->value[RSP] += 8;
    state->value[code->how == LEAVE ? RBP : code->reg & 15] = value;
    return true;
}

/* One iteration; the next one is at the same place. */
static bool do_string(struct as_lookahead *ahead, const struct code *code, struct as_lookahead_step *step,
                      struct as_machine_state *state, uint64_t *next)
{
    bool repeats = code->insn.flags & AS_INSN_REP, moves = code->insn.n_mem > 1;
    uint32_t size = code->insn.mem[0].size;
    uint64_t value = state->value[RAX], by = state->flags & DF ? -(uint64_t)size : size;
    if (repeats && !state->value[RCX]) {
        step->n = 0;
        return true;
    }
    if ((moves && !as_pages_read(&ahead->pages, state->value[RSI], &value, size)) ||
        !as_pages_write(&ahead->pages, state->value[RDI], &value, size))
        return false;
    state->value[RSI] += moves ? by : 0;
    state->value[RDI] += by;
    if (repeats && --state->value[RCX])
        *next = code->ip;
    return true;
}

static bool run_stub(struct as_lookahead *ahead, const struct code *code, const struct as_lookahead_step *step,
                     struct as_lookahead_thread *thread)
{
    struct as_machine_state *state = &thread->state;
    size_t size = step->n ? step->accesses[0].size : 0;
    if (size && !as_pages_read(&ahead->pages, step->accesses[0].address, ahead->stubs.operand, size))
        return false;
    as_stub_run(code->stub, state->value, &state->flags, code->vector ? thread->xstate : NULL);
    return !size || !(step->accesses[0].kind & AS_ACCESS_STORE) ||
           as_pages_write(&ahead->pages, step->accesses[0].address, ahead->stubs.operand, size);
}

/* As as_operand_before, where has_addresses holds. */
static inline uint64_t address_of(const struct as_mem_operand *operand, const struct as_machine_state *state)
{
    uint64_t address = (uint64_t)operand->disp + (operand->segment ? state->segment[operand->segment] : 0);
    if (operand->pc_relative)
        return address;
    if (operand->base != AS_REG_NONE)
        address += state->value[operand->base];
    if (operand->index != AS_REG_NONE)
        address += operand->scale * state->value[operand->index];
    return address;
}

static void list_accesses(const struct code *code, const struct as_machine_state *state, struct as_lookahead_step *step)
{
    for (unsigned m = 0; m < code->insn.n_mem; m++) {
        const struct as_mem_operand *operand = &code->insn.mem[m];
        if (!operand->access)
            continue;
        step->accesses[step->n].address = address_of(operand, state);
        step->accesses[step->n].size = operand->size;
        step->accesses[step->n++].kind = operand->access & (AS_ACCESS_LOAD | AS_ACCESS_STORE);
    }
}

/* What an instruction may change of the state. */
static inline void keep_before(struct as_lookahead_step *step, const struct as_machine_state *state)
{
    memcpy(step->values, state->value, sizeof step->values);
    step->flags = state->flags;
}

static bool execute(struct as_lookahead *ahead, const struct code *code, struct as_lookahead_step *step,
                    struct as_lookahead_thread *thread, uint64_t *next)
{
    struct as_machine_state *state = &thread->state;
    switch ((enum how)code->how) {
    case STUB:
        return run_stub(ahead, code, step, thread);
    case BRANCH:
        *next = is_taken(code, state) ? code->insn.target : *next;
        return true;
    case GO:
        return go(ahead, code, step, state, next);
    case PUSH:
        return do_push(ahead, code, step, state);
    case POP:
    case LEAVE:
        return do_pop(ahead, code, state);
    case STRING:
        return do_string(ahead, code, step, state, next);
    case ADDRESS:
        state->value[code->reg & 15] = code->constant;
        return true;
    default:
        return true;
    }
}

struct as_machine_state as_lookahead_before(const struct as_lookahead_thread *thread,
                                            const struct as_lookahead_step *step)
{
    struct as_machine_state state = thread->state;
    memcpy(state.value, step->values, sizeof step->values);
    state.flags = step->flags;
    state.ip = step->ip;
    return state;
}

enum as_lookahead_end as_lookahead_step(struct as_lookahead *ahead, struct as_lookahead_thread *thread,
                                        struct as_lookahead_step *step)
{
    if (thread->end != AS_LOOKAHEAD_GOES_ON)
        return thread->end;
    const struct code *code = ahead->pages.full ? NULL : find_code(ahead, thread->state.ip);
    if (!code)
        return thread->end = AS_LOOKAHEAD_MEMORY;
    if (code->how == ENTERS_KERNEL)
        return thread->end = AS_LOOKAHEAD_SYSTEM;
    step->n = 0;
    step->ip = code->ip;
    if (code->how == UNKNOWN)
        return thread->end = AS_LOOKAHEAD_CODE;
    if (code->how != NOTHING)
        list_accesses(code, &thread->state, step);
    if (step->n)
        keep_before(step, &thread->state);
    uint64_t next = code->ip + code->length;
    if (!execute(ahead, code, step, thread, &next))
        return thread->end = AS_LOOKAHEAD_MEMORY;
    thread->state.ip = next;
    return AS_LOOKAHEAD_GOES_ON;
}
