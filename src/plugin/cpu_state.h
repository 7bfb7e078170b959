/* Reads the guest's registers, which the plugin interface of QEMU 7 does not offer.
 *
 * Translated code keeps a pointer to the vcpu's state in a fixed host register (rbp on x86-64, x19 on AArch64). That
 * state starts with the integer registers, which are up to date whenever a block starts. Callbacks for blocks are
 * entered through a stub that passes that register on. Every value is checked: a signal frame must lie where the
 * guest's stack pointer and argument registers all agree with it.
 */
#ifndef AS_PLUGIN_CPU_STATE_H
#define AS_PLUGIN_CPU_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* A function that only assembly calls by its name: link-time optimisation must neither drop nor rename it. */
#define AS_CALLED_BY_ASSEMBLY __attribute__((used))

/* Defines the callback `entry`, which calls `handler(vcpu, userdata, cpu)`. The handler is AS_CALLED_BY_ASSEMBLY. */
#if defined(__x86_64__)
#define AS_CPU_ENTRY(entry, handler)                                                                                   \
    static __attribute__((naked)) void entry(unsigned vcpu, void *userdata)                                            \
    {                                                                                                                  \
        __asm__("mov %rbp, %rdx\n\tjmp " #handler);                                                                    \
    }
#elif defined(__aarch64__)
#define AS_CPU_ENTRY(entry, handler)                                                                                   \
    static __attribute__((naked)) void entry(unsigned vcpu, void *userdata)                                            \
    {                                                                                                                  \
        __asm__("mov x2, x19\n\tb " #handler);                                                                         \
    }
#else
#define AS_CPU_ENTRY(entry, handler)                                                                                   \
    static void entry(unsigned vcpu, void *userdata)                                                                   \
    {                                                                                                                  \
        handler(vcpu, userdata, NULL);                                                                                 \
    }
#endif

struct as_cpu_signal {
    uint32_t number;
    bool synchronous;     /* raised by the instruction at `interrupted`, which did not complete */
    uint64_t interrupted; /* where the thread goes on after the handler, unless the handler changes that */
};

/* At the start of the block at a handler's entry: whether a signal is being delivered (and not the function called). */
bool as_cpu_find_signal(const void *cpu, struct as_cpu_signal *signal);

/* Where a thread stands that is about to be killed by a signal; 0 unknown. */
uint64_t as_cpu_death_place(const void *cpu);

#endif
