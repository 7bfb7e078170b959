/* What the x86-64 known-answer programs share: they have no library, start at _start, end through QUIT or FAIL, and
 * execute nothing that is not written in their own file or here. A program that finds its own result wrong ends with
 * status 1; no passing run executes FAIL. */
#ifndef X86_KNOWN_H
#define X86_KNOWN_H

#define SYS_mmap 9
#define SYS_mprotect 10
#define SYS_munmap 11
#define SYS_rt_sigaction 13
#define SYS_rt_sigprocmask 14
#define SYS_rt_sigreturn 15
#define SYS_ioctl 16
#define SYS_setitimer 38
#define SYS_getpid 39
#define SYS_clone 56
#define SYS_fork 57
#define SYS_vfork 58
#define SYS_execve 59
#define SYS_exit 60
#define SYS_wait4 61
#define SYS_kill 62
#define SYS_rt_sigsuspend 130
#define SYS_futex 202
#define SYS_exit_group 231

/* QUIT: 2 int, 1 system; 1 system call */
.macro QUIT
    xor %edi, %edi
    mov $SYS_exit_group, %eax
    syscall
.endm

.macro FAIL
fail:
    mov $1, %edi
    mov $SYS_exit_group, %eax
    syscall
.endm

.section .note.GNU-stack, "", @progbits
.text
.globl _start
#endif
