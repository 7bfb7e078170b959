/* Raw access words to accesses: what QEMU reports piecemeal is one access of its operand, what is several stays
 * several.
 *
 * Accesses are compared as text: "index kind address size" each, separated by "; ". */
#include "stream_bed.h"
#include "unit.h"

#include <inttypes.h>

enum { BLOCK = 0x1000, LOAD = 1, STORE = 2, BOTH = 3 };

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

static void access_word(unsigned kind, uint32_t index, uint64_t address, uint32_t size)
{
    bed_access(&bed, (uint64_t)kind << 62, index, address, size);
}

static const char *kind_text(uint8_t kind)
{
    switch (kind) {
    case AS_ACCESS_LOAD:
        return "load";
    case AS_ACCESS_STORE:
        return "store";
    case AS_ACCESS_LOAD | AS_ACCESS_STORE:
        return "both";
    default:
        return kind == AS_ACCESS_PREFETCH ? "prefetch" : kind == AS_ACCESS_FLUSH ? "flush" : "?";
    }
}

static void expect_part(uint32_t first, uint32_t end, const uint64_t *registers, const char *want)
{
    const struct as_block *block = as_code_table_block(&bed.code, BLOCK);
    struct as_block_exec exec = {.block = block,
                                 .first = first,
                                 .end = end < block->n ? end : block->n,
                                 .words = bed.words.data,
                                 .n_words = bed.words.len,
                                 .registers = registers};
    struct as_accesses all = as_accesses_of(&exec);
    struct as_str seen = {0};
    struct as_access access;
    while (as_accesses_next(&all, &access))
        as_str_addf(&seen, "%s%u %s %" PRIx64 " %u", seen.len ? "; " : "", access.index, kind_text(access.kind),
                    access.address, access.size);
    assert_string_equal(as_str_get(&seen), want);
    as_str_free(&seen);
}

static void expect(const char *want)
{
    expect_part(0, UINT32_MAX, NULL, want);
    as_vec_clear(&bed.words);
}

static void test_wide(void **state)
{
    bed_block(&bed, BLOCK, "0f 10 00, c5 fc 11 08, db 28, 48 8b 07"); /* movups, vmovups, fld tbyte, mov */
    access_word(LOAD, 0, 0x5000, 8);
    access_word(LOAD, 0, 0x5008, 8);
    for (uint64_t i = 0; i < 4; i++)
        access_word(STORE, 1, 0x6000 + 8 * i, 8);
    access_word(LOAD, 2, 0x7000, 8);
    access_word(LOAD, 2, 0x7008, 2);
    access_word(LOAD, 3, 0x700a, 8); /* adjacent, but another instruction's */
    expect("0 load 5000 16; 1 store 6000 32; 2 load 7000 10; 3 load 700a 8");
    access_word(LOAD, 0, 0x5000, 16); /* in one piece */
    access_word(STORE, 1, 0x6000, 16);
    access_word(STORE, 1, 0x6010, 16);
    expect("0 load 5000 16; 1 store 6000 32");
}

static void test_page_crossing(void **state)
{
    bed_block(&bed, BLOCK, "48 8b 07, 0f 10 00, 0f 11 00");
    access_word(LOAD, 0, 0x5ffc, 8);
    access_word(LOAD, 1, 0x5ff9, 8);
    access_word(LOAD, 1, 0x6001, 8);
    access_word(STORE, 2, 0xffffff, 8);
    access_word(STORE, 2, 0x1000007, 8);
    expect("0 load 5ffc 8; 1 load 5ff9 16; 2 store ffffff 16");
}

/* Pieces that are not adjacent, or more than the operand has, are accesses of their own. */
static void test_not_joined(void **state)
{
    bed_block(&bed, BLOCK, "0f 10 00, 48 8b 07, 48 01 06");
    access_word(LOAD, 0, 0x5000, 8);
    access_word(LOAD, 0, 0x5010, 8);
    access_word(LOAD, 1, 0x5000, 8);
    access_word(LOAD, 1, 0x5008, 8); /* beyond its operand: QEMU reads some scalars too wide */
    access_word(LOAD, 2, 0x6000, 8); /* a read-modify-write that is not atomic: two accesses */
    access_word(STORE, 2, 0x6000, 8);
    expect("0 load 5000 8; 0 load 5010 8; 1 load 5000 8; 2 load 6000 8; 2 store 6000 8");
}

