/* Reconstructs data accesses from registers and code. See reconstruct.h. */
#include "native/reconstruct.h"

#include "native/x86_step.h"

#include <linux/perf_event.h>
#include <string.h>

/* The numbers that perf gives the x86-64 registers (asm/perf_regs.h), by Assay's numbers. */
enum { PERF_AX, PERF_BX, PERF_CX, PERF_DX, PERF_SI, PERF_DI, PERF_BP, PERF_SP, PERF_IP, PERF_FLAGS, PERF_R8 = 16 };
static const uint8_t perf_number[16] = {PERF_AX,     PERF_CX,     PERF_DX,     PERF_BX,     PERF_SP,     PERF_BP,
                                        PERF_SI,     PERF_DI,     PERF_R8,     PERF_R8 + 1, PERF_R8 + 2, PERF_R8 + 3,
                                        PERF_R8 + 4, PERF_R8 + 5, PERF_R8 + 6, PERF_R8 + 7};

static bool perf_register(const struct as_perf_regs *regs, unsigned number, uint64_t *value)
{
    if (!(regs->mask >> number & 1))
        return false;
    size_t at = (size_t)__builtin_popcountll(regs->mask & ((UINT64_C(1) << number) - 1));
    if (at >= regs->count)
        return false;
    *value = regs->values[at];
    return true;
}

bool as_sample_registers(const struct as_perf_sample *sample, struct as_machine_state *state)
{
    memset(state, 0, sizeof *state);
    if (!(sample->has & PERF_SAMPLE_REGS_USER) || sample->user_regs.abi != PERF_SAMPLE_REGS_ABI_64 ||
        (sample->mode != AS_PERF_USER && sample->mode != AS_PERF_MODE_UNKNOWN))
        return false;
    for (unsigned i = 0; i < 16; i++)
        if (perf_register(&sample->user_regs, perf_number[i], &state->value[i]))
            state->known |= 1u << i;
    state->knows_flags = perf_register(&sample->user_regs, PERF_FLAGS, &state->flags);
    return perf_register(&sample->user_regs, PERF_IP, &state->ip);
}

static bool accesses(const struct as_insn *insn)
{
    return (insn->flags & (AS_INSN_LOAD | AS_INSN_STORE)) != 0;
}

static bool fill(const struct as_insn *insn, const struct as_machine_state *state, struct as_reconstruction *result)
{
    for (unsigned m = 0; m < insn->n_mem; m++) {
        uint64_t address;
        if (!insn->mem[m].access || as_operand_before(insn, m, state, &address) != AS_OPERAND_KNOWN)
            continue;
        result->accesses[result->n].address = address;
        result->accesses[result->n].size = insn->mem[m].size;
        result->accesses[result->n++].access = insn->mem[m].access;
    }
    return result->n > 0;
}

/* The path ahead: registers, return addresses of calls that were followed, and the result of the search. */
struct way {
    struct as_x86_machine machine;
    const struct as_reconstruct_source *source;
    uint64_t stack_start; /* address of the copy */
    uint64_t returns[AS_RECONSTRUCT_CALLS];
    unsigned depth;
};

static struct as_reconstruction none(enum as_reconstruct_reason reason)
{
    return (struct as_reconstruction){.how = AS_RECONSTRUCT_NONE, .reason = reason};
}

enum { RSP = 4 };

/* The target of a return: after the call that was followed, or from the copy of the stack. */
static bool return_address(struct way *way, uint64_t *next)
{
    const struct as_machine_state *state = &way->machine.state;
    uint64_t offset = state->value[RSP] - way->stack_start;
    if (way->depth) {
        *next = way->returns[--way->depth];
        return true;
    }
    if (!(state->known >> RSP & 1) || way->source->stack_size < 8 || offset > way->source->stack_size - 8)
        return false;
    memcpy(next, way->source->stack + offset, sizeof *next);
    return true;
}

/* Tables of jumps, of virtual functions and of imported functions rarely change while a program runs, so they are
 * read. */
