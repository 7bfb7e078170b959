/* The ring of rv_event_ring.S, for x86-64. With JUMP, `jump` also takes its target out of each slot, before the pointer is
 * read: every other slot names another place, so that the target is never the last one, which is what boom-tea predicts
 * (PAGES is even). */
#include "../known/x86_known.inc"

_start:
    lea ring(%rip), %rbx
    mov $(PAGES), %ecx
    mov %rbx, %rax
    lea here(%rip), %rsi
    lea there(%rip), %rdi
1:  /* build */
    lea (APART + SKEW)(%rax), %rdx
    mov %rdx, (%rax)
    mov %rsi, 8(%rax)
    xchg %rsi, %rdi
    mov %rax, %rbp
    mov %rdx, %rax
    dec %ecx
    jnz 1b
    mov %rbx, (%rbp)
    mfence
    mov $(PAGES), %ecx
    mov %rbx, %rax
2:  /* warm */
    mov (%rax), %rax
    dec %ecx
    jnz 2b
    mov $(PAGES * ROUNDS), %ecx
    jmp 3f
    .balign 64
3:
    dec %ecx
#if JUMP
jump:
    jmp *8(%rax)
here:
    mov (%rax), %rax
    jnz 3b
    jmp 4f
there:
    mov (%rax), %rax
    jnz 3b
4:
#else
load:
    mov (%rax), %rax
    jnz 3b
here:
there:
#endif
    QUIT

.bss
.balign 131072
ring:
    .space PAGES * (APART + SKEW) + 64
