/* What a program in QEMU learns by CPUID: QEMU is asked, by a program of a few instructions that it runs. */
#ifndef AS_ENGINE_QEMU_CPUID_H
#define AS_ENGINE_QEMU_CPUID_H

#include <stdbool.h>
#include <stdint.h>

enum as_cpuid_leaf { AS_CPUID_1, AS_CPUID_7, AS_CPUID_7_1, AS_CPUID_80000001, AS_CPUID_LEAVES };
enum as_cpuid_register { AS_CPUID_EAX, AS_CPUID_EBX, AS_CPUID_ECX, AS_CPUID_EDX, AS_CPUID_REGISTERS };

struct as_cpuid {
    uint32_t words[AS_CPUID_LEAVES][AS_CPUID_REGISTERS];
};

/* `qemu`: the path of qemu-x86_64. False: it does not answer. */
bool as_qemu_cpuid(const char *qemu, struct as_cpuid *cpuid);

#endif
