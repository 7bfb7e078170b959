/* Accesses from words, many executions at a time (access_words.h): the same as one by one, and no word further than given. */
#include "engine/access_words.h"

#include "stream_bed.h"
#include "unit.h"

enum { PLAIN = 0x4000, ATOMIC = 0x4100, STRING = 0x4200 };

static struct bed bed;

static void give_codes(uint32_t address, const uint64_t *words, size_t n)
{
    struct as_block *block = as_code_table_block(&bed.code, address);
    block->codes = as_access_codes_new(block, words, n);
}

/* A load and a store; two halves of one load, an atomic; one that moves a string. The first one's words are known to be plain. */
static int set_up(void **state)
{
    bed_init(&bed);
    bed_add_code(&bed);
    bed_block(&bed, PLAIN, "48 8b 07, 48 89 06");      /* mov rax, [rdi]; mov [rsi], rax */
    bed_block(&bed, ATOMIC, "0f 10 07, f0 48 ff 06");  /* movups xmm0, [rdi]; lock inc [rsi] */
    bed_block(&bed, STRING, "48 8b 07, a4, 48 8b 07"); /* mov rax, [rdi]; movsb; mov rax, [rdi] */
    bed_load(&bed, 0, 0x5000, 8);
    bed_store(&bed, 1, 0x6000, 8);
    give_codes(PLAIN, bed.words.data, 2);
    give_codes(ATOMIC, NULL, 0);
    give_codes(STRING, NULL, 0);
    as_vec_clear(&bed.words);
    return 0;
}

static int tear_down(void **state)
{
    bed_free(&bed); /* and the codes */
    return 0;
}

static void add_plain(uint64_t address)
{
    bed_run_block(&bed, PLAIN);
    bed_load(&bed, 0, address, 8);
    bed_store(&bed, 1, address + 0x100, 8);
}

static void add_atomic(uint64_t address)
{
    bed_run_block(&bed, ATOMIC);
    bed_load(&bed, 0, address, 8);
    bed_load(&bed, 0, address + 8, 8);
    bed_load(&bed, 1, address + 0x100, 8);
    bed_store(&bed, 1, address + 0x100, 8);
}

static void add_string(uint64_t address)
{
    bed_run_block(&bed, STRING);
    bed_load(&bed, 0, address, 8);
    bed_load(&bed, 1, address + 0x100, 1);
    bed_store(&bed, 1, address + 0x200, 1);
    bed_load(&bed, 2, address + 8, 8);
}

static uint64_t id_of(uint32_t block, uint32_t index)
{
    return as_code_table_block(&bed.code, block)->insns[index]->id;
}

/* "block/instruction kind address size", one after the other. */
static char *text_of(const struct as_data_access *accesses, size_t n)
{
    static const uint32_t blocks[] = {PLAIN, ATOMIC, STRING};
    static const char *const names[] = {"plain", "atomic", "string"}, *const kinds[] = {"", "load", "store", "both"};
    struct as_str text = {0};
    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < 3; b++)
            for (uint32_t k = 0; k < as_code_table_block(&bed.code, blocks[b])->n; k++)
                if (accesses[i].insn == id_of(blocks[b], k))
                    as_str_addf(&text, "%s%s/%u %s %llx %u", text.len ? "; " : "", names[b], k, kinds[accesses[i].kind],
                                (unsigned long long)accesses[i].address, (unsigned)accesses[i].size);
    char *copy = strdup(as_str_get(&text));
    as_str_free(&text);
    return copy;
}

/* What the first n words of the bed are made into. */
static void expect_first(size_t n, const char *want)
{
    struct as_data_access accesses[64];
    memset(accesses, 0xee, sizeof accesses);
    size_t made = as_access_words_make_all(&bed.code.by_id, bed.words.data, n, accesses);
    char *text = text_of(accesses, made);
    assert_string_equal(text, want);
    free(text);
    assert_int_equal(accesses[made].address, UINT64_C(0xeeeeeeeeeeeeeeee)); /* nothing behind them */
}

static void expect(const char *want)
{
    expect_first(bed.words.len, want);
    as_vec_clear(&bed.words);
}

#define PLAIN_AT_1000 "plain/0 load 1000 8; plain/1 store 1100 8"
#define ATOMIC_AT_2000 "atomic/0 load 2000 16; atomic/1 both 2100 8"
#define STRING_AT_3000 "string/0 load 3000 8; string/1 load 3100 1; string/1 store 3200 1; string/2 load 3008 8"

