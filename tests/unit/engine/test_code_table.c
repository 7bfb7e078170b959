/* The code table: the same code is the same object, other code is another, and messages that are not what they should
 * be are refused without a trace. */
#include "base/random.h"
#include "engine/code_table.h"
#include "engine/wire.h"
#include "unit.h"

enum { ADDRESS = 0x401000, MOST_INSNS = 512 };

static struct as_code_table table;

static int set_up(void **state)
{
    memset(&table, 0, sizeof table);
    as_code_table_image(&table, 1, AS_ARCH_X86_64);
    as_code_table_image(&table, 2, AS_ARCH_X86_64);
    as_code_table_image(&table, 3, AS_ARCH_RISCV64);
    return 0;
}

static int tear_down(void **state)
{
    as_code_table_free(&table);
    return 0;
}

/* A message in the making: image, id, n, address, instructions. */
struct message {
    uint64_t words[4 + 2 * (MOST_INSNS + 1)];
    size_t n;
};

static struct message *new_message(uint32_t image, uint32_t id, uint64_t address)
{
    struct message *message = calloc(1, sizeof *message);
    assert_non_null(message);
    message->words[0] = image;
    message->words[1] = id;
    message->words[3] = address;
    message->n = 4;
    return message;
}

static void add_insn(struct message *message, const void *bytes, uint8_t length)
{
    uint8_t packed[16] = {0};
    memcpy(packed, bytes, length < 15 ? length : 15);
    packed[15] = length;
    memcpy(&message->words[message->n], packed, sizeof packed);
    message->n += 2;
    message->words[2]++;
}

static bool send(struct message *message)
{
    /* The exact size, so that the sanitizer build sees a read beyond it. */
    uint64_t *words = malloc(message->n * sizeof *words + 1);
    assert_non_null(words);
    memcpy(words, message->words, message->n * sizeof *words);
    bool ok = as_code_table_add_block(&table, words, message->n);
    free(words);
    free(message);
    return ok;
}

/* mov rax, [rdi]; then `last` and a ret. */
static bool send_code(uint32_t image, uint32_t id, uint64_t address, const char *middle)
{
    struct message *message = new_message(image, id, address);
    add_insn(message, "\x48\x8b\x07", 3);
    add_insn(message, middle, (uint8_t)strlen(middle));
    add_insn(message, "\xc3", 1);
    return send(message);
}

static void test_block(void **state)
{
    assert_true(send_code(1, 5, ADDRESS, "\x48\x01\x06"));
    const struct as_block *block = as_code_table_block(&table, 5);
    assert_non_null(block);
    for (uint32_t id = 0; id < 5; id++)
        assert_null(as_code_table_block(&table, id));
    assert_null(as_code_table_block(&table, 6));
    assert_null(as_code_table_block(&table, UINT32_MAX));
    assert_int_equal(block->n, 3);
    assert_int_equal(block->address, ADDRESS);
    assert_int_equal(block->end, ADDRESS + 7);
    assert_int_equal(block->insns[0]->address, ADDRESS);
    assert_int_equal(block->insns[1]->address, ADDRESS + 3);
    assert_int_equal(block->insns[2]->address, ADDRESS + 6);
    assert_int_equal(block->insns[2]->class_, AS_CLASS_RETURN);
    assert_int_equal(block->loads, 3); /* mov, add to memory, ret */
    assert_int_equal(block->stores, 1);
    assert_int_equal(block->load_accesses, 3);
    assert_int_equal(block->store_accesses, 1);
    assert_int_equal(block->last_sure, 2);
    assert_int_equal(block->outcome, AS_OUTCOME_LEAVES);
    assert_int_equal(block->target, 0);
    assert_int_equal(block->flags, 0);
}

