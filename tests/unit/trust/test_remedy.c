/* The remedy for the shadow: which lines are events, and where nops go. */
#include "unit.h"

#include "trust/remedy.h"

enum { L = 1, S = 2, B = 4 };

static const struct {
    enum as_arch arch;
    const char *line;
    int kinds;
} lines[] = {
    {AS_ARCH_X86_64, "\tmovl\t(%rax), %ebx\n", L},
    {AS_ARCH_X86_64, "\tmovl\t%ebx, 8(%rsp)\n", S},
    {AS_ARCH_X86_64, "\tmovl\t$1, x(%rip)", S},
    {AS_ARCH_X86_64, "\tmovl\tx(%rip), %eax # comment (%rax)", L},
    {AS_ARCH_X86_64, "\tmovl\t%eax, %ebx # 8(%rsp)", 0},
    {AS_ARCH_X86_64, "\tmovq\t%fs:40, %rax", L},
    {AS_ARCH_X86_64, "\taddl\t(%rax,%rbx,4), %ecx", L},
    {AS_ARCH_X86_64, "\taddl\t$1, (%rax)", L | S},
    {AS_ARCH_X86_64, "\tlock addl\t$1, (%rax)", L | S},
    {AS_ARCH_X86_64, "\tcmpl\t$1, (%rax)", L},
    {AS_ARCH_X86_64, "\tleaq\t8(%rsp), %rax", 0},
    {AS_ARCH_X86_64, "\tpushq\t%rbx", S},
    {AS_ARCH_X86_64, "\tpopq\t%rbx", L},
    {AS_ARCH_X86_64, "\tret", L | B},
    {AS_ARCH_X86_64, "\tcall\tputs@PLT", S | B},
    {AS_ARCH_X86_64, "\tjmp\t*.L4(,%rax,8)", L | B},
    {AS_ARCH_X86_64, "\tjne\t.L3", B},
    {AS_ARCH_X86_64, "1:\tmovzbl\t(%rdi), %eax", L},
    {AS_ARCH_X86_64, "\tmovsd\t(%rax), %xmm0", L},
    {AS_ARCH_X86_64, "\tmovaps\t%xmm0, (%rax)", S},
    {AS_ARCH_X86_64, "\tnopl\t0(%rax)", 0},
    {AS_ARCH_X86_64, "\tprefetcht0\t(%rax)", 0},
    {AS_ARCH_X86_64, "\t.long\t.L3-.L4", 0},
    {AS_ARCH_X86_64, ".L3:", 0},
    {AS_ARCH_X86_64, "", 0},
    {AS_ARCH_X86_64, "# movl (%rax), %ebx", 0},
    {AS_ARCH_RISCV64, "\tld\ta0,8(sp)", L},
    {AS_ARCH_RISCV64, "\tsd\ta0,8(sp)", S},
    {AS_ARCH_RISCV64, "\tamoadd.w.aq a0,a1,(a2)", L | S},
    {AS_ARCH_RISCV64, "\tbnez\ta0,.L2", B},
    {AS_ARCH_RISCV64, "\tla\ta0,x", 0},
    {AS_ARCH_RISCV64, "\taddi\ta0,a0,1", 0},
};

static void lines_are_told_apart(void **state)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (int event = 0; event < AS_REMEDY_EVENTS; event++)
            if (as_remedy_is_event(lines[i].arch, (enum as_remedy_event)event, lines[i].line) !=
                ((lines[i].kinds >> event & 1) != 0))
                fail_msg("'%s': %s", lines[i].line, as_remedy_event_names[event]);
}

static const char text[] = "\t.text\n"
                           "cold:\n"
                           "\tmovl\t(%rax), %ebx\n"
                           "\tret\n"
                           "\t.size\tcold, .-cold\n"
                           "hot:\n"
                           ".L2:\tmovl\t(%rax), %ebx\n"
                           "\tsubq\t$1, %rcx\n"
                           "\tjne\t.L2\n"
                           "\t.size\thot, .-hot\n"
                           "\tmovl\t(%rax), %ecx\n";

static void nops_go_before(void **state)
{
    struct as_remedy_options options = {.arch = AS_ARCH_X86_64, .function = "hot", .nops = 43};
    struct as_remedy_result result = {0};
    struct as_error err = AS_ERROR_INIT;
    struct as_str out = {0};
    assert_true(as_remedy_apply(&options, text, strlen(text), &out, &result, &err));
    assert_int_equal(result.functions, 1);
    assert_int_equal(result.instructions, 3);
    assert_int_equal(result.events, 1);
    assert_non_null(strstr(out.data, "hot:\n.L2:\t\n\t.rept 43\n\tnop\n\t.endr\n\tmovl\t(%rax), %ebx\n\tsubq"));
    assert_non_null(strstr(out.data, "cold:\n\tmovl\t(%rax), %ebx\n\tret\n"));
    assert_null(strstr(strstr(out.data, ".rept") + 1, ".rept"));
    as_str_free(&out);
}

static void all_functions(void **state)
{
    struct as_remedy_options options = {.arch = AS_ARCH_X86_64, .event = AS_REMEDY_BRANCHES, .nops = 1};
    struct as_remedy_result result = {0};
    struct as_error err = AS_ERROR_INIT;
    struct as_str out = {0};
    assert_true(as_remedy_apply(&options, text, strlen(text), &out, &result, &err));
    assert_int_equal(result.functions, 2);
    assert_int_equal(result.events, 2);
    as_str_free(&out);
    options.function = "warm";
    assert_false(as_remedy_apply(&options, text, strlen(text), &out, &result, &err));
    assert_string_equal(err.message, "there is no function 'warm' in it");
    as_str_free(&out);
}

/* Without nops nothing is changed, not a byte. */
static void nothing_to_do(void **state)
{
    struct as_remedy_options options = {.arch = AS_ARCH_X86_64};
    struct as_remedy_result result = {0};
    struct as_error err = AS_ERROR_INIT;
    struct as_str out = {0};
    assert_true(as_remedy_apply(&options, text, strlen(text), &out, &result, &err));
    assert_string_equal(out.data, text);
    as_str_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_are_told_apart), cmocka_unit_test(nops_go_before),
                                       cmocka_unit_test(all_functions), cmocka_unit_test(nothing_to_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