static bool indirect_target(const struct way *way, const struct as_insn *insn, uint64_t *next)
{
    const struct as_machine_state *state = &way->machine.state;
    uint64_t address;
    for (unsigned m = 0; m < insn->n_mem; m++)
        if (insn->mem[m].access & AS_ACCESS_LOAD)
            return way->source->memory && as_operand_before(insn, m, state, &address) == AS_OPERAND_KNOWN &&
                   way->source->memory(way->source->context, address, next, sizeof *next) == sizeof *next;
    for (unsigned r = 0; r < insn->n_reads; r++)
        if (insn->reads[r] < 16 && insn->reads[r] != RSP) {
            *next = state->value[insn->reads[r]];
            return state->known >> insn->reads[r] & 1;
        }
    return false;
}

static bool enter_call(struct way *way, const struct as_insn *insn)
{
    if (way->depth == AS_RECONSTRUCT_CALLS)
        return false;
    way->returns[way->depth++] = insn->address + insn->length;
    return true;
}

/* Returns where control goes; false if that is not known: a branch on unknown flags, a jump to a loaded address, a
 * return to a caller whose call was not seen, or the kernel. */
static bool goes_on(struct way *way, const struct as_insn *insn, uint64_t *next)
{
    uint64_t behind = insn->address + insn->length;
    int taken;
    switch (insn->class_) {
    case AS_CLASS_JUMP:
        *next = insn->target;
        return true;
    case AS_CLASS_CALL:
        *next = insn->target;
        return enter_call(way, insn);
    case AS_CLASS_JUMP_INDIRECT:
        return indirect_target(way, insn, next);
    case AS_CLASS_CALL_INDIRECT:
        return indirect_target(way, insn, next) && enter_call(way, insn);
    case AS_CLASS_RETURN:
        return return_address(way, next);
    case AS_CLASS_BRANCH:
        taken = as_x86_machine_branch(&way->machine, insn);
        *next = taken == 1 ? insn->target : behind;
        return taken >= 0;
    default:
        *next = behind;
        return !(insn->flags & AS_INSN_ENDS_BLOCK);
    }
}

/* Whether the path, or the address, would be known if all registers and flags were. At the interrupted instruction
 * itself they are, so seeing them again would not help. */
static bool would_tell(const struct as_insn *insn, bool address, unsigned distance)
{
    struct as_machine_state all = {.known = 0xffff};
    uint64_t unused;
    if (!distance || insn->flags & AS_INSN_REP)
        return false;
    for (unsigned m = 0; address && m < insn->n_mem; m++)
        if (insn->mem[m].access && as_operand_before(insn, m, &all, &unused) == AS_OPERAND_KNOWN)
            return true;
    return !address && AS_INSN_CONTROL_CLASSES >> insn->class_ & 1;
}

static void give_up(const struct as_insn *insn, enum as_reconstruct_reason reason, unsigned distance, unsigned skipped,
                    unsigned skip, struct as_reconstruction *result)
{
    *result = none(reason);
    result->ip = insn->address;
    result->distance = distance;
    result->skipped = skipped;
    result->left = skip - skipped;
    result->watch = would_tell(insn, reason == AS_RECONSTRUCT_ADDRESS, distance);
}

/* The remaining iterations of a repeated string instruction, each of which is one access. Returns false if it does not
 * repeat, the count or the direction is unknown, or it may end earlier (scans and comparisons). */
static bool rounds_of(const struct as_insn *insn, const struct way *way, uint64_t *rounds)
{
    enum { RCX = 1, DIRECTION = 1 << 10 };
    const struct as_machine_state *state = &way->machine.state;
    bool stores = false;
    for (unsigned m = 0; m < insn->n_mem; m++)
        stores |= (insn->mem[m].access & AS_ACCESS_STORE) != 0;
    *rounds = state->value[RCX];
    return insn->flags & AS_INSN_REP && stores && state->known >> RCX & 1 && state->knows_flags &&
           !(state->flags & DIRECTION);
}

