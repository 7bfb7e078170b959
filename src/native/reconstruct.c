/* Data accesses from registers and code. See reconstruct.h. */
#include "native/reconstruct.h"

#include "native/x86_step.h"

#include <linux/perf_event.h>
#include <string.h>

/* perf's numbering of the x86-64 registers (asm/perf_regs.h) for ours. */
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

static struct as_reconstruction none(enum as_reconstruct_reason reason)
{
    return (struct as_reconstruction){.how = AS_RECONSTRUCT_NONE, .reason = reason};
}

/* The way ahead: registers, and where calls that were followed return to. */
struct way {
    struct as_x86_machine machine;
    uint64_t returns[AS_RECONSTRUCT_CALLS];
    unsigned depth;
};

/* Where control goes; false where that is not known: a branch on flags that are not, a jump to a loaded place, a return
 * to a caller that was not seen calling, the kernel. */
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
        way->returns[way->depth++ % AS_RECONSTRUCT_CALLS] = behind;
        return way->depth <= AS_RECONSTRUCT_CALLS;
    case AS_CLASS_RETURN:
        *next = way->depth ? way->returns[--way->depth] : 0;
        return *next != 0;
    case AS_CLASS_BRANCH:
        taken = as_x86_machine_branch(&way->machine, insn);
        *next = taken == 1 ? insn->target : behind;
        return taken >= 0;
    default:
        *next = behind;
        return !(insn->flags & AS_INSN_ENDS_BLOCK);
    }
}

static void take(const struct as_insn *insn, const struct way *way, unsigned distance, unsigned skipped,
                 struct as_reconstruction *result)
{
    *result = none(AS_RECONSTRUCT_ADDRESS);
    result->ip = insn->address;
    result->distance = distance;
    result->skipped = skipped;
    if (!fill(insn, &way->machine.state, result))
        return;
    result->how = distance ? AS_RECONSTRUCT_NEXT : AS_RECONSTRUCT_EXACT;
    result->reason = AS_RECONSTRUCT_FOUND;
}

void as_reconstruct_from(const struct as_machine_state *state, as_reconstruct_read *read, void *context, unsigned skip,
                         struct as_reconstruction *result)
{
    struct way way = {.depth = 0};
    uint64_t at = state->ip;
    unsigned skipped = 0;
    as_x86_machine_start(&way.machine, state, state->knows_flags);
    *result = none(AS_RECONSTRUCT_FAR);
    for (unsigned distance = 0; distance < AS_RECONSTRUCT_LIMIT; distance++) {
        struct as_insn insn;
        uint8_t bytes[AS_INSN_MAX_BYTES];
        size_t size = read(context, at, bytes, sizeof bytes);
        if (!size || !as_insn_decode(AS_ARCH_X86_64, at, bytes, size, &insn)) {
            *result = none(AS_RECONSTRUCT_NO_CODE);
            return;
        }
        if (accesses(&insn) && skipped++ == skip) {
            take(&insn, &way, distance, skip, result);
            return;
        }
        if (insn.flags & AS_INSN_REP || !goes_on(&way, &insn, &at)) {
            *result = none(AS_RECONSTRUCT_BRANCH);
            return;
        }
        as_x86_machine_step(&way.machine, &insn);
    }
}

struct source {
    struct as_code *code;
    uint32_t pid;
};

static size_t read_code(void *context, uint64_t address, void *bytes, size_t size)
{
    const struct source *source = context;
    return as_code_read(source->code, source->pid, address, bytes, size);
}

void as_reconstruct(struct as_code *code, const struct as_perf_sample *sample, unsigned skip,
                    struct as_reconstruction *result)
{
    struct as_machine_state state;
    struct source source = {code, sample->pid};
    if (as_sample_registers(sample, &state))
        as_reconstruct_from(&state, read_code, &source, skip, result);
    else
        *result = none(AS_RECONSTRUCT_NO_REGISTERS);
}

const char *as_reconstruct_reason_text(enum as_reconstruct_reason reason)
{
    static const char *const texts[AS_RECONSTRUCT_REASONS] = {"found",           "no registers",    "no code",
                                                              "behind a branch", "address unknown", "too far"};
    return reason < AS_RECONSTRUCT_REASONS ? texts[reason] : "?";
}
