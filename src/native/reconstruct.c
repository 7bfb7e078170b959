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

/* Where control goes; false where that is not known: a branch on flags that are not, a jump to a loaded place, the
 * kernel. */
static bool goes_on(const struct as_x86_machine *machine, const struct as_insn *insn, uint64_t *next)
{
    int taken = insn->class_ == AS_CLASS_JUMP      ? 1
                : insn->class_ == AS_CLASS_BRANCH  ? as_x86_machine_branch(machine, insn)
                : insn->flags & AS_INSN_ENDS_BLOCK ? -1
                                                   : 0;
    *next = taken == 1 ? insn->target : insn->address + insn->length;
    return taken >= 0;
}

void as_reconstruct_from(const struct as_machine_state *state, as_reconstruct_read *read, void *context,
                         struct as_reconstruction *result)
{
    struct as_x86_machine machine;
    uint64_t at = state->ip;
    as_x86_machine_start(&machine, state, state->knows_flags);
    for (unsigned distance = 0; distance < AS_RECONSTRUCT_LIMIT; distance++) {
        struct as_insn insn;
        uint8_t bytes[AS_INSN_MAX_BYTES];
        size_t size = read(context, at, bytes, sizeof bytes);
        if (!size || !as_insn_decode(AS_ARCH_X86_64, at, bytes, size, &insn)) {
            *result = none(AS_RECONSTRUCT_NO_CODE);
            return;
        }
        if (accesses(&insn)) {
            *result = none(AS_RECONSTRUCT_ADDRESS);
            result->ip = at;
            result->distance = distance;
            if (!fill(&insn, &machine.state, result))
                return;
            result->how = distance ? AS_RECONSTRUCT_NEXT : AS_RECONSTRUCT_EXACT;
            result->reason = AS_RECONSTRUCT_FOUND;
            return;
        }
        if (!goes_on(&machine, &insn, &at)) {
            *result = none(AS_RECONSTRUCT_BRANCH);
            return;
        }
        as_x86_machine_step(&machine, &insn);
    }
    *result = none(AS_RECONSTRUCT_FAR);
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

void as_reconstruct(struct as_code *code, const struct as_perf_sample *sample, struct as_reconstruction *result)
{
    struct as_machine_state state;
    struct source source = {code, sample->pid};
    if (as_sample_registers(sample, &state))
        as_reconstruct_from(&state, read_code, &source, result);
    else
        *result = none(AS_RECONSTRUCT_NO_REGISTERS);
}

const char *as_reconstruct_reason_text(enum as_reconstruct_reason reason)
{
    static const char *const texts[AS_RECONSTRUCT_REASONS] = {"found",           "no registers",    "no code",
                                                              "behind a branch", "address unknown", "too far"};
    return reason < AS_RECONSTRUCT_REASONS ? texts[reason] : "?";
}
