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
    {AS_ARCH_RISCV64, "\tlr.d.aq\ta0,(a1)", L},
    {AS_ARCH_RISCV64, "\tsc.d\ta0,a1,(a2)", S},
    {AS_ARCH_RISCV64, "\tjr\tra", B},
    {AS_ARCH_RISCV64, "\tsub\ta0,a0,a1", 0},
    {AS_ARCH_X86_64, "\tmovl\t%eax, (%rbx,%rcx,8) // (%rax)", S},
    {AS_ARCH_X86_64, "a: b:\tMOVL\t(%rax), %ebx", L},
    {AS_ARCH_X86_64, "\trep stosq", S},
    {AS_ARCH_X86_64, "\timulq\t8(%rax), %rbx", L},
    {AS_ARCH_X86_64, "\timulq\t$3, 8(%rax), %rbx", L},
    {AS_ARCH_X86_64, "\tcall\t*8(%rax)", L | S | B},
    {AS_ARCH_X86_64, "\tjmp\t*%rax", B},
    {AS_ARCH_X86_64, "\tsetne\t(%rax)", S},
    {AS_ARCH_X86_64, "\tloop\t1b", B},
    {AS_ARCH_X86_64, "\tleave", L},
    {AS_ARCH_X86_64, "x=5", 0},
    {AS_ARCH_X86_64, "x = 5", 0},
    {AS_ARCH_X86_64, "\tx\t=\ty(,%rax)", 0},
    {AS_ARCH_X86_64, "\trep movsq", L | S},
    {AS_ARCH_X86_64, "\trep movsb\t(%rsi), %es:(%rdi)", L | S},
    {AS_ARCH_X86_64, "\tmovsd\t%xmm0, (%rax)", S},
    {AS_ARCH_X86_64, "\tmovslq\t%eax, %rbx", 0},
    {AS_ARCH_X86_64, "\trepz cmpsb", L},
    {AS_ARCH_X86_64, "\tcmpsd\t$1, %xmm0, %xmm1", 0},
    {AS_ARCH_X86_64, "\tlock cmpxchgl\t%ecx, (%rdx)", L | S},
    {AS_ARCH_X86_64, "\txchgq\t(%rdx), %rax", L | S},
    {AS_ARCH_X86_64, "\txchgl\t%eax, (%rdx)", L | S},
    {AS_ARCH_X86_64, "\tpopcntl\t%eax, %ebx", 0},
    {AS_ARCH_X86_64, "\tpopq\t8(%rax)", L | S},
    {AS_ARCH_X86_64, "\tbtl\t$3, (%rax)", L},
    {AS_ARCH_X86_64, "\tbtsl\t$3, (%rax)", L | S},
    {AS_ARCH_X86_64, "\tfldl\t(%rax)", L},
    {AS_ARCH_X86_64, "\tfstpt\t16(%rsp)", S},
    {AS_ARCH_X86_64, "\tfnstcw\t-2(%rsp)", S},
    {AS_ARCH_X86_64, "\tnegl\t(%rax)", L | S},
    {AS_ARCH_X86_64, "\tpextrw\t$2, %xmm0, (%rax)", S},
    {AS_ARCH_X86_64, "\tstosb\t%al, %es:(%rdi)", S},
    {AS_ARCH_X86_64, "\trep insb", S},
    {AS_ARCH_X86_64, "\tinsl", S},
    {AS_ARCH_X86_64, "\tinsertps\t$1, %xmm1, %xmm0", 0},
    {AS_ARCH_RISCV64, "\tamomaxu.w\ta0,a1,(a2)", L | S},
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

/* Places that the user names are lines of the file; those outside of the function are not places. */
static void places(void **state)
{
    static const uint64_t here[] = {8, 9}, outside[] = {3, 8, 11};
    struct as_str out = {0}, shown = {0};
    struct as_remedy_options options = {
        .arch = AS_ARCH_X86_64, .function = "hot", .nops = 2, .places = here, .n_places = 2};
    struct as_remedy_result result = {.shown = &shown};
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_remedy_apply(&options, text, strlen(text), &out, &result, &err));
    assert_int_equal(result.events, 2);
    assert_string_equal(shown.data, "         7 .L2:\tmovl\t(%rax), %ebx\n"
                                    "+          2 nops\n         8 subq\t$1, %rcx\n"
                                    "+          2 nops\n         9 jne\t.L2\n");
    assert_non_null(strstr(out.data, "\t.rept 2\n\tnop\n\t.endr\n\tsubq\t$1, %rcx\n\t.rept 2\n\tnop\n\t.endr\n\tjne"));
    options.places = outside;
    options.n_places = 3;
    assert_false(as_remedy_apply(&options, text, strlen(text), &out, &result, &err));
    assert_string_equal(err.message, "2 --at positions are not at the start of an instruction");
    assert_false(as_remedy_apply(&options, "a\0b", 3, &out, &result, &err));
    assert_string_equal(err.message, "neither assembly nor an object");
    options.function = NULL;
    assert_false(as_remedy_apply(&options, "\tret\n", 5, &out, &result, &err));
    assert_string_equal(err.message, "there is no function in it");
    as_str_free(&out);
    as_str_free(&shown);
}

static void files(void **state)
{
    char path[] = "/tmp/assay-remedy-XXXXXX";
    struct as_error err = AS_ERROR_INIT;
    size_t size;
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "a\0b", 3), 3);
    char *bytes = as_remedy_read(path, &size, &err);
    assert_non_null(bytes);
    assert_true(size == 3 && memcmp(bytes, "a\0b", 4) == 0);
    free(bytes);
    assert_int_equal(ftruncate(fd, (64 << 20) + 1), 0); /* has no blocks */
    assert_null(as_remedy_read(path, &size, &err));
    assert_non_null(strstr(err.message, ": more than 64 MiB"));
    close(fd);
    unlink(path);
    assert_null(as_remedy_read(path, &size, &err));
    assert_non_null(strstr(err.message, ": cannot be read: No such file or directory"));
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

/* Only the directive itself, not what looks like it in a comment or in a name. */
static void intel_syntax(void **state)
{
    static const struct {
        const char *text;
        bool refused;
    } cases[] = {{"\t.intel_syntax noprefix\nf:\n\tret\n", true}, {"f:\tnop; .intel_syntax noprefix\n", true},
                 {"f: .intel_syntax noprefix\n", true},           {"\t.intel_syntax\nf:\n\tret\n", true},
                 {"f:\n\tret\n\t.intel_synta\n", false},          {"f:\n\tret # .intel_syntax\n", false},
                 {"f:\n\tcall my.intel_syntax\n", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_remedy_options options = {.arch = AS_ARCH_X86_64, .nops = 1};
        struct as_remedy_result result = {0};
        struct as_error err = AS_ERROR_INIT;
        struct as_str out = {0};
        bool done = as_remedy_apply(&options, cases[i].text, strlen(cases[i].text), &out, &result, &err);
        assert_int_equal(done, !cases[i].refused);
        if (cases[i].refused)
            assert_string_equal(err.message, "it is in Intel syntax from line 1 on; compile without -masm=intel, or "
                                             "give the object file");
        as_str_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_told_apart), cmocka_unit_test(nops_go_before), cmocka_unit_test(all_functions),
        cmocka_unit_test(nothing_to_do),        cmocka_unit_test(places),         cmocka_unit_test(files),
        cmocka_unit_test(intel_syntax)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
