/* Code made at run time: ROUNDS functions of 1, 2, … ROUNDS times `inc %eax` (ROUNDS at most 1000) and a ret, each
 * written over the one before and called CALLS times. REMAP 1: unmapped and mapped anew at the same address between
 * rounds.
 *
 *   before  mmap, mov, mov                7 + 2 int, 1 system
 *   round   mov mov                       2 int
 *           movw add dec jnz              round times: 1 store, 2 int, 1 branch (last not taken)
 *           movb mov                      1 store, 1 int
 *           xor call dec jnz              CALLS times: 1 int, 1 call with its store, 1 int, 1 branch (last not taken)
 *           the function                  CALLS times: round int, 1 return with its load
 *           cmp jne                       1 int, 1 branch not taken: the function returned its round
 *           [munmap, mmap]                REMAP: 3 + 7 int, 2 system
 *           inc cmp jbe                   2 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system
 * The call goes through a register. */
#include "x86_known.inc"

#define ADDRESS 0x10000000
#define BYTES 4096
#define MAP_PRIVATE_ANONYMOUS_FIXED 0x32

.macro MAP
    mov $SYS_mmap, %eax
    mov $ADDRESS, %edi
    mov $BYTES, %esi
    mov $7, %edx
    mov $MAP_PRIVATE_ANONYMOUS_FIXED, %r10d
    mov $-1, %r8
    mov $0, %r9d
    syscall
.endm

_start:
    MAP
    mov $ADDRESS, %ebx
    mov $1, %r12d
1:
    mov %r12d, %ecx
    mov %rbx, %rdi
2:
    movw $0xc0ff, (%rdi)
    add $2, %rdi
    dec %ecx
    jnz 2b
    movb $0xc3, (%rdi)
    mov $CALLS, %ecx
3:
    xor %eax, %eax
    call *%rbx
    dec %ecx
    jnz 3b
    cmp %eax, %r12d
    jne fail
#if REMAP
    mov $SYS_munmap, %eax
    mov $ADDRESS, %edi
    mov $BYTES, %esi
    syscall
    MAP
#endif
    inc %r12d
    cmp $ROUNDS, %r12d
    jbe 1b
    QUIT
    FAIL