static void test_ends_of_blocks(void **state)
{
    static const struct {
        const char *bytes;
        uint8_t length;
        enum as_outcome outcome;
        uint64_t target;
        uint32_t flags;
    } cases[] = {
        {"\x75\x10", 2, AS_OUTCOME_EITHER, ADDRESS + 0x12, 0},
        {"\xeb\x10", 2, AS_OUTCOME_LEAVES, ADDRESS + 0x12, 0},
        {"\xe8\x10\0\0\0", 5, AS_OUTCOME_LEAVES, ADDRESS + 0x15, 0},
        {"\xff\xe0", 2, AS_OUTCOME_LEAVES, 0, 0},
        {"\xff\xd0", 2, AS_OUTCOME_LEAVES, 0, 0},
        {"\x0f\x05", 2, AS_OUTCOME_FALLS, UINT64_MAX, 0},
        {"\x90", 1, AS_OUTCOME_FALLS, UINT64_MAX, 0},
        {"\xf3\xa4", 2, AS_OUTCOME_FALLS, ADDRESS, AS_BLOCK_VARIES | AS_BLOCK_REP_FIRST | AS_BLOCK_REP_LAST},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct message *message = new_message(1, i, ADDRESS);
        add_insn(message, cases[i].bytes, cases[i].length);
        assert_true(send(message));
        const struct as_block *block = as_code_table_block(&table, i);
        assert_int_equal(block->outcome, cases[i].outcome);
        assert_int_equal(block->target, cases[i].target);
        assert_int_equal(block->flags, cases[i].flags);
        assert_int_equal(block->end, ADDRESS + cases[i].length);
    }
}

static void test_same_code_is_the_same(void **state)
{
    assert_true(send_code(1, 1, ADDRESS, "\x90"));
    assert_true(send_code(1, 2, ADDRESS, "\x90"));
    assert_ptr_equal(as_code_table_block(&table, 1), as_code_table_block(&table, 2));
    assert_int_equal(table.blocks.len, 1);
    assert_int_equal(table.n_insns, 3);
    for (size_t i = 0; i < table.n_insns; i++)
        assert_int_equal(as_code_table_insn(&table, (uint32_t)i)->insn.id, i);
}

static void test_other_code_is_another(void **state)
{
    assert_true(send_code(1, 1, ADDRESS, "\x90"));
    assert_true(send_code(1, 2, ADDRESS, "\xf8")); /* another instruction */
    assert_true(send_code(2, 3, ADDRESS, "\x90")); /* another program */
    assert_true(send_code(1, 4, ADDRESS + 1, "\x90"));
    const struct as_block *first = as_code_table_block(&table, 1), *changed = as_code_table_block(&table, 2);
    const struct as_block *other = as_code_table_block(&table, 3), *moved = as_code_table_block(&table, 4);
    assert_ptr_not_equal(first, changed);
    assert_ptr_equal(first->insns[0], changed->insns[0]); /* the bytes around it are what they were */
    assert_ptr_not_equal(first->insns[1], changed->insns[1]);
    assert_ptr_equal(first->insns[2], changed->insns[2]);
    assert_ptr_not_equal(first->insns[0], other->insns[0]);
    assert_ptr_not_equal(first->insns[0], moved->insns[0]);
    assert_int_equal(other->image, 2);
    for (uint32_t i = 0; i < table.blocks.len; i++)
        assert_int_equal(table.blocks.data[i]->index, i);
    /* And back to the code of the beginning. */
    assert_true(send_code(1, 5, ADDRESS, "\x90"));
    assert_ptr_equal(as_code_table_block(&table, 5), first);
}

