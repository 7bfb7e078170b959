/* A program of known experiments, without any library: 1,000 turns, each with one division (a function of its own), one branch on a
 * pseudo-random bit and one addition to the thread's own word of `pair`. With an argument two threads do so, each with a word of
 * its own, so that they fight for one line; `few` is shared in the same way by every 16th turn, `whole` is one word that
 * both add to in every 16th turn, and nobody but the first thread touches `lonely`. At its end it writes a byte. */
        .intel_syntax noprefix
        .section .note.GNU-stack, "", @progbits
        .bss
        .balign 4096
        .skip 4096
stack_end: .skip 4096
first_end: .skip 4096
second_end:
tids:   .skip 64
        .macro variable name
        .balign 64
        .globl \name
        .type \name, @object
        .size \name, 16
\name:  .skip 64
        .endm
        variable few
        variable pair
        variable whole
        variable lonely
        .text
        .globl _start
        .type _start, @function
_start: mov r14, [rsp]          # argc
        lea rsp, stack_end[rip]
        inc qword ptr lonely[rip]
        xor r15d, r15d
        cmp r14, 1
        je 2f
        lea rsi, first_end[rip]
        lea rdx, tids[rip]
        call begin
        mov r15d, 8             # the second word of each variable
        lea rsi, second_end[rip]
        lea rdx, tids[rip + 4]
        call begin
        lea rdi, tids[rip]
        call await
        lea rdi, tids[rip + 4]
        call await
        jmp 3f
2:      call turns
3:      mov eax, 1              # write: a byte to its standard output
        mov edi, 1
        lea rsi, lonely[rip]
        mov edx, 1
        syscall
        mov eax, 231            # exit_group
        mov edi, 3
        syscall
        .size _start, . - _start

        .type begin, @function  # a thread with the stack rsi and its number at rdx
begin:  mov eax, 56             # clone: VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, PARENT_SETTID, CHILD_CLEARTID
        mov edi, 0x350f00
        mov r10, rdx
        xor r8d, r8d
        syscall
        test eax, eax
        jz 1f
        ret
1:      call turns
        mov eax, 60             # exit
        xor edi, edi
        syscall
        .size begin, . - begin

        .type await, @function  # the number at rdi is cleared when the thread ends
await:  mov edx, [rdi]
        test edx, edx
        jz 1f
        mov eax, 202            # futex, FUTEX_WAIT
        xor esi, esi
        xor r10d, r10d
        syscall
        jmp await
1:      ret
        .size await, . - await

        .type turns, @function
turns:  mov ebx, 1000
        mov r12, 88172645463325252
        lea r13, pair[rip]
0:      call turn
        call divide
        test ebx, 15
        jnz 1f
        lock inc qword ptr few[r15]
        lock inc qword ptr whole[rip]
1:      dec ebx
        jnz 0b
        ret
        .size turns, . - turns

        .type turn, @function
turn:   mov rax, r12
        shl rax, 13
        xor r12, rax
        mov rax, r12
        shr rax, 7
        xor r12, rax
        mov rax, r12
        shl rax, 17
        xor r12, rax
        test r12d, 64
        jz 1f
        inc rbp
1:      lock inc qword ptr [r13 + r15]
        ret
        .size turn, . - turn

        .type divide, @function
divide: mov rax, r12
        xor edx, edx
        mov r8d, 7
        div r8
        ret
        .size divide, . - divide
