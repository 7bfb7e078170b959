/* ITERS times code that changes an instruction just ahead of itself, in its own page and block: the byte at `site` is a
 * nop or a cwtl (an integer instruction) in turn, cwtl first. One address, two instructions.
 *
 *   before  mprotect, mov                 4 + 1 int, 1 system
 *   loop    xorb                          1 int with a load and a store
 *           the site                      (ITERS + 1) / 2 times int, ITERS / 2 times nop
 *           dec jnz                       1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "x86_known.inc"

#define NOP 0x90
#define CWTL 0x98

.balign 4096
_start:
    mov $SYS_mprotect, %eax
    lea _start(%rip), %rdi
    mov $4096, %esi
    mov $7, %edx
    syscall
    mov $ITERS, %ecx
1:
    xorb $NOP ^ CWTL, site(%rip)
site:
    .byte NOP
    dec %ecx
    jnz 1b
    QUIT