/* In memory without a file, code that replaces other code has nothing in common with it. */
static void test_made_code_is_another(void **state)
{
    struct as_image *image = as_code_table_image(&table, 1, AS_ARCH_X86_64);
    as_space_map(image->space, ADDRESS & ~UINT64_C(0xfff), (ADDRESS | 0xfff) + 1, 0, NULL);
    assert_true(send_code(1, 1, ADDRESS, "\x90"));
    assert_true(send_code(1, 2, ADDRESS, "\xf8"));
    assert_true(send_code(1, 3, ADDRESS, "\xf8"));
    const struct as_block *first = as_code_table_block(&table, 1), *second = as_code_table_block(&table, 2);
    for (uint32_t i = 0; i < first->n; i++) {
        assert_ptr_not_equal(first->insns[i], second->insns[i]);
        assert_int_equal(as_code_table_insn(&table, second->insns[i]->id)->version, 1);
    }
    assert_ptr_equal(as_code_table_block(&table, 3), second);
    assert_true(send_code(1, 4, ADDRESS, "\x90")); /* back to the first, and to the second again */
    assert_ptr_equal(as_code_table_block(&table, 4), first);
    assert_true(send_code(1, 5, ADDRESS, "\xf8"));
    assert_ptr_equal(as_code_table_block(&table, 5), second);
}

/* What is translated again on the page of made code that has changed may belong to the new code, also with the same bytes. */
static void test_made_code_around_a_change(void **state)
{
    enum { ELSEWHERE = 0x3000 };
    struct as_image *image = as_code_table_image(&table, 1, AS_ARCH_X86_64);
    as_space_map(image->space, ADDRESS & ~UINT64_C(0xfff), (ADDRESS | 0xfff) + ELSEWHERE + 1, 0, NULL);
    static const struct {
        uint64_t offset;
        const char *middle;
    } blocks[] = {{0, "\x90"}, {16, "\x90"}, {ELSEWHERE, "\x90"}, {16, "\x90"}, /* nothing has changed */
                  {0, "\xf8"}, {16, "\x90"}, {ELSEWHERE, "\x90"}, {16, "\x90"}, /* the first has */
                  {0, "\x90"}, {16, "\x90"}};                                   /* it is back */
    const struct as_block *of[10];
    for (uint32_t i = 0; i < 10; i++) {
        assert_true(send_code(1, i, ADDRESS + blocks[i].offset, blocks[i].middle));
        of[i] = as_code_table_block(&table, i);
    }
    assert_ptr_equal(of[3], of[1]);
    assert_ptr_not_equal(of[5], of[1]);
    assert_int_equal(as_code_table_insn(&table, of[5]->insns[0]->id)->version, 0);
    assert_ptr_equal(of[6], of[2]);
    assert_ptr_equal(of[7], of[5]);
    assert_ptr_equal(of[8], of[0]);
    assert_ptr_equal(of[9], of[1]);
    uint64_t entry = ADDRESS;
    assert_int_equal(as_code_table_versions(&table, 1, entry, of[1]->insns[0]->id), 1);
    assert_int_equal(as_code_table_versions(&table, 1, entry, of[5]->insns[0]->id), 2);
    assert_int_equal(as_code_table_versions(&table, 1, entry + 16, of[5]->insns[0]->id), 1);
    assert_int_equal(as_code_table_versions(&table, 1, entry + 1000, of[5]->insns[0]->id), 0);
}

/* Bytes that begin alike, of another length; images whose numbers are alike in 16 bits. */
static void test_nearly_the_same(void **state)
{
    struct message *message = new_message(1, 1, ADDRESS);
    add_insn(message, "\xf3\x90", 2);
    assert_true(send(message));
    message = new_message(1, 2, ADDRESS);
    add_insn(message, "\xf3", 1);
    assert_true(send(message));
    as_code_table_image(&table, 65537, AS_ARCH_X86_64);
    message = new_message(65537, 3, ADDRESS);
    add_insn(message, "\xf3\x90", 2);
    assert_true(send(message));
    const struct as_insn *first = as_code_table_block(&table, 1)->insns[0];
    assert_ptr_not_equal(as_code_table_block(&table, 2)->insns[0], first);
    assert_ptr_not_equal(as_code_table_block(&table, 3)->insns[0], first);
    assert_ptr_not_equal(as_code_table_block(&table, 3), as_code_table_block(&table, 1));
}

