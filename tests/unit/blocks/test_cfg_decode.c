/* Blocks of code with space in it, in the code of this test: where they begin, and which of them only fill space. */
#include "blocks/cfg.h"

#include "unit.h"

#include <elf.h>

#include <stdio.h>

/* Behind a jump to anywhere, and behind a return, what fills space, and then code that nothing leads to. Never called. */
__asm__(".text\n"
        ".globl decode_padded\n"
        ".type decode_padded, @function\n"
        "decode_padded:\n"
        "    jmp *%rax\n"        /* 0 */
        "    nop\n"              /* 2 */
        "    .byte 0x66, 0x90\n" /* 3: a nop of two bytes */
        "    .byte 0xff, 0xc0\n" /* 5: inc eax */
        "    nop\n"              /* 7: control comes by */
        "    .byte 0xff, 0xc0\n" /* 8 */
        "    ret\n"              /* 10 */
        "    nop\n"              /* 11 */
        "    .byte 0xff, 0xc3\n" /* 12: inc ebx */
        "    ret\n"              /* 14 */
        ".size decode_padded, . - decode_padded\n"
        ".globl decode_split\n" /* compilers put aside what rarely runs */
        ".type decode_split, @function\n"
        "decode_split:\n"
        "    test %eax, %eax\n"           /* 0 */
        "    jne decode_split.cold\n"     /* 2: six bytes, as it is in another section */
        "    test %ebx, %ebx\n"           /* 8 */
        "    jne decode_split.cold + 2\n" /* 10 */
        "    jne decode_padded\n"         /* 16: of another name */
        "    ret\n"
        ".size decode_split, . - decode_split\n"
        ".globl decode_calls\n" /* a call may not come back */
        ".type decode_calls, @function\n"
        "decode_calls:\n"
        "    call decode_padded\n" /* 0 */
        "    nop\n"                /* 5: samples do not say whether control comes by, executions do */
        "6:  .byte 0xff, 0xc0\n"   /* 6: inc eax */
        "    jne 6b\n"             /* 8 */
        "    nop\n"                /* 10: a branch goes on there at some time */
        "7:  .byte 0xff, 0xc3\n"   /* 11: inc ebx */
        "    jne 7b\n"             /* 13 */
        "    call decode_padded\n" /* 15 */
        "    nop\n"                /* 20: the function ends here */
        ".size decode_calls, . - decode_calls\n"
        ".section .text.unlikely, \"ax\"\n"
        ".type decode_split.cold, @function\n"
        "decode_split.cold:\n"
        "    .byte 0xff, 0xc0\n" /* 0: inc eax */
        "    .byte 0xff, 0xc3\n" /* 2: inc ebx */
        "    ret\n"
        ".size decode_split.cold, . - decode_split.cold\n"
        ".section decode_bare, \"ax\"\n" /* where there are no symbols */
        ".Lbare:\n"
        "    .byte 0xff, 0xc0\n"
        "    ret\n"           /* 2 */
        "    movl $7, %eax\n" /* 3: the last one that is seen */
        "    ret\n"           /* 8: the section ends here */
        ".data\n"
        "decode_bare_at: .quad .Lbare\n"
        ".text\n");
extern const char decode_padded[], *decode_bare_at;

static struct as_cfg *cfg;
static uint32_t module;
static uint64_t start;

static uint64_t address_of(const char *name)
{
    const struct as_symtab *table = &as_cfg_get(cfg, module)->symbols.symbols;
    for (size_t i = 0; i < table->symbols.len; i++)
        if (table->symbols.data[i].raw && strcmp(table->symbols.data[i].raw, name) == 0)
            return table->symbols.data[i].address;
    return 0;
}

static int open_cfg(void **state)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = '\0';
    cfg = as_cfg_new(NULL);
    module = as_cfg_module_of(cfg, path, AS_ARCH_X86_64);
    start = address_of("decode_padded");
    return start ? 0 : -1;
}

static int close_cfg(void **state)
{
    as_cfg_free(cfg);
    return 0;
}

/* Where blocks begin in the function; "p" behind one that only fills space. */
static void check_blocks(const char *want)
{
    char text[128] = "";
    as_cfg_build(cfg);
    const struct as_cfg_module *m = as_cfg_get(cfg, module);
    assert_int_equal(m->functions.len, 1);
    for (size_t i = 0; i < m->blocks.len; i++)
        sprintf(text + strlen(text), "%s%d%s", i ? " " : "", (int)(m->blocks.data[i].start - start),
                m->blocks.data[i].flags & AS_CFG_PADDING ? "p" : "");
    assert_string_equal(text, want);
}

/* Samples do not say where jumps lead: what lies behind such space begins a block. Space that control comes by does not. */
static void of_samples(void **state)
{
    as_cfg_touch(cfg, module, start + 9);
    check_blocks("0 2p 5 11p 12");
}

/* Executions say it: what did not run behind the return is one piece. */
static void of_executions(void **state)
{
    static const uint8_t executed[] = {0, 5, 7, 8, 10};
    for (size_t i = 0; i < sizeof executed; i++)
        as_cfg_see(cfg, module, start + executed[i]);
    check_blocks("0 2p 5 11");
}

