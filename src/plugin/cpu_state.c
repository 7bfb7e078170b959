/* See cpu_state.h. The frames are the kernel's ABI as QEMU lays them out: on x86-64 the return address and then the
 * ucontext, on RISC-V the siginfo and then the ucontext. */
#include "plugin/cpu_state.h"

#include "plugin/follow.h"
#include "plugin/lane.h"

enum { SIGINFO_CODE = 8, SIGINFO_SIZE = 128 };

/* Numbers of registers in the state, and of the interrupted address in the ucontext. */
struct frame_layout {
    unsigned number, info, context, stack; /* registers */
    uint64_t context_from_stack;           /* where the ucontext is, relative to the stack pointer */
    uint64_t pc_in_context;
};
static const struct frame_layout layouts[AS_ARCH_COUNT] = {
    [AS_ARCH_X86_64] =
        {.number = 7, .info = 6, .context = 2, .stack = 4, .context_from_stack = 8, .pc_in_context = 168},
    [AS_ARCH_RISCV64] =
        {.number = 10, .info = 11, .context = 12, .stack = 2, .context_from_stack = SIGINFO_SIZE, .pc_in_context = 176},
};

bool as_cpu_find_signal(const void *cpu, struct as_cpu_signal *signal)
{
    const struct frame_layout *layout = &layouts[as_plugin.arch];
    const uint64_t *registers = cpu;
    int32_t code;
    if (!registers || registers[layout->context] != registers[layout->stack] + layout->context_from_stack ||
        registers[layout->number] < 1 || registers[layout->number] > 64 ||
        !as_guest_read(registers[layout->context] + layout->pc_in_context, &signal->interrupted, sizeof(uint64_t)) ||
        !as_guest_read(registers[layout->info] + SIGINFO_CODE, &code, sizeof code))
        return false;
    signal->number = (uint32_t)registers[layout->number];
    signal->synchronous =
        code > 0 && as_wire_is_fault(signal->number); /* timers and dead children have code > 0, too */
    return true;
}

uint64_t as_cpu_death_place(const void *cpu)
{
    enum { X86_PC = 16 }; /* behind the integer registers; RISC-V keeps it elsewhere in every version of QEMU */
    return cpu && as_plugin.arch == AS_ARCH_X86_64 ? ((const uint64_t *)cpu)[X86_PC] : 0;
}