/* Blocks that are cut differently share their instructions. */
static void test_overlapping_blocks(void **state)
{
    assert_true(send_code(1, 1, ADDRESS, "\x90"));
    struct message *message = new_message(1, 2, ADDRESS + 3);
    add_insn(message, "\x90", 1);
    add_insn(message, "\xc3", 1);
    assert_true(send(message));
    message = new_message(1, 3, ADDRESS);
    add_insn(message, "\x48\x8b\x07", 3);
    assert_true(send(message));
    const struct as_block *whole = as_code_table_block(&table, 1);
    assert_ptr_equal(as_code_table_block(&table, 2)->insns[0], whole->insns[1]);
    assert_ptr_equal(as_code_table_block(&table, 2)->insns[1], whole->insns[2]);
    assert_ptr_equal(as_code_table_block(&table, 3)->insns[0], whole->insns[0]);
    assert_ptr_not_equal(as_code_table_block(&table, 3), whole);
    assert_int_equal(table.n_insns, 3);
}

static void test_largest_block(void **state)
{
    struct message *message = new_message(3, 1, ADDRESS);
    for (int i = 0; i < MOST_INSNS; i++)
        add_insn(message, "\x01\x00", 2); /* c.nop */
    assert_true(send(message));
    assert_int_equal(as_code_table_block(&table, 1)->n, MOST_INSNS);
    assert_int_equal(as_code_table_block(&table, 1)->end, ADDRESS + 2 * MOST_INSNS);
    message = new_message(3, 2, ADDRESS);
    for (int i = 0; i < MOST_INSNS + 1; i++)
        add_insn(message, "\x01\x00", 2);
    assert_false(send(message));
}

/* Bytes that no decoder knows take the length that QEMU gives them. */
static void test_unknown_instruction(void **state)
{
    struct message *message = new_message(1, 1, ADDRESS);
    add_insn(message, "\x0f\xff\xff\xff", 4);
    add_insn(message, "\xc3", 1);
    assert_true(send(message));
    const struct as_block *block = as_code_table_block(&table, 1);
    assert_int_equal(block->insns[1]->address, ADDRESS + 4);
    assert_int_equal(block->end, ADDRESS + 5);
}

static void test_malformed_blocks(void **state)
{
    uint64_t good[8] = {1, 7, 2, ADDRESS};
    uint8_t *lengths[2] = {(uint8_t *)&good[4] + 15, (uint8_t *)&good[6] + 15};
    memset(&good[4], 0x90, 4 * sizeof *good);
    *lengths[0] = *lengths[1] = 1;
    for (size_t n = 0; n <= 8; n++) /* every length but the right one */
        assert_int_equal(as_code_table_add_block(&table, good, n), n == 8);
    as_code_table_free(&table);
    set_up(NULL);
    for (uint64_t count = 0; count < 1100; count++) {
        good[2] = count;
        assert_int_equal(as_code_table_add_block(&table, good, 8), count == 2);
    }
    static const uint64_t counts[] = {UINT64_MAX, UINT64_MAX / 2 + 3, (UINT64_C(1) << 63) + 2, UINT32_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        good[2] = counts[i];
        assert_false(as_code_table_add_block(&table, good, 8));
    }
    good[2] = 2;
    for (unsigned length = 0; length < 256; length++) { /* of an instruction: 1 to 15 bytes */
        *lengths[1] = (uint8_t)length;
        good[1] = length;
        assert_int_equal(as_code_table_add_block(&table, good, 8), length >= 1 && length <= 15);
        assert_int_equal(as_code_table_block(&table, length) != NULL, length >= 1 && length <= 15);
    }
    *lengths[1] = 1;
    good[0] = 4; /* no such image */
    assert_false(as_code_table_add_block(&table, good, 8));
    good[0] = 0;
    assert_false(as_code_table_add_block(&table, good, 8));
    good[0] = 1;
    good[1] = UINT64_MAX; /* a table of that size cannot be */
    assert_false(as_code_table_add_block(&table, good, 8));
    good[1] = UINT32_MAX;
    assert_false(as_code_table_add_block(&table, good, 8));
    assert_true(table.by_id.len < 1000);
}