/* A block begins where a branch was seen to go, and where the instruction before ran more or less often. */
static void at_leaders(void **state)
{
    as_cfg_touch(cfg, module, start);
    as_cfg_lead(cfg, module, start + 7);
    as_cfg_cut(cfg, module, start + 14);
    check_blocks("0 2p 5 7 11p 12 14");
    const struct as_cfg_module *m = as_cfg_get(cfg, module);
    for (size_t i = 0; i < m->blocks.len; i++)
        assert_int_equal((m->blocks.data[i].flags & AS_CFG_TARGET) != 0, m->blocks.data[i].start == start + 7);
    assert_int_equal(m->blocks.data[2].n_insns, 1);
    assert_int_equal(m->blocks.data[3].n_insns, 3);
}

/* Code without a symbol ends behind the last instruction of it that was seen, here shortly before the end of the file's code. */
static void of_no_size(void **state)
{
    start += (uint64_t)(decode_bare_at - decode_padded);
    as_cfg_see(cfg, module, start);
    as_cfg_see(cfg, module, start + 3);
    check_blocks("0 2 3");
    const struct as_cfg_module *m = as_cfg_get(cfg, module);
    assert_int_equal(m->functions.data[0].end - start, 8);
    assert_int_equal(m->blocks.data[2].end - start, 8);
    assert_int_equal(m->blocks.data[2].n_insns, 1);
}

/* Space behind a call is filled, unless control was seen there, or came from a branch. */
static void of_calls(void **state)
{
    static const uint8_t executed[] = {0, 6, 8, 11, 13, 15};
    start = address_of("decode_calls");
    for (size_t i = 0; i < sizeof executed; i++)
        as_cfg_see(cfg, module, start + executed[i]);
    check_blocks("0 5p 6 10 11 15 20p");
}

static void of_calls_that_come_back(void **state)
{
    static const uint8_t executed[] = {0, 5, 6, 8, 15, 20};
    start = address_of("decode_calls");
    for (size_t i = 0; i < sizeof executed; i++)
        as_cfg_see(cfg, module, start + executed[i]);
    check_blocks("0 5 6 10 11 15 20");
}

/* Samples do not say whether calls come back: they may where code of the function follows. */
static void of_sampled_calls(void **state)
{
    start = address_of("decode_calls");
    as_cfg_touch(cfg, module, start);
    check_blocks("0 5 6 10 11 15 20p");
}

/* A part of a function that was put aside may have run where no sample fell into it; what else it jumps to is left. */
static void parts_of_functions(void **state)
{
    uint64_t split = address_of("decode_split"), cold = address_of("decode_split.cold");
    assert_true(split && cold);
    as_cfg_touch(cfg, module, split);
    as_cfg_build(cfg);
    const struct as_cfg_module *m = as_cfg_get(cfg, module);
    assert_int_equal(m->functions.len, 2);
    size_t found = 0;
    for (size_t i = 0; i < m->blocks.len; i++)
        found += m->blocks.data[i].start == cold || m->blocks.data[i].start == cold + 2;
    assert_int_equal(found, 2);
}

static void symbols_are_found_by_name(void **state)
{
    const struct as_cfg_module *m = as_cfg_get(cfg, module);
    assert_true(as_cfg_has_symbol(m, "decode_padded"));
    assert_true(as_cfg_has_symbol(m, "main"));
    assert_false(as_cfg_has_symbol(m, "decode_pad"));
    assert_false(as_cfg_has_symbol(m, "decode_padded2"));
    assert_false(as_cfg_has_symbol(m, ""));
}

/* For which processor a file is, by its header; of what is no program it is not known. */
static void test_processors_of_files(void **state)
{
    static const struct {
        uint16_t machine;
        size_t size;
        bool known;
        enum as_arch arch;
    } cases[] = {{EM_X86_64, sizeof(Elf64_Ehdr), true, AS_ARCH_X86_64},
                 {EM_RISCV, sizeof(Elf64_Ehdr), true, AS_ARCH_RISCV64},
                 {EM_AARCH64, sizeof(Elf64_Ehdr), false, AS_ARCH_X86_64},
                 {EM_RISCV, sizeof(Elf64_Ehdr) - 1, false, AS_ARCH_X86_64}};
    char path[] = "/tmp/assay-arch.XXXXXX";
    size_t descriptors = unit_count_descriptors();
    enum as_arch arch;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Elf64_Ehdr header = {.e_machine = cases[i].machine};
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, &header, cases[i].size, 0), (ssize_t)cases[i].size);
        assert_int_equal(as_cfg_arch(path, &arch), cases[i].known);
        assert_int_equal(arch, cases[i].arch);
    }
    close(fd);
    unlink(path);
    assert_false(as_cfg_arch(path, &arch));
    assert_int_equal(unit_count_descriptors(), descriptors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_processors_of_files),
                                       cmocka_unit_test_setup_teardown(of_samples, open_cfg, close_cfg),
                                       cmocka_unit_test_setup_teardown(of_executions, open_cfg, close_cfg),
                                       cmocka_unit_test_setup_teardown(at_leaders, open_cfg, close_cfg),
                                       cmocka_unit_test_setup_teardown(of_no_size, open_cfg, close_cfg),
                                       cmocka_unit_test_setup_teardown(of_calls, open_cfg, close_cfg),
                                       cmocka_unit_test_setup_teardown(of_calls_that_come_back, open_cfg, close_cfg),
                                       cmocka_unit_test_setup_teardown(of_sampled_calls, open_cfg, close_cfg),
                                       cmocka_unit_test_setup_teardown(parts_of_functions, open_cfg, close_cfg),
                                       cmocka_unit_test_setup_teardown(symbols_are_found_by_name, open_cfg, close_cfg)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
