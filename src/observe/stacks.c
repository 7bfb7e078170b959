/* See stacks.h. The kind of a stall is not recorded: it follows from the instruction that stalled. */
#include "observe/stacks.h"

static const char *const part_names[AS_STACK_COUNT] = {
    [AS_STACK_EXECUTION] = "execution",     [AS_STACK_ALU_STALL] = "alu_stall", [AS_STACK_LOAD_STALL] = "load_stall",
    [AS_STACK_STORE_STALL] = "store_stall", [AS_STACK_FRONT_END] = "front_end", [AS_STACK_MISPREDICT] = "mispredict",
    [AS_STACK_MISC_FLUSH] = "misc_flush",
};
static const char *const intensity_names[] = {
    [AS_INTENSITY_COMPUTE] = "compute",
    [AS_INTENSITY_FLUSH] = "flush",
    [AS_INTENSITY_STALL] = "stall",
};

const char *as_stack_part_name(enum as_stack_part part)
{
    return part_names[part];
}

const char *as_intensity_name(enum as_intensity intensity)
{
    return intensity_names[intensity];
}

/* A call that stores its return address waits for its target, not for the store. */
enum as_stack_part as_stack_stall_of(const struct as_insn *insn)
{
    if (!insn)
        return AS_STACK_ALU_STALL;
    if (insn->flags & AS_INSN_LOAD)
        return AS_STACK_LOAD_STALL;
    return insn->flags & AS_INSN_STORE && !as_insn_is_control(insn) ? AS_STACK_STORE_STALL : AS_STACK_ALU_STALL;
}

void as_stack_add(struct as_stack *stack, const struct as_oracle_row *row, const struct as_insn *insn)
{
    stack->units[AS_STACK_EXECUTION] += row->units[AS_STATE_COMPUTING];
    stack->units[as_stack_stall_of(insn)] += row->units[AS_STATE_STALLED];
    stack->units[AS_STACK_FRONT_END] += row->units[AS_STATE_DRAINED];
    stack->units[AS_STACK_MISPREDICT] += row->units[AS_STATE_MISPREDICT];
    stack->units[AS_STACK_MISC_FLUSH] += row->units[AS_STATE_FLUSH] + row->units[AS_STATE_EXCEPTION];
}

struct as_stack as_stack_of(const struct as_oracle *oracle, const struct as_run_info *run)
{
    struct as_stack stack = {0};
    size_t n;
    const struct as_oracle_row *rows = as_oracle_rows(oracle, &n);
    for (size_t id = 0; id < n; id++)
        if (as_oracle_row_units(&rows[id]) > 0)
            as_stack_add(&stack, &rows[id], run->insn(run->context, (uint32_t)id));
    return stack;
}

uint64_t as_stack_total(const struct as_stack *stack)
{
    uint64_t total = 0;
    for (int part = 0; part < AS_STACK_COUNT; part++)
        total += stack->units[part];
    return total;
}

enum as_intensity as_stack_intensity(const struct as_stack *stack)
{
    unsigned __int128 total = as_stack_total(stack), execution = stack->units[AS_STACK_EXECUTION];
    unsigned __int128 flushes = stack->units[AS_STACK_MISPREDICT] + stack->units[AS_STACK_MISC_FLUSH];
    if (execution * 2 > total)
        return AS_INTENSITY_COMPUTE;
    return flushes * 100 > total * 3 ? AS_INTENSITY_FLUSH : AS_INTENSITY_STALL;
}
