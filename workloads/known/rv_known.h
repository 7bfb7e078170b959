/* What the RISC-V known-answer programs share; see x86_known.h. Nothing is left to the assembler's or linker's choice
 * of how many instructions something takes: no relaxation, `li` only for constants of 12 bits, LI32 for others. NORVC
 * given as 1 forbids compressed instructions. */
#ifndef RV_KNOWN_H
#define RV_KNOWN_H

#define SYS_ioctl 29
#define SYS_exit 93
#define SYS_exit_group 94
#define SYS_futex 98
#define SYS_setitimer 103
#define SYS_kill 129
#define SYS_rt_sigsuspend 133
#define SYS_rt_sigaction 134
#define SYS_rt_sigprocmask 135
#define SYS_getpid 172
#define SYS_munmap 215
#define SYS_clone 220
#define SYS_execve 221
#define SYS_mmap 222
#define SYS_mprotect 226
#define SYS_wait4 260

/* 2 int */
.macro LI32 register, value
    lui \register, %hi(\value)
    addiw \register, \register, %lo(\value)
.endm

/* QUIT: 2 int, 1 system; 1 system call. (lla is 2 int.) */
.macro QUIT
    li a0, 0
    li a7, SYS_exit_group
    ecall
.endm

.macro FAIL
fail:
    li a0, 1
    li a7, SYS_exit_group
    ecall
.endm

.option norelax
#if NORVC
.option norvc
#endif
.section .note.GNU-stack, "", @progbits
.text
.globl _start
#endif
