/* Counts by function, of blocks made by hand: names from symbols, and of code without any, the nearest place that was called. Engine and
 * counter are the test's own. */
#include "unit.h"

#include "base/str.h"
#include "count/counts.h"
#include "count/functions.h"
#include "count/targets.h"

enum { BLOCKS = 6, MOST = 4, MODULE = 0x400000 };

static struct as_insn insns[BLOCKS][MOST];
static struct as_block *blocks[BLOCKS]; /* in which their instructions are listed */
static uint64_t executed[BLOCKS][MOST], indirect[4];
static size_t n_blocks, n_indirect;
static struct as_image image = {.number = 3};

size_t as_engine_count_blocks(const struct as_engine *engine)
{
    return n_blocks;
}

const struct as_block *as_engine_block(const struct as_engine *engine, size_t index)
{
    return blocks[index];
}

const struct as_image *as_engine_image(const struct as_engine *engine, uint32_t number)
{
    assert_int_equal(number, 3);
    return &image;
}

/* 0x400100 to 0x40011f is "named"; the rest has no symbol. */
void as_engine_locate(const struct as_engine *engine, uint32_t insn, struct as_location *location)
{
    uint64_t address = insns[insn / MOST][insn % MOST].address;
    bool named = address >= MODULE + 0x100 && address < MODULE + 0x120;
    *location = (struct as_location){.module = "/bin/prog",
                                     .module_name = "prog",
                                     .module_offset = address - MODULE,
                                     .function = named ? "named" : NULL,
                                     .function_start = named ? MODULE + 0x100 : 0,
                                     .function_size = named ? 0x20 : 0};
}

void as_space_find(struct as_space *space, uint64_t address, struct as_location *location)
{
    *location = (struct as_location){.module = "/bin/prog", .module_name = "prog", .module_offset = address - MODULE};
}

uint64_t as_counter_executions(const struct as_counter *counter, const struct as_block *block, uint32_t index)
{
    return executed[block->index][index];
}

const uint64_t *as_counter_indirect_targets(const struct as_counter *counter, size_t *n)
{
    *n = n_indirect;
    return indirect;
}

/* A block of `n` instructions of 4 bytes that ran so often; the last may call. */
static void add_block(uint64_t address, uint32_t n, uint64_t times, uint64_t called)
{
    size_t at = n_blocks++;
    blocks[at] = calloc(1, sizeof **blocks + n * sizeof *blocks[at]->insns);
    *blocks[at] = (struct as_block){.address = address, .n = n, .image = 3, .index = (uint32_t)at};
    for (uint32_t i = 0; i < n; i++) {
        insns[at][i] = (struct as_insn){.id = (uint32_t)(at * MOST + i), .address = address + 4 * i, .length = 4};
        blocks[at]->insns[i] = &insns[at][i];
        executed[at][i] = times;
    }
    insns[at][n - 1].class_ = called ? AS_CLASS_CALL : AS_CLASS_INT;
    insns[at][n - 1].target = called;
}

static void check(const as_function_counts *found, size_t at, const char *name, uint64_t instructions)
{
    assert_true(at < found->len);
    assert_string_equal(found->data[at].module, "/bin/prog");
    assert_string_equal(found->data[at].function, name);
    assert_int_equal(found->data[at].instructions, instructions);
}

static int tear_down(void **state)
{
    for (size_t i = 0; i < n_blocks; i++)
        free(blocks[i]);
    n_blocks = n_indirect = 0;
    memset(executed, 0, sizeof executed);
    return 0;
}

/* Places that were called, directly by the first block too or by a pointer, begin functions. */
static void called_places(void **state)
{
    add_block(MODULE + 0x200, 2, 10, MODULE + 0x300); /* nobody called it: named by its own address */
    add_block(MODULE + 0x304, 2, 7, 0);
    add_block(MODULE + 0x300, 1, 7, 0);
    add_block(MODULE + 0x410, 3, 5, 0);
    indirect[n_indirect++] = as_target_key(3, MODULE + 0x400);
    as_function_counts found = as_functions_count(NULL, NULL);
    assert_int_equal(found.len, 3);
    check(&found, 0, "prog+0x300", 21);
    check(&found, 1, "prog+0x200", 20);
    check(&found, 2, "prog+0x400", 15);
    as_functions_free(&found);
}

/* A call that did not run begins nothing, and places of another image are not near. */
static void what_was_not_called(void **state)
{
    add_block(MODULE + 0x200, 2, 10, MODULE + 0x300);
    executed[0][1] = 0;
    add_block(MODULE + 0x304, 1, 7, 0);
    indirect[n_indirect++] = as_target_key(2, MODULE + 0x200);
    as_function_counts found = as_functions_count(NULL, NULL);
    assert_int_equal(found.len, 2);
    check(&found, 0, "prog+0x200", 10);
    check(&found, 1, "prog+0x304", 7);
    as_functions_free(&found);
}

/* A block that runs on from one function into the next is that of both; equal counts come by name. */
static void names(void **state)
{
    add_block(MODULE + 0x118, 4, 3, 0); /* two instructions of "named", two behind it */
    add_block(MODULE + 0x100, 1, 100, 0);
    add_block(MODULE + 0x500, 2, 3, 0);
    as_function_counts found = as_functions_count(NULL, NULL);
    assert_int_equal(found.len, 3);
    check(&found, 0, "named", 106);
    check(&found, 1, "prog+0x120", 6);
    check(&found, 2, "prog+0x500", 6);
    as_functions_free(&found);
}

static void nothing_ran(void **state)
{
    add_block(MODULE, 2, 0, MODULE + 8);
    as_function_counts found = as_functions_count(NULL, NULL);
    assert_int_equal(found.len, 0);
    as_functions_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(called_places, tear_down), cmocka_unit_test_teardown(what_was_not_called, tear_down),
        cmocka_unit_test_teardown(names, tear_down), cmocka_unit_test_teardown(nothing_ran, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
