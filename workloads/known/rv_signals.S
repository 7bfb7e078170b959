/* ITERS signals, each handled and returned from. The kinds are those of x86_signals.S that exist here.
 *
 * KIND 1  the process sends itself SIGUSR1
 *      2  a timer's SIGALRM ends rt_sigsuspend
 *      3  a load from a protected page; the handler unprotects it and the load runs again
 *      4  the same, but the handler moves the program counter behind the load, which therefore never completes
 *      6  an illegal instruction, which the handler skips: it never completes
 *
 *   before  rt_sigaction                  6 int, 1 system
 *           (kind 1) getpid, mv           2 int, 1 system
 *           (kind 2) rt_sigprocmask       6 int, 1 system
 *           LI32 lla                      4 int
 *   loop    what KIND does:
 *       1     kill                        3 int, 1 system
 *       2     setitimer, rt_sigsuspend    5 + 4 int, 2 system
 *       3, 4  mprotect lla load           7 int, 1 system; kind 3: 1 load
 *       6     the illegal one             nothing
 *           addi bnez                     1 int, 1 branch taken but for the last time
 *   handler ld addi sd                    1 load, 1 int, 1 store
 *       3     mprotect                    5 int, 1 system
 *       4, 6  ld addi sd                  1 load, 1 int, 1 store
 *           ret                           1 return
 *   back    li ecall                      1 int, 1 system: the kernel's (here QEMU's) own two instructions
 *   after   ld LI32 bne                   1 load, 2 int, 1 branch not taken
 *           QUIT                          2 int, 1 system */
#include "rv_known.inc"

#define SIGILL 4
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGALRM 14
#define SA_SIGINFO 4
#define UCONTEXT_PC 176

#if KIND == 1
#define SIGNAL SIGUSR1
#elif KIND == 2
#define SIGNAL SIGALRM
#elif KIND == 6
#define SIGNAL SIGILL
#else
#define SIGNAL SIGSEGV
#endif

/* 5 int, 1 system */
.macro PROTECT how
    lla a0, page
    lui a1, 1
    li a2, \how
    li a7, SYS_mprotect
    ecall
.endm

_start:
    li a0, SIGNAL
    lla a1, action
    li a2, 0
    li a3, 8
    li a7, SYS_rt_sigaction
    ecall
#if KIND == 1
    li a7, SYS_getpid
    ecall
    mv s2, a0
#elif KIND == 2
    li a0, 0
    lla a1, alarm_set
    li a2, 0
    li a3, 8
    li a7, SYS_rt_sigprocmask
    ecall
#endif
    lla s3, hits
    LI32 s1, ITERS
1:
#if KIND == 1
    mv a0, s2
    li a1, SIGUSR1
    li a7, SYS_kill
    ecall
#elif KIND == 2
    li a0, 0
    lla a1, timer
    li a2, 0
    li a7, SYS_setitimer
    ecall
    lla a0, empty_set
    li a1, 8
    li a7, SYS_rt_sigsuspend
    ecall
#elif KIND == 3 || KIND == 4
    PROTECT 0
    lla s4, page
    .option push
    .option norvc
    ld t0, 0(s4)
    .option pop
#elif KIND == 6
    .option push
    .option norvc
    unimp
    .option pop
#else
#error "no such kind"
#endif
    addi s1, s1, -1
    bnez s1, 1b
    ld t1, 0(s3)
    LI32 t2, ITERS
    bne t1, t2, fail
    QUIT
    FAIL

.type handler, @function
handler:
    ld t1, 0(s3)
    addi t1, t1, 1
    sd t1, 0(s3)
#if KIND == 3
    PROTECT 3
#elif KIND == 4 || KIND == 6
    ld t1, UCONTEXT_PC(a2)
    addi t1, t1, 4
    sd t1, UCONTEXT_PC(a2)
#endif
    ret
.size handler, . - handler

.data
.balign 8
action:
    .quad handler, SA_SIGINFO, 0
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
page:
    .space 4096
