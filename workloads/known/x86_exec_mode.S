/* ITERS changes into the kernel and back: system call NUMBER (ioctl) with request COMMAND on a file that does not exist
 * (after Listing 4 of "Precise Event Sampling on AMD Versus Intel", whose own kernel module is
 * not needed for the count).
 *
 *   before  mov mov                       2 int
 *   loop    mov mov syscall               2 int, 1 system
 *           sub cmp jne                   2 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "x86_known.inc"

_start:
    mov $ITERS, %r8
    mov $-1, %edi
1:
    mov $NUMBER, %eax
    mov $COMMAND, %esi
    syscall
    sub $1, %r8
    cmp $0, %r8
    jne 1b
    QUIT