static void executions_in_a_row(void **state)
{
    add_plain(0x1000);
    add_atomic(0x2000);
    add_string(0x3000);
    add_plain(0x1000);
    expect(PLAIN_AT_1000 "; " ATOMIC_AT_2000 "; " STRING_AT_3000 "; " PLAIN_AT_1000);
    expect("");
}

/* Executions whose words are not as those that the codes were made of: others sizes, more of them, fewer. */
static void unusual_executions(void **state)
{
    bed_run_block(&bed, PLAIN);
    bed_load(&bed, 0, 0x1000, 4);
    bed_load(&bed, 0, 0x1004, 4); /* across a page, in two */
    bed_store(&bed, 1, 0x1100, 8);
    add_plain(0x1000);
    bed_run_block(&bed, PLAIN);
    bed_load(&bed, 0, 0x1000, 8); /* ends early */
    bed_run_block(&bed, PLAIN);   /* … at once */
    bed_run_block(&bed, PLAIN);
    bed_store(&bed, 0, 0x1000, 8); /* another kind */
    bed_store(&bed, 1, 0x1100, 8);
    expect(PLAIN_AT_1000 "; " PLAIN_AT_1000 "; plain/0 load 1000 8; plain/0 store 1000 8; plain/1 store 1100 8");
    bed_run_block(&bed, PLAIN);
    bed_load(&bed, 0, 0xffff800000001000, 8);
    bed_store(&bed, 1, 0x7fffffffffff, 8);
    expect("plain/0 load ffff800000001000 8; plain/1 store 7fffffffffff 8");
}

/* A lane's words end where they end, whatever lies behind. */
static void cut_anywhere(void **state)
{
    static const char *const plain[] = {"", "", "plain/0 load 1000 8", PLAIN_AT_1000};
    add_plain(0x1000);
    for (size_t n = 0; n < 4; n++)
        expect_first(n, plain[n]);
    as_vec_clear(&bed.words);
    static const char *const atomic[] = {"", "", "atomic/0 load 2000 8", "atomic/0 load 2000 16", NULL, ATOMIC_AT_2000};
    add_atomic(0x2000);
    add_plain(0x1000);
    for (size_t n = 0; n < 6; n++)
        if (atomic[n])
            expect_first(n, atomic[n]);
    as_vec_clear(&bed.words);
    add_string(0x3000);
    add_string(0x3000);
    expect_first(3, "string/0 load 3000 8; string/1 load 3100 1");
    expect_first(5, STRING_AT_3000);
}

static void counts(void **state)
{
    add_plain(0x1000);
    add_string(0x3000);
    const uint64_t *words = bed.words.data;
    for (size_t n = 1; n <= 3; n++)
        assert_int_equal(as_access_words_count(words, n), n - 1);
    assert_int_equal(as_access_words_count(words, 8), 2);
    assert_int_equal(as_access_words_count(words + 3, 5), 4);
    assert_int_equal(as_access_words_count(words + 3, 3), 2);
}

/* An iteration of a rep instruction is the first instruction of its block, and leads to itself. */
static void iterations(void **state)
{
    bed_run_block(&bed, CALLED);
    bed_run_block(&bed, REP_AGAIN);
    bed_load(&bed, 0, 0x1000, 1);
    bed_store(&bed, 0, 0x2000, 1);
    bed_run_block(&bed, REP_AGAIN);
    bed_load(&bed, 0, 0x1001, 1);
    bed_store(&bed, 0, 0x2001, 1);
    struct as_exec_words words = {.words = bed.words.data, .n = bed.words.len, .blocks = &bed.code.by_id};
    struct as_block_exec exec;
    static const size_t ends[] = {1, 4, 7}, accesses[] = {0, 2, 2};
    size_t at = 0;
    for (size_t i = 0; i < 3; i++) {
        uint32_t block = i ? REP_AGAIN : CALLED;
        assert_int_equal(at = as_access_words_iteration(&words, at, &exec), ends[i]);
        assert_ptr_equal(exec.block, as_code_table_block(&bed.code, block));
        assert_true(exec.first == 0 && exec.end == 1 && exec.continues && exec.next == block);
        assert_int_equal(exec.taken, exec.block->outcome != AS_OUTCOME_FALLS);
        assert_int_equal(exec.n_words, accesses[i]);
        assert_ptr_equal(exec.words, bed.words.data + ends[i] - accesses[i]);
    }
    assert_int_equal(as_access_words_iteration(&words, at, &exec), 0);
    words.n = 2; /* cut behind the number of a block */
    assert_int_equal(as_access_words_iteration(&words, 1, &exec), 2);
    assert_int_equal(exec.n_words, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(executions_in_a_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unusual_executions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cut_anywhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(iterations, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
