/* A program that is the same wherever it is built, so that its modelled profile is, too: no library, a stack of its own, 2,000 rounds
 * that call work, which calls leaf twice. leaf divides, loads from a table of 1 MiB, and branches on a pseudo-random bit. With an argument,
 * a second thread does the same, and both count in one word. */
        .intel_syntax noprefix
        .section .note.GNU-stack, "", @progbits
        .bss
        .balign 4096
stack:  .skip 4096
stack_end:
        .skip 4096
other_end:
tid:    .skip 64
        .globl shared
        .type shared, @object
        .size shared, 8
shared: .skip 64
        .globl table
        .type table, @object
        .size table, 1048576
table:  .skip 1048576
        .text
        .globl _start, work, leaf
        .type _start, @function
_start: mov r15, [rsp]          # argc
        lea rsp, stack_end[rip]
        cmp r15, 1
        je 2f
        mov eax, 56             # clone: VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, PARENT_SETTID, CHILD_CLEARTID
        mov edi, 0x350f00
        lea rsi, other_end[rip]
        lea rdx, tid[rip]
        mov r10, rdx
        xor r8d, r8d
        syscall
        test eax, eax
        jz other
2:      call rounds
        cmp r15, 1
        je 4f
3:      mov edx, tid[rip]       # cleared when the other thread ends
        test edx, edx
        jz 4f
        mov eax, 202            # futex, FUTEX_WAIT
        lea rdi, tid[rip]
        xor esi, esi
        xor r10d, r10d
        syscall
        jmp 3b
4:      mov eax, 231            # exit_group
        mov edi, 3
        syscall
        .size _start, . - _start

        .type other, @function
other:  call rounds
        mov eax, 60             # exit
        xor edi, edi
        syscall
        .size other, . - other

        .type rounds, @function
rounds: mov ebx, 2000
        mov r12, 88172645463325252
        lea r13, table[rip]
0:      call work
        lock inc qword ptr shared[rip]
        dec ebx
        jnz 0b
        ret
        .size rounds, . - rounds

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
