/* Filling an instruction record: which registers are read as what, and what is left where lists are full. */
#include "isa/insn_build.h"

#include "unit.h"

static struct as_insn insn;
static struct as_insn_build build;

static void begin(void)
{
    as_insn_build_begin(&build, &insn, AS_ARCH_X86_64, 0x1000);
}

/* Reads of the registers 10 to 14, of which 11 and 13 are addresses. */
static void read_five(void)
{
    begin();
    for (uint8_t reg = 10; reg < 15; reg++)
        (reg % 2 ? as_insn_read_address : as_insn_read_data)(&build, reg);
    assert_int_equal(build.data_reads, 0x15);
    assert_int_equal(build.address_reads, 0x0a);
}

/* What is forgotten leaves no gap, and the others stay what they are. */
static void test_forget(void **state)
{
    static const struct {
        uint8_t data, address, reads[4];
    } left[] = {{0x0a, 0x05, {11, 12, 13, 14}},
                {0x0b, 0x04, {10, 12, 13, 14}},
                {0x09, 0x06, {10, 11, 13, 14}},
                {0x0d, 0x02, {10, 11, 12, 14}},
                {0x05, 0x0a, {10, 11, 12, 13}}};
    for (uint8_t at = 0; at < 5; at++) {
        read_five();
        as_insn_forget_read(&build, 10 + at);
        assert_int_equal(build.data_reads, left[at].data);
        assert_int_equal(build.address_reads, left[at].address);
        assert_int_equal(insn.n_reads, 4);
        assert_memory_equal(insn.reads, left[at].reads, 4);
        assert_int_equal(insn.reads[4], 0);
        as_insn_forget_read(&build, 99); /* not read: nothing changes */
        assert_int_equal(insn.n_reads, 4);
        assert_int_equal(build.data_reads, left[at].data);
    }
    as_insn_forget_reads(&build);
    assert_int_equal(insn.n_reads, 0);
    assert_int_equal(insn.reads[0], 0);
    assert_int_equal(build.data_reads | build.address_reads, 0);
}

/* A register twice is one, and may be address and operand; AS_REG_NONE is none; what does not fit is dropped. */
static void test_lists(void **state)
{
    begin();
    as_insn_read_data(&build, AS_REG_NONE);
    as_insn_write(&build, AS_REG_NONE);
    assert_int_equal(insn.n_reads + insn.n_writes, 0);
    as_insn_read_address(&build, 7);
    as_insn_read_data(&build, 3);
    as_insn_read_data(&build, 7);
    assert_int_equal(insn.n_reads, 2);
    assert_int_equal(build.address_reads, 1);
    assert_int_equal(build.data_reads, 3);
    assert_int_equal(as_insn_read_bit(&insn, 7), 1);
    assert_int_equal(as_insn_read_bit(&insn, 3), 2);
    assert_int_equal(as_insn_read_bit(&insn, 4), 0);
    for (uint8_t reg = 20; reg < 40; reg++) {
        as_insn_read_data(&build, reg);
        as_insn_write(&build, reg);
        as_insn_write(&build, reg);
    }
    assert_int_equal(insn.n_reads, AS_INSN_MAX_READS);
    assert_int_equal(insn.n_writes, AS_INSN_MAX_WRITES);
    assert_int_equal(insn.reads[AS_INSN_MAX_READS - 1], 20 + AS_INSN_MAX_READS - 3);
    assert_int_equal(insn.writes[AS_INSN_MAX_WRITES - 1], 20 + AS_INSN_MAX_WRITES - 1);
    assert_int_equal(as_insn_write_bit(&insn, 21), 2);
    assert_int_equal(as_insn_write_bit(&insn, 39), 0);
}

/* Registers and flags are kept of an operand for which there is no room. */
static void test_memory(void **state)
{
    begin();
    struct as_mem_operand load = {.base = 3, .index = AS_REG_NONE, .scale = 1, .access = AS_ACCESS_LOAD, .size = 8},
                          store = {.base = 4, .index = 5, .scale = 2, .access = AS_ACCESS_STORE, .segment = 1};
    for (unsigned i = 0; i < AS_INSN_MAX_MEM; i++) {
        assert_ptr_equal(as_insn_add_mem(&build, &load), &insn.mem[i]);
        assert_int_equal(insn.n_mem, i + 1);
        assert_int_equal(insn.flags, AS_INSN_LOAD);
    }
    assert_null(as_insn_add_mem(&build, &store));
    assert_int_equal(insn.n_mem, AS_INSN_MAX_MEM);
    assert_int_equal(insn.flags, AS_INSN_LOAD | AS_INSN_STORE);
    assert_int_equal(insn.n_reads, 4);
    assert_int_equal(insn.reads[3], AS_REG_SEGMENT);
    assert_int_equal(build.address_reads, 0xf);
    assert_int_equal(build.data_reads, 0);
    assert_int_equal(as_insn_mem_bits(&insn, 0), 1);
    insn.mem[1] = store;
    assert_int_equal(as_insn_mem_bits(&insn, 1), 0xe);
    insn.mem[1].segment = 0;
    assert_int_equal(as_insn_mem_bits(&insn, 1), 0x6);
}

static void test_uops(void **state)
{
    begin();
    for (unsigned i = 0; i < AS_INSN_MAX_UOPS; i++) {
        assert_true(as_insn_add_uop(&insn, (struct as_uop){.class_ = (uint8_t)i}));
        assert_int_equal(insn.uops[i].class_, i);
    }
    assert_false(as_insn_add_uop(&insn, (struct as_uop){.class_ = 99}));
    assert_int_equal(insn.n_uops, AS_INSN_MAX_UOPS);
    assert_int_equal(insn.uops[AS_INSN_MAX_UOPS - 1].class_, AS_INSN_MAX_UOPS - 1);
}

/* What is not an instruction has nothing left of what was built before, but for where it is. */
static void test_unknown(void **state)
{
    static const uint8_t bytes[] = {6, 7, 8};
    read_five();
    as_insn_write(&build, 3);
    insn.flags = AS_INSN_LOAD;
    as_insn_build_unknown(&insn, bytes, 2);
    assert_int_equal(insn.address, 0x1000);
    assert_int_equal(insn.arch, AS_ARCH_X86_64);
    assert_int_equal(insn.length, 2);
    assert_memory_equal(insn.bytes, "\6\7\0", 3);
    assert_int_equal(insn.n_reads + insn.n_writes + insn.n_mem + insn.flags, 0);
    assert_int_equal(insn.class_, AS_CLASS_UNKNOWN);
    assert_int_equal(insn.n_uops, 1);
    assert_int_equal(insn.uops[0].class_, AS_CLASS_UNKNOWN);
    assert_int_equal(insn.uops[0].mem, AS_UOP_NO_MEM);
    as_insn_build_unknown(&insn, bytes, 0);
    assert_int_equal(insn.length, 0);
    assert_int_equal(insn.bytes[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forget), cmocka_unit_test(test_lists),
                                       cmocka_unit_test(test_memory), cmocka_unit_test(test_uops),
                                       cmocka_unit_test(test_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