static void take(const struct as_insn *insn, const struct way *way, unsigned distance, unsigned skipped,
                 struct as_reconstruction *result)
{
    give_up(insn, AS_RECONSTRUCT_ADDRESS, distance, skipped, skipped, result);
    if (!fill(insn, &way->machine.state, result))
        return;
    result->how = distance ? AS_RECONSTRUCT_NEXT : AS_RECONSTRUCT_EXACT;
    result->reason = AS_RECONSTRUCT_FOUND;
    result->watch = false;
}

/* The access of a later iteration. */
static void take_round(const struct as_insn *insn, const struct way *way, unsigned distance, unsigned skipped,
                       unsigned skip, struct as_reconstruction *result)
{
    take(insn, way, distance, skip, result);
    for (unsigned i = 0; i < result->n; i++)
        result->accesses[i].address += (uint64_t)(skip - skipped) * result->accesses[i].size;
    if (result->how == AS_RECONSTRUCT_EXACT && skip > skipped)
        result->how = AS_RECONSTRUCT_NEXT;
}

void as_reconstruct_from(const struct as_machine_state *state, const struct as_reconstruct_source *source,
                         unsigned skip, struct as_reconstruction *result)
{
    struct way way = {.source = source, .stack_start = state->value[RSP]};
    uint64_t at = state->ip;
    unsigned skipped = 0;
    as_x86_machine_start(&way.machine, state, state->knows_flags);
    *result = none(AS_RECONSTRUCT_FAR);
    for (unsigned distance = 0; distance < AS_RECONSTRUCT_LIMIT; distance++) {
        struct as_insn insn;
        uint8_t bytes[AS_INSN_MAX_BYTES];
        size_t size = source->code(source->context, at, bytes, sizeof bytes);
        if (!size || !as_insn_decode(AS_ARCH_X86_64, at, bytes, size, &insn)) {
            *result = none(AS_RECONSTRUCT_NO_CODE);
            return;
        }
        unsigned before = skipped;
        uint64_t rounds;
        if (accesses(&insn) && rounds_of(&insn, &way, &rounds) && skip - skipped < rounds) {
            take_round(&insn, &way, distance, skipped, skip, result);
            return;
        }
        if (accesses(&insn) && skipped++ == skip) {
            take(&insn, &way, distance, skip, result);
            return;
        }
        if (insn.flags & AS_INSN_REP || !goes_on(&way, &insn, &at)) {
            give_up(&insn, AS_RECONSTRUCT_BRANCH, distance, before, skip, result);
            return;
        }
        as_x86_machine_step(&way.machine, &insn);
    }
}

struct process {
    struct as_code *code;
    uint32_t pid;
};

static size_t read_code(void *context, uint64_t address, void *bytes, size_t size)
{
    const struct process *process = context;
    return as_code_read(process->code, process->pid, address, bytes, size);
}

static size_t read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
    const struct process *process = context;
    return as_code_memory(process->code, process->pid, address, bytes, size);
}

void as_reconstruct(struct as_code *code, const struct as_perf_sample *sample, unsigned skip,
                    struct as_reconstruction *result)
{
    struct as_machine_state state;
    struct process process = {code, sample->pid};
    struct as_reconstruct_source source = {
        .code = read_code, .memory = read_memory, .context = &process, .stack = sample->stack};
    if (sample->has & PERF_SAMPLE_STACK_USER)
        source.stack_size = sample->stack_valid < sample->stack_size ? sample->stack_valid : sample->stack_size;
    if (as_sample_registers(sample, &state))
        as_reconstruct_from(&state, &source, skip, result);
    else
        *result = none(AS_RECONSTRUCT_NO_REGISTERS);
}

const char *as_reconstruct_reason_text(enum as_reconstruct_reason reason)
{
    static const char *const texts[AS_RECONSTRUCT_REASONS] = {"found",          "no registers",    "no code",
                                                              "after a branch", "address unknown", "too far"};
    return reason < AS_RECONSTRUCT_REASONS ? texts[reason] : "?";
}