/* The image is written in no particular order and with gaps; QEMU also reads in it. */
static void test_bulk(void **state)
{
    bed_block(&bed, BLOCK, "0f ae 00, 90"); /* fxsave */
    for (uint64_t i = 0; i < 4; i++)
        access_word(STORE, 0, 0x5000 + 2 * i, 2);
    access_word(STORE, 0, 0x50a0, 8);
    access_word(STORE, 0, 0x5018, 4);
    access_word(LOAD, 0, 0x501c, 4);
    access_word(STORE, 0, 0x519c, 4);
    expect("0 store 5000 416");
    access_word(STORE, 0, 0x519c, 4);
    access_word(STORE, 0, 0x5010, 8);
    access_word(STORE, 0, 0x5000, 8);
    expect("0 store 5000 416");
    access_word(LOAD, 0, 0x501c, 4); /* alone, that is no access of fxsave */
    expect("");
}

static void test_atomics(void **state)
{
    /* lock add, xchg, lock cmpxchg16b, lock inc */
    bed_block(&bed, BLOCK, "f0 01 08, 87 08, f0 48 0f c7 08, f0 ff 00");
    access_word(LOAD, 0, 0x5000, 4); /* as a single-threaded program does it */
    access_word(STORE, 0, 0x5000, 4);
    access_word(BOTH, 1, 0x5004, 4);
    access_word(LOAD, 2, 0x6000, 8);
    access_word(LOAD, 2, 0x6008, 8);
    access_word(STORE, 2, 0x6000, 8);
    access_word(STORE, 2, 0x6008, 8);
    access_word(BOTH, 3, 0x5000, 4);
    expect("0 both 5000 4; 1 both 5004 4; 2 both 6000 16; 3 both 5000 4");
    access_word(LOAD, 2, 0x6000, 8); /* a comparison that fails may only be seen to read */
    access_word(LOAD, 2, 0x6008, 8);
    expect("2 both 6000 16");
}

static void test_riscv(void **state)
{
    bed.image = 2;
    /* lr.d; sc.d; amoadd.d; ld a0, 8(sp) */
    bed_block(&bed, BLOCK, "2f 35 06 10, 2f 35 b6 18, 2f 35 b6 00, 03 35 81 00");
    access_word(LOAD, 0, 0x5000, 8);
    access_word(BOTH, 1, 0x5000, 8); /* QEMU's compare-and-swap */
    access_word(BOTH, 2, 0x5000, 8);
    access_word(LOAD, 3, 0x5008, 8);
    expect("0 load 5000 8; 1 store 5000 8; 2 both 5000 8; 3 load 5008 8");
    access_word(LOAD, 0, 0x5000, 8);
    access_word(LOAD, 1, 0x5000, 8); /* the same in a single-threaded program */
    access_word(STORE, 1, 0x5000, 8);
    expect("0 load 5000 8; 1 store 5000 8");
    access_word(LOAD, 0, 0x5000, 8);
    access_word(LOAD, 1, 0x5000, 8); /* a store-conditional that failed */
    access_word(LOAD, 3, 0x5008, 8);
    expect("0 load 5000 8; 3 load 5008 8");
    access_word(LOAD, 0, 0x5000, 8); /* … before it looked */
    expect("0 load 5000 8");
}

static void test_elements(void **state)
{
    /* vpgatherdd xmm0, [rax+xmm1*4], xmm2; rep movsd; movsq; cmpsb; push [rax] */
    bed_block(&bed, BLOCK, "c4 e2 69 90 04 88, 48 a5, a6, ff 30");
    for (uint64_t i = 0; i < 4; i++)
        access_word(LOAD, 0, 0x5000 + 4 * i, 4);
    access_word(LOAD, 1, 0x6000, 8);
    access_word(STORE, 1, 0x6008, 8);
    access_word(LOAD, 2, 0x7000, 1);
    access_word(LOAD, 2, 0x7001, 1);
    access_word(LOAD, 3, 0x5000, 8);
    access_word(STORE, 3, 0x8000, 8);
    expect("0 load 5000 4; 0 load 5004 4; 0 load 5008 4; 0 load 500c 4; 1 load 6000 8; 1 store 6008 8; "
           "2 load 7000 1; 2 load 7001 1; 3 load 5000 8; 3 store 8000 8");
}

static void test_addresses(void **state)
{
    bed_block(&bed, BLOCK, "48 8b 07, 48 8b 07, 48 8b 07, 48 8b 07");
    access_word(LOAD, 0, 0xffffffffff600000, 8);
    access_word(LOAD, 1, 0xffff800000000000, 8);
    access_word(LOAD, 2, 0x00007fffffffffff, 8);
    access_word(LOAD, 3, 0, 8);
    expect("0 load ffffffffff600000 8; 1 load ffff800000000000 8; 2 load 7fffffffffff 8; 3 load 0 8");
}

