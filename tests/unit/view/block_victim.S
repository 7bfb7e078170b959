/* Code for test_view_block_counts.c, which never calls it: five blocks, of which the third is a way round. */
    .text
    .globl block_victim, block_victim_loop, block_victim_way, block_victim_join, block_victim_end, block_victim_called
    .type block_victim, @function
block_victim:
    xorl %eax, %eax
    movl $10, %ecx
block_victim_loop:
    addl $1, %eax
    testl %eax, %edi
    jz block_victim_join
block_victim_way:
    addl $2, %eax
block_victim_join:
    decl %ecx
    jnz block_victim_loop
block_victim_end:
    call block_victim_called
    ret
    .size block_victim, . - block_victim

    .globl block_victim_called
    .type block_victim_called, @function
block_victim_called:
    ret
    .size block_victim_called, . - block_victim_called

    .section .note.GNU-stack, "", @progbits
