/* A program that is the same wherever it is built, so that its modelled profile is, too: no library, a stack of its own, 2,000 rounds
 * that call work, which calls leaf twice. leaf divides, loads from a table of 1 MiB, and branches on a pseudo-random bit. */
        .intel_syntax noprefix
        .section .note.GNU-stack, "", @progbits
        .bss
        .balign 4096
stack:  .skip 4096
stack_end:
        .globl table
        .type table, @object
        .size table, 1048576
table:  .skip 1048576
        .text
        .globl _start, work, leaf
        .type _start, @function
_start: lea rsp, stack_end[rip]
        mov ebx, 2000
        mov r12, 88172645463325252
        lea r13, table[rip]
0:      call work
        dec ebx
        jnz 0b
        mov eax, 60
        mov edi, 3
        syscall
        .size _start, . - _start

        .type work, @function
work:   push rbx
        call leaf
        add r14, rax
        call leaf
        xor r14, rax
        pop rbx
        ret
        .size work, . - work

        .type leaf, @function
leaf:   mov rax, r12
        shl rax, 13
        xor r12, rax
        mov rax, r12
        shr rax, 7
        xor r12, rax
        mov rax, r12
        shl rax, 17
        xor r12, rax
        mov rcx, r12
        and ecx, 1048568
        test ecx, 64
        jz 1f
        add qword ptr [r13 + rcx], rbx
1:      mov rax, [r13 + rcx]
        xor edx, edx
        mov r8d, 7
        div r8
        ret
        .size leaf, . - leaf