/* Only what was executed counts: [first, end). */
static void test_cut(void **state)
{
    bed_block(&bed, BLOCK, "0f 10 00, 90, 48 01 06, 0f 10 00");
    access_word(LOAD, 0, 0x5000, 8);
    access_word(LOAD, 0, 0x5008, 8);
    access_word(LOAD, 2, 0x6000, 8);
    access_word(STORE, 2, 0x6000, 8);
    access_word(LOAD, 3, 0x7000, 8);
    access_word(LOAD, 3, 0x7008, 8);
    static const char *const each[] = {"0 load 5000 16", "", "2 load 6000 8; 2 store 6000 8", "3 load 7000 16"};
    for (uint32_t first = 0; first <= 4; first++)
        for (uint32_t end = first; end <= 4; end++) {
            struct as_str want = {0};
            for (uint32_t i = first; i < end; i++)
                as_str_addf(&want, "%s%s", want.len && each[i][0] ? "; " : "", each[i]);
            expect_part(first, end, NULL, as_str_get(&want));
            as_str_free(&want);
        }
}

/* Words of instructions that the block does not have, which only a broken plugin could write. */
static void test_foreign_words(void **state)
{
    bed_block(&bed, BLOCK, "48 8b 07, 48 8b 07");
    access_word(LOAD, 1, 0x5000, 8);
    access_word(LOAD, 0, 0x5000, 8); /* out of order */
    access_word(LOAD, 2, 0x5000, 8);
    access_word(LOAD, 511, 0x5000, 8);
    expect("1 load 5000 8; 0 load 5000 8");
}

/* Prefetches and flushes come from the registers, in their place among the accesses that QEMU reports. */
static void test_hints(void **state)
{
    enum { RAX = 0, RDI = 7 };
    const uint64_t registers[AS_WIRE_REGISTERS] = {[RAX] = 0x9000, [RDI] = 0x5000};
    /* mov rcx, [rdi]; prefetcht0 [rdi+8]; add rdi, 64; mov rcx, [rdi]; clflush [rdi]; prefetcht0 [rax] */
    bed_block(&bed, BLOCK, "48 8b 0f, 0f 18 4f 08, 48 83 c7 40, 48 8b 0f, 0f ae 3f, 0f 18 08");
    access_word(LOAD, 0, 0x5000, 8);
    access_word(LOAD, 3, 0x5040, 8);
    static const char *const each[] = {"0 load 5000 8", "1 prefetch 5008 1", "",
                                       "3 load 5040 8", "4 flush 5040 1",    "5 prefetch 9000 1"};
    for (uint32_t first = 0; first <= 6; first++)
        for (uint32_t end = first; end <= 6; end++) {
            struct as_str want = {0};
            for (uint32_t i = first; i < end; i++)
                as_str_addf(&want, "%s%s", want.len && each[i][0] ? "; " : "", each[i]);
            expect_part(first, end, registers, as_str_get(&want));
            as_str_free(&want);
        }
    expect("0 load 5000 8; 3 load 5040 8"); /* without registers there are none */
}

/* Zicbop's prefetches, as far as the block adds, subtracts and shifts; what comes out of memory is not known. */
static void test_riscv_hints(void **state)
{
    enum { A0 = 10, A1 = 11 };
    const uint64_t registers[AS_WIRE_REGISTERS] = {[A0] = 0x9000, [A1] = 0x100};
    bed.image = 2;
    /* addi a0, a0, 64; slli t0, a1, 3; add t0, t0, a0; prefetch.r 32(t0); sub a2, a0, a1; mv a3, a2;
       prefetch.w 0(a3); lui a4, 0x12345; prefetch.r 64(a4); ld a0, 0(a0); prefetch.r 0(a0); slliw a1, a1, 1;
       prefetch.r 0(a1) */
    bed_block(&bed, BLOCK,
              "13 05 05 04, 93 92 35 00, aa 92, 13 e0 12 02, 33 06 b5 40, b2 86, "
              "13 e0 36 00, 37 57 34 12, 13 60 17 04, 08 61, 13 60 15 00, 9b 95 15 00, 13 e0 15 00");
    access_word(LOAD, 9, 0x9040, 8);
    expect_part(0, 13, registers, "3 prefetch 9860 1; 6 prefetch 8f40 1; 8 prefetch 12345040 1; 9 load 9040 8");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_wide),    TEST(test_page_crossing), TEST(test_not_joined), TEST(test_bulk),
        TEST(test_atomics), TEST(test_riscv),         TEST(test_elements),   TEST(test_addresses),
        TEST(test_cut),     TEST(test_foreign_words), TEST(test_hints),      TEST(test_riscv_hints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
