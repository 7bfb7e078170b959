/* What an instruction does to the stack as call paths see it (block_stack.c): return addresses, and pointers from elsewhere. */
#include "stream_bed.h"
#include "unit.h"

enum { FIRST = 0x6000 };

static struct bed bed;

static int set_up(void **state)
{
    bed_init(&bed);
    return 0;
}

static int tear_down(void **state)
{
    bed_free(&bed);
    return 0;
}

struct insn_case {
    const char *bytes;
    bool links,
        moves; /* stores or loads a return address; gives the stack pointer a value that is not relative to the old one */
};

static void expect_insns(const struct insn_case *cases, size_t n, uint32_t image)
{
    bed.image = image;
    for (size_t i = 0; i < n; i++) {
        bed_block(&bed, FIRST + (uint32_t)i * 0x10, cases[i].bytes);
        const struct as_block *block = as_code_table_block(&bed.code, FIRST + (uint32_t)i * 0x10);
        if (as_insn_is_link(block->insns[0]) != cases[i].links ||
            as_insn_moves_pointer(block->insns[0]) != cases[i].moves)
            fail_msg("%s", cases[i].bytes);
        assert_int_equal(block->link_at, cases[i].links ? 0 : -1);
        assert_int_equal(block->stack_at, cases[i].moves ? 0 : -1);
    }
}

static void x86(void **state)
{
    static const struct insn_case cases[] = {
        {"48 94", false, true},          /* xchg rax, rsp */
        {"48 87 e3", false, true},       /* xchg rbx, rsp */
        {"48 87 23", false, true},       /* xchg [rbx], rsp */
        {"48 89 c4", false, true},       /* mov rsp, rax */
        {"48 8b 23", false, true},       /* mov rsp, [rbx] */
        {"48 8d 65 f0", false, false},   /* lea rsp, [rbp-16]: the frame pointer is of the same frame */
        {"48 89 ec", false, false},      /* mov rsp, rbp */
        {"c9", false, false},            /* leave */
        {"48 83 ec 20", false, false},   /* sub rsp, 32 */
        {"48 83 e4 f0", false, false},   /* and rsp, -16 */
        {"50", false, false},            /* push rax */
        {"58", false, false},            /* pop rax */
        {"48 93", false, false},         /* xchg rax, rbx */
        {"48 89 e0", false, false},      /* mov rax, rsp */
        {"e8 00 00 00 00", true, false}, /* call */
        {"ff d0", true, false},          /* call rax */
        {"c3", true, false},             /* ret */
        {"ff e0", false, false},         /* jmp rax */
    };
    expect_insns(cases, sizeof cases / sizeof *cases, 1);
}

static void riscv(void **state)
{
    static const struct insn_case cases[] = {
        {"06 e4", true, false},        /* sd ra, 8(sp) */
        {"a2 60", true, false},        /* ld ra, 8(sp) */
        {"2a e4", false, false},       /* sd a0, 8(sp) */
        {"22 65", false, false},       /* ld a0, 8(sp) */
        {"23 b0 a0 00", false, false}, /* sd a0, 0(ra) */
        {"41 11", false, false},       /* addi sp, sp, -16 */
        {"13 01 04 fe", false, false}, /* addi sp, s0, -32: from the frame pointer */
        {"2a 81", false, true},        /* mv sp, a0 */
        {"03 31 05 00", false, true},  /* ld sp, 0(a0) */
        {"82 80", false, false},       /* ret: the address was loaded before */
    };
    expect_insns(cases, sizeof cases / sizeof *cases, 2);
}

/* The last one of each counts. */
static void in_a_block(void **state)
{
    bed_block(&bed, FIRST, "48 89 c4, 90, 48 94, 90, e8 00 00 00 00"); /* mov rsp, rax; nop; xchg rax, rsp; nop; call */
    const struct as_block *block = as_code_table_block(&bed.code, FIRST);
    assert_int_equal(block->stack_at, 2);
    assert_int_equal(block->link_at, 4);
    assert_true(as_block_touches_stack(block));
    bed_block(&bed, FIRST + 0x40, "90, c3");
    assert_true(as_block_touches_stack(as_code_table_block(&bed.code, FIRST + 0x40)));
    bed_block(&bed, FIRST + 0x80, "90, eb fe");
    assert_false(as_block_touches_stack(as_code_table_block(&bed.code, FIRST + 0x80)));
    assert_int_equal(as_insn_stack_pointer(block->insns[0]), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(x86, set_up, tear_down),
        cmocka_unit_test_setup_teardown(riscv, set_up, tear_down),
        cmocka_unit_test_setup_teardown(in_a_block, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