/* Any words at all. */
static void test_random_messages(void **state)
{
    uint64_t seed = 7, words[32];
    unsigned accepted = 0;
    for (int round = 0; round < 20000; round++) {
        size_t n = (size_t)round % 32;
        for (size_t i = 0; i < 32; i++)
            words[i] = as_random(&seed);
        words[0] = round % 5;
        words[1] = round % 100;
        words[2] = n >= 4 ? (n - 4) / 2 : words[2];
        for (size_t i = 5; i < 32 && round & 32; i += 2)
            words[i] = (words[i] & UINT64_MAX >> 8) | (1 + (words[i] >> 60)) << 56;
        accepted += as_code_table_add_block(&table, words, n);
    }
    assert_in_range(accepted, 1000, 10000);
}

static void test_modules(void **state)
{
    uint64_t words[6] = {1, 0x400000, 0x500000, 0};
    memcpy(&words[4], "/no/such/file", 14);
    assert_true(as_code_table_add_module(&table, words, 6));
    struct as_location location;
    as_space_find(table.images.data[0]->space, 0x400010, &location);
    assert_string_equal(location.module, "/no/such/file");
    assert_int_equal(location.module_offset, 0x10);
    for (size_t n = 0; n < 6; n++) /* cut before the path's end */
        assert_false(as_code_table_add_module(&table, words, n));
    memset(&words[5], 'x', sizeof words[5]);
    assert_false(as_code_table_add_module(&table, words, 6));
    words[4] = 0; /* anonymous memory */
    assert_true(as_code_table_add_module(&table, words, 5));
    words[0] = 9;
    assert_false(as_code_table_add_module(&table, words, 5));
    words[0] = 1;
    words[1] = 0x500000; /* the other way round, and no room at all */
    words[2] = 0x400000;
    assert_true(as_code_table_add_module(&table, words, 5));
    words[2] = words[1];
    assert_true(as_code_table_add_module(&table, words, 5));
}

static void test_dumps(void **state)
{
    uint64_t words[3] = {1};
    memcpy(&words[1], "/x/jit-7.dump", 14);
    assert_true(as_code_table_add_dump(&table, words, 3));
    assert_int_equal(table.images.data[0]->dumps.len, 1);
    assert_string_equal(table.images.data[0]->dumps.data[0], "/x/jit-7.dump");
    for (size_t n = 0; n < 3; n++) /* cut before the path's end */
        assert_false(as_code_table_add_dump(&table, words, n));
    words[0] = 9;
    assert_false(as_code_table_add_dump(&table, words, 3));
    assert_int_equal(table.images.data[0]->dumps.len, 1);
}

/* Landmarks of an address are listed once each, the last one first. */
static void test_landmarks(void **state)
{
    struct as_sites sites = {0};
    for (int round = 0; round < 2; round++)
        for (uint32_t landmark = 1; landmark <= 3; landmark++) {
            as_sites_add(&sites, ADDRESS, landmark);
            as_sites_add(&sites, ADDRESS + 1, landmark % 2);
        }
    assert_int_equal(sites.list.len, 5);
    uint32_t expected = 3;
    for (uint64_t at = *as_map_get(&sites.by_address, ADDRESS); at; at = sites.list.data[at - 1].next) {
        assert_int_equal(sites.list.data[at - 1].address, ADDRESS);
        assert_int_equal(sites.list.data[at - 1].landmark, expected--);
    }
    assert_int_equal(expected, 0);
    as_vec_free(&sites.list);
    as_map_free(&sites.by_address);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_block),
        TEST(test_ends_of_blocks),
        TEST(test_same_code_is_the_same),
        TEST(test_other_code_is_another),
        TEST(test_made_code_is_another),
        TEST(test_made_code_around_a_change),
        TEST(test_nearly_the_same),
        TEST(test_overlapping_blocks),
        TEST(test_largest_block),
        TEST(test_unknown_instruction),
        TEST(test_malformed_blocks),
        TEST(test_random_messages),
        TEST(test_modules),
        TEST(test_dumps),
        cmocka_unit_test(test_landmarks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
