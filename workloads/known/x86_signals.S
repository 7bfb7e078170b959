/* ITERS signals, each handled and returned from.
 *
 * KIND 1  the process sends itself SIGUSR1
 *      2  a timer's SIGALRM ends rt_sigsuspend
 *      3  a load from a protected page; the handler unprotects it and the load runs again
 *      4  the same, but the handler moves the instruction pointer behind the load, which therefore never completes
 *      5  a division by zero; the handler repairs the divisor and the division runs again
 *      6  ud2, which the handler skips: it never completes
 *      7  a rep stosb of 64 bytes that runs into a protected page after 32; unprotected, it goes on: one instruction
 *      8  an add to a page that may only be read: its load works, its store faults; unprotected, it runs again: one
 *         load, one store
 *
 * An instruction that faults did not execute; run again after the handler it executes once. The kernel's own writes to
 * the stack are nobody's instruction.
 *
 *   before  rt_sigaction                  5 int, 1 system
 *           (kind 1) getpid, mov          2 int, 1 system
 *           (kind 2) rt_sigprocmask       5 int, 1 system
 *           mov                           1 int
 *   loop    what KIND does:
 *       1     kill                        3 int, 1 system
 *       2     setitimer, rt_sigsuspend    4 + 3 int, 2 system
 *       3, 4  mprotect, load              4 int, 1 system; kind 3: 1 load
 *       5     xor xor mov idiv            3 int, 1 div
 *       6     ud2                         nothing
 *       7     mprotect, lea mov rep stosb 6 int, 1 system, 1 string with 64 stores
 *       8     mprotect, add               5 int, one with a load and a store, 1 system
 *           dec jnz                       1 int, 1 branch taken but for the last time
 *   handler incq                          1 int with a load and a store
 *       3, 7, 8  mprotect                 4 int, 1 system
 *       4, 6  addq                        1 int with a load and a store
 *       5     movq                        1 store
 *           ret                           1 return with its load
 *   back    mov syscall                   1 int, 1 system
 *   after   cmpq jne QUIT                 3 int, one with a load, 1 branch not taken, 1 system */
#include "x86_known.inc"

#define SIGILL 4
#define SIGFPE 8
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGALRM 14
#define SA_SIGINFO 4
#define SA_RESTORER 0x04000000
#define UCONTEXT_RCX 152
#define UCONTEXT_RIP 168

#if KIND == 1
#define SIGNAL SIGUSR1
#elif KIND == 2
#define SIGNAL SIGALRM
#elif KIND == 5
#define SIGNAL SIGFPE
#elif KIND == 6
#define SIGNAL SIGILL
#else
#define SIGNAL SIGSEGV
#endif

/* 4 int, 1 system */
.macro PROTECT how
    mov $SYS_mprotect, %eax
    lea page(%rip), %rdi
    mov $4096, %esi
    mov $\how, %edx
    syscall
.endm

_start:
    mov $SYS_rt_sigaction, %eax
    mov $SIGNAL, %edi
    lea action(%rip), %rsi
    xor %edx, %edx
    mov $8, %r10d
    syscall
#if KIND == 1
    mov $SYS_getpid, %eax
    syscall
    mov %eax, %r12d
#elif KIND == 2
    mov $SYS_rt_sigprocmask, %eax
    xor %edi, %edi
    lea alarm_set(%rip), %rsi
    xor %edx, %edx
    mov $8, %r10d
    syscall
#endif
    mov $ITERS, %ebx
1:
#if KIND == 1
    mov $SYS_kill, %eax
    mov %r12d, %edi
    mov $SIGUSR1, %esi
    syscall
#elif KIND == 2
    mov $SYS_setitimer, %eax
    xor %edi, %edi
    lea timer(%rip), %rsi
    xor %edx, %edx
    syscall
    mov $SYS_rt_sigsuspend, %eax
    lea empty_set(%rip), %rdi
    mov $8, %esi
    syscall
#elif KIND == 3 || KIND == 4
    PROTECT 0
faulting:
    mov page(%rip), %rax
behind:
#elif KIND == 5
    xor %eax, %eax
    xor %edx, %edx
    mov $0, %ecx
    idiv %ecx
#elif KIND == 6
faulting:
    ud2
behind:
#elif KIND == 7
    PROTECT 0
    lea page - 32(%rip), %rdi
    mov $64, %ecx
    rep stosb
#elif KIND == 8
    PROTECT 1
    addq $1, page(%rip)
#else
#error "no such kind"
#endif
    dec %ebx
    jnz 1b
    cmpq $ITERS, hits(%rip)
    jne fail
    QUIT
    FAIL

.type handler, @function
handler:
    incq hits(%rip)
#if KIND == 3 || KIND == 7 || KIND == 8
    PROTECT 3
#elif KIND == 4 || KIND == 6
    addq $behind - faulting, UCONTEXT_RIP(%rdx)
#elif KIND == 5
    movq $1, UCONTEXT_RCX(%rdx)
#endif
    ret
.size handler, . - handler

restorer:
    mov $SYS_rt_sigreturn, %eax
    syscall

.data
.balign 8
action:
    .quad handler, SA_SIGINFO | SA_RESTORER, restorer, 0
alarm_set:
    .quad 1 << (SIGALRM - 1)
empty_set:
    .quad 0
timer:
    .quad 0, 0, 0, 1000
hits:
    .quad 0
.bss
.balign 4096
    .space 4096
page:
    .space 4096
