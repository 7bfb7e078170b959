/* as_stub_enter: from the caller's registers to those of the bank (lookahead_stub.c), to the stub; and back at as_stub_back.
 * A file of its own, because link-time optimisation does not see what assembly inside of C refers to.
 * Flags are loaded with sahf, and overflow with an addition before it: popfq takes several times as long, and is for the rare
 * direction. xrstor and xsave: x87, SSE, AVX, AVX-512. */
#ifdef __x86_64__
        .text
        .p2align 4
        .hidden as_stub_enter
        .globl as_stub_enter
        .type as_stub_enter, @function
as_stub_enter:
        push %rbx
        push %rbp
        push %r12
        push %r13
        push %r14
        push %r15
        mov %rsp, as_stub_bank+136(%rip)
        mov as_stub_bank+152(%rip), %rcx
        test %rcx, %rcx
        jz 1f
        stmxcsr as_stub_bank+160(%rip)
        mov $0xe7, %eax
        xor %edx, %edx
        xrstor64 (%rcx)
1:
        testl $0x400, as_stub_bank+128(%rip)
        jnz 3f
        mov as_stub_bank+168(%rip), %eax
        addb $0x7f, %al
        sahf
4:
        mov as_stub_bank+0(%rip), %rax
        mov as_stub_bank+8(%rip), %rcx
        mov as_stub_bank+16(%rip), %rdx
        mov as_stub_bank+24(%rip), %rbx
        mov as_stub_bank+32(%rip), %rsp
        mov as_stub_bank+40(%rip), %rbp
        mov as_stub_bank+48(%rip), %rsi
        mov as_stub_bank+56(%rip), %rdi
        mov as_stub_bank+64(%rip), %r8
        mov as_stub_bank+72(%rip), %r9
        mov as_stub_bank+80(%rip), %r10
        mov as_stub_bank+88(%rip), %r11
        mov as_stub_bank+96(%rip), %r12
        mov as_stub_bank+104(%rip), %r13
        mov as_stub_bank+112(%rip), %r14
        mov as_stub_bank+120(%rip), %r15
        jmp *as_stub_bank+144(%rip)
        .hidden as_stub_back
        .globl as_stub_back
as_stub_back:
        mov %rax, as_stub_bank+0(%rip)
        mov %rcx, as_stub_bank+8(%rip)
        mov %rdx, as_stub_bank+16(%rip)
        mov %rbx, as_stub_bank+24(%rip)
        mov %rsp, as_stub_bank+32(%rip)
        mov %rbp, as_stub_bank+40(%rip)
        mov %rsi, as_stub_bank+48(%rip)
        mov %rdi, as_stub_bank+56(%rip)
        mov %r8, as_stub_bank+64(%rip)
        mov %r9, as_stub_bank+72(%rip)
        mov %r10, as_stub_bank+80(%rip)
        mov %r11, as_stub_bank+88(%rip)
        mov %r12, as_stub_bank+96(%rip)
        mov %r13, as_stub_bank+104(%rip)
        mov %r14, as_stub_bank+112(%rip)
        mov %r15, as_stub_bank+120(%rip)
        mov as_stub_bank+136(%rip), %rsp
        pushfq
        popq as_stub_bank+128(%rip)
        cld
        mov as_stub_bank+152(%rip), %rcx
        test %rcx, %rcx
        jz 2f
        mov $0xe7, %eax
        xor %edx, %edx
        xsave64 (%rcx)
        fninit
        ldmxcsr as_stub_bank+160(%rip)
2:
        pop %r15
        pop %r14
        pop %r13
        pop %r12
        pop %rbp
        pop %rbx
        ret
3:
        pushq as_stub_bank+128(%rip)
        popfq
        jmp 4b
        .size as_stub_enter, . - as_stub_enter
#endif
        .section .note.GNU-stack, "", @progbits
